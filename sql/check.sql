-- Ids of a table held against the registry. Which worker ids there are differs from run to run; their names do not.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
\set SHOW_CONTEXT never
SET timezone = 'UTC';

CREATE TABLE orders (n integer, id bigint DEFAULT snowflake_nextval());
INSERT INTO orders SELECT generate_series(1, 1000);
INSERT INTO orders VALUES (0, NULL);

-- All is well.
SELECT * FROM snowflake_check('orders', 'id');

-- What came from elsewhere.
SELECT worker AS this, (worker + 1) % 683 AS other FROM snowflake_status \gset
CREATE TABLE named (worker integer, name text);
INSERT INTO named VALUES (:this, 'this'), (:other, 'other');
CREATE FUNCTION check_orders() RETURNS TABLE (problem text, name text, ids bigint, first integer, last integer)
    LANGUAGE sql AS $$
    SELECT problem, name, ids, (SELECT n FROM orders WHERE id = first_id), (SELECT n FROM orders WHERE id = last_id)
    FROM snowflake_check('orders', 'id') LEFT JOIN named USING (worker) ORDER BY 1, 2 $$;
INSERT INTO orders VALUES
    (-1, snowflake_encode(now() - interval '2 days', :this, 7)),
    (-2, snowflake_encode(now() - interval '1 day', :this, 7)),
    (-3, snowflake_encode(now(), :other, 0)),
    (-4, snowflake_encode(now() + interval '1 hour', :this, 0)),
    (-5, snowflake_encode(now() + interval '2 hours', :other, 0)),
    (-6, -9223372036854775808), (-7, -1);
SELECT * FROM check_orders();
-- Further ahead, and no more of the future.
SET snowflake.max_clock_skew = '23h';
SELECT problem, name, ids FROM check_orders();
RESET snowflake.max_clock_skew;

-- A lease covers its window, and leaves a watermark that covers what was before.
DELETE FROM orders WHERE n < 0 AND n <> -3;
UPDATE orders SET id = snowflake_encode(now() + interval '8 s', :other, 0) WHERE n = -3;
SELECT setval('snowflake_registry_lease_id_seq', 683 * 1000 + :other - 1) > 0 AS ring;
SELECT uuid_send(gen_random_uuid()) AS secret \gset
SELECT lease_id, worker_id = :other AS other FROM snowflake_lease_acquire('other', 0,
    (extract(epoch FROM now()) * 1000)::bigint - 1735689600000, '1 min', sha256(:'secret'), 0, NULL) \gset
SELECT :'other' AS other;
SELECT * FROM check_orders();
SELECT snowflake_lease_release(:lease_id, :'secret', (extract(epoch FROM now()) * 1000)::bigint - 1735689600000 + 2000, 0);
SELECT * FROM check_orders();

-- A registry elsewhere: told for each worker id, so that nobody takes silence for an answer.
INSERT INTO orders VALUES (-6, -2);
SET snowflake.registry = 'host=/nowhere';
SELECT problem, name, ids FROM check_orders();
RESET snowflake.registry;

-- Partitions, and children whose columns are in another order.
CREATE TABLE parts (id bigint, n integer) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE high (n integer, dropped text, id bigint);
ALTER TABLE high DROP COLUMN dropped;
ALTER TABLE parts ATTACH PARTITION high FOR VALUES FROM (0) TO (MAXVALUE);
INSERT INTO parts VALUES (-1, 1), (-2, 2), (snowflake_nextval(), 3);
SELECT * FROM snowflake_check('parts', 'id');
SELECT * FROM snowflake_check('high', 'id');
CREATE TABLE more (m text) INHERITS (orders);
INSERT INTO more (n, id, m) VALUES (-1, -9, 'x');
SELECT * FROM snowflake_check('orders', 'id');
CREATE MATERIALIZED VIEW kept AS SELECT id FROM parts;
SELECT problem, ids FROM snowflake_check('kept', 'id');

-- What is no such column.
CREATE VIEW seen AS SELECT id FROM orders;
CREATE SEQUENCE numbers;
SELECT * FROM snowflake_check(NULL, 'id');
\echo :SQLSTATE
SELECT * FROM snowflake_check('orders', NULL);
\echo :SQLSTATE
SELECT * FROM snowflake_check(0, 'id');
\echo :SQLSTATE
SELECT * FROM snowflake_check('orders', 'ID');
\echo :SQLSTATE
SELECT * FROM snowflake_check('orders', 'ctid');
\echo :SQLSTATE
SELECT * FROM snowflake_check('orders', 'n');
\echo :SQLSTATE
SELECT * FROM snowflake_check('more', 'm');
\echo :SQLSTATE
SELECT * FROM snowflake_check('seen', 'id');
\echo :SQLSTATE
SELECT * FROM snowflake_check('numbers', 'last_value');
\echo :SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM snowflake_check('orders', 'id');
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT problem, ids FROM snowflake_check('more', 'id');
COMMIT;

-- Rights: on the function, on the table or the column, and policies that would hide rows.
CREATE ROLE regress_snowflake_reader;
SET ROLE regress_snowflake_reader;
SELECT * FROM snowflake_check('orders', 'id');
\echo :SQLSTATE
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_check TO regress_snowflake_reader;
SET ROLE regress_snowflake_reader;
SELECT * FROM snowflake_check('more', 'id');
\echo :SQLSTATE
RESET ROLE;
GRANT SELECT (id) ON more TO regress_snowflake_reader;
SET ROLE regress_snowflake_reader;
SELECT * FROM snowflake_check('more', 'id');
RESET ROLE;
ALTER TABLE more ENABLE ROW LEVEL SECURITY;
SET ROLE regress_snowflake_reader;
SELECT * FROM snowflake_check('more', 'id');
\echo :SQLSTATE
RESET ROLE;
SELECT * FROM snowflake_check('more', 'id');

