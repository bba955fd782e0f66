-- Parameters: oid[], smallint[], text
:wide
:unknown
SELECT format('CALL %s(%L);', $3, tab) FROM unknown GROUP BY tab ORDER BY min(nth)
