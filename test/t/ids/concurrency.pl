# Many sessions at once. Tries to break G1 (no duplicate), G2 (rising within a process; across processes in call order: by
# default of calls more than a tick apart, with max_run = 1 exactly), G3 (an id's time lies within the call's, plus max_lead) and G4
# (no WAL, no transaction id, allowed in a read-only transaction).
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $conf = q{
log_statement = none
max_connections = 60
max_worker_processes = 24
max_parallel_workers = 20
shared_buffers = 256MB
work_mem = 128MB
autovacuum = off
};

my $max_lead_ms = 5;

# How many ids each of many sessions issues: 250,000, and fewer where the server is slow. Other counts follow from it.
my $each = 5000 * (int(50 / slowness()) || 1);
my $parallel = 4 * $each;

# Starts one psql for each script, all at once, and waits for all. Each waits at the gate first.
sub run_together
{
	my ($server, @scripts) = @_;
	my $gate = $server->background_psql('postgres');
	$gate->query_safe('BEGIN; LOCK TABLE gate');
	my (@runs, @errors);
	for my $script (@scripts)
	{
		my $error = '';
		push @errors, \$error;
		push @runs,
		  IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('postgres'), '-c',
				'SELECT FROM gate', '-c', $script ],
			'<', '/dev/null', '>', \my $out, '2>', \$error);
	}
	my $waiting = scalar @scripts;
	wait_until('all sessions at the gate',
		sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE NOT granted") == $waiting });
	$gate->query_safe('COMMIT');
	$gate->quit;
	my $good = 0;
	for my $i (0 .. $#runs)
	{
		$good++ if $runs[$i]->finish;
		diag(${ $errors[$i] }) if ${ $errors[$i] } ne '';
	}
	return $good == @scripts;
}

# From [start, end, id] of many calls: how many have an id that is not above that of every call that ended before they
# began, and by how many ticks the worst of them lies below.
sub order_broken
{
	my ($calls, $timestamp_shift) = @_;
	my @events = sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] }
	  map { ([ $_->[0], 0, $_ ], [ $_->[1], 1, $_ ]) } @$calls;
	my ($highest, $broken, $worst_ticks, %floor) = (-1, 0, 0);
	for my $event (@events)
	{
		my $id = $event->[2][2];
		if (!$event->[1]) { $floor{$id} = $highest; next; }
		my $floor = delete $floor{$id};
		if ($id <= $floor)
		{
			$broken++;
			my $ticks = ($floor >> $timestamp_shift) - ($id >> $timestamp_shift);
			$worst_ticks = $ticks if $ticks > $worst_ticks;
		}
		$highest = $id if $id > $highest;
	}
	return ($broken, $worst_ticks);
}

# By the counter: the exact order of the calls.
sub call_order { my ($calls, $shift) = @_; return order_broken([ map { [ @$_[ 0, 4, 2 ] ] } @$calls ], $shift); }

# By the clock: the order of calls that are more than a tick of 1 ms apart.
sub tick_order { my ($calls, $shift) = @_; return order_broken([ map { [ $_->[1] - 1000, $_->[3], $_->[2] ] } @$calls ], $shift); }

# Sessions that note a shared counter and the clock before and after each call: [counter, us, id, us, counter].
sub counted_calls
{
	my ($server, $sessions, $calls, $settings) = @_;
	$server->safe_psql('postgres', 'DROP SEQUENCE IF EXISTS counter; CREATE SEQUENCE counter');
	my $clock = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
	my @scripts;
	for my $i (1 .. $sessions)
	{
		$server->safe_psql('postgres', "DROP TABLE IF EXISTS counted_$i; CREATE UNLOGGED TABLE counted_$i (s int, b bigint, id bigint, a bigint, e int)");
		push @scripts, "$settings; INSERT INTO counted_$i SELECT nextval('counter'), $clock, snowflake_nextval(), $clock, nextval('counter')"
		  . " FROM generate_series(1, $calls)";
	}
	ok(run_together($server, @scripts), 'all sessions end well');
	my $union = join ' UNION ALL ', map { "SELECT * FROM counted_$_" } 1 .. $sessions;
	return [ map { [ split /\|/ ] } split /\n/, $server->safe_psql('postgres', $union) ];
}

my $server = new_server('concurrency', conf => $conf);
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE TABLE gate ()');

