-- The horizon: what is below it is visible, or never will be.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;

SELECT provolatile, proparallel, proisstrict, prorettype::regtype FROM pg_proc WHERE proname = 'snowflake_horizon';

-- Nobody has asked yet.
SELECT horizon, horizon_pid, horizon_gid, horizon_since FROM snowflake_status;

CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text);
CREATE PROCEDURE wait_until(condition text) LANGUAGE plpgsql AS $$
DECLARE
    met boolean := false;
BEGIN
    FOR i IN 1 .. 24000 LOOP
        EXECUTE 'SELECT ' || condition INTO met;
        EXIT WHEN met;
        COMMIT;
        PERFORM pg_sleep(0.01);
    END LOOP;
    IF NOT met THEN
        RAISE 'not within 240 s: %', condition;
    END IF;
END$$;

INSERT INTO outbox (payload) SELECT 'one' FROM generate_series(1, 3);
CALL wait_until('snowflake_horizon() > (SELECT max(id) FROM outbox)');
SELECT payload FROM outbox WHERE id < snowflake_horizon() ORDER BY id;
-- It goes on with the clock, and shows when.
CALL wait_until('snowflake_timestamp(snowflake_horizon()) > now() - interval ''1 s''');
SELECT horizon > (SELECT max(id) FROM outbox) AS above, horizon_pid, horizon_gid, horizon_since,
       horizon_age_seconds BETWEEN 0 AND 60 AS young
FROM snowflake_status, (SELECT horizon_age_seconds FROM snowflake_metrics) m;

-- An id of one's own transaction is not below it.
BEGIN;
SELECT snowflake_horizon() AS before \gset
INSERT INTO outbox (payload) VALUES ('two') RETURNING id AS own \gset
SELECT snowflake_horizon() <= :own AS held, snowflake_horizon() >= :before AS not_lower;
SAVEPOINT s;
INSERT INTO outbox (payload) VALUES ('rolled back') RETURNING id AS rolled_back \gset
ROLLBACK TO s;
SELECT pg_sleep(0.05);
SELECT snowflake_horizon() <= :own AS held;
SELECT horizon_pid = pg_backend_pid() AS by_me, horizon_since = snowflake_timestamp(:own) AS since, horizon <= :own AS held FROM snowflake_status;
SELECT string_agg(payload, ' ' ORDER BY id) FROM outbox WHERE id < snowflake_horizon();
COMMIT;
CALL wait_until(format('snowflake_horizon() > %s', :own));
SELECT string_agg(payload, ' ' ORDER BY id) FROM outbox WHERE id < snowflake_horizon();
CALL wait_until(format('snowflake_horizon() > %s', :rolled_back));

-- A snapshot that is kept keeps its horizon.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake_horizon() AS old \gset
SELECT pg_sleep(0.3);
SELECT snowflake_horizon() >= :old AS not_lower;
COMMIT;

-- A prepared transaction holds it until its end, not only to where its process was.
BEGIN;
INSERT INTO outbox (payload) VALUES ('prepared') RETURNING id AS prepared \gset
PREPARE TRANSACTION 'holds the horizon';
INSERT INTO outbox (payload) VALUES ('later') RETURNING id AS later \gset
SELECT pg_sleep(0.3);
SELECT snowflake_horizon() <= :prepared AS held;
SELECT horizon_pid, horizon_gid, horizon_since = snowflake_timestamp(:prepared) AS since FROM snowflake_status;
COMMIT PREPARED 'holds the horizon';
CALL wait_until(format('snowflake_horizon() > %s', :later));
SELECT string_agg(payload, ' ' ORDER BY id) FROM outbox WHERE id < snowflake_horizon();
-- One that has issued nothing does not.
BEGIN;
INSERT INTO outbox VALUES (1, 'by hand');
PREPARE TRANSACTION 'holds nothing';
INSERT INTO outbox (payload) VALUES ('last') RETURNING id AS last \gset
CALL wait_until(format('snowflake_horizon() > %s', :last));
ROLLBACK PREPARED 'holds nothing';

-- It is looked up in the index.
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS off) SELECT * FROM outbox WHERE id > 0 AND id < snowflake_horizon() ORDER BY id LIMIT 10;

-- In parallel queries it is for the leader.
SELECT count(*) > 5 FROM outbox WHERE id < (SELECT snowflake_horizon());

-- In a session that Citus opened for another node's statement it would be of other ids.
SET application_name = 'citus_internal gpid=10000000042';
SELECT payload FROM outbox WHERE id < snowflake_horizon();
SET application_name = 'citus_run_command gpid=10000000042';
SELECT snowflake_horizon() > 0 AS reported;
RESET application_name;

-- The trigger is not for temporary tables: claims in turns would hold the horizon back, and everybody may create such a table.
CREATE TEMP TABLE own (id bigint, name text) PARTITION BY LIST (name);
CREATE TEMP TABLE own_part PARTITION OF own DEFAULT;
CREATE TRIGGER own_claim BEFORE INSERT OR UPDATE ON own FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
INSERT INTO own VALUES (7);
\echo :SQLSTATE
INSERT INTO own_part VALUES (snowflake_nextval());
INSERT INTO own_part VALUES (NULL);
COPY own FROM stdin;
9223372036854775807	name
\.
CREATE UNLOGGED TABLE unlogged (id bigint);
CREATE TRIGGER unlogged_claim BEFORE INSERT ON unlogged FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
INSERT INTO unlogged VALUES (snowflake_nextval());
DROP TABLE own, unlogged;

DROP TABLE outbox;
DROP PROCEDURE wait_until;
