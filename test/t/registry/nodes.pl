# Nodes that draw their worker ids from a registry on another server (G1, sections 4, 5, 8 and 10 of the design).
#
# The registry's server preloads nothing. Each scenario has a database of its own there. A node is a server, or a database
# of the server "many" where it need not be a server of its own.
#
# SNOWFLAKE_LOAD_SECONDS: how long three nodes are kept under load, 15 unless told.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

seed();
my $load_seconds = $ENV{SNOWFLAKE_LOAD_SECONDS} // 15;
my $default_layout = '(true, 1735689600000, 1000, 41, 0, 10, 12, false)';
my $split_layout = '(true, 1735689600000, 1000, 41, 5, 5, 12, false)';
my $schema = '"ids of all"';
my $now_tick = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';

# Every id that was asked for in this program, by what it was asked for.
my %issued;

sub value { my ($server, $db, $sql) = @_; return $server->safe_psql($db, $sql); }

sub take
{
	my ($group, $server, $db, $count) = @_;
	my @ids = split /\n/, value($server, $db, "SELECT snowflake_nextvals($count)");
	$issued{$group}{$_}++ for @ids;
	return @ids;
}

sub duplicates { return scalar(grep { $_ > 1 } values %{ $issued{ $_[0] } }); }

# Asks again until it succeeds.
sub flows
{
	my ($server, $db) = @_;
	return wait_until('ids to flow', sub { ($server->psql($db, 'SELECT snowflake_nextval()'))[0] == 0 });
}

sub place { my ($server, $db) = @_; return 'host=' . $server->host . ' port=' . $server->port . " dbname=$db"; }
sub status { my ($server, $db, $column) = @_; return value($server, $db, "SELECT $column FROM snowflake_status"); }
sub setting { my ($server, $line) = @_; $server->append_conf('postgresql.conf', $line); $server->reload; return; }

# Runs SQL as another role, over its own connection; returns (SQLSTATE, error text, output).
sub as_role
{
	my ($server, $db, $role, $sql) = @_;
	my ($rc, $out, $err) = $server->psql($db, "\\set VERBOSITY verbose\n$sql", on_error_stop => 1, extra_params => [ '-U', $role ]);
	my ($state) = ($err // '') =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err // '', $out // '');
}

### The registry

my $registry = new_server('registry', preload => 0);
$registry->start;
value($registry, 'postgres', q{CREATE ROLE node LOGIN; CREATE ROLE keyed LOGIN PASSWORD 'sesame'; CREATE ROLE stranger LOGIN});

sub new_registry
{
	my ($db, $layout) = @_;
	value($registry, 'postgres', "CREATE DATABASE $db");
	value($registry, $db, qq{
		CREATE SCHEMA $schema;
		CREATE EXTENSION snowflake SCHEMA $schema;
		GRANT USAGE ON SCHEMA $schema TO node, keyed;
		GRANT EXECUTE ON FUNCTION $schema.snowflake_lease_acquire, $schema.snowflake_lease_extend, $schema.snowflake_lease_release,
			$schema.snowflake_acquire, $schema.snowflake_extend, $schema.snowflake_release TO node, keyed});
	value($registry, $db, "INSERT INTO $schema.snowflake_layout VALUES $layout") if $layout;
	return;
}
new_registry($_) for qw(fleet second secret clocks skews filled);
new_registry('halves', $split_layout);
value($registry, 'postgres', 'CREATE DATABASE bare');
is(value($registry, 'postgres', 'SHOW shared_preload_libraries'), '', 'the registry preloads nothing');

sub leases { my ($db) = @_; return value($registry, $db, "SELECT count(*) FROM $schema.snowflake_registry"); }

### Three nodes under load, without any fault

my $fast = "snowflake.lease_duration = 6s\nsnowflake.start_timeout = 2s\n";
my @nodes;
for my $i (1 .. 3)
{
	my $node = new_server("node_$i", streaming => $i == 2,
		conf => $fast . "snowflake.registry = '" . place($registry, 'fleet') . " user=node'\nsnowflake.node_name = 'number $i'\n");
	start_server($node);
	value($node, 'postgres', 'CREATE EXTENSION snowflake');
	push @nodes, $node;
}
is(value($_, 'postgres', 'SELECT count(*) FROM snowflake_registry'), '0', 'no node leases from itself') for @nodes;
is(value($_, 'postgres', 'SELECT snowflake_nextval() > 0; SELECT count(*) FROM snowflake_layout'), "t\n1", 'but it keeps the layout')
  for @nodes;

# Each connection takes ids, some of them in a transaction that is rolled back. Some connections are killed while they do.
my $script = q{
BEGIN;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 500)) TO STDOUT;
ROLLBACK;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 2000)) TO STDOUT;
SELECT snowflake_nextvals(200);
};
my @loads = map { start_clients($_, 2, $script) } @nodes;
my $end = time() + $load_seconds;
my $killed = 0;
while (time() < $end)
{
	sleep(0.3);
	$killed += value($_, 'postgres', q{SELECT count(pg_terminate_backend(pid)) FROM (
		SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
		ORDER BY random() LIMIT 1) victim}) for @nodes;
}
my @workers = map { status($_, 'postgres', 'worker') } @nodes;
my %different = map { $_ => 1 } @workers;
is(scalar(keys %different), 3, "three nodes have three worker ids: @workers");
is(value($registry, 'fleet', "SELECT string_agg(worker || ' ' || node || ' ' || late || ' ' || expired, ', ' ORDER BY node) FROM $schema.snowflake_workers"),
	join(', ', map { "$workers[$_ - 1] number $_ false false" } 1 .. 3), 'snowflake_workers on the registry shows them');
