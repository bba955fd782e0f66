-- The table of the extension $1 (pg_partman) with its partitioned tables, if the caller may read it. To
-- read a table is enough to run its owner's code, as in an expression of an index. So it belongs to
-- the caller or to a superuser.
-- Parameters: name
SELECT c.oid::regclass FROM pg_extension e
JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
    AND d.classid = 'pg_class'::regclass
JOIN pg_class c ON c.oid = d.objid AND c.relname = 'part_config' AND c.relkind = 'r' AND NOT c.relrowsecurity
JOIN pg_roles o ON o.oid = c.relowner AND (o.rolsuper OR o.rolname = current_user)
WHERE e.extname = $1 AND has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
