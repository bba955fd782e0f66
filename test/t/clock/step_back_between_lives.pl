# If the clock steps back between a shutdown or a reboot and the next start, no process sees a step
# back. Ids are issued at once, under another worker id, whatever on_clock_step_back is (G1, G3,
# G5). After a crash the previous lease continues: see t/crash/clock_between_lives.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('lives');

for my $policy (qw(new_worker error))
{
	for my $how ([ 'a shutdown', sub { $server->stop('fast') } ], [ 'a reboot', sub { $server->stop('immediate'); lose_box($server) } ])
	{
		my ($name, $end) = @$how;
		subtest "$policy: back by 1 h between $name and a start" => sub {
			setting($server, 'snowflake.on_clock_step_back', $policy);
			my @before = issue($server, 2000);
			$end->();
			move_clock($server, -$hour_s);
			start_server($server);
			my @after = issue($server, 2000);
			is(scalar @after, 2000, 'ids flow');
			isnt(worker_of($after[0]), worker_of($before[0]), 'with another worker id');
			is(status($server, 'leases_acquired_total, clock_waits_total'), '1|0', 'at once');
			follows_the_clock($server);
			is(repeated(), 0, 'no duplicate (G1)');
			$end->();
			move_clock($server, 0);
			start_server($server);
			is(scalar issue($server, 2000), 2000, 'forward again between two lives, ids flow');
			follows_the_clock($server);
			is(repeated(), 0, 'no duplicate (G1)');
		};
	}
}

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
