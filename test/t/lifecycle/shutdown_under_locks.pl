# A fast shutdown ends although locks that are never released block the keeper's access to the
# registry, both with a lease and while the keeper acquires one. Afterwards ids are issued, and no
# previous id again (G1). The test reports how long the shutdown took.
# Runs alone: it bounds the time of a shutdown.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_server('bounded', patient => 1, late => 1, conf => q{
log_statement = none
max_prepared_transactions = 5
});
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

# Locks that are not released while the server shuts down.
subtest 'a fast shutdown while a prepared transaction locks the registry and there is no lease yet' => sub {
	# The session already knows the layout; the keeper that acquired the first lease has ended.
	my $session = session($server);
	remember(grep { /\d/ } ask($session, "SET snowflake.start_timeout = '1h'; SELECT snowflake_nextval()"));
	$server->safe_psql('postgres', 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	wait_until('the keeper to end', sub { status($server, 'state') eq 'idle' && keeper_pid($server) eq '' });
	$server->safe_psql('postgres', q{BEGIN; LOCK TABLE snowflake_registry; PREPARE TRANSACTION 'lock'});
	$session->{stdin} .= "SELECT snowflake_nextval();\n";
	$session->{run}->pump_nb;
	ok(wait_until('the keeper to wait for the lock', sub {
		$server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND wait_event_type = 'Lock'") }), 'the keeper waits');
	stop_in_time($server, 'fast', 'a fast shutdown with the registry locked and no lease');
	$session->{run}->finish;
	start_server($server);
	$server->safe_psql('postgres', "ROLLBACK PREPARED 'lock'");
	is(scalar issue($server, 1000), 1000, 'ids flow once it is gone');
	is(repeated(), 0, 'no id of before was seen again (G1)');
};

subtest 'a fast shutdown while a prepared transaction locks all tables and a lease is held' => sub {
	my $session = session($server);
	remember(grep { /\d/ } ask($session, 'SELECT snowflake_nextval()'));
	my ($worker) = status($server, 'worker');
	$server->safe_psql('postgres', q{BEGIN; LOCK TABLE snowflake_registry, snowflake_watermark, snowflake_layout, snowflake_origin, snowflake_segment, snowflake_segment_range, snowflake_last_tick; PREPARE TRANSACTION 'lock'});
	my @during = remember(split / /, (ask($session, "SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, 1000)"))[0]);
	is(scalar @during, 1000, 'ids flow: a call touches no table (G4)');
	$session->quit;
	stop_in_time($server, 'fast', 'a fast shutdown with all tables locked and a lease held');
	start_server($server);
	$server->safe_psql('postgres', "ROLLBACK PREPARED 'lock'");
	is($server->safe_psql('postgres', "SELECT count(*) FROM snowflake_registry WHERE worker_id = $worker"), 1, 'the row stays');
	is(scalar issue($server, 1000), 1000, 'ids flow at once');
	is(status($server, 'worker'), $worker, 'under the same lease: the registry was not told to release it');
	is(repeated(), 0, 'no id of before was seen again (G1)');
};

$server->stop;
done_testing();
