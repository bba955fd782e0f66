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
    FOR l IN SELECT * FROM snowflake_layouts WHERE settable LOOP
        PERFORM snowflake_set_layout(l.name);
        IF (SELECT (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first) FROM snowflake_get_layout())
            <> ((extract(epoch FROM l.epoch) * 1000)::bigint, (extract(epoch FROM l.tick) * 1000000)::bigint,
                l.timestamp_bits, l.datacenter_bits, l.worker_bits, l.sequence_bits, l.sequence_first) THEN
            RAISE EXCEPTION '% was not set', l.name;
        END IF;
    END LOOP;
END $$;
ROLLBACK;

-- By fields.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 5, 5, 12);
SELECT * FROM snowflake_layout;
SELECT snowflake_set_layout(epoch => '2025-01-01 00:00:00.001+00', tick => '1 s', timestamp_bits => 33, datacenter_bits => 10, worker_bits => 10, sequence_bits => 10, sequence_first => true);
SELECT * FROM snowflake_layout;
-- The widest and the narrowest; ticks of a microsecond and of a day.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 us', 61, 0, 1, 1);
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 day', 15, 0, 31, 16);
SELECT snowflake_set_layout('2020-01-01 00:00+00', '24:00:00', 15, 0, 1, 1);
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 day -00:00:01', 15, 0, 1, 31);
SELECT * FROM snowflake_layout;
-- From the sign bit on.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 42, 0, 10, 12);
SELECT date_trunc('second', clock_timestamp() + make_interval(secs => end_of_life_seconds) + interval '500 ms') AS end_of_life FROM snowflake_metrics;

-- Layouts that cannot be.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 43, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 0, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', -1, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 11, 10, 1);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 31, 0, 32, 1);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 2147483647, 2147483647, 2147483647, 2147483647);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 s', 60, 0, 1, 1);
\echo :SQLSTATE
-- Nothing to issue.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 5, 0, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 0, 10, 0);
\echo :SQLSTATE
SELECT snowflake_set_layout('mastodon');
\echo :SQLSTATE
SELECT snowflake_set_layout('cockroachdb');
\echo :SQLSTATE
-- The epoch.
SELECT snowflake_set_layout('infinity', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('-infinity', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00:00.000001+00', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('1969-12-31 23:59:59.999999+00', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('1969-12-31 23:59:59.999+00', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('4714-11-24 00:00:00+00 BC', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('294276-12-31 23:59:59.999+00', '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
-- Whatever depends on the clock is left out of what is compared.
BEGIN;
CREATE FUNCTION refusal(epoch timestamptz, tick interval, timestamp_bits integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    PERFORM snowflake_set_layout(epoch, tick, timestamp_bits, 0, 10, 12);
    RETURN 'none';
EXCEPTION WHEN invalid_parameter_value THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN SQLERRM || ': ' || regexp_replace(detail, '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00', '<time>', 'g') || ' ' || hint;
END $$;
SELECT refusal(date_trunc('day', now()) + interval '1 day', '1 ms', 41);
SELECT refusal('9999-12-31 23:59:59+00', '1 ms', 41);
-- Ten years must be left, from now on.
SELECT refusal('2020-01-01 00:00+00', '1 ms', 30);
SELECT refusal(date_trunc('day', now()), '1 ms', 38);
SELECT refusal(date_trunc('day', now()), '1 ms', 39);
SELECT refusal(date_trunc('day', now()) - interval '2500 days', '1 ms', 39);
SELECT refusal(date_trunc('day', now()) - interval '2800 days', '1 ms', 39);
ROLLBACK;
SELECT snowflake_set_layout('uid_generator');
\echo :SQLSTATE
-- The tick.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '0', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '0.4 us', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '-1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 day 1 us', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 month', 20, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 month -30 days 1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '178000000 years', 41, 0, 10, 12);
\echo :SQLSTATE
-- Times a day's microseconds it is 16 hours more than 2^64.
SELECT snowflake_set_layout('2020-01-01 00:00+00', '213503983 days', 20, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '2147483647 days', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '-2147483648 days', 41, 0, 10, 12);
\echo :SQLSTATE
-- Nulls and names.
SELECT snowflake_set_layout(NULL);
\echo :SQLSTATE
SELECT snowflake_set_layout(NULL, '1 ms', 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', NULL, 41, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', NULL, 0, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, NULL, 10, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 0, NULL, 12);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 0, 10, NULL);
\echo :SQLSTATE
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 0, 10, 12, NULL);
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
SELECT snowflake_set_layout('2020-01-01 00:00+00', '1 ms', 41, 0, 10, 12);
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
SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 0, 5, 7);
SELECT snowflake_set_layout('2025-01-01 00:00+00', '1 ms', 41, 0, 5, 8);
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
