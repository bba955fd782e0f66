-- Reading and writing ids by the layouts of well-known systems.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';

SELECT name, epoch, tick, timestamp_bits AS time, datacenter_bits AS dc, worker_bits AS worker, sequence_bits AS seq, sequence_first AS seq_first, total_bits AS total
FROM snowflake_layouts;
SELECT name, end_of_life, negative_until FROM snowflake_layouts WHERE name IS NOT NULL;
-- Which can be begun with depends on the date.
SELECT name FROM snowflake_layouts
WHERE settable <> (worker_bits > 0 AND sequence_bits > 0 AND end_of_life >= now() + interval '3652.5 days');
SELECT name FROM snowflake_layouts WHERE NOT settable AND (worker_bits = 0 OR sequence_bits = 0 OR end_of_life < '2025-01-01');

-- Ids that these systems published, with what they say of them.
CREATE TABLE published (layout text, id bigint, unix_us bigint, worker integer, seq integer);
INSERT INTO published VALUES
    ('twitter', 1541815603606036480, 1656432460105000, 378, 0),
    ('twitter', 1460323737035677698, 1637003285069000, 338, 2),
    ('clickhouse', 7204436857747984384, 1717671598851000, 205, 0),
    ('clickhouse', 7195516038159417344, 1715544709720000, 484, 0),
    ('discord', 175928847299117063, 1462015105796000, 32, 7),
    ('discord', 762022344856174632, 1601750684704000, 256, 40),
    ('discord', 90339695967350784, 1441609061949000, 3, 0),
    ('discord', 661720242585604096, 1577836800000000, 1, 0),
    ('cosid', 295913926632165376, 1647754577924000, 5, 0),
    ('instagram', 2384288897814875714, 1598449407313000, 2675, 578),
    ('mastodon', 103270115826048975, 1575776913849000, NULL, 40911),
    ('cockroachdb', 148656994422095873, 1465436914411040, 1, NULL),
    ('leaf', 890399407000784896, 1501122736107000, 1, 0),
    ('leaf', 1116766490855473152, 1555092854595000, 0, 0),
    ('leaf', 1428076403798048768, 1629314921699000, 0, 0),
    ('shardingsphere', 725026630224842752, 1650789418989000, 1, 0),
    ('shardingsphere', 0, 1477929600000000, 0, 0),
    ('shardingsphere', 4194306, 1477929600001000, 0, 2),
    ('shardingsphere', 12582914, 1477929600003000, 0, 2),
    ('pgedge', 170505378935607296, 1713182850175000, 1, 0),
    ('pgedge_1_0', 136169504773242881, 1704996539845000, 1, 0),
    ('yitter', 129053495681099, 1613643603094000, 1, 11),
    ('yitter', 646093214093387, 1739874003097000, 1, 11),
    ('pgactive', 25074801076895745, 1477290714245000, 2, 1),
    ('pgdog', 47839699276046336, 1775590268126000, 42, 0),
    ('pgdog', 415268863, 1764184395099000, 7, 4095);
SELECT p.layout, p.id, d.*,
    (extract(epoch FROM d.ts) * 1000000 = unix_us AND d.worker = coalesce(p.worker, 0) AND d.seq = coalesce(p.seq, 0)) AS as_published,
    snowflake_timestamp(p.id, p.layout) = d.ts AS same_time,
    snowflake_encode(d.ts, d.worker, d.seq, p.layout) = p.id AS inverse
FROM published p, snowflake_decode(p.id, p.layout) d;
DROP TABLE published;

-- Any id, by rule: the fields of the view, taken apart as numbers.
CREATE TABLE sample AS
    SELECT l.*, bits - CASE WHEN total_bits = 64 AND bits >= 2::numeric ^ 63 THEN 2::numeric ^ 64 ELSE 0 END AS id, bits
    FROM (SELECT * FROM snowflake_layouts WHERE name IS NOT NULL) l,
        LATERAL (SELECT floor(2::numeric ^ l.total_bits * random()::numeric) AS bits FROM generate_series(1, 1000)
                 UNION ALL SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2::numeric ^ l.total_bits - 1
                 UNION ALL SELECT 2::numeric ^ (l.total_bits - 1) UNION ALL SELECT 2::numeric ^ (l.total_bits - 1) - 1) b;
