-- Types and columns that are made of rows of the tables. No conversion changes these.
-- Parameters: oid[], smallint[]
:wide
SELECT DISTINCT pg_describe_object(d.classid, d.objid, d.objsubid) || ' has the type of rows of ' || w.tab
FROM wide w JOIN pg_class c ON c.oid = w.relation JOIN pg_type y ON y.oid = c.reltype
JOIN pg_depend d ON d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
    AND d.classid IN ('pg_class'::regclass, 'pg_type'::regclass) AND d.deptype = 'n'
