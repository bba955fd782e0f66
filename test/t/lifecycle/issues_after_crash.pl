# After a crash the next call succeeds at once, with another worker id (G6): it waits for nothing but its first lease, not for
# the clock, and not for the window of the dead lease to end. Ids of before are not seen again (G1). Killed are the keeper, a
# backend, the postmaster, and all of them.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('crashes', patient => 1, conf => q{
log_statement = none
restart_after_crash = on
});
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

my @crashes = (
	[ 'an immediate shutdown', sub { $server->stop('immediate'); start_server($server); } ],
	[ 'SIGKILL of the postmaster and all of its processes', sub { ok(kill_server($server, children => 1), 'all are gone'); start_server($server); } ],
	[ 'SIGKILL of the postmaster alone', sub { ok(kill_server($server), 'all are gone'); start_server($server); } ],
	[ 'SIGKILL of a backend', sub {
			my $session = session($server);
			my ($out) = ask($session, 'SELECT snowflake_nextval(), pg_backend_pid()');
			remember((split /\|/, $out)[0]);
			my $before = ready_count($server);
			kill 'KILL', (split /\|/, $out)[1];
			ok(wait_ready($server, $before), 'PostgreSQL restarts itself');
			$session->{run}->kill_kill;
		} ],
	[ 'SIGKILL of the keeper', sub {
			my $before = ready_count($server);
			kill 'KILL', keeper_pid($server);
			ok(wait_ready($server, $before), 'PostgreSQL restarts itself');
		} ],
);

for my $crash (@crashes)
{
	my ($name, $happen) = @$crash;
	subtest "after $name the node issues at once (G6)" => sub {
		my @before = issue($server, 20000);
		my $rows = $server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry');
		my $worker = status($server, 'worker');
		$happen->();
		is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), $rows, 'the dead lease\'s row is still there');
		# For an hour: who waits for the end of its window gets no id.
		my $window_end = $server->safe_psql('postgres',
			"UPDATE snowflake_registry SET window_end = window_end + 3600000 WHERE worker_id = $worker RETURNING window_end");
		my $start = time();
		my @after = issue($server, 20000);
		my $took_ms = (time() - $start) * 1000;
		is(scalar @after, 20000, 'the first call succeeds');
		is(status($server, 'lease_waits'), 1, 'one wait, for the first lease');
		is(status($server, 'clock_steps_back'), 0, 'the clock was not behind');
		cmp_ok(tick_of($after[0]), '<', $window_end, 'it did not wait for the dead window to end');
		isnt(worker_of($after[0]), $worker, 'another worker id');
		is(repeated(), 0, 'no id of before was seen again (G1)');
		figures('after %s, psql, a new lease and 20000 ids took %.0f ms', $name, $took_ms);
	};
}

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
