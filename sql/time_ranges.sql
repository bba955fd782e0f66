-- Times and the primary key: comparing ids is comparing timestamps, and indexes and partitions know it.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
\set SHOW_CONTEXT never

-- The smallest id at a time, by this database's layout and by a named one.
SELECT ts, snowflake_id_at(ts) AS id, snowflake_timestamp(snowflake_id_at(ts)) AS ts_of_id, snowflake_id_at(ts, 'snowflake') = snowflake_id_at(ts) AS same
FROM (VALUES (timestamptz '2025-01-01 00:00+00'), ('2025-01-01 00:00:00.000001+00'), ('2025-01-01 00:00:00.001+00'),
    ('2026-01-01 00:00+00'), ('2026-01-01 01:00+01'), ('2094-09-07 15:47:35.551+00'),
    ('2024-12-31 23:59:59.999999+00'), ('1970-01-01 00:00+00'), ('4714-11-24 00:00:00+00 BC'), ('-infinity')) v(ts);
-- An id's timestamp is its tick's beginning, so a time inside a tick leads to the next one.
SELECT ts, snowflake_id_at(ts, 'uid_generator') >> 35 AS tick
FROM (VALUES (timestamptz '2016-05-20 00:00:00+00'), ('2016-05-20 00:00:00.000001+00'), ('2016-05-20 00:00:00.999999+00'), ('2016-05-20 00:00:01+00')) v(ts);
SELECT snowflake_id_at(NULL) IS NULL, snowflake_id_at(NULL, 'snowflake') IS NULL, snowflake_id_at(now(), NULL) IS NULL;

-- After the last tick no id stands for the time.
SELECT snowflake_id_at('2094-09-07 15:47:35.551001+00');
\echo :SQLSTATE
SELECT snowflake_id_at('infinity');
\echo :SQLSTATE
SELECT snowflake_id_at('294276-12-31 23:59:59.999999+00', 'twitter');
\echo :SQLSTATE
SELECT snowflake_id_at('2094-09-08 00:00+00', 'javascript');
\echo :SQLSTATE
-- Where ids are negative, later is not greater.
SELECT snowflake_id_at('2046-06-27 17:00:49.496+00', 'instagram');
SELECT snowflake_id_at('2046-06-27 17:00:49.496001+00', 'instagram');
\echo :SQLSTATE
SELECT snowflake_id_at('2050-01-01 00:00+00', 'instagram');
\echo :SQLSTATE
SELECT snowflake_id_at(now(), 'no such layout');
\echo :SQLSTATE

-- Ranges: every kind of bound.
SELECT r, snowflake_range(r) AS ids, snowflake_range(r, 'snowflake') = snowflake_range(r) AS same
FROM (VALUES (tstzrange '[2025-01-01 00:00+00, 2025-01-01 00:00:00.002+00)'), ('(2025-01-01 00:00+00, 2025-01-01 00:00:00.002+00)'),
    ('[2025-01-01 00:00+00, 2025-01-01 00:00:00.002+00]'), ('(2025-01-01 00:00+00, 2025-01-01 00:00:00.002+00]'),
    ('[2025-01-01 00:00:00.001+00, 2025-01-01 00:00:00.001+00]'), ('[2025-01-01 00:00:00.0015+00, 2025-01-01 00:00:00.0016+00]'),
    ('empty'), ('(,)'), ('[-infinity, infinity]'), ('(-infinity, infinity)'), ('[infinity,)'), ('(,-infinity]'),
    ('[2025-01-01 00:00:00.001+00,)'), ('(,2025-01-01 00:00:00.001+00)'), ('[2025-01-01 00:00:00.001+00, infinity)'),
    ('[2020-01-01 00:00+00, 2024-01-01 00:00+00)'), ('[2020-01-01 00:00+00, 2025-01-01 00:00+00)'), ('[2020-01-01 00:00+00, 2025-01-01 00:00+00]'),
    ('[2094-09-07 15:47:35.551+00, 2094-09-07 15:47:35.552+00)'), ('[2094-09-07 15:47:35.551+00, 2200-01-01 00:00+00)'),
    ('(2094-09-07 15:47:35.551+00,)'), ('[2100-01-01 00:00+00, 2200-01-01 00:00+00)'),
    ('[4714-11-24 00:00:00+00 BC, 294276-12-31 23:59:59.999999+00]')) v(r);
