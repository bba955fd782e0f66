-- $1: the table, $2 and $3: the converted columns, $4 and $5: the narrow ones, $6: the table's
-- owner. ALTER TABLE drops a foreign key of a column that changes its type and adds it again, which
-- locks and reads both of its tables. Reading is enough to run code, as in an expression of an
-- index. But an owner who has the other owner's rights gains none.
-- Parameters: oid, oid[], smallint[], oid[], smallint[], oid
SELECT c.oid, CASE WHEN c.relowner <> $6 AND (c.oid = ANY ($2 || $4) OR NOT pg_has_role(c.relowner, $6, 'USAGE'))
    THEN format('%s belongs to %s, and the converted table to %s', pg_describe_object('pg_class'::regclass, c.oid, 0),
        pg_get_userbyid(c.relowner), pg_get_userbyid($6)) END AS of_other, l.serial
FROM (
    SELECT $1, false
    UNION
    SELECT unnest($2 || $4), false
    UNION
    SELECT unnest(ARRAY[f.conrelid, f.confrelid]), false FROM unnest($4, $5) AS h(relation, number)
    JOIN pg_constraint f ON f.contype = 'f' AND (f.conrelid = h.relation AND h.number = ANY (f.conkey)
        OR f.confrelid = h.relation AND h.number = ANY (f.confkey))
    UNION
    SELECT s.oid, d.deptype = 'a' FROM unnest($2, $3) AS h(relation, number)
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation
        AND d.refobjsubid = h.number
        AND d.classid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S') AS l(lock, serial)
JOIN pg_class c ON c.oid = l.lock
