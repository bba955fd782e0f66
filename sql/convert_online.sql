-- Converting tables online: the statements, what they leave, and what is refused. Load, kills and the shapes of tables are
-- in t/convert.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;
\set SHOW_CONTEXT never
\set VERBOSITY terse

CREATE TABLE orders (id serial PRIMARY KEY, previous integer REFERENCES orders, total numeric CHECK (total > 0));
CREATE INDEX orders_last ON orders ((id % 10), total DESC) INCLUDE (previous) WHERE id > 2;
CREATE TABLE items (order_id integer NOT NULL REFERENCES orders ON DELETE CASCADE, n smallint, PRIMARY KEY (order_id, n));
COMMENT ON COLUMN orders.id IS 'number of the order';
INSERT INTO orders (previous, total) SELECT nullif(n - 1, 0), n FROM generate_series(1, 1000) n;
INSERT INTO items SELECT id, 1 FROM orders;
CREATE VIEW "left" AS SELECT s FROM snowflake_convert('orders', 'id', online => true) s;
CREATE FUNCTION shape(VARIADIC tables regclass[])
    RETURNS TABLE ("table" regclass, "column" name, type text, not_null boolean, "default" text, comment text)
    LANGUAGE sql AS $$
    SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid),
        col_description(attrelid, attnum)
    FROM unnest(tables) WITH ORDINALITY AS t(oid, n) JOIN pg_attribute ON attrelid = t.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum ORDER BY n, attnum $$;

-- Nothing is executed. The switch differs between versions of PostgreSQL.
\pset format unaligned
\pset tuples_only on
SELECT regexp_replace(s, 'made for [0-9a-f]{32}', 'made for ...') FROM "left" WHERE s !~ 'check_switch|DROP SEQUENCE';
\pset tuples_only off
\pset format aligned
SELECT * FROM shape('orders', 'items');

-- The first three steps, and the way back.
SELECT s FROM "left" LIMIT 2
\gexec
INSERT INTO orders (total) VALUES (7) RETURNING *;
UPDATE orders SET id = 2000 WHERE id = 1001 RETURNING *;
CALL snowflake_fill('orders');
SELECT count(*), count(*) FILTER (WHERE snowflake_new_id = id AND snowflake_new_previous IS NOT DISTINCT FROM previous) FROM orders;
-- The new column cannot be made wrong by whoever turns the trigger off.
BEGIN;
ALTER TABLE orders DISABLE TRIGGER "~snowflake_new_id";
INSERT INTO orders (total) VALUES (8);
ROLLBACK;
-- A conversion in one step would not know of it.
SELECT snowflake_convert('orders', 'id');
\echo :SQLSTATE
SELECT snowflake_convert('orders', 'id', online => true, abandon => true);
SELECT snowflake_convert('orders', 'id', online => true, abandon => true)
\gexec
SELECT * FROM shape('orders', 'items');
SELECT snowflake_convert('orders', 'id', online => true, abandon => true);

-- All steps, each seen to be done.
\set ECHO none
SET client_min_messages = warning;
SELECT snowflake_convert('orders', 'id', online => true)
\gexec
RESET client_min_messages;
\set ECHO all
SELECT * FROM "left";
SELECT * FROM shape('orders', 'items');
SELECT conrelid::regclass, conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid IN ('orders'::regclass, 'items'::regclass) AND contype <> 'n' ORDER BY 1, 2;
SELECT indexrelid::regclass, indisvalid, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid IN ('orders'::regclass, 'items'::regclass) ORDER BY indexrelid::regclass::text;
SELECT count(*), min(id), max(id) FROM orders;
INSERT INTO orders (total) VALUES (9) RETURNING id > 1000000000 AS is_new;
INSERT INTO items (order_id, n) SELECT max(id), 1 FROM orders;
INSERT INTO items (order_id, n) VALUES (-1, 1);
-- What refers to it later is found.
ALTER TABLE items ADD COLUMN other integer REFERENCES orders;
SELECT count(*) FROM "left";
\set ECHO none
SET client_min_messages = warning;
SELECT s FROM "left"
\gexec
RESET client_min_messages;
\set ECHO all
SELECT * FROM shape('items');

