-- Parameters: oid[], smallint[]
:wide
:keys
:user_checks
SELECT s.statement FROM (
    SELECT 1, conrelid::regclass::text, conname, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', conrelid::regclass,
        new, conname)
    FROM user_checks WHERE conislocal AND coninhcount = 0
    UNION ALL
    SELECT 1, tab, conname, format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', tab, new, conname) FROM keys
    WHERE kind = 'r'
    UNION ALL
    SELECT 2, tab, conname, format('ALTER TABLE %s ADD CONSTRAINT %I %s', tab, conname, definition) FROM keys
    WHERE own AND kind = 'p'
    UNION ALL
    -- Of a check, it takes the mark away.
    SELECT 3, f.conrelid::regclass::text, f.conname, format('COMMENT ON CONSTRAINT %I ON %s IS %L', f.conname,
        f.conrelid::regclass, obj_description(f.oid, 'pg_constraint'))
    FROM (
        SELECT oid, conrelid, conname, false FROM keys
        UNION ALL
        SELECT oid, conrelid, conname, coninhcount = 0 FROM user_checks) AS f(oid, conrelid, conname, marked)
    WHERE f.marked OR obj_description(f.oid, 'pg_constraint') IS NOT NULL) AS s(rank, tab, conname, statement)
ORDER BY rank, tab, conname
