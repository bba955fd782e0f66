# Segments with the page's recipe (G11). The default is in tables that are distributed by the
# number, by another column and in other ways, in a reference table and in a local table of Citus.
# Clients write through every node: single rows, many rows in one statement, COPY, and an INSERT ...
# SELECT that moves rows between workers. Meanwhile a node joins, takes shards, is disabled and
# comes back, and servers, keepers and sessions are killed. No number appears twice, including
# numbers that were rolled back. Numbers rise within each session. At the end every node issues
# again. SNOWFLAKE_MIXTURE_SECONDS sets the duration (30 by default). The seed decides the faults
# and their order.
# Not in the default run: it needs Citus, which is built for it.
use strict;
use warnings;

use CitusTest;
use List::Util qw(shuffle);
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = ($ENV{SNOWFLAKE_MIXTURE_SECONDS} || 30) * slowness();
my $seed = seed();

# Transactions that a killed node had prepared are resolved soon; otherwise they would block others.
my $conf = "restart_after_crash = on\nsnowflake.start_timeout = 30s\ncitus.recover_2pc_interval = 1s\n";
CitusTest::start(conf => $conf);

# ---------------------------------------------------------------------------------------------------------------------
# As on the page
# ---------------------------------------------------------------------------------------------------------------------

sub block { my ($what) = @_; return block_of('doc/citus.md', $what); }

like((query_error($coordinator, $db, q{SELECT snowflake_create_segment('early')}))[1], qr/first request an id/, 'before the first id there is no segment');
like(value($coordinator, block('GRANT EXECUTE ON FUNCTION snowflake_segment_ranges')), qr/^\d+$/m, 'a segment, after an id');
like(value($coordinator, block('CREATE TABLE ticket')), qr/^1$/m, 'a table, and its first number');
is((query_error($workers[0], $db, q{SELECT snowflake_create_segment('another')}))[0], '55000', 'on a worker no segment can be made');
like((query_error($coordinator, $db, q{UPDATE ticket SET id = snowflake_segment_nextval('ticket') WHERE tenant = 7}))[1], qr/must not be VOLATILE/,
	'UPDATE is refused');
like((query_error($coordinator, $db, q{MERGE INTO ticket t USING (SELECT 7 AS tenant, 0 AS id) s ON t.tenant = s.tenant AND t.id = s.id
	WHEN NOT MATCHED THEN INSERT (tenant) VALUES (s.tenant)}))[1], qr/IMMUTABLE functions/, '... and MERGE');
# Cached plans do not store a number.
is(value($coordinator, q{SET plan_cache_mode = force_generic_plan;
	PREPARE one AS INSERT INTO ticket (tenant) VALUES (7);} . 'EXECUTE one;' x 10 . 'SELECT count(*), count(DISTINCT id), max(id) FROM ticket'),
	'11|11|11', 'a prepared statement');

value($coordinator, q{
	CREATE TABLE country (name text, id bigint NOT NULL);
	SELECT create_reference_table('country');
	INSERT INTO country VALUES ('here', 1), ('there', 2);
	ALTER TABLE country ADD COLUMN number bigint DEFAULT snowflake_segment_nextval('ticket')});
is(value($coordinator, q{SELECT count(DISTINCT result) FROM run_command_on_placements('country', 'SELECT string_agg(number::text, '','' ORDER BY name) FROM %s')}),
	'3', 'ADD COLUMN on a reference table: each replica has other numbers');
value($coordinator, q{
	CREATE TABLE invoice (tenant int, id serial, PRIMARY KEY (tenant, id));
	SELECT create_distributed_table('invoice', 'tenant');
	INSERT INTO invoice (tenant) SELECT n FROM generate_series(1, 1000) n});
value($coordinator, block('DROP SEQUENCE invoice_id_seq'));
value($_, 'INSERT INTO invoice (tenant) SELECT n FROM generate_series(1, 100) n') for $coordinator, @workers;
is(value($coordinator, q{SELECT count(*), count(DISTINCT id), pg_typeof(min(id)), min(id) FILTER (WHERE id > 1000) FROM invoice}), '1300|1300|integer|1001',
	'an integer column of a distributed table is moved over where it is');

# ---------------------------------------------------------------------------------------------------------------------
# Load and faults
# ---------------------------------------------------------------------------------------------------------------------

