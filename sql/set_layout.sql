-- snowflake_set_layout(): what a database may begin with.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
\set SHOW_CONTEXT never

-- By name. It may change as long as no worker id was leased, and the same again is no change.
SELECT snowflake_set_layout('twitter');
SELECT * FROM snowflake_layout;
SELECT * FROM snowflake_decode(1541815603606036480);
SELECT snowflake_set_layout('sonyflake_2');
SELECT * FROM snowflake_layout;
SELECT ctid FROM snowflake_layout;
SELECT snowflake_set_layout('sonyflake_2');
SELECT ctid FROM snowflake_layout;
SELECT abs(end_of_life_seconds - extract(epoch FROM (SELECT end_of_life FROM snowflake_layouts WHERE name = 'sonyflake_2') - clock_timestamp())) < 1 AS same FROM snowflake_metrics;
-- Rolled back.
BEGIN;
SELECT snowflake_set_layout('pgedge_1_0');
SELECT snowflake_timestamp(0);
ROLLBACK;
SELECT snowflake_timestamp(0) = epoch AS back FROM snowflake_layouts WHERE name = 'sonyflake_2';
-- Every named layout that may be set, can.
BEGIN;
DO $$
DECLARE
    l record;
BEGIN
    FOR l IN SELECT * FROM snowflake_layouts WHERE settable AND name IS NOT NULL LOOP
        PERFORM snowflake_set_layout(l.name);
        IF snowflake_get_layout() <> l.definition
            OR (SELECT to_jsonb(o) - 'name' FROM snowflake_layouts o WHERE name IS NULL) <> to_jsonb(l) - 'name' THEN
            RAISE EXCEPTION '% was not set', l.name;
        END IF;
    END LOOP;
END $$;
ROLLBACK;

-- By definition, which the table stores in one form.
SELECT snowflake_set_layout('epoch=2020-01-01 time=41 datacenter=5 worker=5 seq=12');
SELECT * FROM snowflake_layout;
SELECT snowflake_set_layout('  time=33 seq=10 datacenter=10   worker=10 tick=1000000us epoch=1735689600001 ');
SELECT * FROM snowflake_layout;
-- The widest and the narrowest; ticks of a microsecond and of a day.
SELECT snowflake_set_layout('epoch=2020-01-01 tick=1us time=61 worker=1 seq=1');
SELECT snowflake_set_layout('epoch=2020-01-01 tick=86400s time=15 worker=31 seq=16');
SELECT snowflake_set_layout('epoch=2020-01-01 tick=86399s time=15 worker=1 seq=31');
SELECT * FROM snowflake_layout;
SELECT ctid FROM snowflake_layout \gset
SELECT snowflake_set_layout('epoch=1577836800000 tick=86399000ms time=15 worker=1 seq=31');
SELECT ctid = :'ctid' AS unchanged FROM snowflake_layout;
-- From the sign bit on.
SELECT snowflake_set_layout('epoch=2020-01-01 time=42 worker=10 seq=12');
SELECT date_trunc('second', clock_timestamp() + make_interval(secs => end_of_life_seconds) + interval '500 ms') AS end_of_life FROM snowflake_metrics;
-- Random ones: what is stored is what is read.
CREATE TABLE kept AS TABLE snowflake_layout;
CREATE TABLE random_layout AS
    SELECT n, 'epoch=' || (random() * 1.7e12)::bigint || ' tick=' || greatest(1, (random() * 2000)::int) || (ARRAY['us', 'ms'])[1 + n % 2]
        || ' time=' || t.bits || CASE WHEN n % 3 = 0 THEN seq || worker ELSE worker || seq END AS definition, t.bits AS time_bits
    FROM generate_series(1, 2000) n,
        LATERAL (SELECT 30 + (random() * 20 + n * 0)::int AS bits) t,
        LATERAL (SELECT CASE WHEN n % 4 = 0 THEN ' datacenter=' || 1 + (random() * 2 + n * 0)::int ELSE '' END || ' worker=' || 1 + (random() * 7)::int AS worker,
            ' seq=' || 1 + (random() * 6)::int AS seq) f;
DO $$
DECLARE
    r record;
    n integer := 0;
BEGIN
    FOR r IN SELECT * FROM random_layout LOOP
        BEGIN
            PERFORM snowflake_set_layout(r.definition);
        EXCEPTION WHEN invalid_parameter_value THEN
            CONTINUE;    -- less than ten years are left
        END;
        n := n + 1;
        IF n % 20 = 0 THEN COMMIT; END IF;    -- or each read passes all former rows
        IF (SELECT l.definition <> snowflake_get_layout() OR l.timestamp_bits <> r.time_bits OR (SELECT definition FROM snowflake_layout) <> l.definition
            FROM snowflake_layouts l WHERE name IS NULL)
            OR EXISTS (SELECT FROM (VALUES (0), (1), (4711), ((1::bigint << r.time_bits + 2) - 1)) i(id)
                WHERE snowflake_decode(id, r.definition) IS DISTINCT FROM snowflake_decode(id, snowflake_get_layout())
                    OR snowflake_timestamp(id, r.definition) <> snowflake_timestamp(id)) THEN
            RAISE EXCEPTION '% is not what was set: %', snowflake_get_layout(), r.definition;
        END IF;
        PERFORM snowflake_set_layout(snowflake_get_layout());
    END LOOP;
    IF n < 300 THEN RAISE EXCEPTION 'only % of them could be set', n; END IF;
