# Objects that were made during a COPY and are used after it, such as prepared statements, views,
# defaults, rules and functions, call the function itself. Nothing that is stored refers to another
# function (G1).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('made');

subtest 'what was made during a COPY and is used after it' => sub {
	value(q{CREATE TABLE making (n int, id bigint DEFAULT snowflake_nextval());
CREATE TABLE base (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION cached() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE a bigint := snowflake_nextval(); BEGIN RETURN (SELECT snowflake_nextval()) - a; END $$;
CREATE FUNCTION cast_() RETURNS text LANGUAGE plpgsql AS $$
DECLARE a text := snowflake_nextval(); d checked_id := snowflake_nextval(); BEGIN RETURN a; END $$;
CREATE FUNCTION make() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'PREPARE p AS SELECT snowflake_nextval() AS id, pair(snowflake_nextval())';
	EXECUTE 'PREPARE q (int) AS INSERT INTO base (n) VALUES ($1) RETURNING id';
	EXECUTE 'EXECUTE p'; EXECUTE 'EXECUTE p'; EXECUTE 'EXECUTE q (0)';
	PERFORM cached(); PERFORM cast_();
	CREATE VIEW made_view AS SELECT snowflake_nextval() AS id, pair(snowflake_nextval()) FROM generate_series(1, 10);
	CREATE MATERIALIZED VIEW made_matview AS SELECT snowflake_nextval() AS id FROM generate_series(1, 10);
	CREATE TABLE made_table (n int, id bigint DEFAULT snowflake_nextval() CHECK (id < snowflake_nextval()),
		d checked_id DEFAULT snowflake_nextval());
	CREATE RULE made_rule AS ON INSERT TO base WHERE NEW.n > 100
		DO ALSO INSERT INTO made_table SELECT NEW.n, snowflake_nextval() FROM generate_series(1, 10);
	CREATE FUNCTION made_function() RETURNS bigint LANGUAGE sql RETURN snowflake_nextval();
	CREATE FUNCTION made_default(a bigint DEFAULT snowflake_nextval()) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
	CREATE DOMAIN made_domain AS bigint DEFAULT snowflake_nextval() CHECK (VALUE < snowflake_nextval());
	CREATE TRIGGER made_trigger AFTER INSERT ON made_table FOR EACH ROW WHEN (NEW.id < snowflake_nextval())
		EXECUTE FUNCTION run('SELECT 1');
	CREATE POLICY made_policy ON base USING (id < snowflake_nextval());
	CREATE STATISTICS made_statistics ON n, (id > 0) FROM base;
	RETURN NULL;
END $$;
CREATE TRIGGER make AFTER INSERT ON making FOR EACH STATEMENT EXECUTE FUNCTION make()});
	my $session = $server->background_psql($db, on_error_stop => 0);
	my ($out, $error) = ask($session, "COPY making (n) FROM '$file'");
	is($error, '', 'the COPY');
	for my $query ('EXECUTE p', 'EXECUTE q (1)', 'SELECT * FROM made_view', 'INSERT INTO base (n) VALUES (101)',
		'SELECT made_function(), made_default()', 'INSERT INTO made_table (n) VALUES (1)')
	{
		($out, $error) = ask($session, "EXPLAIN (VERBOSE, COSTS OFF) $query");
		is($error, '', "EXPLAIN $query");
		like($out, qr/snowflake_nextval\(\)/, '... shows the function');
		unlike($out, qr/snowflake_copy_nextval|nextval\('/, '... and not COPY\'s');
	}
	($out, $error) = ask($session, join "\n", 'SELECT pg_stat_force_next_flush() \gset', 'BEGIN;', 'EXECUTE p \gset', 'EXECUTE q (2) \gset',
		'SELECT count(*) FROM made_view \gset', 'INSERT INTO base (n) VALUES (102);', 'SELECT made_function() < made_default() AS rises \gset',
		'SELECT cached() > 0 AS c \gset', 'REFRESH MATERIALIZED VIEW made_matview;',
		'INSERT INTO made_table (n) SELECT generate_series(1, 5);', 'SELECT 1::made_domain \gset', 'SELECT copy_nextval FROM calls;', 'COMMIT;');
	is("$out$error", 0, 'nothing of it calls COPY\'s function');
	is(value('SELECT count(*) = count(DISTINCT id), count(*) FROM made_table'), 't|15', 'ids of the table, the rule\'s among them');
	is(value('SELECT count(DISTINCT id) FROM made_matview'), 10, 'ids of the materialized view');
	($out, $error) = ask($session, q{DO $$
BEGIN FOR i IN 1..100 LOOP IF cached() <= 0 OR cast_() = cast_() THEN RAISE 'the same id'; END IF; END LOOP; END $$;
EXECUTE p \gset a_
EXECUTE p \gset b_
SELECT :a_id < :b_id, split_part(:'b_pair', '-', 1) = split_part(:'b_pair', '-', 2)});
	is("$out$error", 't|t', 'cached plans and simple expressions give an id each time');
	$session->quit;
	is(value(q{SELECT count(*) FROM (SELECT adbin::text FROM pg_attrdef UNION ALL SELECT conbin::text FROM pg_constraint
	UNION ALL SELECT ev_action::text FROM pg_rewrite UNION ALL SELECT prosqlbody::text FROM pg_proc
	UNION ALL SELECT proargdefaults::text FROM pg_proc UNION ALL SELECT tgqual::text FROM pg_trigger
	UNION ALL SELECT typdefaultbin::text FROM pg_type UNION ALL SELECT polqual::text FROM pg_policy
	UNION ALL SELECT stxexprs::text FROM pg_statistic_ext) t (tree)
WHERE tree ~ (':funcid ' || 'snowflake_copy_nextval(internal)'::regprocedure::oid || ' ')}), 0, 'no stored expression calls COPY\'s function');
	is(value(q{SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_proc'::regclass
		AND refobjid = 'snowflake_copy_nextval(internal)'::regprocedure}), 0, '... and nothing depends on it');
};

finish();
