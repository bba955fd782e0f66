-- $1: the table, $2: other tables that change.
-- Parameters: oid, oid[]
SELECT c.oid, c.oid = $1 AS named, c.relkind AS kind, c.relpersistence AS persistence, e.extname AS extension,
    pg_has_role(c.relowner, 'USAGE') AS own, pg_describe_object('pg_class'::regclass, c.oid, 0) AS described,
    c.relowner AS owner, (
        SELECT format('Run ALTER TABLE %s DETACH PARTITION %s FINALIZE first.', inhparent::regclass, c.oid::regclass)
        FROM pg_inherits WHERE inhrelid = c.oid AND inhdetachpending) AS detached
FROM pg_class c
LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
    AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE c.oid = $1 OR c.oid = ANY ($2)
ORDER BY c.oid <> $1, c.oid
