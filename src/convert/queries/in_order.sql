-- $1: what is to be locked, in the order in which an application mostly uses it: a view before what it
-- shows, tables that are referred to or inherited from before those that refer or inherit, and
-- sequences last. In a circle, by OID.
-- Parameters: oid[]
WITH RECURSIVE above(relation, over) AS (
    SELECT r, r FROM unnest($1) AS r
    UNION
    SELECT a.relation, o.over FROM above a, LATERAL (
        SELECT confrelid FROM pg_constraint WHERE contype = 'f' AND conrelid = a.over
        UNION ALL
        SELECT inhparent FROM pg_inherits WHERE inhrelid = a.over) AS o(over)
    JOIN unnest($1) AS r ON r = o.over)
SELECT c.oid::regclass::text AS name, c.oid AS relation
FROM above a JOIN pg_class c ON c.oid = a.relation
GROUP BY c.oid, c.relkind
ORDER BY CASE c.relkind WHEN 'v' THEN -c.oid::bigint WHEN 'S' THEN 2 ELSE 1 END, count(*), c.oid
