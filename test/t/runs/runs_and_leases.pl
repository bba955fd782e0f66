# A run whose numbers were taken stays valid when its lease is released, and is followed by a run of
# the new lease. The watermark is not below the run's tick (G1).

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(repeated session tick_of worker_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('leases');

subtest 'a run and a change of the lease (G1)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my ($worker, $pid) = columns('worker, keeper_pid');
	$server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	ok(wait_until('the lease to be released', sub { $server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry') == 0 }),
		'the keeper releases the lease');
	is($server->safe_psql('postgres', "SELECT last_tick FROM snowflake_watermark WHERE worker_id = $worker"), $tick,
		'with a last tick that is not below the run\'s');
	ok(wait_until('it to end', sub { (columns('keeper_pid IS NULL'))[0] eq 't' }), '... and ends');
	is($server->safe_psql('postgres', 'SELECT clean_at IS NULL FROM snowflake_origin'), 't', '... which is no clean shutdown of the registry');
	my $other = session($server);
	my @theirs = numbers($other, 300);
	isnt(worker_of($theirs[0]) . ' ' . tick_of($theirs[0]), "$worker $tick", 'another session issues under another lease');
	my @ours = numbers($session, 300);
	is($ours[0], $last + 1, 'the run goes on: its numbers were taken');
	isnt(worker_of($ours[-1]) . ' ' . tick_of($ours[-1]), "$worker $tick", '... and is followed by one of the new lease');
	is(repeated(), 0, 'no duplicate');
	$_->quit for $session, $other;
};

finish();
