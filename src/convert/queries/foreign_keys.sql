-- A foreign key of a partitioned table is made of those of its partitions, in the switch.
-- Parameters: oid[], smallint[]
:wide
:keys
:indexes
:gone
SELECT k.tab, quote_ident(k.new), format('FOREIGN KEY (%s) REFERENCES %s(%s)%s', k.news, k.referred,
    k.referred_news,
        CASE WHEN k.confdelsetcols IS NULL THEN r.rest ELSE regexp_replace(r.rest,
            '(SET (NULL|DEFAULT)) \([^)]*\)',
            '\1 (' || (SELECT string_agg(quote_ident(coalesce(w.new, a.attname)), ', ')
                       FROM unnest(k.confdelsetcols) AS s(number)
                       JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = s.number
                       LEFT JOIN wide w ON w.relation = k.conrelid AND w.number = s.number) || ')') END),
    n.oid IS NULL, k.convalidated AND NOT coalesce(n.convalidated, false), NULL, NULL
FROM keys k LEFT JOIN pg_constraint n ON n.conrelid = k.conrelid AND n.conname = k.new
    AND n.oid NOT IN (SELECT oid FROM gone_constraints),
LATERAL (SELECT regexp_replace(substr(k.definition, length(k.head) + 1), ' NOT VALID$', '') AS rest) AS r
WHERE k.kind = 'r' AND (n.oid IS NULL OR k.convalidated AND NOT n.convalidated)
ORDER BY 1, 2
