# A node's clock may be ahead of the wall clock by more than max_bridge: after a horizon of the life
# before, or because max_bridge was lowered. The black box has that clock as the keeper last wrote it,
# up to 2 s ago. After a crash ids go on above the last one all the same, under the same worker id
# (G2, G10).
use strict;
use warnings;

use SnowflakeTest;
use Test::More;

my $server = new_server('ahead', clock => 1, conf => "autovacuum = off\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
sub value { return $server->safe_psql('postgres', $_[0]); }
sub new_id { return value('SELECT snowflake_nextval()'); }
sub worker { return value('SELECT worker FROM snowflake_status'); }

# A session issues ids until the crash.
sub crash_amid_ids
{
	my ($what) = @_;
	my $worker = worker();
	cmp_ok(status($server, 'clock_lead_seconds'), '>', value(q{SELECT extract(epoch FROM current_setting('snowflake.max_bridge')::interval)}), "$what: ahead by more than may be bridged");
	my $session = $server->background_psql('postgres');
	$session->{stdin} .= "DO \$\$ BEGIN LOOP PERFORM snowflake_nextval(), pg_sleep(0.002); END LOOP; END \$\$;\n";
	$session->{run}->pump_nb;
	value('SELECT pg_sleep(1.7)');
	my $last = new_id();
	$server->stop('immediate');
	eval { $session->{run}->finish };
	start_server($server);
	cmp_ok(new_id(), '>', $last, '... after a crash ids are larger');
	is(worker(), $worker, '... under the same worker id');
	return;
}

ok(wait_until('a horizon', sub { new_id(); return value('SELECT snowflake_horizon()') > 0; }), 'there is a horizon');
$server->stop('fast');
move_clock($server, -66);
start_server($server);
new_id();
crash_amid_ids("round $_ after a horizon") for 1, 2;

value(q{ALTER SYSTEM SET snowflake.max_bridge = '5min'});
$server->reload;
ok(wait_until('the limit', sub { value(q{SELECT current_setting('snowflake.max_bridge')}) eq '5min' }), 'max_bridge is raised');
value('SELECT pg_sleep(2.5)');
move_clock($server, -166);
new_id();
value('SELECT pg_sleep(2.5)');
value(q{ALTER SYSTEM SET snowflake.max_bridge = '10s'});
$server->reload;
value('SELECT pg_sleep(2.5)');
crash_amid_ids('lowered');

$server->stop('fast');
done_testing();
