# The keeper is never in the way of what is done to its database or to its extension, and ids stay unique and flow on
# (G1, G2, G8; sections 5 and 8 of the design).
#
# PostgreSQL waits 5 s for everybody to leave a database that it drops, renames, moves or copies, and then gives up: the
# keeper is one of those who must leave, unless a client makes the command fail anyway.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('databases', conf => "snowflake.max_databases = 40\nmax_worker_processes = 40\n"
	  . "log_min_messages = warning\n");  # with errors: a deadlock is looked for
start_server($server);

# Every id that was seen in a registry: name => { id => 1 }.
my %seen;

# Takes ids and checks that no earlier one of the same registry is among them, and that they rise above all of them.
sub ids_flow
{
	my ($dbname, $registry, $name) = @_;
	my ($rc, $out, $err) = $server->psql($dbname, 'SET statement_timeout = 0; SELECT snowflake_nextvals(3); SELECT snowflake_nextval(); SELECT snowflake_nextval()');
	my @ids = split /\n/, $out;
	is(scalar(@ids), 5, "$name: ids flow") or diag($err);
	my $known = $seen{$registry} //= {};
	my ($highest) = sort { $b <=> $a } keys %$known;
	is(scalar(grep { $known->{$_}++ } @ids), 0, "$name: no id is issued twice");
	ok(@ids && $ids[0] > $highest, "$name: ids rise") if defined $highest;
	return;
}

sub create_database
{
	my ($dbname) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->safe_psql($dbname, 'CREATE EXTENSION snowflake');
	return;
}

# Runs a command that needs the database for itself; it must succeed before PostgreSQL would have given up.
sub succeeds_soon
{
	my ($dbname, $sql) = @_;
	my $began = time();
	my ($rc, $out, $err) = $server->psql($dbname, $sql, on_error_stop => 1);
	my $took = time() - $began;
	is($rc, 0, $sql) or diag($err);
	cmp_ok($took, '<', 4, sprintf('... which took %.1f s', $took));
	return;
}

sub keepers
{
	my ($dbname) = @_;
	return $server->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = '$dbname'");
}

sub leases
{
	my ($dbname) = @_;
	return $server->safe_psql($dbname, 'SELECT count(*) FROM snowflake_registry');
}

### Commands that need a database for themselves, right after ids were issued there

create_database('d1');
ids_flow('d1', 'dropped', 'd1');
succeeds_soon('postgres', 'DROP DATABASE d1');
is(keepers('d1'), '', 'no keeper is left');

# The same name again is another database: its place is its own.
create_database('d1');
ids_flow('d1', 'dropped and created', 'the second d1');

create_database('d2');
ids_flow('d2', 'd2', 'd2');
succeeds_soon('postgres', 'ALTER DATABASE d2 RENAME TO d2_renamed');
is(leases('d2_renamed'), '0', 'the lease was released');
is($server->safe_psql('d2_renamed', 'SELECT count(*) FROM snowflake_watermark'), '1', '... and left its watermark');
ids_flow('d2_renamed', 'd2', 'after RENAME');
like($server->safe_psql('d2_renamed', 'SELECT node FROM snowflake_registry'), qr{/d2_renamed$}, 'the node has the new name');

# TEMPLATE, from another database and with both ways of copying.
for my $strategy ('wal_log', 'file_copy')
{
	ids_flow('d2_renamed', 'd2', "before TEMPLATE, $strategy");
	succeeds_soon('postgres', "CREATE DATABASE copy_$strategy TEMPLATE d2_renamed STRATEGY $strategy");
	is(leases("copy_$strategy"), '0', 'the copy has no lease of the original');
	ids_flow('d2_renamed', 'd2', "the template, $strategy");
	ids_flow("copy_$strategy", "copy_$strategy", "the copy, $strategy");
}

# TEMPLATE from the very database, as its only client.
ids_flow('d2_renamed', 'd2', 'before TEMPLATE from inside');
succeeds_soon('d2_renamed', 'CREATE DATABASE copy_inside TEMPLATE d2_renamed');
ids_flow('d2_renamed', 'd2', 'the template, from inside');
ids_flow('copy_inside', 'copy_inside', 'the copy, from inside');

my $tablespace = PostgreSQL::Test::Utils::tempdir();
$server->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$tablespace'");
succeeds_soon('postgres', 'ALTER DATABASE d2_renamed SET TABLESPACE elsewhere');
is(leases('d2_renamed'), '0', 'the lease was released');
ids_flow('d2_renamed', 'd2', 'after SET TABLESPACE');
succeeds_soon('postgres', 'DROP DATABASE d2_renamed WITH (FORCE)');

