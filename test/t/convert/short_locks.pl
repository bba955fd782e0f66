# What an attempt of snowflake_try() costs others: all its locks share one deadline, it is a shorter
# one once others have to wait, and the next attempt locks first what was awaited in vain; what the
# switch evaluates under its locks is planned before them, and a switch that is not due takes none.
# snowflake_convert_defaults() never locks a table and its sequence together.
# Not timings: the values of lock_timeout, the number of attempts, locks, and the plans that
# PostgreSQL logs.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = convert_server('short_locks');
my $db = 'postgres';
$server->safe_psql($db, 'CREATE SCHEMA r AUTHORIZATION alice');

### The deadline

# Returns what the statements have noted of lock_timeout in r.seen, and SHOW lock_timeout afterwards.
my $note = q{INSERT INTO r.seen SELECT pg_catalog.current_setting('lock_timeout')};
sub seen
{
	my ($statements, $max_wait) = @_;
	my ($rc, $out, $err) = psql_as($server, 'alice', "CREATE TABLE r.seen (v text); SET lock_timeout = '7s'; CALL snowflake_try(\$\$$statements\$\$, '@{[ $max_wait // '0.1s' ]}'); SELECT pg_sleep(0.2); SELECT string_agg(v, ' ') FROM r.seen; SHOW lock_timeout; DROP TABLE r.seen");
	return $rc == 0 ? $out =~ s/\n/ /gr =~ s/^ +//r : $err;
}
# Again if it is not so, because the server may stand still between two of the statements.
sub notes
{
	my ($statements, $expected, $what, $max_wait) = @_;
	my $seen;
	for (1 .. 5) { $seen = seen($statements, $max_wait); last if $seen eq $expected; }
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is($seen, $expected, $what);
}
notes("$note; $note", '100ms 100ms 7s', 'an attempt may wait for 0.1 s');
notes("$note; SELECT pg_sleep(0.15); $note", '100ms 1ms 7s', '... in all: afterwards it gets a lock at once, or fails');
notes("SELECT pg_sleep(0.15); $note; $note", '100ms 100ms 7s', '... from the first statement on that may lock');
notes("SELECT pg_sleep(0.15); SELECT 1", '7s', 'queries alone note nothing');
notes("$note; SELECT pg_sleep(0.15); $note", '300ms 300ms 7s', 'the caller may let it wait for longer', '0.3s');
notes("LOCK TABLE r.seen; SELECT pg_sleep(0.6); $note", '1ms 7s', '... but not while it keeps others out', '5s');
notes("SELECT pg_sleep(0.6); LOCK TABLE r.seen; $note", '5s 7s', '... which begins with its first lock', '5s');
$server->safe_psql($db, 'SET ROLE alice; CREATE TABLE r.valid (n int); ALTER TABLE r.valid ADD CONSTRAINT valid CHECK (n > 0) NOT VALID');
notes("ALTER TABLE r.valid VALIDATE CONSTRAINT valid; SELECT pg_sleep(0.15); $note", '100ms 7s', '... not if it reads rows, which takes long and keeps nobody waiting');
my ($rc, $out, $err) = psql_as($server, 'alice', q{SET lock_timeout = '7s'; \set ON_ERROR_STOP off
CALL snowflake_try($$CREATE TABLE r.no (); SELECT 1/0$$);
SELECT pg_sleep(0.2); SHOW lock_timeout});
like("$err$out", qr/22012.*7s\z/s, 'an attempt that fails leaves no deadline behind');

