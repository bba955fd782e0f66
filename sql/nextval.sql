-- Issuing: column defaults, order, batches, what a call must not do.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;

-- Before the first id of the session.
\set SHOW_CONTEXT never
SELECT snowflake_currval();
\echo :SQLSTATE

CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer);
INSERT INTO item (n) SELECT generate_series(1, 1000);
SELECT count(*) AS rows, count(DISTINCT id) AS ids, min(id) > 0 AS positive FROM item;
SELECT bool_and(rises) AS rises FROM (SELECT id > lag(id, 1, 0::bigint) OVER (ORDER BY n) AS rises FROM item) s;
SELECT snowflake_currval() = max(id) AS currval_is_last FROM item;
INSERT INTO item (n) VALUES (0) RETURNING id = snowflake_currval() AS returned;

-- Every row gets its own id, whatever puts it there.
ALTER TABLE item ADD COLUMN other bigint DEFAULT snowflake_nextval();
SELECT count(DISTINCT other) = count(*) AS each_its_own FROM item;
COPY item (n) FROM stdin;
1
2
3
\.
SELECT count(DISTINCT id) = count(*) AS each_its_own FROM item;
WITH moved AS (UPDATE item SET id = DEFAULT RETURNING id) SELECT count(DISTINCT id) = count(*) AS each_its_own FROM moved;
SELECT a <> b AS not_folded FROM (SELECT snowflake_nextval() AS a, snowflake_nextval() AS b) s;

-- Batches.
SELECT count(*), count(DISTINCT x) FROM snowflake_nextvals(10000) x;
SELECT bool_and(rises) AS rises FROM (SELECT x > lag(x, 1, 0::bigint) OVER (ORDER BY n) AS rises
    FROM snowflake_nextvals(5000) WITH ORDINALITY t(x, n)) s;
SELECT count(*) FROM snowflake_nextvals(1);
SELECT count(*) FROM snowflake_nextvals(NULL);
SELECT count(*) FROM (SELECT snowflake_nextvals(2147483647) LIMIT 3) s;
SELECT snowflake_nextvals(0);
\echo :SQLSTATE
SELECT snowflake_nextvals(-1);
\echo :SQLSTATE
SELECT snowflake_nextvals(-2147483648);
\echo :SQLSTATE
-- PostgreSQL's hint differs between versions.
\set VERBOSITY terse
SELECT snowflake_nextvals(2147483648);
\echo :SQLSTATE
\set VERBOSITY default

-- Neither a transaction id nor a writable transaction is needed, at any isolation level.
BEGIN READ ONLY ISOLATION LEVEL SERIALIZABLE;
SELECT snowflake_nextval() > 0 AS issued;
SELECT txid_current_if_assigned() IS NULL AS no_transaction_id;
COMMIT;

-- A rolled back id is not issued again.
BEGIN;
SELECT snowflake_nextval() AS rolled_back \gset
ROLLBACK;
SELECT snowflake_nextval() > :rolled_back AS rises;
BEGIN;
SAVEPOINT a;
SELECT snowflake_nextval() AS rolled_back \gset
ROLLBACK TO a;
SELECT snowflake_nextval() > :rolled_back AS rises;
COMMIT;

-- Prepared statements, PL/pgSQL.
PREPARE one AS SELECT snowflake_nextval();
EXECUTE one \gset first_
EXECUTE one \gset second_
SELECT :second_snowflake_nextval > :first_snowflake_nextval AS rises;
DO $$
DECLARE
    last bigint := 0;
    id bigint;
BEGIN
    FOR i IN 1..10000 LOOP
        id := snowflake_nextval();
        IF id <= last THEN RAISE EXCEPTION '% after %', id, last; END IF;
        last := id;
    END LOOP;
END $$;

DROP TABLE item;
