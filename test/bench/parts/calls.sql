-- The cost of one call in one backend. Psql variables: empty_library, contenders (as rows), rounds,
-- calls; and part and what for the printed rows.
SET client_min_messages = warning;
CREATE OR REPLACE FUNCTION empty_call() RETURNS bigint LANGUAGE c VOLATILE PARALLEL SAFE AS :'empty_library';
CREATE SEQUENCE IF NOT EXISTS s;
CREATE SEQUENCE IF NOT EXISTS s1000 CACHE 1000;

CREATE TEMP TABLE contender (place integer, name text, call text);
INSERT INTO contender VALUES :contenders;
CREATE TEMP TABLE measured (round integer, place integer, name text, ns double precision);

-- Contenders take turns, and each round begins with another one. Round 0 only warms up.
CREATE PROCEDURE pg_temp.measure(rounds integer, calls integer) LANGUAGE plpgsql AS $$
DECLARE
    c record;
    started timestamptz;
BEGIN
    FOR round IN 0 .. rounds LOOP
        FOR c IN SELECT * FROM contender ORDER BY (place + round) % (SELECT count(*) FROM contender) LOOP
            started := clock_timestamp();
            EXECUTE format('SELECT count(x) FROM (SELECT %s AS x FROM generate_series(1, %s) OFFSET 0) q',
                c.call, calls);
            INSERT INTO measured
                VALUES (round, c.place, c.name, extract(epoch FROM clock_timestamp() - started) * 1e9 / calls);
        END LOOP;
    END LOOP;
END $$;
CALL pg_temp.measure(:rounds, :calls);

\pset format unaligned
\pset tuples_only on
\pset fieldsep '\t'
SELECT 'sample', :'part', :'what', m.name, m.round, m.ns - e.ns
FROM measured m JOIN measured e ON e.round = m.round AND e.name = 'empty'
WHERE m.round > 0 AND m.name <> 'empty' ORDER BY m.place, m.round;
