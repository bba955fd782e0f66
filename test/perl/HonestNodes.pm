# What the tests of a hostile role share: two honest nodes, databases of one server, under load, and
# a registry that the hostile role may use like them. The honest nodes' clients get ids all the
# time. At the end the module compares all ids, and reports how long a node was without one.
package HonestNodes;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($registry sql run_as tick honest_nodes_are_well);

our $registry;
my $window_s = 10;
my $layout = q{(true, 'epoch=1735689600000 tick=1ms time=41 worker=6 seq=12')};
my ($nodes, %clients);

sub sql { my ($text) = @_; return $registry->safe_psql('postgres', $text); }

# The registry's clock as a tick.
sub tick { return 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000'; }

# Starts the registry, in the schema ids, and the nodes, and lets the nodes issue ids.
sub start
{
	$registry = new_server('registry', preload => 0,
		conf => "listen_addresses = '127.0.0.1'\nmax_connections = 60\nmax_prepared_transactions = 5\n"
		  . "log_min_messages = panic\n");
	$registry->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
	$registry->start;
	sql(qq{
		CREATE SCHEMA ids;
		CREATE EXTENSION snowflake SCHEMA ids;
		INSERT INTO ids.snowflake_layout VALUES $layout;
		CREATE ROLE honest LOGIN; CREATE ROLE hostile LOGIN;
		ALTER ROLE hostile SET snowflake.max_leases_per_role = 16;
		ALTER ROLE honest SET snowflake.max_leases_per_role = 24;
		GRANT USAGE ON SCHEMA ids TO honest, hostile;
		GRANT EXECUTE ON FUNCTION ids.snowflake_lease_acquire(text, integer, bigint, interval, bytea, bigint, bigint, boolean),
			ids.snowflake_lease_extend(bigint, bytea, bigint, interval, bigint, integer, bigint, boolean), ids.snowflake_lease_release(bigint, bytea, bigint, bigint)
			TO honest, hostile});
	$nodes = new_server('nodes', conf => "snowflake.lease_duration = ${window_s}s\nsnowflake.start_timeout = ${window_s}s\nmax_worker_processes = 16\n");
	start_server($nodes);
	my $conninfo = 'host=127.0.0.1 port=' . $registry->port . ' dbname=postgres user=honest';
	for my $name (qw(one two))
	{
		$nodes->safe_psql('postgres', "CREATE DATABASE $name");
		$nodes->safe_psql($name, "CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES $layout");
		$nodes->safe_psql('postgres', "ALTER DATABASE $name SET snowflake.registry = '$conninfo'");
		$nodes->safe_psql($name, 'SELECT snowflake_nextval()');
		$clients{$name} = start_clients($nodes, 2,
			"COPY (SELECT snowflake_nextval() FROM generate_series(1, 20)) TO STDOUT;\nSELECT pg_sleep(0.02);\n" x 20, dbname => $name);
	}
	return;
}

# Runs statements as a role, each in a separate transaction even if the previous one failed. Returns
# their output, and errors.
sub run_as
{
	my ($role, $text) = @_;
	my ($stdout, $stderr) = ('', '');
	IPC::Run::run([ 'psql', '-XAtq', '-U', $role, '-h', $registry->host, '-p', $registry->port, '-d', 'postgres', '-v', 'ON_ERROR_STOP=0', '-f', '-' ],
		'<', \$text, '>', \$stdout, '2>', \$stderr);
	return ($stdout, $stderr);
}

# Ends the load, checks its results, and stops the servers. Returns the number of ids and of
# duplicates.
sub honest_nodes_are_well
{
	for my $name (sort keys %clients)
	{
		my $before = client_bytes($clients{$name});
		ok(wait_until("ids of $name", sub { client_bytes($clients{$name}) > $before + 1000 }), "ids of $name flow in the end");
	}
	stop_clients($_) for values %clients;
	for my $name (sort keys %clients)
	{
		# Milliseconds between an id and the next, by their own timestamps.
		my ($last, $longest, @ticks) = (undef, 0);
		for my $file (@{ $clients{$name}{files} })
		{
			open(my $in, '<', $file) or die $!;
			while (<$in>) { push @ticks, $_ >> 18 if /^\d+$/; }
		}
		for my $at (sort { $a <=> $b } @ticks)
		{
			$longest = $at - $last if defined $last && $at - $last > $longest;
			$last = $at;
		}
		figures('%s was without ids for %d ms at most, among %d', $name, $longest, scalar @ticks);
		# A window is 10 s long. A hostile role that uses up worker ids could block a node for an
		# hour.
		cmp_ok($longest, '<', 60_000 * slowness(), "$name was not without ids for long");
	}
	my ($ids, $duplicates) = compare_ids(map { @{ $_->{files} } } values %clients);
	is($duplicates, 0, "no equal ids among $ids");
	$_->stop('fast') for $nodes, $registry;
	return ($ids, $duplicates);
}

1;
