-- What others plant on the registry's tables runs inside the protocol's statements, and is no part of the protocol: the guards stop it as
-- they stop anybody, and a row that is swallowed, or put back as it was, is an error. With clocks as arguments.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
\set SHOW_CONTEXT never
\set VERBOSITY terse
SET timezone = 'UTC';
SET snowflake.max_clock_skew = 0;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1s time=31 worker=2 seq=10');
SELECT setval('snowflake_registry_lease_id_seq', 5) = 5 AS ring;
ALTER TABLE snowflake_origin DISABLE TRIGGER snowflake_guard;
UPDATE snowflake_origin SET last_lease_id = 3, started_at = pg_postmaster_start_time();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;

CREATE FUNCTION acquire(name text) RETURNS integer LANGUAGE sql
    AS $$ SELECT worker_id FROM snowflake_lease_acquire(name, 0, 1000, '10 s', sha256(decode(md5(name), 'hex')), 0, NULL) $$;
CREATE FUNCTION release(name text) RETURNS boolean LANGUAGE sql
    AS $$ SELECT snowflake_lease_release(lease_id, decode(md5(name), 'hex'), 1005, 0) FROM snowflake_registry WHERE node = name $$;
CREATE ROLE regress_snowflake_planter;
GRANT SELECT, TRIGGER ON snowflake_registry, snowflake_watermark TO regress_snowflake_planter;
CREATE SCHEMA planted AUTHORIZATION regress_snowflake_planter;
INSERT INTO snowflake_watermark VALUES (3, 500);
SELECT acquire('a'), acquire('b');

-- A condition is evaluated outside of its trigger, and a constraint or a default without one.
SET ROLE regress_snowflake_planter;
CREATE FUNCTION planted.run() RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE what text := current_setting('planted.what');
    BEGIN
        PERFORM set_config('planted.what', 'SELECT', true);  -- once
        EXECUTE what;
        RETURN true;
    END $$;
