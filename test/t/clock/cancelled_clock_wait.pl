# A call that waits for the clock can be cancelled, by statement_timeout and by another session, and draws no lease when it is.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('cancelled');

subtest 'a call that waits for the clock can be cancelled' => sub {
	setting($server, 'snowflake.max_wait', '1min');
	my $session = session($server);
	call($session);
	my $drawn = status($server, 'leases_drawn');
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	move_clock($server, -30);
	my ($state) = query_error($server, 'postgres', "SET statement_timeout = '200ms'; SELECT snowflake_nextval()");
	is($state, '57014', 'by statement_timeout');
	my $waits = status($server, 'clock_waits');
	$session->{stderr} = '';
	$session->{stdin} .= "\\set VERBOSITY verbose\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { status($server, 'clock_waits') > $waits });
	$server->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$session->{run}->pump until $session->{stdout} =~ /id:/ || $session->{stderr} =~ /ERROR:.*\n/;
	like($session->{stderr}, qr/57014/, 'by pg_cancel_backend');
	is(status($server, 'leases_drawn'), $drawn, 'and no lease was drawn');
	move_clock($server, 0);
	$session->{stdout} = '';
	like(call($session), qr/^\d{6,}$/, 'the session goes on');
	setting($server, 'snowflake.max_wait', '100ms');
	$session->quit;
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
