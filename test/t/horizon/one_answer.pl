# Within a command, snowflake_horizon() always returns the same value, however many of its scans,
# arms and rescans call it, and however long the command runs. With two values, a reader's cursor
# would move past rows that the first scan left out. The next command gets a newer value, also
# within a function or a transaction.
# Not in the default run: pollers beside writers for many seconds.
use strict;
use warnings;

use lib 'test/perl';
use HorizonTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $server = new_server('one_answer', patient => 1, conf => "autovacuum = off\nlog_statement = none\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
make_outbox($server);
value(q{
CREATE FUNCTION inlined() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT snowflake_horizon()';
CREATE FUNCTION stable_sql() RETURNS bigint LANGUAGE sql STABLE SET work_mem = '4MB' AS 'SELECT snowflake_horizon()';
CREATE FUNCTION stable_plpgsql() RETURNS bigint LANGUAGE plpgsql STABLE AS 'BEGIN RETURN (SELECT snowflake_horizon()); END';
CREATE FUNCTION simple_plpgsql() RETURNS bigint LANGUAGE plpgsql STABLE AS 'BEGIN RETURN snowflake_horizon(); END';
CREATE FUNCTION its_own() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN (SELECT snowflake_horizon()); END';
CREATE TABLE hashed (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text) PARTITION BY HASH (id);
CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO hashed SELECT FROM generate_series(1, 10);
ANALYZE hashed;
CREATE TABLE held (id int PRIMARY KEY, horizon bigint);
INSERT INTO held VALUES (1, 0), (2, 0)});
ok(wait_until('the first horizon', sub { value('SELECT snowflake_horizon()') > 0 }), 'there is a horizon');

# ---------------------------------------------------------------------------------------------------------------------
# Values within one command
# ---------------------------------------------------------------------------------------------------------------------

# No transaction ends meanwhile, so every sample is valid for every one of these snapshots. Each
# query returns horizons, with pauses between them in which samples are taken.
my $debug_parallel = value('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
my $later = 'SELECT i FROM (SELECT i, pg_sleep(0.03) FROM generate_series(1, 4) i) s OFFSET 0';
my %commands = (
	'rows' => "SELECT snowflake_horizon() FROM ($later) l",
	'the arms of a UNION ALL' => "SELECT snowflake_horizon() UNION ALL SELECT snowflake_horizon() FROM ($later) l UNION ALL SELECT snowflake_horizon()",
	'a scan that begins again' => "SELECT h FROM ($later) l, LATERAL (SELECT snowflake_horizon() + 0 * i AS h OFFSET 0) n",
	'subqueries' => "SELECT unnest(ARRAY[(SELECT snowflake_horizon()), (SELECT snowflake_horizon() FROM ($later) l LIMIT 1), (SELECT snowflake_horizon() WHERE i > 0)]) FROM ($later) l",
	'partitions' => "SELECT snowflake_horizon() FROM hashed WHERE id < snowflake_horizon() AND pg_sleep(0.01) IS NOT NULL",
	'stable functions' => "SELECT unnest(ARRAY[inlined(), stable_sql(), stable_plpgsql(), simple_plpgsql(), snowflake_horizon()]) FROM ($later) l",
	'a statement around a volatile function' => "SELECT h FROM ($later) l, LATERAL (SELECT snowflake_horizon() + 0 * i AS h, its_own() OFFSET 0) n",
	'what writes and what reads' => "WITH w AS (UPDATE hashed SET payload = snowflake_horizon() WHERE pg_sleep(0.01) IS NOT NULL RETURNING payload::bigint AS h) SELECT h FROM w UNION ALL SELECT snowflake_horizon()",
);

# How many different values a command got, and how many values in all.
sub answers
{
	my ($before, $sql) = @_;
	my @all = grep { /^\d+$/ } split /\n/, value("$before\n$sql");
	my %different = map { $_ => 1 } @all;
	return (scalar keys %different, scalar @all);
}

for my $setting ('SET max_parallel_workers_per_gather = 0;', "SET $debug_parallel = on;")
{
	for my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
	{
		for my $name (sort keys %commands)
		{
			next if $level ne 'READ COMMITTED' && $name ne 'partitions' && $name ne 'stable functions';
			my ($different, $count) = answers("$setting BEGIN ISOLATION LEVEL $level;", "$commands{$name}; ROLLBACK");
			is($different, 1, "$name, $level, $setting");
			cmp_ok($count, '>', 2, "... of $count");
		}
	}
}
for my $name (sort keys %commands)
{
	my ($different) = answers("PREPARE p AS $commands{$name}; SET plan_cache_mode = force_generic_plan;", 'EXECUTE p');
	is($different, 1, "$name, prepared");
}

# Rows of a parallel scan, which the leader compares.
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; ALTER TABLE hashed_0 SET (parallel_workers = 2); ALTER TABLE hashed_1 SET (parallel_workers = 2);';
my $gathered = "SELECT snowflake_horizon() FROM (SELECT id, payload FROM hashed OFFSET 0) h WHERE id < snowflake_horizon() AND pg_sleep(0.01) IS NOT NULL";
like(value("$parallel EXPLAIN (COSTS OFF) $gathered"), qr/Gather/, 'a parallel plan');
is((answers($parallel, $gathered))[0], 1, '... has one');

# A cursor keeps its value while other sessions end transactions. If the command waits for a row, it
# compares that row with the same value again.
my $session = $server->background_psql('postgres');
$session->query_safe("BEGIN; DECLARE c CURSOR FOR SELECT snowflake_horizon() FROM generate_series(1, 5)");
my %fetched;
for (1 .. 5)
{
	$fetched{ $session->query_safe('FETCH 1 FROM c') } = 1;
	value('INSERT INTO hashed DEFAULT VALUES');
	select undef, undef, undef, 0.03;
}
is(scalar keys %fetched, 1, 'a cursor');
$session->query_safe('COMMIT');

$session->query_safe('BEGIN; UPDATE held SET horizon = 1 WHERE id = 2');
my $waiting = $server->background_psql('postgres');
$waiting->query_until(qr/started/, "\\echo started\nUPDATE held SET horizon = snowflake_horizon();\n");
ok(wait_until('a row lock', sub { value(q{SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE held%'}) eq '1' }), 'an UPDATE waits');
select undef, undef, undef, 0.05;
$session->query_safe('COMMIT');
ok(wait_until('the UPDATE', sub { value('SELECT min(horizon) > 1 FROM held') eq 't' }), '... and goes on');
is(value('SELECT count(DISTINCT horizon) FROM held'), '1', '... with the answer that it had before');
$waiting->quit;

# ---------------------------------------------------------------------------------------------------------------------
# The next command
# ---------------------------------------------------------------------------------------------------------------------

# On a server on which no transaction ends, while the clock continues.
value(q{SET statement_timeout = '60s'; DO $$ DECLARE h bigint := snowflake_horizon(); BEGIN WHILE snowflake_horizon() = h LOOP PERFORM pg_sleep(0.01); END LOOP; END $$});
pass('a loop in a function sees the horizon rise');
$session->query_safe('BEGIN');
my $first = $session->query_safe('SELECT snowflake_horizon()');
ok(wait_until('the horizon', sub { $session->query_safe('SELECT snowflake_horizon()') > $first }), 'and so does a transaction');
$session->query_safe('COMMIT');
for my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	$session->query_safe("BEGIN ISOLATION LEVEL $level");
	my @answers = map { value('INSERT INTO hashed DEFAULT VALUES') if $_ % 3 == 0; $session->query_safe('SELECT snowflake_horizon()') } 1 .. 30;
	is(scalar(grep { $answers[$_] < $answers[ $_ - 1 ] } 1 .. $#answers), 0, "$level: none is below the one before");
	$session->query_safe('COMMIT');
}
$session->quit;

# ---------------------------------------------------------------------------------------------------------------------
# Why it is necessary
# ---------------------------------------------------------------------------------------------------------------------

# A reader that spends 50 ms in the first partition, just after a row was inserted into either.
value(q{
CREATE TABLE listed (id bigint DEFAULT snowflake_nextval(), kind text, PRIMARY KEY (id, kind)) PARTITION BY LIST (kind);
CREATE TABLE listed_a PARTITION OF listed FOR VALUES IN ('a');
CREATE TABLE listed_b PARTITION OF listed FOR VALUES IN ('b');
INSERT INTO listed (kind) VALUES ('a'), ('b');
CREATE FUNCTION work(kind text) RETURNS bool LANGUAGE plpgsql STABLE AS $$
BEGIN
	IF kind = 'a' THEN PERFORM pg_sleep(0.05); END IF;
	RETURN true;
END $$});
my $rounds = 20;
my ($last, $missed) = (0, 0);
my $reader = $server->background_psql('postgres');
# The horizon that a session got less than 10 ms ago is not above these rows.
my $round = q{
SELECT snowflake_horizon() AS h \gset
INSERT INTO listed (kind) VALUES ('a');
INSERT INTO listed (kind) VALUES ('b');
SELECT id FROM listed WHERE id > %d AND id < snowflake_horizon() AND work(kind) ORDER BY id;
};
for (1 .. $rounds)
{
	my @ids = grep { /^\d+$/ } split /\n/, $reader->query_safe(sprintf $round, $last);
	next unless @ids;
	$missed += value("SELECT count(*) FROM listed WHERE id > $last AND id < $ids[-1]") - (@ids - 1);
	$last = $ids[-1];
}
is($missed, 0, "a reader of a partitioned table misses no row in $rounds rounds");
figures('%d rows missed in %d rounds', $missed, $rounds);
$reader->quit;

# Together with writers whose transactions are so short that the horizon rises between two of them.
my $writers = start_clients($server, 3, "INSERT INTO outbox (how) VALUES ('short');\nSELECT FROM pg_sleep(0.01);\n" x 100);
my $polls = join '', map { many_scans($_) . "SELECT FROM pg_sleep(0.005);\n" } 1 .. 100;
my @pollers = map { start_clients($server, 1, poller_script($prepare_many_scans, $polls)) } 1 .. 3;
sleep 4 * slowness();
stop_clients($writers);
my $highest = value('SELECT max(id) FROM outbox');
value('CREATE TABLE delivered (poller text, id bigint)');
for my $i (0 .. $#pollers)
{
	ok(wait_until('the last id', sub { last_delivered($pollers[$i]) == $highest }), "poller $i comes to the end");
	stop_clients($pollers[$i]);
	load_delivered($server, $i, $pollers[$i]);
	is(value("SELECT count(*), count(DISTINCT id) FROM delivered WHERE poller = '$i'"), value('SELECT count(*), count(*) FROM outbox'), '... and was delivered each row once');
}
figures('%d rows', value('SELECT count(*) FROM outbox'));
$server->stop;
done_testing();
