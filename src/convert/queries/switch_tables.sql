-- Parameters: oid[], smallint[]
:wide
:keys
SELECT t.relation::regclass::text FROM (
    SELECT relation, min(nth) AS nth FROM (
        SELECT relation, nth FROM wide WHERE root
        UNION ALL
        SELECT conrelid, 1000000 FROM keys WHERE own
        UNION ALL
        SELECT confrelid, 1000000 FROM keys WHERE own) AS all_tables
    GROUP BY relation) AS t
ORDER BY t.nth > 1, t.relation
