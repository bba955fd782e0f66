# Each node has its own registry, so only chance makes their ids differ. Here three nodes have a
# layout of two worker ids, so ids must repeat. Each worker's status and log warn of this.
# Not in the default run: it needs Citus, which is built for it.

use strict;
use warnings;

use CitusTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

CitusTest::start(registry => 0, layout => q{snowflake_set_layout('epoch=2025-01-01 time=41 worker=1 seq=5')});
value($coordinator, q{CREATE TABLE orders (tenant int, id bigint DEFAULT snowflake_nextval());
	SELECT create_distributed_table('orders', 'tenant')});
my @loads = map { load_of($_, 1, "COPY orders (tenant) FROM PROGRAM 'seq 2000';\n" x 10) } $coordinator, @workers;
ok(wait_until('rows', sub { (rows_and_ids('orders'))[0] > 20_000 }), 'three nodes write');
stop_loads(@loads);
my ($rows, $ids) = rows_and_ids('orders');
cmp_ok($ids, '<', $rows, 'some ids are there twice');
figures('registries of their own, two worker ids for three nodes: %d rows, %d duplicates', $rows, $rows - $ids);

my $chance = qr/^rows of other servers come to this database, but it has its own registry: .*snowflake\.registry/;
# A keeper notices it in its next rounds.
for my $worker (@workers)
{
	ok(wait_until('the advice', sub { value($worker, 'SELECT advice FROM snowflake_status') =~ $chance }), $worker->name . ' says so');
	ok(wait_until('the log', sub { slurp_file($worker->logfile) =~ /WARNING:  snowflake keeper: rows of other servers come/ }), '... and its log');
}
is(value($coordinator, 'SELECT advice FROM snowflake_status'), '', 'the coordinator has nothing to say');
finish();