stop_clients($_) for @loads;
is(status($_, 'postgres', q{leases_drawn || ' ' || coalesce(last_error, 'no error')}), '1 no error', 'one lease was enough, for longer than it lasts')
  for @nodes;
my ($ids, $twice) = compare_ids(map { @{ $_->{files} } } @loads);
cmp_ok($ids, '>', 10000 * $load_seconds, "$ids ids in $load_seconds s");
is($twice, 0, 'none of them twice');
cmp_ok($killed, '>', 0, 'connections were killed meanwhile');
figures('%d ids of three nodes in %d s, %d connections killed, %d duplicates', $ids, $load_seconds, $killed, $twice);

### What a node's role may do

for my $table (qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_workers))
{
	is((as_role($registry, 'fleet', 'node', "SELECT * FROM $schema.$table"))[0], '42501', "a node cannot read $table");
	is((as_role($registry, 'fleet', 'node', "DELETE FROM $schema.$table"))[0], '42501', "... nor delete from it");
}
is((as_role($registry, 'fleet', 'node', "UPDATE $schema.snowflake_registry SET token = gen_random_uuid()"))[0], '42501', '... nor write a token');
my ($lease) = value($registry, 'fleet', "SELECT lease_id FROM $schema.snowflake_registry WHERE node = 'number 1'");
my ($code, undef, $answer) =
  as_role($registry, 'fleet', 'node', "SELECT $schema.snowflake_extend($lease, gen_random_uuid(), $now_tick, '1 day') IS NULL");
is("$code $answer", '00000 t', "another's lease is not moved without its token");
($code, undef, $answer) = as_role($registry, 'fleet', 'node', "SELECT $schema.snowflake_release($lease, gen_random_uuid(), $now_tick)");
is("$code $answer", '00000 f', '... nor released');
is(value($registry, 'fleet', "SELECT window_end < $now_tick + 60000 FROM $schema.snowflake_registry WHERE lease_id = $lease"), 't', '... it stands as it was');
is((as_role($registry, 'fleet', 'stranger', "SELECT $schema.snowflake_acquire('s', 0, $now_tick, '1 min')"))[0], '42501', 'a role without rights is refused');

### late and expired: a keeper that stands still, a server that is killed

