# Checks what src/pg/issue/horizon.h relies on in PostgreSQL and PostgreSQL does not promise: the
# order in which a transaction ends, leaves its process when it is prepared, and becomes visible to
# snapshots. test/c/transactions.c reports what other sessions could see at each of a transaction's
# callbacks. The test fails on a version that does otherwise, and there the library raises an error
# instead of issuing a wrong id.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $server = new_server('promises', patient => 1, conf => "max_prepared_transactions = 5\nautovacuum = off\nlog_statement = none\nwal_level = replica\nmax_wal_senders = 2\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
value(q{CREATE EXTENSION snowflake; CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload int);
	CREATE FUNCTION running() RETURNS xid[] LANGUAGE c AS 'TEST_C/transactions';
	CREATE FUNCTION seen() RETURNS xid[] LANGUAGE c STABLE AS 'TEST_C/transactions';
	CREATE FUNCTION is_unmarked() RETURNS bool LANGUAGE c STABLE AS 'TEST_C/transactions';
	CREATE FUNCTION with_snapshot(regprocedure, bigint, boolean) RETURNS bigint LANGUAGE c STABLE AS 'TEST_C/transactions';
	CREATE FUNCTION without_backends(regprocedure) RETURNS bigint LANGUAGE c AS 'TEST_C/transactions';
	CREATE FUNCTION surprise(cstring) RETURNS void LANGUAGE c AS 'TEST_C/transactions'} =~ s/TEST_C/$ENV{SNOWFLAKE_TEST_C}/gr);

# The lines that one session's transactions write to the log.
sub told
{
	my ($sql) = @_;
	my $offset = -s $server->logfile;
	my ($rc, $out, $err) = $server->psql('postgres', "LOAD '$ENV{SNOWFLAKE_TEST_C}/transactions';\n$sql");
	return [ slurp_file($server->logfile, $offset) =~ /LOG:  (at .*)/g ];
}

# a. and c.
is_deeply(told('INSERT INTO outbox DEFAULT VALUES'),
	[ 'at pre commit: the lxid is there, the xid running, not prepared', 'at commit: the lxid is gone, the xid ended, not prepared' ], 'a commit');
is_deeply(told("BEGIN;\nINSERT INTO outbox DEFAULT VALUES;\nSAVEPOINT s;\nINSERT INTO outbox DEFAULT VALUES;\nROLLBACK"),
	['at abort: the lxid is gone, the xid ended, not prepared'], 'a rollback');
is_deeply(told("BEGIN;\nINSERT INTO outbox DEFAULT VALUES;\nPREPARE TRANSACTION 'p'"),
	[ 'at pre prepare: the lxid is there, the xid running, not prepared', 'at prepare: the lxid is gone, the xid running, prepared' ],
	'a transaction that is prepared');
value("COMMIT PREPARED 'p'");

