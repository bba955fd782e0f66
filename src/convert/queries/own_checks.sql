-- The constraints on narrow columns ($1 and $2) that are valid although one above is not, and that ALTER
-- TABLE does not make again as they are: checks that are both inherited and a table's own, copies of
-- foreign keys, and NOT NULL.
-- Parameters: oid[], smallint[]
SELECT DISTINCT pg_describe_object('pg_constraint'::regclass, f.oid, 0)
        || ' is valid, and the one above it is NOT VALID' AS line,
    'Validate the constraint above, or let the table inherit after the conversion.' AS to_do
FROM unnest($1, $2) AS n(relation, number)
JOIN pg_constraint f ON f.conrelid = n.relation AND n.number = ANY (f.conkey)
JOIN pg_attribute a ON a.attrelid = n.relation AND a.attnum = n.number
WHERE f.convalidated AND (
    EXISTS (SELECT FROM pg_constraint p WHERE p.oid = f.conparentid AND NOT p.convalidated)
    OR f.coninhcount > 0 AND (f.contype = 'n' OR f.contype = 'c' AND f.conislocal) AND EXISTS (
        WITH RECURSIVE above(relation) AS (
            SELECT inhparent FROM pg_inherits WHERE inhrelid = f.conrelid
            UNION
            SELECT h.inhparent FROM above u JOIN pg_inherits h ON h.inhrelid = u.relation)
        SELECT FROM above u JOIN pg_constraint p ON p.conrelid = u.relation AND p.contype = f.contype
        LEFT JOIN pg_attribute x ON x.attrelid = p.conrelid AND x.attnum = p.conkey[1]
        WHERE NOT p.convalidated AND NOT p.connoinherit
            AND CASE f.contype WHEN 'n' THEN x.attname = a.attname ELSE p.conname = f.conname END))
