-- What the catalogs show on tables and does not belong to a superuser; and the schemas in which the
-- statements call functions of the extensions, because the owner of a schema can put another one in
-- its place. `attached`: a table or a view over one, and what is on it, so that also what depends on
-- these is followed.
-- Parameters: oid[]
WITH RECURSIVE reached(classid, objid, attached) AS (
    SELECT * FROM (
        SELECT 'pg_class'::regclass::oid, t, true FROM unnest($1) AS t
        UNION ALL
        SELECT 'pg_namespace'::regclass, extnamespace, false FROM pg_extension
        WHERE extname IN ('snowflake', 'snowflake_convert')) AS s
    UNION
    SELECT step.* FROM reached r, LATERAL (
        SELECT d.refclassid, d.refobjid, r.attached AND d.classid = 'pg_rewrite'::regclass AND d.deptype = 'i'
        FROM pg_depend d
        WHERE d.classid = r.classid AND d.objid = r.objid AND d.deptype IN ('n', 'a', 'i')
            AND (r.attached OR r.classid <> 'pg_class'::regclass
                OR EXISTS (SELECT FROM pg_class c WHERE c.oid = r.objid AND c.relkind = 'c'))
        UNION ALL
        SELECT d.classid, d.objid, r.attached
        FROM pg_depend d LEFT JOIN pg_class i ON d.classid = 'pg_class'::regclass AND i.oid = d.objid
        WHERE d.refclassid = r.classid AND d.refobjid = r.objid AND CASE
            WHEN r.classid = 'pg_class'::regclass THEN r.attached AND (i.relkind IN ('i', 'I')
                OR d.classid IN ('pg_attrdef'::regclass, 'pg_constraint'::regclass, 'pg_trigger'::regclass,
                    'pg_rewrite'::regclass, 'pg_policy'::regclass, 'pg_statistic_ext'::regclass,
                    'pg_publication_rel'::regclass))
            WHEN r.classid = 'pg_type'::regclass THEN d.classid = 'pg_constraint'::regclass OR i.relkind = 'c'
            ELSE r.classid IN ('pg_opclass'::regclass, 'pg_opfamily'::regclass)
                AND d.classid IN ('pg_amop'::regclass, 'pg_amproc'::regclass) END) AS step),
owned AS (
    SELECT DISTINCT classid, objid, CASE classid
        WHEN 'pg_class'::regclass THEN (
            SELECT relowner FROM pg_class WHERE oid = objid AND (attached OR relkind = 'c'))
        WHEN 'pg_proc'::regclass THEN (SELECT proowner FROM pg_proc WHERE oid = objid)
        WHEN 'pg_operator'::regclass THEN (SELECT oprowner FROM pg_operator WHERE oid = objid)
        WHEN 'pg_type'::regclass THEN (SELECT typowner FROM pg_type WHERE oid = objid)
        WHEN 'pg_opclass'::regclass THEN (SELECT opcowner FROM pg_opclass WHERE oid = objid)
        WHEN 'pg_opfamily'::regclass THEN (SELECT opfowner FROM pg_opfamily WHERE oid = objid)
        WHEN 'pg_collation'::regclass THEN (SELECT collowner FROM pg_collation WHERE oid = objid)
        WHEN 'pg_language'::regclass THEN (SELECT lanowner FROM pg_language WHERE oid = objid)
        WHEN 'pg_statistic_ext'::regclass THEN (SELECT stxowner FROM pg_statistic_ext WHERE oid = objid)
        WHEN 'pg_publication'::regclass THEN (SELECT pubowner FROM pg_publication WHERE oid = objid)
        WHEN 'pg_ts_config'::regclass THEN (SELECT cfgowner FROM pg_ts_config WHERE oid = objid)
        WHEN 'pg_ts_dict'::regclass THEN (SELECT dictowner FROM pg_ts_dict WHERE oid = objid)
        WHEN 'pg_namespace'::regclass THEN (
            SELECT CASE WHEN n.nspowner = 'pg_database_owner'::regrole THEN b.datdba ELSE n.nspowner END
            FROM pg_namespace n, pg_database b WHERE n.oid = objid AND b.datname = current_database()) END AS owner
    FROM reached)
SELECT pg_describe_object(classid, objid, 0) || ' belongs to ' || pg_get_userbyid(owner)
FROM owned WHERE owner NOT IN (SELECT oid FROM pg_roles WHERE rolsuper)