# One session has locked all children. It unlocks one whenever the attempt has waited 60 ms for it.
# If each lock had a timeout of its own, the first attempt would get all of them.
my $children = 5;
$server->safe_psql($db, 'SET ROLE alice; CREATE TABLE r.t (n int);' . join '', map { "CREATE TABLE r.t_$_ () INHERITS (r.t);" } 1 .. $children);
my ($holder, $run, %attempts);
# Again if an attempt stood still, and so seems to have waited twice.
for my $try (1 .. 5)
{
	%attempts = ();
	$holder = $server->background_psql($db, on_error_die => 1);
	$holder->query_safe('BEGIN; ' . join ' ', map { "SAVEPOINT s_$_; LOCK TABLE ONLY r.t_$_ IN ACCESS SHARE MODE;" } reverse 1 .. $children);
	$run = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr($db) . ' user=alice', '-c', qq{CALL snowflake_try('ALTER TABLE r.t ADD tried_$try int')} ],
		'<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240 * slowness()));
	for my $child (1 .. $children)
	{
		my $attempt = $server->safe_psql($db, qq{SET statement_timeout = '@{[ 240 * slowness() ]}s'; SET client_min_messages = notice; DO \$do\$ DECLARE attempt text; BEGIN
			LOOP
				SELECT virtualtransaction INTO attempt FROM pg_locks WHERE relation = 'r.t_$child'::regclass AND NOT granted AND clock_timestamp() - waitstart > '60ms';
				EXIT WHEN FOUND;
			END LOOP;
			PERFORM set_config('test.attempt', attempt, false); END \$do\$; SHOW test.attempt});
		$holder->query_safe("ROLLBACK TO s_$child");
		$attempts{$attempt} = 1;
	}
	$holder->quit;
	$run->finish;
	last if keys %attempts >= $children - 1;
}
# After ten seconds it says what it waits for.
is($err =~ s/^(?:NOTICE|DETAIL|HINT):.*\n//mgr, '', 'a table with children that are locked is changed');
cmp_ok(scalar(keys %attempts), '>=', $children - 1, '... and no attempt waits for several of the children, 60 ms for each');

### The order of locks

$server->safe_psql($db, 'SET ROLE alice; CREATE TABLE r.first (n int); CREATE TABLE r.second (n int) PARTITION BY LIST (n); CREATE TABLE r.part PARTITION OF r.second DEFAULT; CREATE SEQUENCE r.numbers; CREATE VIEW r.shown AS SELECT * FROM r.first');
for my $case ([ 'r.second', 'ROW EXCLUSIVE' ], [ 'r.part', 'ACCESS SHARE' ], [ 'r.numbers', '' ])
{
	my ($awaited, $mode) = @$case;
	my $held = $server->background_psql($db, on_error_die => 1);
	# It is the attempt that gives way, even if that stands still for a second.
	$held->query_safe(q{SET deadlock_timeout = '5min'; BEGIN; } . ($mode ? "LOCK TABLE ONLY $awaited IN $mode MODE" : "SELECT nextval('$awaited')"));
	$run = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr($db) . ' user=alice', '-c', q{CALL snowflake_try('LOCK TABLE r.first, r.second, r.numbers; ALTER TABLE r.first ADD tried int; ALTER TABLE r.first DROP tried', '5s', '1h')} ],
		'<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240 * slowness()));
	# The attempt that waits for it, with r.first or without. An attempt is a transaction of its own.
	my $waiting = sub {
		my ($with) = @_;
		# The view is read once: between two readings an attempt may end, or another one begin.
		return $server->safe_psql($db, "SELECT virtualtransaction FROM pg_locks WHERE relation IN ('$awaited'::regclass, 'r.first'::regclass) GROUP BY 1
			HAVING bool_or(relation = '$awaited'::regclass AND NOT granted) AND $with bool_or(relation = 'r.first'::regclass AND granted)");
	};
	my %seen;
	ok(wait_until('three attempts', sub { my $attempt = $waiting->(''); $seen{$attempt} = 1 if $attempt; return keys %seen > 2; }, sub { !$run->pumpable || $waiting->('NOT') }),
		"$awaited: as long as it is only in use, it is locked in its turn");
	ok(wait_until('a notice', sub { $run->pump_nb; $err =~ /NOTICE:  could not lock what the statements change\nDETAIL:  It was tried for \d+ s\. The last attempt, which waited for second, failed: .*\nHINT/ }, sub { !$run->pumpable }), '... and after ten seconds it says what it waits for')
	  if $awaited eq 'r.second';
	# The session now also waits for what an attempt holds.
	$held->query_until(qr/begun/, "\\echo begun\nDO \$do\$BEGIN LOOP PERFORM pg_sleep(0.01); EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE relation = 'r.first'::regclass AND granted); END LOOP;
		LOCK TABLE r.first IN ROW EXCLUSIVE MODE; END\$do\$;\n\\echo locked\n");
	like($held->query_until(qr/locked/, ''), qr/locked/, '... in a deadlock, the other session gets its lock');
	ok(wait_until("a wait for $awaited alone", sub { $waiting->('NOT') }, sub { !$run->pumpable }), '... and the next attempt locks r.first last');
	$held->quit;
	$run->finish;
	unlike($err, qr/ERROR/, '... until it gets its locks');
}

### Defaults

$server->safe_psql($db, 'CREATE SCHEMA d AUTHORIZATION alice; SET ROLE alice; CREATE TABLE d.t (id bigserial PRIMARY KEY, n int)');
$holder = $server->background_psql($db, on_error_die => 1);
$holder->query_safe(q{BEGIN; SELECT nextval('d.t_id_seq')});
($rc, $out, $err) = psql_as($server, 'alice', q{CALL snowflake_convert_defaults('d', give_up_after => '0s')});
like($err, qr/55P03: cannot convert 1 of the 1 keys of schema d\n.*other sessions use the table of column id of table d\.t/, 'a sequence that others use is left');
is($server->safe_psql($db, q{SELECT pg_get_expr(adbin, adrelid), to_regclass('d.t_id_seq') FROM pg_attrdef WHERE adrelid = 'd.t'::regclass}), 'snowflake_nextval()|d.t_id_seq', '... when the default has changed');
$holder->query_safe('INSERT INTO d.t (id) VALUES (1); COMMIT');
$holder->quit;
is((psql_as($server, 'alice', q{CALL snowflake_convert_defaults('d')}))[0], 0, '... and the next call');
is($server->safe_psql($db, q{SELECT to_regclass('d.t_id_seq') IS NULL}), 't', '... drops it');

### The switch

sub table { $server->safe_psql($db, 'SET client_min_messages = warning; DROP SCHEMA r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; SET ROLE alice; CREATE TABLE r.t (id serial PRIMARY KEY, n int); CREATE TABLE r.c (t_id int REFERENCES r.t);
	CREATE INDEX ON r.t ((id % 7)); INSERT INTO r.t (n) SELECT generate_series(1, 50); INSERT INTO r.c SELECT id FROM r.t'); return online_statements($server, { name => 'r' }); }

my @steps = table();
my ($switch) = grep { /check_switch/ } @steps;
@steps = before_switch(@steps);
like($switch, qr/\$try\$\n(SELECT public\.snowflake_check_switch\([^\n]*\);)\nLOCK TABLE [^\n]*;\n\1\n/, 'the switch is checked before its locks, and under them');
$holder = $server->background_psql($db, on_error_die => 1);
$holder->query_safe('BEGIN; LOCK TABLE r.t IN ACCESS SHARE MODE');
($rc, $out, $err) = psql_as($server, 'alice', "SET statement_timeout = '@{[ 60 * slowness() ]}s'; $switch");
like($err, qr/55000: the switch of column id of table r\.t is not due/, '... so one that is not due fails, whoever else uses the table');
$holder->quit;

# How often PostgreSQL plans during the checks. SPI's statements are counted, too.
$server->safe_psql($db, 'ALTER ROLE alice SET log_planner_stats = on');
is((psql_as($server, 'alice', join '', map { "$_\n;\n" } @steps))[0], 0, 'all steps up to the switch');
my ($check) = $switch =~ /^(SELECT public\.snowflake_check_switch.*)$/m;
my ($tables) = $switch =~ /^(LOCK TABLE .*)$/m;
my ($before, $under);
# Autovacuum may end plans in between.
for (1 .. 10)
{
	($rc, $out, $err) = psql_as($server, 'alice', "SET search_path = pg_catalog, pg_temp; SET client_min_messages = log; BEGIN; $check\n$tables\n\\warn under locks\n$check\n\\warn done\nROLLBACK");
	($before, $under) = map { my $n = () = /PLANNER STATISTICS/g; $n } $err =~ /\A(.*)^under locks$(.*)^done$/ms;
	last if $under < 8;
}
cmp_ok($before, '>', 40, 'the first check plans');
# But for the call itself and for functions of PostgreSQL that are written in SQL, such as
# obj_description().
cmp_ok($under, '<', 8, '... and the one under the locks does not');
$server->safe_psql($db, 'ALTER ROLE alice RESET ALL');
is(convert_online($server, { name => 'r' }), '', 'the table is converted');

figures('%d plans before the locks, %d under them; %d attempts for %d children', $before, $under, scalar keys %attempts, $children);
$server->stop('fast');
done_testing();
