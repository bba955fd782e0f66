-- $1 and $2: the converted columns, $3 and $4: those that are converted together with them. A serial
-- column's sequence is dropped when all of these have their new defaults, an identity's before.
-- Parameters: oid[], smallint[], oid[], smallint[]
SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C")
FROM (SELECT CASE WHEN x.oid IS NOT NULL
              THEN pg_describe_object('pg_class'::regclass, x.adrelid, x.adnum) || ' has to be converted first: it uses '
          WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0) || ' depends on '
          ELSE pg_describe_object(u.classid, u.objid, u.objsubid) || ' depends on ' END
          || pg_describe_object(u.refclassid, u.refobjid, 0)
      FROM unnest($1, $2) AS h(relation, number)
      JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation
          AND d.refobjsubid = h.number
          AND d.classid = 'pg_class'::regclass
      JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
      JOIN pg_depend u ON u.refclassid = 'pg_class'::regclass AND u.refobjid = s.oid AND u.deptype = 'n'
      LEFT JOIN pg_rewrite r ON u.classid = 'pg_rewrite'::regclass AND r.oid = u.objid
      LEFT JOIN pg_attrdef x ON u.classid = 'pg_attrdef'::regclass AND x.oid = u.objid
      WHERE NOT EXISTS (SELECT FROM unnest($1, $2) AS o(relation, number)
                        WHERE o.relation = x.adrelid AND o.number = x.adnum)
          AND NOT EXISTS (SELECT FROM unnest($3, $4) AS o(relation, number)
                          WHERE d.deptype = 'a' AND o.relation = x.adrelid AND o.number = x.adnum)) AS l(line)
