# If another session drops the extension while a session makes its first call, the error says that
# the extension is gone, whatever the session calls. It is neither an internal error (XX000) nor an
# error about tables that somebody changed.
# Not in the default run: it starts some 100 processes.

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use SnowflakeTest;
use Test::More;

DatabaseTest::start('dropped_meanwhile');
create_database('d');

my $waited = 0;
for my $call ('snowflake_nextval()', 'snowflake_timestamp(1)', 'snowflake_get_layout()', 'snowflake_horizon()',
	q{snowflake_segment_nextval('s')}, 'snowflake_raise(1)', q{snowflake_settle('x')}, 'state FROM snowflake_status',
	q{snowflake_convert('t', 'id')})
{
	$server->safe_psql('d', 'DROP EXTENSION IF EXISTS snowflake CASCADE; CREATE EXTENSION snowflake_convert CASCADE; DROP TABLE IF EXISTS t; CREATE TABLE t (id int)');
	my $dropping = $server->background_psql('d');
	ask($dropping, 'BEGIN; DROP EXTENSION snowflake CASCADE');
	my $caller = $server->background_psql('d', on_error_stop => 0);
	my ($pid) = ask($caller, q{SET snowflake.start_timeout = '1s'; SELECT pg_backend_pid()});
	ask($caller, '\set VERBOSITY verbose');
	$caller->{stderr} = '';
	$caller->{stdin} .= "SELECT $call;\n\\echo over\n";
	$caller->{run}->pump_nb;
	ok(wait_until('the call to wait or to end', sub {
		# If the drop ends while the call is parsed, PostgreSQL itself reports XX000.
		$server->safe_psql('postgres', "SELECT query = \$\$SELECT $call;\$\$ AND (wait_event_type = 'Lock' OR state = 'idle') FROM pg_stat_activity WHERE pid = $pid") eq 't';
	}), "$call waits, or ends");
	$waited++ if $server->safe_psql('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid") eq 't';
	ask($dropping, 'COMMIT');
	$dropping->quit;
	$caller->query_until(qr/over/, '');
	unlike($caller->{stderr}, qr/XX000|is not as the extension/, '... and is told what happened');
	$caller->quit;
}
cmp_ok($waited, '>', 5, 'calls waited');

finish();
