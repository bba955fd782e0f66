-- What reaches the registry's tables by another way than the protocol, and what the protocol refuses. With clocks as arguments;
-- nothing is issued here: no keeper interferes.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
\set SHOW_CONTEXT never
SET timezone = 'UTC';
-- The clocks here are years away from the server's.
SET snowflake.max_clock_skew = 0;

-- ALTER TABLE can change a column in all rows without firing a row trigger.
\set VERBOSITY terse
ALTER TABLE snowflake_watermark ALTER last_tick TYPE bigint USING -1;
\set VERBOSITY default
\echo :SQLSTATE
ALTER TABLE snowflake_watermark DROP last_tick, ADD last_tick bigint NOT NULL DEFAULT -1;
\echo :SQLSTATE
-- No column can change its type, except the layout's.
CREATE FUNCTION changeable() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT attrelid::regclass AS name, attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
        WHERE attnum > 0 AND NOT attisdropped AND attrelid IN ('snowflake_registry'::regclass, 'snowflake_watermark'::regclass,
            'snowflake_origin'::regclass, 'snowflake_segment'::regclass, 'snowflake_segment_range'::regclass,
            'snowflake_last_tick'::regclass) ORDER BY attrelid, attnum
    LOOP
        BEGIN
            EXECUTE format('ALTER TABLE %s ALTER %I TYPE %s USING %2$I', c.name, c.attname, c.type);
            RETURN NEXT c.name || ' ' || c.attname;
        EXCEPTION WHEN feature_not_supported THEN
        END;
    END LOOP;
END $$;
SELECT changeable();

-- Four worker ids, ticks of 1 s; the next lease is number 4, so the ring's place 0.
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1s time=31 worker=2 seq=10');
SELECT setval('snowflake_registry_lease_id_seq', 5) = 5 AS ring;
ALTER TABLE snowflake_origin DISABLE TRIGGER snowflake_guard;
UPDATE snowflake_origin SET last_lease_id = 3, started_at = pg_postmaster_start_time();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;

CREATE TABLE lease (name text, lease_id bigint, secret bytea, worker_id int, window_start bigint, window_end bigint);
CREATE FUNCTION acquire(name text, now_tick bigint, duration interval DEFAULT '1000 s', secret bytea DEFAULT uuid_send(gen_random_uuid()))
    RETURNS TABLE (lease bigint, worker int, window_start bigint, window_end bigint) LANGUAGE sql AS $$
    WITH a AS (SELECT * FROM snowflake_lease_acquire(name, 0, now_tick, duration, sha256(secret), 0, NULL))
    INSERT INTO lease SELECT name, a.lease_id, secret, a.worker_id, a.window_start, a.window_end FROM a
    RETURNING lease_id, worker_id, lease.window_start, lease.window_end $$;
CREATE FUNCTION extend(who text, now_tick bigint, duration interval DEFAULT '1000 s', held_until bigint DEFAULT 0) RETURNS bigint
    LANGUAGE sql AS $$
    SELECT e.window_end FROM lease l, snowflake_lease_extend(l.lease_id, sha256(l.secret), now_tick, duration, held_until, 0, 0) e WHERE l.name = who $$;
CREATE FUNCTION release(who text, last_tick bigint, held_until bigint DEFAULT 0) RETURNS boolean LANGUAGE sql AS $$
    SELECT snowflake_lease_release(lease_id, secret, last_tick, held_until) FROM lease WHERE name = who $$;
