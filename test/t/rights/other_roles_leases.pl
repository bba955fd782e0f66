# A hostile role that knows the ids of another role's leases, and the hashes of their secrets, can
# neither extend nor release them: the functions treat these leases as gone (G1).

use strict;
use warnings;

use HonestNodes;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

HonestNodes::start();
my $tick = tick();

my $before = sql(q{SELECT string_agg(lease_id || ' ' || worker_id, ',' ORDER BY lease_id) FROM ids.snowflake_registry WHERE node LIKE '%/%'});
for my $lease (split /\n/, sql(q{SELECT concat_ws(',', lease_id, quote_literal(secret_hash), worker_id, window_start, window_end) FROM ids.snowflake_registry WHERE node LIKE '%/%'}))
{
	my ($id, $hash, $worker, $start, $end) = split /,/, $lease;
	my ($out) = run_as('hostile', join '', map { "SELECT window_end IS NULL FROM ids.snowflake_lease_extend($id, $hash, $tick, '10 s', $_, $worker, $start);\n" } 0, $end);
	is($out, "t\nt\n", 'not extended');
	($out) = run_as('hostile', join '', map { "SELECT ids.snowflake_lease_release($id, substr(${hash}::bytea, 1, 16), $start - 1, $_);\n" } 0, $end);
	is($out, "f\nf\n", '... nor released');
}
is(sql(q{SELECT string_agg(lease_id || ' ' || worker_id, ',' ORDER BY lease_id) FROM ids.snowflake_registry WHERE node LIKE '%/%'}), $before, 'the leases are as they were');

honest_nodes_are_well();
done_testing();
