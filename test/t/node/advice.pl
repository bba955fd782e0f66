# The advice that snowflake_status.advice shows although ids are issued, and that the log reports
# once, when the lease is acquired.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use ProtocolTest qw(lease_function);
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $server = new_server('advised', patient => 1, conf => "wal_level = logical\nmax_worker_processes = 13\n");
start_server($server);

# Runs these statements in a new database before its first id. Returns its advice and the log's
# lines about it.
my $databases = 0;

sub advice_after
{
	my (@before) = @_;
	my $db = 'db' . ++$databases;
	my $log = -s $server->logfile;
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, $_) for @before;
	$server->safe_psql($db, 'SELECT snowflake_nextval()');
	wait_until('the keeper to be done', sub {
		$server->safe_psql($db, q{SELECT query ~ '^holding' FROM pg_stat_activity JOIN snowflake_status ON pid = keeper_pid}) eq 't' });
	my $text = slurp_file($server->logfile, $log);
	my $warnings = () = $text =~ /WARNING:  snowflake keeper/g;
	return ($server->safe_psql($db, 'SELECT advice FROM snowflake_status'), $warnings, $text, $db);
}

my $create = 'CREATE EXTENSION snowflake';
my ($advice, $warnings, $log, $db) = advice_after($create);
is("$advice $warnings", ' 0', 'nothing to say');

my $chance = qr/rows of other servers come to this database, but it has its own registry/;
($advice, $warnings, $log, $db) = advice_after($create, q{CREATE SUBSCRIPTION s CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)});
like($advice, qr/^$chance.*snowflake\.registry\.$/, 'a subscriber whose registry is its own');
is($warnings, 1, '... is warned once');
like($log, qr/WARNING:  snowflake keeper: $chance.*\n.*HINT:  Give all of them the same registry/, '... with a hint');

# A node that only acquires ranges of segments is warned, too.
my $segments = 'segments';
$server->safe_psql('postgres', "CREATE DATABASE $segments");
$server->safe_psql($segments, $_) for $create, q{CREATE SUBSCRIPTION s2 CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)},
  q{SELECT snowflake_create_segment('ticket')};
my $from = -s $server->logfile;
$server->safe_psql($segments, q{SELECT snowflake_segment_nextval('ticket')});
ok(wait_until('the advice', sub { $server->safe_psql($segments, 'SELECT advice FROM snowflake_status') =~ /^$chance.*numbers of segments do not/ }),
	'a subscriber that issues numbers of segments alone');
$server->safe_psql($segments, q{SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, 5000)});
is(scalar(() = slurp_file($server->logfile, $from) =~ /WARNING:  snowflake keeper: $chance/g), 1, '... is warned once');
$server->safe_psql($segments, q{ALTER SUBSCRIPTION s2 SET (slot_name = NONE)});
$server->safe_psql($segments, 'DROP SUBSCRIPTION s2');

# It acquires another lease: nothing new is logged.
my $end = -s $server->logfile;
$server->safe_psql($db, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
wait_until('the keeper to leave', sub { $server->safe_psql($db, 'SELECT keeper_pid IS NULL FROM snowflake_status') eq 't' });
$server->safe_psql($db, 'SELECT snowflake_nextval()');
wait_until('the lease', sub { slurp_file($server->logfile, $end) =~ /acquired worker id/ });
unlike(slurp_file($server->logfile, $end), qr/WARNING:  snowflake keeper/, '... and not again with the next lease');
$server->safe_psql($db, q{ALTER SUBSCRIPTION s SET (slot_name = NONE)});
$server->safe_psql($db, 'DROP SUBSCRIPTION s');
my $acquired = $server->safe_psql($db, 'SELECT leases_acquired_total FROM snowflake_metrics');
ok(wait_until('no advice', sub { $server->safe_psql($db, 'SELECT advice IS NULL FROM snowflake_status') eq 't' }),
	'without the subscription the next window takes it away');
is($server->safe_psql($db, 'SELECT leases_acquired_total FROM snowflake_metrics'), $acquired, '... of the same lease');

# One that is created while ids flow.
$server->safe_psql($db, q{CREATE SUBSCRIPTION s CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)});
ok(wait_until('the advice', sub { $server->safe_psql($db, 'SELECT advice FROM snowflake_status') =~ /^$chance/ }), '... and a new one brings it back');
$server->safe_psql($db, q{ALTER SUBSCRIPTION s SET (slot_name = NONE)});
$server->safe_psql($db, 'DROP SUBSCRIPTION s');

# Another database's subscription causes no advice here, nor does one on a node with a shared
# registry.
$server->safe_psql('postgres', q{CREATE EXTENSION snowflake; CREATE SUBSCRIPTION other CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)});
($advice, $warnings) = advice_after($create);
is("$advice $warnings", ' 0', 'a subscription of another database');