-- Widening alone keeps the sequence, the identity and their rights.
CREATE TABLE wide (id integer GENERATED ALWAYS AS IDENTITY (START 10 INCREMENT 5) PRIMARY KEY, small smallserial);
COMMENT ON SEQUENCE wide_id_seq IS 'tens';
GRANT USAGE ON SEQUENCE wide_id_seq TO pg_monitor;
INSERT INTO wide DEFAULT VALUES;
\set ECHO none
SET client_min_messages = warning;
SELECT snowflake_convert('wide', 'id', online => true, target => 'bigint')
\gexec
SELECT snowflake_convert('wide', 'small', online => true, target => 'bigint')
\gexec
RESET client_min_messages;
\set ECHO all
INSERT INTO wide DEFAULT VALUES RETURNING *;
INSERT INTO wide (id) VALUES (1);
SELECT * FROM shape('wide');
SELECT seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmax, obj_description(seqrelid),
    has_sequence_privilege('pg_monitor', seqrelid, 'USAGE')
FROM pg_sequence JOIN pg_class c ON c.oid = seqrelid WHERE relname LIKE 'wide%' ORDER BY relname;
SELECT snowflake_convert('wide', 'id', target => 'bigint');
-- In one step, too.
CREATE TABLE narrow (id serial PRIMARY KEY);
SELECT snowflake_convert('narrow', 'id', target => 'bigint');
SELECT snowflake_convert('narrow', 'id', target => 'bigint');
SELECT seqtypid::regtype, seqmax FROM pg_sequence WHERE seqrelid = 'narrow_id_seq'::regclass;
-- Of a bigint column nothing is left but the default.
SELECT snowflake_convert('narrow', 'id', online => true);

-- Refused before the first statement.
CREATE TABLE stored (id serial PRIMARY KEY, next integer GENERATED ALWAYS AS (id + 1) STORED);
CREATE MATERIALIZED VIEW cached AS SELECT id FROM stored;
CREATE RULE ruled AS ON DELETE TO stored DO INSTEAD NOTHING;
CREATE FUNCTION trig() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TABLE rows_of (old stored, olds stored[]);
ALTER TABLE stored ADD COLUMN snowflake_new_id integer;
CREATE TRIGGER "~~later" BEFORE INSERT ON stored FOR EACH ROW EXECUTE FUNCTION trig();
\set VERBOSITY default
SELECT snowflake_convert('stored', 'id', online => true);
\echo :SQLSTATE
SELECT snowflake_convert('stored', 'id', abandon => true);
\echo :SQLSTATE
SELECT snowflake_convert('stored', 'id', online => true, target => 'int8');
\echo :SQLSTATE
\set VERBOSITY terse
SELECT snowflake_convert('stored', 'id', online => NULL);
\echo :SQLSTATE
SELECT snowflake_convert('stored', 'id', target => NULL);
CALL snowflake_try(NULL);
\echo :SQLSTATE
CALL snowflake_fill(NULL);
CALL snowflake_fill('orders', NULL);
CALL snowflake_fill('orders', -1);
\echo :SQLSTATE
CALL snowflake_fill(0);
\echo :SQLSTATE
BEGIN;
CALL snowflake_try('SELECT 1');
\echo :SQLSTATE
ROLLBACK;
BEGIN;
CALL snowflake_fill('orders');
\echo :SQLSTATE
ROLLBACK;
CALL snowflake_try('SELECT 1; COMMIT');
\echo :SQLSTATE
CALL snowflake_try('SELECT 1/0');
\echo :SQLSTATE
CALL snowflake_try('');
-- All or nothing.
CALL snowflake_try('CREATE TABLE public.half (a int); SELECT 1/0');
SELECT to_regclass('half');
-- A switch that is not due, or of other tables.
SELECT snowflake_check_switch('narrow', 'id', 'ids', false, '');
\echo :SQLSTATE
-- Only owners.
CREATE ROLE regress_snowflake_other;
GRANT ALL ON stored TO regress_snowflake_other;
SET ROLE regress_snowflake_other;
CALL snowflake_fill('stored');
\echo :SQLSTATE
SELECT snowflake_convert('stored', 'id', online => true);
\echo :SQLSTATE
RESET ROLE;
-- Triggers of the conversion do nothing elsewhere.
CREATE TRIGGER wrong AFTER INSERT ON narrow FOR EACH ROW EXECUTE FUNCTION snowflake_follow('id', 'id');
INSERT INTO narrow DEFAULT VALUES;
\echo :SQLSTATE
DROP TRIGGER wrong ON narrow;
CREATE TRIGGER wrong BEFORE INSERT ON narrow FOR EACH ROW EXECUTE FUNCTION snowflake_follow('nothing', 'id');
INSERT INTO narrow DEFAULT VALUES;
\echo :SQLSTATE
SELECT snowflake_follow();

