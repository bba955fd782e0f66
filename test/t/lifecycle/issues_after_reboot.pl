# If only what is on disk remains, as after a reboot, the next call succeeds at once, with another
# worker id (G6). It waits only for its first lease, neither for the clock nor for the end of the
# previous lease's window. No previous id is issued again (G1).

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('reboots', patient => 1, late => 1, conf => "log_statement = none\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

my @ends = (
	[ 'an immediate shutdown', sub { $server->stop('immediate') } ],
	[ 'SIGKILL of all processes', sub { kill_server($server, children => 1) } ],
);

for my $end (@ends)
{
	my ($name, $happen) = @$end;
	subtest "after $name and a reboot the node issues at once (G6)" => sub {
		my @before = issue($server, 20000);
		my $rows = $server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry');
		my $worker = status($server, 'worker');
		$happen->();
		lose_box($server);
		start_server($server);
		is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), $rows, 'the dead lease\'s row is still there');
		# The window is an hour long: a call that waited for its end would get no id.
		my $window_end = $server->safe_psql('postgres',
			"ALTER TABLE snowflake_registry DISABLE TRIGGER snowflake_guard;
			UPDATE snowflake_registry SET window_end = window_end + 3600000 WHERE worker_id = $worker RETURNING window_end;
			ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard");
		my $start = time();
		my @after = issue($server, 20000);
		my $took_ms = (time() - $start) * 1000;
		is(scalar @after, 20000, 'the first call succeeds');
		is(status($server, 'lease_waits_total, leases_acquired_total'), '1|1', 'one wait, for the first lease');
		is(status($server, 'clock_steps_back_total'), 0, 'the clock was not behind');
		cmp_ok(tick_of($after[0]), '<', $window_end, 'it did not wait for the dead window to end');
		isnt(worker_of($after[0]), $worker, 'another worker id');
		is(repeated(), 0, 'no id of before was seen again (G1)');
		figures('after %s and a reboot, psql, a new lease and 20000 ids took %.0f ms', $name, $took_ms);
	};
}

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
