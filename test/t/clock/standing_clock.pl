# While the clock stands still, ids are at most max_lead ahead of it (G3). A call uses every tick up
# to that limit and none beyond. Then it waits and continues with the clock, or fails with SF002
# after start_timeout.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_clock_server('standing');

subtest 'a clock that stands: ids go on up to max_lead, then wait, then go on' => sub {
	my $session = session($server);
	call($session);
	my ($waits, $acquired) = split /\|/, status($server, 'clock_waits_total, leases_acquired_total');
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	my $now = stand_ahead($server);
	# More numbers than the 6 ticks have that may be used now.
	$session->{stdin} .= "SELECT 'ids:' || string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, 60000);\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { status($server, 'clock_waits_total') > $waits });
	is(status($server, 'last_id >> 22'), int($now) - $epoch_ms + $max_lead_ms, 'every tick up to max_lead is used');
	ok(waits_in_vain($pid), 'the call looks at the clock again and again');
	is(status($server, 'last_id >> 22'), int($now) - $epoch_ms + $max_lead_ms, 'and none beyond');
	run_clock($server);
	$session->{run}->pump until $session->{stdout} =~ /ids:.*\n/ || $session->{stderr} =~ /ERROR/;
	my @ids = split / /, $session->{stdout} =~ /ids:(.*)\n/ ? $1 : '';
	is(scalar remember(@ids), 60000, 'the clock runs, and the call ends');
	is(status($server, 'leases_acquired_total'), $acquired, 'under the same lease');
	is(repeated(), 0, 'no duplicate (G1)');
	$session->quit;
};

subtest 'a clock that stands for longer than start_timeout: SF002' => sub {
	stand_ahead($server);
	my ($state, $error) = query_error($server, 'postgres',
		"SET snowflake.start_timeout = '1s'; SELECT count(snowflake_nextval()) FROM generate_series(1, 60000)");
	is($state, 'SF002', 'the call fails');
	like($error, qr/clock does not move.*DETAIL:.*HINT:/s, 'and says why, with detail and hint');
	run_clock($server);
	follows_the_clock($server, 'then ids follow the clock');
};

# By the monotonic clock such a tick is over before a call looks at it.
subtest 'the wall clock alone stands, with ticks of 1 us: SF002, too' => sub {
	setting($server, 'snowflake.max_bridge', 0);
	$server->safe_psql('postgres', 'CREATE DATABASE fine');
	$server->safe_psql('fine', "CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1us time=50 worker=5 seq=7')");
	$server->safe_psql('fine', 'SELECT snowflake_nextval()');
	my $session = $server->background_psql('fine', on_error_stop => 0);
	my $call = sub { return (ask($session, "SELECT count(snowflake_nextval()) FROM generate_series(1, $_[0])"))[1]; };
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	ask($session, "SET snowflake.start_timeout = '2s'; SET statement_timeout = '20s'");
	stand_ahead($server, 1);
	like($call->(1000000), qr/clock does not move/, 'a call does not look for ever');
	my ($began, $sleeps) = (time(), sleeps_of($pid));
	like($call->(1), qr/clock does not move/, '... nor the next one, ...');
	cmp_ok(sleeps_of($pid) - $sleeps, '<', 2000 * (time() - $began), '... which looks once in a millisecond');
	$session->quit;
	run_clock($server);
	like($server->safe_psql('fine', 'SELECT snowflake_nextval()'), qr/^\d+$/, '... and the next one goes on with the clock');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
