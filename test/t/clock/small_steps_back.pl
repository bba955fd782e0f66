# A step back of the clock by at most max_bridge has no effect on calls: ids rise under the same
# lease, and no call waits. The node's clock is ahead of the wall clock until the wall clock has
# caught up, which takes twice the step (G2, G3, G5, G9). The test stops the clock to make the steps
# exact.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('small');
my $counters = 'clock_waits_total, leases_acquired_total, clock_steps_back_total';

# From the clock's present time by exactly so much, however long this program takes.
sub step_back { my ($back_s) = @_; move_clock($server, $server->{snowflake_offset_ns} / 1e9 - $back_s); return; }

# The last step that the log reports, in seconds; 0: none.
sub step_in_log
{
	my ($from) = @_;
	my $said = 0;
	wait_until('the message', sub {
		$said = $1 if slurp_file($server->logfile, $from) =~ /keeper: the clock stepped back by ([\d.]+) s, and ids go on\n/;
		return $said;
	});
	return $said;
}

for my $case ([ '1min', 3, 5, 50, 1000, 59_000 ], [ '0', 3, 5 ])
{
	my ($max_bridge, @steps) = @$case;
	subtest "max_bridge = $max_bridge: while the clock stands ids go on in the last tick" => sub {
		setting($server, 'snowflake.max_bridge', $max_bridge);
		my $session = session($server);
		call($session);
		my $worker = status($server, 'worker');
		my $now = stand_ahead($server);
		my $first = call($session);
		my $before = status($server, $counters);
		my $bridged = status($server, 'clock_bridged_total');
		my $last = $first;
		for my $back (@steps)
		{
			stand_at($server, $now - $back);
			my $id = call($session);
			cmp_ok($id, '>', $last, "back by $back ms, the id is above the last one");
			is(tick_of($id), tick_of($first), 'in the same tick');
			is(worker_of($id), $worker, 'with the same worker id');
			is(status($server, 'round(clock_lead_seconds * 1000)'), $max_bridge eq '0' ? 0 : $back,
				'the status says by how much the node\'s clock leads');
			$last = $id;
		}
		is(status($server, $counters), $before, 'nobody waited, no lease was acquired');
		is(status($server, 'clock_bridged_total') - $bridged, $max_bridge eq '0' ? 0 : @steps, 'and what was bridged is counted');
		stand_at($server, $now);
		# The clock must not step back when it runs again.
		wait_until('the time at which the clock stands', sub { some_ms($server) > $now });
		run_clock($server);
		# The lead of the steps is still bridged, whatever max_bridge is next.
		let_pass($server, 2 * $steps[-1] / 1000);
		$session->quit;
	};
}

subtest 'back by up to max_bridge: ids go on at half speed, until the clock has caught up' => sub {
	setting($server, 'snowflake.max_bridge', '1min');
	my $session = session($server);
	my $last = call($session);
	my $worker = worker_of($last);
	my $lead = sub { return status($server, 'clock_lead_seconds') };
	my $before = status($server, $counters);
	for my $back_s (1, 30, 59)
	{
		# The clock may be behind by milliseconds because it stood still before.
		cmp_ok($lead->(), '<', 0.05, "back by $back_s s: the node's clock is the server's");
		my $bridged = status($server, 'clock_bridged_total');
		my $log = -s $server->logfile;
		$last = call($session);
		step_back($back_s);
		for (1 .. 3)
		{
			my $id = call($session);
			cmp_ok($id, '>', $last, 'the id is above the last one');
			is(worker_of($id), $worker, 'with the same worker id');
			$last = $id;
		}
		cmp_ok(abs(step_in_log($log) - $back_s), '<', 0.01, 'the log says by how much');
		is(status($server, 'clock_bridged_total'), $bridged + 1, 'and it is counted, once');
		if ($back_s >= 30)
		{
			my $was = $lead->();
			cmp_ok($was, '>', 0.8 * $back_s, 'the node\'s clock leads');
			cmp_ok($was, '<=', $back_s + 0.01, 'by no more than the step');
			let_pass($server, $back_s);
			my ($id, $clock_ms) = split /\|/, (ask($session, 'SELECT snowflake_nextval(), extract(epoch FROM clock_timestamp()) * 1000'))[0];
			remember($id);
			cmp_ok($id, '>', $last, 'later, too, the id is above the last one');
			cmp_ok(abs($epoch_ms + tick_of($id) - $clock_ms - ($was - $back_s / 2) * 1000), '<', 100 * $back_s, 'by then half of it is gone, also from ids');
			$last = $id;
		}
		# Part of this time has passed already.
		let_pass($server, 2 * $back_s);
		my $id = call($session);
		cmp_ok($id, '>', $last, 'when the clock has caught up, the id is above the last one');
		$last = $id;
		follows_the_clock($server);
	}
	is(status($server, $counters), $before, 'nobody waited, no lease was acquired');
	$session->quit;
};

subtest 'back again while an earlier step is bridged' => sub {
	my $session = session($server);
	my $last = call($session);
	my $worker = worker_of($last);
	my $before = status($server, $counters);
	for my $back_s (20, 0.003, 10, 5, 20)
	{
		step_back($back_s);
		my $id = call($session);
		cmp_ok($id, '>', $last, "back by $back_s s, the id is above the last one");
		is(worker_of($id), $worker, 'with the same worker id');
		$last = $id;
	}
	is(status($server, $counters), $before, 'nobody waited, no lease was acquired');
	is(status($server, q{clock_lead_seconds BETWEEN 40 AND 56}), 't', 'the leads add up');
	move_clock($server, 0);
	follows_the_clock($server, 'the clock put right, ids follow it');
	$session->quit;
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
