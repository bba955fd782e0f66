-- With its second argument's default, so that no other procedure of the name fits as well.
-- Parameters: oid[], smallint[], text
:unknown
SELECT format('CALL %s(%L::pg_catalog.regclass, 67108864::pg_catalog.int8);', $3, tab)
FROM unknown GROUP BY tab ORDER BY min(nth)