-- What a session has set changes nothing in the statements: each setting, beside those before it.
CREATE TABLE noted (id serial PRIMARY KEY, at timestamptz, raw bytea, tags text[], note text CHECK (id > 0 OR note ~ '^\d+$'), CHECK (id > 0 OR raw <> '\x5c41'),
    CHECK (id > 0 OR at > '2026-02-01 12:00+05:30'), CHECK (id > 0 OR at + interval '-1 mons +2 days' > at), CHECK (id > 0 OR (id = NULL) IS NULL), CHECK (id > 0 OR tags <> '{a,NULL}'),
    CHECK (id * '0.12345678901234567'::float8 < 1e30));
CREATE INDEX ON noted (id) WHERE note <> 'a\b';
COMMENT ON COLUMN noted.id IS 'it''s a \ backslash';
CREATE FUNCTION statements() RETURNS text LANGUAGE sql AS $$ SELECT md5(string_agg(s, ' ')) FROM snowflake_convert('noted', 'id', online => true) s $$;
SET client_min_messages = warning;
SELECT statements() AS plain \gset
BEGIN;
-- From 19 on, standard_conforming_strings cannot be turned off.
SELECT name, CASE WHEN name <> 'standard_conforming_strings' OR current_setting('server_version_num')::integer < 190000
    THEN set_config(name, value, true) ELSE value END AS set_config, statements() = :'plain' AS same
FROM (VALUES ('TimeZone', 'Asia/Kolkata'), ('DateStyle', 'SQL, DMY'), ('IntervalStyle', 'sql_standard'), ('extra_float_digits', '-9'), ('bytea_output', 'escape'),
    ('quote_all_identifiers', 'on'), ('transform_null_equals', 'on'), ('array_nulls', 'off'), ('xmloption', 'document'), ('default_tablespace', 'pg_default'),
    ('standard_conforming_strings', 'off')) AS v(name, value);
ROLLBACK;
RESET client_min_messages;
DROP FUNCTION statements();
DROP TABLE noted;

-- Event triggers see an index that is created empty as they see any other one, and may refuse it.
CREATE TABLE audit (line text);
CREATE FUNCTION note_index() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN
    IF tg_event = 'ddl_command_start' THEN
        INSERT INTO public.audit VALUES (tg_event);
    ELSE
        INSERT INTO public.audit SELECT concat_ws(' ', tg_event, command_tag, object_type, object_identity, (
            SELECT indisvalid FROM pg_index WHERE indexrelid = objid)) FROM pg_event_trigger_ddl_commands();
        IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'refused') THEN
            RAISE 'this index is refused';
        END IF;
    END IF;
END$$;
CREATE EVENT TRIGGER regress_snowflake_end ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION note_index();
CALL snowflake_try('CREATE INDEX CONCURRENTLY first ON public.narrow ((id + 1))');
CREATE EVENT TRIGGER regress_snowflake_start ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION note_index();
CALL snowflake_try('CREATE INDEX CONCURRENTLY second ON public.narrow ((id + 1)); CREATE INDEX plain ON public.narrow (id)');
CALL snowflake_try('CREATE INDEX CONCURRENTLY refused ON public.narrow ((id + 1))');
CALL snowflake_try('CREATE INDEX CONCURRENTLY IF NOT EXISTS second ON public.narrow ((id + 1))');
SELECT line FROM audit;
DROP EVENT TRIGGER regress_snowflake_start;
DROP EVENT TRIGGER regress_snowflake_end;
DROP FUNCTION note_index;
DROP TABLE audit;

-- A foreign key stays with its index, and never moves to that of a deferrable constraint, also if its
-- new index was built last.
CREATE TABLE target (id serial, CONSTRAINT a_deferrable UNIQUE (id) DEFERRABLE, n smallint, CONSTRAINT b_both UNIQUE (n, id) DEFERRABLE);
CREATE UNIQUE INDEX y_both ON target (id, n);
CREATE UNIQUE INDEX z_one ON target (id);
CREATE TABLE referring (target integer REFERENCES target (id), n smallint, FOREIGN KEY (n, target) REFERENCES target (n, id));
CREATE VIEW "to" AS SELECT conname, conindid::regclass AS index FROM pg_constraint WHERE conrelid = 'referring'::regclass AND contype = 'f' ORDER BY 1;
SELECT * FROM "to";
SET client_min_messages = warning;
\set ECHO none
SELECT s FROM snowflake_convert('target', 'id', online => true) s WHERE s !~ 'check_switch|DROP SEQUENCE'
\gexec
SELECT * FROM "to";
DROP INDEX snowflake_new_z_one CASCADE;
SELECT s FROM snowflake_convert('target', 'id', online => true) s WHERE s ~ 'INDEX|ADD CONSTRAINT' AND s !~ 'check_switch|DROP SEQUENCE';
SELECT s FROM snowflake_convert('target', 'id', online => true) s
\gexec
RESET client_min_messages;
\set ECHO all
SELECT * FROM "to";
SELECT count(*) FROM snowflake_convert('target', 'id', online => true);
DROP VIEW "to";
DROP TABLE target, referring;

