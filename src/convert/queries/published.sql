:wide
, published AS (
    SELECT DISTINCT p.pubname, r.prrelid::regclass::text AS tab,
        (SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' FROM pg_attribute a
         WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs)) AS columns,
        ' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')' AS filter
    FROM wide w JOIN pg_publication_rel r ON r.prrelid = w.relation JOIN pg_publication p ON p.oid = r.prpubid
    WHERE w.number = ANY (r.prattrs)
        OR r.oid IN (SELECT objid FROM on_narrow WHERE classid = 'pg_publication_rel'::regclass))
