# Ids are in the order of the calls (G2), and none is issued twice (G1), whatever the processor's
# counter shows meanwhile: it is set back and forward, becomes slower and faster, stands still, and
# shows something else on another processor. Nothing but the time of an id depends on it.
#
# SNOWFLAKE_CALLS sets how many calls the sessions make, SNOWFLAKE_SEED how the counter moves.
#
# Not in the default run: each reading of a counter that is moved costs some 15 us, 20 s in all.

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);
use TimedCalls;

plan skip_all => 'the counter cannot be moved on this machine' unless counter_moves();
my $calls = $ENV{SNOWFLAKE_CALLS} || at_length(400_000, 2_000_000) / slowness();
my $seed = seed();

for my $case ([ 'milliseconds', undef ], [ 'seconds', 'epoch=2025-01-01 tick=1s time=31 worker=6 seq=26' ])
{
	my ($ticks, $layout) = @$case;
	my $server = sessions_server("moved_$ticks", $layout, clock => 1, counter => 'moved');
	make_timed_calls($server, 'postgres');
	cmp_ok(counts_for($server, 'postgres'), '<', 5000, 'most calls read no clock');
	my $recording = prepare_recording($server, 8);
	start_recording($recording);
	my ($moves, $stood) = (0, 0);
	for (; recorded($recording) < $calls / 2 || $moves < 60; ++$moves)
	{
		my $by = (1, -1)[ rand 2 ] * exp(rand(log(1e5))) / 10;
		my $what = int(rand(6));
		if ($what < 3) { move_counter($server, by => $by); }
		elsif ($what == 3) { move_counter($server, speed => 250 * (1 + int(rand(16)))); }
		elsif ($what == 4) { move_counter($server, apart => $by); }
		else { move_counter($server, speed => 0); ++$stood; }
		sleep(rand(0.05));
		# Otherwise the keeper soon gives up the counter, and takes it up again only after two stretches.
		move_counter($server, speed => 1000) if rand() < 0.8;
		sleep($moves % 20 < 19 ? rand(0.02) : 4.5);
	}
	is(join("\n", stop_recording($recording)), '', 'no call fails');
	my $found = compare_calls($recording);
	is($found->{fell} + $found->{across}, 0, "ticks of $ticks: of $found->{calls} calls none gets an id below that of a call that ended before it began (G2)");
	is($found->{twice}, 0, "... of $found->{ids} ids none is issued twice (G1)");
	figures('ticks of %s: %d moves of the counter, %d of them to stand still; %d calls, %d within 10 us of another session\'s; %d out of order, %d ids twice',
		$ticks, $moves, $stood, @$found{qw(calls near)}, $found->{fell} + $found->{across}, $found->{twice});
	$server->stop('immediate');
}

done_testing();
