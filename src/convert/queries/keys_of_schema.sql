-- The keys of the tables of a schema ($1): integer columns in a unique index that get their numbers
-- from snowflake_nextval() ($2), or from a sequence that belongs to the column or that nothing else
-- uses. A column that refers to another table is no key: it becomes wide with that table's. $3: the
-- tables that the caller excludes.
-- Parameters: oid, oid, oid[]
:number_sources
SELECT c.oid AS relation, a.attname AS column, pg_describe_object('pg_class'::regclass, c.oid, a.attnum) AS described,
    pg_describe_object('pg_class'::regclass, c.oid, 0) AS of_table, i.takes_ids, c.oid = ANY ($3) AS excluded
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attinhcount = 0
    AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype),
LATERAL (
    SELECT EXISTS (
        SELECT FROM pg_attrdef x JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = x.oid
            AND u.refclassid = 'pg_proc'::regclass AND u.refobjid = $2
        WHERE x.adrelid = c.oid AND x.adnum = a.attnum)) AS i(takes_ids)
WHERE c.relnamespace = $1 AND c.relkind IN ('r', 'p')
    AND NOT EXISTS (
        SELECT FROM pg_depend m
        WHERE m.classid = 'pg_class'::regclass AND m.objid = c.oid AND m.objsubid = 0 AND m.deptype = 'e')
    AND EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey))
    AND (i.takes_ids OR EXISTS (
        SELECT FROM source s WHERE s.relation = c.oid AND s.number = a.attnum AND (s.own OR NOT EXISTS (
            SELECT FROM shared o WHERE o.relation = s.relation AND o.number = s.number
                AND o.sequence = s.sequence))))
    AND NOT EXISTS (
        SELECT FROM pg_constraint f
        WHERE f.contype = 'f' AND f.conrelid = c.oid AND f.confrelid <> c.oid AND a.attnum = ANY (f.conkey))
ORDER BY c.relname COLLATE "C", a.attnum
