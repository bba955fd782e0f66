# If the clock shows a time before the layout's epoch, nothing else breaks, neither while the server
# runs nor if it starts at that time. If the node issued ids before, its clock runs on by itself. If it
# issued none in this life, calls fail with SF002 until the clock is right. Nothing crashes, and
# no id is issued twice (G1, G7, G9).

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('epoch');

subtest 'the clock before the epoch' => sub {
	my $ready = ready_count($server);
	my $session = session($server);
	my $before = call($session);
	my $counters = status($server, 'leases_acquired_total, clock_steps_back_total, clock_waits_total');
	run_from($server, 1717200000000);    # June 2024
	my $after = call($session);
	cmp_ok($after, '>', $before, 'while it runs, ids go on in order');
	is(worker_of($after), worker_of($before), 'with the same worker id');
	my ($id) = issue($server, 1);
	cmp_ok($id, '>', $after, 'in a new session, too');
	is(status($server, 'leases_acquired_total, clock_steps_back_total, clock_waits_total'), $counters, 'no lease was acquired for it, and nobody waits for the clock');
	is(status($server, "state, clock, clock_lead_seconds > 3.15576e+07"), 'issuing|runs by itself|t', 'the status says by how much they lead it');
	move_clock($server, 0);
	cmp_ok(call($session), '>', $id, 'back in the present, ids flow');
	follows_the_clock($server);
	is(status($server, 'clock_lead_seconds'), 0, 'and lead the clock no more');
	$session->quit;
	$server->stop;
	run_from($server, 1717200000000);
	start_server($server);
	for my $when ('from the start on', 'and again')
	{
		my ($state, $error);
		# SF001 while the keeper has not asked.
		wait_until('an answer', sub {
			($state, $error) = query_error($server, 'postgres', "SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()");
			return $state ne 'SF001';
		});
		is($state, 'SF002', $when);
		like($error, qr/ERROR:.*the clock is before the layout's epoch\nDETAIL:  The clock shows 2024-.*HINT:/s, 'with detail and hint');
	}
	is(status($server, 'state'), 'clock behind', 'the status says so');
	move_clock($server, 0);
	is(scalar issue($server, 1000), 1000, 'back in the present, ids flow');
	follows_the_clock($server);
	is(repeated(), 0, 'no duplicate (G1)');
	is(ready_count($server), $ready + 1, 'no crash');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
