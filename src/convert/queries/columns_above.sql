-- The columns of the table $1, and those from which they take their values: steps of id_columns.sql
-- backwards.
-- Parameters: oid
WITH RECURSIVE held(relation, number) AS (
    SELECT attrelid, attnum FROM pg_attribute WHERE attrelid = $1 AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT step.* FROM held h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number,
    LATERAL (
        SELECT f.confrelid, k.referred
        FROM pg_constraint f, unnest(f.conkey, f.confkey) AS k(referring, referred)
        WHERE f.contype = 'f' AND f.conrelid = h.relation AND k.referring = h.number
        UNION ALL
        SELECT i.inhrelid, c.attnum FROM pg_inherits i
        JOIN pg_attribute c ON c.attrelid = i.inhrelid AND c.attname = a.attname
        WHERE i.inhparent = h.relation
        UNION ALL
        SELECT i.inhparent, p.attnum FROM pg_inherits i
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnum > 0
        WHERE i.inhrelid = h.relation) AS step)
SELECT relation, number FROM held