# Small ranges, so that there are many of them. Without a primary key, so that equal numbers are
# counted, not refused.
value($coordinator, q{
	SELECT snowflake_create_segment('load', step => 50, max_step => 2000);
	CREATE TABLE by_tenant (tenant int, n int NOT NULL DEFAULT snowflake_segment_nextval('load'));
	SELECT create_distributed_table('by_tenant', 'tenant');
	CREATE TABLE by_number (tenant int, n bigint NOT NULL DEFAULT snowflake_segment_nextval('load'));
	SELECT create_distributed_table('by_number', 'n', colocate_with => 'none');
	CREATE TABLE listed (tenant int, n int NOT NULL DEFAULT snowflake_segment_nextval('load'));
	SELECT create_reference_table('listed');
	CREATE TABLE local (tenant int, n int NOT NULL DEFAULT snowflake_segment_nextval('load'));
	SELECT citus_add_local_table_to_metadata('local');
	CREATE TABLE source (key int, tenant int);
	SELECT create_distributed_table('source', 'key', colocate_with => 'none');
	INSERT INTO source SELECT n, n % 100 FROM generate_series(1, 300) n});
my @tables = qw(by_tenant by_number listed local);
like(value($coordinator, 'EXPLAIN (COSTS OFF) INSERT INTO by_tenant (tenant) SELECT tenant FROM source'), qr/INSERT\/SELECT method: repartition/, 'rows move between workers');

my $script = join '', map { <<"SQL" } 1 .. 5;
SELECT snowflake_segment_nextval('load') FROM generate_series(1, 5);
INSERT INTO $tables[ $_ % 4 ] (tenant) SELECT random() * 100;
INSERT INTO by_tenant (tenant) VALUES (1), (2), (3), (4);
INSERT INTO by_number (tenant) VALUES (1), (2), (3), (4);
INSERT INTO $tables[ $_ % 2 ] (tenant) SELECT n FROM generate_series(1, 50) n;
INSERT INTO $tables[ $_ % 2 ] (tenant) SELECT tenant FROM source;
COPY $tables[ $_ % 4 ] (tenant) FROM PROGRAM 'seq 50';
BEGIN;
INSERT INTO by_tenant (tenant) SELECT n FROM generate_series(1, 20) n;
SELECT snowflake_segment_nextval('load') FROM generate_series(1, 5);
ROLLBACK;
SELECT snowflake_segment_nextval('load') FROM source WHERE tenant = 5;
SQL
# Workers evaluate the last statement, and their numbers need not rise in this session.
$script =~ s/(SELECT snowflake_segment_nextval\('load'\) FROM source.*?;)/\\echo elsewhere\n$1\n\\echo here/g;
my @loads = map { load_of($_, 2, $script) } $coordinator, @workers;

sub rows { my (undef, $out) = $coordinator->psql($db, 'SELECT (SELECT count(*) FROM by_tenant) + (SELECT count(*) FROM by_number)'); return $out =~ /^\d+$/ ? $out : 0; }

sub rows_flow
{
	my ($what) = @_;
	my $before = rows();
	return ok(wait_until('rows', sub { $before ||= rows(); $before && rows() > $before + 500 }), $what);
}

rows_flow('three nodes write');
push @workers, my $third = start_node('worker_3', conf => $conf);
add_node($third);
push @loads, load_of($third, 2, $script);
rows_flow('a node joins');

# Under load Citus may refuse, or end a deadlock with an error. The test checks the rows at the end.
sub try { my ($sql) = @_; my ($code) = $coordinator->psql($db, "SET statement_timeout = '30s'; SET lock_timeout = '10s'; $sql", timeout => 60); return $code == 0; }

sub any_node { return ($coordinator, @workers)[ rand(1 + @workers) ]; }
sub keeper_of { my ($node) = @_; my (undef, $pid) = $node->psql($db, 'SELECT keeper_pid FROM snowflake_status'); return $pid; }
sub back { my ($node) = @_; return wait_until($node->name, sub { ($node->psql($db, 'SELECT 1'))[0] == 0 }); }

sub kill_and_start { my ($node) = @_; kill_server($node, children => 1) && $node->start; return back($node); }

