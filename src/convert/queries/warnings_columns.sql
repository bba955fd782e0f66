-- Narrow columns whose name ends in id or in the name of the key, that are in no foreign key and take no
-- numbers from a sequence. Those count that have the name of a table whose key changes; otherwise the
-- name of the key, unless that is id; otherwise what follows an underscore of such a table's name. Of
-- the column's name only the end counts, if it has an underscore before it. And with $3, if a schema is
-- converted, all of that schema. Otherwise with $4 also those with a type beside them, which says in each
-- row what the column refers to: most of them never refer to this key. `base` is the name without id, in
-- lower case and without underscores.
-- Parameters: oid[], smallint[], boolean, boolean
:affected
, takes_numbers(relation, number) AS (
    SELECT x.adrelid, x.adnum FROM pg_attrdef x
    JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = x.oid AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = d.refobjid AND s.relkind = 'S'
    UNION
    SELECT attrelid, attnum FROM pg_attribute WHERE attidentity <> ''),
key_name(relation, number, affected, name) AS MATERIALIZED (
    SELECT k.*, lower(a.attname) FROM (
        SELECT relation, number, bool_or(affected) FROM (
            SELECT relation, number, true FROM affected WHERE key UNION ALL SELECT *, false FROM takes_numbers)
            AS s(relation, number, affected) GROUP BY 1, 2) AS k
    JOIN pg_attribute a ON a.attrelid = k.relation AND a.attnum = k.number WHERE lower(a.attname) <> 'id'),
undeclared AS (
    SELECT c.oid AS relation, c.relname, n.nspname, a.attname, t.list, b.base, format_type(a.atttypid, a.atttypmod) AS type,
        pg_describe_object('pg_class'::regclass, c.oid, a.attnum) AS described
    FROM pg_attribute a JOIN narrow_type t ON t.oid = a.atttypid
    JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
    LATERAL (SELECT replace(lower(a.attname), '_', '')) AS l(name),
    LATERAL (SELECT regexp_replace(l.name, 'ids?$', '')) AS b(base)
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'f') AND c.relpersistence <> 't' AND a.attnum > 0
        AND a.attinhcount = 0 AND a.attgenerated = ''
        AND (l.name LIKE '%id' OR t.list AND l.name LIKE '%ids' OR EXISTS (
            SELECT FROM (SELECT DISTINCT name FROM key_name WHERE affected) AS k
            WHERE right('_' || lower(a.attname), length(k.name) + 1) = '_' || k.name))
        AND (c.oid, a.attnum) NOT IN (SELECT relation, number FROM affected)
        AND (c.oid, a.attnum) NOT IN (SELECT conrelid, unnest(conkey) FROM pg_constraint WHERE contype = 'f')
        AND (c.oid, a.attnum) NOT IN (SELECT * FROM takes_numbers)
        AND c.oid NOT IN (SELECT oid FROM of_extension WHERE class = 'pg_class'::regclass)),
-- Names and their ends behind each underscore; `first` is what is before the first one.
table_name AS MATERIALIZED (
    SELECT c.oid AS relation, n, array_to_string(p.parts[n :], '') AS name, p.parts[1] AS first
    FROM pg_class c, LATERAL (SELECT string_to_array(lower(c.relname), '_')) AS p(parts),
        generate_subscripts(p.parts, 1) AS n
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'f')),
form AS MATERIALIZED (
    SELECT u.relation, u.attname, split_part(lower(u.relname), '_', 1) AS first, n, f.name
    FROM undeclared u,
    LATERAL (SELECT string_to_array(regexp_replace(lower(u.attname), '_?ids?$', ''), '_')) AS p(parts),
        generate_subscripts(p.parts, 1) AS n,
    LATERAL (SELECT array_to_string(p.parts[n :], '')) AS b(base),
    LATERAL (VALUES (b.base), (b.base || 's'), (b.base || 'es'),
        (CASE WHEN b.base LIKE '%y' THEN left(b.base, -1) || 'ies' END)) AS f(name)
    WHERE b.base <> ''),
-- What fits best: 1 a table's name, 2 a key's, 3 the end of a table's, first of those with the same
-- beginning as the column's table.
by_name AS MATERIALIZED (
    SELECT s.relation, s.attname, min(a.nth) AS nth FROM (
        SELECT *, rank() OVER (PARTITION BY relation, attname ORDER BY rule, n, elsewhere) AS place FROM (
            SELECT f.relation, f.attname, CASE t.n WHEN 1 THEN 1 ELSE 3 END, f.n, t.n > 1 AND t.first <> f.first,
                t.relation, NULL
            FROM form f JOIN table_name t ON t.name = f.name WHERE t.n = 1 OR t.relation <> f.relation
            UNION ALL
            SELECT u.relation, u.attname, 2, 0, false, k.relation, k.number
            FROM undeclared u JOIN key_name k ON right(lower(u.attname), length(k.name)) = k.name)
            AS c(relation, attname, rule, n, elsewhere, referred, number)) AS s
    JOIN affected a ON a.key AND a.relation = s.referred AND a.number = coalesce(s.number, a.number)
    WHERE s.place = 1 GROUP BY 1, 2),
-- `nth`: of the table that has the name, if there is one.
named AS (
    SELECT u.*, (
        SELECT nth FROM by_name b WHERE b.relation = u.relation AND b.attname = u.attname) AS nth, (
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
FROM named u JOIN affected k ON k.nth = coalesce(u.nth, CASE WHEN $4 AND u.type_column IS NOT NULL THEN 1 END)
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
