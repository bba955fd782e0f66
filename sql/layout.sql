-- Another layout than the default one, set before the first lease.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\set SHOW_CONTEXT never

-- When the layout's time is used up.
\set end_of_life 'SELECT date_trunc(''second'', clock_timestamp() + make_interval(secs => end_of_life_seconds) + interval ''500 ms'') AS end_of_life FROM snowflake_metrics;'

SELECT count(*) AS rows FROM snowflake_layout;
:end_of_life

-- Ticks of 10 ms, 39 bits of them; 8 bits of sequence above 16 bits of worker id.
BEGIN;
INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)
    VALUES (1409529600000, 10000, 39, 0, 16, 8, true);
SELECT * FROM snowflake_decode((100::bigint << 24) | (7 << 16) | 4711);
ROLLBACK;
-- Rolled back: the default layout again.
SELECT * FROM snowflake_decode((100000::bigint << 24) | (7 << 16) | 4711);
INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)
    VALUES (1409529600000, 10000, 39, 0, 16, 8, true);
SELECT * FROM snowflake_decode((100::bigint << 24) | (7 << 16) | 4711);
:end_of_life

-- It may change as long as no worker id was leased.
UPDATE snowflake_layout SET epoch_ms = 1735689600000;
SELECT * FROM snowflake_decode((100::bigint << 24) | (7 << 16) | 4711);

-- Layouts that cannot be.
UPDATE snowflake_layout SET timestamp_bits = 0;
\echo :SQLSTATE
UPDATE snowflake_layout SET timestamp_bits = -1;
\echo :SQLSTATE
UPDATE snowflake_layout SET timestamp_bits = 64, worker_bits = 0, sequence_bits = 0;
\echo :SQLSTATE
UPDATE snowflake_layout SET worker_bits = 32, timestamp_bits = 10;
\echo :SQLSTATE
UPDATE snowflake_layout SET sequence_bits = 32, timestamp_bits = 10;
\echo :SQLSTATE
UPDATE snowflake_layout SET timestamp_bits = 41;
\echo :SQLSTATE
UPDATE snowflake_layout SET worker_bits = 2147483647, datacenter_bits = 2147483647;
\echo :SQLSTATE
UPDATE snowflake_layout SET tick_us = 0;
\echo :SQLSTATE
UPDATE snowflake_layout SET tick_us = 86400000001;
\echo :SQLSTATE
UPDATE snowflake_layout SET epoch_ms = -1;
\echo :SQLSTATE
UPDATE snowflake_layout SET epoch_ms = 9223372036854775807;
\echo :SQLSTATE
UPDATE snowflake_layout SET timestamp_bits = 50, tick_us = 1000000, worker_bits = 5;
\echo :SQLSTATE
UPDATE snowflake_layout SET singleton = false;
\echo :SQLSTATE
INSERT INTO snowflake_layout VALUES (true, 0, 1000, 41, 0, 10, 12, false);
\echo :SQLSTATE

-- Ids of it.
SELECT count(*), count(DISTINCT x) FROM snowflake_nextvals(1000) x;
SELECT bool_and(d.worker = s.worker) AS worker, max(d.worker) > 0 AND max(d.worker) < 65536 AS fits, max(d.seq) < 256 AS seq,
    bool_and(abs(extract(epoch FROM d.ts - clock_timestamp())) < 60) AS now
FROM snowflake_nextvals(100) x, snowflake_decode(x) d, snowflake_status s;

-- From the first lease on it stays.
UPDATE snowflake_layout SET epoch_ms = 0;
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
INSERT INTO snowflake_layout VALUES (true, 1314220021721, 1000, 41, 0, 13, 10, false);
SELECT id, d.*  FROM (VALUES (2384288897814875714), (9223372036854775807), (-9223372036854775808), (-1)) v(id), snowflake_decode(id) d;
-- Issuing ends where ids would turn negative.
:end_of_life
SELECT snowflake_nextval() > 0 AS issued;

-- Fewer than 63 bits: an id with a bit above them is none.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, 5, 7, false);
SELECT * FROM snowflake_decode(9007199254740991);
SELECT snowflake_decode(9007199254740992);
\echo :SQLSTATE
SELECT snowflake_nextval() BETWEEN 1 AND 9007199254740991 AS issued;

-- Nothing to issue: readable all the same.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 0, 1000, 47, 0, 0, 16, false);
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
DROP EXTENSION snowflake;
