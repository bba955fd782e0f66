-- A line for each column of the schema $1 that may hold ids and that is not among the converted ones
-- ($2 and $3): those that take numbers from a sequence, integer primary keys of one column, and
-- unique integer columns with a default. A column that is inherited from one that is named is not.
-- Parameters: oid, oid[], smallint[]
:number_sources
, candidate AS (
    SELECT c.oid AS relation, c.relname, a.attnum AS number, a.attname, a.attinhcount, CASE
        WHEN e.extname IS NOT NULL THEN 'belongs to the extension ' || quote_ident(e.extname)
        WHEN c.relkind = 'f' THEN 'is on another server'
        WHEN NOT t.is_integer THEN 'is of type ' || format_type(a.atttypid, a.atttypmod)
        WHEN k.above IS NOT NULL THEN 'is inherited from ' || k.above
        WHEN k.referred IS NOT NULL THEN 'refers to ' || k.referred
        WHEN k.shared IS NOT NULL THEN k.shared
        WHEN k.has_source AND NOT k.is_unique THEN 'is in no unique index'
        WHEN t.names_late THEN 'has a default that finds its sequence when it is executed'
        WHEN x.oid IS NULL THEN 'has no default'
        ELSE 'has another default' END AS reason
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef x ON x.adrelid = c.oid AND x.adnum = a.attnum
    LEFT JOIN pg_depend m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid AND m.objsubid = 0
        AND m.refclassid = 'pg_extension'::regclass AND m.deptype = 'e'
    LEFT JOIN pg_extension e ON e.oid = m.refobjid,
    LATERAL (
        -- The type, what a domain is over, and all defaults of these.
        WITH RECURSIVE base(type, value) AS (
            SELECT a.atttypid, x.adbin::text
            UNION ALL
            SELECT d.typbasetype, d.typdefaultbin::text FROM base b JOIN pg_type d ON d.oid = b.type AND d.typtype = 'd')
        SELECT a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype) AS is_integer,
            bool_or(type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)) AS is_over_integer,
            coalesce(bool_or(strpos(value, ':funcid ' || 'nextval(regclass)'::regprocedure::oid || ' ') > 0), false)
                AS names_late
        FROM base) AS t,
    LATERAL (
        SELECT EXISTS (SELECT FROM source s WHERE s.relation = c.oid AND s.number = a.attnum) AS has_source,
            EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique
                AND a.attnum = ANY (i.indkey)) AS is_unique,
            EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indnkeyatts = 1
                AND i.indkey[0] = a.attnum AND (i.indisprimary OR x.oid IS NOT NULL)) AS is_key, (
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
        AND (k.has_source OR t.names_late OR k.is_key AND t.is_over_integer AND k.referred IS NULL)
        AND NOT EXISTS (SELECT FROM unnest($2, $3) AS h(relation, number)
                        WHERE h.relation = c.oid AND h.number = a.attnum))
SELECT pg_describe_object('pg_class'::regclass, relation, number) || ' ' || reason
FROM candidate c
WHERE attinhcount = 0 OR NOT EXISTS (
    SELECT FROM pg_inherits i JOIN candidate p ON p.relation = i.inhparent AND p.attname = c.attname
    WHERE i.inhrelid = c.relation)
ORDER BY relname COLLATE "C", number
