-- Parameters: oid[], smallint[]
:sequences
:rights
, made(name, target, type, owner, acl, number, attname) AS (
    SELECT name, 'SEQUENCE ' || name, 'S'::"char", relowner, relacl, 0, NULL FROM sequences)
SELECT s.statement FROM (
    SELECT name, 1,
        format('ALTER TABLE %s ALTER COLUMN %I ADD GENERATED %s AS IDENTITY (SEQUENCE NAME %s START WITH %s '
        'INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s %s)', tab, old,
        CASE attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END, name, seqstart, seqincrement, new_min,
            new_max, seqcache, CASE WHEN seqcycle THEN 'CYCLE' ELSE 'NO CYCLE' END)
        || format(E';\nSELECT setval(%L, split_part(current_setting(%L), '','', 1)::bigint, '
               'split_part(current_setting(%L), '','', 2)::boolean)', name, kept, kept)
    FROM sequences
    UNION ALL
    SELECT * FROM rights
    UNION ALL
    SELECT name, 4, format('COMMENT ON SEQUENCE %s IS %L', name, obj_description(seqrelid, 'pg_class'))
    FROM sequences WHERE obj_description(seqrelid, 'pg_class') IS NOT NULL
    ) AS s(name, rank, statement)
ORDER BY name, rank, statement
