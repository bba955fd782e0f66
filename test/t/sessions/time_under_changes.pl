# An id's time is less than a tick behind the beginning of its call, and no more than max_lead ahead
# of its end (G3), while eight sessions call as fast as they can, each call between two readings of
# the clock. Meanwhile the wall clock steps back and returns, and leases are replaced; then layouts
# are. Ticks last 1 ms, 10 ms and 1 s. Where the processor has a counter for it, most calls read no
# clock.
#
# SNOWFLAKE_CALLS sets how many calls the sessions make in each layout.
#
# Not in the default run: eight sessions call all the time, which needs 20 s of processor time.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);
use TimedCalls;

my $calls = $ENV{SNOWFLAKE_CALLS} || at_length(500_000, 5_000_000) / slowness();
my $seed = seed();
my $server = new_server('time', clock => 1, counter => 'real', patient => 1, conf => "log_statement = none\nautovacuum = off\n");
start_server($server);

# In one transaction, because the first call settles the layout.
sub create
{
	my ($dbname, $layout) = @_;
	return wait_until("layout $layout", sub {
		($server->psql($dbname, "BEGIN; DROP EXTENSION IF EXISTS snowflake; CREATE EXTENSION snowflake;"
			. " SELECT snowflake_set_layout('epoch=2025-01-01 $layout'); COMMIT", on_error_stop => 1))[0] == 0;
	});
}

sub in_time
{
	my ($found, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($found->{late}, 0, "$what: of $found->{calls} ids none is a tick behind (G3)") or diag("$found->{latest_us} us late");
	is($found->{early}, 0, '... and none is ahead by more than max_lead') or diag("$found->{earliest_us} us early");
	figures('%s: %d calls, %d a tick late, %d too far ahead; %d readings of a clock', $what, @$found{qw(calls late early readings)});
	return;
}

for my $case ([ 0.001, 'time=41 worker=5 seq=17' ], [ 0.01, 'tick=10ms time=38 worker=5 seq=20' ], [ 1, 'tick=1s time=31 worker=6 seq=26' ])
{
	my ($tick_s, $layout) = @$case;
	my $tick = $tick_s * 1000 . ' ms';
	my $dbname = "ticks_of_$tick";
	$server->safe_psql('postgres', "CREATE DATABASE \"$dbname\"");
	make_timed_calls($server, $dbname);
	create($dbname, $layout);
	cmp_ok(counts_for($server, $dbname), '<', 5000, "ticks of $tick: most calls read no clock") if processor_counts();
	my ($steps, $leases) = (0, 0);
	my $timed = start_calls($server, $dbname, 8, 20_000);
	for (my $before = 0; $before < $calls || $steps < 5; ++$steps, $before = timed($timed)->{calls})
	{
		# The next lease begins after the last tick. If ids were two ticks ahead, so would be the clock.
		if ($steps == 0 || $tick_s < 1 && $steps % 3 == 0)
		{
			$server->safe_psql($dbname, 'SELECT snowflake_renew()');
			++$leases;
			sleep(2 * $tick_s);
		}
		# Shorter and longer than ticks. What is bridged takes as long again.
		step_by($server, -exp(rand(log(2000))) / 1000, $tick_s);
		sleep(rand(0.1));
		step_by($server, 0, $tick_s);
		sleep($tick_s + rand(0.1));
	}
	my ($found, @errors) = end_calls($timed);
	is(join("\n", @errors), '', "ticks of $tick: no call fails");
	in_time($found, "ticks of $tick, $steps steps of the wall clock, $leases new leases");
	is($found->{fell}, 0, '... and none is below the one before');
	cmp_ok($found->{readings}, '<', $found->{calls} / 4, '... and most calls read no clock') if processor_counts();
}

my $layouts = 0;
make_timed_calls($server, 'postgres');
my @layouts = ('time=41 worker=10 seq=12', 'tick=10ms time=38 worker=5 seq=20', 'tick=1s time=31 worker=6 seq=26', 'time=41 worker=5 seq=17');
create('postgres', $layouts[-1]);
# A call that waits for a lease may have locks that DROP EXTENSION waits for. Then the keeper waits,
# too, behind the latter: until the call gives up.
$server->safe_psql('postgres', q{ALTER DATABASE postgres SET snowflake.start_timeout = '1s'});
my $timed = start_calls($server, 'postgres', 8, 5000);
for (my $before = 0; $before < $calls / 4 || $layouts < 6; $before = timed($timed)->{calls})
{
	create('postgres', $layouts[ $layouts++ % @layouts ]);
	sleep(0.05 + rand(0.3));
}
my ($found, @errors) = end_calls($timed);
my $expected = qr/does not exist|was dropped during the call|no layout|deadlock detected|cannot issue ids without a lease/;
is(join("\n", grep { !/$expected/ } @errors), '', 'while layouts change, only calls of a dropped extension fail');
in_time($found, "$layouts other layouts");

$server->stop('immediate');
done_testing();
