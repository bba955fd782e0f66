-- Bounds that keep new ids out: of partitions, and of checks. Refused, for referring columns, too, unless their tables are excluded.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;
\set SHOW_CONTEXT never
-- That of pg_regress is refused if checks or indexes are made again.
SET DateStyle = ISO;
-- The refusal of a table's column id, in all forms, or the number of statements. Ids vary, so they are shown as N.
CREATE FUNCTION tried(call text, VARIADIC arguments text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint; detail text; hint text;
BEGIN
    EXECUTE format(call, VARIADIC arguments) INTO n;
    RETURN format('%s statements', n);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN regexp_replace(concat_ws(E'\n', sqlstate || ' ' || sqlerrm, detail, hint), '\d{15,}', 'N', 'g');
END $$;
CREATE FUNCTION bounds(relation text) RETURNS TABLE (form text, result text) LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL client_min_messages = warning;
    FOR form, result IN SELECT f, tried(CASE f WHEN 'all' THEN $q$SELECT count(*) FROM snowflake_convert_all('public', dry_run => true)$q$
            ELSE 'SELECT count(*) FROM snowflake_convert(%L, ''id'', %s)' END, relation, f)
        FROM unnest('{dry_run => true,online => true,all,"dry_run => true, target => ''bigint''"}'::text[]) f LOOP
        result := regexp_replace(result, E'\nOr name the tables of these keys.*', '');
        RETURN NEXT;
    END LOOP;
END $$;
\pset format unaligned
\pset tuples_only on

--
-- Checks of the column, in each form that the planner understands, and others
--
CREATE TABLE t (id serial PRIMARY KEY, kind text);
ALTER TABLE t ADD CHECK (id < 1000000);
SELECT * FROM bounds('t');
SELECT snowflake_convert('t', 'id');
CREATE FUNCTION with_check(condition text, type text DEFAULT 'integer') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE format('ALTER TABLE t DROP CONSTRAINT IF EXISTS c, DROP CONSTRAINT IF EXISTS t_id_check, ALTER id TYPE %s, ADD CONSTRAINT c CHECK (%s) NOT VALID',
        type, condition);
    answer := split_part(tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', dry_run => true)'), E'\n', 1);
    RETURN format('%s, %s: %s', condition, type, answer);
END $$;
SET client_min_messages = warning;
SELECT with_check(c, type) FROM unnest('{
    id < 1000000,1000000 > id,id <= 2147483647,id = 7,id BETWEEN 1 AND 1000000,"id IN (1, 2, 3)","id = ANY (''{1,2}'')",
    NOT id >= 1000000,id < 0 OR id BETWEEN 1 AND 9,id < 9000000000,id < 1000 * 1000,id < 1000000::bigint,id < 1000000::smallint::integer,
    id < ''1000000''::text::integer,kind = ''x'' AND id < 9,id IS NULL,id < 5 AND length(kind) < 9}'::text[]) c, unnest('{integer,bigint}'::text[]) type
WHERE NOT (c ~ 'smallint' OR type = 'bigint' AND c ~ '<= 2147483647 ');
SELECT with_check('id < 100', 'smallint');
-- Casts of the column to a wider type.
SELECT with_check(c, type) FROM unnest('{
    id::bigint < 1000,1000 >= id::bigint,"id::bigint IN (1, 2, 3)",kind = ''x'' AND NOT id::bigint > 9,id < 5 OR id::bigint = 7}'::text[]) c,
    unnest('{smallint,integer,bigint}'::text[]) type;
SELECT with_check(c, 'smallint') FROM unnest('{id::integer < 1000,"id::integer IN (1, 2, 3)"}'::text[]) c;
SELECT regexp_replace(with_check(format('id::bigint IN (1%s)', string_agg(', ' || n, ''))), '2, .* 149', '...') FROM generate_series(2, 150) n;
-- Lists of more than 100 values, which the planner does not look into. They are not shown whole.
SELECT regexp_replace(with_check(format(c, list), type), '2, .* 149', '...')
FROM unnest('{id IN (1%s),NOT id NOT IN (1%s),"id = ANY (''{1%s}'')","id IN (1%s, 9223372036854775807)"}'::text[]) c,
    unnest('{integer,bigint}'::text[]) type, (SELECT string_agg(', ' || n, '') FROM generate_series(2, 150) n) AS l(list)
