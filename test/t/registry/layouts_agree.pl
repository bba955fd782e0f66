# A node has the layout of its registry, or no lease, because ids of two layouts could be equal (G1,
# section 4 of the design). Each datacenter of a layout acquires worker ids from its own part, and
# its ids show the datacenter. A datacenter that does not fit into the layout is refused.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $split_layout = '(true, 1735689600000, 1000, 41, 5, 5, 12, false)';
my $registry = registry_server();
new_registry($registry, 'halves', layout => $split_layout);
my $many = base_server('many', conf => "snowflake.lease_duration = 6s\n");

new_node($many, 'default_layout', at($registry, 'halves'));
my ($state, $text) = query_error($many, 'default_layout', 'SELECT snowflake_nextval()');
is($state, 'SF001', 'a node of another layout is refused');
like($text, qr/has epoch 1735689600000 ms, tick 1000 us, 41 timestamp, 0 datacenter, 10 worker and 12.*41 timestamp, 5 datacenter, 5 worker/s, '... with both layouts');
like($text, qr/HINT:  Correct this; the keeper goes on trying/, '... the registry had answered, and the hint knows');
is(leases($registry, 'halves'), '0', '... and gets no lease');

for my $datacenter (0, 1, 31)
{
	my $db = "dc_$datacenter";
	new_node($many, $db, at($registry, 'halves'), 'snowflake.datacenter' => $datacenter);
	value($many, "SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 5, 5, 12)", $db);
	take($many, 500, $db);
	is(status($many, 'worker / 32', $db), $datacenter, "datacenter $datacenter acquires from its own part");
	is(value($many, 'SELECT DISTINCT (snowflake_decode(id)).worker / 32 FROM snowflake_nextvals(10) id', $db), $datacenter, '... and its ids show it');
}
is(taken_twice(), 0, 'no id twice');
# The registry's tables are empty here: the lease in shared memory determines the layout.
is((query_error($many, 'dc_1', q{SELECT snowflake_set_layout('twitter')}))[0], '55000', 'a node keeps the layout of its remote lease');
is(value($many, q{SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 5, 5, 12) IS NOT NULL}, 'dc_1'), 't', '... which may be set again');
is(value($many, 'SELECT * FROM snowflake_layout', 'dc_1'), 't|1735689600000|1000|41|5|5|12|f', '... and stands in its table');
new_node($many, 'dc_32', at($registry, 'halves'), 'snowflake.datacenter' => 32);
value($many, "INSERT INTO snowflake_layout VALUES $split_layout", 'dc_32');
($state, $text) = query_error($many, 'dc_32', 'SELECT snowflake_nextval()');
is($state, 'SF001', 'datacenter 32 is refused');
like($text, qr/datacenter 32 does not fit.*0 and 31/s, '... and why');
$many->stop('fast');
is(leases($registry, 'halves'), '0', 'nothing is leased when the nodes are shut down');
$registry->stop('smart');
done_testing();
