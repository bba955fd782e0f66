-- COPY FROM evaluates snowflake_nextval() for every row, and nothing else is different while it runs. How the rows are
-- written is looked at in t/copy/many_rows_at_a_time, what runs beside them in t/copy/queries_in_triggers.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
\set SHOW_CONTEXT never
\set VERBOSITY sqlstate
SET track_functions = 'all';

-- How often a transaction has called the function, and the one that COPY evaluates in its place.
CREATE VIEW calls AS SELECT coalesce(sum(calls) FILTER (WHERE funcname = 'snowflake_nextval'), 0) AS nextval,
    coalesce(sum(calls) FILTER (WHERE funcname = 'snowflake_copy_nextval'), 0) AS copy_nextval
    FROM pg_stat_xact_user_functions;
GRANT SELECT ON calls TO PUBLIC;

-- Where the id of one row is less than or equal to that of the row before, by the order of the file.
CREATE FUNCTION falls(of regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    count bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT id <= lag(id) OVER (ORDER BY n) AS fall FROM %s) s WHERE fall', of) INTO count;
    RETURN count;
END $$;

CREATE TABLE item (n integer, id bigint PRIMARY KEY DEFAULT snowflake_nextval(), s text);
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n) FROM PROGRAM 'seq 1000';
SELECT * FROM calls;
COMMIT;
SELECT count(*), count(DISTINCT id) AS ids, falls('item') FROM item;
SELECT snowflake_currval() = max(id) AS currval_is_last FROM item;

-- A list that names the column takes the file's values, and nulls as nulls.
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n, id, s) FROM stdin;
1001	1	a
1002	9223372036854775807	\N
1003	-9223372036854775808	\N
1004	0	b
\.
SELECT * FROM calls;
COMMIT;
COPY item (n, id) FROM stdin;
1005	\N
\.
SELECT n, id, s FROM item WHERE n > 1000 ORDER BY n;

-- No row, no id.
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n) FROM PROGRAM 'true';
SELECT * FROM calls;
COMMIT;

-- The function within expressions. An SQL function that uses its argument twice gets one value, inlined or not.
CREATE FUNCTION pair(bigint) RETURNS text LANGUAGE sql AS $$ SELECT $1 || '-' || $1 $$;
CREATE FUNCTION pair_of_pairs(bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT pair($1) || '/' || pair($1 + 1) $$;
CREATE FUNCTION same(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT $1 $$;
CREATE FUNCTION new_id() RETURNS bigint LANGUAGE sql AS $$ SELECT snowflake_nextval() $$;
CREATE FUNCTION unused(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT 1::bigint $$;
CREATE TABLE expression (n integer, id bigint DEFAULT snowflake_nextval(), other bigint DEFAULT snowflake_nextval(),
    cast_ text DEFAULT snowflake_nextval()::text, prefixed text DEFAULT 'x' || snowflake_nextval(),
    twice text DEFAULT snowflake_nextval() || '-' || snowflake_nextval(), paired text DEFAULT pair(snowflake_nextval()),
    pairs text DEFAULT pair_of_pairs(snowflake_nextval() * 2), deep text DEFAULT pair(same(same(snowflake_nextval()))),
    inlined bigint DEFAULT new_id(), ignored bigint DEFAULT unused(snowflake_nextval()),
    chosen bigint DEFAULT CASE snowflake_nextval() % 1 WHEN 0 THEN 0 ELSE snowflake_nextval() END,
    compared boolean DEFAULT snowflake_nextval() < snowflake_nextval(),
    listed bigint[] DEFAULT ARRAY[snowflake_nextval(), snowflake_nextval()],
    first bigint DEFAULT coalesce(NULL, snowflake_nextval(), snowflake_nextval()));
CREATE VIEW findings AS SELECT count(*), count(DISTINCT id) AS id, count(DISTINCT other) AS other, bool_and(id < other) AS in_order,
    count(DISTINCT cast_::bigint) AS cast_, count(DISTINCT substr(prefixed, 2)::bigint) AS prefixed,
    bool_and(split_part(twice, '-', 1)::bigint < split_part(twice, '-', 2)::bigint) AS twice,
    bool_and(split_part(paired, '-', 1) = split_part(paired, '-', 2)) AS paired,
    bool_and(pairs = pair_of_pairs(split_part(pairs, '-', 1)::bigint)) AS pairs,
    bool_and(split_part(deep, '-', 1) = split_part(deep, '-', 2)) AS deep, count(DISTINCT inlined) AS inlined,
    max(ignored) AS ignored, max(chosen) AS chosen, bool_and(compared) AS compared, bool_and(listed[1] < listed[2]) AS listed,
    count(DISTINCT first) AS first FROM expression;
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY expression (n) FROM PROGRAM 'seq 100';
SELECT * FROM calls;
COMMIT;
\x on
SELECT * FROM findings;
TRUNCATE expression;
SELECT pg_stat_force_next_flush() \gset
BEGIN;
INSERT INTO expression (n) SELECT generate_series(1, 100);
SELECT * FROM calls;
COMMIT;
SELECT * FROM findings;
\x off

-- COPY ... WHERE: the default is evaluated for each line, the condition too, which calls the function itself.
TRUNCATE item;
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n) FROM PROGRAM 'seq 100' WHERE n % 2 = 0 AND snowflake_nextval() > 0;
SELECT * FROM calls;
COMMIT;
SELECT count(*), count(DISTINCT id) AS ids, falls('item') FROM item;
COPY item (n) FROM PROGRAM 'seq 101 200' WHERE pair(snowflake_nextval()) ~ '^(\d+)-\1$';
COPY item (n) FROM PROGRAM 'seq 201 300' WHERE random() < 2;
COPY item (n) FROM PROGRAM 'seq 301 400' WHERE id > n AND id < snowflake_nextval();
SELECT count(*), count(DISTINCT id) AS ids, falls('item') FROM item;

-- CHECK constraints, WHEN conditions and a domain's CHECK are planned as bare expressions, too, and are evaluated for each row.
-- They call the function itself.
CREATE DOMAIN early AS bigint CHECK (VALUE < snowflake_nextval()) CHECK (pair(snowflake_nextval()) ~ '^(\d+)-\1$');
CREATE TABLE checked (n integer, id bigint DEFAULT snowflake_nextval() CHECK (id < snowflake_nextval()),
    d early DEFAULT snowflake_nextval(), g text GENERATED ALWAYS AS ('<' || id || '>') STORED,
    CHECK (pair(snowflake_nextval()) ~ '^(\d+)-\1$'));
CREATE TABLE fired (n integer, id bigint);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO fired VALUES (NEW.n, NEW.id); RETURN NEW; END $$;
CREATE TRIGGER note AFTER INSERT ON checked FOR EACH ROW WHEN (NEW.id < snowflake_nextval() AND NEW.n % 2 = 0)
    EXECUTE FUNCTION note();
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY checked (n) FROM PROGRAM 'seq 10';
SELECT * FROM calls;
COMMIT;
SELECT count(*), count(DISTINCT id) AS ids, count(DISTINCT d) AS domains, bool_and(g = '<' || id || '>') AS generated, falls('checked')
    FROM checked;
SELECT count(*), falls('fired') FROM fired;
COPY checked (n, id) FROM stdin;
11	9223372036854775807
\.
COPY checked (n, d) FROM stdin;
11	9223372036854775807
\.
-- What a session keeps of a domain's CHECK goes on as before, for each row and with the caller's rights.
SELECT pg_stat_force_next_flush() \gset
BEGIN;
SELECT count(snowflake_nextval()::early) FROM generate_series(1, 10);
SELECT * FROM calls;
COMMIT;
SELECT 9223372036854775807::early;
CREATE ROLE regress_snowflake_copier;
REVOKE EXECUTE ON FUNCTION snowflake_nextval() FROM PUBLIC;
SET ROLE regress_snowflake_copier;
SELECT 1::early;
RESET ROLE;
SELECT 1::early;

-- Rights: that to call snowflake_nextval() decides, also where there is nothing to copy.
GRANT ALL ON item, checked TO regress_snowflake_copier;
SET ROLE regress_snowflake_copier;
\copy item (n) FROM '/dev/null'
COPY item (n, id) FROM stdin;
2000	2000
\.
COPY item (n, id) FROM stdin WHERE snowflake_nextval() > 0;
2001	2001
\.
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_nextval() TO regress_snowflake_copier;
SET ROLE regress_snowflake_copier;
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n) FROM stdin;
2002
\.
SELECT * FROM calls;
COMMIT;
RESET ROLE;
-- Where nobody may call functions unless told so, that one is enough.
REVOKE EXECUTE ON FUNCTION snowflake_copy_nextval(internal), snowflake_nextval_support(internal) FROM PUBLIC;
SET ROLE regress_snowflake_copier;
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n) FROM stdin;
2003
\.
SELECT * FROM calls;
COMMIT;
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_nextval(), snowflake_copy_nextval(internal), snowflake_nextval_support(internal) TO PUBLIC;
SELECT n FROM item WHERE n >= 2000 ORDER BY n;