# d. The workers load what the leader has loaded.
my $parallel = value('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
my $offset = -s $server->logfile;
my $leader = (split /\n/, $server->safe_psql('postgres', "LOAD '$ENV{SNOWFLAKE_TEST_C}/transactions';
	SELECT pg_backend_pid(); SET $parallel = on; SET max_parallel_workers_per_gather = 2; SELECT count(*) FROM outbox"))[0];
my @workers = slurp_file($server->logfile, $offset) =~ /LOG:  (at parallel pre commit.*)/g;
is($workers[0], "at parallel pre commit: the leader's lxid is there, its pid $leader", 'a parallel worker');

# a. While a commit waits for a standby, it is not visible and its transaction has not ended, so the
# horizon waits.
my $poller = $server->background_psql('postgres');
sub horizon { return $poller->query_safe('SELECT snowflake_horizon()'); }
horizon();
$server->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'");
$server->reload;
my $writer = $server->background_psql('postgres', on_error_stop => 0);
my $pid = $writer->query('SELECT pg_backend_pid()');
wait_until('the setting', sub { $writer->query('SHOW synchronous_standby_names') eq 'nobody' });
$writer->query_until(qr/started/, "\\echo started\nINSERT INTO outbox (payload) VALUES (1) RETURNING id;\n");
ok(wait_until('the commit', sub { value("SELECT wait_event FROM pg_stat_activity WHERE pid = $pid") eq 'SyncRep' }), 'a commit waits for a standby');
sleep 1;
is(value('SELECT horizon_pid FROM snowflake_status'), $pid, '... and holds the horizon');
is(value('SELECT count(*) FROM outbox WHERE payload = 1 AND id < snowflake_horizon()'), '0', '... its row is not below it');
$server->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$server->reload;
ok(wait_until('the row', sub { value('SELECT count(*) FROM outbox WHERE payload = 1 AND id < snowflake_horizon()') eq '1' }), '... until it is seen');

# b. Two transactions have more subtransactions than a snapshot can hold.
my $many = "BEGIN; INSERT INTO outbox VALUES (-%d); DO 'BEGIN FOR i IN 1 .. 100 LOOP BEGIN INSERT INTO outbox DEFAULT VALUES; EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END'; SELECT pg_current_xact_id()::xid";
my @others = map { $server->background_psql('postgres') } 1 .. 2;
my @xids = sort { $a <=> $b } map { (split /\n/, $others[$_]->query_safe(sprintf $many, $_ + 1))[-1] } 0 .. 1;
value('SELECT pg_current_xact_id()');
# Once more if the keeper has just extended the lease, which is a third transaction.
sub among { my ($list) = @_; my $found; for (1 .. 5) { $found = value("SELECT (SELECT array_agg(x ORDER BY x::text::bigint) FROM unnest($list) x)"); last if $found eq "{$xids[0],$xids[1]}"; } return $found; }
is(among('seen()'), "{$xids[0],$xids[1]}",
	'a snapshot that lacks subtransactions has every transaction in progress');
is(among('running()'), "{$xids[0],$xids[1]}", '... and so has the list of what runs');
is(value(q{BEGIN; SELECT pg_current_xact_id() = 0::text::xid8; SELECT pg_current_xact_id()::xid = ANY (running()), pg_current_xact_id()::xid = ANY (seen())}),
	"f\nt|f", 'its own transaction a snapshot lacks, and the list has');

# e. Statements, cursors and functions, also if several use one snapshot. After snowflake_horizon()
# was called, the snapshot is marked.
for my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	is(value("BEGIN ISOLATION LEVEL $level; SELECT is_unmarked(); SELECT is_unmarked(); DECLARE c CURSOR FOR SELECT is_unmarked(); FETCH c; FETCH c;
		SELECT snowflake_horizon() > 0, is_unmarked(); SELECT is_unmarked()"), "t\nt\nt\nt|f\nt", "$level: a snapshot is a copy, and nothing is counted in it");
}
$_->quit for @others, $writer, $poller;

# If PostgreSQL does otherwise: an error, and no horizon or id.
sub error_of { return ($server->psql('postgres', $_[0]))[2]; }
my $horizon = q{with_snapshot('snowflake_horizon()'};
cmp_ok(value("SELECT $horizon, 0, true)"), '>', 0, 'a copy in which nothing is counted');
is(value("SELECT $horizon, ~5::bigint, true)"), '5', '... keeps the horizon');
like(error_of("SELECT $horizon, 5, true)"), qr/the active snapshot is no copy, or counts transactions/, '... in which something is counted');
like(error_of("SELECT $horizon, 0, false)"), qr/the active snapshot is no copy/, 'a snapshot that is no copy');
like(error_of("SELECT snowflake_nextval();\nSELECT without_backends('snowflake_nextval()')"), qr/process \d+ is not one of 0/,
	'a process that is not among the others');
like(error_of("SELECT snowflake_horizon();\nSELECT surprise('more transactions than processes');\n"
		. 'DO $$ BEGIN FOR i IN 1 .. 1000 LOOP PERFORM pg_sleep(0.02); PERFORM snowflake_horizon(); END LOOP; END $$'),
	qr/\d+ transactions are in progress in \d+ processes/, 'more transactions than processes');
like(error_of("SELECT snowflake_nextval();\nSELECT surprise('a registered snapshot is no copy');\nSELECT snowflake_segment_nextval('none')"),
	qr/the registered snapshot is no copy/, 'a registered snapshot that is no copy');
is(value('SELECT snowflake_nextval() > 0, snowflake_horizon() > 0'), 't|t', 'other sessions go on');
done_testing();
