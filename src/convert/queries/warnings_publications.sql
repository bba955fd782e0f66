-- Publications with tables whose columns change their type.
-- Parameters: oid[], smallint[]
:affected
SELECT 'publication' AS kind, 'publication ' || quote_ident(p.pubname) AS object,
    format('publication %I contains columns that become bigint', p.pubname) AS message,
    string_agg(DISTINCT f.described COLLATE "C", E'\n' ORDER BY f.described COLLATE "C") AS detail,
    'Let these columns be bigint on the subscribers first. An online conversion also needs its columns '
    'snowflake_new_... there.' AS hint
FROM affected f JOIN pg_class c ON c.oid = f.relation, pg_publication p
WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_rel r WHERE r.prpubid = p.oid AND r.prrelid = c.oid)
    OR EXISTS (SELECT FROM pg_publication_namespace n WHERE n.pnpubid = p.oid AND n.pnnspid = c.relnamespace)
GROUP BY p.pubname ORDER BY p.pubname
