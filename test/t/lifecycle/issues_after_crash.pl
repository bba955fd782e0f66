# A crash costs nothing (G10). The next call succeeds at once, under the same lease and worker id,
# and does not wait for a lease. Ids are above all previous ids. The test kills the keeper, a
# backend, the checkpointer, the postmaster, and all of them.

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
# A busy machine may restart for longer than a first window lasts.
issue($server, 1);
set_lease_duration($server, '30min');
wait_until('a long window', sub { status($server, 'ids_flow_seconds > 1000') eq 't' });

my $killed = sub { ok(kill_and_wait($server, $_[0]), 'PostgreSQL restarts itself'); };

my @crashes = (
	[ 'an immediate shutdown', sub { $server->stop('immediate'); start_server($server); } ],
	[ 'SIGKILL of the postmaster and all of its processes', sub { ok(kill_server($server, children => 1), 'all are gone'); start_server($server); } ],
	[ 'SIGKILL of the postmaster alone', sub { ok(kill_server($server), 'all are gone'); start_server($server); } ],
	[ 'SIGKILL of a backend', sub {
			my $session = session($server);
			my ($out) = ask($session, 'SELECT snowflake_nextval(), pg_backend_pid()');
			remember((split /\|/, $out)[0]);
			$killed->((split /\|/, $out)[1]);
			$session->{run}->kill_kill;
		} ],
	[ 'SIGKILL of the checkpointer',
		sub { $killed->($server->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'})) } ],
	[ 'SIGKILL of the keeper', sub { $killed->(keeper_pid($server)) } ],
);

my $highest = 0;
for my $crash (@crashes)
{
	my ($name, $happen) = @$crash;
	subtest "after $name the node issues as if nothing had been (G10)" => sub {
		($highest) = sort { $b <=> $a } $highest, issue($server, 20000);
		my $lease = status($server, 'worker, lease_id');
		$happen->();
		my $start = time();
		my @after = issue($server, 20000);
		my $took_ms = (time() - $start) * 1000;
		is(scalar @after, 20000, 'the first call succeeds');
		is(status($server, 'lease_waits_total, clock_steps_back_total'), '0|0', '... and waits for no lease');
		is(status($server, 'worker, lease_id'), $lease, '... under the same lease');
		is(status($server, 'leases_acquired_total'), 0, '... which was not acquired again');
		my ($lowest) = sort { $a <=> $b } @after;
		cmp_ok($lowest, '>', $highest, 'ids are above all before');
		is($server->safe_psql('postgres', 'SELECT worker_id, lease_id FROM snowflake_registry'), $lease, 'it is the only row of the registry');
		is(repeated(), 0, 'no id of before was seen again (G1)');
		figures('after %s, psql and 20000 ids took %.0f ms', $name, $took_ms);
	};
}

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
