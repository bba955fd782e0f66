# A node has the layout of its registry, or no lease, because ids of two layouts could be equal (G1,
# section 4 of the design). Each datacenter of a layout acquires worker ids from its own part, and
# its ids show the datacenter. A datacenter that does not fit into the layout is refused.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $split_layout = q{(true, 'epoch=1735689600000 tick=1ms time=41 datacenter=5 worker=5 seq=12')};
my $registry = registry_server();
new_registry($registry, 'halves', layout => $split_layout);
my $many = base_server('many', conf => "snowflake.lease_duration = 6s\n");

new_node($many, 'default_layout', at($registry, 'halves'));
# A call may give up before the keeper's first answer.
my ($state, $text);
sub says
{
	my ($db, $pattern) = @_;
	return wait_until('the answer', sub { ($state, $text) = query_error($many, $db, 'SELECT snowflake_nextval()'); return $text =~ $pattern });
}
says('default_layout', qr/datacenter=5/);
is($state, 'SF001', 'a node of another layout is refused');
like($text, qr/is "epoch=1735689600000 tick=1ms time=41 worker=10 seq=12"; .* is "epoch=1735689600000 tick=1ms time=41 datacenter=5 worker=5 seq=12"/s, '... with both layouts');
like($text, qr/HINT:  Correct this; the keeper goes on trying/, '... the registry had answered, and the hint knows');
is(leases($registry, 'halves'), '0', '... and gets no lease');

for my $datacenter (0, 1, 31)
{
	my $db = "dc_$datacenter";
	new_node($many, $db, at($registry, 'halves'), 'snowflake.datacenter' => $datacenter);
	value($many, "SELECT snowflake_set_layout('epoch=2025-01-01 time=41 datacenter=5 worker=5 seq=12')", $db);
	ok(flows($many, $db), "datacenter $datacenter: ids flow");
	take($many, 500, $db);
	is(status($many, 'worker / 32', $db), $datacenter, "datacenter $datacenter acquires from its own part");
	is(value($many, 'SELECT DISTINCT (snowflake_decode(id)).worker / 32 FROM snowflake_nextvals(10) id', $db), $datacenter, '... and its ids show it');
}
is(taken_twice(), 0, 'no id twice');
# The registry's tables are empty here: the lease in shared memory determines the layout.
is((query_error($many, 'dc_1', q{SELECT snowflake_set_layout('twitter')}))[0], '55000', 'a node keeps the layout of its remote lease');
is(value($many, q{SELECT snowflake_set_layout('epoch=2025-01-01 time=41 datacenter=5 worker=5 seq=12') IS NOT NULL}, 'dc_1'), 't', '... which may be set again');
is(value($many, 'SELECT * FROM snowflake_layout', 'dc_1'), 't|epoch=1735689600000 tick=1ms time=41 datacenter=5 worker=5 seq=12', '... and stands in its table');
new_node($many, 'dc_32', at($registry, 'halves'), 'snowflake.datacenter' => 32);
value($many, "INSERT INTO snowflake_layout VALUES $split_layout", 'dc_32');
says('dc_32', qr/does not fit/);
is($state, 'SF001', 'datacenter 32 is refused');
like($text, qr/datacenter 32 does not fit.*0 and 31/s, '... and why');
$many->stop('fast');
is(leases($registry, 'halves'), '0', 'nothing is leased when the nodes are shut down');
$registry->stop('smart');
done_testing();
