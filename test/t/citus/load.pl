# All nodes write at the same time (G1), through each node: single rows, many rows in one statement,
# and COPY. Meanwhile a third worker joins and takes shards, a worker is killed and comes back, and
# so does the coordinator, which is the registry. No id appears twice. A worker continues under its
# worker id, and issues ids while the coordinator is down. SNOWFLAKE_CITUS_ROWS sets the minimum
# number of rows at the end.
# Not in the default run: it needs Citus, which is built for it.

use strict;
use warnings;

use CitusTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

# A busy machine needs longer for a first id now and then.
CitusTest::start(conf => "snowflake.start_timeout = 60s\n");
# Without a primary key, so that equal ids are counted, not refused.
value($coordinator, q{CREATE TABLE orders (tenant int NOT NULL, id bigint NOT NULL DEFAULT snowflake_nextval(), way text);
	SELECT create_distributed_table('orders', 'tenant')});

my $script = <<'SQL' x 10;
INSERT INTO orders (tenant, way) SELECT random() * 100, 'one' RETURNING id;
INSERT INTO orders (tenant, way) VALUES (1, 'values'), (2, 'values'), (3, 'values'), (4, 'values') RETURNING id;
INSERT INTO orders (tenant, way) SELECT n, 'many' FROM generate_series(1, 100) n;
COPY orders (tenant, way) FROM PROGRAM 'seq -f %g,copy 200' WITH (FORMAT csv);
SQL
my $started = time();
my @loads = map { load_of($_, 2, $script) } $coordinator, @workers;

sub rows { return value($coordinator, 'SELECT count(*) FROM orders'); }

# Checks that more rows arrive.
sub rows_flow
{
	my ($what) = @_;
	my $before = rows();
	return ok(wait_until('rows', sub { rows() > $before + 2000 }), $what);
}

sub worker_of { my ($node) = @_; return value($node, 'SELECT worker FROM snowflake_status'); }

rows_flow('three nodes write');

my $third = start_node('worker_3', conf => "snowflake.start_timeout = 60s\n");
add_node($third);
push @workers, $third;
push @loads, load_of($third, 2, $script);
rows_flow('a node joins');
value($coordinator, q{SELECT rebalance_table_shards('orders', shard_transfer_mode => 'block_writes')});
isnt(value($coordinator, sprintf q{SELECT count(*) FROM citus_shards WHERE nodeport = %d AND table_name = 'orders'::regclass}, $third->port), '0',
	'... and takes shards');
rows_flow('... which are written to');

my $held = worker_of($workers[0]);
ok(kill_server($workers[0], children => 1), 'a worker is killed');
my ($code, undef, $error) = $workers[1]->psql($db, 'SELECT snowflake_nextval()');
is($code, 0, '... while others issue') or diag($error);
$workers[0]->start;
is(value($workers[0], 'SELECT (snowflake_decode(snowflake_nextval())).worker'), $held, '... comes back, and goes on under its worker id');
rows_flow('... where all is written again');

$held = worker_of($coordinator);
ok(kill_server($coordinator, children => 1), 'the coordinator is killed, with the registry');
for my $worker (@workers)
{
	($code, undef, $error) = $worker->psql($db, q{INSERT INTO orders (tenant, way) SELECT n, 'without a coordinator' FROM generate_series(1, 100) n});
	is($code, 0, $worker->name . ' writes meanwhile') or diag($error);
}
$coordinator->start;
is(value($coordinator, 'SELECT (snowflake_decode(snowflake_nextval())).worker'), $held, '... comes back, and goes on under its worker id');
rows_flow('... where all is written again');

my $more = $ENV{SNOWFLAKE_CITUS_ROWS} // 0;
while (rows() < $more) { last unless rows_flow('more'); }
stop_loads(@loads);
my $seconds = time() - $started;
# Transactions that a killed node had prepared are resolved now.
value($_, 'SELECT recover_prepared_transactions()') for $coordinator, @workers;
my ($rows, $ids, $nodes) = rows_and_ids('orders');
is($ids, $rows, "$rows rows, $ids ids");
is($nodes, 4, 'all nodes have taken ids');
is(value($coordinator, 'SELECT count(*) FROM snowflake_registry'), '4', '... under a lease each');
# Rows that clients were told of are committed.
my ($told, $twice) = compare_ids(map { @{ $_->{files} } } @loads);
is($twice, 0, "$told ids that clients were told, none twice");
figures('%d rows in %.0f s, %d distinct ids, %d nodes, %d duplicates', $rows, $seconds, $ids, $nodes, $rows - $ids);
finish();
