-- A line for each column of the schema $1 that may hold ids and that is not among the converted ones
-- ($2 and $3): those that take numbers from a sequence, and integer primary keys of one column. A
-- column that is inherited is named with the table above, if that is in the schema.
-- Parameters: oid, oid[], smallint[]
:number_sources
SELECT pg_describe_object('pg_class'::regclass, c.oid, a.attnum) || ' ' || CASE
    WHEN e.extname IS NOT NULL THEN 'belongs to the extension ' || quote_ident(e.extname)
    WHEN c.relkind = 'f' THEN 'is on another server'
    WHEN NOT k.is_integer THEN 'is of type ' || format_type(a.atttypid, a.atttypmod)
    WHEN k.above IS NOT NULL THEN 'is inherited from ' || k.above
    WHEN k.referred IS NOT NULL THEN 'refers to ' || k.referred
    WHEN k.shared IS NOT NULL THEN k.shared
    WHEN k.has_source AND NOT k.is_unique THEN 'is in no unique index'
    WHEN k.names_late THEN 'has a default that finds its sequence when it is executed'
    WHEN x.oid IS NULL THEN 'has no default'
    ELSE 'has a default that uses no sequence' END
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef x ON x.adrelid = c.oid AND x.adnum = a.attnum
LEFT JOIN pg_depend m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid AND m.objsubid = 0
    AND m.refclassid = 'pg_extension'::regclass AND m.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = m.refobjid,
LATERAL (
    SELECT a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype) AS is_integer,
        EXISTS (SELECT FROM source s WHERE s.relation = c.oid AND s.number = a.attnum) AS has_source,
        coalesce(strpos(x.adbin::text, ':funcid ' || 'nextval(regclass)'::regprocedure::oid || ' ') > 0, false)
            AS names_late,
        EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND a.attnum = ANY (i.indkey))
            AS is_unique,
        EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1
                AND i.indkey[0] = a.attnum) AS is_primary, (
            SELECT string_agg(pg_describe_object('pg_class'::regclass, i.inhparent, 0), ', ' ORDER BY i.inhparent)
            FROM pg_inherits i JOIN pg_attribute b ON b.attrelid = i.inhparent AND b.attname = a.attname
            WHERE i.inhrelid = c.oid AND a.attinhcount > 0) AS above, (
            SELECT string_agg(DISTINCT pg_describe_object('pg_class'::regclass, f.confrelid, 0), ', ')
            FROM pg_constraint f
            WHERE f.contype = 'f' AND f.conrelid = c.oid AND f.confrelid <> c.oid AND a.attnum = ANY (f.conkey))
            AS referred, (
            SELECT 'takes its numbers from ' || string_agg(format('%s, which is also used by %s',
                pg_describe_object('pg_class'::regclass, o.sequence, 0), o.all), ', and from ' ORDER BY o.sequence)
            FROM (
                SELECT sequence, string_agg(DISTINCT by, ', ') AS all
                FROM shared WHERE relation = c.oid AND number = a.attnum GROUP BY sequence) AS o) AS shared) AS k
WHERE c.relnamespace = $1 AND c.relkind IN ('r', 'p', 'f') AND e.extname IS DISTINCT FROM 'snowflake'
    AND (k.has_source OR k.names_late OR k.is_primary AND k.is_integer AND k.referred IS NULL)
    AND NOT EXISTS (SELECT FROM unnest($2, $3) AS h(relation, number)
                    WHERE h.relation = c.oid AND h.number = a.attnum)
    AND NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent AND p.relnamespace = $1
        JOIN pg_attribute b ON b.attrelid = p.oid AND b.attname = a.attname
        WHERE i.inhrelid = c.oid AND a.attinhcount > 0)
ORDER BY c.relname COLLATE "C", a.attnum
