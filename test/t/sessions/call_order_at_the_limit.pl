# Ids are in the order of the calls (G2), also if every number of every tick is used up, so that the
# sessions are always ahead of the clock and wait for it; if ticks last a second; and if a tick has
# so many numbers that a run of ids is only a part of them.
#
# SNOWFLAKE_CALLS sets how many calls the sessions make in the last of these layouts, a quarter of
# them in each other one.

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $calls = $ENV{SNOWFLAKE_CALLS} || 300_000 / slowness();
for my $case ([ 'narrow', 'with 16 ids in a millisecond', $calls / 4, 'time=41 worker=10 seq=4' ],
	[ 'seconds', 'with 16,384 ids in a second', $calls / 4, 'tick=1s time=31 seq=14 worker=10' ],
	[ 'parts', 'with 1,048,576 ids in a second', $calls, 'tick=1s time=31 worker=10 seq=20' ])
{
	my ($name, $what, $count, $layout) = @$case;
	my $server = sessions_server($name, "epoch=2025-01-01 $layout");
	calls_in_order(prepare_recording($server, 8), $count, $what);
	my ($waits, $leases) = split /\|/, $server->safe_psql('postgres', 'SELECT clock_waits_total, leases_acquired_total FROM snowflake_metrics');
	cmp_ok($waits, '>', 0, '... which wait for the clock') if $count < $calls && slowness() == 1;
	is($leases, 1, '... and one worker id is enough');
	$server->stop;
}

done_testing();
