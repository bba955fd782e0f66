-- All foreign keys with a narrow column at either end; `own`: it is no copy for a partition. `head`
-- is what `definition` begins with, up to the columns that it refers to. `new_definition` is the
-- same for the new columns, without NOT VALID.
, keys AS (
    SELECT f.*, f.conparentid = 0 AS own, r.relkind AS kind, t.relkind AS referred_kind,
        f.conrelid::regclass::text AS tab, f.confrelid::regclass::text AS referred,
        'snowflake_new_' || CASE WHEN octet_length(f.conname) < 49 THEN f.conname ELSE md5(f.conname) END AS new,
        d.definition, b.head, format('FOREIGN KEY (%s) REFERENCES %s(%s)%s', c.news, f.confrelid::regclass,
            c.referred_news,
            CASE WHEN f.confdelsetcols IS NULL THEN h.rest
            ELSE regexp_replace(h.rest, '(SET (NULL|DEFAULT)) \(("([^"]|"")*"|[^")])*\)', '\1 (' || (
                SELECT string_agg(quote_ident(coalesce(w.new, a.attname)), ', ' ORDER BY s.nth)
                FROM unnest(f.confdelsetcols) WITH ORDINALITY AS s(number, nth)
                JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = s.number
                LEFT JOIN wide w ON w.relation = f.conrelid AND w.number = s.number) || ')') END) AS new_definition
    FROM pg_constraint f JOIN pg_class r ON r.oid = f.conrelid JOIN pg_class t ON t.oid = f.confrelid,
    LATERAL (
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.nth) AS olds,
            string_agg(quote_ident(coalesce(w.new, a.attname)), ', ' ORDER BY k.nth) AS news,
            string_agg(quote_ident(b.attname), ', ' ORDER BY k.nth) AS referred_olds,
            string_agg(quote_ident(coalesce(x.new, b.attname)), ', ' ORDER BY k.nth) AS referred_news
        FROM unnest(f.conkey, f.confkey) WITH ORDINALITY AS k(referring, referred, nth)
        JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.referring
        JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.referred
        LEFT JOIN wide w ON w.relation = f.conrelid AND w.number = k.referring
        LEFT JOIN wide x ON x.relation = f.confrelid AND x.number = k.referred) AS c,
    LATERAL format('FOREIGN KEY (%s) REFERENCES %s(%s)', c.olds, f.confrelid::regclass, c.referred_olds) AS b(head),
    LATERAL (SELECT pg_get_constraintdef(f.oid) AS definition OFFSET 0) AS d,
    LATERAL regexp_replace(substr(d.definition, length(b.head) + 1), ' NOT VALID$', '') AS h(rest)
    WHERE f.contype = 'f' AND f.oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_constraint'::regclass)
        -- See user_checks.sql.
        AND NOT (f.conname LIKE 'snowflake\_new\_%' AND EXISTS (
            SELECT FROM wide w WHERE w.relation = f.conrelid AND w.new_number = ANY (f.conkey))))
