-- What is evaluated for each new row and depends on a column of integers of a table at the top: generated
-- columns, checks, expressions and conditions of indexes. Only those that use nothing but what belongs
-- to PostgreSQL itself.
-- Parameters: oid[], smallint[]
SELECT u.relation, u.number, a.atttypid AS type, pg_describe_object('pg_class'::regclass, u.relation, u.number) AS top, e.expression, e.described
FROM unnest($1, $2) WITH ORDINALITY AS u(relation, number, nth)
JOIN pg_attribute a ON a.attrelid = u.relation AND a.attnum = u.number AND a.attinhcount = 0
    AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype),
LATERAL (
    SELECT 'pg_attrdef'::regclass::oid, d.oid, d.adbin::text, pg_describe_object('pg_class'::regclass, d.adrelid, d.adnum)
    FROM pg_attrdef d JOIN pg_attribute g ON g.attrelid = d.adrelid AND g.attnum = d.adnum AND g.attgenerated <> ''
    WHERE d.adrelid = u.relation
    UNION ALL
    SELECT 'pg_constraint'::regclass, f.oid, f.conbin::text, pg_describe_object('pg_constraint'::regclass, f.oid, 0)
    FROM pg_constraint f
    WHERE f.conrelid = u.relation AND f.contype = 'c' AND NOT to_jsonb(f) @> '{"conenforced": false}'
    UNION ALL
    SELECT 'pg_class'::regclass, i.indexrelid, x.expression, pg_describe_object('pg_class'::regclass, i.indexrelid, 0)
    FROM pg_index i, LATERAL (VALUES (i.indexprs::text), (i.indpred::text)) AS x(expression)
    WHERE i.indrelid = u.relation) AS e(class, object, expression, described)
WHERE e.expression LIKE format('%%{VAR :varno 1 :varattno %s %%', u.number) AND NOT EXISTS (
    SELECT FROM pg_depend d WHERE d.classid = e.class AND d.objid = e.object
        AND d.refclassid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass))
ORDER BY u.nth, e.described COLLATE "C", e.expression COLLATE "C"
