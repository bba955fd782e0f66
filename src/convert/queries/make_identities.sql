-- Parameters: oid[], smallint[]
:wide
:default_rights
:sequences
SELECT s.statement FROM (
    SELECT name, 1,
        format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s START WITH %s '
        'INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s %s)', tab, old,
        CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, name, seqstart, seqincrement, new_min,
            new_max,
        seqcache, CASE WHEN seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END)
        || format(E';\nSELECT setval(%L, split_part(current_setting(%L), '','', 1)::bigint, '
               'split_part(current_setting(%L), '','', 2)::boolean)', name, kept, kept)
    FROM sequences WHERE deptype = 'i'
    UNION ALL
    SELECT name, 2, format('REVOKE ALL ON %s FROM %s', 'SEQUENCE ' || name, string_agg(DISTINCT CASE d.grantee
        WHEN 0 THEN 'PUBLIC' ELSE d.grantee::regrole::text END, ', '))
    FROM sequences JOIN defaults d ON d.type = 'S' OR d.grantee = relowner
    WHERE deptype = 'i' AND (relacl IS NOT NULL OR d.grantee <> relowner) GROUP BY name
    UNION ALL
    SELECT name, 3, format('GRANT %s ON %s TO %s%s', string_agg(g.privilege_type,
        ', ' ORDER BY g.privilege_type), 'SEQUENCE ' || name, CASE g.grantee WHEN 0 THEN 'PUBLIC'
        ELSE g.grantee::regrole::text END, CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' END)
    FROM sequences, aclexplode(relacl) AS g WHERE deptype = 'i'
    GROUP BY name, g.grantee, g.is_grantable
    UNION ALL
    SELECT name, 4, format('COMMENT ON SEQUENCE %s IS %L', name, obj_description(seqrelid, 'pg_class'))
        FROM sequences
    WHERE deptype = 'i' AND obj_description(seqrelid, 'pg_class') IS NOT NULL) AS s(name, rank, statement)
ORDER BY name, rank, statement
