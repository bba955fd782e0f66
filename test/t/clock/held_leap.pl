# A leap of the wall clock, a step forward by more than max_leap, is not followed for ten minutes:
# ids continue and stay in the present, and the registry stores no time of the leap. The log warns
# with both times. If the clock is put right, no trace of the leap remains. If the clock stays, ids
# follow it, and the log says so. With max_leap = 0 ids follow every leap at once.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use POSIX qw(strftime);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seed = seed();
my $day_s = 24 * $hour_s;
my $year_s = 365 * $day_s;
my $server = new_clock_server('held', conf => "snowflake.lease_duration = 6s\ntimezone = 'UTC'\nlog_timezone = 'UTC'\n");
my $session = session($server);
my ($last, $falls, $trials, $passed_s) = (0, 0, 0, 0);

# The true time: the real time plus what has passed on both of the server's clocks.
my $now_s = sub { return time() + $passed_s; };
my $pass = sub { let_pass($server, $_[0]); $passed_s += $_[0]; };
my $leap = sub { move_clock($server, $passed_s + $_[0]); };

# Gets an id, which must be above all previous ids. Returns how far it is in s from the true time of
# its call, or from that plus so many seconds; or the call's error.
my $off_s = sub {
	my ($ahead_s) = @_;
	my $before_s = $now_s->() + ($ahead_s // 0);
	my $id = call($session);
	my $after_s = $now_s->() + ($ahead_s // 0);
	return $id if $id !~ /^\d{6,}$/;
	$falls++ if $id <= $last;
	$last = $id;
	my $at_s = (tick_of($id) + $epoch_ms) / 1000;
	return $at_s < $before_s ? $at_s - $before_s : $at_s > $after_s ? $at_s - $after_s : 0;
};
my $is_near = sub {
	my ($off_s, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($off_s =~ /^-?[\d.e-]+$/ && abs($off_s) < 2 * slowness(), $what) || diag("off by $off_s s");
};

# The difference between the registry's highest tick and the true time, in s.
my $furthest_s = sub {
	my $tick = $server->safe_psql('postgres', 'SELECT max(t) FROM (SELECT window_end AS t FROM snowflake_registry'
		  . ' UNION ALL SELECT last_tick FROM snowflake_watermark UNION ALL SELECT raised_tick FROM snowflake_origin) AS ticks');
	return ($tick + $epoch_ms) / 1000 - $now_s->();
};

# Raises the ids to so many seconds after the true time. Returns the SQLSTATE and the error.
sub raise_at
{
	my ($ahead_s) = @_;
	my $tick = int(($now_s->() + $ahead_s) * 1000 - $epoch_ms);
	return query_error($server, 'postgres', "SELECT snowflake_raise(${tick}::bigint << 22)");
}

my $said = sub {
	my ($since, $what) = @_;
	return wait_until($what, sub { slurp_file($server->logfile, $since) =~ $what });
};
my $day = sub { return strftime('%Y-%m-%d', gmtime($_[0])); };

$is_near->($off_s->(), 'ids are of the present');
my $worker = status($server, 'worker');

for my $ahead_s ($year_s, 2 * $day_s + int(rand($year_s)))
{
	subtest sprintf('ahead by %d days for a minute', $ahead_s / $day_s) => sub {
		my $log = -s $server->logfile;
		my ($today, $then) = ($day->($now_s->()), $day->($now_s->() + $ahead_s));
		my $window = status($server, 'window_end');
		my ($worst_s, $highest_s) = (0, 0);
		$leap->($ahead_s);
		for my $part (1 .. 30)
		{
			$pass->(2) if $part > 1;
			my $off = $off_s->();
			$worst_s = $off if $off !~ /^-?[\d.e-]+$/ || abs($off) > abs($worst_s);
			my $ahead = $furthest_s->();
			$highest_s = $ahead if $ahead > $highest_s;
		}
		$is_near->($worst_s, 'ids go on and stay in the present');
		is(status($server, 'state'), 'issuing', '... the node issues, ...');
		cmp_ok(status($server, 'clock_lead_seconds'), '<', -$ahead_s + 2, '... with a clock that does not follow');
		is(status($server, "window_end > '$window'::timestamptz + interval '50 s'"), 't', '... windows move, ...');
		my ($state, $text) = raise_at($ahead_s - 60);
		is($state, '22023', '... snowflake_raise() refuses a time that no clock reaches, ...');
		like($text, qr/HINT: .*not believed yet, shows $then.*snowflake_confirm_clock\(\)/, '... and names the way out, ...');
		is((raise_at(1))[0], '00000', '... it waits for one of the node\'s clock, ...');
		cmp_ok($highest_s, '<', 10 * slowness(), '... and neither window nor watermark lies where the clock leapt to');
		ok($said->($log, qr/WARNING: .*the clock leapt forward by \d+ s, which is not followed yet/), 'the log warns, ...');
		ok($said->($log, qr/DETAIL: +It showed $today .* later $then .*in 10 minutes/), "... with both times, of $today and $then");
		$leap->(0);
		$is_near->($off_s->(), 'back again, ids are of the present');
		is(status($server, 'clock_lead_seconds < 0.001, clock_bridged_total, clock_steps_back_total, worker, leases_acquired_total'), "t|0|0|$worker|1", '... and nothing is left of it');
		unlike(slurp_file($server->logfile, $log), qr/stepped back/, '... not even a step back');
		$trials++;
	};
}

subtest 'a process that is new, while another one is stopped where it reads what is known' => sub {
	$server->safe_psql('postgres', "CREATE FUNCTION hold_mutex(bigint, bool) RETURNS void LANGUAGE c AS '$ENV{SNOWFLAKE_TEST_C}/server_clock'");
	my $hold = sub { $server->safe_psql('postgres', "SELECT hold_mutex(size, $_[0]) FROM pg_shmem_allocations WHERE name = 'snowflake'"); };
	$hold->('true');
	$leap->($year_s);
	my ($id) = remember($server->safe_psql('postgres', 'SELECT snowflake_nextval()'));
	cmp_ok((tick_of($id) + $epoch_ms) / 1000 - $now_s->(), '<', 2 * slowness(), 'it does not follow');
	$hold->('false');
	$is_near->($off_s->(), '... and the others stay in the present');
	$leap->(0);
	$is_near->($off_s->(), '... when it is back, too');
	$trials++;
};

subtest 'ahead by a year for good' => sub {
	my $log = -s $server->logfile;
	$leap->($year_s);
	$is_near->($off_s->(), 'at first ids stay in the present');
	$pass->(570);
	$is_near->($off_s->(), '... for nearly ten minutes');
	unlike(slurp_file($server->logfile, $log), qr/so ids follow/, '... and nothing is said yet');
	$pass->(30);
	$is_near->($off_s->($year_s), 'then they follow');
	is(status($server, "state, clock_lead_seconds < 0.001, worker, leases_acquired_total"), "issuing|t|$worker|1", '... under the same lease');
	ok($said->($log, qr/LOG: .*the clock leapt forward and stayed there, so ids follow/), '... and the log says so');
	cmp_ok($furthest_s->(), '>', $year_s - 60, 'now the window is where the clock is');
	$trials++;
};

subtest 'max_leap = 0: followed at once' => sub {
	setting($server, 'snowflake.max_leap', 0);
	my $log = -s $server->logfile;
	$leap->(2 * $year_s);
	$is_near->($off_s->(2 * $year_s), 'an id is of the new time');
	ok($said->($log, qr/LOG: .*the clock stepped forward by \d+\.\d+ s/), '... and the log names the leap');
	unlike(slurp_file($server->logfile, $log), qr/not followed/, '... which nothing holds');
	is(status($server, 'worker, leases_acquired_total'), "$worker|1", '... under the same lease');
	$trials++;
};

is($falls, 0, 'no id is below one before it (G9)');
is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
figures('%d trials (leaps), %d ids, seed %d', $trials, remembered(), $seed);
$session->quit;
$server->stop;
done_testing();
