-- The constraints that rows may violate, and that an update of such a row checks, of the tables that
-- are still to be filled; not those of new columns. `expression` must not be false for any row; if it
-- is null, the column `number` must not be.
-- Parameters: oid[], smallint[]
:wide
SELECT DISTINCT w.relation, coalesce(f.conkey[1], 0::smallint) AS number,
    CASE f.contype WHEN 'c' THEN f.conbin::text END AS expression,
    format('%s is NOT VALID, and rows violate it: %s', pg_describe_object('pg_constraint'::regclass, f.oid, 0),
        regexp_replace(pg_get_constraintdef(f.oid), ' NOT VALID$', '')) AS line
FROM wide w JOIN pg_constraint f ON f.conrelid = w.relation AND f.contype IN ('c', 'n') AND NOT f.convalidated
LEFT JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
WHERE w.relkind = 'r' AND NOT to_jsonb(f) @> '{"conenforced": false}' AND (f.contype = 'c' OR a.attgenerated <> 'v')
    AND NOT coalesce(f.conkey && (SELECT array_agg(new_number) FROM wide WHERE relation = f.conrelid), false)
    AND NOT EXISTS (
        SELECT FROM pg_constraint s WHERE s.conrelid = w.relation AND s.conname = w.same AND s.convalidated)
ORDER BY w.relation, line
