-- The statements that give what is made again the rights that it had, also if others are granted by
-- default. `made` has a row for each object, a sequence (S) or view (r), and one for each column, whose
-- type and owner are null.
, defaults AS (
    SELECT d.defaclobjtype AS type, g.grantee FROM pg_default_acl d, aclexplode(d.defaclacl) AS g
    UNION
    SELECT ' ', oid FROM pg_roles),
rights(name, rank, statement) AS (
    SELECT m.name, 2, format('REVOKE ALL ON %s FROM %s', m.target, string_agg(DISTINCT CASE d.grantee
        WHEN 0 THEN 'PUBLIC' ELSE d.grantee::regrole::text END, ', '))
    FROM made m JOIN defaults d ON d.type = m.type OR d.grantee = m.owner
    WHERE m.acl IS NOT NULL OR d.grantee <> m.owner GROUP BY m.name, m.target
    UNION ALL
    SELECT m.name, 3 + (m.number > 0)::integer, format('GRANT %s ON %s TO %s%s', string_agg(g.privilege_type
        || coalesce(' (' || quote_ident(m.attname) || ')', ''), ', ' ORDER BY m.number, g.privilege_type), m.target,
        CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END,
        CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM made m, aclexplode(m.acl) AS g GROUP BY 1, 2, m.target, g.grantee, g.is_grantable)
