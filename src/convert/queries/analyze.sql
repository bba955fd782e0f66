-- Parameters: oid[], smallint[]
:wide
SELECT format('ANALYZE %s;', tab) FROM wide WHERE root GROUP BY tab ORDER BY min(nth)