# While sessions come and go and ask for ids, so that a keeper may be on its way.
for my $round (1 .. 3)
{
	create_database('busy');
	my $name = "busy $round";
	ids_flow('busy', $name, $name);
	my $keeper = keepers('busy');
	$server->safe_psql('busy', "SELECT pg_terminate_backend($keeper); SELECT snowflake_nextval()");
	succeeds_soon('postgres', 'DROP DATABASE busy');
}

### With a client connected the command fails as it would anyway, and the keeper stays

create_database('d3');
my $client = $server->background_psql('d3');
$client->query_safe('SELECT snowflake_nextval()');
my $keeper = keepers('d3');
isnt($keeper, '', 'd3 has a keeper');
for my $sql ('DROP DATABASE d3', 'ALTER DATABASE d3 RENAME TO d4', 'CREATE DATABASE d4 TEMPLATE d3')
{
	is((query_error($server, 'postgres', $sql))[0], '55006', "with a client connected: $sql fails");
	is(keepers('d3'), $keeper, '... the keeper stays');
	like($client->query_safe('SELECT snowflake_nextval()'), qr/^\d+$/, '... and ids flow on');
}
is(leases('d3'), '1', 'it is still the one lease');
is($server->safe_psql('d3', 'SELECT leases_drawn FROM snowflake_status'), '1', '... the first');
$client->quit;
succeeds_soon('postgres', 'DROP DATABASE d3');

### What ALTER DATABASE sets, or closes

create_database('d5');
ids_flow('d5', 'd5', 'd5');
my $inside = $server->background_psql('d5');
$server->safe_psql('d5', q{
	CREATE SCHEMA evil;
	CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
	CREATE TABLE evil.snowflake_registry (i int);
	CREATE TABLE evil.pg_extension (i int)});
$server->safe_psql('postgres', "ALTER DATABASE d5 $_") for (
	'SET default_transaction_read_only = on',
	q{SET default_transaction_isolation = 'serializable'},
	'SET default_transaction_deferrable = on',
	'SET search_path = evil, public, pg_catalog',
	q{SET statement_timeout = '1ms'},
	q{SET lock_timeout = '1ms'},
	q{SET idle_in_transaction_session_timeout = '1ms'},
	q{SET session_replication_role = 'replica'},
	'SET row_security = off',
	'SET synchronous_commit = off',
	q{SET lc_messages = 'C'},
	q{SET snowflake.lease_duration = '1s'});
$keeper = keepers('d5');
$inside->query_safe("SELECT pg_terminate_backend($keeper)");
ok(wait_until('the keeper ends', sub { keepers('d5') ne $keeper }), 'a new keeper reads what ALTER DATABASE set');
$server->safe_psql('postgres', 'ALTER DATABASE d5 ALLOW_CONNECTIONS false');
like($inside->query_safe('SELECT snowflake_nextval()'), qr/^\d+$/, 'a session that was there before connections were refused gets ids');
isnt(keepers('d5'), '', '... from a new keeper');
ok(wait_until('the window moves', sub {
	$inside->query_safe('SELECT count(*) FROM snowflake_registry WHERE renewed_at > acquired_at') eq '1';
}), '... which moves its window');
is($inside->query_safe('SELECT last_error IS NULL FROM snowflake_status'), 't', '... without errors');
$server->safe_psql('postgres', 'ALTER DATABASE d5 ALLOW_CONNECTIONS true');
ids_flow('d5', 'd5', 'where every transaction is serializable and read-only') for 1 .. 2;
$inside->quit;
$server->safe_psql('postgres', 'ALTER DATABASE d5 RESET ALL');

# Whatever the transaction, also where the first lease is still to be drawn.
create_database('d6');
my $round = 0;
for my $mode ('ISOLATION LEVEL SERIALIZABLE', 'ISOLATION LEVEL REPEATABLE READ', 'READ ONLY',
	'ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE')
{
	for my $first (1, 0)
	{
		if ($first && $round++)
		{
			my $pid = keepers('d6');
			$server->safe_psql('d6', "SELECT pg_terminate_backend($pid)");
			wait_until('the keeper ends', sub { keepers('d6') eq '' });
		}
		my ($rc, $out, $err) = $server->psql('d6', "BEGIN $mode; SELECT snowflake_nextval(); SELECT snowflake_nextval(); COMMIT");
		is($rc, 0, "$mode, " . ($first ? 'drawing a lease' : 'with a lease')) or diag($err);
	}
}

