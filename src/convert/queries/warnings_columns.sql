-- Columns that may refer to a converted one although no foreign key says so.
-- Parameters: oid[], smallint[]
:affected
:column_names
:meanings
, sign(relation, number, nth, rank, type_column) AS (
    -- What speaks for a reference: its name,
    SELECT m.object, m.number, f.nth, 1, NULL::name
    FROM meaning m JOIN affected f ON f.relation = m.relation AND f.key WHERE m.kind = 'column'
    UNION ALL
    -- the same name in a table of the same name in another schema, or one that is called a copy,
    SELECT i.object, i.number, f.nth, 2, NULL
    FROM item i JOIN affected f ON f.attname = i.name AND f.root
    JOIN stripped own ON own.kind = 'table' AND own.object = i.object
    JOIN stripped other ON other.kind = 'table' AND other.object = f.relation
    WHERE own.words = other.words OR strpos(' ' || own.words || ' ', ' ' || other.words || ' ') > 0
        AND btrim(replace(' ' || own.words || ' ', ' ' || other.words || ' ', ' ')) ~ (
            '^((archives?|archived|audit|backups?|bak|changes?|copy|deleted|details?|ext|hist|history|import|logs?|'
            'meta|mirror|new|old|revisions?|shadow|snapshots?|staging|stage|stats?|temp|tmp|versions?|[0-9]+)( |$))+$')
    UNION ALL
    -- a type beside it, which says in each row what it refers to,
    SELECT i.object, i.number, 1, 3, d.attname
    FROM stripped i JOIN pg_attribute d ON d.attrelid = i.object AND d.attnum > 0 AND NOT d.attisdropped
        AND lower(d.attname) LIKE ANY (
            '{%type,%type\_id,%typeid,%class,%class\_id,%classid,%model,%kind,%table,%entity}'),
    LATERAL (SELECT regexp_replace(i.words, ' (id|ids|pk|key|no)$', '')) AS b(base),
    LATERAL (SELECT regexp_replace(lower(translate(regexp_replace(d.attname, '([a-z0-9])([A-Z])', '\1 \2', 'g'),
        '_', ' ')), ' (type|class|model|kind|table|entity)( id)?$', '')) AS t(base)
    WHERE i.kind = 'column' AND d.attnum <> i.number AND b.base <> i.words
        AND t.base IN (b.base, regexp_replace(b.base, 'object$', 'content'))
    UNION ALL
    -- or an id at its end, or some other words in the converted table, if the name means no table.
    SELECT i.object, i.number, 1, CASE WHEN f.relation IS NULL THEN 5 ELSE 4 END, NULL
    FROM stripped i LEFT JOIN affected f ON f.nth = 1 AND f.relation = i.object
    WHERE i.kind = 'column' AND (i.words ~ '. (id|ids|fk|ref)$|^(id|fk) .' OR f.relation IS NOT NULL AND i.words ~
        '^(ancestor|next|origin|original|parent|predecessor|prev|previous|reply to|replaces|root|successor)$')
    UNION ALL
    SELECT object, number, NULL, 9, NULL FROM meaning WHERE kind = 'column'),
found AS (
    SELECT s.*, c.relname, c.relkind, c.reltuples, n.nspname, a.attname,
        format_type(a.atttypid, a.atttypmod) AS type, t.list, t.exact AND NOT t.list AS counted,
        pg_describe_object('pg_class'::regclass, s.relation, s.number) AS described
    FROM (
        SELECT relation, number, min(rank) AS rank, min(type_column) AS type_column,
            coalesce(min(nth) FILTER (WHERE rank = 1), min(nth) FILTER (WHERE rank = 2), 1) AS nth
        FROM sign GROUP BY relation, number HAVING min(rank) < CASE WHEN max(rank) = 9 THEN 4 ELSE 9 END) AS s
    JOIN pg_class c ON c.oid = s.relation JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = s.relation AND a.attnum = s.number
    JOIN narrow_type t ON t.oid = a.atttypid),
-- What statistics say, if the caller may see them. Materialized, because the values of other columns
-- are no integers.
statistic AS MATERIALIZED (
    SELECT f.relation, f.number, s.histogram_bounds::text AS bounds, s.most_common_vals::text AS common,
        CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * f.reltuples ELSE s.n_distinct END AS different
    FROM (
        SELECT relation, number, nspname, relname, attname, reltuples FROM found WHERE counted
        UNION ALL
        SELECT relation, number, nspname, relname, attname, 0 FROM affected WHERE key) AS f
    JOIN pg_stats s ON s.schemaname = f.nspname AND s.tablename = f.relname AND s.attname = f.attname
        AND s.inherited = EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = f.relation)),
measured AS (
    SELECT s.relation, s.number, v.low, v.high, s.different
    FROM statistic s, LATERAL (
        SELECT min(value), max(value) FROM unnest(s.bounds::bigint[] || s.common::bigint[]) AS u(value)) AS v(low, high)),
judged AS (
    SELECT f.*, k.described AS key, m.low, m.high, km.low AS key_low, km.high AS key_high,
        m.low >= -1 AND m.high <= km.high * 1.1 + 100 AND m.high > km.high * 0.1 AND m.different > 10 AS fits,
        m.low < -1 OR m.high > km.high * 1.1 + 100 AS differs
    FROM found f JOIN affected k ON k.nth = f.nth
    LEFT JOIN measured m ON m.relation = f.relation AND m.number = f.number
    LEFT JOIN measured km ON km.relation = k.relation AND km.number = k.number),
listed AS (
    SELECT *, row_number() OVER (ORDER BY described COLLATE "C") AS place FROM judged
    WHERE rank = 5 AND fits IS NOT TRUE AND differs IS NOT TRUE)
SELECT kind, object, message, detail, hint FROM (
    SELECT rank, 'unreferenced' AS kind, described AS object,
        format('%s may refer to %s without a foreign key', described, key) AS message,
        format('It is of type %s%s.', type, CASE rank WHEN 2 THEN ', and may hold copies'
            WHEN 3 THEN format(', and column %s may say what it refers to', type_column)
            WHEN 4 THEN ', in the same table, and its name fits no other table'
            WHEN 5 THEN '; its name fits no table, but its values fit' ELSE '' END)
        || CASE WHEN low IS NOT NULL AND key_low IS NOT NULL THEN
            format(' According to statistics, its values are between %s and %s, and those of %s between %s and '
                '%s.', low, high, key, key_low, key_high) ELSE '' END AS detail,
        CASE WHEN relkind = 'c' THEN 'If so, change its type to bigint first: ALTER TYPE ... ALTER ATTRIBUTE.'
            WHEN list THEN 'If so, change its type to bigint[] first.'
            ELSE 'If so, change its type to bigint first, or add a foreign key: then the conversion widens it.'
            END AS hint
    FROM judged WHERE rank < 5 OR fits
    UNION ALL
    SELECT 6, 'unreferenced', key,
        format(CASE count(*) WHEN 1 THEN '%s column may refer to %s although its name fits no table'
            ELSE '%s columns may refer to %s although their names fit no table' END, count(*), key),
        string_agg(described || ' is of type ' || type, E'\n' ORDER BY place) FILTER (WHERE place <= 10)
        || CASE WHEN count(*) > 10 THEN format(E'\nand %s more', count(*) - 10) ELSE '' END,
        'If so, change their types to bigint first, or add foreign keys: then the conversion widens them.'
    FROM listed GROUP BY key) AS w
ORDER BY rank, object COLLATE "C", message COLLATE "C"
