-- Parameters: oid[], smallint[]
:wide
:indexes
SELECT format('ALTER TABLE ONLY %s REPLICA IDENTITY USING INDEX %I', tab, relname) FROM indexes
    WHERE indisreplident
UNION ALL
SELECT format('ALTER TABLE ONLY %s CLUSTER ON %I', tab, relname) FROM indexes WHERE indisclustered
UNION ALL
SELECT format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS %s', name, a.attnum, a.attstattarget)
FROM indexes JOIN pg_attribute a ON a.attrelid = indexrelid WHERE a.attstattarget >= 0 AND a.attnum > 0
UNION ALL
SELECT format('COMMENT ON INDEX %s IS %L', name, obj_description(indexrelid, 'pg_class')) FROM indexes
WHERE mark IS NOT NULL AND kind = 'i' OR obj_description(indexrelid, 'pg_class') IS NOT NULL
UNION ALL
SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', conname, tab, obj_description(constraint_oid,
    'pg_constraint'))
FROM indexes WHERE obj_description(constraint_oid, 'pg_constraint') IS NOT NULL
ORDER BY 1
