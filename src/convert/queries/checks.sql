-- The check constraints of a user: those that are not inherited, and those that are valid although
-- what they are inherited from is not. $3 as in gone.sql.
-- Parameters: oid[], smallint[], oid[]
:gone
SELECT f.conrelid::regclass::text AS table_sql, quote_ident(f.new) AS new_sql,
    CASE WHEN f.connoinherit THEN ' NO INHERIT' ELSE '' END AS definition, f.coninhcount = 0 AND n.oid IS NULL AS add,
    f.convalidated AND NOT coalesce(n.convalidated, false) AS validate, f.conrelid AS relation,
    f.conrelid AS referred, f.conbin::text AS expression, f.mark
FROM user_checks f LEFT JOIN pg_constraint n ON n.conrelid = f.conrelid AND n.conname = f.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints)
WHERE (f.coninhcount = 0 OR f.convalidated AND NOT EXISTS (
        SELECT FROM pg_inherits h JOIN pg_constraint p ON p.conrelid = h.inhparent AND p.conname = f.conname
        WHERE h.inhrelid = f.conrelid AND p.contype = 'c' AND p.convalidated))
    AND (n.oid IS NULL OR f.convalidated AND NOT n.convalidated)
ORDER BY f.coninhcount > 0, 1, 2
