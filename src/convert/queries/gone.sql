-- What is on new columns but not for an object that is there: the object was dropped since, or
-- replaced, or its index was not completed. Dependencies on columns show the age of both.
, built AS (
    SELECT i.indexrelid, i.indrelid, i.indisvalid, c.relname, n.nspname, made.age
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
    LATERAL (
        SELECT max(CASE WHEN age(d.xmin) < 0 THEN 2147483647 ELSE age(d.xmin) END) AS age,
            bool_or(w.new IS NOT NULL) AS ours
        FROM pg_depend d LEFT JOIN wide w ON w.relation = d.refobjid AND w.new_number = d.refobjsubid
        WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = d.classid) AS made
    WHERE i.indrelid IN (SELECT relation FROM wide) AND c.relname LIKE 'snowflake\_new\_%' AND made.ours),
gone_indexes AS (
    SELECT * FROM built b WHERE NOT b.indisvalid OR NOT EXISTS (
        SELECT FROM indexes i WHERE i.indrelid = b.indrelid AND i.new = b.relname AND b.age <= (
            SELECT max(CASE WHEN age(d.xmin) < 0 THEN 2147483647 ELSE age(d.xmin) END) FROM pg_depend d
                WHERE d.classid = 'pg_class'::regclass
                AND d.objid = i.indexrelid OR d.classid = 'pg_constraint'::regclass
                    AND d.objid = i.constraint_oid))),
gone_constraints AS (
    SELECT f.oid, f.conrelid::regclass::text AS tab, f.conname
    FROM pg_constraint f
    WHERE f.coninhcount = 0 AND f.conparentid = 0 AND (
        EXISTS (SELECT FROM wide w WHERE w.relation = f.conrelid AND w.filled = f.conname AND NOT w.attnotnull
                AND w.new_number = ANY (f.conkey))
        OR f.conname LIKE 'snowflake\_new\_%' AND f.contype IN ('c', 'f')
        AND EXISTS (SELECT FROM wide w WHERE w.relation = f.conrelid AND w.new_number = ANY (f.conkey)
                    OR w.relation = f.confrelid AND w.new_number = ANY (f.confkey))
        AND (f.conindid IN (SELECT indexrelid FROM gone_indexes) OR NOT EXISTS (
            SELECT FROM pg_constraint o JOIN wide w ON w.relation IN (o.conrelid, o.confrelid)
            WHERE o.conrelid = f.conrelid AND o.contype = f.contype AND f.conname = 'snowflake_new_' || CASE
                WHEN octet_length(o.conname) < 49 THEN o.conname ELSE md5(o.conname) END
                AND (SELECT max(CASE WHEN age(d.xmin) < 0 THEN 2147483647 ELSE age(d.xmin) END) FROM pg_depend d
                     WHERE d.classid = 'pg_constraint'::regclass AND d.objid = f.oid)
                    <= (SELECT max(CASE WHEN age(d.xmin) < 0 THEN 2147483647 ELSE age(d.xmin) END) FROM pg_depend d
                        WHERE d.classid = 'pg_constraint'::regclass AND d.objid = o.oid)))))