CREATE FUNCTION planted.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE FUNCTION planted.from_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM planted.run(); RETURN new; END';
CREATE TRIGGER planted BEFORE INSERT ON snowflake_registry FOR EACH ROW WHEN (planted.run()) EXECUTE FUNCTION planted.nothing();
RESET ROLE;
-- Tries it with each: what came of it is an error, and undone. The protocol takes no part in a subtransaction.
CREATE FUNCTION try(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('planted.what', what, true);
    PERFORM snowflake_lease_acquire('c', 0, 1000, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
    RAISE EXCEPTION 'passed, and left %', (SELECT string_agg(format('%s: %s', worker_id, last_tick), ', ' ORDER BY worker_id)
        FROM snowflake_watermark);
END $$;
CREATE VIEW tries AS SELECT format('SELECT try(%L)', what) FROM (VALUES
    (1, 'DELETE FROM public.snowflake_watermark'),
    (2, 'DELETE FROM public.snowflake_registry WHERE node = ''a'''),
    (3, 'UPDATE public.snowflake_watermark SET last_tick = 0'),
    (4, 'UPDATE public.snowflake_origin SET last_lease_id = 0'),
    (5, 'DELETE FROM public.snowflake_origin'),
    (6, 'INSERT INTO public.snowflake_registry OVERRIDING SYSTEM VALUE SELECT 1, 3, node, role, secret_hash, now(), now(), 0, 9 FROM public.snowflake_registry'))
    t(n, what) ORDER BY n;
TABLE tries \gexec
SET ROLE regress_snowflake_planter;
CREATE OR REPLACE TRIGGER planted BEFORE INSERT ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION planted.from_trigger();
RESET ROLE;
TABLE tries \gexec
DROP TRIGGER planted ON snowflake_registry;
ALTER TABLE snowflake_registry ADD CONSTRAINT planted CHECK (planted.run()) NOT VALID;
TABLE tries \gexec
ALTER TABLE snowflake_registry DROP CONSTRAINT planted;
BEGIN;
SET LOCAL planted.what = 'SELECT';
ALTER TABLE snowflake_registry ADD COLUMN planted boolean DEFAULT planted.run();
COMMIT;
TABLE tries \gexec
ALTER TABLE snowflake_registry DROP COLUMN planted;

-- A watermark must arrive.
CREATE FUNCTION planted.swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION planted.lower() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.last_tick := 0; RETURN new; END';
CREATE TRIGGER planted BEFORE INSERT ON snowflake_watermark FOR EACH ROW EXECUTE FUNCTION planted.swallow();
SELECT release('a');
\echo :SQLSTATE
DELETE FROM snowflake_registry WHERE node = 'a';
\echo :SQLSTATE
CREATE OR REPLACE TRIGGER planted BEFORE INSERT ON snowflake_watermark FOR EACH ROW EXECUTE FUNCTION planted.lower();
SELECT release('a');
\echo :SQLSTATE
DELETE FROM snowflake_registry WHERE node = 'a';
\echo :SQLSTATE
DROP TRIGGER planted ON snowflake_watermark;
CREATE FUNCTION planted.put_back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN old; END';
INSERT INTO snowflake_watermark VALUES (0, 900);
CREATE TRIGGER planted BEFORE UPDATE ON snowflake_watermark FOR EACH ROW EXECUTE FUNCTION planted.put_back();
SELECT release('a');
\echo :SQLSTATE
DELETE FROM snowflake_registry WHERE node = 'a';
\echo :SQLSTATE
DROP TRIGGER planted ON snowflake_watermark;

-- So must a lease. One that is not extended is none that was, and the node gets the window that is stored.
CREATE FUNCTION extend(name text) RETURNS bigint LANGUAGE sql
    AS $$ SELECT e.window_end FROM snowflake_registry r, snowflake_lease_extend(r.lease_id, r.secret_hash, 1005, '1000 s', 0, 0, 0) e WHERE node = name $$;
CREATE TRIGGER planted BEFORE INSERT OR UPDATE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION planted.swallow();
SELECT acquire('c');
\echo :SQLSTATE
SELECT extend('a') IS NULL AS gone;
CREATE OR REPLACE TRIGGER planted BEFORE INSERT OR UPDATE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION planted.put_back();
SELECT acquire('c');
\echo :SQLSTATE
SELECT extend('a') = window_end AS stored FROM snowflake_registry WHERE node = 'a';
-- Nor does an extend shorten the window.
CREATE FUNCTION planted.shorten() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN new.window_end := old.window_end - 1; RETURN new; END';
CREATE OR REPLACE TRIGGER planted BEFORE UPDATE ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION planted.shorten();
SELECT extend('a');
\echo :SQLSTATE
DROP TRIGGER planted ON snowflake_registry;

-- And what the registry records of itself.
CREATE TRIGGER planted BEFORE UPDATE ON snowflake_origin FOR EACH ROW EXECUTE FUNCTION planted.swallow();
SELECT acquire('c');
\echo :SQLSTATE
SELECT snowflake_raise(snowflake_id_at('1970-01-01 00:20+00'));
\echo :SQLSTATE
CREATE OR REPLACE TRIGGER planted BEFORE UPDATE ON snowflake_origin FOR EACH ROW EXECUTE FUNCTION planted.put_back();
SELECT snowflake_raise(snowflake_id_at('1970-01-01 00:20+00'));
\echo :SQLSTATE
DROP TRIGGER planted ON snowflake_origin;

-- And numbers of a segment.
CREATE FUNCTION ranges() RETURNS bigint[] LANGUAGE sql
    AS $$ SELECT range_last FROM snowflake_segment_ranges('n', '{s}', '{0}', '{0}', '{0}', '{0}', ARRAY[sha256('s')]) $$;
CREATE TRIGGER planted BEFORE INSERT OR UPDATE OR DELETE ON snowflake_segment FOR EACH ROW EXECUTE FUNCTION planted.swallow();
SELECT snowflake_create_segment('s');
DROP TRIGGER planted ON snowflake_segment;
SELECT snowflake_create_segment('s');
CREATE TRIGGER planted BEFORE INSERT OR UPDATE OR DELETE ON snowflake_segment FOR EACH ROW EXECUTE FUNCTION planted.swallow();
SELECT ranges();
\echo :SQLSTATE
SELECT snowflake_drop_segment('s');
\echo :SQLSTATE
CREATE OR REPLACE TRIGGER planted BEFORE UPDATE ON snowflake_segment FOR EACH ROW EXECUTE FUNCTION planted.put_back();
SELECT ranges();
\echo :SQLSTATE
DROP TRIGGER planted ON snowflake_segment;
CREATE TRIGGER planted BEFORE INSERT ON snowflake_segment_range FOR EACH ROW EXECUTE FUNCTION planted.swallow();
SELECT ranges();
\echo :SQLSTATE
DROP TRIGGER planted ON snowflake_segment_range;
SELECT ranges() IS NOT NULL AS allocated;
DELETE FROM snowflake_segment_range;
SELECT release('a');
DELETE FROM snowflake_registry WHERE node = 'b';
SELECT * FROM snowflake_watermark ORDER BY worker_id;

DROP EXTENSION snowflake;
SET client_min_messages = warning;
DROP SCHEMA planted CASCADE;
DROP FUNCTION acquire, release, extend, ranges;
DROP FUNCTION try CASCADE;
DROP ROLE regress_snowflake_planter;
