-- The objects on narrow columns, but what ALTER TABLE rebuilds by itself. It cannot rebuild a foreign
-- key that refers to a partition if the partition has its unique index from above. Nor can it
-- rebuild an index with INCLUDE of the column that a foreign key to other columns needs. The columns of
-- a partition key depend on its table. Views cannot be dropped before what depends on them or on their
-- types of rows.
-- Parameters: oid[], smallint[]
:narrow
:by_key
, over(view) AS (
    SELECT r.ev_class FROM on_narrow d
    JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.rulename = '_RETURN'
    UNION
    SELECT r.ev_class FROM over o
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.view
        AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'),
objects AS (
    SELECT d.relation, d.number, CASE
        WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
        WHEN x.oid IS NOT NULL THEN 'generated ' || pg_describe_object('pg_class'::regclass, x.adrelid, x.adnum)
        ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END AS object, NULL AS to_do
    FROM on_narrow d
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    LEFT JOIN pg_attrdef x ON d.classid = 'pg_attrdef'::regclass AND x.oid = d.objid
    WHERE x.adnum IS DISTINCT FROM d.number
        AND d.classid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_statistic_ext'::regclass)
    UNION
    SELECT n.relation, n.number, pg_describe_object('pg_constraint'::regclass, f.oid, 0), NULL
    FROM narrow n
    JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = n.relation AND n.number = ANY (f.confkey)
        AND f.conparentid = 0
    JOIN pg_class x ON x.oid = f.conindid AND x.relispartition
    UNION
    SELECT n.relation, n.number, 'partition key of ' || pg_describe_object(d.classid, d.objid, 0),
        'The type of a partition key cannot be changed: create the table anew with a bigint key.'
    FROM narrow n
    JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = n.relation AND d.objsubid = n.number
        AND d.refclassid = d.classid AND d.refobjid = d.objid AND d.refobjsubid = 0)
SELECT line, coalesce(to_do, 'Drop what depends on the columns, convert, and create it again.') AS to_do
FROM (SELECT object || ' depends on ' || pg_describe_object('pg_class'::regclass, relation, number), to_do
      FROM objects
      UNION
      SELECT line, NULL FROM by_key
      UNION
      SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
          ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END || ' depends on '
          || pg_describe_object('pg_class'::regclass, o.view, 0), NULL
      FROM over o JOIN pg_type y ON y.typrelid = o.view
      JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = o.view
          OR d.refclassid = 'pg_type'::regclass AND d.refobjid IN (y.oid, y.typarray)
      LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
      WHERE d.deptype = 'n' AND r.ev_class IS DISTINCT FROM o.view
      UNION
      SELECT pg_describe_object('pg_constraint'::regclass, f.oid, 0) || ' needs '
          || pg_describe_object('pg_class'::regclass, i.indexrelid, 0) || ', which contains '
          || pg_describe_object('pg_class'::regclass, n.relation, n.number), NULL
      FROM narrow n JOIN pg_index i ON i.indrelid = n.relation AND n.number = ANY (i.indkey)
      JOIN pg_constraint f ON f.conindid = i.indexrelid AND f.contype = 'f' AND f.conparentid = 0
      WHERE NOT EXISTS (
          SELECT FROM narrow k WHERE k.relation = f.confrelid AND (k.number = ANY (f.confkey)
              OR k.relation = f.conrelid AND k.number = ANY (f.conkey)))) AS l(line, to_do)
