-- What the change of type of narrow columns ($1 and $2) makes anew: tables, their indexes, bytes, and
-- foreign keys with their copies for partitions.
-- Parameters: oid[], smallint[]
SELECT count(*), coalesce(sum(i.indexes), 0)::bigint, coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint, (
    SELECT count(*) FROM pg_constraint f WHERE f.contype = 'f' AND EXISTS (
        SELECT FROM unnest($1, $2) AS h(relation, number)
        WHERE h.relation = f.conrelid AND h.number = ANY (f.conkey)
            OR h.relation = f.confrelid AND h.number = ANY (f.confkey)))
FROM (SELECT DISTINCT unnest($1)) AS n(relation)
JOIN pg_class c ON c.oid = n.relation AND c.relkind = 'r',
LATERAL (SELECT count(*) FROM pg_index WHERE indrelid = c.oid) AS i(indexes)
