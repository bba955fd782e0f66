# A run does not outlive its tick (G3), whatever the wall clock does meanwhile (G9), and no id is
# issued twice (G1). The clock stands still at the end of the run's tick, in the first microsecond
# of a later tick, a little before the run's tick, and an hour before it.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(repeated session tick_of worker_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('clock');

subtest 'a run does not outlive its tick (G3)' => sub {
	for my $later (1, 2, 5, 60_000)
	{
		my ($session, $tick, $last) = session_with_run();
		stand_at($tick, 998);
		my ($id) = numbers($session, 1);
		is($id, $last + 1, 'at the end of the tick its next number is issued');
		stand_at($tick + $later, 0);
		($id) = numbers($session, 1);
		is(tick_of($id), $tick + $later, "$later ticks later, in the first microsecond, an id of that tick");
		$next_tick += $later;
		$session->quit;
	}
};

subtest 'a run is timed by the steady clock, whatever the wall clock does (G9)' => sub {
	for my $back (1, 4, 50_000)
	{
		my ($session, $tick, $last) = session_with_run();
		my ($waits) = columns('clock_waits_total');
		stand_at($tick - $back);
		my ($id) = numbers($session, 1);
		is($id, $last + 1, "$back ms back: the run goes on, as no time has passed");
		my $other = session($server);
		my @theirs = numbers($other, 10);
		is($theirs[0], $id + 1, '... in another session, too');
		is((columns('clock_waits_total'))[0], $waits, '... which does not wait');
		# The node's clock continues at half speed.
		stand_at($tick - $back + 2);
		($id) = numbers($session, 1);
		is(tick_of($id), $tick + 1, 'two milliseconds later the run is over, and an id is of the next tick');
		is(worker_of($id), worker_of($last), '... of the same worker id');
		stand_at($tick);
		cmp_ok((numbers($session, 1))[0], '>', $id, 'the wall clock comes to that tick again: the run does not');
		$next_tick += $back;
		$_->quit for $session, $other;
	}
	my ($keeper) = columns('keeper_pid');
	my ($session, $tick, $last) = session_with_run();
	# It would notice the step, and end the run, before a slow machine calls.
	kill 'STOP', $keeper;
	stand_at($tick - 3_600_000);
	my ($id) = numbers($session, 1);
	kill 'CONT', $keeper;
	is($id, $last + 1, 'an hour back: the run goes on, as no time has passed');
	stand_at($tick - 3_600_000 + 2);
	($id) = numbers($session, 1);
	is(tick_of($id), $tick - 3_600_000 + 2, '... and two milliseconds later an id is of the clock\'s tick');
	isnt(worker_of($id), worker_of($last), '... of another worker id');
	stand_at($tick);
	($id) = numbers($session, 1);
	isnt($id, $last + 2, 'the clock returns: the old run is gone');
	is(tick_of($id), $tick, '... and ids are of its tick');
	$session->quit;
	is(repeated(), 0, 'no duplicate (G1)');
};

finish();