subtest 'the first id of a node may be issued in a read-only transaction' => sub {
	like($server->safe_psql('postgres', 'BEGIN READ ONLY; SELECT snowflake_nextval(); COMMIT'), qr/^\d+$/, 'an id');
	is($server->safe_psql('postgres', 'SET default_transaction_read_only = on; SET default_transaction_isolation = serializable;'
			. ' SELECT count(DISTINCT snowflake_nextval()) FROM generate_series(1, 10000)'),
		10000, 'serializable, read-only');
};

subtest 'ids write no WAL and take no transaction id' => sub {
	my $out = $server->safe_psql('postgres', qq{
BEGIN;
EXPLAIN (ANALYZE, WAL, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON)
  SELECT count(snowflake_nextval()) FROM generate_series(1, $parallel);
SELECT 'xid:' || coalesce(txid_current_if_assigned()::text, 'none');
COMMIT});
	my @wal = $out =~ /"WAL (?:Records|FPI|Bytes)": (\d+)/g;
	cmp_ok(scalar @wal, '>=', 3, 'the plan tells what it wrote');
	is_deeply([ grep { $_ != 0 } @wal ], [], 'and that is nothing');
	like($out, qr/^xid:none$/m, 'no transaction id');
};

# 16 sessions in four ways of asking, and two parallel queries: five million ids at full speed.
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
			# single calls, some of them rolled back: their ids are gone, and come again to nobody
			"DO \$\$ DECLARE k int; BEGIN FOR k IN 1..$each LOOP INSERT INTO ids_$i (pid) VALUES (pg_backend_pid());"
			  . " IF k % $tenth = 0 THEN BEGIN PERFORM snowflake_nextval(); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN END; END IF;"
			  . " END LOOP; END \$\$",
		)[ $i % 4 ];
	}
	# pg_backend_pid() alone would keep the plan out of the workers, and a volatile PL/pgSQL function may not run there.
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
	# Rows of one process pass the Gather node in their order, so the table's order is that of its calls.
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

subtest 'each id lies between the clock before the call and the clock after it plus max_lead (G3)' => sub {
	my $calls = $each * 2 / 5;
	my @scripts = map {
		"CREATE UNLOGGED TABLE timed_$_ AS SELECT clock_timestamp() AS before, snowflake_nextval() AS id, clock_timestamp() AS after"
		  . " FROM generate_series(1, $calls)"
	} 1 .. 4;
	ok(run_together($server, @scripts), 'all sessions end well');
	my $union = join ' UNION ALL ', map { "SELECT * FROM timed_$_" } 1 .. 4;
	is($server->safe_psql('postgres', "SELECT count(*) FROM ($union) t WHERE snowflake_timestamp(id) <= before - interval '1 ms'"),
		0, 'trails by less than a tick');
	is($server->safe_psql('postgres', "SELECT count(*) FROM ($union) t WHERE snowflake_timestamp(id) > after + interval '$max_lead_ms ms'"),
		0, 'leads by at most max_lead');
};

subtest 'with max_run = 1 ids follow call order across sessions exactly (G2)' => sub {
	my $rows = counted_calls($server, 4, $each * 4 / 25, 'SET snowflake.max_run = 1');
	my ($broken) = call_order($rows, 22);
	is($broken, 0, 'calls out of order among ' . @$rows);
};

subtest 'two sessions that take turns with max_run = 1 issue rising ids (G2)' => sub {
	my @pair = map { my $s = $server->background_psql('postgres'); ask($s, 'SET snowflake.max_run = 1'); $s } 1 .. 2;
	my @ids = map { ask($pair[ $_ % 2 ], 'SELECT snowflake_nextval()') } 1 .. 200;
	@ids = grep { /\d/ } @ids;
	is(scalar @ids, 200, 'ids');
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, 'that did not rise');
	$_->quit for @pair;
};

subtest 'by default ids of calls more than a tick apart follow call order across sessions (G2)' => sub {
	my $rows = counted_calls($server, 4, $each * 4 / 25, 'RESET snowflake.max_run');
	is((tick_order($rows, 22))[0], 0, 'calls out of order');
	my ($broken, $ticks) = call_order($rows, 22);
	figures('by default %d of %d calls were out of their exact order, by %d ticks at most', $broken, scalar @$rows, $ticks);
};

$server->stop;

