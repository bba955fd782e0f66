# Queries in a COPY's triggers call the function itself, once for each row and anew each time, with
# plans that were made before this COPY, in it, and in another COPY (G1, G2). No plan shows another
# function.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('queries');

subtest 'queries in triggers call the function itself' => sub {
	value(q{CREATE TABLE log (what text, result text);
CREATE TABLE indexed AS SELECT snowflake_nextval() AS id FROM generate_series(1, 1000);
CREATE INDEX ON indexed (id);
ANALYZE indexed;
CREATE TABLE queried (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION query() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	a bigint; b bigint; last bigint := snowflake_nextval();
BEGIN
	INSERT INTO log SELECT 'subquery', count(*) || ' ' || count(DISTINCT x) || ' ' || count(*) FILTER (WHERE x = y)
		FROM (SELECT x, x AS y FROM (SELECT snowflake_nextval() AS x FROM generate_series(1, 100)) s) t;
	INSERT INTO log SELECT 'function', count(DISTINCT p) || ' ' || count(*) FILTER (WHERE p ~ '^(\d+)-\1$')
		FROM (SELECT pair(snowflake_nextval()) AS p FROM generate_series(1, 100)) s;
	INSERT INTO log SELECT 'values', count(DISTINCT x)
		FROM (VALUES (snowflake_nextval()), (snowflake_nextval()), (same(snowflake_nextval()))) v (x);
	INSERT INTO log SELECT 'limit', count(*) FROM (SELECT 1 FROM generate_series(1, 10) LIMIT snowflake_nextval()) s;
	-- A volatile condition is evaluated for each row.
	INSERT INTO log SELECT 'filter', count(*) FROM indexed WHERE id = snowflake_nextval() OR id < snowflake_nextval();
	PERFORM FROM indexed WHERE id = snowflake_nextval();
	PERFORM FROM indexed WHERE id >= same(snowflake_nextval());
	PERFORM FROM indexed WHERE pair(snowflake_nextval()) = 'x';
	CREATE TEMP TABLE made ON COMMIT DROP AS SELECT snowflake_nextval() AS x FROM generate_series(1, 100);
	INSERT INTO made SELECT snowflake_nextval() FROM generate_series(1, 100);
	INSERT INTO log SELECT 'made', count(DISTINCT x) FROM made;
	CREATE TEMP TABLE defaulted (n int, id bigint DEFAULT snowflake_nextval()) ON COMMIT DROP;
	INSERT INTO defaulted VALUES (1), (2), (3);
	INSERT INTO defaulted SELECT generate_series(4, 10);
	UPDATE defaulted SET id = DEFAULT WHERE n % 2 = 0;
	INSERT INTO log SELECT 'defaults', count(DISTINCT id) FROM defaulted;
	SELECT snowflake_nextval(), snowflake_nextval() INTO a, b;
	INSERT INTO log VALUES ('into', a < b);
	FOR i IN 1..100 LOOP
		a := snowflake_nextval();
		IF a <= last THEN RAISE '% after %', a, last; END IF;
		last := a;
	END LOOP;
	EXECUTE 'SELECT snowflake_nextval() - $1' INTO b USING snowflake_nextval();
	INSERT INTO log VALUES ('using', b > 0), ('currval', snowflake_currval() - b > a);
	RETURN NULL;
END $$;
CREATE TRIGGER query AFTER INSERT ON queried FOR EACH STATEMENT EXECUTE FUNCTION query()});
	my $expected = "currval|true\ndefaults|10\nfilter|1000\nfunction|100 100\ninto|true\nlimit|10\nmade|200\nsubquery|100 100 100\nusing|true\nvalues|3";
	my $look = 'SELECT what, result FROM log ORDER BY 1';
	my $insert = 'INSERT INTO queried (n) VALUES (1)';
	my $copy = "COPY queried (n) FROM '$file'";
	is(value("$insert; $look"), $expected, 'an INSERT');
	is(value("TRUNCATE log; $copy; $look"), $expected, 'a COPY');
	is(value("$copy; TRUNCATE log; $insert; $look"), $expected, 'an INSERT with plans that a COPY made');
	is(value("SET plan_cache_mode = force_generic_plan; $copy; TRUNCATE log; $copy; $look"), $expected, 'a COPY with plans that a COPY made');
	my ($nextval) = split /\|/, calls($insert);
	is(calls($copy), $nextval - 1 . "|$rows", 'a COPY\'s trigger calls the function as often as an INSERT\'s, and COPY\'s not once');

	# How the trigger's queries were planned while the COPY ran.
	my ($rc, $out, $plans) = $server->psql($db, "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;"
		. ' SET auto_explain.log_nested_statements = on; SET auto_explain.log_verbose = on; SET auto_explain.log_level = notice;'
		. " SET enable_seqscan = off; $copy");
	is($rc, 0, 'a COPY with auto_explain');
	my $count = () = $plans =~ /snowflake_nextval\(\)/g;
	cmp_ok($count, '>', 20, 'the plans show the function');
	is(scalar(() = $plans =~ /snowflake_copy_nextval|nextval\('/g), 0, '... and never COPY\'s');
	ok($plans =~ /Filter: \(indexed\.id = snowflake_nextval\(\)\)/, 'a volatile condition is a filter');
	is(scalar(() = $plans =~ /Index Cond: .*snowflake_nextval/g), 0, '... and no condition of an index');
};

finish();
