# A run ends with its lease: a session that knows the run takes nothing from it once the lease is
# released, and the watermark is not below the run's tick (G1). The same holds for what else moves
# ids: snowflake_raise(), snowflake_renew(), a registry that does not have the lease any more.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(repeated session tick_of worker_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('leases');

subtest 'a run and a release of the lease (G1)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my ($worker, $pid) = columns('worker, keeper_pid');
	is((numbers($session, 1))[0], $last + 1, 'the session issues from the run');
	$server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	ok(wait_until('the lease to be released', sub { $server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry') == 0 }),
		'the keeper releases the lease');
	is($server->safe_psql('postgres', "SELECT last_tick FROM snowflake_watermark WHERE worker_id = $worker"), $tick,
		'with a last tick that is not below the run\'s');
	ok(wait_until('it to end', sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $pid") == 0 }), '... and ends');
	is($server->safe_psql('postgres', 'SELECT clean_at IS NULL FROM snowflake_origin'), 't', '... which is no clean shutdown of the registry');
	my @ours = numbers($session, 300);
	isnt(worker_of($ours[0]) . ' ' . tick_of($ours[0]), "$worker $tick", 'the next id is of another lease');
	$session->quit;
};

subtest 'a run and snowflake_raise()' => sub {
	my ($session, $tick, $last) = session_with_run();
	is((numbers($session, 1))[0], ++$last, 'the session issues from the run');
	# The id that is raised to has to be of the past, and the run's tick must not be over.
	step_to(++$next_tick);
	$server->safe_psql('postgres', "SELECT snowflake_raise($last)");
	cmp_ok(tick_of((numbers($session, 1))[0]), '>', $tick, 'the next id is of a later tick');
	$session->quit;
};

subtest 'a run and snowflake_renew()' => sub {
	my ($session, $tick, $last) = session_with_run();
	is((numbers($session, 1))[0], ++$last, 'the session issues from the run');
	$server->safe_psql('postgres', 'SELECT snowflake_renew()');
	my ($id) = numbers($session, 1);
	isnt(worker_of($id), worker_of($last), 'the next id is of another lease');
	cmp_ok($id, '>', $last, '... and above');
	$session->quit;
};

subtest 'a run and a lease that the registry does not have any more' => sub {
	my ($session, $tick, $last) = session_with_run();
	my ($worker, $lease) = columns('worker, lease_id');
	is((numbers($session, 1))[0], ++$last, 'the session issues from the run');
	$server->safe_psql('postgres', "DELETE FROM snowflake_registry WHERE worker_id = $worker");
	# The keeper hears of it when it extends the lease.
	my $fell = 0;
	ok(wait_until('another lease', sub {
		stand_at(++$next_tick);
		my ($id) = numbers($session, 1);
		$fell++ if $id <= $last;
		$last = $id;
		return (columns('lease_id'))[0] != $lease;
	}), 'it goes on under another lease');
	is($fell, 0, '... and its ids rise');
	$session->quit;
};

is(repeated(), 0, 'no duplicate');
finish();
