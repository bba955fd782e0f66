# What the tests of wrong clocks share: a server whose clock can be set to any time, standing or
# running; calls that may fail; a check that ids follow that clock; and sessions that get ids while
# the clock is moved.
package ClockTest;

use strict;
use warnings;

use Exporter 'import';
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

our @EXPORT = qw($max_lead_ms $hour_s new_clock_server stand_at stand_ahead run_from some_ms setting call waits_in_vain follows_the_clock under_load all_in_order);

our $max_lead_ms = 5;
our $hour_s = 3600;

# Options: conf => more lines for postgresql.conf; layout => [epoch in ms, bits of time, worker,
# sequence].
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
		$server->safe_psql('postgres', "INSERT INTO snowflake_layout VALUES (true, 'epoch=$epoch tick=1ms time=$timestamp worker=$worker seq=$sequence')");
	}
	return $server;
}

# Gets one id in a session, or the SQLSTATE of the error.
sub call
{
	my ($session) = @_;
	my ($out, $error) = ask($session, "\\set VERBOSITY verbose\nSELECT snowflake_nextval()");
	return (remember($out))[0] if $out =~ /^\d+$/;
	return $error =~ /ERROR:\s+(\w{5}):/ ? $1 : "?$error";
}

# Stops the server's clock at this time; with `alone`, while its steady clock runs on.
sub stand_at
{
	my ($server, $unix_ms, $alone) = @_;
	SnowflakeTest::write_clock($server, $server->{snowflake_offset_ns}, int($unix_ms * 1e6), $alone);
	return;
}

# Stops it a moment ahead of the time, and returns when. On a busy machine the moment may be over
# before it stands: then the clock would have stepped back.
sub stand_ahead
{
	my ($server, $alone) = @_;
	for (;;)
	{
		my $now = some_ms($server) + 20;
		stand_at($server, $now, $alone);
		return $now if some_ms($server) < $now;
		run_clock($server);
	}
}

# Lets the clock run from this time on.
sub run_from
{
	my ($server, $unix_ms) = @_;
	move_clock($server, $unix_ms / 1000 - time());
	return;
}

# In the middle of a millisecond, so that moving the clock by milliseconds moves it by whole ticks.
sub some_ms { return int(time() * 1000 + ($_[0]->{snowflake_offset_ns} / 1e6)) + 0.5; }

sub setting
{
	my ($server, $name, $value) = @_;
	$server->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	$server->reload;
	# The sessions read the file a little later.
	wait_until("$name = $value", sub { $server->safe_psql('postgres', "SELECT current_setting('$name')") eq $value });
	# Limits are in force when the keeper has read them, unless it starts with the first call.
	keeper_looks($server) if $server->safe_psql('postgres', 'SELECT keeper_pid IS NOT NULL FROM snowflake_status') eq 't';
	return;
}

# Whether a process that waits for the clock has read it many times by now.
sub waits_in_vain
{
	my ($pid) = @_;
	my $before = sleeps_of($pid);
	return wait_until('many looks at the clock', sub { sleeps_of($pid) > $before + 50 });
}

# Checks that ids are between the clock before their calls and the clock after them plus max_lead
# (G3).
sub follows_the_clock
{
	my ($server, $what) = @_;
	my ($count, $ids, $wrong) = split /\|/, $server->safe_psql('postgres', qq{
SELECT count(*) FILTER (WHERE wrong), string_agg(id::text, ' '), string_agg(format('%s after the call began, %s after it ended', time - before, time - after), '; ') FILTER (WHERE wrong)
FROM (SELECT *, time <= before - interval '1 ms' OR time > after + interval '$max_lead_ms ms' AS wrong
	FROM (SELECT *, snowflake_timestamp(id) AS time
		FROM (SELECT clock_timestamp() AS before, snowflake_nextval() AS id, clock_timestamp() AS after FROM generate_series(1, 1000) OFFSET 0) i) t) w});
	my @ids = split / /, $ids;
	remember(@ids);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is($count, 0, $what // 'ids follow the clock (G3)') || diag($wrong);
}

# --------------------------------------------------------------------------------------------------
# Sessions that get ids all the time
# --------------------------------------------------------------------------------------------------

# 16 sessions get ids while the code moves the clock: one id in a statement, and sometimes a hundred.
# A table stores all ids, numbered in the order of the calls of their session. Returns the longest
# time of a statement with one id, in ms, by a clock that is not moved.
sub under_load
{
	my ($server, $what, $code) = @_;
	my $run = ++$server->{snowflake_loads};
	my $folder = $server->basedir . "/load_$run";
	mkdir $folder or die "$folder: $!";
	$server->safe_psql('postgres', 'CREATE UNLOGGED TABLE ids (session int, n int, id bigint)') if $run == 1;
	my $insert = "INSERT INTO ids SELECT $run * 100 + :client_id, :n + i, snowflake_nextval() FROM generate_series(1, %1\$d) i;\n\\set n :n + %1\$d\n";
	append_to_file("$folder/one.sql", sprintf($insert, 1));
	append_to_file("$folder/hundred.sql", sprintf($insert, 100));
	my ($out, $error) = ('', '');
	my $load = IPC::Run::start(
		[ 'pgbench', '-n', '-c', 16, '-j', 2, '-T', 3600, '-R', 2000, '-D', 'n=0', '-f', "$folder/one.sql\@30", '-f', "$folder/hundred.sql\@1",
			'-l', '--log-prefix', "$folder/log", $server->connstr('postgres') ],
		'<', '/dev/null', '>', \$out, '2>', \$error);
	wait_until('the first ids', sub { $server->safe_psql('postgres', "SELECT count(*) FROM ids WHERE session >= $run * 100") > 1000 });
	$code->();
	# pgbench's own alarm, an hour early.
	$load->signal('ALRM');
	$load->finish;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($load->result == 0 && $out =~ /number of failed transactions: 0 /, "$what: no error, and ids to the end") or diag("$out\n$error");
	my $longest_us = 0;
	for my $name (glob "$folder/log*")
	{
		for my $line (split /\n/, slurp_file($name))
		{
			my (undef, undef, $took_us, $script, undef, undef, $late_us) = split / /, $line;
			$longest_us = $took_us - $late_us if $script == 0 && $took_us - $late_us > $longest_us;
		}
	}
	return $longest_us / 1000;
}

# Checks that these ids rise within each session, differ, have one worker id and one lease, and that
# none is ahead of the true time. Returns how many there are.
sub all_in_order
{
	my ($server) = @_;
	my ($ids, $falls, $twice, $workers, $ahead_ms) = split /\|/, $server->safe_psql('postgres', q{
SELECT count(*), count(*) FILTER (WHERE id <= earlier), count(*) - count(DISTINCT id), count(DISTINCT id >> 12 & 1023),
  max((id >> 22) + 1735689600000) - } . now_ms() . q{
FROM (SELECT id, lag(id) OVER (PARTITION BY session ORDER BY n) AS earlier FROM ids) t});
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($falls, 0, "of $ids ids none is below one before it in its session (G9)");
	is($twice, 0, '... none was issued twice (G1)');
	is($workers, 1, '... all are of one worker id');
	cmp_ok($ahead_ms, '<=', $max_lead_ms, '... and none leads the true time');
	is(status($server, 'leases_acquired_total'), 1, 'one lease was acquired');
	return $ids;
}

1;
