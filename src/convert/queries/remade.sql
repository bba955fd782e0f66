-- The expressions of checks, indexes and statistics that use narrow columns ($1 and $2). If a column's
-- type changes, PostgreSQL makes them again from their text.
-- Parameters: oid[], smallint[]
SELECT DISTINCT pg_describe_object(d.classid, d.objid, 0) AS described, n.relation, e.expression
FROM unnest($1, $2) AS n(relation, number)
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.relation
    AND d.refobjsubid = n.number
LEFT JOIN pg_constraint f ON d.classid = 'pg_constraint'::regclass AND f.oid = d.objid
LEFT JOIN pg_index i ON d.classid = 'pg_class'::regclass AND i.indexrelid = d.objid
LEFT JOIN pg_statistic_ext s ON d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid,
LATERAL (VALUES (f.conbin::text), (i.indexprs::text), (i.indpred::text), (s.stxexprs::text)) AS e(expression)
WHERE e.expression IS NOT NULL
ORDER BY 1
