-- $1: the table, $2: the column. An inherited column has the same name at both ends.
-- Parameters: oid, name
WITH RECURSIVE held(relation, number, own) AS (
    SELECT attrelid, attnum, true FROM pg_attribute
    WHERE attrelid = $1 AND attname = $2 AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT s.relation, s.number, h.own AND s.passes
    FROM held h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number,
    LATERAL (
        -- By the dependency on the column that is referred to: pg_constraint has no index on confrelid.
        SELECT f.conrelid, k.referring, false
        FROM pg_depend d JOIN pg_constraint f ON f.oid = d.objid AND f.contype = 'f' AND f.confrelid = h.relation,
        unnest(f.conkey, f.confkey) AS k(referring, referred)
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
            AND d.classid = 'pg_constraint'::regclass AND k.referred = h.number
        UNION ALL
        SELECT t.attrelid, t.attnum, i.passes
        FROM (
            SELECT inhrelid, true FROM pg_inherits WHERE inhparent = h.relation
            UNION ALL
            SELECT inhparent, false FROM pg_inherits WHERE inhrelid = h.relation) AS i(relation, passes)
        JOIN pg_attribute t ON t.attrelid = i.relation AND t.attname = a.attname AND t.attnum > 0) AS s(relation, number, passes))
SELECT h.relation, h.number, format('%I.%I', n.nspname, c.relname) AS table_sql, quote_ident(a.attname) AS name_sql,
    pg_describe_object('pg_class'::regclass, h.relation, h.number) AS described, up.roots, up.root_count,
    a.atttypid AS type, format_type(a.atttypid, a.atttypmod) AS type_name, h.own, up.root,
    a.attgenerated <> '' AS generated, c.reloftype <> 0 AS typed_table, d.adbin::text AS value,
    quote_ident('snowflake_new_' || CASE WHEN octet_length(a.attname) < 49 THEN a.attname
        ELSE md5(a.attname) END) AS new_sql
FROM (SELECT relation, number, bool_or(own) AS own FROM held GROUP BY 1, 2) AS h
JOIN pg_class c ON c.oid = h.relation JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
LEFT JOIN pg_attrdef d ON d.adrelid = h.relation AND d.adnum = h.number,
LATERAL (
    WITH RECURSIVE up(relation) AS (
        SELECT h.relation
        UNION
        SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.relation
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnum > 0)
    SELECT string_agg(pg_describe_object('pg_class'::regclass, up.relation, 0), ', ' ORDER BY up.relation),
        count(*), bool_or(up.relation = h.relation)
    FROM up WHERE NOT EXISTS (
        SELECT FROM pg_inherits i
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnum > 0
        WHERE i.inhrelid = up.relation)) AS up(roots, root_count, root)
ORDER BY h.relation <> $1, h.relation, a.attname <> $2, h.number
