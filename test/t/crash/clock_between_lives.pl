# If the wall clock is moved between a crash and the next start, this is handled as if the server
# had not stopped. A small step back is bridged, a large step back is handled by on_clock_step_back,
# and a leap is not followed, whether it came before the crash or after it. If the monotonic clock is
# another one after the crash, as in a container that is started again with its /dev/shm, ids are of
# the present (G3). Ids are in order wherever order is promised (G9, G10), and no id is issued twice
# (G1).

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('lives');
my $day_s = 24 * $hour_s;

# The time that has passed on both clocks, in s. With this shift the wall clock is right.
my $passed_s = 0;
my $off_by = sub { move_clock($server, $passed_s + $_[0]) };
my $crash = sub { $server->stop('immediate'); $_[0]->(); start_server($server) };

# Gets ids after a crash, which must be above all previous ids and of the same lease. Returns the
# last one's distance from the true time, in s.
sub goes_on
{
	my ($code) = @_;
	my @before = issue($server, 2000);
	my $lease = status($server, 'worker, lease_id');
	$crash->($code);
	my @after = issue($server, 2000);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($after[0], '>', $before[-1], 'ids flow, in order');
	is(status($server, 'worker, lease_id'), $lease, '... under the same lease');
	is(status($server, 'lease_waits_total, leases_acquired_total, clock_steps_back_total'), '0|0|0', '... and nobody waited');
	return (tick_of($after[-1]) + $epoch_ms - now_ms()) / 1000 - $passed_s;
}

# The first window is short: on a busy machine it would be over after a crash, and calls would wait.
issue($server, 1);
wait_until('a longer window', sub { status($server, "window_end > clock_timestamp() + '15 s'") eq 't' });
for my $policy (qw(new_worker error))
{
	setting($server, 'snowflake.on_clock_step_back', $policy);
	subtest "$policy: back by 30 s between a crash and a start" => sub {
		my $off_s = goes_on(sub { $off_by->(-30) });
		ok(abs($off_s) < 10 * slowness(), '... near the true time') or diag($off_s);
		is(status($server, "clock_lead_seconds BETWEEN 15 AND 31, clock_bridged_total"), 't|1', '... which a clock shows that leads the wall clock');
		goes_on(sub { $off_by->(0) });
		is(status($server, "clock_lead_seconds < 1"), 't', 'right again, it leads no more');
	};
}

# The keeper writes most of the black box, but not the last tick: that must be of the last id.
subtest 'back by 30 s between a crash and a start, and the keeper wrote nothing for seconds before' => sub {
	ok(wait_until('a long window', sub { status($server, "window_end > clock_timestamp() + '20 s'") eq 't' }), 'the window is long enough');
	kill 'STOP', keeper_pid($server);
	sleep 5;
	my @before = issue($server, 2000);
	kill_server($server, children => 1);
	$off_by->(-30);
	start_server($server);
	my @after = issue($server, 2000);
	cmp_ok($after[0], '>', $before[-1], 'ids flow, in order');
	goes_on(sub { $off_by->(0) });
};

subtest 'error: back by 1 h between a crash and a start' => sub {
	my @before = issue($server, 2000);
	my $worker = status($server, 'worker');
	$crash->(sub { $off_by->(-$hour_s) });
	my ($state) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
	is($state, 'SF002', 'the first call says so');
	$crash->(sub { $off_by->(0) });
	my @after = issue($server, 2000);
	cmp_ok($after[0], '>', $before[-1], 'right again, ids flow in order');
	is(worker_of($after[0]), $worker, '... with the same worker id');
};

subtest 'new_worker: back by 1 h between a crash and a start' => sub {
	setting($server, 'snowflake.on_clock_step_back', 'new_worker');
	issue($server, 2000);
	my $worker = status($server, 'worker');
	$crash->(sub { $off_by->(-$hour_s) });
	my @after = issue($server, 2000);
	isnt(worker_of($after[0]), $worker, 'ids flow with another worker id');
	is(status($server, 'leases_acquired_total, clock_steps_back_total'), '1|1', '... which was acquired because of it');
	follows_the_clock($server);
	$worker = worker_of($after[0]);
	$crash->(sub { $off_by->(0) });
	my @later = issue($server, 2000);
	cmp_ok($later[0], '>', $after[-1], 'right again, ids flow in order');
	is(worker_of($later[0]), $worker, '... with the same worker id');
	follows_the_clock($server);
};

subtest 'another monotonic clock after a crash' => sub {
	my $log_end = -s $server->logfile;
	my $off_s = goes_on(sub { $server->{snowflake_steady_offset_ns} += int(100_000 * 1e9); $off_by->(0) });
	ok(abs($off_s) < 10 * slowness(), '... which are of the present') or diag($off_s);
	is(status($server, "clock_lead_seconds < 1, clock_bridged_total"), 't|0', '... and nothing is bridged');
	unlike(slurp_file($server->logfile, $log_end), qr/the clock stepped back/, '... nor does the log speak of a step');
	follows_the_clock($server);
};

for my $when ('before a crash', 'between a crash and a start')
{
	subtest "a leap by two days $when" => sub {
		my $leap = sub { $off_by->(2 * $day_s) };
		if ($when =~ /before/)
		{
			$leap->();
			issue($server, 1);
			is(status($server, "clock_lead_seconds < -86400"), 't', 'is not believed');
			$leap = sub { };
		}
		my $off_s = goes_on($leap);
		ok(abs($off_s) < 10 * slowness(), '... which are of the present') or diag($off_s);
		is(status($server, "clock_lead_seconds < -86400"), 't', '... and the clock is not believed');
		goes_on(sub { $off_by->(0) });
		is(status($server, "abs(clock_lead_seconds) < 1"), 't', 'right again, nothing is left of it');
	};
}

subtest 'a leap for good' => sub {
	goes_on(sub { $off_by->(2 * $day_s) });
	let_pass($server, 300);
	$passed_s += 300;
	my $off_s = goes_on(sub { });
	ok(abs($off_s) < 10 * slowness(), '... after five minutes and another crash they are of the present') or diag($off_s);
	let_pass($server, 310);
	$passed_s += 310;
	$off_s = goes_on(sub { });
	ok(abs($off_s) < 10 * slowness(), '... and after ten minutes in all, because a start counts anew') or diag($off_s);
	let_pass($server, 610);
	$passed_s += 610;
	issue($server, 1);
	$off_s = goes_on(sub { });
	ok(abs($off_s - 2 * $day_s) < 10 * slowness(), '... and after ten minutes in one life they follow') or diag($off_s);
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
