# A node's clock may be ahead of the wall clock by more than max_bridge: after a horizon of the life
# before, or because max_bridge was lowered. The black box has that clock as the keeper last wrote it,
# up to 2 s ago. After a crash ids go on above the last one all the same, under the same worker id
# (G2, G10).
use strict;
use warnings;

use SnowflakeTest;
use Test::More;

my $server = new_server('ahead', clock => 1, patient => 1, conf => "autovacuum = off\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
sub value { return $server->safe_psql('postgres', $_[0]); }
sub new_id { return value('SELECT snowflake_nextval()'); }
sub worker { return value('SELECT worker FROM snowflake_status'); }
sub is_ahead { return value(q{SELECT clock_lead_seconds > extract(epoch FROM current_setting('snowflake.max_bridge')::interval) FROM snowflake_metrics}) eq 't'; }

sub set_max_bridge
{
	my ($limit) = @_;
	value("ALTER SYSTEM SET snowflake.max_bridge = '$limit'");
	$server->reload;
	return wait_until('the limit', sub { value(q{SELECT current_setting('snowflake.max_bridge')}) eq $limit }) && keeper_looks($server);
}

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

# No further back: then a restart does not go on above the horizon.
sub get_ahead
{
	move_clock($server, 0);
	ok(wait_until('a horizon', sub { new_id(); return value('SELECT snowflake_horizon()') > 0; }), 'there is a horizon');
	$server->stop('fast');
	move_clock($server, -66);
	start_server($server);
	new_id();
	return;
}
for my $round (1, 2)
{
	# The lead shrinks by half of the time that passes, so a slow machine uses it up.
	for (1 .. 5) { last if is_ahead(); get_ahead(); }
	crash_amid_ids("round $round after a horizon");
}

ok(set_max_bridge('5min'), 'max_bridge is raised');
move_clock($server, -166);
new_id();
keeper_looks($server);
ok(set_max_bridge('10s'), '... and lowered');
crash_amid_ids('lowered');

$server->stop('fast');
done_testing();
