# What an attempt of snowflake_try() costs others: all its locks share one deadline of 0.1 s, what the
# switch evaluates under its locks is planned before them, and a switch that is not due takes none.
# Not timings: the values of lock_timeout, the number of attempts, and the plans that PostgreSQL logs.
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
	my ($statements) = @_;
	my ($rc, $out, $err) = psql_as($server, 'alice', "CREATE TABLE r.seen (v text); SET lock_timeout = '7s'; CALL snowflake_try(\$\$$statements\$\$); SELECT pg_sleep(0.2); SELECT string_agg(v, ' ') FROM r.seen; SHOW lock_timeout; DROP TABLE r.seen");
	return $rc == 0 ? $out =~ s/\n/ /gr =~ s/^ +//r : $err;
}
is(seen("$note; $note"), '100ms 100ms 7s', 'an attempt may wait for 0.1 s');
is(seen("$note; SELECT pg_sleep(0.15); $note"), '100ms 1ms 7s', '... in all: afterwards it gets a lock at once, or fails');
is(seen("SELECT pg_sleep(0.15); $note; $note"), '100ms 100ms 7s', '... from the first statement on that may lock');
is(seen("SELECT pg_sleep(0.15); SELECT 1"), '7s', 'queries alone note nothing');
$server->safe_psql($db, 'SET ROLE alice; CREATE TABLE r.valid (n int); ALTER TABLE r.valid ADD CONSTRAINT valid CHECK (n > 0) NOT VALID');
is(seen("ALTER TABLE r.valid VALIDATE CONSTRAINT valid; SELECT pg_sleep(0.15); $note"), '100ms 7s', '... not if it reads rows, which takes long and keeps nobody waiting');
my ($rc, $out, $err) = psql_as($server, 'alice', q{SET lock_timeout = '7s'; \set ON_ERROR_STOP off
CALL snowflake_try($$CREATE TABLE r.no (); SELECT 1/0$$);
SELECT pg_sleep(0.2); SHOW lock_timeout});
like("$err$out", qr/22012.*7s\z/s, 'an attempt that fails leaves no deadline behind');

# One session has locked all children. It unlocks one whenever the attempt has waited 60 ms for it.
# If each lock had a timeout of its own, the first attempt would get all of them.
my $children = 5;
$server->safe_psql($db, 'SET ROLE alice; CREATE TABLE r.t (n int);' . join '', map { "CREATE TABLE r.t_$_ () INHERITS (r.t);" } 1 .. $children);
my $holder = $server->background_psql($db, on_error_die => 1);
$holder->query_safe('BEGIN; ' . join ' ', map { "SAVEPOINT s_$_; LOCK TABLE ONLY r.t_$_ IN ACCESS SHARE MODE;" } reverse 1 .. $children);
my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr($db) . ' user=alice', '-c', q{CALL snowflake_try('ALTER TABLE r.t ADD tried int')} ],
	'<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240 * slowness()));
my %attempts;
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
is($err, '', 'a table with children that are locked is changed');
cmp_ok(scalar(keys %attempts), '>=', $children - 1, '... and no attempt waits for several of the children, 60 ms for each');

### The switch

sub table { $server->safe_psql($db, 'SET client_min_messages = warning; DROP SCHEMA r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; SET ROLE alice; CREATE TABLE r.t (id serial PRIMARY KEY, n int); CREATE TABLE r.c (t_id int REFERENCES r.t);
	CREATE INDEX ON r.t ((id % 7)); INSERT INTO r.t (n) SELECT generate_series(1, 50); INSERT INTO r.c SELECT id FROM r.t'); return online_statements($server, { name => 'r' }); }

my @steps = table();
my $switch = pop @steps;
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
($rc, $out, $err) = psql_as($server, 'alice', "SET search_path = pg_catalog, pg_temp; SET client_min_messages = log; BEGIN; $check\n$tables\n\\warn under locks\n$check\n\\warn done\nROLLBACK");
my ($before, $under) = map { my $n = () = /PLANNER STATISTICS/g; $n } $err =~ /\A(.*)^under locks$(.*)^done$/ms;
cmp_ok($before, '>', 40, 'the first check plans');
# But for the call itself and for functions of PostgreSQL that are written in SQL, such as
# obj_description().
cmp_ok($under, '<', 8, '... and the one under the locks does not');
$server->safe_psql($db, 'ALTER ROLE alice RESET ALL');
is(convert_online($server, { name => 'r' }), '', 'the table is converted');

figures('%d plans before the locks, %d under them; %d attempts for %d children', $before, $under, scalar keys %attempts, $children);
$server->stop('fast');
done_testing();
