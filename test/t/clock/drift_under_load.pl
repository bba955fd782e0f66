# Other faults of a wall clock while sessions issue ids all the time (G9). The clock goes an hour
# ahead and back within a minute, and max_leap holds this leap. It stands still for ten seconds. It
# runs a hundredth too slow or too fast. There is no error, no id is smaller than the previous id of
# its session, and the worker id and the lease do not change.
# Not in the default run: sessions issue for half a minute while the clock moves.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $server = new_clock_server('drifting', conf => "max_connections = 40\nshared_buffers = 256MB\nsnowflake.max_leap = 1min");
issue($server, 10);

my $longest = under_load($server, 'no move', sub { sleep(4); });
figures('without a move the longest call took %.1f ms', $longest);

$longest = under_load($server, 'ahead by an hour and back', sub {
	for (1 .. 2)
	{
		move_clock($server, $hour_s);
		sleep(1);
		is(status($server, 'state'), 'issuing', 'an hour ahead, the node issues');
		cmp_ok(status($server, 'clock_lead_seconds'), '<', -$hour_s + 2, '... and its clock does not follow');
		move_clock($server, 0);
		sleep(0.5);
	}
});
is(status($server, 'clock_bridged_total'), 0, '... so on the way back there is nothing to bridge');
# The keeper, which runs every two seconds, may have seen only the second one.
ok(wait_until('the warning', sub { slurp_file($server->logfile) =~ /WARNING:.* the clock leapt forward by 3600 s, which is not followed yet/ }),
	'... and the log warns of the leap');
figures('ahead by an hour and back twice: the longest call took %.1f ms', $longest);

$longest = under_load($server, 'ten seconds on one spot', sub {
	my $began = time();
	freeze_wall_clock($server);
	sleep(10);
	my $lead_s = status($server, 'clock_lead_seconds');
	cmp_ok($lead_s, '>', 4.9, '... the clock of ids went on by half, ...');
	cmp_ok($lead_s, '<', 0.75 * (time() - $began), '... and no more');
	run_clock($server);
	sleep(0.2);
});
is(status($server, 'clock_bridged_total'), 1, '... which counts as one step');
is(status($server, 'clock_lead_seconds < 0.001'), 't', '... and ends with it');
figures('ten seconds on one spot: the longest call took %.1f ms', $longest);

my $trials = 0;
for my $sign (-1, 1)
{
	my $what = $sign < 0 ? 'too slow' : 'too fast';
	my $before = status($server, 'clock_bridged_total');
	$longest = under_load($server, "$what by a hundredth", sub {
		my ($offset_s, $last) = (0, time());
		my $end = $last + 4;
		# In moves that are too small to be steps, even if this program was delayed in between.
		while ((my $now = time()) < $end)
		{
			my $drift_s = ($now - $last) / 100;
			move_clock($server, $offset_s += $sign * ($drift_s < 0.0003 ? $drift_s : 0.0003));
			$last = $now;
			$trials++;
			sleep(0.002);
		}
		while ($offset_s > 0) { move_clock($server, $offset_s -= 0.0002); sleep(0.001); }
		move_clock($server, 0);
	});
	is(status($server, 'clock_bridged_total') - $before, 0, '... there was no step');
	figures('%s by a hundredth for 4 s: the longest call took %.1f ms', $what, $longest);
}

my $ids = all_in_order($server);
is(status($server, 'clock_steps_back_total, lease_waits_total <= 1'), '0|t', 'no step was answered with another worker id, and nobody waited for a lease');
figures('%d ids, %d trials (moves of a drifting clock)', $ids, $trials);
$server->stop;
done_testing();
