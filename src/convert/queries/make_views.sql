-- Parameters: oid[], smallint[]
:wide
:default_rights
:views
SELECT s.statement FROM (
    SELECT v.depth, v.name, 1, format(E'CREATE VIEW %s (%s)%s AS %s;\nALTER VIEW %s OWNER TO %I', v.name,
        (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = v.view AND a.attnum > 0),
        ' WITH (' || array_to_string(c.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.view), ';'), v.name,
        pg_get_userbyid(c.relowner))
    FROM views v JOIN pg_class c ON c.oid = v.view
    UNION ALL
    SELECT v.depth, v.name, 2, format('REVOKE ALL ON %s FROM %s', v.name, string_agg(DISTINCT CASE d.grantee
        WHEN 0 THEN 'PUBLIC' ELSE d.grantee::regrole::text END, ', '))
    FROM views v JOIN pg_class c ON c.oid = v.view JOIN defaults d ON d.type = 'r' OR d.grantee = c.relowner
    WHERE c.relacl IS NOT NULL OR d.grantee <> c.relowner GROUP BY v.depth, v.name
    UNION ALL
    SELECT v.depth, v.name, 3, format('GRANT %s ON %s TO %s%s', string_agg(g.privilege_type,
        ', ' ORDER BY g.privilege_type), v.name, CASE g.grantee WHEN 0 THEN 'PUBLIC'
        ELSE g.grantee::regrole::text END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM views v JOIN pg_class c ON c.oid = v.view, aclexplode(c.relacl) AS g
    GROUP BY v.depth, v.name, g.grantee, g.is_grantable
    UNION ALL
    SELECT v.depth, v.name, 4, format('GRANT %s ON %s TO %s%s', string_agg(format('%s (%I)', g.privilege_type,
        a.attname), ', ' ORDER BY a.attnum, g.privilege_type), v.name, CASE g.grantee WHEN 0 THEN 'PUBLIC'
        ELSE g.grantee::regrole::text END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view, aclexplode(a.attacl) AS g
    GROUP BY v.depth, v.name, g.grantee, g.is_grantable
    UNION ALL
    SELECT v.depth, v.name, 5, format('COMMENT ON VIEW %s IS %L', v.name, obj_description(v.view, 'pg_class'))
    FROM views v WHERE obj_description(v.view, 'pg_class') IS NOT NULL
    UNION ALL
    SELECT v.depth, v.name, 6, format('COMMENT ON COLUMN %s.%I IS %L', v.name, a.attname, col_description(v.view,
        a.attnum))
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view WHERE col_description(v.view, a.attnum) IS NOT NULL
    ) AS s(depth, name, rank, statement)
ORDER BY depth, name, rank, statement