SELECT name, count(*), min(id) < 0 AS negative,
    bool_and(extract(epoch FROM d.ts) = extract(epoch FROM epoch) + extract(epoch FROM tick) * div(bits, 2::numeric ^ (total_bits - timestamp_bits))) AS ts,
    bool_and(d.worker = mod(div(bits, 2::numeric ^ CASE WHEN sequence_first THEN 0 ELSE sequence_bits END), 2::numeric ^ (datacenter_bits + worker_bits))) AS worker,
    bool_and(d.seq = mod(div(bits, 2::numeric ^ CASE WHEN sequence_first THEN datacenter_bits + worker_bits ELSE 0 END), 2::numeric ^ sequence_bits)) AS seq,
    bool_and(snowflake_encode(d.ts, d.worker, d.seq, name) = id) AS inverse,
    bool_and(snowflake_encode(d.ts + tick - interval '1 us', d.worker, d.seq, name) = id) AS rounded_down
FROM sample, snowflake_decode(id::bigint, name) d GROUP BY name ORDER BY name COLLATE "C";
DROP TABLE sample;

-- Extremes.
SELECT * FROM snowflake_decode(9223372036854775807, 'snowflake');
SELECT * FROM snowflake_decode(-1, 'instagram');
SELECT * FROM snowflake_decode(-9223372036854775808, 'instagram');
SELECT * FROM snowflake_decode(9223372036854775807, 'cockroachdb');
SELECT * FROM snowflake_decode(9223372036854775807, 'yitter');
SELECT * FROM snowflake_decode(9007199254740991, 'javascript');
SELECT snowflake_encode('2094-09-07 15:47:35.551999+00', 1023, 4095, 'snowflake');
SELECT snowflake_encode('2081-04-30 12:54:37.272999+00', 8191, 1023, 'instagram');
SELECT snowflake_encode('2046-06-27 17:00:49.497+00', 0, 0, 'instagram');
SELECT snowflake_encode('2025-01-01 00:00+00', 0, 0, 'snowflake');

-- Nulls.
SELECT snowflake_decode(NULL, 'twitter') IS NULL, snowflake_decode(0, NULL) IS NULL, snowflake_timestamp(NULL, 'twitter') IS NULL,
    snowflake_timestamp(0, NULL) IS NULL, snowflake_encode(NULL, 0, 0) IS NULL, snowflake_encode(now(), NULL, 0) IS NULL,
    snowflake_encode(now(), 0, NULL) IS NULL, snowflake_encode(now(), 0, 0, NULL) IS NULL;

-- A name is taken as it is.
\set SHOW_CONTEXT never
SELECT snowflake_decode(0, 'no such layout');
\echo :SQLSTATE
SELECT snowflake_timestamp(0, 'Twitter');
\echo :SQLSTATE
SELECT snowflake_encode(now(), 0, 0, '');
\echo :SQLSTATE
SELECT snowflake_timestamp(0, ' twitter');
\echo :SQLSTATE
-- One that comes from a table, toasted or not, and differs from row to row.
CREATE TABLE name (name text);
INSERT INTO name SELECT name FROM snowflake_layouts WHERE name IS NOT NULL;
SELECT count(DISTINCT snowflake_timestamp(0, name)) AS epochs, count(*) FILTER (WHERE snowflake_timestamp(0, name) = epoch) AS same
FROM name JOIN snowflake_layouts USING (name);
ALTER TABLE name ALTER COLUMN name SET STORAGE EXTERNAL;
INSERT INTO name SELECT repeat('twitter', 10000);
DO $$
BEGIN
    PERFORM snowflake_timestamp(0, name) FROM name WHERE length(name) > 100;
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE NOTICE '% characters', length(SQLERRM);
END $$;
DROP TABLE name;

