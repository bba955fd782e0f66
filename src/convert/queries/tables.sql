-- $1: the table, $2: other tables that change, $3: the function of the new default. `lacking`: what
-- the owner may not do, and `grants` the statements that help.
-- Parameters: oid, oid[], oid
SELECT c.oid, c.oid = $1 AS named, c.relkind AS kind, c.relpersistence AS persistence, e.extname AS extension,
    pg_has_role(c.relowner, 'USAGE') AS own, pg_describe_object('pg_class'::regclass, c.oid, 0) AS described,
    c.relowner AS owner, pg_get_userbyid(c.relowner) AS owner_name, l.lacking, l.grants, (
        SELECT format('Run ALTER TABLE %s DETACH PARTITION %s FINALIZE first.', inhparent::regclass, c.oid::regclass)
        FROM pg_inherits WHERE inhrelid = c.oid AND inhdetachpending) AS detached
FROM pg_class c
LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
    AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
CROSS JOIN LATERAL (
    SELECT string_agg('may not ' || r.what, ', and ' ORDER BY r.what) AS lacking,
        string_agg(format('GRANT %s TO %I', r.privilege, pg_get_userbyid(c.relowner)), '; ' ORDER BY r.what) AS grants
    FROM (
        SELECT 'use schema ' || quote_ident(n.nspname), 'USAGE ON SCHEMA ' || quote_ident(n.nspname) FROM pg_namespace n
        WHERE n.oid IN (c.relnamespace, (SELECT pronamespace FROM pg_proc WHERE oid = $3))
            AND NOT has_schema_privilege(c.relowner, n.oid, 'USAGE')
        UNION ALL
        SELECT 'call ' || $3::regprocedure, 'EXECUTE ON FUNCTION ' || $3::regprocedure
        WHERE NOT has_function_privilege(c.relowner, $3, 'EXECUTE')) AS r(what, privilege)) AS l
WHERE c.oid = $1 OR c.oid = ANY ($2)
ORDER BY c.oid <> $1, c.oid