### ALTER EXTENSION and ALTER SCHEMA

create_database('d7');
ids_flow('d7', 'd7', 'd7');
my $session = $server->background_psql('d7');
my $last = $session->query_safe('SELECT snowflake_nextval()');
my $schema = 'public';
for my $move ([ 'CREATE SCHEMA first; ALTER EXTENSION snowflake SET SCHEMA first', 'first' ],
	[ 'ALTER SCHEMA first RENAME TO "Second schema"', '"Second schema"' ],
	[ 'ALTER EXTENSION snowflake SET SCHEMA public', 'public' ])
{
	my ($sql, $to) = @$move;
	$server->safe_psql('d7', $sql);
	my $id = $session->query_safe("SELECT $to.snowflake_nextval()");
	cmp_ok($id, '>', $last, "$sql: ids flow on in a session");
	$last = $id;
	is($session->query_safe("SELECT worker FROM $to.snowflake_decode($id)"),
		$session->query_safe("SELECT worker FROM $to.snowflake_status"), '... and can be read');
	my $renewed = $server->safe_psql('d7', "SELECT renewed_at FROM $to.snowflake_registry");
	my $pid = keepers('d7');
	# The keeper that lived through the change; then one that comes after it.
	$server->safe_psql('d7', "SELECT pg_terminate_backend($pid)");
	ok(wait_until('the keeper ends', sub { keepers('d7') eq '' }), '... the keeper ends');
	is($server->safe_psql('d7', "SELECT count(*) FROM $to.snowflake_registry"), '0', '... and released its lease in the new schema');
	$id = $session->query_safe("SELECT $to.snowflake_nextval()");
	cmp_ok($id, '>', $last, '... the next one draws a lease');
	$last = $id;
}
$session->quit;

### DROP EXTENSION and CREATE EXTENSION

create_database('d8');
my ($rc, $out, $err) = $server->psql('d8', q{
	DROP EXTENSION snowflake;
	BEGIN;
	CREATE EXTENSION snowflake;
	SELECT snowflake_nextval();
	COMMIT;}, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  55000: .*transaction that created the extension/, 'no ids in the transaction that created the extension');
like($err, qr/DETAIL: .*committed/, '... and why');
my $began = time();
($rc, $out, $err) = $server->psql('d8', q{
	BEGIN;
	SAVEPOINT a;
	CREATE EXTENSION snowflake;
	SAVEPOINT b;
	SELECT snowflake_nextval();
	ROLLBACK TO b;
	SELECT 'still usable', count(*) FROM snowflake_layout;
	RELEASE a;
	SAVEPOINT c;
	SELECT snowflake_nextvals(2);
	ROLLBACK TO c;
	COMMIT;
	SELECT 'id', snowflake_nextval() > 0;}, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
is(scalar(() = $err =~ /ERROR:  55000/g), 2, '... nor in its savepoints') or diag($err);
is($out, "still usable|0\nid|t", '... but once it is committed');
is($server->safe_psql('d8', 'SELECT leases_drawn FROM snowflake_status'), '1', '... with one lease');

# Dropped and created in one transaction, over a lease of the first one.
ids_flow('d8', 'd8', 'd8');
($rc, $out, $err) = $server->psql('d8', q{
	BEGIN;
	DROP EXTENSION snowflake CASCADE;
	CREATE EXTENSION snowflake;
	SELECT snowflake_nextval();
	ROLLBACK;}, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  55000/, 'nor in one that dropped and created it again');
ids_flow('d8', 'd8', 'rolled back');
$server->safe_psql('d8', 'BEGIN; DROP EXTENSION snowflake; CREATE EXTENSION snowflake; COMMIT');
ids_flow('d8', 'd8', 'dropped and created in one transaction');

# A default hangs on it: CASCADE takes the default, not the rows.
$server->safe_psql('d8', q{
	CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);
	INSERT INTO t (n) SELECT generate_series(1, 10)});
