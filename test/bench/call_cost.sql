-- Cost of one call: an empty C function, snowflake_nextval() and nextval(), alternating, so that what disturbs the machine
-- disturbs all of them. Psql variables: empty_library, rounds, calls.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION snowflake;
-- A sequence field wide enough not to be the limit: 131,072 ids per millisecond.
INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, 5, 17, false);
CREATE FUNCTION empty_call() RETURNS bigint LANGUAGE c VOLATILE PARALLEL SAFE AS :'empty_library';
CREATE SEQUENCE s;
SELECT snowflake_nextval() > 0 AS ready;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE FUNCTION time_of(call text, calls integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
BEGIN
    EXECUTE format('SELECT count(x) FROM (SELECT %s AS x FROM generate_series(1, %s) OFFSET 0) q', call, calls);
    RETURN extract(epoch FROM clock_timestamp() - started) * 1e9 / calls;
END $$;

CREATE TEMP TABLE measured AS
    SELECT round, call, time_of(call, :calls) AS ns
    FROM generate_series(0, :rounds) round, unnest(ARRAY['empty_call()', 'snowflake_nextval()', 'nextval(''s'')']) call;
DELETE FROM measured WHERE round = 0;

\echo
\echo 'nanoseconds per call; "above empty" is the median of the differences within a round'
WITH above AS (
    SELECT m.call, m.ns, m.ns - e.ns AS above, (m.ns - e.ns) / nullif(n.ns - e.ns, 0) AS ratio
    FROM measured m
    JOIN measured e ON e.round = m.round AND e.call LIKE 'empty%'
    JOIN measured n ON n.round = m.round AND n.call LIKE 'nextval%')
SELECT call, round(min(ns)::numeric, 1) AS min, round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ns)::numeric, 1) AS median,
    round(max(ns)::numeric, 1) AS max,
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY above)::numeric, 1) AS "above empty",
    round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ratio)::numeric, 3) AS "relative to nextval"
FROM above GROUP BY call ORDER BY 3;
