-- From now on every id is larger.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
\set SHOW_CONTEXT never

-- What is past takes no time, and is written down all the same, before a first lease, too.
SELECT snowflake_raise(snowflake_encode('2025-07-01 00:00+00', 5, 6));
SELECT snowflake_tick_timestamp(raised_tick) = '2025-07-01 00:00+00' AS raised FROM snowflake_origin;
-- It never falls.
SELECT snowflake_raise(0);
SELECT snowflake_tick_timestamp(raised_tick) = '2025-07-01 00:00+00' AS raised FROM snowflake_origin;

-- An id of a time that is near: it waits until the clock has passed it.
SELECT snowflake_nextval() > 0 AS issued;
SELECT snowflake_nextval() AS before, snowflake_encode(clock_timestamp() + interval '300 ms', 1023, 4095) AS id \gset
SELECT :before < :id AS smaller;
SELECT snowflake_raise(:id);
SELECT snowflake_nextval() > :id AS larger;
SELECT count(*) FILTER (WHERE id <= :id) AS smaller FROM snowflake_nextvals(1000) id;
SELECT raised_tick = :id >> 22 AS raised FROM snowflake_origin;
-- The last one that was issued: what is of its millisecond is ruled out.
SELECT snowflake_nextval() AS id \gset
SELECT snowflake_raise(:id);
SELECT snowflake_nextval() >> 22 > :id >> 22 AS larger;

-- A lease begins above it, whatever the node's clock shows.
SET snowflake.max_clock_skew = 0;
DO $$ BEGIN RAISE EXCEPTION 'undone; above: %', (SELECT a.window_start = o.raised_tick + 1 FROM snowflake_origin o,
    snowflake_lease_acquire('behind', 0, o.raised_tick - 60000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL) a); END $$;
RESET snowflake.max_clock_skew;

-- Undone with its transaction.
SELECT raised_tick AS before FROM snowflake_origin \gset
SELECT snowflake_nextval() AS id \gset
BEGIN;
SELECT snowflake_raise(:id);
ROLLBACK;
SELECT raised_tick = :before AS as_before FROM snowflake_origin;
-- What is written by another way is not.
UPDATE snowflake_origin SET raised_tick = -1;
\echo :SQLSTATE

-- Refused.
SELECT snowflake_raise(NULL);
\echo :SQLSTATE
SELECT snowflake_raise(-1);
\echo :SQLSTATE
\set VERBOSITY sqlstate
SELECT snowflake_raise(snowflake_encode(now() + interval '1 hour', 0, 0));
SELECT snowflake_raise(9223372036854775807);
\set VERBOSITY default
BEGIN READ ONLY;
SELECT snowflake_raise(0);
\echo :SQLSTATE
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake_raise(0);
\echo :SQLSTATE
ROLLBACK;
CREATE ROLE regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_raise(0);
\echo :SQLSTATE
RESET ROLE;
DROP ROLE regress_snowflake_nobody;

-- Where the registry is another one, this node alone.
SET snowflake.registry = 'host=/nowhere';
SELECT snowflake_nextval() AS id \gset
SELECT snowflake_raise(:id);
SELECT snowflake_nextval() > :id AS larger;
RESET snowflake.registry;
SELECT raised_tick = :before AS as_before FROM snowflake_origin;

-- An id that the layout cannot hold.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT snowflake_set_layout('javascript');
SELECT snowflake_raise(9007199254740992);
\echo :SQLSTATE
SELECT snowflake_raise(1 << 12);
SELECT raised_tick FROM snowflake_origin;
