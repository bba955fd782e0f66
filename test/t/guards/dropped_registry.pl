# The extension is dropped in a registry whose nodes run (G1). A new registry would assign their
# worker ids before the nodes call it. So the drop is refused, in whatever way it is done, also in a
# session that does not use the library. It is allowed only if no node but this database's own has a
# lease.
#
# There are four worker ids and four nodes, each a database of one server. The registry is on
# another server, which does not preload the library.
# Not in the default run: it starts some 250 processes.
use strict;
use warnings;

use ProtocolTest qw(lease_function);
use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $layout = "SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=2 seq=12')";
my $quiet = "log_statement = none\nautovacuum = off\nsnowflake.lease_duration = 20s\nsnowflake.start_timeout = 60s\n";
my $registry = new_server('registry', preload => 0, conf => $quiet);
start_server($registry);
$registry->safe_psql('postgres', 'CREATE ROLE node LOGIN; CREATE ROLE owner SUPERUSER; CREATE DATABASE ids');
my $place = sprintf 'host=%s port=%s dbname=ids user=node', $registry->host, $registry->port;
my $server = new_server('nodes', conf => $quiet . "max_worker_processes = 20\n");
start_server($server);

sub ids { return $registry->safe_psql('ids', $_[0]); }
my $create = "CREATE SCHEMA s; CREATE EXTENSION snowflake SCHEMA s; SET search_path = s; $layout;
	GRANT USAGE ON SCHEMA s TO node; GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release TO node";
ids("SET SESSION AUTHORIZATION owner; $create");

my $script = "COPY (SELECT snowflake_nextval() FROM generate_series(1, 200)) TO STDOUT;\nSELECT FROM pg_sleep(0.03);\n" x 20;
my %clients;

sub begin
{
	my ($node) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $node");
	$server->safe_psql('postgres', "ALTER DATABASE $node SET snowflake.registry = '$place'");
	$server->safe_psql($node, "CREATE EXTENSION snowflake; $layout");
	$clients{$node} = start_clients($server, 1, $script, dbname => $node);
	return flows($node);
}

sub flows
{
	my ($node) = @_;
	my $before = client_bytes($clients{$node});
	return ok(wait_until("ids of $node", sub { client_bytes($clients{$node}) > $before + 20_000 }), "$node issues");
}

begin("node$_") for 1 .. 3;
is(ids('SELECT count(*) FROM s.snowflake_registry'), '3', 'three of four worker ids are leased');
$registry->psql('ids', "DROP EXTENSION snowflake; DROP SCHEMA s; $create");
begin('node4');
my %workers = map { $server->safe_psql("node$_", 'SELECT worker FROM snowflake_status') => 1 } 1 .. 4;
is(keys(%workers), 4, 'somebody drops the extension and creates it again: a fourth node has a worker id of its own');
flows("node$_") for 1 .. 4;

# Each in a separate session that has not loaded the library.
my $schema = 'DROP SCHEMA s CASCADE';
for my $drop ('DROP EXTENSION snowflake', 'DROP EXTENSION snowflake CASCADE', $schema, 'DROP OWNED BY owner', 'DROP OWNED BY owner CASCADE',
	"DO \$\$BEGIN EXECUTE '$schema'; END\$\$", "SET session_replication_role = replica; $schema", "SET ROLE owner; $schema",
	$registry->pg_version < 17 ? () : "SET event_triggers = off; LOAD 'snowflake'; $schema",
	"BEGIN; SELECT FROM s.snowflake_workers; $schema; COMMIT", "BEGIN ISOLATION LEVEL SERIALIZABLE; $schema; COMMIT")
{
	my ($state, $error) = query_error($registry, 'ids', $drop);
	is($state, '55000', $drop);
	like($error, qr/cannot drop the registry of snowflake while nodes hold leases\nDETAIL:  4 leases .* the last until \d{4}-.*\nHINT:  .*snowflake_evict/, '... with the figures');
}
# Neither the drop nor a concurrent call ends in a deadlock.
my $tick = q{floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000};
my $callers = start_clients($registry, 4, "SELECT window_end FROM s.snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), $tick, '1 min', 0, 0, 0);\n" x 200, dbname => 'ids', rest => 0);
my %met;
my $drops = at_length(12, 40);
# The operator's call, in the same transaction, so no node can acquire a lease in between.
my $evict = 'SELECT s.snowflake_evict(worker_id, clock_timestamp()) FROM s.snowflake_registry';
$met{ (query_error($registry, 'ids', $schema))[0] }++ for 1 .. $drops;
$met{ (query_error($registry, 'ids', "BEGIN; $evict; DROP EXTENSION snowflake; ROLLBACK"))[0] }++ for 1 .. $drops / 2;
# An extend may come after evict's time was computed and before evict takes the lock.
$met{'00000'} += delete $met{22023} // 0;
is_deeply(\%met, { 55000 => $drops, '00000' => $drops / 2 }, 'beside calls without a pause, too');
stop_clients($callers);
is_deeply([ map { grep { /deadlock/ } slurp_file($_ =~ s/out$/err/r) } @{ $callers->{files} } ], [], '... which are not ended by it either');
stop_clients($_) for values %clients;
my ($issued, $twice) = compare_ids(map { @{ $_->{files} } } values %clients);
is($twice, 0, "of $issued ids none was issued twice");
figures('%d ids of four nodes with four worker ids, whose registry somebody tried to drop, %d duplicates', $issued, $twice);