-- Nobody else's code runs, not even what a query would run as it is planned.
CREATE SEQUENCE runs;
CREATE FUNCTION planted(integer) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN nextval('public.runs'); END $$;
CREATE INDEX planted ON low ((id + planted(1)));
SELECT last_value AS before FROM runs \gset
SELECT count(*) FROM low;
SELECT last_value > :before AS a_query_runs_it, last_value AS before FROM runs \gset
SELECT problem, ids FROM snowflake_check('low', 'id');
SELECT :'a_query_runs_it' AS a_query_runs_it, last_value > :before AS a_check_runs_it FROM runs;

-- A layout that leaves bits unused.
SET client_min_messages = warning;
DROP TABLE orders, parts CASCADE;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT snowflake_set_layout('javascript');
CREATE TABLE small (id bigint DEFAULT snowflake_nextval());
INSERT INTO small DEFAULT VALUES;
INSERT INTO small VALUES (9007199254740992), (-1);
SELECT * FROM snowflake_check('small', 'id');

DROP TABLE small, named;
DROP SEQUENCE numbers, runs;
DROP FUNCTION check_orders, planted;
DROP ROLE regress_snowflake_reader;

\set VERBOSITY terse
-- A worker id that is set aside for ids of old rows: no node gets it, even if all others are leased, also after they expired.
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT snowflake_set_layout('epoch=2020-01-01 time=44 worker=3 seq=12');
\set now 'extract(epoch FROM clock_timestamp())::bigint * 1000 - 1577836800000'
CREATE TABLE old_orders (id bigint);
INSERT INTO old_orders SELECT snowflake_encode('2021-01-01 00:00+00'::timestamptz + n * interval '1 hour', 7, n % 10) FROM generate_series(1, 1000) n;
SELECT problem, worker, ids FROM snowflake_check('old_orders', 'id');
SELECT snowflake_set_aside(7);
SELECT problem, worker, ids FROM snowflake_check('old_orders', 'id');
INSERT INTO old_orders VALUES (snowflake_encode(now() + interval '1 day', 7, 0)), (snowflake_encode(now(), 6, 0));
SELECT problem, worker, ids FROM snowflake_check('old_orders', 'id');
SELECT worker, node, role, late, expired FROM snowflake_workers;
SELECT workers_held, workers_free, leases_late FROM snowflake_registry_metrics;
SET snowflake.max_clock_skew = 0;
SELECT count(DISTINCT worker_id), max(worker_id) FROM generate_series(1, 7) n,
    LATERAL snowflake_lease_acquire('node ' || n, 0, :now - 60000, '1 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT count(DISTINCT worker_id), max(worker_id) FROM generate_series(1, 7) n,
    LATERAL snowflake_lease_acquire('later ' || n, 0, :now, '1 hour', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT FROM snowflake_lease_acquire('last', 0, :now, '1 hour', sha256('last'), 0, NULL);
\echo :SQLSTATE
RESET snowflake.max_clock_skew;
-- Nobody can extend or shorten it. Deleted by hand, it stays set aside.
SELECT lease_id AS aside, secret_hash AS hash FROM snowflake_registry WHERE worker_id = 7 \gset
SELECT window_end FROM snowflake_lease_extend(:aside, :'hash', :now, '1 min', 0, 7, 0);
UPDATE snowflake_registry SET window_end = window_end - 1 WHERE worker_id = 7;
\echo :SQLSTATE
BEGIN;
DELETE FROM snowflake_registry WHERE worker_id = 7;
SELECT snowflake_timestamp(id) > '2500-01-01' AS watermark FROM snowflake_watermark, snowflake_encode(snowflake_tick_timestamp(last_tick), 7, 0) id WHERE worker_id = 7;
ROLLBACK;
-- What cannot be set aside: the worker id of a node, one that was leased before, none of the layout, any while it settles.
SELECT snowflake_set_aside(7);
\echo :SQLSTATE
SELECT snowflake_set_aside(8);
\echo :SQLSTATE
SELECT snowflake_set_aside(NULL);
\echo :SQLSTATE
DELETE FROM snowflake_registry WHERE worker_id = 3;
SELECT snowflake_set_aside(3);
\echo :SQLSTATE
SET snowflake.registry = 'host=/nowhere';
SELECT snowflake_set_aside(3);
\echo :SQLSTATE
RESET snowflake.registry;
-- It does not hinder a drop of the registry. Evicted, it is for nodes again, from then on.
SELECT count(snowflake_evict(worker_id, clock_timestamp())) FROM snowflake_registry WHERE node <> 'set aside';
BEGIN;
DROP EXTENSION snowflake CASCADE;
\echo :SQLSTATE
ROLLBACK;
SELECT snowflake_evict(7, clock_timestamp());
SELECT last_tick BETWEEN :now - 1000 AND :now + 120000 AS from_now_on FROM snowflake_watermark WHERE worker_id = 7;
SELECT snowflake_settle('a test');
SELECT snowflake_set_aside(7);
\echo :SQLSTATE
DROP TABLE old_orders;
