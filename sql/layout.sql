-- Another layout than the default one, set before the first lease.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\set SHOW_CONTEXT never

-- When the layout's time is used up.
CREATE FUNCTION end_of_life() RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz;
    ends timestamptz;
BEGIN
    -- The view reads the clock in between, so neither is exact on a slow machine.
    FOR i IN 1 .. 1000 LOOP
        began := clock_timestamp();
        SELECT date_trunc('second', began + make_interval(secs => end_of_life_seconds)) INTO ends FROM snowflake_metrics;
        EXIT WHEN ends = (SELECT date_trunc('second', clock_timestamp() + make_interval(secs => end_of_life_seconds)) FROM snowflake_metrics);
    END LOOP;
    RETURN ends;
END $$;

SELECT count(*) AS rows FROM snowflake_layout;
SELECT end_of_life();

-- Ticks of 10 ms, 39 bits of them; 8 bits of sequence above 16 bits of worker id.
BEGIN;
INSERT INTO snowflake_layout (definition)
    VALUES ('epoch=1409529600000 tick=10ms time=39 seq=8 worker=16');
SELECT * FROM snowflake_decode((100::bigint << 24) | (7 << 16) | 4711);
ROLLBACK;
-- Rolled back: the default layout again.
SELECT * FROM snowflake_decode((100000::bigint << 24) | (7 << 16) | 4711);
INSERT INTO snowflake_layout (definition)
    VALUES ('epoch=1409529600000 tick=10ms time=39 seq=8 worker=16');
SELECT * FROM snowflake_decode((100::bigint << 24) | (7 << 16) | 4711);
SELECT end_of_life();

-- It may change as long as no worker id was leased.
UPDATE snowflake_layout SET definition = 'epoch=1735689600000 tick=10ms time=39 seq=8 worker=16';
SELECT * FROM snowflake_decode((100::bigint << 24) | (7 << 16) | 4711);

