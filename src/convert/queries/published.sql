, published AS (
    SELECT DISTINCT p.pubname, r.prrelid::regclass::text AS tab,
        (SELECT ' (' || string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' FROM pg_attribute a
         WHERE a.attrelid = r.prrelid AND a.attnum = ANY (r.prattrs)) AS columns,
        ' WHERE (' || pg_get_expr(r.prqual, r.prrelid) || ')' AS filter
    FROM wide w JOIN pg_publication_rel r ON r.prrelid = w.relation JOIN pg_publication p ON p.oid = r.prpubid
    WHERE w.number = ANY (r.prattrs) OR EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_publication_rel'::regclass AND d.objid = r.oid
            AND d.refclassid = 'pg_class'::regclass AND d.refobjid = w.relation AND d.refobjsubid = w.number))
