-- $1 and $2: the narrow columns. From 18 on each NOT NULL is a constraint with a name. If a type
-- changes, ALTER TABLE drops them all, adds those at the top again and with them what is inherited,
-- and then fails to add what a table below has of its own under another name. So: the constraints
-- that nothing may inherit meanwhile, the topmost first. Partitions cannot be kept from inheriting:
-- then also the partition's column.
-- Parameters: oid[], smallint[]
WITH RECURSIVE held AS (
    SELECT h.*, a.attname, f.conname, f.conislocal AS own FROM unnest($1, $2) AS h(relation, number)
    JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
    JOIN pg_constraint f ON f.contype = 'n' AND f.conrelid = h.relation AND f.conkey = ARRAY[h.number]
        AND NOT f.connoinherit),
above(relation, parent) AS (
    SELECT i.inhrelid, i.inhparent FROM held h JOIN pg_inherits i ON i.inhrelid = h.relation
    UNION
    SELECT a.relation, i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.parent),
pairs AS (
    SELECT high.relation, high.conname, pg_describe_object('pg_class'::regclass, low.relation, low.number) AS low,
        bool_or(low.own AND low.conname <> high.conname) OVER (PARTITION BY low.relation, low.number) AS clash
    FROM above a JOIN held low ON low.relation = a.relation
    JOIN held high ON high.relation = a.parent AND high.attname = low.attname)
SELECT format('ALTER TABLE %I.%I ALTER CONSTRAINT %I', n.nspname, c.relname, p.conname) AS constraint,
    min(p.low) FILTER (WHERE c.relkind = 'p') AS of_partition
FROM pairs p
JOIN pg_class c ON c.oid = p.relation JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE p.clash GROUP BY p.relation, 1
ORDER BY (SELECT count(*) FROM above a WHERE a.relation = p.relation), p.relation, 1
