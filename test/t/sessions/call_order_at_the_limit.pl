# Ids follow the order of calls also if every number of every tick is used up (G2). With few numbers
# in a tick, the sessions are always ahead of the clock and wait for it.

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('narrow', '1735689600000, 1000, 41, 0, 10, 6, false');

subtest 'call order when every number of every tick is used up (G2)' => sub {
	my ($broken, $ticks) = call_order(counted_calls($server, 8, $each / 50, 'SET snowflake.max_run = 1'), 16);
	is($broken, 0, 'with max_run = 1, calls out of order');
	my $rows = counted_calls($server, 8, $each / 50, 'RESET snowflake.max_run');
	($broken, $ticks) = tick_order($rows, 16);
	is($broken, 0, 'by default, calls out of order that were more than a tick apart');
	($broken, $ticks) = call_order($rows, 16);
	figures('at the limit %d of %d calls were out of their exact order, by %d ticks at most', $broken, scalar @$rows, $ticks);
	my %seen;
	is(scalar(grep { $seen{ $_->[2] }++ } @$rows), 0, 'no duplicate');
};

$server->stop;
done_testing();