-- Ids that a layout cannot hold.
SELECT snowflake_decode(-1, 'twitter');
\echo :SQLSTATE
SELECT snowflake_timestamp(-9223372036854775808, 'cockroachdb');
\echo :SQLSTATE
SELECT snowflake_timestamp(9007199254740992, 'javascript');
\echo :SQLSTATE
SELECT snowflake_decode(-1, 'javascript');
\echo :SQLSTATE

-- Parts that do not fit.
SELECT snowflake_encode('2024-12-31 23:59:59.999999+00', 0, 0, 'snowflake');
\echo :SQLSTATE
SELECT snowflake_encode('2094-09-07 15:47:35.552+00', 0, 0, 'snowflake');
\echo :SQLSTATE
SELECT snowflake_encode('infinity', 0, 0, 'snowflake');
\echo :SQLSTATE
SELECT snowflake_encode('-infinity', 0, 0, 'snowflake');
\echo :SQLSTATE
SELECT snowflake_encode('294276-12-31 23:59:59.999999+00', 0, 0, 'yitter');
\echo :SQLSTATE
SELECT snowflake_encode('4714-11-24 00:00:00+00 BC', 0, 0, 'clickhouse');
\echo :SQLSTATE
SELECT snowflake_encode('2081-04-30 12:54:37.273+00', 0, 0, 'instagram');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', 1024, 0, 'twitter');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', -1, 0, 'twitter');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', 2147483647, 0, 'twitter');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', 1, 0, 'mastodon');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', 0, 4096, 'twitter');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', 0, -2147483648, 'twitter');
\echo :SQLSTATE
SELECT snowflake_encode('2026-01-01 00:00+00', 0, 1, 'cockroachdb');
\echo :SQLSTATE

-- Writing by this database's layout, here the default one.
SELECT snowflake_encode('2026-11-21 06:50:35.644999+00', 596, 31);
SELECT bool_and(snowflake_encode(d.ts, d.worker, d.seq) = id) AS inverse
FROM (SELECT (random() * 9223372036854774784)::bigint AS id FROM generate_series(1, 10000)
      UNION ALL VALUES (251658240000), (251658240001), (9223372036854775807)) r, snowflake_decode(id) d;
SELECT snowflake_encode(d.ts, d.worker, d.seq) = id AS inverse FROM snowflake_nextvals(3) id, snowflake_decode(id) d;
SELECT snowflake_encode('2026-01-01 00:00+00', 1024, 0);
\echo :SQLSTATE
SELECT snowflake_encode('2024-01-01 00:00+00', 0, 0);
\echo :SQLSTATE

-- The forms with a name give the same for ever, so they may stand in indexes and generated columns.
CREATE TABLE toot (
    id bigint PRIMARY KEY,
    ts timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'mastodon')) STORED,
    seq integer GENERATED ALWAYS AS ((snowflake_decode(id, 'mastodon')).seq) STORED,
    CHECK (snowflake_encode(ts, 0, seq, 'mastodon') = id));
CREATE INDEX toot_ts ON toot (snowflake_timestamp(id, 'mastodon'));
INSERT INTO toot SELECT snowflake_encode(timestamptz '2020-01-01 00:00+00' + i * interval '1 min', 0, i, 'mastodon') FROM generate_series(0, 9999) i;
INSERT INTO toot VALUES (103270115826048975);
SELECT * FROM toot WHERE ts < '2020-01-01 00:00+00';
ANALYZE toot;
EXPLAIN (COSTS OFF) SELECT id FROM toot WHERE snowflake_timestamp(id, 'mastodon') = '2020-01-02 00:00+00';
SELECT * FROM toot WHERE snowflake_timestamp(id, 'mastodon') = '2020-01-02 00:00+00';
-- Those without depend on a table.
\set VERBOSITY sqlstate
CREATE INDEX ON toot (snowflake_timestamp(id));
\set VERBOSITY default
CREATE TABLE broken (id bigint, ts timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id)) STORED);
\echo :SQLSTATE
DROP TABLE toot;