is((query_error($server, 'd8', 'DROP EXTENSION snowflake'))[0], '2BP01', 'a default keeps the extension');
$server->safe_psql('d8', 'DROP EXTENSION snowflake CASCADE');
is($server->safe_psql('d8', 'SELECT count(*) FROM t'), '10', 'CASCADE leaves the rows');
ok(wait_until('the keeper ends', sub { keepers('d8') eq '' }), 'without the extension the keeper ends');
$server->safe_psql('d8', 'CREATE EXTENSION snowflake; ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval(); INSERT INTO t (n) VALUES (11)');
is($server->safe_psql('d8', 'SELECT n FROM t ORDER BY id DESC LIMIT 1'), '11', 'created again, ids go on above those there');
ids_flow('d8', 'd8', 'created again');

### DROP and CREATE again and again, while others issue

create_database('d9');
$server->safe_psql('d9', 'CREATE TABLE issued (session int, n bigint GENERATED ALWAYS AS IDENTITY, id bigint, state text); CREATE TABLE stop (i int)');
# Each call is a transaction of its own, so that no session keeps locks on what is to be dropped.
my @load = map { my $me = $_; $server->background_psql('d9', on_error_stop => 0) } 1 .. 3;
for my $i (0 .. $#load)
{
	$load[$i]->{stdin} .= qq{SET snowflake.start_timeout = '300ms';
		DO \$\$
		DECLARE got bigint; code text;
		BEGIN
			WHILE NOT EXISTS (SELECT FROM stop) LOOP
				got := NULL; code := NULL;
				BEGIN
					EXECUTE 'SELECT snowflake_nextval()' INTO got;
				EXCEPTION WHEN OTHERS THEN code := SQLSTATE || ' ' || SQLERRM;
				END;
				COMMIT;
				INSERT INTO issued (session, id, state) VALUES ($i, got, code);
				COMMIT;
				PERFORM pg_sleep(0.0005);
			END LOOP;
		END \$\$;\n\\echo done\n};
	$load[$i]->{run}->pump_nb;
}
my $longest = 0;
my $done = 0;
for my $i (1 .. 20)
{
	my $before = $server->safe_psql('d9', 'SELECT count(id) FROM issued');
	ok(wait_until('ids are issued', sub {
		$server->safe_psql('d9', 'SELECT count(id) FROM issued') > $before;
	}), "ids flow before drop $i") or last;
	$began = time();
	my $cascade = $i % 2 ? '' : ' CASCADE';
	my $together = $i % 3 == 0;
	($rc, $out, $err) = $server->psql('d9', ($together ? 'BEGIN;' : '') . "DROP EXTENSION snowflake$cascade; CREATE EXTENSION snowflake;"
		. ($together ? 'COMMIT;' : ''), on_error_stop => 1, timeout => 60);
	++$done if $rc == 0;
	diag($err) if $rc;
	my $took = time() - $began;
	$longest = $took if $took > $longest;
}
is($done, 20, sprintf('the extension was dropped and created 20 times under load; the longest took %.2f s', $longest));
wait_until('ids are issued', sub {
	$server->safe_psql('d9', q{SELECT count(*) > 0 FROM issued WHERE id IS NOT NULL AND n > (SELECT max(n) - 50 FROM issued)}) eq 't';
});
$server->safe_psql('d9', 'INSERT INTO stop VALUES (1)');
$_->query_until(qr/done/, '') for @load;
$_->quit for @load;
my $log = slurp_file($server->logfile);
unlike($log, qr/40P01|deadlock detected/, 'without a deadlock');
unlike($log, qr/terminated by signal|PANIC/, 'without a crash');
is($server->safe_psql('d9', 'SELECT count(*) - count(DISTINCT id) FROM issued WHERE id IS NOT NULL'), '0', 'no id was issued twice');
is($server->safe_psql('d9', q{SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY session ORDER BY n) AS before
	FROM issued WHERE id IS NOT NULL) x WHERE id <= before}), '0', 'ids rose in every session, across all drops');
# 42883: the function was gone; 55000, SF001: it went during the call. A cache lookup that fails says the same (XX000).
my $errors = $server->safe_psql('d9', q{SELECT state, count(*) FROM issued WHERE state IS NOT NULL
	AND state !~ '^(42883|55000|SF001|3F000) ' GROUP BY 1});
is($errors, '', 'what failed said that the extension was gone, or had no lease');
diag('figures: ' . $server->safe_psql('d9', q{SELECT 'ids ' || count(id) || ', errors ' || count(state) FROM issued}));

### A transaction that does not see a database has no say in its place

