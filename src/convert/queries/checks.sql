-- The check constraints of a user: those that are not inherited, and those that are valid although
-- what they are inherited from is not. $3 and $4 as in gone.sql.
-- Parameters: oid[], smallint[], oid[], oid[]
:wide
:keys
:gone
SELECT f.conrelid::regclass::text AS table_sql, quote_ident(c.new) AS new_sql,
    CASE WHEN f.connoinherit THEN ' NO INHERIT' ELSE '' END AS definition, f.coninhcount = 0 AND n.oid IS NULL AS add,
    f.convalidated AND NOT coalesce(n.convalidated, false) AS validate, f.conrelid AS relation,
    f.conbin::text AS expression
FROM pg_constraint f LEFT JOIN LATERAL (SELECT 'snowflake_new_' || CASE WHEN octet_length(f.conname) < 49
    THEN f.conname ELSE md5(f.conname) END) AS c(new) ON true
LEFT JOIN pg_constraint n ON n.conrelid = f.conrelid AND n.conname = c.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints)
WHERE f.contype = 'c' AND (f.coninhcount = 0 OR f.convalidated AND NOT EXISTS (
        SELECT FROM pg_inherits h JOIN pg_constraint p ON p.conrelid = h.inhparent AND p.conname = f.conname
        WHERE h.inhrelid = f.conrelid AND p.contype = 'c' AND p.convalidated))
    AND f.conrelid IN (SELECT relation FROM wide)
    AND EXISTS (
        SELECT FROM wide w WHERE w.relation = f.conrelid AND w.number = ANY (f.conkey) AND w.same <> f.conname)
    AND (n.oid IS NULL OR f.convalidated AND NOT n.convalidated)
ORDER BY f.coninhcount > 0, 1, 2