my %kinds = (
	'worker killed' => sub { kill_and_start($workers[ rand @workers ]) },
	'coordinator killed' => sub { kill_and_start($coordinator) },
	'worker restarted' => sub { my $node = $workers[ rand @workers ]; $node->stop('fast') && $node->start; return back($node); },
	'keeper killed' => sub { my $node = any_node(); return kill_and_wait($node, keeper_of($node)) && back($node); },
	'keeper terminated' => sub {
		my $node = any_node();
		my $pid = keeper_of($node);
		return $pid && kill('TERM', $pid) && wait_until('another keeper', sub { my $now = keeper_of($node); $now && $now ne $pid });
	},
	'session killed' => sub {
		my $node = any_node();
		my (undef, $pid) = $node->psql($db, q{SELECT pid FROM pg_stat_activity WHERE query ~ 'INSERT|COPY|nextval' AND pid <> pg_backend_pid() LIMIT 1});
		return kill_and_wait($node, $pid) && back($node);
	},
	'shard moved' => sub { try(q{SELECT replicate_reference_tables('block_writes')}) && try(sprintf q{SELECT citus_move_shard_placement(shardid, '127.0.0.1', nodeport, '127.0.0.1', %d, shard_transfer_mode => 'block_writes')
		FROM citus_shards WHERE nodeport <> %1$d AND citus_table_type = 'distributed' ORDER BY random() LIMIT 1}, $workers[ rand @workers ]->port) },
	'rebalanced' => sub { try(q{SELECT citus_rebalance_start(shard_transfer_mode => 'block_writes')}) && try('SELECT citus_rebalance_wait()') },
	'disabled' => sub {
		my $port = $third->port;
		value($third, 'SELECT snowflake_nextval()');
		my $lease = value($third, 'SELECT lease_id FROM snowflake_status');
		return 0 unless try(qq{SELECT citus_drain_node('127.0.0.1', $port, shard_transfer_mode => 'block_writes')});
		my $done = try(qq{SELECT citus_disable_node('127.0.0.1', $port, synchronous => true)});
		ok(($third->psql($db, q{SELECT snowflake_segment_nextval('load') FROM generate_series(1, 3000)}))[0] == 0, 'a node that is disabled issues') if $done;
		try(qq{SELECT citus_activate_node('127.0.0.1', $port)}) or wait_until('the node to be active again', sub { try(qq{SELECT citus_activate_node('127.0.0.1', $port)}) });
		try(qq{SELECT citus_set_node_property('127.0.0.1', $port, 'shouldhaveshards', true)});
		is(value($third, 'SELECT lease_id FROM snowflake_status'), $lease, '... and keeps its lease') if $done;
		return $done;
	});
my (%happened, $trials);
my $end = time() + $seconds;
until (time() > $end)
{
	for my $kind (shuffle(sort keys %kinds))
	{
		last if time() > $end;
		sleep(rand 2);
		$trials++;
		$happened{$kind}++ if $kinds{$kind}->();
	}
}
diag("trials $trials, seed $seed: " . join(', ', map { "$_ $happened{$_}" } sort keys %happened));

### All faults are over

back($_) for $coordinator, @workers;
rows_flow('rows flow at the end');
stop_loads(@loads);
value($_, 'SELECT recover_prepared_transactions()') for $coordinator, @workers;
is(join(' ', map { /^\d+$/ ? 'issues' : $_ } everywhere(q{SELECT snowflake_segment_nextval('load')})), 'issues issues issues issues', 'every node issues again');
is(value($coordinator, q{SELECT count(DISTINCT result) FROM run_command_on_placements('listed', 'SELECT count(*) || '' '' || sum(n) FROM %s')}), '1',
	'the replicas of the reference table agree');

# Numbers that only clients received: nothing was inserted, or the transaction was rolled back.
my @files = map { @{ $_->{files} } } @loads;
my $dump = PostgreSQL::Test::Utils::tempdir() . '/numbers';
append_to_file($dump, value($coordinator, join(' UNION ALL ', map { "SELECT n FROM $_" } @tables)) . "\n");
my ($numbers, $twice) = compare_ids(@files, $dump);
my ($told) = compare_ids(@files);
cmp_ok($told, '>', 1000, "$told numbers that clients were told");
is($twice, 0, "$numbers numbers, none twice");
my @here = map {
	my $text = slurp_file($_) =~ s/^elsewhere\n(?:\d+\n)*(?:here\n)?//mgr;
	append_to_file("$_.here", $text);
	"$_.here";
} @files;
is(falls_within(@here), 0, 'they rise within each session');
figures('%d numbers of segments through 4 nodes, %d faults, %d duplicates', $numbers, $trials, $twice);
finish();
