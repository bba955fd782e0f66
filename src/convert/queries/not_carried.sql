-- What is on objects that are made again, and would not come again as it was. $4 and $5: the columns
-- that keep their sequences.
-- Parameters: oid[], smallint[], boolean, oid[], smallint[]
:wide
:keys
:indexes
:views
, identities AS (
    SELECT s.*, k.relation FROM unnest($4, $5) AS k(relation, number)
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = k.relation
        AND d.refobjsubid = k.number AND d.classid = 'pg_class'::regclass AND d.deptype = 'i'
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'),
again(classid, objid, number) AS (
    SELECT 'pg_class'::regclass::oid, relation, number::integer FROM wide
    UNION
    SELECT 'pg_class'::regclass, a.attrelid, a.attnum
    FROM views v JOIN pg_attribute a ON a.attrelid = v.view AND a.attnum > 0
    UNION
    SELECT 'pg_class'::regclass, c.oid, 0 FROM pg_class c WHERE c.oid IN (
        SELECT view FROM views UNION ALL SELECT indexrelid FROM indexes UNION ALL SELECT oid FROM identities)
    UNION
    SELECT 'pg_type'::regclass, t.oid, 0 FROM views v JOIN pg_type t ON t.typrelid = v.view
    UNION
    SELECT 'pg_rewrite'::regclass, r.oid, 0 FROM views v JOIN pg_rewrite r ON r.ev_class = v.view
    UNION
    SELECT classid, objid, 0 FROM on_narrow
    WHERE classid IN ('pg_trigger'::regclass, 'pg_statistic_ext'::regclass, 'pg_constraint'::regclass)),
grants AS (
    SELECT pg_describe_object('pg_class'::regclass, w.relation, w.number) AS object, c.relowner, a.attacl AS acl
    FROM wide w JOIN pg_class c ON c.oid = w.relation
    JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.number
    UNION ALL
    SELECT pg_describe_object('pg_class'::regclass, c.oid, a.attnum), c.relowner, a.attacl
    FROM views v JOIN pg_class c ON c.oid = v.view JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    UNION ALL
    SELECT pg_describe_object('pg_class'::regclass, c.oid, 0), c.relowner, c.relacl
    FROM pg_class c WHERE c.oid IN (SELECT view FROM views UNION ALL SELECT oid FROM identities)),
lines(line, to_do) AS (
    SELECT pg_describe_object(a.classid, a.objid, a.number) || ' has a security label of ' || l.provider, NULL
    FROM again a JOIN pg_seclabel l ON l.classoid = a.classid AND l.objoid = a.objid AND l.objsubid = a.number
    UNION
    SELECT pg_describe_object(a.classid, a.objid, 0) || CASE d.deptype WHEN 'e' THEN ' belongs to '
        ELSE ' depends on ' END || pg_describe_object(d.refclassid, d.refobjid, 0), NULL
    FROM again a JOIN pg_depend d ON d.classid = a.classid AND d.objid = a.objid AND d.objsubid = 0
        AND d.deptype IN ('e', 'x')
    UNION
    SELECT g.object || ' has a right that ' || pg_get_userbyid(x.grantor) || ' granted to ' || CASE x.grantee
        WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(x.grantee) END, NULL
    FROM grants g, aclexplode(g.acl) AS x WHERE x.grantor <> g.relowner
    UNION
    SELECT pg_describe_object('pg_constraint'::regclass, t.tgconstraint, 0)
        || ' has a trigger that does not fire as usual',
        'Enable the triggers of these constraints, or drop the constraints first.'
    FROM pg_trigger t WHERE t.tgisinternal AND t.tgenabled <> 'O' AND t.tgconstraint IN (
        SELECT oid FROM keys UNION ALL SELECT constraint_oid FROM indexes)
    UNION
    SELECT pg_describe_object('pg_rewrite'::regclass, r.oid, 0) || ' is disabled, or fires in replicas or always', NULL
    FROM views v JOIN pg_rewrite r ON r.ev_class = v.view AND r.ev_enabled <> 'O'
    UNION
    SELECT pg_describe_object(a.classid, a.objid, 0) || ' has a comment', NULL
    FROM again a JOIN pg_description d ON d.classoid = a.classid AND d.objoid = a.objid
    WHERE a.classid IN ('pg_type'::regclass, 'pg_rewrite'::regclass)
    UNION
    SELECT pg_describe_object('pg_type'::regclass, t.oid, 0) || ' has rights of its own', NULL
    FROM views v JOIN pg_type t ON t.typrelid = v.view AND t.typacl IS NOT NULL
    UNION
    SELECT pg_describe_object('pg_constraint'::regclass, f.oid, 0) || ' is both inherited and local',
        'Let these tables inherit only after the conversion: ALTER TABLE ... NO INHERIT.'
    FROM pg_constraint f JOIN wide w ON w.relation = f.conrelid AND w.number = ANY (f.conkey)
    WHERE f.contype = 'c' AND f.conislocal AND f.coninhcount > 0 AND f.conname NOT IN (w.same, w.filled)
    UNION
    SELECT pg_describe_object('pg_constraint'::regclass, f.oid, 0) || ' is of a kind that is not made again: '
        || pg_get_constraintdef(f.oid), 'Drop these constraints, convert, and add them again.'
    FROM pg_constraint f
    WHERE (f.conrelid IN (SELECT relation FROM wide) OR f.confrelid IN (SELECT relation FROM wide))
        AND (to_jsonb(f) @> '{"conperiod": true}' OR to_jsonb(f) @> '{"conenforced": false}'
            OR f.contype = 'n' AND (NOT f.convalidated OR obj_description(f.oid, 'pg_constraint') IS NOT NULL))
        AND (f.oid IN (SELECT oid FROM keys UNION ALL SELECT constraint_oid FROM indexes)
            OR EXISTS (SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey)))
    UNION
    SELECT pg_describe_object('pg_class'::regclass, i.indexrelid, 0)
        || ' is partitioned and has a tablespace of its own', NULL
    FROM indexes i WHERE i.kind = 'I' AND i.reltablespace <> 0
    UNION
    SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
        ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END || ' depends on '
        || pg_describe_object('pg_class'::regclass, s.oid, 0),
        'Drop what depends on the sequences of identities, convert, and create it again.'
    FROM identities s JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid AND d.deptype = 'n'
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    UNION
    SELECT pg_describe_object('pg_class'::regclass, s.oid, 0) || ' cannot be read by its owner',
        'GRANT SELECT on these sequences to their owner.'
    FROM identities s WHERE NOT has_sequence_privilege(s.oid, 'SELECT')
    UNION
    SELECT pg_describe_object('pg_class'::regclass, s.oid, 0) || ' is not logged, or its table is not', NULL
    FROM identities s JOIN pg_class c ON c.oid = s.relation WHERE s.relpersistence <> c.relpersistence)
SELECT line, coalesce(to_do, 'Take these properties from the objects first, and give them to the new ones after the conversion.')
    AS to_do
FROM lines
