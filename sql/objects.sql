-- What the extension consists of, who may do what, and that each object says what it is.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;

-- Volatility, strictness, parallel safety.
SELECT p.oid::regprocedure AS function, provolatile AS volatile, proisstrict AS strict, proparallel AS parallel,
    has_function_privilege('public', p.oid, 'EXECUTE') AS public
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('snowflake', 'snowflake_convert')) ORDER BY 1;

-- Rights on tables and views.
CREATE ROLE regress_snowflake_nobody;
SELECT relname, relkind, has_table_privilege('regress_snowflake_nobody', c.oid, 'SELECT') AS public,
    has_table_privilege('pg_monitor', c.oid, 'SELECT') AS monitor,
    has_table_privilege('regress_snowflake_nobody', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') AS writable,
    (SELECT string_agg(lower(p), ', ') FROM unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) p
     WHERE has_table_privilege('pg_database_owner', c.oid, p)) AS owner_of_database
FROM pg_class c WHERE relname LIKE 'snowflake%' AND relkind IN ('r', 'v') ORDER BY 1;

SET ROLE regress_snowflake_nobody;
SELECT snowflake_nextval() > 0 AS issued;
SELECT count(*) FROM snowflake_nextvals(3);
SELECT snowflake_currval() > 0 AS issued;
SELECT snowflake_timestamp(snowflake_currval()) > '2025-01-01' AS read;
SELECT (snowflake_decode(snowflake_currval())).worker >= 0 AS read;
SELECT state FROM snowflake_status;
SELECT * FROM snowflake_workers;
SELECT * FROM snowflake_registry;
SELECT * FROM snowflake_lease_acquire('x', 0, 0, '1 minute', sha256(uuid_send(gen_random_uuid())), 0, NULL);
SELECT * FROM snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 0, '1 minute', 0, 0, 0);
SELECT * FROM snowflake_lease_release(1, uuid_send(gen_random_uuid()), 0, 0);
RESET ROLE;
DROP ROLE regress_snowflake_nobody;

-- Nothing without a comment.
SELECT pg_describe_object(d.classid, d.objid, 0) AS without_comment
FROM pg_depend d WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('snowflake', 'snowflake_convert'))
    AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_event_trigger'::regclass)
    AND pg_describe_object(classid, objid, 0) !~ '_seq$'
    AND obj_description(objid, classid::regclass::name) IS NULL;

SELECT attrelid::regclass AS relation, attname AS without_comment
FROM pg_attribute JOIN pg_class c ON c.oid = attrelid JOIN pg_depend d ON d.objid = c.oid AND d.classid = 'pg_class'::regclass
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('snowflake', 'snowflake_convert'))
    AND relkind IN ('r', 'v') AND attnum > 0 AND NOT attisdropped AND col_description(attrelid, attnum) IS NULL ORDER BY 1, attnum;

-- The views.
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'snowflake_status'::regclass AND attnum > 0 ORDER BY attnum;
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'snowflake_workers'::regclass AND attnum > 0 ORDER BY attnum;
SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'snowflake_layouts'::regclass AND attnum > 0 ORDER BY attnum;
SELECT snowflake_nextval() > 0 AS issued;
SELECT state, worker BETWEEN 0 AND 1023 AS worker, window_end > now() AS window_end,
    last_id >= snowflake_currval() AS last_id, keeper_pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'snowflake keeper' AND query LIKE 'holding worker id %') AS keeper, last_error, last_error_code
FROM snowflake_status;
SELECT w.worker = s.worker AS worker, w.node = s.node AS node, w.lease_id = s.lease_id AS lease, w.acquired_at <= now() AS acquired,
    w.extended_at >= w.acquired_at AS renewed, w.window_end = s.window_end AS window_end, w.expired
FROM snowflake_workers w, snowflake_status s;

-- The state block; in a segment of its own where nothing is preloaded.
SELECT count(*) = (current_setting('shared_preload_libraries') ~ 'snowflake')::int AS ok
FROM pg_shmem_allocations WHERE name = 'snowflake';

-- Relocatable: the functions find their tables wherever they are.
CREATE SCHEMA "Other schema";
ALTER EXTENSION snowflake SET SCHEMA "Other schema";
ALTER EXTENSION snowflake_convert SET SCHEMA "Other schema";
SELECT "Other schema".snowflake_nextval() > 0 AS issued;
SELECT count(*) FROM "Other schema".snowflake_workers;
ALTER SCHEMA "Other schema" RENAME TO "Yet another";
SELECT "Yet another".snowflake_timestamp(0) = '2025-01-01 00:00+00' AS read;
SELECT "Yet another".snowflake_lease_release(1, uuid_send(gen_random_uuid()), 0, 0);
DROP SCHEMA "Yet another" CASCADE;
