-- Narrow columns whose name ends in id, that are in no foreign key and have no sequence of their own.
-- $3: whether a schema is converted. Then all of its columns count. Otherwise, those with the name
-- of a table whose key changes, and those with a type beside them, which says in each row what the
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
            SELECT d.refobjid, d.refobjsubid
            FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
            WHERE d.classid = 'pg_class'::regclass AND d.refclassid = d.classid AND d.deptype = 'a')
        AND c.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_class'::regclass))
SELECT 'unreferenced' AS kind, u.described AS object,
    format('%s may refer to %s without a foreign key', u.described, k.described) AS message,
    format('It is of type %s%s.', u.type, CASE WHEN f.nth IS NULL
        THEN format(', and column %s says what it refers to', t.attname) ELSE '' END) AS detail,
    CASE WHEN u.list THEN 'If so, change its type to bigint[] first.'
        ELSE 'If so, change its type to bigint first, or add a foreign key: then the conversion widens it.' END AS hint
FROM undeclared u
LEFT JOIN LATERAL (
    SELECT min(nth) AS nth FROM affected
    WHERE key AND replace(lower(relname), '_', '') IN (u.base, u.base || 's', u.base || 'es',
        CASE WHEN u.base LIKE '%y' THEN left(u.base, -1) || 'ies' END)) AS f ON true
LEFT JOIN LATERAL (
    SELECT min(attname) AS attname FROM pg_attribute
    WHERE attrelid = u.relation AND attnum > 0 AND u.base <> '' AND replace(lower(attname), '_', '') = u.base || 'type')
    AS t ON true
JOIN affected k ON k.nth = coalesce(f.nth, CASE WHEN t.attname IS NOT NULL THEN 1 END)
WHERE NOT $3
UNION ALL
SELECT 'unreferenced', format('schema %I', k.nspname), format(CASE count(*)
        WHEN 1 THEN '%s column of schema %I may hold ids, and is in no foreign key'
        ELSE '%s columns of schema %I may hold ids, and are in no foreign key' END, count(*), k.nspname),
    string_agg(format('%s is of type %s', u.described, u.type), E'\n' ORDER BY u.described COLLATE "C"),
    'If one does, change its type to bigint first, or add a foreign key: then the conversion widens it.'
FROM undeclared u JOIN affected k ON k.nth = 1 AND k.nspname = u.nspname
WHERE $3 GROUP BY k.nspname
ORDER BY object, message
