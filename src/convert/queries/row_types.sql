-- Columns that store rows of the tables, at any depth: no conversion changes these. Online ($3) also
-- types and views of such rows.
-- Parameters: oid[], smallint[], boolean
:wide
, used(type, tab) AS (
    SELECT t.type, w.tab
    FROM wide w JOIN pg_class c ON c.oid = w.relation JOIN pg_type y ON y.oid = c.reltype,
        unnest(ARRAY[y.oid, y.typarray]) AS t(type)
    UNION
    SELECT t.type, u.tab
    FROM used u JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = u.type AND d.deptype = 'n'
    LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid AND c.relkind = 'c'
    JOIN pg_type y ON d.classid = 'pg_type'::regclass AND y.oid = d.objid OR y.oid = c.reltype,
        unnest(ARRAY[y.oid, y.typarray]) AS t(type))
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' has the type of rows of ' || u.tab AS line,
    'Drop these columns and types, convert, and create them again.' AS to_do
FROM used u JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid = u.type AND d.deptype = 'n'
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
WHERE d.classid IN ('pg_class'::regclass, 'pg_type'::regclass)
    AND ($3 OR d.objsubid > 0 AND c.relkind IN ('r', 'p', 'm', 'i', 'I'))