WHERE NOT (c ~ '922' AND type = 'integer');
SELECT with_check(format('id = ANY (''{%s}'')', string_agg(n::text, ','))) LIKE '%: 55000 %' AS refused FROM generate_series(1, 150) n;
SELECT snowflake_convert('t', 'id', dry_run => true);
-- New ids pass these, or nobody can tell.
SELECT with_check(c) FROM unnest('{
    id > 0,id <> 7,id < 9 OR kind = ''old'',id < 9 OR id > 1000000000000,id >= 1 AND id <> 5,"id NOT IN (1, 2)",id < 9223372036854775807,kind < ''x'',
    length(id::text) < 5,id % 2 = 0,id::numeric < 5,id::bigint > 5,id::bigint <> 7,id::bigint < 9223372036854775807,id::bigint < length(kind),id < length(kind),id > id,id < NULL,(id < NULL) IS NOT TRUE}'::text[]) c;
RESET client_min_messages;
DROP TABLE t;
-- Of a child, and for a whole tree.
CREATE TABLE t (id serial PRIMARY KEY);
CREATE TABLE t_child (CHECK (id < 1000)) INHERITS (t);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
SELECT kind, object, message, detail, hint FROM snowflake_convert_warnings('t', 'id');
ALTER TABLE t ADD CONSTRAINT top CHECK (id < 2000);
SELECT * FROM bounds('t') WHERE form !~ 'target';
DROP TABLE t, t_child;
-- A check that new rows need not pass is none; one that is not inherited holds for its table alone.
CREATE TABLE t (id bigserial PRIMARY KEY, CONSTRAINT c CHECK (id < 5) NO INHERIT);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t;

-- Partitions by lists of more than 100 values.
CREATE TABLE t (id bigserial PRIMARY KEY) PARTITION BY LIST (id);
SELECT format('CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (%s)', string_agg(n::text, ', ')) FROM generate_series(1, 150) n \gexec
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t;

--
-- Partitions by the key: range
--
CREATE TABLE t (id bigserial PRIMARY KEY, day date, kind text) PARTITION BY RANGE (id);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO (1000000);
CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (1000000) TO (2000000);
SELECT * FROM bounds('t');
SELECT snowflake_least_new_id() AS least \gset
CREATE TABLE t_new PARTITION OF t FOR VALUES FROM (:least) TO (MAXVALUE);
SELECT * FROM bounds('t');
SELECT * FROM snowflake_convert_warnings('t', 'id');
-- A check of the one that could take them.
ALTER TABLE t_new ADD CONSTRAINT small CHECK (id < 9);
SELECT * FROM bounds('t') WHERE form !~ 'target';
ALTER TABLE t_new DROP CONSTRAINT small;
-- A closed partition is in order.
ALTER TABLE t_1 ADD CONSTRAINT small CHECK (id < 1000000);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
SELECT * FROM snowflake_convert_warnings('t', 'id');
DROP TABLE t_new;
CREATE TABLE t_default PARTITION OF t DEFAULT;
SELECT * FROM bounds('t') WHERE form ~ '^dry';
SELECT snowflake_convert('t', 'id', online => true) \gexec
INSERT INTO t (kind) VALUES ('x') RETURNING tableoid::regclass;
DROP TABLE t;
-- Several columns, several levels: one region takes new ids, the other does not.
CREATE TABLE t (id bigserial, region text) PARTITION BY LIST (region);
CREATE TABLE t_eu PARTITION OF t FOR VALUES IN ('eu') PARTITION BY RANGE (id, region);
CREATE TABLE t_eu_1 PARTITION OF t_eu FOR VALUES FROM (0, MINVALUE) TO (1000000, MAXVALUE);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
CREATE TABLE t_eu_2 PARTITION OF t_eu FOR VALUES FROM (2000000, MINVALUE) TO (MAXVALUE, MAXVALUE);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
CREATE TABLE t_us PARTITION OF t FOR VALUES IN ('us') PARTITION BY RANGE (id);
CREATE TABLE t_us_1 PARTITION OF t_us FOR VALUES FROM (0) TO (1000000);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t;
-- By another column.
CREATE TABLE t (id bigserial, region text) PARTITION BY LIST (region);
CREATE TABLE t_eu PARTITION OF t FOR VALUES IN ('eu');
CREATE TABLE t_us PARTITION OF t (CHECK (id < 9)) FOR VALUES IN ('us');
SELECT * FROM bounds('t') WHERE form ~ '^dry';
SELECT * FROM snowflake_convert_warnings('t', 'id');
DROP TABLE t;

