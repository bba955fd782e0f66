# Each call that converts says what a dry run says, and refuses what it would refuse, before it waits
# for a lock that keeps others out.
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $server = new_server('server', patient => 1, conf => "fsync = off\nwal_level = logical\n");
start_server($server);
# A narrow key and a wide one, each with what may stop working.
$server->safe_psql($db, q{CREATE EXTENSION snowflake_convert CASCADE; SELECT snowflake_nextval();
	CREATE FUNCTION note(integer) RETURNS void LANGUAGE sql AS '';
	CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM note(NEW.id); RETURN NULL; END';
	CREATE SCHEMA narrow; CREATE SCHEMA wide;
	CREATE TABLE narrow.film (id serial PRIMARY KEY, title text);
	CREATE TRIGGER changed AFTER INSERT ON narrow.film FOR EACH ROW EXECUTE FUNCTION changed();
	CREATE TABLE narrow.visit (film_id integer);
	CREATE TABLE narrow.closed (film_id integer REFERENCES narrow.film CHECK (film_id < 1000));
	CREATE TABLE wide.book (id bigserial PRIMARY KEY, title text);
	CREATE TABLE wide.loan (book_id integer);
	CREATE TABLE wide.closed (book_id bigint REFERENCES wide.book CHECK (book_id < 1000));
	SET client_min_messages = error; CREATE PUBLICATION all_of FOR ALL TABLES WITH (publish = 'insert')});

