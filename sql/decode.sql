-- Reading ids by this database's layout.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET timezone = 'UTC';
SET datestyle = 'ISO';

-- The default layout: milliseconds since 2025-01-01 << 22 | worker << 12 | sequence. Nothing was issued in its first minute: what lies
-- there is no snowflake, unless its reader says so.
SELECT id, d.*, n.*, snowflake_timestamp(id) = n.ts AS same
FROM (VALUES
    (0), (1), (2147483647), (251658239999), (251658240000),
    (251658240001), (251658240000 + 4095), (251658240000 + 4096), (251658240000 + 4194303), (251658240000 + 4194304),
    ((86400000::bigint << 22) | (1023 << 12) | 4095),
    ((59554235644 << 22) | (596 << 12) | 31),
    (9223372036854775807)) v(id), snowflake_decode(id) d, snowflake_decode(id, 'snowflake') n;

-- Whatever the session's time zone, it is the same instant.
SET timezone = 'Asia/Shanghai';
SELECT snowflake_timestamp(0);
SET timezone = 'UTC';

SELECT snowflake_decode(NULL) IS NULL AS null_in_null_out, snowflake_timestamp(NULL) IS NULL AS null_in_null_out;
SELECT * FROM snowflake_decode(NULL);

\set SHOW_CONTEXT never
SELECT snowflake_decode(-1);
\echo :SQLSTATE
SELECT snowflake_decode(-9223372036854775808);
\echo :SQLSTATE
SELECT snowflake_timestamp(-1);
\echo :SQLSTATE
-- PostgreSQL's hint differs between versions.
\set VERBOSITY terse
SELECT snowflake_decode(9223372036854775808);
\echo :SQLSTATE
\set VERBOSITY default

-- An issued id decodes to now and to this node's worker id.
SELECT abs(extract(epoch FROM d.ts - clock_timestamp())) < 60 AS now, d.worker = s.worker AS worker, d.seq BETWEEN 0 AND 4095 AS seq
FROM snowflake_decode(snowflake_nextval()) d, snowflake_status s;

-- Every field, both ways, over random ids.
SELECT bool_and(id = ((extract(epoch FROM d.ts - timestamptz '2025-01-01 00:00+00') * 1000)::bigint << 22) | (d.worker << 12) | d.seq) AS inverse
FROM (SELECT (random() * 9e18)::bigint AS id FROM generate_series(1, 10000)) r, snowflake_decode(id) d;

-- Ids sort by time.
SELECT bool_and(snowflake_timestamp(a) <= snowflake_timestamp(b)) AS sorted FROM
    (SELECT least(x, y) AS a, greatest(x, y) AS b FROM
        (SELECT (random() * 9e18)::bigint AS x, (random() * 9e18)::bigint AS y FROM generate_series(1, 10000)) r) o;

-- Ticks of windows and watermarks.
SELECT snowflake_tick_timestamp(0), snowflake_tick_timestamp(1), snowflake_tick_timestamp(-1);
SELECT snowflake_tick_timestamp(9223372036854775807), snowflake_tick_timestamp(-9223372036854775808), snowflake_tick_timestamp(NULL);
