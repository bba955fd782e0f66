-- What the statements touch. $3: all tables with the column.
:wide
:keys
:views
, touched(classid, objid, owner) AS (
    SELECT 'pg_class'::regclass, c.oid, c.relowner FROM pg_class c WHERE c.oid = ANY ($3) OR c.oid IN (
        SELECT relation FROM wide
        UNION ALL
        SELECT unnest(ARRAY[conrelid, confrelid]) FROM keys
        UNION ALL
        SELECT view FROM views
        UNION ALL
        SELECT coalesce(p.polrelid, s.oid) FROM on_narrow d
        LEFT JOIN pg_policy p ON d.classid = 'pg_policy'::regclass AND p.oid = d.objid
        LEFT JOIN pg_class s ON d.classid = 'pg_class'::regclass AND s.oid = d.objid)
    UNION
    SELECT d.classid, s.oid, s.stxowner
    FROM on_narrow d JOIN pg_statistic_ext s ON d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid
    UNION
    SELECT 'pg_publication'::regclass, p.oid, p.pubowner
    FROM on_narrow d JOIN pg_publication_rel r ON d.classid = 'pg_publication_rel'::regclass AND r.oid = d.objid
    JOIN pg_publication p ON p.oid = r.prpubid)