# The same for a layout that is unlike the default in everything: ticks of 10 ms, few sequence numbers, and those first.
subtest 'a layout of another shape' => sub {
	my $other = new_server('other_layout', conf => $conf);
	start_server($other);
	$other->safe_psql('postgres', q{CREATE EXTENSION snowflake; CREATE TABLE gate ();
INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)
  VALUES (extract(epoch FROM timestamptz '2020-01-01 00:00+00')::bigint * 1000, 10000, 39, 0, 16, 8, true)});
	my $calls = $each * 2 / 25;
	my @scripts = map { "CREATE UNLOGGED TABLE ids_$_ AS SELECT i AS n, snowflake_nextval() AS id FROM generate_series(1, $calls) i" } 1 .. 4;
	my $start = now_ms();
	ok(run_together($other, @scripts), 'all sessions end well');
	my $end = now_ms();
	$other->safe_psql('postgres', 'CREATE VIEW all_ids AS ' . join ' UNION ALL ', map { "SELECT $_ AS k, n, id FROM ids_$_" } 1 .. 4);
	is($other->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM all_ids'), join('|', (4 * $calls) x 2), 'no duplicate');
	is($other->safe_psql('postgres', 'SELECT count(*) FROM (SELECT id <= lag(id) OVER (PARTITION BY k ORDER BY n) AS fall FROM all_ids) t WHERE fall'),
		0, 'rising within each process');
	my $worker = $other->safe_psql('postgres', 'SELECT worker FROM snowflake_status');
	# A tick is the least that ids may lead the clock by.
	my ($lowest, $highest) = ($start - 10, $end + 10);
	is($other->safe_psql('postgres', qq{
SELECT count(*) FROM (SELECT id, snowflake_decode(id) AS d FROM all_ids OFFSET 0) t
WHERE (d).worker <> $worker OR (d).worker <> (id & 65535) OR (d).seq <> (id >> 16 & 255)
  OR (d).ts <> timestamptz '2020-01-01 00:00+00' + (id >> 24) * interval '10 ms'
  OR (d).ts NOT BETWEEN 'epoch'::timestamptz + $lowest * interval '1 ms' AND 'epoch'::timestamptz + $highest * interval '1 ms'}),
		0, 'ids of another worker, time or shape');
	$other->stop;
};

# Few numbers in a tick, so that the sessions are always ahead of the clock and wait for it.
subtest 'call order when every number of every tick is used up (G2)' => sub {
	my $narrow = new_server('narrow', conf => $conf);
	start_server($narrow);
	$narrow->safe_psql('postgres', q{CREATE EXTENSION snowflake; CREATE TABLE gate ();
INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)
  VALUES (1735689600000, 1000, 41, 0, 10, 6, false)});
	my ($broken, $ticks) = call_order(counted_calls($narrow, 8, $each / 50, 'SET snowflake.max_run = 1'), 16);
	is($broken, 0, 'with max_run = 1, calls out of order');
	my $rows = counted_calls($narrow, 8, $each / 50, 'RESET snowflake.max_run');
	($broken, $ticks) = tick_order($rows, 16);
	is($broken, 0, 'by default, calls out of order that were more than a tick apart');
	($broken, $ticks) = call_order($rows, 16);
	figures('at the limit %d of %d calls were out of their exact order, by %d ticks at most', $broken, scalar @$rows, $ticks);
	my %seen;
	is(scalar(grep { $seen{ $_->[2] }++ } @$rows), 0, 'no duplicate');
	$narrow->stop;
};

# What a person sees who wonders what sessions wait for.
subtest 'the generator\'s lock shows under its name in pg_stat_activity' => sub {
	my $busy = new_server('busy', conf => $conf);
	start_server($busy);
	$busy->safe_psql('postgres', q{CREATE EXTENSION snowflake; 
INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, 5, 17, false)});
	my @load = map {
		IPC::Run::start([ 'psql', '-XAtq', '-d', $busy->connstr('postgres'), '-c', 'SET snowflake.max_run = 1',
				'-c', 'SELECT count(x) FROM (SELECT snowflake_nextval() AS x, generate_series(1, 1000000000)) s' ], '>', '/dev/null', '2>', '/dev/null')
	} 1 .. 8;
	# A look takes a snapshot of all sessions, and a wait lasts microseconds: many looks.
	$busy->safe_psql('postgres', q{CREATE FUNCTION seen() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	-- Where nothing is preloaded, who looks must have met the lock before to know its name.
	PERFORM state FROM snowflake_status;
	FOR i IN 1..100000 LOOP
		PERFORM pg_stat_clear_snapshot();
		IF EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'LWLock' AND wait_event = 'snowflake') THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$});
	is($busy->safe_psql('postgres', 'SELECT seen()'), 't', 'LWLock snowflake');
	$_->kill_kill for @load;
	$busy->stop('immediate');
};

done_testing();