--
-- List and hash
--
CREATE TABLE t (id bigserial) PARTITION BY LIST (id);
CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1, 2, NULL);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
CREATE TABLE t_default PARTITION OF t DEFAULT;
SELECT * FROM bounds('t') WHERE form ~ '^dry';
SELECT snowflake_convert('t', 'id');
INSERT INTO t DEFAULT VALUES RETURNING tableoid::regclass;
DROP TABLE t;
CREATE TABLE t (id bigserial) PARTITION BY HASH (id);
CREATE TABLE t_0 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t;
-- A narrow key of partitions cannot be converted at all.
CREATE TABLE t (id serial) PARTITION BY RANGE (id);
CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (1000000);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t;

--
-- Columns that refer: a warning
--
CREATE TABLE t (id bigserial PRIMARY KEY);
CREATE TABLE by_range (t_id bigint REFERENCES t) PARTITION BY RANGE (t_id);
CREATE TABLE by_range_1 PARTITION OF by_range FOR VALUES FROM (0) TO (1000000);
CREATE TABLE by_list (t_id bigint REFERENCES t) PARTITION BY LIST (t_id);
CREATE TABLE by_list_1 PARTITION OF by_list FOR VALUES IN (1, 2);
CREATE TABLE by_hash (t_id bigint REFERENCES t) PARTITION BY HASH (t_id);
CREATE TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE by_default (t_id bigint REFERENCES t) PARTITION BY RANGE (t_id);
CREATE TABLE by_default_1 PARTITION OF by_default DEFAULT;
CREATE TABLE checked (t_id integer REFERENCES t CHECK (t_id BETWEEN 1 AND 1000000), positive_id integer REFERENCES t CHECK (positive_id > 0));
SELECT kind, object, message, detail, regexp_replace(hint, '\d{15,}', 'N') FROM snowflake_convert_warnings('t', 'id');
SELECT count(*) FROM snowflake_convert_warnings('t', 'id', target => 'bigint');
-- Each call refuses them, before it does anything, unless these tables are excluded: then each call warns of them.
SELECT * FROM bounds('t');
SELECT tried('CALL snowflake_convert_defaults(''public'', dry_run => true)');
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'')');
SELECT tried('SELECT count(*) FROM snowflake_convert_all(''public'')');
\set VERBOSITY terse
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', %s, exclude => ''{by_range,by_list,checked}'')', a) FROM unnest('{dry_run => true,online => true}'::text[]) a;
SELECT tried('SELECT count(*) FROM snowflake_convert_all(''public'', dry_run => true, exclude => ''{by_range,by_list,checked}'')');
SELECT tried('CALL snowflake_convert_defaults(''public'', ''{by_range,by_list,checked}'', dry_run => true)');
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', exclude => ''{by_range,by_list_1}'')');
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', exclude => ''{t}'')');
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', exclude => ''{NULL}'')');
\pset tuples_only off
SELECT count(*) FROM snowflake_convert('t', 'id', exclude => '{by_range,by_list,checked}');
\set VERBOSITY default
-- Once it is converted, nothing is refused any more.
SELECT count(*) FROM snowflake_convert('t', 'id');
INSERT INTO t DEFAULT VALUES;
INSERT INTO by_default SELECT id FROM t;
\set VERBOSITY sqlstate
INSERT INTO by_range SELECT id FROM t;
INSERT INTO by_list SELECT id FROM t;
INSERT INTO checked (t_id) SELECT id FROM t;
\set VERBOSITY default
INSERT INTO checked (positive_id) SELECT id FROM t;
DROP TABLE t, by_range, by_list, by_hash, by_default, checked;
\pset tuples_only on