-- A check stays valid in the tables below, although the one above is not.
CREATE TABLE above (id serial PRIMARY KEY);
ALTER TABLE above ADD CONSTRAINT positive CHECK (id > 0) NOT VALID;
CREATE TABLE below () INHERITS (above);
CREATE TABLE not_valid () INHERITS (above);
CREATE TABLE below_that () INHERITS (below);
UPDATE pg_constraint SET convalidated = false WHERE conrelid = 'not_valid'::regclass AND conname = 'positive';
SET client_min_messages = warning;
\set ECHO none
SELECT s FROM snowflake_convert('above', 'id', online => true) s
\gexec
RESET client_min_messages;
\set ECHO all
SELECT conrelid::regclass AS relation, convalidated FROM pg_constraint WHERE conname = 'positive' ORDER BY conrelid::regclass::text;
SELECT count(*) FROM snowflake_convert('above', 'id', online => true);
DROP TABLE above, below, below_that, not_valid;

-- Partitioned indexes are not given other operator classes; the indexes of partitions alone are.
CREATE TABLE classes (id serial, n integer) PARTITION BY RANGE (n);
CREATE TABLE classes_1 PARTITION OF classes DEFAULT;
CREATE INDEX classes_default ON classes USING brin (n int4_bloom_ops, id);
CREATE INDEX classes_bloom ON classes USING brin (id int4_bloom_ops);
INSERT INTO classes (n) VALUES (1);
\set VERBOSITY default
SELECT snowflake_convert('classes', 'id', online => true);
\echo :SQLSTATE
SELECT snowflake_convert('classes', 'id', dry_run => true);
SELECT snowflake_convert('classes', 'id');
\set VERBOSITY terse
DROP INDEX classes_bloom;
CREATE INDEX classes_bloom ON classes_1 USING brin (id int4_bloom_ops);
SET client_min_messages = warning;
\set ECHO none
SELECT s FROM snowflake_convert('classes', 'id', online => true) s
\gexec
RESET client_min_messages;
\set ECHO all
SELECT indexdef FROM pg_indexes WHERE tablename ~ '^classes' ORDER BY 1;
SELECT count(*) FROM snowflake_convert('classes', 'id', online => true);
DROP TABLE classes;

-- A sequence that stays: the switch knows, and nothing follows it.
CREATE TABLE kept (id serial PRIMARY KEY);
CREATE TABLE also (id int DEFAULT nextval('kept_id_seq'));
-- From 18 on NOT NULL is a constraint with a name.
CREATE VIEW kept_left AS SELECT replace(regexp_replace(s, '[0-9a-f]{32}', '...', 'g'), 'ADD CONSTRAINT kept_id_not_null NOT NULL id', 'ALTER COLUMN id SET NOT NULL') AS s
    FROM snowflake_convert('kept', 'id', online => true, keep_sequence => true) s;
SELECT s FROM kept_left WHERE s ~ 'check_switch|SEQUENCE';
\set VERBOSITY terse
SELECT snowflake_convert('kept', 'id', online => true);
SET client_min_messages = warning;
\set ECHO none
SELECT snowflake_convert('kept', 'id', online => true, keep_sequence => true)
\gexec
RESET client_min_messages;
\set ECHO all
SELECT * FROM kept_left;
SELECT * FROM shape('kept', 'also');
SELECT pg_get_serial_sequence('kept', 'id'), nextval('kept_id_seq');
DROP TABLE also;
SELECT snowflake_convert('kept', 'id', online => true);
DROP VIEW kept_left;
DROP TABLE kept;

DROP MATERIALIZED VIEW cached;
DROP VIEW "left";
DROP TABLE orders, items, wide, narrow, stored, rows_of;
DROP FUNCTION shape, trig;
DROP OWNED BY regress_snowflake_other;
DROP ROLE regress_snowflake_other;
DROP EXTENSION snowflake_convert, snowflake;