SELECT snowflake_range(NULL) IS NULL, snowflake_range(NULL, 'snowflake') IS NULL, snowflake_range('(,)', NULL) IS NULL;
SELECT r, snowflake_range(r, 'instagram')
FROM (VALUES (tstzrange '(,)'), ('[2026-01-01 00:00+00,)'), ('[2026-01-01 00:00+00, infinity]'), ('(,2046-06-27 17:00:49.497+00)'), ('[infinity,infinity]')) v(r);
SELECT snowflake_range('[2026-01-01 00:00+00, 2046-06-27 17:00:49.497+00]', 'instagram');
\echo :SQLSTATE
SELECT snowflake_range('[2026-01-01 00:00+00, 2100-01-01 00:00+00]', 'instagram');
\echo :SQLSTATE
SELECT snowflake_range('[2050-01-01 00:00+00,)', 'instagram');
\echo :SQLSTATE
-- Only infinity is infinite: a finite time is among the negative ids, however late it is.
SELECT snowflake_range('[2026-01-01 00:00+00, 294276-12-31 23:59:59.999999+00]', 'instagram');
\echo :SQLSTATE
SELECT snowflake_range('[294247-01-10 04:00:54.775807+00,)', 'instagram');
\echo :SQLSTATE
SELECT snowflake_range('(,)', 'no such layout');
\echo :SQLSTATE

-- The same at random, for every named layout: ids of neighbouring ticks, times at, before, after and inside ticks.
CREATE TABLE sample AS
    SELECT l.name, l.tick, first + k * step + (random() * (step - 1))::bigint AS id, snowflake_timestamp(first, l.name) + j * l.tick + shift AS ts
    FROM (SELECT * FROM snowflake_layouts WHERE name IS NOT NULL) l,
        LATERAL (SELECT 1::bigint << (total_bits - timestamp_bits) AS step) s,
        LATERAL (SELECT (random() * (2 ^ 52 - 3))::bigint * CASE WHEN total_bits = 53 THEN 1 ELSE 1000 END / step * step AS first
                 FROM generate_series(1, 20) WHERE l.name IS NOT NULL UNION ALL SELECT 0) f,
        generate_series(0, 2) k, generate_series(-1, 3) j,
        (VALUES (interval '0'), ('1 us'), ('-1 us'), ('400 us')) v(shift);
SELECT count(*) > 20000 AS many, count(DISTINCT name) AS layouts, bool_and((id >= snowflake_id_at(ts, name)) = (snowflake_timestamp(id, name) >= ts)) AS same,
    bool_and((id < snowflake_id_at(ts, name)) = (snowflake_timestamp(id, name) < ts)) AS same_below,
    count(*) FILTER (WHERE id >= snowflake_id_at(ts, name)) > 1000 AS some_are, count(*) FILTER (WHERE id < snowflake_id_at(ts, name)) > 1000 AS some_are_not
FROM sample;
SELECT bounds, count(*) > 50000 AS many, bool_and((id <@ snowflake_range(r, name)) = (snowflake_timestamp(id, name) <@ r)) AS same,
    count(*) FILTER (WHERE id <@ snowflake_range(r, name)) > 1000 AS some_are, count(*) FILTER (WHERE NOT id <@ snowflake_range(r, name)) > 1000 AS some_are_not
FROM (SELECT name, id, bounds, tstzrange(ts, ts + length, bounds) AS r
      FROM sample, (VALUES ('[)'), ('()'), ('[]'), ('(]')) b(bounds), (VALUES (interval '0'), ('1 us'), ('1 ms'), ('10 ms 1 us')) l(length)) s
GROUP BY bounds ORDER BY bounds COLLATE "C";
-- By this database's layout.
SELECT bool_and((id >= snowflake_id_at(ts)) = (snowflake_timestamp(id) >= ts)) AS same,
    bool_and((id <@ snowflake_range(tstzrange(ts, NULL))) = (snowflake_timestamp(id) >= ts)) AS same_range
FROM sample WHERE name = 'snowflake';
DROP TABLE sample;

-- The primary key is the index on time: an index range scan.
CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer);
INSERT INTO event SELECT snowflake_encode(now() - i * interval '10 min', i % 1024, 0), i FROM generate_series(1, 10000) i;
INSERT INTO event (n) VALUES (0);
ANALYZE event;
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE id >= snowflake_id_at(now() - interval '1 day');
SELECT count(*), min(n) = 0 AS newest FROM event WHERE id >= snowflake_id_at(now() - interval '1 day');
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE id >= snowflake_id_at(now() - interval '2 days') AND id < snowflake_id_at(now() - interval '1 day');
EXPLAIN (COSTS OFF) SELECT * FROM event WHERE id >= snowflake_id_at('2026-02-01 00:00+00', 'snowflake') AND id < snowflake_id_at('2026-02-01 10:00+00', 'snowflake');
PREPARE since(timestamptz) AS SELECT count(*) FROM event WHERE id >= snowflake_id_at($1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE since(now() - interval '10 hours');
EXECUTE since(now() - interval '10 hours 1 ms');
RESET plan_cache_mode;
DEALLOCATE since;
DROP TABLE event;

-- Partitions by month on the id itself.
CREATE TABLE measurement (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), value integer) PARTITION BY RANGE (id);
CREATE TABLE measurement_2026_01 PARTITION OF measurement
    FOR VALUES FROM (snowflake_id_at('2026-01-01 00:00+00', 'snowflake')) TO (snowflake_id_at('2026-02-01 00:00+00', 'snowflake'));
