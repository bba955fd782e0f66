# With on_clock_step_back = error calls fail with SF002, at once, while the clock is behind by more
# than max_bridge. No worker id is acquired. Ids never fall within a process (G2), and calls succeed
# again as soon as the clock has caught up.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('error');

subtest 'error: back by more than max_bridge, SF002 until the clock has caught up' => sub {
	setting($server, 'snowflake.on_clock_step_back', 'error');
	for my $case ([ 1, '0' ], [ $hour_s, '1min' ])
	{
		my ($back_s, $max_bridge) = @$case;
		setting($server, 'snowflake.max_bridge', $max_bridge);
		my $session = session($server);
		# Of before that id, so that the time until the step does not make up for it.
		my $now = some_ms($server);
		my $before = call($session);
		my $acquired = status($server, 'leases_acquired_total, clock_waits_total, lease_waits_total, clock_bridged_total');
		stand_at($server, $now - $back_s * 1000);
		is(call($session), 'SF002', "back by $back_s s, the call fails");
		my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'in a new session too');
		like($error, qr/DETAIL:.*HINT:.*on_clock_step_back/s, 'with detail and hint');
		is(status($server, 'leases_acquired_total, clock_waits_total, lease_waits_total, clock_bridged_total'), $acquired, 'no lease was acquired, nobody waited and nothing was bridged');
		run_from($server, $back_s > 1 ? $now : $now - $back_s * 1000);
		my $after;
		ok(wait_until('ids', sub { $after = call($session); return $after =~ /^\d{6,}$/; }), 'ids flow once the clock has caught up');
		cmp_ok($after, '>', $before, 'above the last one');
		is(worker_of($after), worker_of($before), 'with the same worker id');
		is(repeated(), 0, 'no duplicate (G1)');
		move_clock($server, 0);
		$session->quit;
	}
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
