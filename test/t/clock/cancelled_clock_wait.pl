# A call waits for the clock if every tick that may be used by now is used up. statement_timeout and
# another session can cancel this wait, and a cancelled call acquires no lease.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('cancelled');
# 4 ids in an hour, which has just begun, and 4 more in the next one.
let_pass($server, 3600 - time() % 3600);
$server->safe_psql('postgres', q{SELECT snowflake_set_layout('epoch=2025-01-01 tick=3600s time=31 worker=10 seq=2')});

subtest 'a call that waits for the clock can be cancelled' => sub {
	my $session = session($server);
	call($session);
	my $acquired = status($server, 'leases_acquired_total');
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	my $waits = status($server, 'clock_waits_total');
	my $state;
	# On a busy machine the time may be over before the call waits.
	my $waited = wait_until('a call that waits', sub {
		($state) = query_error($server, 'postgres', "SET statement_timeout = '500ms'; SELECT count(snowflake_nextval()) FROM generate_series(1, 9)");
		return $state ne '57014' || status($server, 'clock_waits_total') == $waits + 1;
	});
	is($state, '57014', 'by statement_timeout');
	ok($waited, 'it waited');
	$waits = status($server, 'clock_waits_total');
	$session->{stderr} = '';
	$session->{stdin} .= "\\set VERBOSITY verbose\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { status($server, 'clock_waits_total') > $waits },
		sub { $session->{run}->pump_nb; $session->{stdout} =~ /id:/ });
	$server->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$session->{run}->pump until $session->{stdout} =~ /id:/ || $session->{stderr} =~ /ERROR:.*\n/;
	like($session->{stderr}, qr/57014/, 'by pg_cancel_backend');
	is(status($server, 'leases_acquired_total'), $acquired, 'and no lease was acquired');
	let_pass($server, 2 * 3600);
	$session->{stdout} = '';
	like(call($session), qr/^\d{6,}$/, 'the session goes on');
	$session->quit;
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