--
-- None of these run: functions, operators, casts and domains of others, in checks and in keys of partitions.
--
SET client_min_messages = warning;
CREATE FUNCTION trap(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'a trap'; RETURN $1; END $$;
CREATE FUNCTION trap(integer, integer) RETURNS boolean IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'a trap'; RETURN $1 < $2; END $$;
CREATE OPERATOR <<< (FUNCTION = trap, LEFTARG = integer, RIGHTARG = integer);
CREATE DOMAIN trapped AS integer CHECK (trap(VALUE) > 0);
CREATE TABLE t (id bigserial, CHECK (id < trap(9)), CHECK (trap(2) > 1 AND id < 5), CHECK (id::integer <<< 9 OR 9 <<< 3), CHECK (id = 5::trapped))
    PARTITION BY RANGE (id, (id % trap(3)));
CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0, 0) TO (5, 0);
CREATE TABLE unknown (id bigserial, CHECK (id < NULL AND trap(1) > 0));
\c
\pset tuples_only on
\pset format unaligned
SELECT kind, object, detail FROM snowflake_convert_warnings('t', 'id');
-- A check that is null is passed.
SELECT kind, object, detail FROM snowflake_convert_warnings('unknown', 'id') WHERE kind = 'bound';
-- This does.
SELECT FROM t;
SET client_min_messages = warning;
DROP TABLE t, unknown;
RESET client_min_messages;
DROP OPERATOR <<< (integer, integer);
DROP DOMAIN trapped;
DROP FUNCTION trap(integer), trap(integer, integer);

--
-- Expressions over the column alone that are too narrow for new ids
--
CREATE TABLE t (id bigserial PRIMARY KEY, n integer);
CREATE FUNCTION answer() RETURNS text LANGUAGE sql AS $$
    SELECT replace(tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', dry_run => true)'), E'\n', ' / ') $$;
CREATE FUNCTION with_expression(expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    given text;
BEGIN
    EXECUTE format('CREATE INDEX i ON t ((%s))', expression);
    given := answer();
    DROP INDEX i;
    RETURN format('%s: %s', expression, given);
END $$;
CREATE FUNCTION narrowed(bigint) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'a trap'; RETURN $1::integer; END $$;
SET client_min_messages = notice;
SELECT with_expression(e) FROM unnest('{
    id::integer,id::smallint,id * 100,id * 100 + n,-id::integer,"int4range(id::integer, n)",CASE WHEN id > 7 THEN id::integer END,
    id / 100,id % 1000,id::numeric * 100,length(id::text),id + n,n * 100,n::smallint,CASE WHEN id < 7 THEN id::integer END,narrowed(id)}'::text[]) e;
CREATE INDEX i ON t (n) WHERE id::integer > 5;
SELECT answer();
DROP INDEX i;
ALTER TABLE t ADD CONSTRAINT c CHECK (id::integer > 5 OR n IS NULL);
SELECT answer();
ALTER TABLE t DROP CONSTRAINT c, ADD old_id integer GENERATED ALWAYS AS (id::integer) STORED;
SELECT * FROM bounds('t');
CALL snowflake_convert_defaults('public');
INSERT INTO t DEFAULT VALUES;
ALTER TABLE t DROP old_id;
-- A referring column is refused, too; tables below are a warning.
CREATE TABLE c (t_id bigint REFERENCES t, old_id integer GENERATED ALWAYS AS (t_id::integer) STORED);
CREATE TABLE below (CHECK (id::integer > 5)) INHERITS (t);
SELECT kind, object, message, detail, hint FROM snowflake_convert_warnings('t', 'id') WHERE kind = 'bound';
SELECT answer();
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', dry_run => true, exclude => ''{c}'')');
DROP TABLE t, c, below;
-- A narrow column is read with its casts: smallint has no % with integer.
SET DateStyle = ISO;
CREATE TABLE t (id smallserial PRIMARY KEY, n integer);
SELECT with_expression(e) FROM unnest('{id % 10,id::integer,id * 10,id + n,id::bigint % 10,id % 10::smallint,CASE WHEN id < 7 THEN id::integer END}'::text[]) e;
CREATE INDEX i ON t (n) WHERE id % 10 = 3;
SELECT * FROM bounds('t');
DROP TABLE t;
CREATE TABLE t (id serial PRIMARY KEY, n integer);
SELECT with_expression(e) FROM unnest('{id % 10,id::smallint,id * 10,id::integer,id::bigint % 10,id % 10::smallint,narrowed(id)}'::text[]) e;
CREATE TABLE c (t_id smallint REFERENCES t, CHECK (t_id % 10 <> 5));
SELECT answer();
DROP TABLE t, c;
DROP FUNCTION with_expression, answer, narrowed;

