# Sessions and parallel queries issue millions of ids at full speed. No id appears twice (G1), the
# ids of each process rise (G2), and all ids have the node's worker id and a time within the run
# (G3).

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('millions');
my $parallel = 4 * $each;

# 16 sessions that get ids in four ways, and two parallel queries: two million ids at full speed,
# and five million in the long form.
my $sessions = 16;
my ($start_ms, $end_ms);

subtest '16 sessions and parallel queries issue millions of ids' => sub {
	my @scripts;
	for my $i (1 .. $sessions)
	{
		$server->safe_psql('postgres', "CREATE UNLOGGED TABLE ids_$i (n bigserial, id bigint DEFAULT snowflake_nextval(), pid int)");
		my ($fifth, $tenth) = ($each / 5, $each / 10);
		push @scripts, (
			"INSERT INTO ids_$i (id, pid) SELECT snowflake_nextval(), pg_backend_pid() FROM generate_series(1, $each)",
			# a default, in many transactions
			join('; ', ("INSERT INTO ids_$i (pid) SELECT pg_backend_pid() FROM generate_series(1, $fifth)") x 5),
			"INSERT INTO ids_$i (id, pid) SELECT id, pg_backend_pid() FROM snowflake_nextvals($each) AS id",
			# single calls, some of them rolled back: their ids are lost and never issued again
			"DO \$\$ DECLARE k int; BEGIN FOR k IN 1..$each LOOP INSERT INTO ids_$i (pid) VALUES (pg_backend_pid());"
			  . " IF k % $tenth = 0 THEN BEGIN PERFORM snowflake_nextval(); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN END; END IF;"
			  . " END LOOP; END \$\$",
		)[ $i % 4 ];
	}
	# pg_backend_pid() alone would prevent a parallel plan, and a volatile PL/pgSQL function may not
	# run in workers.
	$server->safe_psql('postgres', qq{
CREATE TYPE issued AS (pid int, id bigint);
CREATE FUNCTION issue() RETURNS issued LANGUAGE plpgsql STABLE PARALLEL SAFE
  AS 'DECLARE r issued; BEGIN r.pid := pg_backend_pid(); r.id := snowflake_nextval(); RETURN r; END';
CREATE UNLOGGED TABLE rows AS SELECT i FROM generate_series(1, $parallel / 2) i;
ALTER TABLE rows SET (parallel_workers = 4);
ANALYZE rows;
});
	my $settings = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
	  . ' SET max_parallel_workers_per_gather = 4;';
	push @scripts, "$settings SET parallel_leader_participation = off; CREATE UNLOGGED TABLE parallel_pid AS SELECT issue() AS r FROM rows";
	push @scripts, "$settings CREATE UNLOGGED TABLE parallel_plain AS SELECT snowflake_nextval() AS id FROM rows";
	my $planned = $each * 2 / 5;
	push @scripts, "$settings CREATE UNLOGGED TABLE plan (line text); DO \$\$ DECLARE line text; BEGIN FOR line IN"
	  . " EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) SELECT snowflake_nextval() FROM rows LIMIT $planned LOOP INSERT INTO plan VALUES (line); END LOOP; END \$\$";
	$start_ms = now_ms();
	ok(run_together($server, @scripts), 'all sessions end well');
	$end_ms = now_ms();
	figures('%d sessions and 2 parallel queries issued %d ids in %.1f s',
		$sessions, $sessions * $each + $parallel, ($end_ms - $start_ms) / 1000);
	my $union = join ' UNION ALL ', (map { "SELECT n, id, pid FROM ids_$_" } 1 .. $sessions);
	$server->safe_psql('postgres', "CREATE VIEW session_ids AS $union;"
		. " CREATE VIEW all_ids AS SELECT id FROM session_ids UNION ALL SELECT (r).id FROM parallel_pid UNION ALL SELECT id FROM parallel_plain");
};

subtest 'parallel workers issued ids' => sub {
	cmp_ok($server->safe_psql('postgres', 'SELECT count(DISTINCT (r).pid) FROM parallel_pid'), '>=', 2, 'processes');
	my $plan = $server->safe_psql('postgres', 'SELECT line FROM plan');
	like($plan, qr/Workers Launched: [1-9]/, 'workers were launched');
	like($plan, qr/Gather.*?->.*?Output: snowflake_nextval\(\)/s, 'and called the function');
};

subtest 'no duplicate (G1)' => sub {
	my $count = $sessions * $each + $parallel;
	is($server->safe_psql('postgres', "SET work_mem = '1GB'; SELECT count(*), count(DISTINCT id) FROM all_ids"),
		"$count|$count", "$count ids, as many different ones");
};

subtest 'the sessions were at work at the same time' => sub {
	# ids of a millisecond in which more than one process issued
	my $shared = $server->safe_psql('postgres', "SELECT count(*) FROM (SELECT id >> 22 FROM session_ids"
		. " GROUP BY id >> 22 HAVING count(DISTINCT pid) > 1) t");
	cmp_ok($shared, '>', 100, 'ticks that several processes shared');
	figures('%d ticks were shared by several processes', $shared);
};

subtest 'ids rise strictly within each process (G2)' => sub {
	my $falls = 0;
	$falls += $server->safe_psql('postgres', "SELECT count(*) FROM (SELECT id <= lag(id) OVER (ORDER BY n) AS fall FROM ids_$_) t WHERE fall")
	  for 1 .. $sessions;
	is($falls, 0, 'sessions');
	# Rows of one process pass the Gather node in order, so the table's order is the order of its
	# calls.
	is($server->safe_psql('postgres', 'SELECT count(*) FROM (SELECT (r).id <= lag((r).id) OVER (PARTITION BY (r).pid ORDER BY ctid) AS fall'
			. ' FROM parallel_pid) t WHERE fall'), 0, 'parallel workers');
};

subtest 'every id carries this node\'s worker id and a time within the run (G3)' => sub {
	my $worker = $server->safe_psql('postgres', 'SELECT worker FROM snowflake_status');
	is($server->safe_psql('postgres', 'SELECT worker_id FROM snowflake_registry'), $worker, 'the registry says the same');
	my ($lowest, $highest) = ($start_ms, $end_ms + $max_lead_ms);
	is($server->safe_psql('postgres', qq{
SELECT count(*) FROM (SELECT snowflake_decode(id) AS d FROM all_ids OFFSET 0) t
WHERE (d).worker <> $worker OR (d).seq NOT BETWEEN 0 AND 4095
  OR (d).ts NOT BETWEEN 'epoch'::timestamptz + $lowest * interval '1 ms' AND 'epoch'::timestamptz + $highest * interval '1 ms'}),
		0, 'ids that do not');
};

$server->stop;
done_testing();