END $$;
DROP TABLE random_layout;
SELECT snowflake_set_layout(definition) FROM kept;
DROP TABLE kept;

-- Layouts that cannot be.
SELECT snowflake_set_layout('epoch=2020-01-01 time=43 worker=10 seq=12');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 time=41 datacenter=11 worker=10 seq=1');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 time=31 worker=32 seq=1');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 time=2147483647 datacenter=2147483647 worker=2147483647 seq=2147483647');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 tick=1s time=60 worker=1 seq=1');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 worker=10 seq=12');
\echo :SQLSTATE
-- Ids can be read, but a database has its fields in one of two orders.
SELECT snowflake_set_layout('epoch=2020-01-01 worker=10 time=41 seq=12');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 sec=31 ms=10 worker=10 seq=12');
\echo :SQLSTATE
-- Nothing to issue.
SELECT snowflake_set_layout('epoch=2020-01-01 time=41 datacenter=5 seq=12');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 time=41 worker=10');
\echo :SQLSTATE
SELECT snowflake_set_layout('mastodon');
\echo :SQLSTATE
SELECT snowflake_set_layout('cockroachdb');
\echo :SQLSTATE
-- Whatever depends on the clock is left out of what is compared.
BEGIN;
CREATE FUNCTION refusal(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    PERFORM snowflake_set_layout(definition || ' worker=10 seq=12');
    RETURN 'none';
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN SQLERRM || ': ' || regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00', '<time>', 'g') || ' ' || hint;
END $$;
SELECT refusal('epoch=' || (now() + interval '1 day')::date || ' time=41');
SELECT refusal('epoch=253402300799000 time=41');
-- Ten years must be left, from now on.
SELECT refusal('epoch=2020-01-01 time=30');
SELECT refusal('epoch=' || (now())::date || ' time=38');
SELECT refusal('epoch=' || (now())::date || ' time=39');
SELECT refusal('epoch=' || (now() - interval '2500 days')::date || ' time=39');
SELECT refusal('epoch=' || (now() - interval '2800 days')::date || ' time=39');
ROLLBACK;
SELECT snowflake_set_layout('uid_generator');
\echo :SQLSTATE
-- Nulls and names.
SELECT snowflake_set_layout(NULL);
\echo :SQLSTATE
SELECT snowflake_set_layout('no such layout');
\echo :SQLSTATE
-- None of that changed anything.
SELECT * FROM snowflake_layout;

-- Where it may be called.
BEGIN READ ONLY;
SELECT snowflake_set_layout('twitter');
\echo :SQLSTATE
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake_set_layout('twitter');
\echo :SQLSTATE
ROLLBACK;
-- By whom: its owner, and whom he grants it, who needs no right on the table.
CREATE ROLE regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_set_layout('twitter');
\echo :SQLSTATE
SELECT snowflake_set_layout('epoch=2020-01-01 time=41 worker=10 seq=12');
\echo :SQLSTATE
SELECT count(*) > 10 AS readable FROM snowflake_layouts;
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_set_layout(text) TO regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_set_layout('twitter');
RESET ROLE;
SELECT * FROM snowflake_layout;
REVOKE EXECUTE ON FUNCTION snowflake_set_layout(text) FROM regress_snowflake_nobody;
DROP ROLE regress_snowflake_nobody;
-- What swallows the row does not go unnoticed.
CREATE RULE swallow AS ON UPDATE TO snowflake_layout DO INSTEAD NOTHING;
SELECT snowflake_set_layout('leaf');
\echo :SQLSTATE
DROP RULE swallow ON snowflake_layout;
CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER swallow BEFORE UPDATE ON snowflake_layout FOR EACH ROW EXECUTE FUNCTION swallow();
SELECT snowflake_set_layout('leaf');
\echo :SQLSTATE
DROP FUNCTION swallow CASCADE;

-- Ids of it; from the first lease on it stays, and setting it again is no error.
SELECT snowflake_set_layout('javascript');
SELECT bool_and(x BETWEEN 1 AND 9007199254740991) AS exact_in_a_double, bool_and(d.worker < 32 AND d.seq < 128) AS fits,
    bool_and(abs(extract(epoch FROM d.ts - clock_timestamp())) < 60) AS now
FROM snowflake_nextvals(200) x, snowflake_decode(x, 'javascript') d;
SELECT snowflake_set_layout('javascript');
SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=5 seq=7');
SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=5 seq=8');
\echo :SQLSTATE
SELECT snowflake_set_layout('snowflake');
\echo :SQLSTATE
SELECT * FROM snowflake_layout;

-- A registry under whose layout a worker id is leased keeps it, be it the default that nobody set.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT worker_id IS NOT NULL AS leased FROM snowflake_lease_acquire('x', 0,
    (extract(epoch FROM now() - timestamptz '2025-01-01 00:00+00') * 1000)::bigint, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_set_layout('snowflake');
SELECT snowflake_set_layout('twitter');
\echo :SQLSTATE
-- The default, set before anything is. Nobody issues under that lease.
DELETE FROM snowflake_registry;
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT snowflake_set_layout('snowflake');
SELECT * FROM snowflake_layout;
SELECT snowflake_nextval() > 0 AS issued;
-- In the transaction that creates the extension.
BEGIN;
SET LOCAL client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
SELECT snowflake_set_layout('pgedge');
COMMIT;
SELECT * FROM snowflake_decode(170505378935607296);
DROP EXTENSION snowflake;
