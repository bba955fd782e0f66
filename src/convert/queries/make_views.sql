-- Parameters: oid[], smallint[]
:wide
:views
:rights
, made(name, target, type, owner, acl, number, attname) AS (
    SELECT v.name, v.name, 'r'::"char", c.relowner, c.relacl, 0, NULL FROM views v JOIN pg_class c ON c.oid = v.view
    UNION ALL
    SELECT v.name, v.name, NULL, NULL, a.attacl, a.attnum, a.attname
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view)
SELECT s.statement FROM (
    SELECT v.name, 1, format(E'CREATE VIEW %s (%s)%s AS %s;\nALTER VIEW %s OWNER TO %I', v.name,
        (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
         WHERE a.attrelid = v.view AND a.attnum > 0),
        ' WITH (' || array_to_string(c.reloptions, ', ') || ')', rtrim(pg_get_viewdef(v.view), ';'), v.name,
        pg_get_userbyid(c.relowner))
    FROM views v JOIN pg_class c ON c.oid = v.view
    UNION ALL
    SELECT * FROM rights
    UNION ALL
    SELECT name, 5, format('COMMENT ON VIEW %s IS %L', name, obj_description(view, 'pg_class'))
    FROM views WHERE obj_description(view, 'pg_class') IS NOT NULL
    UNION ALL
    SELECT v.name, 6, format('COMMENT ON COLUMN %s.%I IS %L', v.name, a.attname, col_description(v.view, a.attnum))
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view WHERE col_description(v.view, a.attnum) IS NOT NULL
    ) AS s(name, rank, statement) JOIN views v USING (name)
ORDER BY v.depth, name, s.rank, s.statement