my $keeper = status($nodes[0], 'postgres', 'keeper_pid');
kill 'STOP', $keeper;
my $seen = sub {
	my ($name, $what) = @_;
	return value($registry, 'fleet', "SELECT $what FROM $schema.snowflake_workers WHERE node = '$name'") eq 't';
};
kill_server($nodes[2], children => 1);
# Both at once: neither stays late for long.
my %late;
ok(wait_until('both to be late', sub {
	$late{$_} ||= $seen->($_, 'late AND NOT expired') for 'number 1', 'number 3';
	return $late{'number 1'} && $late{'number 3'};
}), 'a node whose keeper stands still and one that was killed are late');
ok(wait_until("$_ to expire", sub { $seen->($_, 'late AND expired') }), "... and then $_ is expired") for 'number 1', 'number 3';
ok($seen->('number 2', 'NOT late AND NOT expired'), '... but not the one that lives');
is((query_error($nodes[0], 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF001', 'beyond the window nothing is issued');
kill 'CONT', $keeper;
ok(flows($nodes[0], 'postgres'), 'ids flow when the keeper runs again');
start_server($nodes[2]);
take('fleet', $_, 'postgres', 1000) for @nodes;
isnt(status($nodes[2], 'postgres', 'worker'), $workers[2], 'a killed server draws another worker id');

### A standby of a node issues ids of its own; a clone of a node is another node; two nodes of one name

$nodes[1]->backup('copy');
my $replica = PostgreSQL::Test::Cluster->new('replica');
$replica->init_from_backup($nodes[1], 'copy', has_streaming => 1);
$replica->start;
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($nodes[1], 'copy');
$clone->start;
SKIP:
{
	my ($state, $text) = query_error($replica, 'postgres', 'SELECT snowflake_nextval()');
	is($state, '00000', 'a hot standby issues ids under a remote registry') or diag($text);
	skip 'the standby does not issue', 5 if $state ne '00000';
	is(value($replica, 'postgres', 'SELECT pg_is_in_recovery()'), 't', '... in recovery');
	take('fleet', $replica, 'postgres', 1000);
	my $worker = status($replica, 'postgres', 'worker');
	isnt($worker, status($nodes[1], 'postgres', 'worker'), '... with a worker id of its own');
	take('fleet', $nodes[1], 'postgres', 1000);
	my $window_end = status($replica, 'postgres', 'window_end');
	ok(wait_until('the window to move', sub { status($replica, 'postgres', "window_end > '$window_end'") eq 't' }), '... and moves its window');
	$replica->promote;
	take('fleet', $replica, 'postgres', 1000);
	isnt(status($replica, 'postgres', 'worker'), status($nodes[1], 'postgres', 'worker'), 'once promoted it goes on');
	is(status($replica, 'postgres', 'leases_drawn'), '1', '... under the same lease');
}
take('fleet', $_, 'postgres', 1000) for $clone, $nodes[1];
isnt(status($clone, 'postgres', 'worker'), status($nodes[1], 'postgres', 'worker'), 'a clone draws a worker id of its own');
is(value($registry, 'fleet', "SELECT count(DISTINCT worker) FROM $schema.snowflake_workers WHERE node = 'number 2'"), '3',
	'three nodes of one name have three leases');
take('fleet', $_, 'postgres', 1000) for @nodes, $clone, $replica;
is(duplicates('fleet'), 0, 'and no id of any of them is another\'s');
$_->stop('fast') for $clone, $replica;
is(value($registry, 'fleet', "SELECT count(*) FROM $schema.snowflake_workers WHERE node = 'number 2'"), '1', 'a clean shutdown gives a lease back');

### Another registry, and back to the local one, without a restart

my $moving = start_clients($nodes[1], 1, 'COPY (SELECT snowflake_nextval() FROM generate_series(1, 200)) TO STDOUT;' . "\nSELECT pg_sleep(0.02);\n");
my $before = client_bytes($moving);
ok(wait_until('the load to run', sub { client_bytes($moving) > $before }), 'a client takes ids throughout');
my $fleet_leases = leases('fleet');
setting($nodes[1], "snowflake.registry = '" . place($registry, 'second') . " user=node'");
ok(wait_until('a lease at the new place', sub { leases('second') == 1 }), 'a changed setting draws a lease at the new place');
is(leases('fleet'), $fleet_leases - 1, '... and releases the one at the old place');
ok(wait_until('the new lease in use', sub { status($nodes[1], 'postgres', 'lease_id') eq value($registry, 'second', "SELECT lease_id FROM $schema.snowflake_registry") }),
	'... which the node uses');
setting($nodes[1], "snowflake.registry = ''");
ok(wait_until('a local lease', sub { value($nodes[1], 'postgres', 'SELECT count(*) FROM snowflake_registry') eq '1' }), 'emptied, it draws from itself');
is(leases('second'), '0', '... and the other lease is back');
$before = client_bytes($moving);
ok(wait_until('the load to go on', sub { client_bytes($moving) > $before }), 'ids went on');
setting($nodes[1], "snowflake.registry = '" . place($registry, 'fleet') . " user=node'");
ok(wait_until('a lease at the first place', sub { leases('fleet') == $fleet_leases }), 'and back to the first');
is(value($nodes[1], 'postgres', 'SELECT count(*) FROM snowflake_registry'), '0', '... with the local lease released');
$before = client_bytes($moving);
wait_until('the load to go on', sub { client_bytes($moving) > $before });
stop_clients($moving);
($ids, $twice) = compare_ids(@{ $moving->{files} });
is($twice, 0, "of $ids ids of the moving node none was issued twice");

### An unreachable registry, one without the extension: the error says what the registry said

setting($nodes[2], "snowflake.registry = '" . place($registry, 'bare') . " user=node'");
ok(wait_until('the refusal', sub { (query_error($nodes[2], 'postgres', 'SELECT snowflake_nextval()'))[1] =~ /SF001.*no extension snowflake/s }),
	'a database without the extension: SF001, and why');
setting($nodes[2], "snowflake.registry = 'host=/nowhere dbname=x user=node'");
ok(wait_until('the refusal', sub { (query_error($nodes[2], 'postgres', 'SELECT snowflake_nextval()'))[1] =~ m{SF001.*/nowhere}s }),
	'a registry that cannot be reached: SF001, and where');

### A password

my $n = $nodes[2];
# Where it is not preloaded, the setting is known once the library is there.
my $load = 'DO $$BEGIN PERFORM snowflake_timestamp(0); END$$;';
for my $text ("host=x password=hunter2", "postgresql://u:hunter2\@x/db", "postgresql://x/db?user=u&password=hunter2", "host=x sslpassword=hunter2",
	"postgresql://x/db?sslpassword=hunter2", "password = ''hunter2'' host=x", map { "host=x $_=hunter2" } qw(oauth_client_secret scram_client_key scram_server_key))
{
	for my $command ('SET', 'ALTER SYSTEM SET', 'ALTER DATABASE postgres SET', 'ALTER ROLE CURRENT_USER SET')
	{
		my ($state, $error) = query_error($n, 'postgres', "$load $command snowflake.registry = '$text'");
		is($state, '22023', "$command: a password is refused");
		unlike($error, qr/hunter2/, '... and not repeated');
	}
}
is((query_error($n, 'postgres', "$load SET snowflake.registry = '$_'"))[0], '22023', "refused: $_") for 'host', 'hosst=x', 'postgresql://[x', q{host=''x};
my $log_size = -s $n->logfile;
setting($n, "snowflake.registry = 'host=x password=hunter3'");
ok(wait_until('the log', sub { query_error($n, 'postgres', $load); slurp_file($n->logfile, $log_size) =~ /invalid value for parameter "snowflake\.registry"/ }), 'one in the configuration file is refused, too');
# Without the library PostgreSQL itself logs what it takes for a setting of nobody's.
my $of_others = value($n, 'postgres', 'SHOW shared_preload_libraries') eq '' ? qr/^.*parameter "snowflake\.registry" changed to.*$/m : qr/(?!)/;
unlike(slurp_file($n->logfile, $log_size) =~ s/$of_others//r, qr/hunter3/, '... and not repeated in the log');
setting($n, "snowflake.registry = '" . place($registry, 'fleet') . " user=node'");

value($n, 'postgres', 'CREATE ROLE nobody_special LOGIN; CREATE ROLE auditor LOGIN; GRANT pg_read_all_settings TO auditor');
is((as_role($n, 'postgres', 'nobody_special', $load . 'SHOW snowflake.registry'))[0], '42501', 'not everybody sees the setting');
is((as_role($n, 'postgres', 'nobody_special', $load . q{SELECT current_setting('snowflake.registry')}))[0], '42501', '... by any way');
is((as_role($n, 'postgres', 'nobody_special', $load . q{SELECT count(*) FROM pg_settings WHERE name = 'snowflake.registry'}))[2], '0', '... nor in pg_settings');
is((as_role($n, 'postgres', 'nobody_special', $load . q{SET snowflake.registry = ''}))[0], '42501', '... nor sets it');
like((as_role($n, 'postgres', 'auditor', $load . 'SHOW snowflake.registry'))[2], qr/dbname=/, 'pg_read_all_settings does');

# Passwords from a passfile and from a service file.
my $hba = slurp_file($registry->data_dir . '/pg_hba.conf');
unlink $registry->data_dir . '/pg_hba.conf';
$registry->append_conf('pg_hba.conf', "local secret keyed scram-sha-256\n$hba");
$registry->reload;
my $passfile = $registry->basedir . '/passfile';
append_to_file($passfile, "*:*:secret:keyed:sesame\n");
chmod 0600, $passfile;
my $servicefile = $registry->basedir . '/services';
append_to_file($servicefile, join("\n", '[ids]', 'host=' . $registry->host, 'port=' . $registry->port, 'dbname=secret', 'user=keyed', 'password=sesame', ''));
chmod 0600, $servicefile;

my $many = new_server('many', conf => $fast . "max_worker_processes = 24\n");
{
	local $ENV{PGSERVICEFILE} = $servicefile;
	$many->start;
}
value($many, 'postgres', 'CREATE DATABASE base');
value($many, 'base', 'CREATE EXTENSION snowflake');

sub new_node
{
	my ($db, $conninfo, %settings) = @_;
	value($many, 'postgres', "CREATE DATABASE $db TEMPLATE base");
	value($many, 'postgres', "ALTER DATABASE $db SET snowflake.registry = '$conninfo'");
	value($many, 'postgres', "ALTER DATABASE $db SET $_ = '$settings{$_}'") for keys %settings;
	return;
}
new_node('without_password', place($registry, 'secret') . ' user=keyed');
new_node('with_passfile', place($registry, 'secret') . " user=keyed passfile=$passfile");
new_node('with_service', 'service=ids');
my ($state, $text) = query_error($many, 'without_password', 'SELECT snowflake_nextval()');
is($state, 'SF001', 'without its password a node is refused');
like($text, qr/password/, '... and the error says so');
ok(flows($many, 'with_passfile'), 'a password from a passfile works');
ok(flows($many, 'with_service'), '... and one from a service file');
is(leases('secret'), '2', '... with a lease each');
unlike(slurp_file($many->logfile), qr/sesame/, 'no password is in the log');

### Layouts

new_node('default_layout', place($registry, 'halves') . ' user=node');
($state, $text) = query_error($many, 'default_layout', 'SELECT snowflake_nextval()');
is($state, 'SF001', 'a node of another layout is refused');
like($text, qr/has epoch 1735689600000 ms, tick 1000 us, 41 timestamp, 0 datacenter, 10 worker and 12.*41 timestamp, 5 datacenter, 5 worker/s, '... with both layouts');
is(leases('halves'), '0', '... and gets no lease');

for my $datacenter (0, 1, 31)
{
	new_node("dc_$datacenter", place($registry, 'halves') . ' user=node', 'snowflake.datacenter' => $datacenter);
	value($many, "dc_$datacenter", "SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 5, 5, 12)");
	take('halves', $many, "dc_$datacenter", 500);
	is(status($many, "dc_$datacenter", 'worker / 32'), $datacenter, "datacenter $datacenter draws from its own part");
	is(value($many, "dc_$datacenter", 'SELECT DISTINCT (snowflake_decode(id)).worker / 32 FROM snowflake_nextvals(10) id'), $datacenter, '... and its ids show it');
}
is(duplicates('halves'), 0, 'no id twice');
# The registry's tables are empty here: the lease in shared memory says which layout is in use.
is((query_error($many, 'dc_1', q{SELECT snowflake_set_layout('twitter')}))[0], '55000', 'a node keeps the layout of its remote lease');
is(value($many, 'dc_1', q{SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 5, 5, 12) IS NOT NULL}), 't', '... which may be set again');
is(value($many, 'dc_1', 'SELECT * FROM snowflake_layout'), 't|1735689600000|1000|41|5|5|12|f', '... and stands in its table');
new_node('dc_32', place($registry, 'halves') . ' user=node', 'snowflake.datacenter' => 32);
value($many, 'dc_32', "INSERT INTO snowflake_layout VALUES $split_layout");
($state, $text) = query_error($many, 'dc_32', 'SELECT snowflake_nextval()');
is($state, 'SF001', 'datacenter 32 is refused');
like($text, qr/datacenter 32 does not fit.*0 and 31/s, '... and why');

### Every worker id leased

my $taken = value($registry, 'filled', qq{
	SELECT count(DISTINCT worker) FROM (SELECT ($schema.snowflake_acquire('n' || i, 0, $now_tick, '1 hour')).worker_id AS worker FROM generate_series(1, 1024) i) q});
is($taken, '1024', '1,024 leases have 1,024 worker ids');
new_node('one_too_many', place($registry, 'filled') . ' user=node');
($state, $text) = query_error($many, 'one_too_many', 'SELECT snowflake_nextval()');
is($state, 'SF004', 'the 1,025th node gets SF004');
like($text, qr/All 1024 worker ids are leased.*ends at 20/s, '... with when the next one will be free');
is(status($many, 'one_too_many', q{state || ' ' || last_error_code}), 'no lease SF004', 'snowflake_status says so');
value($registry, 'filled', "SELECT $schema.snowflake_release(lease_id, token, window_start) FROM $schema.snowflake_registry LIMIT 1");
ok(flows($many, 'one_too_many'), 'with one given back, ids flow');

### Clocks

my @clocked;
for my $i (1, 2)
{
	my $server = new_server("clocked_$i", clock => 1,
		conf => "snowflake.start_timeout = 2s\nsnowflake.registry = '" . place($registry, 'clocks') . " user=node'\n");
	move_clock($server, $i == 1 ? 5 : -5);
	start_server($server);
	value($server, 'postgres', 'CREATE EXTENSION snowflake');
	push @clocked, $server;
}
take('clocks', $_, 'postgres', 1000) for @clocked;
is(leases('clocks'), '2', 'nodes whose clocks are off by 5 s either way work');

# Each by itself: one drifts, the other steps.
for my $step (0 .. 40)
{
	move_clock($clocked[0], 5 - $step / 4);
	take('clocks', $_, 'postgres', 300) for @clocked;
}
for my $offset (5, -5, 0, 3, 2.9, -4.5, 0.2, 0)
{
	move_clock($clocked[1], $offset);
	ok(flows($clocked[1], 'postgres'), "the clock at $offset s");
	take('clocks', $_, 'postgres', 300) for @clocked;
}
is(duplicates('clocks'), 0, 'drifts and steps repeat no id');

for my $offset (15, -15)
{
	my $db = $offset > 0 ? 'fore' : 'aft';
	move_clock($clocked[0], $offset);
	value($clocked[0], 'postgres', "CREATE DATABASE $db");
	value($clocked[0], $db, 'CREATE EXTENSION snowflake');
	($state, $text) = query_error($clocked[0], $db, 'SELECT snowflake_nextval()');
	is($state, 'SF002', "a clock that is off by $offset s is refused");
	like($text, qr/off by -?1[45]\.\d+ s.*node's clock shows 20\d\d-.*registry's 20\d\d-.*max_clock_skew is 10000 ms/s, '... with both clocks');
}
is(status($clocked[0], 'aft', 'last_error_code'), 'SF002', 'snowflake_status says so');
value($registry, 'postgres', q{ALTER ROLE node IN DATABASE clocks SET snowflake.max_clock_skew = '20s'});
ok(flows($clocked[0], 'aft'), 'allowed for the role, it works');
take('clocks', $clocked[0], 'aft', 300);
take('clocks', $clocked[1], 'postgres', 300);
move_clock($clocked[0], 0);
ok(flows($clocked[0], $_), "$_ with the right clock") for 'fore', 'aft', 'postgres';
take('clocks', $clocked[0], $_, 300) for 'fore', 'aft', 'postgres';
is(duplicates('clocks'), 0, 'none of these ids twice');

# Where the registry's limit may be set, and by whom.
my $ask = sub {
	my ($seconds, $first) = @_;
	my ($code, $error) = as_role($registry, 'skews', 'node', ($first // '') . "; SELECT $schema.snowflake_acquire('n', 0, $now_tick + $seconds * 1000, '1 min')");
	return $code . ($error =~ /max_clock_skew is (\d+) ms/ ? " $1" : '');
};
is($ask->(9), '00000', '9 s pass the default');
is($ask->(12), 'SF002 10000', '12 s do not');
setting($registry, q{snowflake.max_clock_skew = '3s'});
ok(wait_until('the setting', sub { $ask->(9) eq 'SF002 3000' }), 'the limit from postgresql.conf');
value($registry, 'postgres', q{ALTER DATABASE skews SET snowflake.max_clock_skew = '4s'});
is($ask->(9), 'SF002 4000', '... from ALTER DATABASE');
value($registry, 'postgres', q{ALTER ROLE node SET snowflake.max_clock_skew = '5s'});
is($ask->(9), 'SF002 5000', '... from ALTER ROLE');
is($ask->(9, 'SET snowflake.max_clock_skew = 0'), 'SF002 5000', 'a node cannot lift it by SET');
is($ask->(9, "SELECT $schema.snowflake_get_layout(); SET snowflake.max_clock_skew = 0"), '42501', '... before or after the library is loaded');
is((as_role($registry, 'skews', 'node', 'ALTER ROLE node SET snowflake.max_clock_skew = 0'))[0], '42501', '... nor by ALTER ROLE');
{
	local $ENV{PGOPTIONS} = '-c snowflake.max_clock_skew=0';
	like($ask->(12), qr/^SF002/, '... nor by an option of its connection');
	local $TODO = 'an option of the connection that is refused when the library is loaded brings back the default of 10 s';
	is($ask->(9), 'SF002 5000', '... which leaves the limit as it was set');
}
value($registry, 'postgres', q{ALTER ROLE node SET snowflake.max_clock_skew = 0});
is($ask->(3600), '00000', '0: not judged at all');

### Without the extension, or shut down cleanly: every lease is back

value($nodes[0], 'postgres', 'SELECT snowflake_nextval()');
my $lease_id = status($nodes[0], 'postgres', 'lease_id');
value($nodes[0], 'postgres', 'DROP EXTENSION snowflake');
ok(wait_until('the lease to be given back', sub { value($registry, 'fleet', "SELECT count(*) FROM $schema.snowflake_registry WHERE lease_id = $lease_id") eq '0' }),
	'a node whose extension is dropped gives its lease back');
ok(wait_until('its word', sub { slurp_file($nodes[0]->logfile) =~ /gave worker id \d+ back, lease $lease_id\n/ }), '... itself, and not by expiry');

my $held = leases('fleet');
$_->stop('fast') for @nodes, $many, @clocked;
cmp_ok(leases('fleet'), '<', $held, 'the nodes gave their leases back');
is(value($registry, 'fleet', "SELECT count(*) FROM $schema.snowflake_workers WHERE NOT expired"), '0', '... all of them');
is(leases($_), '0', "nothing is leased from $_") for 'secret', 'halves', 'second';
$registry->stop('smart');
done_testing();
