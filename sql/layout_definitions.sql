-- Layouts by definition: ids of systems that no named layout describes.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- Each named layout shows its own.
SELECT name, definition FROM snowflake_layouts;
SELECT bool_and(definition = snowflake_get_layout()) AS own FROM snowflake_layouts WHERE name IS NULL;
SELECT l.name, count(*) FROM snowflake_layouts l, generate_series(1, 200) AS n,
    LATERAL (SELECT ((random() * 2 ^ 30)::bigint << greatest(least(l.total_bits, 63) - 30, 0)) | n) AS i(id)
WHERE snowflake_decode(id, name) IS DISTINCT FROM snowflake_decode(id, definition)
    OR snowflake_encode(snowflake_timestamp(id, definition), 0, 0, name) <> snowflake_encode(snowflake_timestamp(id, name), 0, 0, definition)
GROUP BY 1;

-- Ids with exact times, by an independent program; the first one of Nextcloud is from its pull request.
CREATE TABLE vector (system text, definition text, id bigint, unix_us bigint, worker integer, seq integer);
INSERT INTO vector VALUES
    ('Nextcloud', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12', 6768789079123765868, 3335258318050000, 441, 2668),
    ('ShardingSphere, midnight in UTC', 'epoch=1477958400000 tick=1ms time=41 worker=10 seq=12', 0, 1477958400000000, 0, 0),
    ('ShardingSphere, midnight in UTC', 'epoch=1477958400000 tick=1ms time=41 worker=10 seq=12', 9223372036854775807, 3676981655551000, 1023, 4095),
    ('ShardingSphere, midnight in UTC', 'epoch=1477958400000 tick=1ms time=41 worker=10 seq=12', 4198401, 1477958400001000, 1, 1),
    ('ShardingSphere, midnight in UTC', 'epoch=1477958400000 tick=1ms time=41 worker=10 seq=12', 8756510672809282921, 3565673232498000, 876, 3433),
    ('ShardingSphere, midnight in UTC', 'epoch=1477958400000 tick=1ms time=41 worker=10 seq=12', 2500221302348211391, 2074057610345000, 326, 1215),
    ('ShardingSphere, midnight in Shanghai', 'epoch=1477929600000 time=41 worker=10 seq=12', 0, 1477929600000000, 0, 0),
    ('ShardingSphere, midnight in Shanghai', 'epoch=1477929600000 time=41 worker=10 seq=12', 9223372036854775807, 3676952855551000, 1023, 4095),
    ('ShardingSphere, midnight in Shanghai', 'epoch=1477929600000 time=41 worker=10 seq=12', 4198401, 1477929600001000, 1, 1),
    ('ShardingSphere, midnight in Shanghai', 'epoch=1477929600000 time=41 worker=10 seq=12', 3266724621210801311, 2256777442505000, 173, 1183),
    ('ShardingSphere, midnight in Shanghai', 'epoch=1477929600000 time=41 worker=10 seq=12', 2381040548755325016, 2045613904417000, 460, 88),
    ('Yitter of C#', 'epoch=1582165202020 tick=1ms time=51 worker=6 seq=6', 0, 1582165202020000, 0, 0),
    ('Yitter of C#', 'epoch=1582165202020 tick=1ms time=51 worker=6 seq=6', 9223372036854775807, 2253381978887267000, 63, 63),
    ('Yitter of C#', 'epoch=1582165202020 tick=1ms time=51 worker=6 seq=6', 4161, 1582165202021000, 1, 1),
    ('Yitter of C#', 'epoch=1582165202020 tick=1ms time=51 worker=6 seq=6', 8382205993825953975, 2048019175413434000, 34, 55),
    ('Yitter of C#', 'epoch=1582165202020 tick=1ms time=51 worker=6 seq=6', 2770206629709131623, 677902143158350000, 61, 39),
    ('Yitter of other languages', 'epoch=1582136402000 tick=1ms time=51 worker=6 seq=6', 0, 1582136402000000, 0, 0),
    ('Yitter of other languages', 'epoch=1582136402000 tick=1ms time=51 worker=6 seq=6', 9223372036854775807, 2253381950087247000, 63, 63),
    ('Yitter of other languages', 'epoch=1582136402000 tick=1ms time=51 worker=6 seq=6', 4161, 1582136402001000, 1, 1),
    ('Yitter of other languages', 'epoch=1582136402000 tick=1ms time=51 worker=6 seq=6', 4643623157176061695, 1135279196259436000, 59, 63),
    ('Yitter of other languages', 'epoch=1582136402000 tick=1ms time=51 worker=6 seq=6', 1050255073677514728, 257992066499049000, 31, 40),
    ('Baidu, epochStr 2019-10-10 in Shanghai', 'epoch=1570636800000 tick=1s time=28 worker=22 seq=13', 0, 1570636800000000, 0, 0),
    ('Baidu, epochStr 2019-10-10 in Shanghai', 'epoch=1570636800000 tick=1s time=28 worker=22 seq=13', 9223372036854775807, 1839072255000000, 4194303, 8191),
    ('Baidu, epochStr 2019-10-10 in Shanghai', 'epoch=1570636800000 tick=1s time=28 worker=22 seq=13', 34359746561, 1570636801000000, 1, 1),
    ('Baidu, epochStr 2019-10-10 in Shanghai', 'epoch=1570636800000 tick=1s time=28 worker=22 seq=13', 7753012949848288978, 1796279174000000, 1766831, 3794),
    ('Baidu, epochStr 2019-10-10 in Shanghai', 'epoch=1570636800000 tick=1s time=28 worker=22 seq=13', 2707787237890817619, 1649443780000000, 2870923, 7763),
    ('Baidu, 29 bits', 'epoch=1463673600000 tick=1s time=29 worker=21 seq=13', 0, 1463673600000000, 0, 0),
    ('Baidu, 29 bits', 'epoch=1463673600000 tick=1s time=29 worker=21 seq=13', 9223372036854775807, 2000544511000000, 2097151, 8191),
    ('Baidu, 29 bits', 'epoch=1463673600000 tick=1s time=29 worker=21 seq=13', 17179877377, 1463673601000000, 1, 1),
    ('Baidu, 29 bits', 'epoch=1463673600000 tick=1s time=29 worker=21 seq=13', 8245495559977845271, 1943624609000000, 1297490, 535),
    ('Baidu, 29 bits', 'epoch=1463673600000 tick=1s time=29 worker=21 seq=13', 8960892295551773627, 1985266180000000, 464687, 3003),
    ('Nextcloud', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12', 0, 1759276800000000, 0, 0),
    ('Nextcloud', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12', 9223372036754112511, 3906760447999000, 511, 4095),
    ('Nextcloud', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12', 4299173889, 1759276801001000, 1, 1),
    ('Nextcloud', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12', 6988545229104356842, 3386424283918000, 32, 3562),
    ('Nextcloud', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12', 8635576025411970357, 3769903524326000, 123, 1333),
    ('wego', 'epoch=1577836800000 tick=10ms time=39 worker=16 seq=8', 0, 1577836800000000, 0, 0),
    ('wego', 'epoch=1577836800000 tick=10ms time=39 worker=16 seq=8', 9223372036854775807, 7075394938870000, 65535, 255),
    ('wego', 'epoch=1577836800000 tick=10ms time=39 worker=16 seq=8', 16777473, 1577836800010000, 1, 1),
    ('wego', 'epoch=1577836800000 tick=10ms time=39 worker=16 seq=8', 8333137849615329161, 6544774013900000, 44839, 137),
    ('wego', 'epoch=1577836800000 tick=10ms time=39 worker=16 seq=8', 9109287607842503024, 7007395320220000, 20985, 112),
    ('snowflake-js', 'epoch=1640995200000 time=42 datacenter=7 worker=5 seq=10', 0, 1640995200000000, 0, 0),
    ('snowflake-js', 'epoch=1640995200000 time=42 datacenter=7 worker=5 seq=10', -1, 6039041711103000, 4095, 1023),
    ('snowflake-js', 'epoch=1640995200000 time=42 datacenter=7 worker=5 seq=10', 4228097, 1640995200001000, 33, 1),
    ('snowflake-js', 'epoch=1640995200000 time=42 datacenter=7 worker=5 seq=10', 8735272388228375302, 3723646430866000, 2136, 774),
    ('snowflake-js', 'epoch=1640995200000 time=42 datacenter=7 worker=5 seq=10', -3739847175421258646, 5147392661483000, 293, 106),
    ('worker above the time', 'epoch=1600000000000 worker=8 time=42 seq=13', 0, 1600000000000000, 0, 0),
    ('worker above the time', 'epoch=1600000000000 worker=8 time=42 seq=13', 9223372036854775807, 5998046511103000, 255, 8191),
    ('worker above the time', 'epoch=1600000000000 worker=8 time=42 seq=13', 36028797018972161, 1600000000001000, 1, 1),
    ('worker above the time', 'epoch=1600000000000 worker=8 time=42 seq=13', 4503306830567336681, 5962304713843000, 124, 2793),
    ('worker above the time', 'epoch=1600000000000 worker=8 time=42 seq=13', 5524362837857291738, 3059581781714000, 153, 3546),
    ('sequence first, as Sonyflake', 'epoch=1409529600000 tick=10ms time=39 seq=8 worker=16', 0, 1409529600000000, 0, 0),
    ('sequence first, as Sonyflake', 'epoch=1409529600000 tick=10ms time=39 seq=8 worker=16', 9223372036854775807, 6907087738870000, 65535, 255),
    ('sequence first, as Sonyflake', 'epoch=1409529600000 tick=10ms time=39 seq=8 worker=16', 16842753, 1409529600010000, 1, 1),
    ('sequence first, as Sonyflake', 'epoch=1409529600000 tick=10ms time=39 seq=8 worker=16', 6911052097073287972, 5528837652700000, 37668, 69),
    ('sequence first, as Sonyflake', 'epoch=1409529600000 tick=10ms time=39 seq=8 worker=16', 4788352076161067947, 4263609845590000, 43947, 21),
    ('time below, in microseconds', 'epoch=0 tick=1us skip=2 seq=6 time=55', 0, 0, 0, 0),
    ('time below, in microseconds', 'epoch=0 tick=1us skip=2 seq=6 time=55', 9223372036854775807, 36028797018963967, 0, 63),
    ('time below, in microseconds', 'epoch=0 tick=1us skip=2 seq=6 time=55', 2341871806232657921, 1, 0, 1),
    ('time below, in microseconds', 'epoch=0 tick=1us skip=2 seq=6 time=55', 6982436117340464177, 28878292680418353, 0, 1),
    ('time below, in microseconds', 'epoch=0 tick=1us skip=2 seq=6 time=55', 5195285520843755222, 7138750112943830, 0, 16),
    ('64 bits, apart', 'epoch=1700000000000 skip=1 time=41 seq=6 skip=2 worker=8 datacenter=6', 0, 1700000000000000, 0, 0),
    ('64 bits, apart', 'epoch=1700000000000 skip=1 time=41 seq=6 skip=2 worker=8 datacenter=6', -1, 3899023255551000, 16383, 63),
    ('64 bits, apart', 'epoch=1700000000000 skip=1 time=41 seq=6 skip=2 worker=8 datacenter=6', -9223372036850499519, 1700000000001000, 257, 1),
    ('64 bits, apart', 'epoch=1700000000000 skip=1 time=41 seq=6 skip=2 worker=8 datacenter=6', 8899457112565549470, 3821795919553000, 7718, 11),
    ('64 bits, apart', 'epoch=1700000000000 skip=1 time=41 seq=6 skip=2 worker=8 datacenter=6', 3948113059950787795, 2641303505885000, 5107, 50),
    ('split apart', 'epoch=1735689600000 seq=12 sec=32 worker=7 ms=12', 0, 1735689600000000, 0, 0),
    ('split apart', 'epoch=1735689600000 seq=12 sec=32 worker=7 ms=12', 9223372036854772711, 6030656895999000, 127, 4095),
    ('split apart', 'epoch=1735689600000 seq=12 sec=32 worker=7 ms=12', 2251799814213633, 1735689601001000, 1, 1),
    ('split apart', 'epoch=1735689600000 seq=12 sec=32 worker=7 ms=12', 5802981551986295129, 1913897225345000, 28, 2577),
    ('split apart', 'epoch=1735689600000 seq=12 sec=32 worker=7 ms=12', 4370602826087219730, 5762460263530000, 116, 1940);
SELECT count(*) AS vectors, count(*) FILTER (WHERE extract(epoch FROM d.ts) * 1000000 = unix_us AND d.worker = v.worker AND d.seq = v.seq
    AND snowflake_timestamp(v.id, definition) = d.ts) AS exact
FROM vector v, snowflake_decode(v.id, definition) d;
-- The way back, but for bits that mean something else.
SELECT system, count(*) FILTER (WHERE snowflake_encode(d.ts, d.worker, d.seq, definition) = v.id) AS same, count(*)
FROM vector v, snowflake_decode(v.id, definition) d GROUP BY system ORDER BY 1;
SELECT count(*) FROM vector v, snowflake_decode(v.id, definition) d,
    LATERAL snowflake_decode(snowflake_encode(d.ts, d.worker, d.seq, definition), definition) e WHERE d IS DISTINCT FROM e;

-- Times and ids in one order, or refused.
SELECT snowflake_id_at('2025-10-01 00:00:01.5', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12') = (1::bigint << 32) + (500::bigint << 22) AS first;
SELECT snowflake_range('[2025-10-01 00:00:01,2025-10-01 00:00:02)', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12');
SELECT snowflake_range('[2025-10-01 00:00:01,)', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12');
SELECT snowflake_range('[2093-10-19 00:00,2094-01-01 00:00)', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12') AS to_its_end;
SELECT snowflake_range('[2094-01-01 00:00,)', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12') AS after_its_end;
SELECT snowflake_range('empty', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12');
SELECT count(*) FROM vector v, LATERAL (VALUES (0), (1), (1000), (123456789)) AS o(us),
    LATERAL (SELECT snowflake_timestamp(id, definition) + us * interval '1 microsecond') AS t(ts)
WHERE system IN ('Nextcloud', 'wego', 'sequence first, as Sonyflake', 'Yitter of C#') AND ts < '2090-01-01'
    AND ((id >= snowflake_id_at(ts, definition)) <> (snowflake_timestamp(id, definition) >= ts)
        OR (id <@ snowflake_range(tstzrange(ts, NULL), definition)) <> (snowflake_timestamp(id, definition) >= ts));
\set SHOW_CONTEXT never
\set VERBOSITY default
SELECT snowflake_id_at('2094-01-01', 'epoch=1759276800000 sec=31 ms=10 worker=9 skip=1 seq=12');
SELECT snowflake_id_at('2026-01-01', 'epoch=1600000000000 worker=8 time=42 seq=13');
SELECT snowflake_range('[2026-01-01,)', 'epoch=1735689600000 seq=12 sec=32 worker=7 ms=12');
SELECT snowflake_id_at('2026-01-01', 'epoch=1700000000000 time=40 skip=1 seq=6 worker=17');

-- An index, a generated column and a partition by a definition.
CREATE TABLE imported (id bigint PRIMARY KEY, at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'epoch=1582165202020 time=51 worker=6 seq=6')) STORED);
CREATE INDEX ON imported (snowflake_timestamp(id, 'epoch=1582165202020 time=51 worker=6 seq=6'));
INSERT INTO imported VALUES (129053495681099);
SELECT * FROM imported;

-- What is no definition, and which word is wrong.
SELECT snowflake_decode(1, NULL::text);
SELECT snowflake_decode(1, 'epoch=0');
SELECT snowflake_decode(1, 'time=41 worker=10 seq=12');
SELECT snowflake_decode(1, 'epoch=0 time=41 worker=10 seq=12 machine=3');
SELECT snowflake_decode(1, 'epoch=0 time=41 worker seq=12');
SELECT snowflake_decode(1, 'epoch=-1 time=41');
SELECT snowflake_decode(1, 'epoch=253402300799001 time=41');
SELECT snowflake_decode(1, 'epoch=99999999999999999999999 time=41');
SELECT snowflake_decode(1, 'epoch= time=41');
SELECT snowflake_decode(1, 'epoch=0 time=0');
SELECT snowflake_decode(1, 'epoch=0 time=64');
SELECT snowflake_decode(1, 'epoch=0 time=41x');
SELECT snowflake_decode(1, 'epoch=0 tick=1 time=41');
SELECT snowflake_decode(1, 'epoch=0 tick=0ms time=41');
SELECT snowflake_decode(1, 'epoch=0 tick=86401s time=20');
SELECT snowflake_decode(1, 'epoch=0 tick=1h time=20');
SELECT snowflake_decode(1, 'epoch=0 epoch=0 time=41');
SELECT snowflake_decode(1, 'epoch=0 tick=1ms tick=1ms time=41');
SELECT snowflake_decode(1, 'epoch=0 time=41 seq=6 seq=6');
SELECT snowflake_decode(1, 'epoch=0 time=41 worker=12 seq=12');
SELECT snowflake_decode(1, 'epoch=0 time=20 worker=32');
SELECT snowflake_decode(1, 'epoch=0 time=20 datacenter=11 worker=5');
SELECT snowflake_decode(1, 'epoch=0 tick=1s time=63');
SELECT snowflake_decode(1, 'epoch=0 sec=31 worker=10');
SELECT snowflake_decode(1, 'epoch=0 ms=10 worker=10');
SELECT snowflake_decode(1, 'epoch=0 sec=31 ms=9 worker=10');
SELECT snowflake_decode(1, 'epoch=0 tick=1ms sec=31 ms=10');
SELECT snowflake_decode(1, 'epoch=0 time=20 sec=31 ms=10');
SELECT snowflake_decode(1, 'epoch=0 time=20 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1 skip=1');
SELECT snowflake_decode(1, '=');
SELECT snowflake_decode(1, E'epoch=0\ttime=41');
SELECT snowflake_decode(-1, 'epoch=0 time=41 worker=10 skip=1 seq=11');
SELECT snowflake_decode(4503599627370496, 'epoch=0 skip=1 time=20 worker=10 seq=12');
SELECT snowflake_decode(1023::bigint << 12, 'epoch=0 sec=31 ms=10 seq=12');
SELECT snowflake_encode('2300-01-01', 0, 0, 'epoch=0 sec=31 ms=10 seq=12');
SELECT snowflake_encode('2020-01-01', 0, 4096, 'epoch=0 sec=31 ms=10 seq=12');
SELECT snowflake_encode('infinity', 0, 0, 'epoch=0 sec=31 ms=10 seq=12');
-- Spaces count once, and words come in any order.
SELECT snowflake_decode(4198401, '  time=41   worker=10 tick=1ms seq=12 epoch=0 ');
-- An epoch may be a day, in UTC in every session.
SET timezone = 'Asia/Shanghai';
SELECT count(*) AS days, count(*) FILTER (WHERE extract(epoch FROM snowflake_timestamp(0, 'epoch=' || day || ' time=41'))
    = extract(epoch FROM day::timestamp)) AS exact
FROM (SELECT to_char('1970-01-01'::timestamp + n * interval '1 day', 'YYYY-MM-DD') FROM generate_series(0, 2932896) n
      WHERE n % 7 = 0 OR n < 50000 OR n > 2900000) d(day);
RESET timezone;
SET timezone = 'UTC';
\set VERBOSITY terse
SELECT snowflake_timestamp(0, 'epoch=9999-12-31 time=30'), snowflake_timestamp(0, 'epoch=2000-02-29 time=41');
SELECT snowflake_decode(1, 'epoch=2025-02-29 time=41');
SELECT snowflake_decode(1, 'epoch=1900-02-28 time=41');
SELECT snowflake_decode(1, 'epoch=2025-00-10 time=41');
SELECT snowflake_decode(1, 'epoch=2025-13-10 time=41');
SELECT snowflake_decode(1, 'epoch=2025-04-31 time=41');
SELECT snowflake_decode(1, 'epoch=2025-1-1 time=41');
SELECT snowflake_decode(1, 'epoch=2025-01-01x time=41');
SELECT snowflake_decode(1, 'epoch=-025-01-01 time=41');
\set VERBOSITY default
SELECT snowflake_decode(1, 'epoch=2025/01/01 time=41');
DROP TABLE imported, vector;
DROP EXTENSION snowflake;
