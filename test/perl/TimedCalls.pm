# Calls between two readings of the clock (test/c/timed_calls.c), of many sessions: whether ids are
# of the time of their calls, and how often a call reads a clock.
package TimedCalls;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(max);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use POSIX ();
use Test::More;
use Time::HiRes qw(time clock_gettime);

our @EXPORT = qw(make_timed_calls step_by start_calls end_calls timed processor_counts counter_moves counts_for readings_of);

# How far ids may be ahead, in us, by the default of max_lead.
my $max_lead_us = 5000;

sub folder { return $_[0]->basedir . '/timed'; }

sub write_steps
{
	my ($server, @numbers) = @_;
	my $file = folder($server) . '/steps';
	open(my $steps, -e $file ? '+<:raw' : '>:raw', $file) or die "$file: $!";
	syswrite $steps, pack('q<q<', @numbers) or die "$file: $!";
	close $steps;
	return;
}

# The largest of five, because a pause between the two readings makes it too small.
sub real_wall_ns { return int(max(map { time() - clock_gettime(7) } 1 .. 5) * 1e9); }

# Steps the wall clock alone to so many seconds from the real one. For as long as a tick lasts, ids may
# be of the time before.
sub step_by
{
	my ($server, $seconds, $tick_seconds) = @_;
	my $before = $server->{snowflake_stepped} // 0;
	my $lower = $before < $seconds ? $before : $seconds;
	my $may_be_lower = sub { write_steps($server, int((clock_gettime(7) + $_[0]) * 1e9), real_wall_ns() + int($lower * 1e9)) };
	# This process may stand still before it moves the clock.
	$may_be_lower->($tick_seconds + 20);
	$server->{snowflake_stepped} = $seconds;
	move_clock($server, $seconds);
	$may_be_lower->($tick_seconds);
	return;
}

sub make_timed_calls
{
	my ($server, $dbname) = @_;
	mkdir folder($server);
	write_steps($server, 0, 0);
	$server->safe_psql($dbname, "CREATE FUNCTION timed_calls(folder text, calls bigint, highest bigint, max_lead bigint, OUT calls bigint, OUT late bigint,"
		. ' OUT latest_us bigint, OUT early bigint, OUT earliest_us bigint, OUT readings bigint, OUT fell bigint)'
		. " LANGUAGE c AS '$ENV{SNOWFLAKE_TEST_C}/timed_calls'");
	return;
}

# What the wall clock shows at most when the monotonic one shows 0: it is stepped back alone. Perl's
# times are exact to a microsecond or so.
sub query_for
{
	my ($server, $calls) = @_;
	return sprintf q{SELECT * FROM timed_calls('%s', %d, %d, %d)}, folder($server), $calls, real_wall_ns() / 1000 + 100, $max_lead_us;
}

my @columns = qw(calls late latest_us early earliest_us readings fell);

# The sums of rows, or the highest value.
sub sum_up
{
	my %sum = map { $_ => 0 } @columns;
	for my $row (@_)
	{
		my %row;
		@row{@columns} = split /\|/, $row;
		for my $name (@columns) { $sum{$name} = $name =~ /_us$/ ? ($row{$name} > $sum{$name} ? $row{$name} : $sum{$name}) : $sum{$name} + $row{$name}; }
	}
	return \%sum;
}

# Starts sessions that call until end_calls(). Errors do not end them.
sub start_calls
{
	my ($server, $dbname, $sessions, $calls) = @_;
	my $folder = folder($server);
	unlink glob "$folder/{*.out,*.err,script.sql,stop}";
	append_to_file("$folder/script.sql", query_for($server, $calls) . ";\n" x 20);
	my @runs = map {
		IPC::Run::start([ 'bash', '-c', 'cd "$1" && while kill -0 "$4" 2>/dev/null && [ ! -e stop ]; do psql -XAtq -d "$2" -f script.sql >>"$3.out" 2>>"$3.err" </dev/null; done; true',
				'bash', $folder, $server->connstr($dbname), $_, $$ ], '<', '/dev/null', '>', \my $out, '2>&1');
	} 1 .. $sessions;
	my $timed = { folder => $folder, runs => \@runs };
	wait_until('the first calls', sub { rows_of($timed) >= $sessions });
	return $timed;
}

sub rows_of { my ($timed) = @_; return map { grep { /^\d+\|/ } split /\n/, slurp_file($_) } glob "$timed->{folder}/*.out"; }

# How many calls there were by now.
sub timed { return sum_up(rows_of($_[0])); }

# Ends the sessions. Returns what all calls showed, and their errors.
sub end_calls
{
	my ($timed) = @_;
	append_to_file("$timed->{folder}/stop", '');
	$_->finish for @{ $timed->{runs} };
	my @errors = map { split /\n/, slurp_file($_) } glob "$timed->{folder}/*.err";
	return (timed($timed), grep { /ERROR|FATAL|PANIC|error:/ } @errors);
}

# Whether processes may count on this machine, by what the kernel says of its processor.
sub processor_counts
{
	return 0 if $^O ne 'linux' || slowness() >= 30;    # valgrind's processor does not
	my ($machine) = (POSIX::uname())[4];
	return 1 if $machine eq 'aarch64';
	return $machine eq 'x86_64' && slurp_file('/proc/cpuinfo') =~ /^flags\s*:.*\bnonstop_tsc\b/m;
}

# Readings of a clock in so many calls of one session.
sub readings_of
{
	my ($server, $dbname, $calls) = @_;
	return sum_up($server->safe_psql($dbname, query_for($server, $calls)))->{readings};
}

# Whether move_counter() has an effect on this machine: on x86-64, but not below each hypervisor.
sub counter_moves
{
	return 0 unless processor_counts() && (POSIX::uname())[4] eq 'x86_64';
	chomp(my $bin = qx(pg_config --bindir));
	return system("SNOWFLAKE_CLOCK_COUNTER=moved LD_PRELOAD='$ENV{SNOWFLAKE_CLOCK_SHIM}' '$bin/postgres' --version >/dev/null") == 0;
}

# Waits until processes go by the counter: its speed is known some seconds after the keeper's start.
# Returns how many clock readings 20,000 calls need.
sub counts_for
{
	my ($server, $dbname) = @_;
	my $readings;
	wait_until('calls without a reading of the clock', sub { ($readings = readings_of($server, $dbname, 20_000)) < 5000 });
	return $readings;
}

1;
