# An ordinary role cannot call the function that COPY evaluates by any SQL, nor make it a default,
# because the function takes an argument of type internal. Superusers can find ways to call it, and
# the server survives them.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('sql');

my $trials = 0;

my @sql = (
	'SELECT snowflake_copy_nextval()', 'SELECT snowflake_copy_nextval(NULL)', q{SELECT snowflake_copy_nextval('')},
	'SELECT snowflake_copy_nextval(1)', 'SELECT snowflake_copy_nextval(NULL::internal)', 'SELECT snowflake_copy_nextval(CAST(1 AS internal))',
	q{SELECT snowflake_copy_nextval('1'::text::internal)}, 'SELECT snowflake_copy_nextval(VARIADIC ARRAY[1])',
	'SELECT snowflake_copy_nextval(x) FROM (SELECT NULL) AS t(x)', q{SELECT snowflake_copy_nextval(x) FROM json_to_record('{}') AS t(x internal)},
	q{SELECT snowflake_copy_nextval(internal_in('1'))}, 'SELECT snowflake_copy_nextval(snowflake_nextval_support(NULL))',
	'SELECT * FROM snowflake_copy_nextval(NULL::internal)', 'SELECT * FROM probe TABLESAMPLE snowflake_copy_nextval (1)',
	'PREPARE p(internal) AS SELECT snowflake_copy_nextval($1); EXECUTE p(NULL)',
	q{PREPARE p(internal) AS SELECT snowflake_copy_nextval($1); EXECUTE p('1')},
	'PREPARE p AS SELECT snowflake_copy_nextval($1); EXECUTE p(NULL)',
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE sql AS 'SELECT snowflake_copy_nextval($1)'},
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN snowflake_copy_nextval($1); END'},
	q{CREATE FUNCTION f() RETURNS internal LANGUAGE sql AS 'SELECT 1'},
	'CREATE FUNCTION f(bigint DEFAULT snowflake_copy_nextval(NULL)) RETURNS bigint LANGUAGE sql RETURN $1',
	'DO $$ DECLARE i internal; BEGIN PERFORM snowflake_copy_nextval(i); END $$', 'DO $$ BEGIN PERFORM snowflake_copy_nextval(NULL); END $$',
	q{DO $$ BEGIN EXECUTE 'SELECT snowflake_copy_nextval($1)' USING NULL; END $$},
	'CREATE TABLE f (id bigint DEFAULT snowflake_copy_nextval(NULL))', 'CREATE TABLE f (id bigint CHECK (snowflake_copy_nextval(NULL) > 0))',
	'CREATE TABLE f (i internal)', 'CREATE VIEW f AS SELECT snowflake_copy_nextval(NULL::internal)',
	'CREATE DOMAIN f AS bigint DEFAULT snowflake_copy_nextval(NULL)', 'CREATE DOMAIN f AS internal',
	'CREATE CAST (internal AS bigint) WITH FUNCTION snowflake_copy_nextval(internal)',
	'CREATE CAST (bytea AS bigint) WITH FUNCTION snowflake_copy_nextval(internal)',
	'CREATE TRIGGER f AFTER INSERT ON probe FOR EACH ROW EXECUTE FUNCTION snowflake_copy_nextval()',
	'CREATE EVENT TRIGGER f ON ddl_command_end EXECUTE FUNCTION snowflake_copy_nextval()',
	'CREATE OPERATOR !!!! (PROCEDURE = snowflake_copy_nextval, RIGHTARG = internal); SELECT !!!! NULL',
	'CREATE TYPE f AS RANGE (subtype = bigint, canonical = snowflake_copy_nextval)', 'CALL snowflake_copy_nextval(NULL)',
	'COPY (SELECT snowflake_copy_nextval(NULL)) TO STDOUT', q{COPY probe (n) FROM PROGRAM 'seq 3' WHERE snowflake_copy_nextval(NULL) > 0});