for my $case ([ 0, '' ], [ 7, qr/^$chance/ ])
{
	my ($group, $expected) = @$case;
	($advice) = advice_after($create, "SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_local_group (groupid int); INSERT INTO pg_catalog.pg_dist_local_group VALUES ($group)");
	like($advice, $expected ? $expected : qr/^$/, "group $group of Citus");
}
($advice, $warnings) = advice_after($create, 'CREATE TABLE pg_dist_local_group (groupid int); INSERT INTO pg_dist_local_group VALUES (7)');
is("$advice $warnings", ' 0', 'a table that is not Citus\'s own');

my $shared = sprintf q{ALTER DATABASE db7 SET snowflake.registry = 'host=%s port=%d dbname=db1'}, $server->host, $server->port;
($advice, $warnings) = advice_after($create, q{CREATE SUBSCRIPTION shared CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)}, $shared);
is($server->safe_psql('db7', 'SHOW snowflake.registry') =~ /db1/, 1, 'a registry that is shared');
unlike($advice, $chance, '... and a subscription, too');

# The shared registry's own database gathers the rows of its nodes.
$server->safe_psql('db1', q{CREATE SUBSCRIPTION gathers CONNECTION 'dbname=nowhere' PUBLICATION p WITH (connect = false)});
my $answers = 'SELECT registry_answers_total FROM snowflake_metrics';
my $answered = $server->safe_psql('db1', $answers);
wait_until('two windows', sub { $server->safe_psql('db1', $answers) >= $answered + 2 });
is($server->safe_psql('db1', 'SELECT advice FROM snowflake_status'), '', '... and one in the registry itself');

# A node that loses the setting in a restart, as with a new postgresql.auto.conf.
my $lost = new_server('lost', conf => sprintf "snowflake.registry = 'host=%s port=%d dbname=db1'\n", $server->host, $server->port);
start_server($lost);
sub lost_advice
{
	start_server($lost);
	$lost->safe_psql('postgres', 'SELECT snowflake_nextval()');
	wait_until('the keeper to be done', sub {
		$lost->safe_psql('postgres', q{SELECT query ~ '^holding' FROM pg_stat_activity JOIN snowflake_status ON pid = keeper_pid}) eq 't' });
	my $said = $lost->safe_psql('postgres', 'SELECT advice FROM snowflake_status');
	$lost->stop('fast');
	return $said;
}
$lost->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
$lost->stop('fast');
is(lost_advice(), '', 'a restart with the same registry');
$lost->adjust_conf('postgresql.conf', 'snowflake.registry', undef);
my $from_there = -s $lost->logfile;
like(lost_advice(), qr/^before the last shutdown this database had the registry that snowflake\.registry named, .*set snowflake\.registry again/, '... and one without it');
is(scalar(() = slurp_file($lost->logfile, $from_there) =~ /WARNING:  snowflake keeper: before the last shutdown/g), 1, '... of which the log warns once');
is(lost_advice(), '', '... and the next one, after which nobody minds');

# Four worker ids, of which the node acquires the last.
my $now = 'extract(epoch FROM now())::bigint * 1000 - 1735689600000';
($advice, $warnings, $log) = advice_after($create, q{SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=2 seq=12')},
	lease_function() . qq{SELECT pg_temp.lease('node ' || n, $now, '1 hour') FROM generate_series(1, 3) n});
is($advice, '', 'one of four is free: more than a tenth');
($advice, $warnings, $log, $db) = advice_after($create, q{SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=4 seq=12')},
	lease_function() . qq{SELECT pg_temp.lease('node ' || n, $now, '1 hour') FROM generate_series(1, 15) n});
like($advice, qr/^less than a tenth of the worker ids is free: 1 of 16\. When none are left, .*snowflake_evict/, 'one of sixteen is less');
is($warnings, 1, '... of which the log warns');
$server->safe_psql($db, q{DELETE FROM snowflake_registry WHERE node LIKE 'node %'});
ok(wait_until('no advice', sub { $server->safe_psql($db, 'SELECT advice IS NULL FROM snowflake_status') eq 't' }), '... until others are free again');
# A lease that a crash left counts as free when its window is over.
($advice) = advice_after($create, q{SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=4 seq=12')},
	lease_function() . qq{SELECT pg_temp.lease('node ' || n, $now - 5000, '1 s') FROM generate_series(1, 15) n});
is($advice, '', 'leases whose windows are over are free');

# The launcher of logical replication takes one background worker, and keepers take all others.
($advice, $warnings, $log) = advice_after($create);
like($advice, qr/^12 databases of this server issue ids, and there are 13 background workers\. Raise max_worker_processes/, 'no background worker is left');

$server->stop('fast');
done_testing();
