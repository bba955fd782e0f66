-- What may keep new ids out of the tables with the columns: a row for each check on the column or of
-- its domains, and one for each table with rows. `top`: the column of the table above all; `by`: the topmost
-- partitioned table that has the column in its key, or the top one, for which a partition would help.
-- `bounded`: the table is a partition whose bound consists of columns and PostgreSQL's own operators.
-- `plain`: the same for the check. Nothing depends on what belongs to PostgreSQL itself.
-- Parameters: oid[], smallint[]
WITH RECURSIVE tree AS (
    SELECT u.nth, u.relation AS top, u.number AS top_number, a.attname, ARRAY[u.relation] AS path
    FROM unnest($1, $2) WITH ORDINALITY AS u(relation, number, nth)
    JOIN pg_attribute a ON a.attrelid = u.relation AND a.attnum = u.number AND a.attinhcount = 0
    UNION ALL
    SELECT t.nth, t.top, t.top_number, t.attname, i.inhrelid || t.path
    FROM tree t JOIN pg_inherits i ON i.inhparent = t.path[1])
SELECT c.oid AS relation, a.attnum AS number, a.atttypid AS type,
    t.top AS top_relation, pg_describe_object('pg_class'::regclass, t.top, t.top_number) AS top,
    pg_describe_object('pg_class'::regclass, c.oid, 0) AS described, coalesce(k.relation, t.top)::oid AS by,
    coalesce(k.relation, t.top)::regclass AS by_sql, k.strategy,
    c.relispartition AND a.atttypid = 'bigint'::regtype AND NOT EXISTS (
        SELECT FROM pg_partitioned_table p WHERE p.partrelid = ANY (t.path)
            AND (p.partexprs IS NOT NULL OR EXISTS (SELECT FROM unnest(p.partclass) AS o(class) WHERE class >= 16384)))
        AS bounded, c.relispartition AS is_partition, f.conbin::text AS expression,
    quote_ident(f.conname) || ' of ' || CASE f.contypid WHEN 0 THEN pg_describe_object('pg_class'::regclass, c.oid, 0)
        ELSE 'domain ' || f.contypid::regtype END AS name,
    CASE f.contypid WHEN 0 THEN 'ALTER TABLE ' || (
        WITH RECURSIVE up(relation) AS (
            SELECT c.oid
            UNION
            SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.relation)
        SELECT p.conrelid::regclass FROM up JOIN pg_constraint p ON p.conrelid = up.relation
        WHERE p.conname = f.conname AND p.contype = 'c' AND p.coninhcount = 0
        LIMIT 1)
    ELSE 'ALTER DOMAIN ' || f.contypid::regtype END || ' DROP CONSTRAINT ' || quote_ident(f.conname) AS drop,
    regexp_replace(pg_get_constraintdef(f.oid), '^(.{200}).+$', '\1...') AS definition, NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_constraint'::regclass AND d.objid = f.oid
            AND d.refclassid <> 'pg_class'::regclass AND d.refobjid <> f.contypid) AS plain
FROM tree t JOIN pg_class c ON c.oid = t.path[1] AND c.relkind = 'r'
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = t.attname
LEFT JOIN LATERAL (
    SELECT p.partrelid AS relation,
        CASE WHEN p.partnatts = 1 THEN p.partstrat ELSE 'm' END AS strategy
    FROM unnest(t.path) WITH ORDINALITY AS u(relation, nth) JOIN pg_partitioned_table p ON p.partrelid = u.relation
    JOIN pg_attribute x ON x.attrelid = p.partrelid AND x.attname = t.attname AND x.attnum = ANY (p.partattrs)
    ORDER BY u.nth DESC LIMIT 1) AS k ON true
LEFT JOIN LATERAL (
    SELECT * FROM pg_constraint WHERE conrelid = c.oid AND a.attnum = ANY (conkey)
    UNION ALL (
        WITH RECURSIVE domains(type) AS (
            SELECT a.atttypid
            UNION ALL
            SELECT y.typbasetype FROM domains d JOIN pg_type y ON y.oid = d.type WHERE y.typbasetype <> 0)
        SELECT p.* FROM domains d JOIN pg_constraint p ON p.contypid = d.type)
    ) AS f ON f.contype = 'c' AND NOT to_jsonb(f) @> '{"conenforced": false}'
ORDER BY t.nth, by, relation, name
