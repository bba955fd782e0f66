-- Publications of columns that change their type.
-- Parameters: oid[], smallint[]
:affected
SELECT 'publication' AS kind, 'publication ' || quote_ident(p.pubname) AS object,
    format('publication %I contains columns that become bigint', p.pubname) AS message,
    string_agg(DISTINCT f.described COLLATE "C", E'\n' ORDER BY f.described COLLATE "C") AS detail,
    'Let these columns be bigint on the subscribers first. An online conversion also needs its columns '
    'snowflake_new_... there.' AS hint
FROM affected f
JOIN pg_publication_tables p ON p.schemaname = f.nspname AND p.tablename = f.relname AND f.attname = ANY (p.attnames)
GROUP BY p.pubname ORDER BY p.pubname
