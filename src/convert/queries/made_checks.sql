-- The check constraints that have the names of those on new columns, and those of the old ones.
-- Parameters: oid[], smallint[]
:wide
SELECT n.oid AS constraint, n.conrelid AS relation, n.conbin::text AS expression, f.conbin::text AS wanted
FROM pg_constraint f
JOIN pg_constraint n ON n.conrelid = f.conrelid AND n.contype = 'c' AND n.connoinherit = f.connoinherit
    AND n.conname = 'snowflake_new_' || CASE WHEN octet_length(f.conname) < 49 THEN f.conname ELSE md5(f.conname) END
WHERE f.contype = 'c' AND f.conislocal AND f.coninhcount = 0 AND f.conrelid IN (SELECT relation FROM wide)
    AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname)
    AND NOT EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.new_number IS NULL)
