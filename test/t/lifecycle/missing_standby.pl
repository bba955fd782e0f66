# A node does not use a first lease or an extended window before a synchronous standby has
# acknowledged it, so no failover can lose what ids depend on (G1; section 4 of the design). The
# standby does not exist, so the keeper's commits would wait forever. Nevertheless a fast shutdown
# ends, and its release waits for no standby.
# Runs alone: it bounds the time of a shutdown.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('alone', streaming => 1, patient => 1, late => 1, conf => q{
log_statement = none
snowflake.lease_duration = 10s
});
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

sub keeper_waits_for
{
	my ($event) = @_;
	return wait_until("the keeper to wait for $event", sub {
		$server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND wait_event = '$event'") });
}

sub await_standby
{
	$server->safe_psql('postgres', "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
	$server->reload;
	wait_until('the setting', sub { $server->safe_psql('postgres', 'SHOW synchronous_standby_names') eq 'nobody' });
	return;
}

# Edits the file, because ALTER SYSTEM needs a running server.
sub start_without_standby
{
	unlink $server->data_dir . '/postgresql.auto.conf';
	append_to_file($server->data_dir . '/postgresql.auto.conf', '');
	start_server($server);
	return;
}

subtest 'a fast shutdown while the first lease waits for a synchronous standby' => sub {
	await_standby();
	my $session = session($server);
	$session->{stdin} .= "SET snowflake.start_timeout = '1h';\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	ok(keeper_waits_for('SyncRep'), 'the keeper waits');
	my ($state) = query_error($server, 'postgres', "SET snowflake.start_timeout = '200ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'a lease that is not acknowledged issues nothing');
	$server->safe_psql('postgres', q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'});
	($state) = query_error($server, 'postgres', "SET snowflake.start_timeout = '500ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', '... nor after pg_cancel_backend(), which does not end the wait');
	stop_in_time($server, 'fast', 'a fast shutdown with a first lease waiting for a standby');
	$session->{run}->finish;
	unlike($session->{stdout}, qr/id:/, 'no id was issued');
	start_without_standby();
	is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), 0, 'no row: the release waits for no standby');
};

subtest 'a fast shutdown while the lease\'s next window waits for a synchronous standby' => sub {
	my @before = issue($server, 1000);
	my $worker = status($server, 'worker');
	await_standby();
	ok(keeper_waits_for('SyncRep'), 'the keeper waits');
	my @during = issue($server, 1000);
	is(scalar @during, 1000, 'ids flow while the window lasts');
	stop_in_time($server, 'fast', 'a fast shutdown with a next window waiting for a standby');
	start_without_standby();
	is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), 0, 'no row');
	is(watermarks($server)->{$worker}, tick_of($during[-1]), 'the watermark is the last tick');
};

subtest 'a window that was never acknowledged is not used' => sub {
	issue($server, 1);
	await_standby();
	# All ids are before the last window end that was acknowledged.
	ok(keeper_waits_for('SyncRep'), 'the keeper waits');
	my $end = status($server, 'extract(epoch FROM window_end)');
	my ($state, $highest) = ('00000', 0);
	wait_until('the window to end', sub {
		my ($rc, $out, $err) = $server->psql('postgres', "\\set VERBOSITY verbose\nSET snowflake.start_timeout = '200ms'; SELECT snowflake_nextval()");
		$highest = $out if $out =~ /^\d+$/;
		($state) = $err =~ /ERROR:\s+(\w{5}):/ if $err;
		return $state ne '00000';
	});
	is($state, 'SF001', 'then the call fails');
	cmp_ok(($epoch_ms + tick_of($highest)) / 1000, '<', $end, 'and no id lies beyond the end');
	stop_in_time($server, 'fast', 'a fast shutdown without a lease that was acknowledged');
	start_without_standby();
	is(scalar issue($server, 100), 100, 'ids flow again');
	is(repeated(), 0, 'no id of before was seen again (G1)');
};

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
