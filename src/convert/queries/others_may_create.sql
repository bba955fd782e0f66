-- Functions and operators outside of pg_catalog that are used by what is parsed again, if they are in
-- schemas in which others may create a better match for the wider type: it would run with the rights
-- of the tables' owner.
-- Parameters: oid[], smallint[]
:wide
:views
, parsed(classid, objid) AS (
    SELECT classid, objid FROM on_narrow
    UNION
    SELECT 'pg_rewrite'::regclass, r.oid FROM views v JOIN pg_rewrite r ON r.ev_class = v.view),
used AS (
    SELECT d.refclassid AS classid, d.refobjid AS objid, coalesce(f.pronamespace, o.oprnamespace) AS namespace,
        coalesce(f.proowner, o.oprowner) AS owner
    FROM parsed p JOIN pg_depend d ON d.classid = p.classid AND d.objid = p.objid
    LEFT JOIN pg_proc f ON d.refclassid = 'pg_proc'::regclass AND f.oid = d.refobjid
    LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    LEFT JOIN pg_trigger t ON d.classid = 'pg_trigger'::regclass AND t.oid = d.objid
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass) AND t.tgfoid IS DISTINCT FROM d.refobjid),
creators AS (
    SELECT u.*, n.nspname, CASE c.role WHEN 'pg_database_owner'::regrole THEN b.datdba ELSE c.role END AS role
    FROM used u JOIN pg_namespace n ON n.oid = u.namespace JOIN pg_database b ON b.datname = current_database(),
    LATERAL (
        SELECT n.nspowner
        UNION
        SELECT grantee FROM aclexplode(n.nspacl) WHERE privilege_type = 'CREATE') AS c(role))
SELECT DISTINCT pg_describe_object(classid, objid, 0) || ' is used, and ' || CASE role WHEN 0 THEN 'PUBLIC'
        ELSE pg_get_userbyid(role) END || ' may create others in schema ' || nspname AS line,
    'Revoke CREATE on these schemas. Or drop what uses these functions and operators, convert, and create it again.'
    AS to_do
FROM creators
WHERE role <> owner AND role NOT IN (SELECT oid FROM pg_roles WHERE rolsuper)
    AND role NOT IN (SELECT relowner FROM pg_class WHERE oid IN (SELECT relation FROM wide))
