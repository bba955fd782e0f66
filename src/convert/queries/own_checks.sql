-- The checks on narrow columns ($1 and $2) that are both inherited and a table's own, and valid although
-- the one above is not: ALTER TABLE cannot make these again.
-- Parameters: oid[], smallint[]
SELECT string_agg(DISTINCT pg_describe_object('pg_constraint'::regclass, f.oid, 0), ', ')
FROM unnest($1, $2) AS n(relation, number)
JOIN pg_constraint f ON f.contype = 'c' AND f.conrelid = n.relation AND n.number = ANY (f.conkey)
JOIN pg_inherits h ON h.inhrelid = f.conrelid
JOIN pg_constraint p ON p.conrelid = h.inhparent AND p.contype = 'c' AND p.conname = f.conname
WHERE f.conislocal AND f.convalidated AND NOT p.convalidated
