-- The foreign keys that ALTER TABLE would rebuild once for each column: those with a narrow column
-- ($1 and $2) at either end, between tables that change. The statements that drop one, add it again,
-- and comment it. Copies for partitions come with their own.
-- Parameters: oid[], smallint[]
:narrow
SELECT format('ALTER TABLE %I.%I DROP CONSTRAINT %I;', n.nspname, c.relname, f.conname) AS drop,
    format('ALTER TABLE %I.%I ADD CONSTRAINT %I %s;', n.nspname, c.relname, f.conname, pg_get_constraintdef(f.oid)) AS add,
    CASE WHEN o.comment IS NOT NULL
        THEN format('COMMENT ON CONSTRAINT %I ON %I.%I IS %L;', f.conname, n.nspname, c.relname, o.comment) END AS comment
FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace,
    obj_description(f.oid, 'pg_constraint') AS o(comment)
WHERE f.contype = 'f' AND f.conparentid = 0 AND f.conrelid = ANY ($1) AND f.confrelid = ANY ($1)
    AND f.oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_constraint'::regclass)
ORDER BY c.relname COLLATE "C", f.conrelid, f.conname COLLATE "C"
