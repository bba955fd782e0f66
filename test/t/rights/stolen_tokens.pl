# A hostile role that has got hold of the tokens of another role's leases (G1): for it these leases are gone. It can neither
# release nor move them, and the honest nodes that hold them go on.

use strict;
use warnings;

use HonestNodes;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

HonestNodes::start();
my $tick = tick();

my $before = sql(q{SELECT string_agg(lease_id || ' ' || worker_id, ',' ORDER BY lease_id) FROM ids.snowflake_registry WHERE node LIKE '%/%'});
for my $lease (split /\n/, sql(q{SELECT lease_id || ',' || quote_literal(token) || ',' || window_start || ',' || window_end FROM ids.snowflake_registry WHERE node LIKE '%/%'}))
{
	my ($id, $token, $start, $end) = split /,/, $lease;
	my ($out) = run_as('hostile', "SELECT ids.snowflake_lease_release($id, $token, $start - 1, 0);\nSELECT ids.snowflake_lease_release($id, $token, $start - 1, $end);\n"
		  . "SELECT window_end IS NULL FROM ids.snowflake_lease_extend($id, $token, $tick, '10 s', 0);\nSELECT window_end IS NULL FROM ids.snowflake_lease_extend($id, $token, $tick, '10 s', $end);\n");
	is($out, "f\nf\nt\nt\n", 'neither released nor moved');
}
is(sql(q{SELECT string_agg(lease_id || ' ' || worker_id, ',' ORDER BY lease_id) FROM ids.snowflake_registry WHERE node LIKE '%/%'}), $before, 'the leases are as they were');

honest_nodes_are_well();
done_testing();
