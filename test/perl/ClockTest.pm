# What the tests of wrong clocks share: a server whose clock can be set to any time, standing or running, calls that may fail, and
# whether ids follow that clock.
package ClockTest;

use strict;
use warnings;

use Exporter 'import';
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw($max_lead_ms $hour_s new_clock_server stand_at run_from some_ms setting call waits_in_vain follows_the_clock);

our $max_lead_ms = 5;
our $hour_s = 3600;

# Options: conf => more lines for postgresql.conf, layout => [epoch_ms, timestamp_bits, worker_bits, sequence_bits].
sub new_clock_server
{
	my ($name, %options) = @_;
	my $server = new_server($name, clock => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\nrestart_after_crash = on\n"
		  . ($options{conf} // ''));
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	if ($options{layout})
	{
		my ($epoch, $timestamp, $worker, $sequence) = @{ $options{layout} };
		$server->safe_psql('postgres',
			"INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)"
			  . " VALUES ($epoch, 1000, $timestamp, 0, $worker, $sequence, false)");
	}
	return $server;
}

# One id in a session, or the SQLSTATE that it failed with.
sub call
{
	my ($session) = @_;
	my ($out, $error) = ask($session, "\\set VERBOSITY verbose\nSELECT snowflake_nextval()");
	return (remember($out))[0] if $out =~ /^\d+$/;
	return $error =~ /ERROR:\s+(\w{5}):/ ? $1 : "?$error";
}

# Lets the server's clock stand at this time.
sub stand_at
{
	my ($server, $unix_ms) = @_;
	SnowflakeTest::write_clock($server, $server->{snowflake_offset_ns}, int($unix_ms * 1e6));
	return;
}

# Lets it run from this time on.
sub run_from
{
	my ($server, $unix_ms) = @_;
	move_clock($server, $unix_ms / 1000 - time());
	return;
}

# In the middle of a millisecond, so that whole milliseconds are whole ticks.
sub some_ms { return int(time() * 1000 + ($_[0]->{snowflake_offset_ns} / 1e6)) + 0.5; }

sub setting
{
	my ($server, $name, $value) = @_;
	$server->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	$server->reload;
	# The keeper and the sessions read the file when they come to it.
	wait_until("$name = $value", sub { $server->safe_psql('postgres', "SELECT current_setting('$name')") eq $value });
	return;
}

# Whether a process, which waits for the clock, has looked at it many times by now.
sub waits_in_vain
{
	my ($pid) = @_;
	my $switches = sub { return slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s*(\d+)/m ? $1 : die "no process $pid" };
	my $before = $switches->();
	return wait_until('many looks at the clock', sub { $switches->() > $before + 50 });
}

# Whether ids lie between the clock before their calls and the clock after them plus max_lead (G3).
sub follows_the_clock
{
	my ($server, $what) = @_;
	my $wrong = $server->safe_psql('postgres', qq{
SELECT count(*) FILTER (WHERE snowflake_timestamp(id) <= before - interval '1 ms' OR snowflake_timestamp(id) > after + interval '$max_lead_ms ms')
  || ' ' || string_agg(id::text, ' ')
FROM (SELECT clock_timestamp() AS before, snowflake_nextval() AS id, clock_timestamp() AS after FROM generate_series(1, 1000) OFFSET 0) t});
	my ($count, @ids) = split / /, $wrong;
	remember(@ids);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is($count, 0, $what // 'ids follow the clock (G3)');
}

1;
