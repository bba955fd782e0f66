-- The narrow columns with their names. Those that are inherited from nowhere are roots; `top` is the
-- table of the root that a column is inherited from, `level` how many tables are above it. `same`
-- and `filled` are the check constraints of the new column: it equals the old one, and is not null.
-- `new_number` is null until it is there.
:narrow
, named AS (
    SELECT n.relation, n.number, n.nth, n.relation::regclass::text AS tab, c.relkind, c.relispartition,
        a.attname AS old, 'snowflake_new_' || CASE WHEN octet_length(a.attname) < 49 THEN a.attname
            ELSE md5(a.attname) END AS new, a.attinhcount = 0 AS root, a.attnotnull, up.*
    FROM narrow n JOIN pg_class c ON c.oid = n.relation
    JOIN pg_attribute a ON a.attrelid = n.relation AND a.attnum = n.number,
    LATERAL (
        WITH RECURSIVE up(relation) AS (
            SELECT n.relation
            UNION
            SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.relation)
        SELECT min(relation) FILTER (WHERE parents = 0) AS top, count(parents) AS level
        FROM (
            SELECT relation, (
                SELECT t.attinhcount FROM pg_attribute t WHERE t.attrelid = up.relation AND t.attname = a.attname)
            FROM up) AS u(relation, parents)) AS up),
wide AS (
    SELECT *, 'snowflake_same_' || substr(new, 15) AS same, 'snowflake_full_' || substr(new, 15) AS filled,
        (SELECT attnum FROM pg_attribute WHERE attrelid = relation AND attname = new) AS new_number
    FROM named),
on_new AS (
    SELECT d.classid, d.objid, w.relation FROM wide w JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass
        AND d.refobjid = w.relation AND d.refobjsubid = w.new_number)
