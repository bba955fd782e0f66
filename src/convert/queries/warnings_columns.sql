-- Narrow columns whose name ends in id, that are in no foreign key and take no numbers from a sequence.
-- Those count that have the name of a table whose key changes, and with $3, if a schema is converted,
-- all of that schema. Otherwise, also those with a type beside them, which says in each row what the
-- column refers to. `base` is the name without id, in lower case and without underscores.
-- Parameters: oid[], smallint[], boolean
:affected
, undeclared AS (
    SELECT c.oid AS relation, n.nspname, t.list, b.base, format_type(a.atttypid, a.atttypmod) AS type,
        pg_describe_object('pg_class'::regclass, c.oid, a.attnum) AS described
    FROM pg_attribute a JOIN narrow_type t ON t.oid = a.atttypid
    JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
    LATERAL (SELECT replace(lower(a.attname), '_', '')) AS l(name),
    LATERAL (SELECT left(l.name, CASE WHEN l.name LIKE '%id' THEN -2 ELSE -3 END)) AS b(base)
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't' AND a.attnum > 0
        AND a.attinhcount = 0 AND a.attidentity = '' AND a.attgenerated = ''
        AND (l.name LIKE '%id' OR t.list AND l.name LIKE '%ids')
        AND (c.oid, a.attnum) NOT IN (SELECT relation, number FROM affected)
        AND (c.oid, a.attnum) NOT IN (SELECT conrelid, unnest(conkey) FROM pg_constraint WHERE contype = 'f')
        AND (c.oid, a.attnum) NOT IN (
            SELECT x.adrelid, x.adnum FROM pg_attrdef x
            JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = x.oid
                AND d.refclassid = 'pg_class'::regclass
            JOIN pg_class s ON s.oid = d.refobjid AND s.relkind = 'S')
        AND c.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_class'::regclass)),
-- `nth`: of the table that has the name, if there is one.
named AS (
    SELECT u.*, (
        SELECT min(nth) FROM affected
        WHERE key AND replace(lower(relname), '_', '') IN (u.base, u.base || 's', u.base || 'es',
            CASE WHEN u.base LIKE '%y' THEN left(u.base, -1) || 'ies' END)) AS nth, (
        SELECT min(attname) FROM pg_attribute
        WHERE attrelid = u.relation AND attnum > 0 AND u.base <> ''
            AND replace(lower(attname), '_', '') = u.base || 'type') AS type_column
    FROM undeclared u)
SELECT 'unreferenced' AS kind, u.described AS object,
    format('%s may refer to %s without a foreign key', u.described, k.described) AS message,
    format('It is of type %s%s.', u.type, CASE WHEN u.nth IS NULL
        THEN format(', and column %s says what it refers to', u.type_column) ELSE '' END) AS detail,
    CASE WHEN u.list THEN 'If so, change its type to bigint[] first.'
        ELSE 'If so, change its type to bigint first, or add a foreign key: then the conversion widens it.' END AS hint
FROM named u JOIN affected k ON k.nth = coalesce(u.nth, CASE WHEN u.type_column IS NOT NULL THEN 1 END)
WHERE NOT $3
UNION ALL
SELECT 'unreferenced', format('schema %I', k.nspname), format(CASE count(*)
        WHEN 1 THEN '%s column may hold ids of schema %I without a foreign key'
        ELSE '%s columns may hold ids of schema %I without a foreign key' END, count(*), k.nspname),
    string_agg(format('%s is of type %s', u.described, u.type), E'\n' ORDER BY u.described COLLATE "C"),
    'If one does, change its type to bigint first, or add a foreign key: then the conversion widens it.'
FROM named u JOIN affected k ON k.nth = 1 AND (k.nspname = u.nspname OR u.nth IS NOT NULL)
WHERE $3 GROUP BY k.nspname
ORDER BY object, message