{
	create_database('unseen_template');
	create_database('onlooker');
	my $onlooker = $server->background_psql('onlooker');
	my $look = 'SELECT (snowflake_get_status()).state';
	$onlooker->query_safe($look);
	$onlooker->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	# Whatever a look takes is locked already, so nothing makes the session hear of what others did; and a name that is not there makes
	# it keep what it sees of the catalogs.
	$onlooker->query_safe("SELECT count(*) FROM $_") for qw(pg_database pg_depend pg_class pg_proc pg_extension pg_namespace pg_attribute);
	$onlooker->query_safe(q{SELECT to_regclass('nowhere')});
	is($onlooker->query_safe($look), 'idle', 'a database that has no place looks at the others');
	$server->safe_psql('postgres', 'CREATE DATABASE unseen TEMPLATE unseen_template');
	my $session = $server->background_psql('unseen');
	$session->query_safe('SELECT snowflake_nextval()');
	my $status = 'SELECT state, keeper_pid, lease_id FROM snowflake_status';
	my $before = $session->query_safe($status);
	is($onlooker->query_safe($look), 'idle', '... again, after one that it does not see got a place');
	is($session->query_safe($status), $before, 'that one still has it');
	$session->query_safe('SELECT snowflake_nextval()');
	is($server->safe_psql('unseen', 'SELECT leases_drawn FROM snowflake_status'), '1', '... with its lease');
	like(keepers('unseen'), qr/^\d+$/, '... and its keeper alone');
	$_->quit for $onlooker, $session;
}

### A background worker's slot

{
	my $small = new_server('slots', preload => 1, conf => "max_worker_processes = 1\nmax_logical_replication_workers = 0\nmax_parallel_workers = 0\n"
		  . "snowflake.max_databases = 2\n");
	start_server($small);
	for my $dbname ('a', 'b', 'c')
	{
		$small->safe_psql('postgres', "CREATE DATABASE $dbname");
		$small->safe_psql($dbname, 'CREATE EXTENSION snowflake');
	}
	$small->safe_psql('a', 'SELECT snowflake_nextval()');
	my ($code, $text) = query_error($small, 'b', q{SET snowflake.start_timeout = '200ms'; SELECT snowflake_nextval()});
	is($code, 'SF001', 'one slot for two databases: no lease for the second');
	like($text, qr/max_worker_processes/, '... and why');

	$code = query_error($small, 'c', 'SELECT snowflake_nextval()');
	($code, $text) = query_error($small, 'c', 'SELECT snowflake_nextval()');
	is($code, 'SF001', 'more databases than snowflake.max_databases');
	like($text, qr/snowflake\.max_databases/, '... and why');
	is($small->safe_psql('c', 'SELECT state FROM snowflake_status'), 'no lease', '... whose status can be read');

	$small->safe_psql('a', 'DROP EXTENSION snowflake');
	ok(wait_until('the slot is free', sub {
		$small->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}) eq '0';
	}), 'DROP EXTENSION ends the keeper');
	like($small->safe_psql('b', 'SELECT snowflake_nextval()'), qr/^\d+$/, '... and another database has its slot');

	# A place of a database that was dropped is used again.
	$small->safe_psql('postgres', 'DROP DATABASE b');
	like($small->safe_psql('c', 'SELECT snowflake_nextval()'), qr/^\d+$/, 'the place of a dropped database is used again');
	$small->safe_psql('c', 'DROP EXTENSION snowflake');
	$small->stop('fast');
}

### Two databases at once

{
	my @names = ('two_a', 'two_b');
	create_database($_) for @names;
	my %ids;
	my @sessions = map { $server->background_psql($_) } @names;
	$sessions[$_]->{stdin} .= "SELECT snowflake_nextvals(20000);\n\\echo done\n" for 0, 1;
	$_->{run}->pump_nb for @sessions;
	for my $i (0, 1)
	{
		my @got = grep { /^\d+$/ } split /\n/, $sessions[$i]->query_until(qr/done\n/, '');
		is(scalar(@got), 20000, "$names[$i] issues");
		my %own = map { $_ => 1 } @got;
		is(scalar(keys %own), 20000, '... without a repetition');
	}
	$_->quit for @sessions;
	isnt(keepers('two_a'), keepers('two_b'), 'each has a keeper of its own');
	is($server->safe_psql($_, 'SELECT count(*), min(node) = (SELECT node FROM snowflake_status) FROM snowflake_registry'),
		'1|t', "$_ is a node of its own") for @names;
	like($server->safe_psql($_, 'SELECT node FROM snowflake_registry'), qr{/$_$}, '... with its own name') for @names;
}

$server->stop('fast');
unlike(slurp_file($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
done_testing();
