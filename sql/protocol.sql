-- The registry protocol, with clocks as arguments. Nothing is issued here: no keeper interferes.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
\set SHOW_CONTEXT never
-- The clocks here are years away from the server's.
SET snowflake.max_clock_skew = 0;

-- Four worker ids, ticks of 1 s; the next lease is number 5, so the ring's place 1.
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1s time=31 worker=2 seq=10');
SELECT setval('snowflake_registry_lease_id_seq', 6) = 6 AS ring;
-- Lease ids do not go back by themselves.
ALTER TABLE snowflake_origin DISABLE TRIGGER snowflake_guard;
UPDATE snowflake_origin SET last_lease_id = 4, started_at = pg_postmaster_start_time();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;

CREATE TABLE lease (name text, lease_id bigint, secret bytea, worker_id int, window_start bigint, window_end bigint);
-- A lease whose window is as long as it may become: the first one is shorter.
CREATE FUNCTION acquire(name text, now_tick bigint, duration interval DEFAULT '100 s')
    RETURNS TABLE (lease bigint, worker int, window_start bigint, window_end bigint) LANGUAGE sql AS $$
    WITH t AS MATERIALIZED (SELECT uuid_send(gen_random_uuid()) AS secret),
        a AS (SELECT a.*, t.secret, e.window_end AS moved_to
              FROM t, snowflake_lease_acquire(name, 0, now_tick, duration, sha256(t.secret), 0, NULL) a,
                  snowflake_lease_extend(a.lease_id, sha256(t.secret), a.window_start, duration, 0, 0, 0) e)
    INSERT INTO lease SELECT name, a.lease_id, a.secret, a.worker_id, a.window_start, a.moved_to FROM a
    RETURNING lease_id, worker_id, lease.window_start, lease.window_end $$;
CREATE FUNCTION extend(who text, now_tick bigint, duration interval DEFAULT '100 s') RETURNS bigint LANGUAGE sql AS $$
    SELECT e.window_end FROM lease l, snowflake_lease_extend(l.lease_id, sha256(l.secret), now_tick, duration, 0, 0, 0) e WHERE l.name = who $$;
CREATE FUNCTION release(who text, last_tick bigint) RETURNS boolean LANGUAGE sql AS $$
    SELECT snowflake_lease_release(lease_id, secret, last_tick, 0) FROM lease WHERE name = who $$;
CREATE VIEW registry AS SELECT lease_id, worker_id, node, window_start, window_end FROM snowflake_registry ORDER BY lease_id;
CREATE VIEW watermark AS SELECT * FROM snowflake_watermark ORDER BY worker_id;

-- Round and round, from lease_id mod 4 upwards.
SELECT * FROM acquire('a', 1000);
SELECT * FROM acquire('b', 1000);
SELECT release('a', 1005);
SELECT * FROM acquire('c', 1010);
SELECT * FROM acquire('d', 1010);
SELECT * FROM registry;
SELECT * FROM watermark;
-- Place 1 is free, but its watermark lies ahead of the clock: the window starts above it.
DO $$ BEGIN RAISE EXCEPTION 'undone: %', (SELECT x FROM acquire('x', 1010) x); END $$;
-- Place 1 is free and its watermark lies in the past: reused; the lease of 'b', whose window is over, too, stays.
SELECT * FROM acquire('e', 1100);
-- All four are leased.
SET timezone = 'UTC';
SELECT * FROM acquire('f', 1010);
\echo :SQLSTATE

-- The window's end only moves forward.
SELECT extend('b', 1050);
SELECT extend('b', 1020);
SELECT extend('b', 1020, '1 s');
SELECT extend('b', -9223372036854775808);
SELECT * FROM registry WHERE node = 'b';
-- Neither a wrong secret nor a lease that is gone moves anything.
SELECT (snowflake_lease_extend(lease_id, sha256('another'), 5000, '100 s', 0, 0, 0)).window_end FROM lease WHERE name = 'b';
SELECT snowflake_lease_release(lease_id, uuid_send(gen_random_uuid()), 1001, 0) FROM lease WHERE name = 'b';
SELECT extend('a', 1050);
SELECT release('a', 1050);
SELECT * FROM registry WHERE node = 'b';

-- When no worker id is free, one expired lease becomes a watermark at its window's end: the one that ended first. 'b' was extended and stays.
SELECT extend('c', 1011);
SELECT * FROM acquire('f', 1111);
SELECT * FROM registry;
SELECT * FROM watermark;
SELECT extend('d', 1111), release('d', 1100);

-- A release by SQL leaves the window's end, where clocks are not judged; outside the window it is refused without a reason.
SELECT release('b', 1150);
\echo :SQLSTATE
SELECT release('b', 998);
\echo :SQLSTATE
SELECT release('b', -9223372036854775808);
\echo :SQLSTATE
SELECT release('b', 9223372036854775807);
\echo :SQLSTATE
SELECT release('b', 999);
SELECT * FROM watermark;

-- A watermark never falls, and a worker id whose watermark lies ahead of the clock is passed over.
SELECT * FROM acquire('g', 1120);
SELECT release('g', 1120);
SELECT * FROM watermark;
UPDATE snowflake_watermark SET last_tick = 2000 + worker_id;
SELECT * FROM acquire('h', 1300);
SELECT release('h', 2500);
SELECT * FROM watermark;