CREATE TABLE measurement_2026_02 PARTITION OF measurement
    FOR VALUES FROM (snowflake_id_at('2026-02-01 00:00+00', 'snowflake')) TO (snowflake_id_at('2026-03-01 00:00+00', 'snowflake'));
CREATE TABLE measurement_2026_03 PARTITION OF measurement
    FOR VALUES FROM (snowflake_id_at('2026-03-01 00:00+00')) TO (snowflake_id_at('2026-04-01 00:00+00'));
SELECT c.oid::regclass AS partition, pg_get_expr(relpartbound, c.oid) AS bounds FROM pg_class c WHERE relispartition AND relkind = 'r' AND relname LIKE 'measurement%' ORDER BY relname COLLATE "C";
INSERT INTO measurement SELECT snowflake_encode(ts, 1, 1), 1 FROM generate_series(timestamptz '2026-01-01 00:00+00', '2026-03-31 23:00+00', '1 hour') ts;
INSERT INTO measurement VALUES (snowflake_encode('2026-01-31 23:59:59.999999+00', 1023, 4095), 2), (snowflake_encode('2026-02-01 00:00+00', 0, 0), 3);
SELECT tableoid::regclass AS partition, count(*), min(snowflake_timestamp(id)), max(snowflake_timestamp(id)) FROM measurement GROUP BY 1 ORDER BY 1;
SELECT tableoid::regclass AS partition, value FROM measurement WHERE value > 1 ORDER BY value;
INSERT INTO measurement VALUES (snowflake_encode('2026-04-01 00:00+00', 0, 0), 4);
\echo :SQLSTATE
ANALYZE measurement;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
-- With a layout's name partitions are pruned when the statement is planned,
EXPLAIN (COSTS OFF) SELECT * FROM measurement WHERE id >= snowflake_id_at('2026-03-01 00:00+00', 'snowflake');
EXPLAIN (COSTS OFF) SELECT * FROM measurement WHERE id >= snowflake_id_at('2026-01-20 00:00+00', 'snowflake') AND id < snowflake_id_at('2026-02-01 00:00+00', 'snowflake');
-- without it when it runs,
EXPLAIN (COSTS OFF) SELECT * FROM measurement WHERE id >= snowflake_id_at('2026-03-01 00:00+00');
EXPLAIN (COSTS OFF) SELECT * FROM measurement WHERE id >= snowflake_id_at('2026-01-20 00:00+00') AND id < snowflake_id_at('2026-03-01 00:00+00');
-- and so with any time that is known only then.
PREPARE since(timestamptz) AS SELECT count(*) FROM measurement WHERE id >= snowflake_id_at($1, 'snowflake');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE since('2026-02-10 00:00+00');
EXECUTE since('2026-02-10 00:00+00');
SET plan_cache_mode = force_custom_plan;
EXPLAIN (COSTS OFF) EXECUTE since('2026-02-10 00:00+00');
RESET plan_cache_mode;
DEALLOCATE since;
RESET enable_indexscan;
RESET enable_bitmapscan;
-- Retention: the month is gone at once, and nothing else is touched.
DROP TABLE measurement_2026_01;
SELECT count(*), min(snowflake_timestamp(id)) FROM measurement;
DROP TABLE measurement;
-- The daily job of doc/time-ranges.md, twice: this month's and the next one's partition are there, the one of 13 months ago is not.
CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), body text) PARTITION BY RANGE (id);
DO $$
BEGIN
    EXECUTE format('CREATE TABLE %I PARTITION OF event FOR VALUES FROM (0) TO (1)', to_char(now() - interval '13 months', '"event_"YYYY_MM'));
END $$;
CREATE PROCEDURE daily() LANGUAGE plpgsql AS $$
DECLARE
    month timestamptz;
BEGIN
    FOREACH month IN ARRAY ARRAY[date_trunc('month', now()), date_trunc('month', now()) + interval '1 month'] LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF event FOR VALUES FROM (%s) TO (%s)',
            to_char(month, '"event_"YYYY_MM'), snowflake_id_at(month), snowflake_id_at(month + interval '1 month'));
    END LOOP;
    EXECUTE format('DROP TABLE IF EXISTS %I', to_char(now() - interval '13 months', '"event_"YYYY_MM'));
END $$;
SET client_min_messages = warning;
CALL daily();
CALL daily();
RESET client_min_messages;
SELECT count(*) AS partitions, bool_and(inhrelid::regclass::text IN (to_char(now(), '"event_"YYYY_MM'), to_char(date_trunc('month', now()) + interval '1 month', '"event_"YYYY_MM'))) AS right_ones
FROM pg_inherits WHERE inhparent = 'event'::regclass;
INSERT INTO event (body) VALUES ('now') RETURNING tableoid::regclass::text = to_char(now(), '"event_"YYYY_MM') AS in_this_month;
DROP TABLE event;
DROP PROCEDURE daily();
