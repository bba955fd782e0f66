-- What ALTER TABLE would lose or change when it makes objects again is refused in one step, before
-- anything is written; online it is kept or refused.
SET client_min_messages = warning;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;
\set SHOW_CONTEXT never
SET DateStyle = ISO;
CREATE ROLE regress_made_again;
GRANT CREATE ON SCHEMA public TO regress_made_again;

-- Indexes that are not valid.
CREATE TABLE t (id serial PRIMARY KEY, n int);
INSERT INTO t (n) VALUES (1), (1);
CREATE UNIQUE INDEX CONCURRENTLY t_twice ON t (n) INCLUDE (id);
CREATE TABLE p (id serial, r int NOT NULL) PARTITION BY LIST (r);
CREATE TABLE p_1 PARTITION OF p FOR VALUES IN (1);
CREATE INDEX p_only ON ONLY p (id);
SELECT snowflake_convert('t', 'id', dry_run => true);
SELECT snowflake_convert('t', 'id');
SELECT snowflake_convert('p', 'id');
SELECT snowflake_convert_all('public');
DROP INDEX t_twice, p_only;

-- What the indexes of partitions have of their own.
CREATE INDEX p_order ON ONLY p (id, r);
CREATE INDEX p_1_order ON p_1 (id DESC, r);
ALTER INDEX p_order ATTACH PARTITION p_1_order;
ALTER TABLE p_1 ADD CONSTRAINT p_1_once UNIQUE (id, r);
CREATE UNIQUE INDEX p_once ON p (id, r);
SELECT snowflake_convert('p', 'id');
\set ECHO none
SET client_min_messages = warning;
SELECT snowflake_convert('p', 'id', online => true)
\gexec
RESET client_min_messages;
\set ECHO all
SELECT pg_get_indexdef(indexrelid), conname, inhparent::regclass FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid
LEFT JOIN pg_constraint ON conindid = indexrelid WHERE indrelid = 'p_1'::regclass ORDER BY 1;
DROP TABLE p;

-- Comments and names of partitions' copies of a foreign key stay, in each way.
CREATE TABLE c (t_id int, r int) PARTITION BY LIST (r);
CREATE TABLE c_1 (t_id int CONSTRAINT c_1_own REFERENCES t, r int);
CREATE TABLE c_2 PARTITION OF c FOR VALUES IN (2);
ALTER TABLE c ADD CONSTRAINT up FOREIGN KEY (t_id) REFERENCES t;
ALTER TABLE c ATTACH PARTITION c_1 FOR VALUES IN (1);
COMMENT ON CONSTRAINT up ON c_2 IS 'of c_2';
CREATE VIEW copies AS SELECT conrelid::regclass AS "table", conname AS name, conparentid <> 0 AS of_above,
    obj_description(oid, 'pg_constraint') AS comment FROM pg_constraint WHERE confrelid = 't'::regclass ORDER BY 1;
TABLE copies;
BEGIN;
SELECT snowflake_convert('t', 'id');
TABLE copies;
ROLLBACK;
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT snowflake_convert_all('public') \g /dev/null
TABLE copies;
ROLLBACK;
\set ECHO none
SET client_min_messages = warning;
SELECT snowflake_convert('t', 'id', online => true)
\gexec
RESET client_min_messages;
\set ECHO all
TABLE copies;
DROP VIEW copies;
DROP TABLE c, t;

-- A statistics object of another owner.
CREATE TABLE t (id serial PRIMARY KEY, n int);
CREATE STATISTICS s ON id, n FROM t;
ALTER STATISTICS s OWNER TO regress_made_again;
SELECT snowflake_convert('t', 'id');
DROP TABLE t;

-- A foreign key that its tables' owner cannot check. A role that bypasses policies can.
SET ROLE regress_made_again;
CREATE TABLE t (id serial PRIMARY KEY);
CREATE TABLE c (t_id int CONSTRAINT up REFERENCES t);
INSERT INTO t VALUES (1);
INSERT INTO c VALUES (1);
ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT snowflake_convert('t', 'id', dry_run => true);
ALTER TABLE t NO FORCE ROW LEVEL SECURITY;
ALTER TABLE c ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
SELECT snowflake_convert('t', 'id');
RESET ROLE;
SELECT snowflake_convert('t', 'id');
DROP TABLE t, c;

-- Online: a generated column that refers.
CREATE TABLE t (id serial PRIMARY KEY);
CREATE TABLE c (n int, t_id int GENERATED ALWAYS AS (n) STORED REFERENCES t);
SELECT snowflake_convert('t', 'id', online => true);
DROP TABLE t, c;

-- Online: storage parameters of a partitioned constraint.
CREATE TABLE p (id serial, r int NOT NULL, n int, PRIMARY KEY (id, r) INCLUDE (n) WITH (fillfactor = 60, deduplicate_items = off) DEFERRABLE)
    PARTITION BY LIST (r);
CREATE TABLE p_1 PARTITION OF p DEFAULT;
\set ECHO none
SET client_min_messages = warning;
SELECT snowflake_convert('p', 'id', online => true)
\gexec
RESET client_min_messages;
\set ECHO all
SELECT pg_get_indexdef(indexrelid), condeferrable FROM pg_index JOIN pg_constraint ON conindid = indexrelid
WHERE indrelid IN ('p'::regclass, 'p_1'::regclass) ORDER BY 1;
DROP TABLE p;

-- New ids that an expression does not accept.
CREATE TABLE t (id bigserial PRIMARY KEY, at timestamptz GENERATED ALWAYS AS (to_timestamp(id)) STORED);
CREATE TABLE n (id serial PRIMARY KEY);
CREATE INDEX n_short ON n ((id::numeric(10)));
SELECT snowflake_convert('n', 'id');
\set VERBOSITY terse
SELECT snowflake_convert('t', 'id');
\echo :SQLSTATE
DROP TABLE t, n;

DROP EXTENSION snowflake_convert;
DROP EXTENSION snowflake;
REVOKE CREATE ON SCHEMA public FROM regress_made_again;
DROP ROLE regress_made_again;
