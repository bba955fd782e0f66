# A run does not outlive its tick (G3) nor a step back of the clock (G5), and no id comes twice (G1): a clock that stands holds
# a run in the last microsecond of its tick and in the first of a later one, a little back and an hour back.

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
		my ($runs) = columns('runs_taken');
		stand_at($tick, $_) for 0, 999;
		my ($id) = numbers($session, 1);
		is($id, $last + 1, 'in the last microsecond of the tick its next number is handed out');
		is((columns('runs_taken'))[0], $runs, '... without another run');
		stand_at($tick + $later, 0);
		($id) = numbers($session, 1);
		is(tick_of($id), $tick + $later, "$later ticks later, in the first microsecond, an id of that tick");
		$next_tick += $later;
		$session->quit;
	}
};

subtest 'a run does not survive a step back of the clock (G5)' => sub {
	for my $back (1, 4)
	{
		my ($session, $tick, $last) = session_with_run();
		my ($runs, $worker) = columns('runs_taken, worker');
		stand_at($tick - $back);
		my ($id) = numbers($session, 1);
		is($id, $last + 1, "$back ms back: what was left went back, and the next number");
		is(tick_of($id), $tick, '... of the last tick');
		is((columns('runs_taken, worker'))[0], $runs + 1, '... is of another run');
		$session->quit;
	}
	{
		my ($session, $tick, $last) = session_with_run();
		my $other = session($server);
		my @theirs = numbers($other, 10);
		cmp_ok($theirs[0], '>', $last + 100, 'another session\'s numbers lie above the run');
		stand_at($tick - 1);
		my ($id) = numbers($session, 1);
		cmp_ok($id, '>', $theirs[-1], 'then nothing goes back, and the next number lies above them');
		$_->quit for $session, $other;
	}
	my ($session, $tick, $last) = session_with_run();
	my $log = -s $server->logfile;
	stand_at($tick - 3_600_000);
	my ($id) = numbers($session, 1);
	is(tick_of($id), $tick - 3_600_000, 'an hour back: an id of the clock\'s tick');
	isnt(worker_of($id), worker_of($last), '... of another worker id');
	stand_at($tick);
	($id) = numbers($session, 1);
	isnt($id, $last + 1, 'the clock returns: the old run is gone');
	is(tick_of($id), $tick, '... and ids are of its tick');
	$session->quit;
	is(repeated(), 0, 'no duplicate (G1)');
};

finish();
