# The nodes' clocks differ from the registry's clock. Within snowflake.max_clock_skew the nodes
# work, however their clocks drift and step, and repeat no id (G1). Beyond it they are refused, with
# both clocks in the error, until the clock is right or their role has a higher limit.
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, 'clocks');
my @clocked;
for my $i (1, 2)
{
	my $server = new_server("clocked_$i", clock => 1, conf => "snowflake.start_timeout = 2s\nsnowflake.registry = '" . at($registry, 'clocks') . "'\n");
	move_clock($server, $i == 1 ? 5 : -5);
	start_server($server);
	value($server, 'CREATE EXTENSION snowflake');
	push @clocked, $server;
}
ok(flows($_), 'ids flow') for @clocked;
take($_, 1000) for @clocked;
is(leases($registry, 'clocks'), '2', 'nodes whose clocks are off by 5 s either way work');

# Each separately: one clock drifts, the other steps.
for my $step (0 .. 40)
{
	move_clock($clocked[0], 5 - $step / 4);
	take($_, 300) for @clocked;
}
for my $offset (5, -5, 0, 3, 2.9, -4.5, 0.2, 0)
{
	move_clock($clocked[1], $offset);
	ok(flows($clocked[1]), "the clock at $offset s");
	take($_, 300) for @clocked;
}
is(taken_twice(), 0, 'drifts and steps repeat no id');

for my $offset (15, -15)
{
	my $db = $offset > 0 ? 'fore' : 'aft';
	move_clock($clocked[0], $offset);
	value($clocked[0], "CREATE DATABASE $db");
	value($clocked[0], 'CREATE EXTENSION snowflake', $db);
	# A call may give up before the keeper's first answer.
	my ($state, $text);
	wait_until('the answer', sub { ($state, $text) = query_error($clocked[0], $db, 'SELECT snowflake_nextval()'); return $text =~ /off by/ });
	is($state, 'SF002', "a clock that is off by $offset s is refused");
	# The transfer takes time, too, which counts against one of the two.
	like($text, qr/off by -?1\d\.\d+ s.*node's clock shows 20\d\d-.*registry's 20\d\d-.*max_clock_skew is 10000 ms/s, '... with both clocks');
}
is(status($clocked[0], 'last_error_code', 'aft'), 'SF002', 'snowflake_status says so');
value($registry, q{ALTER ROLE node IN DATABASE clocks SET snowflake.max_clock_skew = '20s'});
ok(flows($clocked[0], 'aft'), 'allowed for the role, it works');
take($clocked[0], 300, 'aft');
take($clocked[1], 300);
move_clock($clocked[0], 0);
ok(flows($clocked[0], $_), "$_ with the right clock") for 'fore', 'aft', 'postgres';
take($clocked[0], 300, $_) for 'fore', 'aft', 'postgres';
is(taken_twice(), 0, 'none of these ids twice');
$_->stop('fast') for @clocked;
$registry->stop('smart');
done_testing();