# Only superusers can create objects that hold or pass a value of type internal.
my @by_superusers = (
	'CREATE AGGREGATE f(bigint) (sfunc = int8_avg_accum, stype = internal, finalfunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(bigint) (sfunc = int8inc, stype = bigint, msfunc = int8_avg_accum, minvfunc = int8_avg_accum_inv,'
	  . ' mstype = internal, mfinalfunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(VARIADIC "any") (sfunc = ordered_set_transition_multi, stype = internal, finalfunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(internal) (sfunc = snowflake_copy_nextval, stype = internal)',
	'CREATE AGGREGATE f(bigint) (sfunc = snowflake_copy_nextval, stype = bigint)',
	'CREATE AGGREGATE f(bigint) (sfunc = int8inc, stype = bigint, combinefunc = snowflake_copy_nextval)',
	'CREATE AGGREGATE f(*) (sfunc = int8inc, stype = bigint, finalfunc = snowflake_copy_nextval)',
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE c AS 'snowflake', 'snowflake_copy_nextval'},
	q{CREATE FUNCTION f() RETURNS bigint LANGUAGE c AS 'snowflake', 'snowflake_copy_nextval'},
	q{CREATE FUNCTION f(internal) RETURNS bigint LANGUAGE internal AS 'int8inc'},
	'CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SUPPORT snowflake_nextval_support RETURN 1::bigint',
	'CREATE LANGUAGE f HANDLER plpgsql_call_handler INLINE snowflake_copy_nextval',
	'CREATE ACCESS METHOD f TYPE TABLE HANDLER snowflake_copy_nextval', 'CREATE FOREIGN DATA WRAPPER f HANDLER snowflake_copy_nextval',
	'CREATE TRANSFORM FOR bigint LANGUAGE plpgsql (TO SQL WITH FUNCTION snowflake_copy_nextval(internal))',
	'CREATE TYPE f (input = int8in, output = int8out, typmod_in = snowflake_copy_nextval)',
	'CREATE OPERATOR CLASS f FOR TYPE bigint USING btree AS FUNCTION 2 snowflake_copy_nextval(internal)',
	'ALTER FUNCTION snowflake_copy_nextval(internal) IMMUTABLE', 'ALTER FUNCTION snowflake_copy_nextval(internal) OWNER TO mallory',
	'DROP FUNCTION snowflake_copy_nextval(internal)', 'ALTER FUNCTION snowflake_nextval() STABLE',
	'CREATE OR REPLACE FUNCTION snowflake_copy_nextval(internal) RETURNS bigint LANGUAGE sql RETURN 1::bigint');

# Tries each statement separately, in one session. Every version refuses it, with different errors.
sub are_refused
{
	my ($role, @statements) = @_;
	my (undef, $out) = $server->psql($db,
		join("\n", "SET ROLE $role;", map { "\\echo try\nBEGIN;\n$_;\n\\echo :ERROR\nROLLBACK;" } @statements), on_error_stop => 0);
	my (undef, @tries) = split /^try\n/m, $out;
	is(scalar @tries, scalar @statements, "$role: tries");
	ok(($tries[$_] // '') =~ /^true$/m, "$role: $statements[$_]") for 0 .. $#statements;
	$trials += @statements;
	return;
}

subtest 'no SQL calls COPY\'s function' => sub {
	value("CREATE ROLE mallory; GRANT CREATE ON DATABASE $db TO mallory; GRANT CREATE ON SCHEMA public TO mallory");
	is(value('SET ROLE mallory; BEGIN; CREATE AGGREGATE f(bigint) (sfunc = int8pl, stype = bigint); SELECT f(x) FROM (VALUES (1), (2)) v (x)'), 3,
		'an ordinary role makes aggregates');
	are_refused(value('SELECT current_user'), @sql);
	are_refused('mallory', @sql, @by_superusers);
	# A superuser can. The server survives that.
	isnt((query_error($server, $db, "$by_superusers[0]; SELECT f(1)"))[0], '00000', 'an aggregate that a superuser made');
	isnt((query_error($server, $db, "$by_superusers[8]; SELECT f()"))[0], '00000', 'a function without the argument that a superuser made');
	is(calls('INSERT INTO probe VALUES (1)'), '1|0', 'the server is well');
};

diag("$trials trials");

finish();
