-- Parameters: oid[], smallint[]
:unknown
SELECT format('ALTER TABLE %s %s', tab, string_agg(format('VALIDATE CONSTRAINT %I', name), ', ' ORDER BY nth,
    name DESC))
FROM unknown GROUP BY tab ORDER BY min(nth)
