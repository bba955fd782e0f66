-- A foreign key of a partitioned table is made of those of its partitions, in the switch. $3 as
-- in gone.sql.
-- Parameters: oid[], smallint[], oid[]
:gone
SELECT k.tab AS table_sql, quote_ident(k.new) AS new_sql, k.new_definition AS definition, n.oid IS NULL AS add,
    k.convalidated AND NOT coalesce(n.convalidated, false) AS validate, k.conrelid AS relation, k.confrelid AS referred,
    NULL AS expression, NULL AS mark
FROM keys k LEFT JOIN pg_constraint n ON n.conrelid = k.conrelid AND n.conname = k.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints)
WHERE k.kind = 'r' AND (n.oid IS NULL OR k.convalidated AND NOT n.convalidated)
ORDER BY 1, 2
