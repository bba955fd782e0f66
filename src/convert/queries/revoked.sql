-- Rights that the owners of tables have revoked from themselves, and that the statements need: for
-- foreign keys that are created again and validated, for triggers, for what checks and indexes call.
-- $3: whether online, $6: the function of the conversion's triggers.
-- Parameters: oid[], smallint[], boolean, oid[], smallint[], oid
:wide
:keys
, needed(owner, privilege, relation, function) AS (
    SELECT t.relowner, p.privilege, t.oid, NULL::oid
    FROM keys k JOIN pg_class r ON r.oid = k.conrelid, LATERAL (
        VALUES ('REFERENCES', k.confrelid, true), ('SELECT', k.confrelid, k.convalidated),
            -- Without the right to read the referring rows, each is looked up, and its row is locked.
            ('UPDATE', k.confrelid, k.convalidated AND NOT has_table_privilege(r.relowner, r.oid, 'SELECT')))
        AS p(privilege, relation, needed) JOIN pg_class t ON t.oid = p.relation
    WHERE k.own AND p.needed
    UNION
    SELECT c.relowner, 'TRIGGER', c.oid, NULL FROM wide w JOIN pg_class c ON c.oid = w.relation WHERE $3
    UNION
    SELECT c.relowner, 'EXECUTE', NULL, f.oid
    FROM wide w JOIN pg_class c ON c.oid = w.relation CROSS JOIN (
        SELECT $6 WHERE $3
        UNION
        SELECT d.refobjid FROM on_narrow o JOIN pg_depend d ON d.classid = o.classid AND d.objid = o.objid
        WHERE d.refclassid = 'pg_proc'::regclass AND o.classid IN ('pg_constraint'::regclass, 'pg_class'::regclass,
            'pg_trigger'::regclass)) AS f(oid))
SELECT format('%s does not have the privilege %s on %s', pg_get_userbyid(owner), privilege, described) AS line,
    format('Run GRANT %s ON %s TO %s.', privilege, coalesce(relation::regclass::text,
        'FUNCTION ' || function::regprocedure), quote_ident(pg_get_userbyid(owner))) AS to_do
FROM needed, coalesce(pg_describe_object('pg_class'::regclass, relation, 0), pg_describe_object('pg_proc'::regclass,
    function, 0)) AS d(described)
WHERE NOT coalesce(has_table_privilege(owner, relation, privilege), has_function_privilege(owner, function, privilege))
