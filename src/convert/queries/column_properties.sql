-- Parameters: oid[], smallint[]
:wide
SELECT s.statement FROM (
    SELECT nth, 1, format('COMMENT ON COLUMN %s.%I IS %L', tab, old, col_description(relation, number)) FROM wide
    WHERE col_description(relation, number) IS NOT NULL
    UNION ALL
    SELECT w.nth, 2, format('ALTER TABLE ONLY %s ALTER COLUMN %I SET STATISTICS %s', w.tab, w.old, a.attstattarget)
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number WHERE a.attstattarget >= 0
    UNION ALL
    SELECT w.nth, 3, format('ALTER TABLE ONLY %s ALTER COLUMN %I SET (%s)', w.tab, w.old,
        string_agg(o, ', '))
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number, unnest(a.attoptions) AS o
    WHERE o LIKE 'n\_distinct%' GROUP BY w.nth, w.tab, w.old
    UNION ALL
    SELECT w.nth, 4, format('GRANT %s ON %s TO %s%s', string_agg(format('%s (%I)', g.privilege_type, w.old),
        ', ' ORDER BY g.privilege_type), w.tab, CASE g.grantee WHEN 0 THEN 'PUBLIC'
        ELSE g.grantee::regrole::text END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM wide w JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number, aclexplode(a.attacl) AS g
    GROUP BY w.nth, w.tab, g.grantee, g.is_grantable) AS s(nth, rank, statement)
ORDER BY nth, rank, statement
