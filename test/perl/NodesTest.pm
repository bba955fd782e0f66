# What the tests of nodes and their registry share: registries that are databases of one server,
# which preloads nothing; and nodes that are servers, or databases of one server if that is
# sufficient. RegistryTest.pm contains the small ring, and nodes under load.
package NodesTest;

use strict;
use warnings;

use Exporter 'import';
use RegistryTest qw(value);
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($schema $now_tick value registry_server new_registry at leases base_server new_node flows moves lives last_error setting as_role take
  taken taken_twice);

# The schema of the registries' extension, unless a test needs another schema: its name must be
# quoted, and it is in no search_path.
our $schema = '"ids of all"';

# The functions that a node calls.
my $functions = 'snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release';

# SQL for the registry's clock as a tick of the default layout.
our $now_tick = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';

my %schema_of;

# A running server for registries, with the role "node".
sub registry_server
{
	my (%options) = @_;
	my $server = new_server('registry', preload => 0, %options);
	start_server($server);
	value($server, 'CREATE ROLE node LOGIN');
	return $server;
}

# A registry, which the role "node" may use. Options: layout => a row of snowflake_layout; schema;
# granted => functions that the role may execute, by default those that a node calls; roles => the
# roles that may, by default "node".
sub new_registry
{
	my ($server, $db, %options) = @_;
	my $in = $schema_of{$db} = $options{schema} // $schema;
	my $roles = $options{roles} // 'node';
	my $granted = $options{granted} // $functions;
	$granted =~ s/(\w+)/$in.$1/g;
	value($server, "CREATE DATABASE $db");
	value($server, qq{
		CREATE SCHEMA IF NOT EXISTS $in;
		CREATE EXTENSION snowflake SCHEMA $in;
		GRANT USAGE ON SCHEMA $in TO $roles;
		GRANT EXECUTE ON FUNCTION $granted TO $roles}, $db);
	value($server, "INSERT INTO $in.snowflake_layout VALUES $options{layout}", $db) if $options{layout};
	return;
}

# The address of a registry for a node, by default with the role "node".
sub at
{
	my ($server, $db, $role) = @_;
	return 'host=' . $server->host . ' port=' . $server->port . " dbname=$db user=" . ($role // 'node');
}

sub leases { my ($server, $db) = @_; return value($server, "SELECT count(*) FROM $schema_of{$db}.snowflake_registry", $db); }

# A running server for nodes that are databases. Options: as for new_server.
sub base_server
{
	my ($name, %options) = @_;
	my $server = new_server($name, %options,
		conf => "snowflake.start_timeout = 2s\nmax_worker_processes = 24\n" . ($options{conf} // ''));
	start_server($server);
	value($server, 'CREATE DATABASE base');
	value($server, 'CREATE EXTENSION snowflake', 'base');
	return $server;
}

# A node that is a database of such a server.
sub new_node
{
	my ($server, $db, $place, %settings) = @_;
	value($server, "CREATE DATABASE $db TEMPLATE base");
	value($server, "ALTER DATABASE $db SET snowflake.registry = '$place'");
	value($server, "ALTER DATABASE $db SET $_ = '$settings{$_}'") for keys %settings;
	return;
}

# Repeats the call until it returns an id.
sub flows
{
	my ($server, $db) = @_;
	return wait_until('ids to flow', sub { ($server->psql($db // 'postgres', 'SELECT snowflake_nextval()'))[0] == 0 });
}

# Checks that a node that is a database acquires a lease and extends it, and that it releases the
# lease when the database is dropped.
sub lives
{
	my ($name, $server, $db, $registry, $at) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(flows($server, $db), "$name: ids flow") or diag(last_error($server, $db));
	ok(moves($server, $db), "$name: the window moves") or diag(last_error($server, $db));
	is(leases($registry, $at), '1', "$name: there is a lease");
	value($server, "DROP DATABASE $db");
	ok(wait_until('the lease to go', sub { leases($registry, $at) eq '0' }), "$name: it is released");
	return;
}

# Waits until a node's window has been extended.
sub moves
{
	my ($server, $db) = @_;
	my $end = status($server, 'window_end', $db);
	return wait_until('the window to move', sub { status($server, "window_end > '$end'", $db) eq 't' });
}

sub last_error { my ($server, $db) = @_; return status($server, q{coalesce(last_error, '')}, $db); }
sub setting { my ($server, $line) = @_; $server->append_conf('postgresql.conf', $line); $server->reload; return; }

# Runs SQL as another role, over its own connection; returns (SQLSTATE, error text, output).
sub as_role
{
	my ($server, $db, $role, $sql) = @_;
	my ($rc, $out, $err) = $server->psql($db, "\\set VERBOSITY verbose\n$sql", on_error_stop => 1, extra_params => [ '-U', $role ]);
	my ($state) = ($err // '') =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err // '', $out // '');
}

# All ids that this program got.
my %issued;

sub taken { $issued{$_}++ for @_; return @_; }

sub take
{
	my ($server, $count, $db) = @_;
	return taken(split /\n/, value($server, "SELECT snowflake_nextvals($count)", $db));
}

# How many of these ids were issued more than once.
sub taken_twice { return scalar(grep { $_ > 1 } values %issued); }

1;
