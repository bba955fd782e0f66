-- What the change of type of narrow columns ($1 and $2) makes anew: tables, the largest of them, their
-- indexes, bytes, and foreign keys with their copies for partitions.
-- Parameters: oid[], smallint[]
:narrow
SELECT count(*) AS tables, string_agg(format('%s (%s)', t.oid::regclass, pg_size_pretty(t.bytes)),
        ', ' ORDER BY t.place) FILTER (WHERE t.place <= 5) AS largest,
    coalesce(sum(t.indexes), 0)::bigint AS indexes, pg_size_pretty(sum(t.bytes)) AS size, (
    SELECT count(*) FROM pg_constraint f
    WHERE f.contype = 'f' AND f.oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_constraint'::regclass))
    AS foreign_keys
FROM (
    SELECT c.oid, b.bytes, row_number() OVER (ORDER BY b.bytes DESC, c.oid) AS place,
        (SELECT count(*) FROM pg_index WHERE indrelid = c.oid) AS indexes
    FROM (SELECT DISTINCT unnest($1)) AS n(relation) JOIN pg_class c ON c.oid = n.relation AND c.relkind = 'r',
    pg_total_relation_size(c.oid) AS b(bytes)) AS t
