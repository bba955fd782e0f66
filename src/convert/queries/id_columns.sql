-- $1: the table, $2: the column. An inherited column has the same name at both ends.
-- Parameters: oid, name
WITH RECURSIVE steps(relation, number, to_relation, to_number, passes) AS MATERIALIZED (
    SELECT f.confrelid, k.referred, f.conrelid, k.referring, false
    FROM pg_constraint f, unnest(f.conkey, f.confkey) AS k(referring, referred) WHERE f.contype = 'f'
    UNION ALL
    SELECT inhparent, NULL, inhrelid, NULL, true FROM pg_inherits
    UNION ALL
    SELECT inhrelid, NULL, inhparent, NULL, false FROM pg_inherits),
held(relation, number, own) AS (
    SELECT attrelid, attnum, true FROM pg_attribute
    WHERE attrelid = $1 AND attname = $2 AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT s.to_relation, coalesce(s.to_number, t.attnum), h.own AND s.passes
    FROM held h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
    JOIN steps s ON s.relation = h.relation AND coalesce(s.number, h.number) = h.number
    LEFT JOIN pg_attribute t ON s.number IS NULL AND t.attrelid = s.to_relation AND t.attname = a.attname
    WHERE s.number IS NOT NULL OR t.attnum > 0)
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