-- What an administrator does to the function holds in a COPY: a setting of its own, or the owner's rights.
ALTER FUNCTION snowflake_nextval() SET snowflake.start_timeout = '1min';
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY item (n) FROM PROGRAM 'seq 3000 3009';
SELECT * FROM calls;
COMMIT;
ALTER FUNCTION snowflake_nextval() RESET snowflake.start_timeout;
-- Another function that was given the planner support is not taken for snowflake_nextval(), nor for what replaces it.
CREATE FUNCTION forty_two() RETURNS bigint LANGUAGE sql VOLATILE SUPPORT snowflake_nextval_support AS 'SELECT 42::bigint';
CREATE FUNCTION forty_three(integer) RETURNS bigint LANGUAGE plpgsql SUPPORT snowflake_nextval_support
    AS 'BEGIN RETURN 43; END';
CREATE TABLE foreign_support (n integer, id bigint DEFAULT snowflake_nextval(), a bigint DEFAULT forty_two(),
    b bigint DEFAULT forty_three(1));
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY foreign_support (n) FROM PROGRAM 'seq 10';
SELECT * FROM calls;
COMMIT;
SELECT DISTINCT a, b FROM foreign_support;
ALTER EXTENSION snowflake ADD FUNCTION forty_two();
SELECT pg_stat_force_next_flush() \gset
BEGIN;
COPY foreign_support (n) FROM PROGRAM 'seq 11 20';
SELECT * FROM calls;
COMMIT;
ALTER EXTENSION snowflake DROP FUNCTION forty_two();
SELECT DISTINCT a, b, count(DISTINCT id) FROM foreign_support GROUP BY a, b;
DROP TABLE foreign_support;
DROP FUNCTION forty_two(), forty_three(integer);

DROP VIEW findings, calls;
DROP TABLE item, expression, checked, fired;
DROP DOMAIN early;
DROP FUNCTION pair, pair_of_pairs, same, new_id, unused, note, falls;
DROP OWNED BY regress_snowflake_copier;
DROP ROLE regress_snowflake_copier;
