-- The foreign keys from which converted columns ($1 and $2) take their ids, without partitions' copies.
-- Parameters: oid[], smallint[]
SELECT format('%s takes its ids from %s through the foreign key "%s"',
        pg_describe_object('pg_class'::regclass, ($1)[1], ($2)[1]), r.described, f.conname) AS line,
    format('Convert %s; the one that refers to it changes with it.', r.described) AS to_do
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_constraint f ON f.contype = 'f' AND f.conparentid = 0 AND f.conrelid = h.relation,
unnest(f.conkey, f.confkey) AS k(referring, referred),
pg_describe_object('pg_class'::regclass, f.confrelid, k.referred) AS r(described)
WHERE k.referring = h.number AND NOT EXISTS (
    SELECT FROM unnest($1, $2) AS o(relation, number) WHERE o.relation = f.confrelid AND o.number = k.referred)
