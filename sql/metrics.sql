-- The views of numbers, for what collects metrics. What they show in outages is in test/t/node.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;

-- Numbers alone, which a collector can read as they are.
SELECT attrelid::regclass AS view, attname, atttypid::regtype FROM pg_attribute
WHERE attrelid IN ('snowflake_metrics'::regclass, 'snowflake_registry_metrics'::regclass) AND attnum > 0 ORDER BY 1, attnum;

-- The keeper notices within two seconds that the extension is another one.
DO $$ BEGIN WHILE (SELECT state <> 'idle' FROM snowflake_status) LOOP PERFORM pg_sleep(0.05); END LOOP; END $$;

-- Before the first id. What counts is of the database, and may have been counted before.
SELECT issuing, registry_here, worker, ids_flow_seconds, since_extension_seconds, lead_seconds, advice, end_of_life_seconds BETWEEN 60 * 365.0 * 86400 AND 70 * 365.0 * 86400 AS end_of_life FROM snowflake_metrics;
CREATE TABLE before AS SELECT * FROM snowflake_metrics;

-- The first window is short, but the keeper doubles it while time passes.
SELECT clock_timestamp() AS began \gset
SELECT count(*) FROM snowflake_nextvals(100);
SELECT state, issuing, idle, keeper_running, m.worker = s.worker AS worker, ids_flow_seconds BETWEEN 1 AND 10.1 + 4 * extract(epoch FROM clock_timestamp() - :'began'::timestamptz) AS flow,
    lead_seconds < 1 AS lead, clock_lead_seconds BETWEEN 0 AND 1 AS clock_lead, clock_bridged_total, clock_waits_total >= 0 AS clock_waits
FROM snowflake_metrics m JOIN snowflake_status s USING (state);
SELECT m.lease_waits_total - b.lease_waits_total AS waits, m.leases_acquired_total - b.leases_acquired_total AS acquired,
    m.clock_steps_back_total - b.clock_steps_back_total AS steps_back FROM snowflake_metrics m, before b;
SELECT m.ids_taken_total - b.ids_taken_total AS taken, m.registry_answers_total > b.registry_answers_total AS answers,
    m.registry_answer_seconds BETWEEN 0 AND 60 AS answer, m.since_registry_answer_seconds BETWEEN 0 AND 60 AS since, m.since_extension_seconds BETWEEN 0 AND 60 AS extended, m.registry_failures_total >= b.registry_failures_total AS failures,
    m.failed_calls_total - b.failed_calls_total AS failed, m.failed_segment_calls_total - b.failed_segment_calls_total AS failed_segments
FROM snowflake_metrics m, before b;

-- The counter is exact.
DO $$
DECLARE
    taken bigint := ids_taken_total FROM snowflake_metrics;
BEGIN
    FOR i IN 1..300 LOOP
        PERFORM snowflake_nextval() FROM generate_series(1, i % 70);
        taken := taken + i % 70;
        ASSERT ids_taken_total = taken FROM snowflake_metrics;
    END LOOP;
END $$;

-- Calls that fail are counted, those of segments by themselves; the horizon once somebody has asked for it.
SELECT snowflake_segment_nextval('none');
SELECT horizon_age_seconds IS NULL AS unasked FROM snowflake_metrics;
-- A first answer is 0 if other transactions have ended since its statement took its snapshot.
DO $$ BEGIN
    FOR i IN 1 .. 24000 LOOP
        EXIT WHEN snowflake_horizon() > 0;
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
END $$;
SELECT snowflake_horizon() > 0 AS reported;
SELECT m.failed_calls_total - b.failed_calls_total AS failed, m.failed_segment_calls_total - b.failed_segment_calls_total AS failed_segments,
    horizon_age_seconds IS NULL AS unasked FROM snowflake_metrics m, (SELECT failed_calls_total, failed_segment_calls_total FROM before) b;
DROP EXTENSION snowflake;
BEGIN;
CREATE EXTENSION snowflake;
SELECT snowflake_nextval();
ROLLBACK;
CREATE EXTENSION snowflake;
SELECT m.failed_calls_total - b.failed_calls_total AS failed, m.failed_segment_calls_total - b.failed_segment_calls_total AS failed_segments FROM snowflake_metrics m, before b;

-- A registry: of four datacenters of eight worker ids each, the second is the fullest.
SELECT * FROM snowflake_registry_metrics;
SELECT snowflake_set_layout('epoch=2025-01-01 time=40 datacenter=2 worker=3 seq=12');
SELECT * FROM snowflake_get_ring();
-- This database's own node has a lease of the first.
SELECT snowflake_nextval() <> 0 AS issued;
\set now 'extract(epoch FROM clock_timestamp())::bigint * 1000 - 1735689600000'
SELECT count(*) FROM generate_series(1, 5) n, LATERAL snowflake_lease_acquire('node ' || n, 1, :now, '1 hour', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT count(*) FROM snowflake_registry r, LATERAL snowflake_lease_extend(r.lease_id, r.secret_hash, :now, '1 hour', 0, 0, 0) WHERE node LIKE 'node %';
SELECT count(*) FROM generate_series(1, 2) n, LATERAL snowflake_lease_acquire('crashed ' || n, 2, :now - 5000, '1 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT * FROM snowflake_registry_metrics;
-- Those of the lower two thirds that are free are held back while it settles.
SELECT snowflake_settle('a test');
SELECT workers, workers_held, workers_free, workers_expired, workers_held_back, settling_seconds BETWEEN 3600 AND 3700 AS settling FROM snowflake_registry_metrics;
SELECT count(*) FROM generate_series(1, 2) n, LATERAL snowflake_lease_acquire('crashed ' || n, 0, :now - 5000, '1 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT workers_held_back, leases_expired FROM snowflake_registry_metrics;
-- After half of the time only those of leases whose windows are over.
BEGIN;
ALTER TABLE snowflake_origin DISABLE TRIGGER snowflake_guard;
UPDATE snowflake_origin SET settles_until = clock_timestamp() + '10 minutes';
SELECT workers_held_back FROM snowflake_registry_metrics;
ROLLBACK;
SELECT snowflake_settled();
SELECT workers_held_back, settling_seconds FROM snowflake_registry_metrics;

-- Rights: a node's numbers are everybody's, a registry's are those' who watch.
CREATE ROLE regress_snowflake_monitor IN ROLE pg_monitor;
CREATE ROLE regress_snowflake_nobody;
SET ROLE regress_snowflake_monitor;
SELECT registry_here FROM snowflake_metrics;
SELECT workers FROM snowflake_registry_metrics;
SET ROLE regress_snowflake_nobody;
SELECT registry_here FROM snowflake_metrics;
SELECT workers FROM snowflake_registry_metrics;
RESET ROLE;
DROP ROLE regress_snowflake_monitor, regress_snowflake_nobody;

-- A node's need no table of the registry, so nobody who locks one keeps them away.
SELECT snowflake_nextval() > 0 AS issued;
BEGIN;
SELECT issuing FROM snowflake_metrics;
SELECT relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname LIKE 'snowflake%' AND pid = pg_backend_pid() ORDER BY 1;
COMMIT;
DROP TABLE before;
DELETE FROM snowflake_registry WHERE node ~ '^(node|crashed) ';
