-- The checks on narrow columns ($1 and $2) that are both inherited and a table's own, and valid although
-- one above is not: ALTER TABLE cannot make these again.
-- Parameters: oid[], smallint[]
SELECT string_agg(DISTINCT pg_describe_object('pg_constraint'::regclass, f.oid, 0), ', ')
FROM unnest($1, $2) AS n(relation, number)
JOIN pg_constraint f ON f.contype = 'c' AND f.conrelid = n.relation AND n.number = ANY (f.conkey)
WHERE f.conislocal AND f.coninhcount > 0 AND f.convalidated AND EXISTS (
    WITH RECURSIVE above(relation) AS (
        SELECT inhparent FROM pg_inherits WHERE inhrelid = f.conrelid
        UNION
        SELECT h.inhparent FROM above a JOIN pg_inherits h ON h.inhrelid = a.relation)
    SELECT FROM above a JOIN pg_constraint p ON p.conrelid = a.relation AND p.conname = f.conname
    WHERE p.contype = 'c' AND NOT p.convalidated AND NOT p.connoinherit)
