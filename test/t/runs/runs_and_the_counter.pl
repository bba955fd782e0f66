# Within a tick, processes go by the processor's counter instead of a clock, if it runs at one speed
# and they may read it. If it is moved meanwhile, ids are late by no more than what it has lost (G3):
# it is set back or forward, becomes slower or faster, stands still, and shows something else on
# another processor. Each time the keeper measures it again, and then ids are in time.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);
use TimedCalls;

my $conf = "log_statement = none\nautovacuum = off\n";

# With ticks of this length, and more numbers than are needed.
sub started
{
	my ($name, $layout, %options) = @_;
	my $server = new_server($name, patient => 1, conf => $conf, %options);
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	$server->safe_psql('postgres', "SELECT snowflake_set_layout('epoch=2025-01-01 $layout')");
	make_timed_calls($server, 'postgres');
	return $server;
}
my @ms = ('tick=1ms time=41 worker=5 seq=17');
my @ten_ms = ('tick=10ms time=38 worker=5 seq=20');

subtest 'whether processes go by the counter' => sub {
	my $denied = started('denied', @ms, clock => 1);
	is(readings_of($denied, 'postgres', 100) >= 100, 1, 'each call reads a clock at first');
	my $server = started('real', @ms);
	if (processor_counts()) { cmp_ok(counts_for($server, 'postgres'), '<', 5000, 'most calls read no clock'); }
	else { sleep(5); cmp_ok(readings_of($server, 'postgres', 1000), '>=', 1000, 'the processor has no counter: each call reads a clock'); }
	# Its keeper is older.
	cmp_ok(readings_of($denied, 'postgres', 1000), '>=', 1000, 'processes that may not read the counter read a clock');
	if ($server->pg_version >= 19 && processor_counts())
	{
		$server->safe_psql('postgres', q{ALTER SYSTEM SET timing_clock_source = 'system'});
		$server->reload;
		ok(wait_until('a clock', sub { readings_of($server, 'postgres', 1000) >= 1000 }), 'timing_clock_source says so, too');
	}
	$_->stop('immediate') for $denied, $server;
};

# A session that calls while `$move` moves the counter. Returns what the calls showed.
sub while_it_moves
{
	my ($server, $move, $calls) = @_;
	$calls //= 3000;
	my $session = $server->background_psql('postgres');
	my ($pid) = $session->query('SELECT pg_backend_pid()');
	my @rows;
	for (1 .. at_length(5, 20))
	{
		my $out = $session->query_until(qr/calls\n/, "\\echo calls\n" . TimedCalls::query_for($server, $calls) . ";\n\\echo ended\n");
		for (1 .. 6) { sleep(0.003 + rand(0.01)); $move->($pid); }
		# If this process was slow, it has all of it already.
		$out .= $session->query_until(qr/ended\n/, '') unless $out =~ /ended\n/;
		push @rows, $1 if $out =~ /^(\d+\|.*)$/m;
	}
	$session->quit;
	return TimedCalls::sum_up(@rows);
}

sub timed_once { my ($server, $calls) = @_; return TimedCalls::sum_up($server->safe_psql('postgres', TimedCalls::query_for($server, $calls))); }


# By how many ms ids may be late at most.
sub is_late_by_at_most
{
	my ($most_ms, $found, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($found->{latest_us}, '<=', $most_ms * 1000, "$what: ids are late by at most $most_ms ms");
	is($found->{fell}, 0, '... and none is below the one before');
	is($found->{early}, 0, '... or too far ahead');
	figures('%s: %d calls with %d readings of a clock, %d a tick late, by up to %.3f ms', $what, @$found{qw(calls readings late)}, $found->{latest_us} / 1000);
	return;
}

SKIP:
{
	skip 'the counter cannot be moved on this machine', 1 unless counter_moves();
	for my $case ([ 'ticks of 1 ms', @ms, 1 ], at_length(0, 1) ? [ 'ticks of 10 ms', @ten_ms, 10 ] : ())
	{
		my ($ticks, $layout, $tick_ms) = @$case;
		my $server = started("moved_$tick_ms", $layout, clock => 1, counter => 'moved');
		# From then on the keeper's two newest stretches are without a move.
		my $again = sub {
			ok(wait_until('the keeper', sub { timed_once($server, 20_000)->{late} == 0 }), '... until the keeper has measured it again');
			counts_for($server, 'postgres');
		};
		subtest $ticks => sub {
			cmp_ok(counts_for($server, 'postgres'), '<', 5000, 'most calls read no clock');
			is_late_by_at_most(0, while_it_moves($server, sub { }), 'the counter runs');
			# Seldom: many such moves between two looks of the keeper are a higher speed to it.
			my $time = 0;
			is_late_by_at_most(0, while_it_moves($server, sub { move_counter($server, by => rand($tick_ms)) if $time++ % 6 == 0 }), 'it is set forward');
			# Once while a statement runs: what it loses adds up while a process goes by one run.
			$time = 0;
			is_late_by_at_most($tick_ms, while_it_moves($server, sub { move_counter($server, by => -rand($tick_ms)) if $time++ % 6 == 0 }), 'it is set back');
			is_late_by_at_most(0, while_it_moves($server, sub { move_counter($server, by => -3_600_000) }), 'by an hour');
			counts_for($server, 'postgres');
			is_late_by_at_most($tick_ms / 2, while_it_moves($server, sub { move_counter($server, speed => 500) }), 'half its speed');
			$again->();
			is_late_by_at_most(0, while_it_moves($server, sub { move_counter($server, speed => 1000) }), 'double speed');
			move_counter($server, apart => 0.4 * $tick_ms);
			my $moves = 0;
			is_late_by_at_most(0.4 * $tick_ms, while_it_moves($server, sub { system('taskset', '-cp', ++$moves % 2, $_[0]) }), 'another processor');
			move_counter($server, apart => 0);
			counts_for($server, 'postgres');
			# At length a statement outlasts the keeper's next look.
			my $stands = while_it_moves($server, sub { move_counter($server, speed => 0) }, at_length(3000, 200_000));
			is($stands->{fell}, 0, 'it stands still: no id is below the one before');
			figures('it stands still: %d calls with %d readings of a clock, %d a tick late, by up to %.3f ms', @$stands{qw(calls readings late)}, $stands->{latest_us} / 1000);
			my $found;
			ok(wait_until('the keeper', sub { ($found = timed_once($server, 1000))->{readings} >= 1000 }), '... until the keeper has seen it, and calls read a clock');
			is($found->{late}, 0, '... and are in time');
			move_counter($server, speed => 1000);
			$again->();
		};
		$server->stop('immediate');
	}
}

done_testing();
