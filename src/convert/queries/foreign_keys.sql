-- A foreign key of a partitioned table is made of those of its partitions, in the switch. $3 and $4
-- as in gone.sql.
-- Parameters: oid[], smallint[], oid[], oid[]
:wide
:keys
:gone
SELECT k.tab, quote_ident(k.new), k.new_definition, n.oid IS NULL,
    k.convalidated AND NOT coalesce(n.convalidated, false), NULL, NULL
FROM keys k LEFT JOIN pg_constraint n ON n.conrelid = k.conrelid AND n.conname = k.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints)
WHERE k.kind = 'r' AND (n.oid IS NULL OR k.convalidated AND NOT n.convalidated)
ORDER BY 1, 2
