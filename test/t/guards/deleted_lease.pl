# The rows of running nodes are deleted from a full registry (G1). A deleted lease's worker id
# becomes free only above everything that its node may have issued, whether or not the node learns
# of the deletion. The test compares every id that reached a client of any node.
#
# There are four worker ids and five nodes, each a database of one server. The first node's keeper
# is stopped. So the node does not learn what happens to its lease, and issues ids until the end of
# its window. Windows are long, because it must still issue when a slow machine has deleted its row.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $server = new_server('server', conf => "max_connections = 50\nmax_worker_processes = 20\nsnowflake.lease_duration = 20s\n"
	  . "snowflake.max_clock_skew = 1s\nsnowflake.start_timeout = 100ms\nlog_statement = none\n");
start_server($server);
my $layout = "SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=2 seq=12')";
$server->safe_psql('postgres', "CREATE EXTENSION snowflake; $layout");
my $conninfo = sprintf 'host=%s port=%s dbname=postgres', $server->host, $server->port;

sub registry { return $server->safe_psql('postgres', $_[0]); }
sub lease_of { return registry("SELECT $_[1] FROM snowflake_registry WHERE node LIKE '%/$_[0]'"); }

my $script = <<'SQL' x 20;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 200)) TO STDOUT;
SELECT snowflake_nextvals(50);
SELECT FROM pg_sleep(0.03);
SQL
my %clients;

sub load { my ($node) = @_; return $clients{$node} = start_clients($server, 1, $script, dbname => $node); }

sub ids_flow
{
	my ($node, $what) = @_;
	my $before = client_bytes($clients{$node});
	ok(wait_until("ids of $node", sub { client_bytes($clients{$node}) > $before + 20_000 }), $what);
	return;
}

# The node's keeper, stopped while it sleeps, and not in an exchange with the registry.
sub cut_off
{
	my ($node) = @_;
	my $keeper = $server->safe_psql($node, 'SELECT keeper_pid FROM snowflake_status');
	my $sleeps = "SELECT count(*) FROM pg_stat_activity WHERE pid = $keeper AND query LIKE 'holding%'";
	ok(wait_until('the keeper to sleep', sub {
		return 0 unless registry($sleeps) eq '1';
		kill 'STOP', $keeper;
		return 1 if registry($sleeps) eq '1';
		kill 'CONT', $keeper;
		return 0;
	}), "$node is cut off from the registry");
	return $keeper;
}

my @nodes = map { "node$_" } 1 .. 5;
for my $node (@nodes)
{
	$server->safe_psql('postgres', "CREATE DATABASE $node");
	$server->safe_psql('postgres', "ALTER DATABASE $node SET snowflake.registry = '$conninfo'");
	$server->safe_psql($node, "CREATE EXTENSION snowflake; $layout");
}
for my $node (@nodes[ 0 .. 3 ])
{
	load($node);
	ids_flow($node, "$node issues");
}
is(registry('SELECT count(*) FROM snowflake_registry'), '4', 'every worker id is leased');

# First windows are shorter.
ok(wait_until('a long window', sub { lease_of('node1', q{snowflake_tick_timestamp(window_end) > clock_timestamp() + interval '12 s'}) eq 't' }), 'node1 has a long window');
my $keeper = cut_off('node1');
my ($worker, $window_end) = split /\|/, lease_of('node1', 'worker_id, window_end');
my $deleted = registry('SELECT now()');
is(registry("DELETE FROM snowflake_registry WHERE node LIKE '%/node1' RETURNING worker_id"), $worker, 'its row is deleted');
is(registry("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $worker"), $window_end - 1, '... and its window remains as watermark');
load('node5');
ok(wait_until('node5 to acquire', sub { lease_of('node5', 'count(*)') eq '1' }), 'another node acquires at once');
is(lease_of('node5', "worker_id = $worker AND window_start >= $window_end"), 't', '... the same worker id, above');
ids_flow('node5', 'node5 issues as soon as the window of node1 is over');

my (undef, undef, undef, $highest) = compare_ids(@{ $clients{node1}{files} });
is(registry("SELECT d.worker = $worker AND d.ts > '$deleted' AND d.ts < snowflake_tick_timestamp($window_end) FROM snowflake_decode($highest) d"),
	't', 'node1 has issued under it after that, to the end of its window');

kill 'CONT', $keeper;
ok(wait_until('node1 to lose its lease', sub { $server->safe_psql('node1', 'SELECT state FROM snowflake_status') eq 'no lease' }), 'node1 finds its lease gone');
like((query_error($server, 'node1', 'SELECT snowflake_nextval()'))[0], qr/^SF00[14]$/, '... and there is no other');

# The operator's call frees a worker id at once.
stop_clients($clients{node2});
my $dead = cut_off('node2');
$worker = lease_of('node2', 'worker_id');
is(registry("SELECT snowflake_evict($worker, now())"), 't', 'node2 is dead, says the operator');
ids_flow('node1', 'node1 issues');
is(lease_of('node1', 'worker_id'), $worker, '... under the worker id of node2');
kill $_, $dead for qw(TERM CONT);

# All rows of running nodes at once.
registry('DELETE FROM snowflake_registry');
my @others = grep { $_ ne 'node2' } @nodes;
ids_flow($_, "$_ issues after all rows were deleted") for @others;
stop_clients($clients{$_}) for @others;
my ($ids, $twice) = compare_ids(map { @{ $_->{files} } } values %clients);
cmp_ok($ids, '>', 20_000, "$ids ids");
is($twice, 0, 'none of them twice');
figures('%d ids of five nodes with four worker ids whose rows were deleted, %d duplicates', $ids, $twice);
$server->stop('fast');
done_testing();
