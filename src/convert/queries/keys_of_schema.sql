-- The keys of the tables of a schema ($1): integer columns in a unique index that get their numbers
-- from a sequence of their own or from snowflake_nextval() ($2). A column that refers to another
-- table is no key: it becomes wide with that table's. The tables of other extensions come last.
-- Parameters: oid, oid
SELECT c.oid, a.attname, pg_describe_object('pg_class'::regclass, c.oid, a.attnum), e.extname
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attinhcount = 0
    AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)
LEFT JOIN pg_depend m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid AND m.objsubid = 0
    AND m.refclassid = 'pg_extension'::regclass AND m.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = m.refobjid
WHERE c.relnamespace = $1 AND c.relkind IN ('r', 'p') AND e.extname IS DISTINCT FROM 'snowflake'
    AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey))
    AND (EXISTS (
        SELECT FROM pg_attrdef x JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = x.oid
            AND u.refclassid = 'pg_proc'::regclass AND u.refobjid = $2
        WHERE x.adrelid = c.oid AND x.adnum = a.attnum)
    OR EXISTS (
        SELECT FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
        WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
            AND d.refobjsubid = a.attnum AND (d.deptype = 'i' OR d.deptype = 'a' AND EXISTS (
                SELECT FROM pg_attrdef x JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = x.oid
                    AND u.refclassid = 'pg_class'::regclass AND u.refobjid = s.oid
                WHERE x.adrelid = c.oid AND x.adnum = a.attnum))))
    AND NOT EXISTS (
        SELECT FROM pg_constraint f
        WHERE f.contype = 'f' AND f.conrelid = c.oid AND f.confrelid <> c.oid AND a.attnum = ANY (f.conkey))
ORDER BY e.extname IS NOT NULL, c.relname COLLATE "C", a.attnum
