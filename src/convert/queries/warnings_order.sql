-- Tables whose columns change their order in an online conversion, with functions that may rely on
-- the order.
-- Parameters: oid[], smallint[]
:affected
:bodies
, moved AS (
    SELECT t.*, o.sentence, '(?:(?:\w+|"(?:[^"]|"")+")\s*\.\s*)?"?'
        || regexp_replace(replace(t.relname, '"', '""'), '([\s!-/:-@\[-`{-~])', '\\\1', 'g')
        || '(?![\w$])"?' AS pattern
    FROM (
        SELECT relation, of_table, relname, reltype, min(nth) AS nth
        FROM affected WHERE root GROUP BY 1, 2, 3, 4) AS t,
    LATERAL (
        SELECT format(CASE count(f.nth) WHEN 1 THEN 'Column %s moves to the end.'
                ELSE 'Columns %s move to the end.' END,
            string_agg(quote_ident(a.attname), ', ' ORDER BY f.nth) FILTER (WHERE f.nth IS NOT NULL))
        FROM pg_attribute a LEFT JOIN affected f ON f.relation = a.attrelid AND f.number = a.attnum
        WHERE a.attrelid = t.relation AND a.attnum > 0 AND NOT a.attisdropped
            AND a.attname NOT LIKE 'snowflake\_new\_%'
        HAVING array_agg(a.attnum ORDER BY f.nth NULLS FIRST, a.attnum) <> array_agg(a.attnum ORDER BY a.attnum))
        AS o(sentence)),
relying AS (
    SELECT relation, line, row_number() OVER (PARTITION BY relation ORDER BY line COLLATE "C") AS place FROM (
        SELECT m.relation,
            pg_describe_object('pg_proc'::regclass, b.oid, 0) || ' inserts without a list of columns'
        FROM moved m JOIN body b ON b.origin = m.relation AND b.source ~* ('\minsert\s+into\s+' || m.pattern
            || '\s*(?:(?:as\s+)?(?!(?:overriding|values|select|with|table|default)\M)(?:\w+|"(?:[^"]|"")+")\s+)?'
            '(?:overriding\s+\w+\s+value\s*)?\(?\s*(?:values|select|with|table)\M|\mcopy\s+' || m.pattern
            || '\s+from\M')
        UNION
        SELECT m.relation,
            pg_describe_object('pg_proc'::regclass, p.oid, 0) || ' takes or returns rows of the table'
        FROM moved m JOIN pg_proc p ON m.reltype = p.prorettype OR m.reltype = ANY (p.proargtypes))
        AS l(relation, line))
SELECT 'column_order' AS kind, m.of_table AS object,
    format('the switch changes the order of the columns of %s', m.of_table) AS message,
    m.sentence || coalesce(r.lines, '') AS detail,
    'Name the columns in INSERT, COPY and SELECT before the switch. Otherwise statements fail, or use wrong '
    'columns.' AS hint
FROM moved m LEFT JOIN LATERAL (
    SELECT string_agg(E'\n' || line, '' ORDER BY place) FILTER (WHERE place <= 10)
        || CASE WHEN count(*) > 10 THEN format(E'\nand %s more', count(*) - 10) ELSE '' END
    FROM relying WHERE relation = m.relation) AS r(lines) ON true
ORDER BY m.nth
