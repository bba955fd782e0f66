-- $1 and $2: the converted columns, $3: 'i' for sequences of identities, 'a' for those of serial
-- columns. The statement that drops it.
-- Parameters: oid[], smallint[], "char"
SELECT CASE d.deptype
    WHEN 'i' THEN format('ALTER TABLE %I.%I ALTER COLUMN %I DROP IDENTITY;', cn.nspname, c.relname, a.attname)
    ELSE format('DROP SEQUENCE %I.%I;', sn.nspname, s.relname) END
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_class c ON c.oid = h.relation JOIN pg_namespace cn ON cn.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
    AND d.classid = 'pg_class'::regclass AND d.deptype = $3
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_namespace sn ON sn.oid = s.relnamespace
ORDER BY h.relation, s.oid
