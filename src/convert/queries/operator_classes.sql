-- The indexes with keys of narrow columns ($1 and $2) whose operator class does not accept bigint. A
-- default one is replaced by that of the new type, and online ($3) a column's by the one whose name has
-- int8 in the place of int4, but in partitioned indexes. Expressions of these types may become bigint,
-- too.
-- Parameters: oid[], smallint[], boolean
:narrow
SELECT DISTINCT pg_describe_object('pg_class'::regclass, i.indexrelid, 0)
        || ' has an operator class that does not accept bigint: ' || c.opcname AS line,
    'Drop the indexes with these operator classes, convert, and create them again.' AS to_do
FROM narrow n JOIN pg_index i ON i.indrelid = n.relation
JOIN pg_class x ON x.oid = i.indexrelid,
unnest(i.indkey, i.indclass) AS u(key, class) JOIN pg_opclass c ON c.oid = u.class
WHERE (u.key = n.number OR u.key = 0
        AND c.opcintype IN ('smallint'::regtype, 'integer'::regtype, 'smallint[]'::regtype, 'integer[]'::regtype)
        AND i.indexrelid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_class'::regclass))
    AND NOT EXISTS (
        SELECT FROM pg_opclass b JOIN pg_type t ON t.oid = b.opcintype
        WHERE b.opcmethod = c.opcmethod AND CASE
            WHEN c.opcdefault AND c.opcintype IN ('smallint'::regtype, 'integer'::regtype) THEN b.opcdefault
            WHEN $3 AND u.key <> 0 AND x.relkind = 'i' THEN b.opcnamespace = c.opcnamespace
                AND b.opcname = regexp_replace(c.opcname, 'int[24]', 'int8')
            ELSE b.oid = c.oid END
            AND (t.oid = 'bigint'::regtype OR t.typtype = 'p' OR EXISTS (
                SELECT FROM pg_cast WHERE castsource = 'bigint'::regtype AND casttarget = t.oid AND castmethod = 'b')))