# The notices of a statement, without the figures of disk and locks, and its SQLSTATE.
sub said
{
	my ($sql) = @_;
	my (undef, undef, $err) = $server->psql($db, $sql, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	my ($state) = $err =~ /ERROR:\s+(\w{5}):/;
	my $notices = join '', grep { !/are? written anew|order of the columns|takes? (?:its|their) ids from snowflake_nextval|would take/ }
	  map { s/^LOCATION:.*\n?//mgr } $err =~ /NOTICE:  \w{5}: (.*?)(?=^(?:psql:\S+ )?(?:NOTICE|ERROR)|\z)/msg;
	return ($state // '00000', $notices, $err);
}

my $holder = $server->background_psql($db, on_error_die => 1);
my ($of_narrow, $of_wide) = (q{'narrow.film', 'id'}, q{'wide.book', 'id'});
# [what, a dry run, the call, whether it is undone].
for my $case (
	[ 'snowflake_convert', "SELECT snowflake_convert($of_narrow, dry_run => true, EXCLUDE)", "SELECT snowflake_convert($of_narrow, EXCLUDE)", 'narrow', 1 ],
	[ 'snowflake_convert of a wide key', "SELECT snowflake_convert($of_wide, dry_run => true, EXCLUDE)", "SELECT snowflake_convert($of_wide, EXCLUDE)", 'wide', 1 ],
	[ 'the first online call', "SELECT snowflake_convert($of_narrow, dry_run => true, EXCLUDE)", "SELECT snowflake_convert($of_narrow, online => true, EXCLUDE)", 'narrow', 0 ],
	[ 'snowflake_convert_all', q{SELECT snowflake_convert_all('narrow', dry_run => true, EXCLUDE)}, q{SELECT snowflake_convert_all('narrow', EXCLUDE)}, 'narrow', 1 ],
	[ 'snowflake_convert_defaults, as snowflake_convert_all', q{SELECT snowflake_convert_all('wide', dry_run => true, EXCLUDE)}, q{CALL snowflake_convert_defaults('wide', dry_run => true, EXCLUDE)}, 'wide', 0 ],
	# The last one, because it commits.
	[ 'snowflake_convert_defaults', q{CALL snowflake_convert_defaults('wide', dry_run => true, EXCLUDE)}, q{CALL snowflake_convert_defaults('wide', EXCLUDE, give_up_after => '0s')}, 'wide', 0 ])
{
	my ($what, $dry, $call, $schema, $undone) = @$case;
	my $excluded = "exclude => '{$schema.closed}'";
	my $with = sub { $_[0] =~ s/EXCLUDE/$excluded/r };
	my $without = sub { $_[0] =~ s/, EXCLUDE//r };
	my ($table) = $schema eq 'narrow' ? 'narrow.film' : 'wide.book';
	my (undef, $wanted) = said($with->($dry));
	like($wanted, qr/_id of table $schema\.closed takes no new ids.*$schema\.(?:visit|loan)/s, "$what: a dry run warns, of what is certain first") or diag($wanted);
	# Somebody reads the table.
	$holder->query_safe("BEGIN; LOCK TABLE $table IN ACCESS SHARE MODE");
	my ($state, $notices, $all) = said("SET lock_timeout = '200ms'; " . $with->($call));
	is($notices, $wanted, '... and the call says the same') or diag($all);
	is($state, $call =~ /online|dry_run/ ? '00000' : '55P03', '... before it waits for its locks') or diag($all);
	# What is certain is refused, before any lock, too.
	my ($dry_state, $dry_notices, $dry_all) = said($without->($dry));
	is($dry_state, '55000', '... what is certain is refused') or diag($dry_all);
	($state, $notices, $all) = said("SET lock_timeout = '200ms'; " . $without->($call));
	is("$state $notices", "$dry_state $dry_notices", '... by the call, too, while others use the table') or diag($all);
	like($all, qr/Constraint closed_\w+_check of table $schema\.closed refuses new ids.*Or name the referring table in exclude/s, '... by its name');
	$holder->query_safe('ROLLBACK');
	next unless $call =~ /convert_defaults/ && $call !~ /dry_run/ || $undone;
	($state, $notices, $all) = said($undone ? 'BEGIN; ' . $with->($call) . '; ROLLBACK' : $with->($call));
	is("$state $notices", "00000 $wanted", '... and with its locks') or diag($all);
}
# A look keeps no lock.
$holder->query_safe(q{SET client_min_messages = error; BEGIN; CALL snowflake_convert_defaults('wide', dry_run => true)});
is($holder->query_safe(q{SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'wide.book'::regclass}), '0', 'a dry run of the procedure keeps no lock');
# All keys together lock what is referred to first, whatever its name.
$server->safe_psql($db, q{CREATE SCHEMA shop; CREATE TABLE shop.orders (id serial PRIMARY KEY); CREATE TABLE shop.item (id serial PRIMARY KEY, o int REFERENCES shop.orders)});
$holder->query_safe('BEGIN; INSERT INTO shop.orders DEFAULT VALUES');
my $waiter = $server->background_psql($db, on_error_die => 1);
$waiter->query_until(qr/begins/, "SET client_min_messages = warning;\n\\echo begins\nSELECT snowflake_convert_all('shop');\n");
ok(wait_until('a wait', sub { $server->safe_psql($db, q{SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'}) }), 'snowflake_convert_all waits for a table');
$holder->query_safe('INSERT INTO shop.item (o) VALUES (1); COMMIT');
ok(wait_until('the conversion', sub { $server->safe_psql($db, q{SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.item'::regclass AND attname = 'id'}) eq 'bigint' }), '... and locks no other one meanwhile');
$waiter->quit;
$holder->quit;

# A key that is refused does not silence what concerns the others.
$server->safe_psql($db, q{CREATE TABLE narrow.other (id serial PRIMARY KEY); CREATE VIEW narrow.seen AS SELECT id FROM narrow.other});
my ($state, $notices) = said(q{SELECT snowflake_convert_all('narrow', dry_run => true, exclude => '{narrow.closed}')});
is($state, '55000', 'a dry run with a key that is refused');
like($notices, qr/takes no new ids.*narrow\.visit/s, '... warns of the others');

# Of many warnings, the first twenty are shown, and a query that returns all.
$server->safe_psql($db, join ';', map { "CREATE TABLE narrow.visit$_ (film_id integer)" } 1 .. 30);
my (undef, undef, $many) = said(q{SELECT snowflake_convert('narrow.film', 'id', dry_run => true, exclude => '{narrow.closed}')});
my ($more) = $many =~ /(\d+) more warnings are not shown/;
my ($query) = $many =~ /To see all, run (SELECT .*;)/;
is(() = $many =~ /^(?:psql:\S+ )?NOTICE/mg, 21, 'twenty warnings, and how many more');
is($server->safe_psql($db, "SELECT count(*) FROM ($query) AS w" =~ s/;\)/)/r), 20 + $more, '... which a query returns');

$server->stop('fast');
done_testing();