my $count = 'SELECT count(*) FROM pg_extension WHERE extname = \'snowflake\'';
my $evicted;
ok(wait_until('no extend in between', sub {
	(my $rc, $evicted) = $registry->psql('ids', "BEGIN; $evict; DROP EXTENSION snowflake; $count; ROLLBACK", on_error_stop => 1);
	return $rc == 0;
}), 'leases that were evicted do not hinder it');
is($evicted, "t\nt\nt\nt\n0", '... all of them');
# Nodes that were shut down have released their leases.
$server->stop('fast');
ids("DROP EXTENSION snowflake");
is(ids($count), '0', 'nor do nodes that were stopped');

# A registry of this database's own node.
$server->start;
my $last;
for my $drop ('DROP EXTENSION snowflake', 'DROP SCHEMA s CASCADE')
{
	$server->safe_psql('postgres', "CREATE SCHEMA IF NOT EXISTS s; CREATE EXTENSION snowflake SCHEMA s; SELECT s.snowflake_nextval()");
	is($server->safe_psql('postgres', 'SELECT count(*) FROM s.snowflake_registry'), '1', 'a node holds a lease of its own registry');
	is((query_error($server, 'postgres', $drop))[0], '00000', "... $drop");
}
# Together with another node's lease, which counts until its window and max_clock_skew are over.
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
$server->safe_psql('postgres', "SELECT * FROM snowflake_lease_acquire('other', 0, $tick, '1 s', sha256(uuid_send(gen_random_uuid())), 0, NULL)");
my ($state, $error) = query_error($server, 'postgres', q{SET snowflake.max_clock_skew = '1h'; DROP EXTENSION snowflake});
is($state, '55000', 'it counts beside the lease of another node');
like($error, qr/DETAIL:  1 lease of another node /, '... which is one');
ok(wait_until('the window to end', sub { $server->safe_psql('postgres', q{SELECT expired FROM snowflake_workers WHERE node = 'other'}) eq 't' }), 'its window ends');
is((query_error($server, 'postgres', q{SET snowflake.max_clock_skew = '1h'; DROP EXTENSION snowflake}))[0], '55000', '... whose clock may be behind');
is((query_error($server, 'postgres', 'SET snowflake.max_clock_skew = 0; DROP EXTENSION snowflake'))[0], '00000', '... or may not');

# A registry whose objects were changed can be dropped, too.
for my $change ('ALTER TABLE snowflake_registry RENAME window_end TO x', 'ALTER TABLE snowflake_layout RENAME definition TO x', q{UPDATE snowflake_layout SET definition = 'of a later version'})
{
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; ' . lease_function() . "SELECT * FROM pg_temp.lease('other', $tick, '1 min')");
	my $session = "SET session_replication_role = replica; ALTER TABLE snowflake_layout DISABLE TRIGGER ALL; $change";
	is((query_error($server, 'postgres', $session))[0], '00000', $change);
	is((query_error($server, 'postgres', 'DROP EXTENSION snowflake CASCADE'))[0], '00000', '... and the extension is dropped');
}
$server->stop('fast');

# Without the library, every command that fires the event trigger fails until the trigger is
# disabled.
ids("CREATE EXTENSION snowflake; UPDATE pg_proc SET probin = '\$libdir/gone' WHERE proname = 'snowflake_guard_drop'");
is((query_error($registry, 'ids', 'DROP EXTENSION snowflake'))[0], '58P01', 'without the library the drop fails');
is((query_error($registry, 'ids', 'ALTER EVENT TRIGGER _snowflake_guard_drop DISABLE; DROP EXTENSION snowflake'))[0], '00000', '... unless the event trigger is disabled');
is(ids('SELECT count(*) FROM pg_event_trigger'), '0', '... which goes with the extension');
$registry->stop('fast');
done_testing();