-- What the layout can hold.
SELECT 2147483647 AS max_tick \gset
SELECT * FROM acquire('end', :max_tick - 10);
SELECT extend('end', :max_tick);
SELECT release('end', :max_tick);
SELECT * FROM acquire('last', :max_tick, '1 s');
SELECT * FROM acquire('late', :max_tick::bigint + 1);
\echo :SQLSTATE
SELECT * FROM acquire('late', 9223372036854775807);
\echo :SQLSTATE
-- Bad arguments.
SELECT snowflake_lease_acquire(NULL, 0, 0, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', NULL, 0, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, NULL, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, NULL, sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_extend(NULL, sha256(uuid_send(gen_random_uuid())), 0, '1 min', 0, 0, 0);
\echo :SQLSTATE
SELECT snowflake_lease_extend(1, NULL, 0, '1 min', 0, 0, 0);
\echo :SQLSTATE
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), NULL, 0);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, '0', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, '999 ms', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, '-1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, '1 day 1 us', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, '1 month', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 0, '178000000 years', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 0, '0', 0, 0, 0);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 1, 0, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', -1, 0, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SET default_transaction_isolation = 'repeatable read';
SELECT snowflake_lease_acquire('x', 0, 0, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
RESET default_transaction_isolation;
SET default_transaction_isolation = 'serializable';
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 0, '1 min', 0, 0, 0);
\echo :SQLSTATE
RESET default_transaction_isolation;
SET default_transaction_isolation = 'serializable';
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), 0, 0);
\echo :SQLSTATE
RESET default_transaction_isolation;
SET default_transaction_read_only = on;
SELECT snowflake_lease_acquire('x', 0, 0, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
RESET default_transaction_read_only;

-- Durable whatever the session prefers, and only for the transaction.
SET synchronous_commit = off;
SELECT window_start, current_setting('synchronous_commit') FROM acquire('durable', 2010);
SHOW synchronous_commit;
SELECT extended, current_setting('synchronous_commit') FROM extend('durable', 2010) extended;
SHOW synchronous_commit;
SET synchronous_commit = remote_apply;
SELECT extended, current_setting('synchronous_commit') FROM extend('durable', 2010) extended;
SELECT released, current_setting('synchronous_commit') FROM release('durable', 2010) released;
SHOW synchronous_commit;
RESET synchronous_commit;
-- search_path and role are as before, also after an error.
SHOW search_path;
SELECT current_user = session_user AS same_user;

-- A node whose clock is off is refused.
SET snowflake.max_clock_skew = '10s';
SELECT (extract(epoch FROM clock_timestamp()))::bigint AS now_tick \gset
\set VERBOSITY sqlstate
SELECT snowflake_lease_acquire('x', 0, :now_tick - 3600, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_acquire('x', 0, :now_tick - 13, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_acquire('x', 0, :now_tick + 13, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_acquire('x', 0, :now_tick + 3600, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_acquire('x', 0, -9223372036854775808, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_acquire('x', 0, 9223372036854775807, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
\set VERBOSITY default
SELECT (snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), :now_tick + 5, '1 min', 0, 0, 0)).window_end;
SELECT (snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), :now_tick - 5, '1 min', 0, 0, 0)).window_end;
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), 0, 0);
SET snowflake.max_clock_skew = 0;

-- An acquire, an extend and a request for ranges remove the mark of a clean shutdown.
\set mark 'ALTER TABLE snowflake_origin DISABLE TRIGGER snowflake_guard; UPDATE snowflake_origin SET clean_at = now(); ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;'
:mark
SELECT lease_id AS marked FROM snowflake_lease_acquire('marked', 0, 2010, '1 min', sha256('marked'), 0, NULL) \gset
SELECT clean_at IS NULL AS removed FROM snowflake_origin;
:mark
SELECT window_end IS NOT NULL AS extended FROM snowflake_lease_extend(:marked, sha256('marked'), 2010, '1 min', 0, 0, 0);
SELECT clean_at IS NULL AS removed FROM snowflake_origin;
:mark
SELECT cardinality(segment_ids) AS ranges FROM snowflake_segment_ranges('marked', '{}', '{}', '{}', '{}', '{}', '{}');
SELECT clean_at IS NULL AS removed FROM snowflake_origin;

-- Before the epoch: the window starts with it.
DROP VIEW registry, watermark;
DELETE FROM snowflake_registry;
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1s time=31 worker=1 seq=10');
SELECT window_start, window_end FROM acquire('early', -5);
SELECT window_start, window_end FROM acquire('earlier', -9223372036854775808);
-- A lease expires by the earlier one of the node's and the registry's clock: neither one that is behind nor one that is ahead
-- ends those of others.
SELECT * FROM acquire('slow', 50);
SELECT extract(epoch FROM now())::bigint AS clock \gset
SELECT window_start - :clock AS window_start FROM acquire('ahead', :clock + 100000);
SELECT window_start - :clock AS window_start FROM acquire('ahead, too', :clock + 100000);
\set VERBOSITY sqlstate
SELECT * FROM acquire('further ahead', :clock + 200000);
\set VERBOSITY default

-- Datacenters: each has its own part of the worker ids.
DELETE FROM snowflake_registry;
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=41 datacenter=2 worker=3 seq=12');
SELECT dc, min(worker_id), max(worker_id), count(DISTINCT worker_id) FROM generate_series(0, 3) dc, generate_series(1, 8) n,
    snowflake_lease_acquire('node ' || n, dc, 100, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL) a GROUP BY dc ORDER BY dc;
SELECT snowflake_lease_acquire('x', 2, 100, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 4, 100, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
-- A name is shown on a line, whatever a node sends.
DELETE FROM snowflake_registry WHERE worker_id = 0;
SELECT worker_id FROM snowflake_lease_acquire(E'a\n\t\x1b[31m\x7f', 0, 1000000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT node FROM snowflake_workers WHERE worker = 0;
DROP FUNCTION acquire, extend, release;
DROP TABLE lease;
DROP EXTENSION snowflake;
