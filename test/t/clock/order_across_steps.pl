# Ids rise in the order of the calls, whichever session calls and however the wall clock steps back
# (G2, G9). A run does not become valid again when the wall clock comes back to its tick.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $seed = seed();
my $server = new_clock_server('across');
my @sessions = map { session($server) } 1 .. 3;
call($_) for @sessions;
my $worker = status($server, 'worker');
my ($last, $smaller, $failed, $calls, $trials) = (0, 0, 0, 0, 0);

# The next id of any of the sessions must be above all previous ids.
my $next = sub {
	my ($session) = @_;
	my $id = call($session // $sessions[ rand @sessions ]);
	$calls++;
	return $failed++ if $id !~ /^\d{6,}$/;
	$smaller++ if $id <= $last || worker_of($id) != $worker;
	$last = $id;
	return;
};

subtest 'ids of calls in turn rise over steps back' => sub {
	for my $back_ms ((1, 3) x 15, (50) x 5, (1000, 30_000, 59_000) x 3)
	{
		my $before = $smaller + $failed;
		$next->() for 1 .. 5;
		move_clock($server, -$back_ms / 1000);
		$next->() for 1 .. 5 + rand(20);
		# Again, while that step is being bridged.
		my $more_ms = $back_ms > 30_000 ? 900 : $back_ms > 1000 ? 29_000 : $back_ms;
		move_clock($server, -($back_ms + $more_ms) / 1000);
		$next->() for 1 .. 5 + rand(20);
		move_clock($server, 0);
		$next->() for 1 .. 5;
		$trials++;
		is($smaller + $failed, $before, "back by $back_ms ms and by $more_ms ms more: $calls calls so far are in order") if $smaller + $failed > $before || $back_ms > 3;
	}
	is($smaller, 0, 'no id is below that of a call before it, or of another worker id (G9)');
	is($failed, 0, 'no call failed');
	is(status($server, 'leases_acquired_total'), 1, 'one lease was acquired');
	cmp_ok(status($server, 'clock_bridged_total'), '>=', 20, 'the steps are counted');
};

subtest 'a wall clock that comes back to a tick revives no run' => sub {
	my ($one, $other) = @sessions;
	my $revived = 0;
	for my $round (1 .. at_length(20, 60))
	{
		# The node's clock has caught up. Each round has a different time.
		my $now = stand_ahead($server);
		my $first = (map { call($one) } 1 .. 5)[-1];
		my $ms = (3, 4, 10, 900)[ rand 4 ];
		stand_at($server, $now + $ms);
		my $between = call($other);
		stand_at($server, $now + rand() - 0.5);
		my $after = call($one);
		$revived++ if $after !~ /^\d{6,}$/ || $after <= $between || $between <= $first;
		run_clock($server);
		# The lead is gone after twice the step.
		wait_until('the clock to catch up', sub { some_ms($server) > $now + $ms });
		$trials++;
	}
	is($revived, 0, 'an id of a later call in another session is above the one before it, and none comes from the run that was left');
	is(status($server, 'leases_acquired_total'), 1, 'one lease was acquired');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
figures('%d trials (steps back), %d ids, seed %d', $trials, remembered(), $seed);
$_->quit for @sessions;
$server->stop;
done_testing();