-- Whatever it does is undone: the answer is an error. The protocol takes no part in a subtransaction.
CREATE FUNCTION undone(command text, question text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE command;
    EXECUTE 'SELECT ' || question INTO answer;
    RAISE EXCEPTION 'answered %', answer;
END $$;
CREATE VIEW registry AS SELECT lease_id, worker_id, node, window_start, window_end FROM snowflake_registry ORDER BY lease_id;
CREATE VIEW watermark AS SELECT * FROM snowflake_watermark ORDER BY worker_id;
CREATE ROLE regress_snowflake_owner;
CREATE ROLE regress_snowflake_clerk;

-- The first window is 10 s long and grows when it is moved.
SELECT * FROM acquire('a', 1000);
SELECT * FROM acquire('b', 1000);
SELECT * FROM acquire('c', 1000);
SELECT * FROM acquire('d', 1000, '5 s');
SELECT extend('b', 1000);

-- A lease that is deleted leaves its window's end, whoever deletes it: its node may issue until then.
DELETE FROM snowflake_registry WHERE node = 'a';
ALTER TABLE snowflake_registry OWNER TO regress_snowflake_owner;
ALTER TABLE snowflake_watermark OWNER TO regress_snowflake_owner;
ALTER TABLE snowflake_layout OWNER TO regress_snowflake_owner;
ALTER TABLE snowflake_origin OWNER TO regress_snowflake_owner;
ALTER TABLE snowflake_segment OWNER TO regress_snowflake_owner;
ALTER TABLE snowflake_segment_range OWNER TO regress_snowflake_owner;
ALTER TABLE snowflake_last_tick OWNER TO regress_snowflake_owner;
SET ROLE regress_snowflake_owner;
DELETE FROM snowflake_registry WHERE node = 'b';
RESET ROLE;
-- This role can read and delete leases and do nothing else.
GRANT SELECT, DELETE ON snowflake_registry TO regress_snowflake_clerk;
SET ROLE regress_snowflake_clerk;
WITH gone AS (DELETE FROM snowflake_registry r USING (VALUES ('c')) v(node) WHERE r.node = v.node RETURNING r.node) TABLE gone;
SELECT snowflake_evict(3, now());
\echo :SQLSTATE
SELECT snowflake_settle('x');
\echo :SQLSTATE
SELECT snowflake_settled();
\echo :SQLSTATE
RESET ROLE;
TABLE watermark;
-- Taken back with the deletion.
BEGIN;
DELETE FROM snowflake_registry;
TABLE watermark;
ROLLBACK;
TABLE watermark;
TABLE registry;
-- The node finds its lease gone; the next one of that worker id begins above all that it may have issued.
SELECT extend('a', 1001), release('a', 1001);
SELECT * FROM acquire('e', 1001);
SELECT * FROM acquire('f', 1001);
SELECT * FROM acquire('g', 1001);
SELECT * FROM acquire('h', 1001);
\echo :SQLSTATE

-- A lease stays what it is.
\set VERBOSITY terse
UPDATE snowflake_registry SET lease_id = 1 WHERE node = 'd';
\set VERBOSITY default
UPDATE snowflake_registry SET lease_id = DEFAULT WHERE node = 'd';
\echo :SQLSTATE
-- A watermark neither falls nor vanishes nor moves to another worker id; it may rise, and be there before the first lease.
UPDATE snowflake_watermark SET last_tick = last_tick - 1 WHERE worker_id = 1;
\echo :SQLSTATE
UPDATE snowflake_watermark SET worker_id = worker_id + 10;
\echo :SQLSTATE
UPDATE snowflake_watermark SET worker_id = 10, last_tick = 9223372036854775807 WHERE worker_id = 1;
DELETE FROM snowflake_watermark WHERE worker_id = 1;
-- Nor is counted by hand how many leases have ended: a wrong count would look like lost commits.
UPDATE snowflake_watermark SET leases_ended = leases_ended + 1 WHERE worker_id = 1;
INSERT INTO snowflake_watermark VALUES (7, 0, 1);
\echo :SQLSTATE
\set VERBOSITY terse
INSERT INTO snowflake_watermark VALUES (1, 5);
\set VERBOSITY default
INSERT INTO snowflake_watermark VALUES (1, 5) ON CONFLICT (worker_id) DO UPDATE SET last_tick = excluded.last_tick;
\echo :SQLSTATE
INSERT INTO snowflake_watermark VALUES (1, 5) ON CONFLICT DO NOTHING;
INSERT INTO snowflake_watermark VALUES (1, 2100), (3, 0) ON CONFLICT (worker_id) DO UPDATE SET last_tick = excluded.last_tick;
COPY snowflake_watermark (worker_id, last_tick) FROM stdin;
100	5
\.
TABLE watermark;

-- snowflake_origin is the protocol's alone.
UPDATE snowflake_origin SET last_lease_id = last_lease_id + 1;
\echo :SQLSTATE
UPDATE snowflake_origin SET settles_until = NULL;
DELETE FROM snowflake_origin;
\echo :SQLSTATE
INSERT INTO snowflake_origin (system_identifier, timeline, last_lease_id) VALUES (0, 0, 0);
\echo :SQLSTATE
COPY snowflake_origin (system_identifier, timeline, last_lease_id) FROM stdin;
0	0	0
\.
\echo :SQLSTATE

-- So is snowflake_last_tick.
INSERT INTO snowflake_last_tick VALUES (1, '2025-01-01');
\echo :SQLSTATE
UPDATE snowflake_last_tick SET began_at = now();
DELETE FROM snowflake_last_tick;
TRUNCATE snowflake_last_tick;
\echo :SQLSTATE

-- Leases come from the protocol alone.
INSERT INTO snowflake_registry (worker_id, node, secret_hash, acquired_at, extended_at, window_start, window_end)
    VALUES (50, 'x', sha256('x'), now(), now(), 0, 100);
\echo :SQLSTATE
INSERT INTO snowflake_registry OVERRIDING SYSTEM VALUE SELECT * FROM snowflake_registry ON CONFLICT DO NOTHING;
\echo :SQLSTATE
COPY snowflake_registry FROM stdin;
1	50	x	10	00000000-0000-0000-0000-000000000001	2025-01-01	2025-01-01	0	100
\.
\echo :SQLSTATE

-- TRUNCATE, by itself, in company and from a table that refers to one.
TRUNCATE snowflake_registry;
\echo :SQLSTATE
TRUNCATE snowflake_watermark;
\echo :SQLSTATE
TRUNCATE snowflake_origin;
\echo :SQLSTATE
TRUNCATE snowflake_layout;
\echo :SQLSTATE
TRUNCATE lease, snowflake_registry, snowflake_watermark RESTART IDENTITY CASCADE;
CREATE TABLE referred (id int PRIMARY KEY);
ALTER TABLE snowflake_watermark ADD CONSTRAINT referring FOREIGN KEY (worker_id) REFERENCES referred NOT VALID;
\set VERBOSITY terse
TRUNCATE referred CASCADE;
\set VERBOSITY default
ALTER TABLE snowflake_watermark DROP CONSTRAINT referring;
DROP TABLE referred;
SELECT count(*) FROM lease;

-- Commands that rewrite the table without changing values are allowed.
SET client_min_messages = warning;
VACUUM FULL snowflake_watermark;
CLUSTER snowflake_watermark USING snowflake_watermark_pkey;
ALTER TABLE snowflake_watermark SET UNLOGGED;
ALTER TABLE snowflake_watermark SET LOGGED;
ALTER TABLE snowflake_watermark SET TABLESPACE pg_default, SET (fillfactor = 90), SET ACCESS METHOD heap;
ALTER TABLE snowflake_watermark RESET (fillfactor);
RESET client_min_messages;
TABLE watermark;

-- MERGE is no way round.
MERGE INTO snowflake_registry r USING (VALUES ('x')) v(node) ON r.node = v.node
    WHEN NOT MATCHED THEN INSERT (worker_id, node, secret_hash, acquired_at, extended_at, window_start, window_end)
        VALUES (50, v.node, sha256('x'), now(), now(), 0, 100);
\echo :SQLSTATE
MERGE INTO snowflake_registry r USING (VALUES ('d')) v(node) ON r.node = v.node WHEN MATCHED THEN UPDATE SET window_end = 0;
\echo :SQLSTATE
MERGE INTO snowflake_watermark w USING (VALUES (1)) v(worker_id) ON w.worker_id = v.worker_id WHEN MATCHED THEN DELETE;
\echo :SQLSTATE
MERGE INTO snowflake_watermark w USING (VALUES (1)) v(worker_id) ON w.worker_id = v.worker_id WHEN MATCHED THEN UPDATE SET last_tick = 0;
\echo :SQLSTATE
SELECT extend('d', 1400);
MERGE INTO snowflake_registry r USING (VALUES ('d')) v(node) ON r.node = v.node WHEN MATCHED THEN DELETE;
TABLE registry;
TABLE watermark;

-- What another registry's replication writes, or who is taken for one, is discarded; what cannot be discarded is refused.
SET session_replication_role = replica;
DELETE FROM snowflake_registry;
UPDATE snowflake_registry SET window_end = 0 WHERE node = 'e';
INSERT INTO snowflake_registry (worker_id, node, secret_hash, acquired_at, extended_at, window_start, window_end)
    VALUES (50, 'x', sha256('x'), now(), now(), 0, 100);
UPDATE snowflake_watermark SET last_tick = 0 WHERE worker_id = 1;
DELETE FROM snowflake_watermark WHERE worker_id = 1;
COPY snowflake_watermark (worker_id, last_tick) FROM stdin;
101	5
\.
UPDATE snowflake_origin SET last_lease_id = 0;
DELETE FROM snowflake_origin;
INSERT INTO snowflake_last_tick VALUES (1, '2025-01-01');
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=41 worker=10 seq=12');
UPDATE snowflake_layout SET definition = 'epoch=0 tick=1us time=31 worker=2 seq=10';
DELETE FROM snowflake_layout;
TRUNCATE snowflake_watermark;
\echo :SQLSTATE
TABLE registry;
TABLE watermark;
TABLE snowflake_layout;
-- The protocol is its own master there, too.
SELECT extend('e', 1003, '20 s');
SELECT release('e', 1012);
SELECT worker, window_start FROM acquire('i', 1003, '5 s');
RESET session_replication_role;
TABLE registry;
TABLE watermark;
DELETE FROM snowflake_registry WHERE node = 'i';

-- A layout is taken where there is none, if it is one.
BEGIN;
DROP VIEW registry, watermark;
SET LOCAL client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SET LOCAL session_replication_role = replica;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=99 worker=2 seq=10');
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1s time=31 worker=2 seq=10');
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1ms time=41 worker=10 seq=12') ON CONFLICT DO NOTHING;
SELECT snowflake_timestamp(4096);
TABLE snowflake_layout;
ROLLBACK;

-- Tables that are not as the extension made them: the protocol has nothing to do with them.
CREATE VIEW tables AS SELECT * FROM (VALUES ('snowflake_registry'), ('snowflake_watermark'), ('snowflake_layout'), ('snowflake_origin')) t(name);
CREATE SCHEMA other;
CREATE FUNCTION other.snowflake_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
SET client_min_messages = warning;
CREATE TABLE change AS
SELECT 1 AS kind, n, name, what, format(ddl, name) AS ddl FROM tables, (VALUES
    (1, 'rule', 'CREATE RULE planted AS ON UPDATE TO %s DO ALSO NOTHING'),
    (2, 'disabled', 'ALTER TABLE %s DISABLE TRIGGER snowflake_guard'),
    (3, 'all disabled', 'ALTER TABLE %s DISABLE TRIGGER ALL'),
    (4, 'at the origin', 'ALTER TABLE %s ENABLE TRIGGER snowflake_guard'),
    (5, 'at a replica', 'ALTER TABLE %s ENABLE REPLICA TRIGGER snowflake_guard'),
    (6, 'dropped', 'DROP TRIGGER snowflake_guard ON %s'),
    (7, 'conditional', 'CREATE OR REPLACE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON %1$s FOR EACH ROW WHEN (false)
        EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard'),
    (8, 'other events', 'CREATE OR REPLACE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW
        EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard'),
    (9, 'later', 'DROP TRIGGER snowflake_guard ON %1$s; CREATE TRIGGER snowflake_guard AFTER INSERT OR UPDATE OR DELETE ON %1$s FOR EACH ROW
        EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard'),
    (10, 'other function', 'CREATE OR REPLACE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON %1$s FOR EACH ROW
        EXECUTE FUNCTION other.snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard'),
    (11, 'other name', 'ALTER TRIGGER snowflake_guard ON %s RENAME TO guard'),
    (12, 'unlogged', 'ALTER TABLE %s SET UNLOGGED'),
    (13, 'row security', 'CREATE POLICY planted ON %1$s USING (false); ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY'),
    (14, 'child', 'CREATE TABLE child () INHERITS (%s)'),
    (15, 'no child any more', 'CREATE TABLE child () INHERITS (%s); DROP TABLE child'),
    (16, 'no rule any more', 'CREATE RULE planted AS ON UPDATE TO %1$s DO ALSO NOTHING; DROP RULE planted ON %1$s'),
    (17, 'after pg_restore --disable-triggers', 'ALTER TABLE %1$s DISABLE TRIGGER ALL; ALTER TABLE %1$s ENABLE TRIGGER ALL'),
    (18, 'row security forced', 'ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'),
    (19, 'row security forced, not enabled', 'ALTER TABLE %s FORCE ROW LEVEL SECURITY')) d(n, what, ddl)
UNION ALL SELECT 2, n, name, what, format(ddl, name) FROM tables, (VALUES
    (1, 'truncate disabled', 'ALTER TABLE %s DISABLE TRIGGER snowflake_guard_table'),
    (2, 'truncate at the origin', 'ALTER TABLE %s ENABLE TRIGGER snowflake_guard_table'),
    (3, 'truncate dropped', 'DROP TRIGGER snowflake_guard_table ON %s'),
    (4, 'truncate alone', 'CREATE OR REPLACE TRIGGER snowflake_guard_table BEFORE TRUNCATE ON %1$s
        EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard_table'),
    (5, 'no columns', 'CREATE OR REPLACE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR UPDATE ON %1$s
        EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard_table')) d(n, what, ddl)
    WHERE name <> 'snowflake_layout'
UNION ALL SELECT 3, n, name, what, format(ddl, name, CASE name WHEN 'snowflake_registry' THEN 'node' ELSE 'worker_id' END) FROM tables, (VALUES
    (1, 'after disabled', 'ALTER TABLE %s DISABLE TRIGGER snowflake_guard_after'),
    (2, 'after dropped', 'DROP TRIGGER snowflake_guard_after ON %s'),
    (3, 'after one column', 'CREATE OR REPLACE TRIGGER snowflake_guard_after AFTER UPDATE OF %2$s ON %1$s FOR EACH ROW
        EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard_after'),
    (4, 'after conditional', 'CREATE OR REPLACE TRIGGER snowflake_guard_after AFTER UPDATE ON %1$s FOR EACH ROW
        WHEN (old.worker_id > 99999) EXECUTE FUNCTION snowflake_guard(); ALTER TABLE %1$s ENABLE ALWAYS TRIGGER snowflake_guard_after')) d(n, what, ddl)
    WHERE name IN ('snowflake_registry', 'snowflake_watermark')
-- Columns, and the function itself.
UNION ALL SELECT 4, n, '', what, ddl FROM (VALUES
    (5, 'columns of two types exchanged', 'ALTER TABLE snowflake_registry RENAME extended_at TO w;'
        ' ALTER TABLE snowflake_registry RENAME window_end TO extended_at; ALTER TABLE snowflake_registry RENAME w TO window_end'),
    (6, 'column in place of another', 'ALTER TABLE snowflake_watermark RENAME last_tick TO w;'
        ' ALTER TABLE snowflake_watermark ADD last_tick bigint NOT NULL DEFAULT -1'),
    (7, 'column added', 'ALTER TABLE snowflake_watermark ADD remark text'),
    (8, 'column dropped', 'ALTER TABLE snowflake_watermark DROP last_tick CASCADE, ADD last_tick bigint NOT NULL DEFAULT -1'),
    (2, 'function', 'ALTER EXTENSION snowflake DROP FUNCTION snowflake_guard()'),
    (3, 'its code', $$CREATE OR REPLACE FUNCTION snowflake_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'$$),
    (4, 'its settings', 'ALTER FUNCTION snowflake_guard() SET search_path = public')) d(n, what, ddl);
-- A row that moves, a release and an acquire, in this order.
CREATE FUNCTION after(name text, what text) RETURNS void LANGUAGE sql AS $$
    SELECT undone(c.ddl, 'format(''%s %s %s'', extend(''f'', 1003, ''100 s''), release(''f'', 1013), (acquire(''x'', 1003)).worker)')
    FROM change c WHERE c.name = $1 AND c.what = $2 $$;
\set VERBOSITY terse
SELECT undone('', $$format('%s %s %s', extend('f', 1003, '100 s'), release('f', 1013), (acquire('x', 1003)).worker)$$);
SELECT format('SELECT after(%L, %L)', name, what) FROM change ORDER BY kind, n, name \gexec
\set VERBOSITY default
-- What is wrong, and what to do.
SELECT undone('ALTER TABLE snowflake_layout DISABLE TRIGGER ALL; ALTER TABLE snowflake_layout ENABLE TRIGGER ALL', $$acquire('x', 1003)$$);
\echo :SQLSTATE
SELECT undone('ALTER TABLE snowflake_layout DISABLE TRIGGER ALL; ALTER TABLE snowflake_layout ENABLE TRIGGER ALL;'
    'ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_guard', $$(acquire('x', 1003)).worker$$);
SELECT undone('ALTER TABLE snowflake_registry SET UNLOGGED', $$acquire('x', 1003)$$);
\echo :SQLSTATE
SELECT undone('ALTER TABLE snowflake_watermark ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', $$acquire('x', 1003)$$);
\echo :SQLSTATE
-- A column under another name: what needs it fails. Nothing needs singleton.
CREATE FUNCTION calls() RETURNS text LANGUAGE sql AS $$
    SELECT snowflake_create_segment('s');
    SELECT format('%s %s %s %s', (snowflake_segment_ranges('n', '{s}', '{0}', '{0}', '{0}', '{0}', ARRAY[sha256('s')])).range_last,
        extend('f', 1003, '100 s'), release('f', 1013), (acquire('x', 1003)).worker) $$;
CREATE FUNCTION renamed(name text, col text) RETURNS void LANGUAGE sql AS $$
    SELECT undone(format('ALTER TABLE %I RENAME %I TO renamed', name, col), 'calls()') $$;
\set VERBOSITY terse
SELECT undone('', 'calls()');
\set VERBOSITY sqlstate
SELECT format('SELECT renamed(%L, %L)', relname, attname) FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE attnum > 0
    AND (relname IN (SELECT name FROM tables) OR relname IN ('snowflake_segment', 'snowflake_segment_range')) ORDER BY relname, attnum \gexec
\set VERBOSITY default
-- The guards need theirs, too.
SELECT undone('ALTER TABLE snowflake_registry RENAME window_end TO renamed; DELETE FROM snowflake_registry', '1');
\echo :SQLSTATE
SELECT undone('ALTER TABLE snowflake_watermark RENAME last_tick TO renamed; UPDATE snowflake_watermark SET renamed = 0', '1');
\echo :SQLSTATE
DROP FUNCTION calls, renamed;
RESET client_min_messages;
\set VERBOSITY terse
DROP FUNCTION snowflake_guard();
\set VERBOSITY default
SELECT snowflake_guard();
DROP TABLE change;
DROP VIEW tables;
DROP SCHEMA other CASCADE;

-- A table's owner who writes what nobody can have used makes the worker id useless, and not used twice.
SELECT undone('UPDATE snowflake_watermark SET last_tick = 9223372036854775807; INSERT INTO snowflake_watermark'
    ' VALUES (1, 9223372036854775807), (2, 9223372036854775807) ON CONFLICT (worker_id) DO UPDATE SET last_tick = excluded.last_tick',
    $$acquire('x', 1004)$$);
\echo :SQLSTATE

-- The operator reports that a node is dead.
TABLE registry;
SELECT snowflake_evict(NULL, now());
\echo :SQLSTATE
SELECT snowflake_evict(1, NULL);
\echo :SQLSTATE
SELECT snowflake_evict(1, 'infinity');
\echo :SQLSTATE
SELECT snowflake_evict(1, '-infinity');
\echo :SQLSTATE
SELECT snowflake_evict(1, '294276-12-31 23:59:59+00');
\echo :SQLSTATE
SELECT snowflake_evict(3, now()) AS free, snowflake_evict(-1, now()) AS negative, snowflake_evict(2147483647, now()) AS huge,
    snowflake_evict(-2147483648, now()) AS lowest;
-- Who was heard of since was alive.
ALTER TABLE snowflake_registry DISABLE TRIGGER snowflake_guard;
UPDATE snowflake_registry SET extended_at = to_timestamp(1012.5) WHERE worker_id = 2;
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard;
SELECT snowflake_evict(2, '4713-01-01 00:00:00+00 BC');
SELECT snowflake_evict(2, to_timestamp(1012));
\echo :SQLSTATE
-- With what its clock may have been ahead, in ticks of a second rounded up, and what ids may lead it.
BEGIN;
SET LOCAL snowflake.max_clock_skew = '1s';
SELECT snowflake_evict(2, to_timestamp(1012.5));
SELECT * FROM watermark WHERE worker_id = 2;
ROLLBACK;
-- No further than the window.
BEGIN;
SET LOCAL snowflake.max_clock_skew = '1s';
SELECT snowflake_evict(2, now());
SELECT * FROM watermark WHERE worker_id = 2;
ROLLBACK;
-- Without a bound of clocks there is none of what it may have used but that.
SELECT snowflake_evict(2, to_timestamp(1015)), snowflake_evict(2, to_timestamp(1015));
SELECT * FROM watermark WHERE worker_id = 2;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT snowflake_evict(1, now());
\echo :SQLSTATE
ROLLBACK;
BEGIN READ ONLY;
SELECT snowflake_settle('x');
\echo :SQLSTATE
ROLLBACK;

-- The operator reports that commits were lost, or were not.
SELECT snowflake_settle(NULL);
\echo :SQLSTATE
SELECT snowflake_settled();
SELECT snowflake_settle('a backup was restored');
SELECT settles_until > now() AS settles FROM snowflake_origin;
SELECT snowflake_settled();
SELECT settles_until FROM snowflake_origin;
SELECT snowflake_settled();

-- Requests to the forms for nodes of this version. None acquires or extends a lease.
CREATE TEMP TABLE before AS SELECT (SELECT count(*) FROM snowflake_registry) AS leases, last_lease_id FROM snowflake_origin;
CREATE FUNCTION refused(call text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'SELECT * FROM ' || call;
    RETURN 'answered';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT snowflake_lease_acquire(NULL, 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', NULL, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_acquire('x', 0, NULL, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_acquire('x', 0, 1020, NULL, sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_acquire('x', 0, 1020, '10 s', NULL, 0, NULL);
SELECT snowflake_lease_acquire('x', 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), NULL, NULL);
SELECT snowflake_lease_extend(NULL, sha256(uuid_send(gen_random_uuid())), 1020, '10 s', 0, 0, 0);
SELECT snowflake_lease_extend(1, NULL, 1020, '10 s', 0, 0, 0);
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), NULL, '10 s', 0, 0, 0);
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1020, NULL, 0, 0, 0);
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1020, '10 s', NULL, 0, 0);
\echo :SQLSTATE
SELECT snowflake_lease_release(NULL, uuid_send(gen_random_uuid()), 1020, 0);
SELECT snowflake_lease_release(1, NULL, 1020, 0);
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), NULL, 0);
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), 1020, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 1020, '10 s', '\x00', 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire(repeat('x', 257), 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire(repeat(U&'\00E4', 128) || 'x', 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 1020, '0', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 0, 1020, '-1 day', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_acquire('x', 0, 1020, '1 day 1 us', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_acquire('x', 0, 1020, '178000000 years', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1020, '999 ms', 0, 0, 0);
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1020, '-178000000 years', 0, 0, 0);
SELECT snowflake_lease_acquire('x', -2147483648, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT snowflake_lease_acquire('x', 1, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT snowflake_lease_acquire('x', 0, 9223372036854775807, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
SELECT window_end, timeline, raised_tick FROM snowflake_lease_extend(-9223372036854775808, sha256(uuid_send(gen_random_uuid())), 1020, '10 s', 0, 0, 0);
SELECT window_end, timeline, raised_tick FROM snowflake_lease_extend(0, sha256(uuid_send(gen_random_uuid())), -9223372036854775808, '10 s', 9223372036854775807, 0, 0);
SELECT snowflake_lease_release(-9223372036854775808, uuid_send(gen_random_uuid()), 9223372036854775807, -9223372036854775808);
-- No window begins early enough: nothing is acquired.
SELECT snowflake_lease_acquire('x', 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, 1020), snowflake_lease_acquire('x', 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, -9223372036854775808);
SELECT (SELECT count(*) FROM snowflake_registry) = leases AS same, o.last_lease_id = before.last_lease_id AS same FROM before, snowflake_origin o;

-- Not in a transaction block of any kind: it would hold up the other nodes.
BEGIN;
SELECT snowflake_lease_acquire('x', 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL);
\echo :SQLSTATE
ROLLBACK;
SELECT 1 AS one \; SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1020, '10 s', 0, 0, 0);
\echo :SQLSTATE
BEGIN;
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), 1020, 0);
\echo :SQLSTATE
ROLLBACK;
SELECT refused($$snowflake_lease_acquire('x', 0, 1020, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL)$$), refused($$snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1020, '10 s', 0, 0, 0)$$),
    refused($$snowflake_lease_release(1, uuid_send(gen_random_uuid()), 1020, 0)$$);

-- A repeated request gets the same lease, and no second row; its window goes on from where the clock is now.
SELECT uuid_send(gen_random_uuid()) AS secret \gset
SELECT * FROM acquire('again', 1100, '10 s', :'secret');
SELECT * FROM acquire('again', 1104, '10 s', :'secret');
SELECT * FROM acquire('again', 1050, '5 s', :'secret');
SELECT * FROM registry WHERE node = 'again';
-- Once the lease is gone it is a new request.
SELECT snowflake_lease_release(lease_id, secret, 1100, 0) FROM lease WHERE name = 'again' LIMIT 1;
SELECT lease FROM acquire('again', 1200, '10 s', :'secret');
DELETE FROM lease WHERE name = 'again' AND lease_id NOT IN (SELECT lease_id FROM snowflake_registry);

-- A lease belongs to its role. With its secret, another role can neither extend nor release it, and acquires a lease of its own.
CREATE ROLE regress_snowflake_one;
CREATE ROLE regress_snowflake_two;
GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release
    TO regress_snowflake_one, regress_snowflake_two;
GRANT SELECT, INSERT, DELETE ON lease TO regress_snowflake_one, regress_snowflake_two;
SELECT uuid_send(gen_random_uuid()) AS secret \gset
SET SESSION AUTHORIZATION regress_snowflake_one;
SELECT * FROM acquire('one', 1300, '10 s', :'secret');
SET SESSION AUTHORIZATION regress_snowflake_two;
SELECT l.name, e.window_end FROM lease l, snowflake_lease_extend(lease_id, sha256(secret), 1305, '10 s', 0, 0, 0) e WHERE name = 'one';
SELECT snowflake_lease_release(lease_id, secret, 1305, 0) FROM lease WHERE name = 'one';
SELECT * FROM acquire('two', 1300, '10 s', :'secret');
RESET SESSION AUTHORIZATION;
-- Not the superuser either; he has the table.
SELECT extend('one', 1305), release('one', 1305);
SELECT node, role::regrole, secret_hash = sha256(:'secret') AS hash FROM snowflake_registry WHERE node IN ('one', 'two') ORDER BY node;
-- It is the session's role that counts, and not the one that it has put on.
GRANT regress_snowflake_two TO regress_snowflake_one;
SET SESSION AUTHORIZATION regress_snowflake_one;
SET ROLE regress_snowflake_two;
SELECT extend('one', 1305, '10 s'), extend('two', 1305, '10 s');
RESET SESSION AUTHORIZATION;
REVOKE regress_snowflake_two FROM regress_snowflake_one;
-- Each role releases its own lease.
SET SESSION AUTHORIZATION regress_snowflake_one;
SELECT release('one', 1306), release('two', 1306);
SET SESSION AUTHORIZATION regress_snowflake_two;
SELECT release('two', 1306);
RESET SESSION AUTHORIZATION;

-- How many leases a role may have. One that has ended makes room.
SET snowflake.max_leases_per_role = 1;
SET SESSION AUTHORIZATION regress_snowflake_one;
SELECT lease > 0 AS acquired FROM acquire('first', 1400, '10 s', :'secret');
SELECT lease > 0 AS acquired FROM acquire('second', 1400);
\echo :SQLSTATE
SELECT lease > 0 AS acquired FROM acquire('second', 1409, '10 s');
\echo :SQLSTATE
-- The same request is no second lease, and another role has its own bound.
SELECT lease > 0 AS acquired FROM acquire('first', 1401, '10 s', :'secret');
SET SESSION AUTHORIZATION regress_snowflake_two;
SELECT lease > 0 AS acquired FROM acquire('third', 1401);
SET SESSION AUTHORIZATION regress_snowflake_one;
SELECT lease > 0 AS acquired FROM acquire('second', 1411);
RESET SESSION AUTHORIZATION;
RESET snowflake.max_leases_per_role;

-- How long a lease may last, whatever is asked for.
SHOW snowflake.max_lease_duration;
SELECT lease > 0 AS acquired FROM acquire('long', 3000, '1 day');
SELECT extend('long', 3000, '1 day'), extend('long', 3000, '30 min');
SET snowflake.max_lease_duration = '1 s';
SELECT lease > 0 AS acquired, window_end - window_start AS seconds FROM acquire('short', 9000);
SELECT extend('short', 9000, '1 day');
SELECT extend('short', 9000, '25 h');
RESET snowflake.max_lease_duration;

-- The end of the window that a node holds: not further than the layout goes, and where that is more than the registry knows, commits are lost.
SELECT settles_until FROM snowflake_origin;
SELECT extend('short', 9000, '1 s', 9001), extend('short', 9000, '1 s', -9223372036854775808);
SELECT settles_until FROM snowflake_origin;
SELECT extend('short', 9000, '1 s', 9002);
SELECT settles_until > now() AS settles FROM snowflake_origin;
SELECT snowflake_settled();
SELECT extend('short', 9000, '1 s', 9223372036854775807);
SELECT window_end FROM registry WHERE node = 'short';
SELECT snowflake_settled();
SELECT release('short', 9223372036854775807, 9223372036854775807);
\echo :SQLSTATE
SELECT release('short', 2147483647, 9223372036854775807);
SELECT snowflake_settled();

-- A lease that the registry does not know: the same. Lease ids go on above.
SELECT last_lease_id FROM snowflake_origin \gset
SELECT window_end FROM snowflake_lease_extend(:last_lease_id + 1, sha256(uuid_send(gen_random_uuid())), 9000, '10 s', 0, 0, 0);
SELECT last_lease_id > :last_lease_id + 1 AS above, settles_until > now() AS settles FROM snowflake_origin;
-- No registry assigns such a lease id.
SELECT snowflake_settled();
SELECT last_lease_id, jumped_to + (1::bigint << 46) AS highest FROM snowflake_origin \gset
SELECT window_end FROM snowflake_lease_extend(9223372036854775807, sha256(uuid_send(gen_random_uuid())), 9000, '10 s', 0, 0, 0);
SELECT last_lease_id = :last_lease_id AS same, settles_until IS NULL AS settled FROM snowflake_origin;
-- Another one proves a loss, however far above it is. But in one life lease ids rise only so far: a role cannot use up the numbers.
SELECT window_end FROM snowflake_lease_extend(:highest + 1, sha256(uuid_send(gen_random_uuid())), 9000, '10 s', 0, 0, 0);
SELECT last_lease_id = :last_lease_id AS same, settles_until > now() AS settles FROM snowflake_origin;
SELECT snowflake_settled();
SELECT window_end FROM snowflake_lease_extend(:highest, sha256(uuid_send(gen_random_uuid())), 9000, '10 s', 0, 0, 0);
SELECT last_lease_id > :highest AS above, settles_until > now() AS settles FROM snowflake_origin;
SELECT snowflake_settled();

-- With clocks that are judged. The ring is new.
DROP VIEW registry, watermark;
TRUNCATE lease;
SET client_min_messages = warning;
DROP EXTENSION snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
INSERT INTO snowflake_layout VALUES (true, 'epoch=0 tick=1s time=31 worker=2 seq=10');
SET snowflake.max_clock_skew = '100s';
CREATE FUNCTION clock() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT floor(extract(epoch FROM clock_timestamp()))::bigint';
-- What other nodes' clocks can show passes.
SELECT worker IS NOT NULL AS acquired FROM acquire('behind', clock() - 90);
SELECT worker IS NOT NULL AS acquired FROM acquire('ahead', clock() + 90);
\set VERBOSITY sqlstate
SELECT acquire('x', clock() + 110);
SELECT :'LAST_ERROR_SQLSTATE', regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT acquire('x', clock() - 110);
SELECT :'LAST_ERROR_SQLSTATE', regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), clock() + 110, '10 s', 0, 0, 0);
SELECT :'LAST_ERROR_SQLSTATE', regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
SELECT snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), -9223372036854775808, '10 s', 0, 0, 0);
SELECT :'LAST_ERROR_SQLSTATE', regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
\set VERBOSITY default
-- A held end cannot have been assigned, and a released tick cannot have been used.
SELECT extend('ahead', clock(), '1000 s', clock() + 3690) AS held \gset
SELECT :held >= clock() + 3680 AS assigned, settling_us <= 3900 * 1000000::bigint AS as_long_as_a_lease FROM snowflake_origin;
\set VERBOSITY sqlstate
SELECT extend('ahead', clock(), '1000 s', clock() + 3720);
SELECT extend('ahead', clock(), '1000 s', 9223372036854775807);
SELECT release('ahead', clock() + 90, clock() + 3720);
SELECT release('ahead', clock() + 110);
SELECT release('ahead', 9223372036854775807, 9223372036854775807);
\set VERBOSITY default
-- What it was assigned before stays, whatever is assigned now.
SET snowflake.max_lease_duration = '1 s';
SELECT extend('ahead', clock(), '1000 s', :held) = :held AS assigned;
RESET snowflake.max_lease_duration;
\set VERBOSITY sqlstate
SELECT snowflake_lease_release(1, uuid_send(gen_random_uuid()), clock() + 110, 0);
SELECT :'LAST_ERROR_SQLSTATE', regexp_replace(:'LAST_ERROR_MESSAGE', '[-0-9.]+ s', '... s');
\set VERBOSITY default
-- Whoever releases it, the watermark is no lower than what its node can have used by now, and no higher than the window.
SELECT clock() AS before \gset
SELECT release('ahead', window_start - 1) FROM lease WHERE name = 'ahead';
SELECT last_tick BETWEEN :before + 100 AND clock() + 102 AS clock_and_skew_and_lead FROM snowflake_watermark;
SELECT lease > 0 AS acquired FROM acquire('brief', clock(), '5 s');
SELECT release('brief', window_start - 1) FROM lease WHERE name = 'brief';
SELECT count(*) FROM snowflake_watermark w JOIN lease l USING (worker_id) WHERE l.name = 'brief' AND w.last_tick = l.window_end - 1;
SELECT snowflake_settled();

-- An empty snowflake_origin is a loss, whether an acquire, the operator or snowflake_raise() finds it.
\set empty 'ALTER TABLE snowflake_origin DISABLE TRIGGER snowflake_guard; DELETE FROM snowflake_origin; ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;'
CREATE FUNCTION settles() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT count(*) || ' row, settles' FROM snowflake_origin WHERE settles_until > now() AND started_at IS NOT NULL $$;
SELECT undone(:'empty' || $$SELECT acquire('x', clock())$$, 'settles()');
SELECT undone(:'empty' || $$SELECT snowflake_settle('restored')$$, 'settles()');
SELECT undone(:'empty' || 'SELECT snowflake_raise(0)', 'settles()');

-- By hand nobody changes a column of a lease, neither while its window lasts nor when it is over.
SELECT lease > 0 AS acquired, extend('alive', clock(), '1000 s') > clock() AS alive FROM acquire('alive', clock());
CREATE FUNCTION change(node text, what text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('UPDATE snowflake_registry SET %s WHERE node = %L', what, node);
    RETURN 'changed';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE changes AS SELECT * FROM (VALUES (1, 'lease_id = DEFAULT'), (2, 'worker_id = 7'), (3, 'node = ''x'''),
    (4, 'role = ''regress_snowflake_clerk''::regrole'), (5, 'secret_hash = sha256(''x'')'), (6, 'acquired_at = now()'), (7, 'extended_at = now()'),
    (8, 'window_start = window_start + 1'), (9, 'window_end = window_end - 1'), (10, 'window_end = window_end + 1')) w(n, change);
CREATE VIEW changed AS
    SELECT node, window_end > clock() AS alive, string_agg(split_part(change, ' ', 1), ' ' ORDER BY n) AS columns, answer
    FROM snowflake_registry, changes, change(node, change) answer
    WHERE node IN ('behind', 'alive') GROUP BY node, window_end, answer ORDER BY node;
GRANT SELECT ON changes, changed, snowflake_registry TO PUBLIC;
GRANT pg_write_all_data TO regress_snowflake_clerk;
ALTER TABLE snowflake_registry OWNER TO regress_snowflake_owner;
TABLE changed;
SET ROLE regress_snowflake_clerk;
TABLE changed;
SET ROLE regress_snowflake_owner;
TABLE changed;
RESET ROLE;
ALTER TABLE snowflake_registry OWNER TO CURRENT_USER;
DROP VIEW changed;
DROP TABLE changes;

DROP FUNCTION acquire, extend, release, undone, after, refused, settles, clock, change;
DROP TABLE lease;
-- Leases of others, by whatever clock, hinder the drop; nobody issues under these.
DELETE FROM snowflake_registry;
DROP EXTENSION snowflake;
DROP ROLE regress_snowflake_owner, regress_snowflake_clerk, regress_snowflake_one, regress_snowflake_two;
