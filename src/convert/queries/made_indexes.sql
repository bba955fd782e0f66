-- The indexes that are as the steps would make them, by their fields; if there is an expression or a
-- condition, by the mark. PostgreSQL makes a foreign key for the index on its columns whose OID is
-- the least. So the index that it was for has to be there before others on these columns, which may be
-- those of deferrable constraints.
-- Parameters: oid[], smallint[]
:wide
:indexes
SELECT n.indexrelid
FROM indexes i
JOIN pg_class c ON c.relname = i.new AND c.relnamespace = i.relnamespace
JOIN pg_index n ON n.indexrelid = c.oid AND n.indrelid = i.indrelid
WHERE i.kind = 'i' AND n.indisvalid AND n.indisunique = i.indisunique
    AND n.indnullsnotdistinct = i.indnullsnotdistinct AND n.indnkeyatts = i.indnkeyatts AND n.indnatts = i.indnatts
    AND n.indcollation::text = i.indcollation::text AND n.indoption::text = i.indoption::text
    AND c.relam = i.relam AND c.reloptions IS NOT DISTINCT FROM i.reloptions AND c.reltablespace = i.reltablespace
    AND CASE WHEN i.mark IS NULL THEN n.indpred IS NULL ELSE (n.indexrelid, i.mark) IN (
        SELECT objoid, description FROM pg_description WHERE classoid = 'pg_class'::regclass AND objsubid = 0) END
    AND NOT EXISTS (
        SELECT FROM unnest(i.indkey, n.indkey) WITH ORDINALITY AS u(key, made, nth)
        LEFT JOIN wide w ON w.relation = i.indrelid AND w.number = u.key
        LEFT JOIN pg_attribute b ON b.attrelid = i.indexrelid AND b.attnum = u.nth
        LEFT JOIN pg_attribute a ON a.attrelid = n.indexrelid AND a.attnum = u.nth
        LEFT JOIN pg_opclass o ON o.oid = i.indclass[u.nth - 1] AND u.nth <= i.indnkeyatts
        LEFT JOIN pg_opclass m ON m.oid = n.indclass[u.nth - 1] AND u.nth <= i.indnkeyatts
        WHERE u.key <> 0 AND u.made IS DISTINCT FROM CASE WHEN w.new IS NULL THEN u.key ELSE w.new_number END
            OR a.attoptions IS DISTINCT FROM b.attoptions
            OR m.oid <> o.oid AND NOT (
                (u.key = 0 OR w.new IS NOT NULL) AND m.opcmethod = o.opcmethod AND m.opcdefault = o.opcdefault
                AND (o.opcdefault OR m.opcname = regexp_replace(o.opcname, 'int[24]', 'int8')
                    AND m.opcnamespace = o.opcnamespace)))
    AND NOT (i.indisunique AND NOT i.referred AND EXISTS (
        SELECT FROM indexes o
        WHERE o.indrelid = i.indrelid AND o.referred AND o.key_set = i.key_set AND NOT EXISTS (
            SELECT FROM pg_index x JOIN pg_class e ON e.oid = x.indexrelid
            WHERE e.relname = o.new AND e.relnamespace = o.relnamespace AND x.indisvalid
                AND x.indexrelid < n.indexrelid)))
