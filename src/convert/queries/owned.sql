-- The sequences of the columns $1 and $2, of identities (deptype 'i') and serial columns ('a'). Just
-- before the switch of an online conversion a serial column's belongs to the new column.
WITH owned AS (
    SELECT a.attrelid AS relation, a.attnum AS number, a.attname, s.oid AS sequence, s.oid::regclass AS name, d.deptype
    FROM unnest($1, $2) AS h(relation, number)
    JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
    JOIN pg_attribute o ON o.attrelid = a.attrelid AND o.attname IN (a.attname,
        'snowflake_new_' || CASE WHEN octet_length(a.attname) < 49 THEN a.attname ELSE md5(a.attname) END)
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.attrelid AND d.refobjsubid = o.attnum
        AND d.classid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S')
