-- What depends on a key whose index contains a narrow column, but not on the column. A `GROUP BY` of a
-- primary key depends on it, and INCLUDE adds columns to its index.
, by_key AS (
    SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
            ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END
        || ' depends on ' || pg_describe_object('pg_constraint'::regclass, k.oid, 0) || ', which contains '
        || pg_describe_object('pg_class'::regclass, n.relation, n.number) AS line
    FROM narrow n JOIN pg_index i ON i.indrelid = n.relation AND n.number = ANY (i.indkey)
    JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = n.relation
    JOIN pg_depend d ON d.refclassid = 'pg_constraint'::regclass AND d.refobjid = k.oid AND d.deptype = 'n'
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    WHERE NOT EXISTS (
        SELECT FROM pg_depend c WHERE c.classid = d.classid AND c.objid = d.objid
            AND c.refclassid = 'pg_class'::regclass AND c.refobjid = n.relation AND c.refobjsubid = n.number))
