-- Those of tables with rows, but $3: those that are there. Unique ones come last: ON CONFLICT, which
-- means the old one, fails on them. Of these, the ones for foreign keys come first: see
-- made_indexes.sql. `keys` has \x01 for each expression. The tablespace is always
-- named, because the session that builds the index may have another one as its default.
-- Parameters: oid[], smallint[], oid[]
:wide
:indexes
SELECT i.indrelid AS relation, i.tab AS table_sql, CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END AS unique,
    quote_ident(i.new) AS new_sql, format('%I.%I', i.nspname, i.new) AS qualified_sql, m.amname AS method, k.keys,
    coalesce(' INCLUDE (' || k.include || ')', '') || CASE WHEN i.indnullsnotdistinct THEN ' NULLS NOT DISTINCT'
        ELSE '' END
        || coalesce(' WITH (' || array_to_string(i.reloptions, ', ') || ')', '')
        || ' TABLESPACE ' || quote_ident(s.spcname) AS rest,
    i.indexprs::text AS expressions, i.indpred::text AS predicate, i.mark
FROM indexes i JOIN pg_am m ON m.oid = i.relam JOIN pg_database b ON b.datname = current_database()
JOIN pg_tablespace s ON s.oid = CASE i.reltablespace WHEN 0 THEN b.dattablespace ELSE i.reltablespace END,
LATERAL (
    SELECT string_agg(
            CASE WHEN u.key = 0 THEN E'(\x01)' ELSE quote_ident(coalesce(w.new, a.attname)) END
            || coalesce(' COLLATE ' || quote_ident(cn.nspname) || '.' || quote_ident(co.collname), '')
            || CASE WHEN oc.opcdefault AND (u.key = 0 OR w.new IS NOT NULL) THEN ''
               ELSE format(' %I.%I', onsp.nspname, CASE WHEN w.new IS NULL THEN oc.opcname
                   ELSE regexp_replace(oc.opcname, 'int[24]', 'int8') END) END
            || coalesce((SELECT ' (' || string_agg(format('%s = %L', split_part(o, '=', 1),
                            substr(o, strpos(o, '=') + 1)), ', ') || ')' FROM unnest(ia.attoptions) AS o), '')
            || CASE WHEN NOT pg_indexam_has_property(i.relam, 'can_order') THEN ''
               ELSE (ARRAY['', ' DESC NULLS LAST', ' NULLS FIRST', ' DESC'])[p.option + 1] END,
            ', ' ORDER BY u.nth) FILTER (WHERE u.nth <= i.indnkeyatts) AS keys,
        string_agg(quote_ident(coalesce(w.new, a.attname)), ', ' ORDER BY u.nth)
            FILTER (WHERE u.nth > i.indnkeyatts) AS include
    FROM unnest(i.indkey) WITH ORDINALITY AS u(key, nth)
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.key AND u.key <> 0
    LEFT JOIN wide w ON w.relation = i.indrelid AND w.number = u.key
    LEFT JOIN pg_attribute ia ON ia.attrelid = i.indexrelid AND ia.attnum = u.nth
    LEFT JOIN LATERAL (SELECT i.indclass[u.nth - 1] AS class, i.indcollation[u.nth - 1] AS collation,
        i.indoption[u.nth - 1] AS option) AS p ON u.nth <= i.indnkeyatts
    LEFT JOIN pg_opclass oc ON oc.oid = p.class LEFT JOIN pg_namespace onsp ON onsp.oid = oc.opcnamespace
    LEFT JOIN pg_collation co ON co.oid = p.collation LEFT JOIN pg_namespace cn ON cn.oid = co.collnamespace) AS k
WHERE i.kind = 'i' AND NOT EXISTS (
    SELECT FROM pg_index n JOIN pg_class c ON c.oid = n.indexrelid
    WHERE n.indexrelid = ANY ($3) AND n.indrelid = i.indrelid AND c.relname = i.new)
ORDER BY i.indisunique, NOT i.referred, i.tab, i.name