--
-- Checks of domains at referring columns: of the domain itself, of one below it, with arrays; and checks on such columns
--
CREATE DOMAIN few AS bigint CHECK (VALUE < 1000);
CREATE DOMAIN fewer AS few CHECK (VALUE <> 7);
CREATE DOMAIN listed AS bigint CHECK (VALUE IN (1, 2));
CREATE DOMAIN positive AS bigint CHECK (VALUE > 0) CHECK (VALUE IN (1, 2) OR VALUE > 100);
CREATE DOMAIN high AS positive CHECK (VALUE BETWEEN 200 AND 300);
CREATE TABLE t (id serial PRIMARY KEY);
CREATE TABLE fine (t_id positive REFERENCES t CHECK (t_id <> 5));
SELECT * FROM bounds('t') WHERE form ~ '^dry';
CREATE TABLE a (t_id few REFERENCES t);
CREATE TABLE b (t_id fewer REFERENCES t, CHECK (t_id < 77), CHECK (t_id < 88));
CREATE TABLE c (t_id listed REFERENCES t);
CREATE TABLE d (t_id high REFERENCES t);
CREATE TABLE e (t_id positive REFERENCES t CHECK (t_id < 500));
CREATE TABLE f (t_id positive REFERENCES t CONSTRAINT also CHECK (t_id IN (1, 2)));
SELECT * FROM bounds('t') WHERE form ~ '^dry';
SELECT tried('SELECT count(*) FROM snowflake_convert(''t'', ''id'', dry_run => true, exclude => ''{a,b,c,d,e,f}'')');
ALTER DOMAIN few DROP CONSTRAINT few_check;
ALTER DOMAIN listed DROP CONSTRAINT listed_check;
ALTER DOMAIN high DROP CONSTRAINT high_check;
ALTER TABLE b DROP CONSTRAINT b_t_id_check, DROP CONSTRAINT b_t_id_check1;
ALTER TABLE e DROP CONSTRAINT e_t_id_check;
ALTER TABLE f DROP CONSTRAINT also;
SELECT count(*) > 0 AS converted FROM snowflake_convert('t', 'id');
WITH new AS (INSERT INTO t DEFAULT VALUES RETURNING id),
    a AS (INSERT INTO a SELECT id FROM new), b AS (INSERT INTO b SELECT id FROM new),
    c AS (INSERT INTO c SELECT id FROM new), d AS (INSERT INTO d SELECT id FROM new),
    e AS (INSERT INTO e SELECT id FROM new), f AS (INSERT INTO f SELECT id FROM new)
INSERT INTO fine SELECT id FROM new;
DROP TABLE fine, a, b, c, d, e, f, t;
DROP DOMAIN few, fewer, listed, positive, high CASCADE;

--
-- The topmost table that is divided by the column decides; a check that is not inherited keeps ids out of its own table
--
CREATE TABLE t (id bigserial, n integer) PARTITION BY RANGE (id);
CREATE TABLE t_old PARTITION OF t FOR VALUES FROM (MINVALUE) TO (1000000) PARTITION BY HASH (id);
CREATE TABLE t_old_0 PARTITION OF t_old FOR VALUES WITH (MODULUS 1, REMAINDER 0);
CREATE TABLE t_new PARTITION OF t FOR VALUES FROM (1000000) TO (2000000);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
CREATE TABLE t_rest PARTITION OF t DEFAULT PARTITION BY RANGE (n);
CREATE TABLE t_rest_0 PARTITION OF t_rest DEFAULT;
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t;
CREATE TABLE t (id bigserial, CONSTRAINT here CHECK (id < 1000) NO INHERIT);
CREATE TABLE below () INHERITS (t);
SELECT * FROM bounds('t') WHERE form ~ '^dry';
DROP TABLE t, below;
-- Checks of a table below may come from another one above it.
CREATE TABLE t (id bigserial PRIMARY KEY);
CREATE TABLE beside (id bigint, CONSTRAINT first CHECK (id < 1000), CONSTRAINT second CHECK (id < 2000));
CREATE TABLE below () INHERITS (t, beside);
SELECT object, detail, hint FROM snowflake_convert_warnings('t', 'id') WHERE kind = 'bound';
DROP TABLE t, beside, below;

DROP FUNCTION bounds, with_check, tried;
DROP EXTENSION snowflake_convert, snowflake;
