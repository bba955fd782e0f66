# Each process has its own run. Parallel workers and new processes use no numbers of a leader's run
# or of a dead process's run (G1).

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(forget_ids remember remembered repeated session);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('processes');

subtest 'a run, parallel workers and new processes (G1)' => sub {
	forget_ids();
	$server->safe_psql('postgres', 'CREATE TABLE big AS SELECT i FROM generate_series(1, 3000) i; ALTER TABLE big SET (parallel_workers = 2);'
		. ' ANALYZE big');
	my ($session, $tick, $last) = session_with_run();
	my ($runs) = columns('runs_taken');
	ask($session, 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;');
	for my $participation ('off', 'on')
	{
		ask($session, "SET parallel_leader_participation = $participation");
		my ($plan) = ask($session, 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) SELECT snowflake_nextval() FROM big');
		like($plan, qr/Workers Launched: [12]/, 'workers are launched');
		my @ids = remember(split /\n/, (ask($session, 'SELECT snowflake_nextval() FROM big'))[0]);
		is(scalar @ids, 3000, 'ids of a parallel query');
		my ($id) = numbers($session, 1);
		is($id, $last + 1, 'the leader\'s run goes on where it was') if $participation eq 'off';
		$last = $id;
	}
	for (1 .. 10)
	{
		my $new = session($server);
		numbers($new, 5);
		$new->quit;
	}
	numbers($session, 300);
	cmp_ok((columns('runs_taken'))[0], '>', $runs + 10, 'new processes took runs of their own');
	is(repeated(), 0, 'no duplicate among ' . remembered() . ' ids');
	$session->quit;
};

finish();
