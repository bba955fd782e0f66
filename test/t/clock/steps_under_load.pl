# The wall clock steps back by up to max_bridge, and again during the bridging of a step. Sessions
# that issue ids all the time do not notice: there is no error, no id is smaller than the previous
# id of its session, and the worker id and the lease do not change (G9). The test reports the
# longest call with and without a step.
# Not in the default run: sessions issue for half a minute while the clock moves.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $seed = seed();
my $server = new_clock_server('loaded', conf => "max_connections = 40\nshared_buffers = 256MB");
issue($server, 10);

my $bridged = sub { return status($server, 'clock_bridged_total'); };
my $still = under_load($server, 'no step', sub { sleep(4); });
is($bridged->(), 0, 'nothing to bridge');
figures('without a step the longest call took %.1f ms', $still);

my $trials = 0;

# 16 sessions read the clock often, but a reading may come only after such a step is over.
for my $back_ms (1, 3, 50)
{
	my $rounds = 20;
	my $before = $bridged->();
	my $longest = under_load($server, "back by $back_ms ms", sub {
		for (1 .. $rounds)
		{
			move_clock($server, -$back_ms / 1000);
			sleep(rand($back_ms / 1000));
			move_clock($server, -2 * $back_ms / 1000);
			sleep(0.02 + rand(0.02));
			move_clock($server, 0);
			sleep(0.02);
			$trials += 2;
		}
	});
	my $count = $bridged->() - $before;
	cmp_ok($count, '<=', 2 * $rounds, '... no more steps than there were are counted');
	cmp_ok($count, '>', 0, '... but some');
	is(status($server, 'clock_lead_seconds < 0.001'), 't', '... and the clock has caught up');
	figures('%d steps back by %d ms: the longest call took %.1f ms, %d steps counted', 2 * $rounds, $back_ms, $longest, $count);
}

for my $case ([ '1 s', 1, 1 ], [ '30 s', 30, 29 ], [ '59 s', 59, 0.9 ])
{
	my ($name, $back_s, $more_s) = @$case;
	my $before = $bridged->();
	my $longest = under_load($server, "back by $name", sub {
		sleep(0.2 + rand(0.3));
		move_clock($server, -$back_s);
		# While a bridge of twice the step is in progress.
		sleep(0.3 + rand(0.7));
		cmp_ok(status($server, 'clock_lead_seconds'), '>', $back_s * 0.3, '... the clock of ids leads') if $back_s > 1;
		move_clock($server, -$back_s - $more_s);
		sleep(0.5 + rand(0.5));
		move_clock($server, 0);
		sleep(0.2);
	});
	$trials += 2;
	is($bridged->() - $before, 2, '... both steps are counted');
	is(status($server, 'clock_lead_seconds < 0.001'), 't', '... and the clock has caught up');
	figures('back by %s, and by %g s while that was bridged: the longest call took %.1f ms', $name, $more_s, $longest);
}

my $ids = all_in_order($server);
my $told = () = slurp_file($server->logfile) =~ /the clock stepped back by [\d.]+ s, and ids go on/g;
cmp_ok($told, '>', 0, 'the log says that ids go on');
unlike(slurp_file($server->logfile), qr/in place of/, '... and of no other worker id');
is(status($server, 'clock_steps_back_total, lease_waits_total <= 1'), '0|t', 'no step was answered with another worker id, and nobody waited for a lease');
figures('%d trials (steps back), %d ids, seed %d', $trials, $ids, $seed);
$server->stop;
done_testing();