-- Layouts that cannot be.
CREATE FUNCTION refusal(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
    detail text;
BEGIN
    UPDATE snowflake_layout SET definition = refusal.definition;
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL;
    RETURN state || ' ' || SQLERRM || '. ' || detail;
END $$;
\pset format unaligned
SELECT d, refusal(d) FROM (VALUES
    ('epoch=0 tick=1ms time=0 worker=10 seq=12'), ('epoch=0 tick=1ms time=64'), ('epoch=0 tick=1ms time=10 worker=32 seq=1'),
    ('epoch=0 tick=1ms time=10 worker=1 seq=32'), ('epoch=0 tick=1ms time=43 worker=10 seq=12'), ('epoch=0 tick=0us time=41 worker=10 seq=12'),
    ('epoch=0 tick=86401s time=20 worker=10 seq=12'), ('epoch=-1 tick=1ms time=41 worker=10 seq=12'),
    ('epoch=9223372036854775807 tick=1ms time=41 worker=10 seq=12'), ('epoch=0 tick=1s time=50 worker=5 seq=8'),
    -- Of a later release, perhaps.
    ('epoch=0 tick=1ms time=41 worker=10 seq=12 galaxy=1'), ('twitter'), (''), (NULL),
    -- Read, but not as it is written.
    ('epoch=0 time=41 worker=10 seq=12'), ('epoch=0 tick=1000us time=41 worker=10 seq=12'), ('epoch=0 tick=1ms time=41 worker=10  seq=12'),
    (' epoch=0 tick=1ms time=41 worker=10 seq=12'), ('epoch=0 tick=1ms time=41 worker=10 seq=12 '), ('tick=1ms epoch=0 time=41 worker=10 seq=12'),
    ('epoch=00 tick=1ms time=41 worker=10 seq=12'), ('epoch=2025-01-01 tick=1ms time=41 worker=10 seq=12'),
    -- To be read alone.
    ('epoch=0 tick=1ms worker=10 time=41 seq=12'), ('epoch=0 tick=1ms time=41 skip=10 seq=12'), ('epoch=0 sec=31 ms=10 worker=10 seq=12'),
    ('epoch=0 tick=1ms time=41 worker=5 datacenter=5 seq=12')) AS v(d);
SELECT left(refusal('epoch=0 tick=1ms time=41 worker=10 seq=12' || repeat(' ', n)), 120) FROM (VALUES (86), (87), (100000)) AS v(n);
\pset format aligned
-- Stored out of line, as a whole and a part of a table.
CREATE TABLE wide (definition text);
INSERT INTO wide SELECT 'epoch=0 tick=1ms time=41 worker=10 seq=12' || string_agg(md5(n::text), '') FROM generate_series(1, 500) n;
UPDATE snowflake_layout SET definition = wide.definition FROM wide;
\echo :SQLSTATE
DROP TABLE wide;
SELECT definition FROM snowflake_layout;
UPDATE snowflake_layout SET singleton = false;
\echo :SQLSTATE
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=41 worker=10 seq=12');
\echo :SQLSTATE

-- Ids of it.
SELECT count(*), count(DISTINCT x) FROM snowflake_nextvals(1000) x;
SELECT bool_and(d.worker = s.worker) AS worker, max(d.worker) > 0 AND max(d.worker) < 65536 AS fits, max(d.seq) < 256 AS seq,
    bool_and(abs(extract(epoch FROM d.ts - clock_timestamp())) < 60) AS now
FROM snowflake_nextvals(100) x, snowflake_decode(x) d, snowflake_status s;

-- From the first lease on it stays.
UPDATE snowflake_layout SET definition = 'epoch=0 tick=10ms time=39 seq=8 worker=16';
\echo :SQLSTATE
DELETE FROM snowflake_layout;
\echo :SQLSTATE
TRUNCATE snowflake_layout;
\echo :SQLSTATE

-- A layout that starts at the sign bit is read to its end.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=1314220021721 tick=1ms time=41 worker=13 seq=10');
SELECT id, d.*  FROM (VALUES (2384288897814875714), (9223372036854775807), (-9223372036854775808), (-1)) v(id), snowflake_decode(id) d;
-- Issuing ends where ids would turn negative.
SELECT end_of_life();
SELECT snowflake_nextval() > 0 AS issued;

-- Fewer than 63 bits: an id with a bit above them is none.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1ms time=41 worker=5 seq=7');
SELECT * FROM snowflake_decode(9007199254740991);
SELECT snowflake_decode(9007199254740992);
\echo :SQLSTATE
SELECT snowflake_nextval() BETWEEN 1 AND 9007199254740991 AS issued;

-- Nothing to issue: readable all the same.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=47 seq=16');
SELECT * FROM snowflake_decode(103270115826048975);
SET snowflake.start_timeout = '500ms';
DO $$
BEGIN
    PERFORM snowflake_nextval();
EXCEPTION WHEN SQLSTATE 'SF001' THEN
    RAISE NOTICE '%', SQLERRM;
END $$;
DO $$
BEGIN
    FOR i IN 1..600 LOOP
        EXIT WHEN (SELECT last_error IS NOT NULL FROM snowflake_status);
        PERFORM pg_sleep(0.1);
    END LOOP;
END $$;
SELECT last_error_code, last_error FROM snowflake_status;

-- What was written past the guard: an error for each reader, and never the default. A text that is understood is compared as it is
-- read.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=41 worker=10 seq=12');
ALTER TABLE snowflake_layout DISABLE TRIGGER ALL;
CREATE FUNCTION reading(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    state text;
BEGIN
    UPDATE snowflake_layout SET definition = reading.definition;
    RETURN snowflake_timestamp(0) || ' ' || snowflake_get_layout();
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
    RETURN state || ' ' || left(SQLERRM, 80);
END $$;
-- The trigger that tells sessions of a change is needed.
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_layout_changed;
SELECT d, reading(d) FROM (VALUES ('epoch=0 tick=1ms time=41 worker=10 seq=12 galaxy=1'), ('snowflake'), (''),
    ('epoch=0 tick=1ms worker=10 time=41 seq=12'), ('  seq=12 epoch=1970-01-02'), ('  epoch=1970-01-02   time=41 worker=10 seq=12')) AS v(d);
SELECT n, reading('epoch=0 tick=1ms time=41 worker=10 seq=12' || repeat(' ', n)) FROM (VALUES (86), (87), (5000), (100000)) AS v(n);
ALTER TABLE snowflake_layout ALTER definition SET STORAGE EXTERNAL;
SELECT reading('epoch=0 tick=1ms time=41 worker=10 seq=12' || repeat(' ', 100000));
UPDATE snowflake_layout SET definition = 'epoch=0 tick=1ms time=41 worker=10 seq=12 galaxy=1';
\echo :SQLSTATE
ALTER TABLE snowflake_layout DISABLE TRIGGER ALL;
UPDATE snowflake_layout SET definition = 'epoch=0 tick=1ms time=41 worker=10 seq=12 galaxy=1';
\c
SELECT snowflake_get_layout();
SELECT snowflake_timestamp(0);
\echo :SQLSTATE
SELECT name FROM snowflake_layouts;
\echo :SQLSTATE
\set VERBOSITY terse
SET snowflake.start_timeout = '200ms';
SELECT snowflake_nextval();
\echo :SQLSTATE
-- snowflake_make_guards() makes the guards again, and the operator the layout.
SELECT snowflake_make_guards();
SELECT snowflake_lease_acquire('x', 0, 1, '1 min', sha256('x'), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=10 seq=12');
TABLE snowflake_layout;
DROP FUNCTION refusal, reading, end_of_life;
DROP EXTENSION snowflake;
