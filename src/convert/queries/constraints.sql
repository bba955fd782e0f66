-- Parameters: oid[], smallint[]
:wide
:keys
SELECT s.statement FROM (
    SELECT 1, f.conrelid::regclass::text, f.conname, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I',
        f.conrelid::regclass, 'snowflake_new_' || CASE WHEN octet_length(f.conname) < 49 THEN f.conname
            ELSE md5(f.conname) END, f.conname)
    FROM pg_constraint f WHERE f.contype = 'c' AND f.conislocal AND f.coninhcount = 0
        AND f.conrelid IN (SELECT relation FROM wide) AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname)
    UNION ALL
    SELECT 1, tab, conname, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', tab, new, conname) FROM keys
    WHERE kind = 'r'
    UNION ALL
    SELECT 2, tab, conname, format('ALTER TABLE %s ADD CONSTRAINT %I %s', tab, conname, definition) FROM keys
    WHERE own AND kind = 'p'
    UNION ALL
    SELECT 3, f.conrelid::regclass::text, f.conname, format('COMMENT ON CONSTRAINT %I ON %s IS %L', f.conname,
        f.conrelid::regclass, obj_description(f.oid, 'pg_constraint'))
    FROM pg_constraint f WHERE obj_description(f.oid, 'pg_constraint') IS NOT NULL AND (
        f.oid IN (SELECT oid FROM keys) OR f.contype = 'c'
        AND f.conrelid IN (SELECT relation FROM wide) AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname))
    ) AS s(rank, tab, conname, statement)
ORDER BY rank, tab, conname
