-- Tables whose columns change their order in an online conversion, with the functions that take or
-- return rows of them.
-- Parameters: oid[], smallint[]
:affected
, moved AS (
    SELECT t.*, o.sentence
    FROM (SELECT relation, of_table, reltype, min(nth) AS nth FROM affected WHERE root GROUP BY 1, 2, 3) AS t,
    LATERAL (
        SELECT format(CASE count(f.nth) WHEN 1 THEN 'Column %s moves to the end.'
                ELSE 'Columns %s move to the end.' END,
            string_agg(quote_ident(a.attname), ', ' ORDER BY f.nth) FILTER (WHERE f.nth IS NOT NULL))
        FROM pg_attribute a LEFT JOIN affected f ON f.relation = a.attrelid AND f.number = a.attnum
        WHERE a.attrelid = t.relation AND a.attnum > 0 AND NOT a.attisdropped
            AND a.attname NOT LIKE 'snowflake\_new\_%'
        HAVING array_agg(a.attnum ORDER BY f.nth NULLS FIRST, a.attnum) <> array_agg(a.attnum ORDER BY a.attnum))
        AS o(sentence))
SELECT 'column_order' AS kind, m.of_table AS object,
    format('the switch changes the order of the columns of %s', m.of_table) AS message,
    m.sentence || coalesce(r.lines, '') AS detail,
    'Name the columns in INSERT, COPY and SELECT before the switch. Otherwise statements fail, or use wrong columns. '
    'Drivers that return all columns of a new row, such as pgJDBC for generated keys, should be asked for the '
    'key''s name.' AS hint
FROM moved m LEFT JOIN LATERAL (
    SELECT string_agg(E'\n' || line, '' ORDER BY place) FILTER (WHERE place <= 10)
        || CASE WHEN count(*) > 10 THEN format(E'\nand %s more', count(*) - 10) ELSE '' END
    FROM (
        SELECT pg_describe_object('pg_proc'::regclass, p.oid, 0) || ' takes or returns rows of the table',
            row_number() OVER (ORDER BY pg_describe_object('pg_proc'::regclass, p.oid, 0) COLLATE "C")
        FROM pg_type y JOIN pg_proc p ON ARRAY[y.oid, y.typarray]
            && (p.prorettype || coalesce(p.proallargtypes, p.proargtypes::oid[]))
        WHERE y.oid = m.reltype) AS l(line, place)) AS r(lines) ON true
ORDER BY m.nth
