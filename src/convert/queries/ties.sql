-- The check constraints that have the names of those of new columns, and what they have to be.
-- Parameters: oid[], smallint[]
:wide
SELECT k.oid AS constraint, k.conrelid AS relation, k.conbin::text AS expression,
    format(CASE k.conname WHEN w.same THEN '%I IS NOT DISTINCT FROM %I' ELSE '%I IS NOT NULL' END, w.new, w.old) AS wanted
FROM wide w
JOIN pg_constraint k ON k.conrelid = w.relation AND k.conname IN (w.same, w.filled) AND k.contype = 'c'
    AND NOT k.connoinherit AND coalesce((to_jsonb(k) ->> 'conenforced')::boolean, true)
JOIN pg_attribute a ON a.attrelid = w.relation AND a.attnum = w.new_number AND a.atttypid = 'bigint'::regtype
