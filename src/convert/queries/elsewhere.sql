-- $1 and $2: the converted columns. The partitions' copies of a foreign key come last.
-- Parameters: oid[], smallint[]
SELECT f.conname AS foreign_key, pg_describe_object('pg_class'::regclass, f.confrelid, k.referred) AS from
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_constraint f ON f.contype = 'f' AND f.conrelid = h.relation,
unnest(f.conkey, f.confkey) AS k(referring, referred)
WHERE k.referring = h.number AND NOT EXISTS (
    SELECT FROM unnest($1, $2) AS o(relation, number) WHERE o.relation = f.confrelid AND o.number = k.referred)
ORDER BY f.conparentid <> 0, f.conname LIMIT 1
