-- Which sequences columns of the schema $1 take their numbers from, and what else uses these, if they
-- do not belong to the column. The same column of a table below is nothing else.
WITH RECURSIVE source AS (
    SELECT d.refobjid AS relation, d.refobjsubid AS number, d.objid AS sequence, true AS own
    FROM pg_depend d JOIN pg_class c ON c.oid = d.refobjid AND c.relnamespace = $1
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i'
    UNION ALL
    SELECT x.adrelid, x.adnum, s.oid, EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = s.oid AND d.refclassid = 'pg_class'::regclass
            AND d.refobjid = x.adrelid AND d.refobjsubid = x.adnum AND d.deptype = 'a')
    FROM pg_attrdef x JOIN pg_class c ON c.oid = x.adrelid AND c.relnamespace = $1
    JOIN pg_depend u ON u.classid = 'pg_attrdef'::regclass AND u.objid = x.oid
        AND u.refclassid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = u.refobjid AND s.relkind = 'S'),
below(top, relation) AS (
    SELECT relation, relation FROM source WHERE NOT own
    UNION
    SELECT b.top, i.inhrelid FROM below b JOIN pg_inherits i ON i.inhparent = b.relation),
shared AS (
    SELECT s.relation, s.number, s.sequence, CASE
        WHEN x.oid IS NOT NULL THEN pg_describe_object('pg_class'::regclass, x.adrelid, x.adnum)
        WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
        ELSE pg_describe_object(u.classid, u.objid, u.objsubid) END AS by
    FROM source s
    JOIN pg_attribute a ON a.attrelid = s.relation AND a.attnum = s.number
    JOIN pg_depend u ON u.refclassid = 'pg_class'::regclass AND u.refobjid = s.sequence AND u.deptype = 'n'
    LEFT JOIN pg_attrdef x ON u.classid = 'pg_attrdef'::regclass AND x.oid = u.objid
    LEFT JOIN pg_rewrite r ON u.classid = 'pg_rewrite'::regclass AND r.oid = u.objid
    WHERE NOT s.own AND NOT EXISTS (
        SELECT FROM below b JOIN pg_attribute t ON t.attrelid = b.relation AND t.attname = a.attname
        WHERE b.top = s.relation AND t.attrelid = x.adrelid AND t.attnum = x.adnum))
