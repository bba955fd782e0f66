-- $1 and $2: the converted columns.
-- Parameters: oid[], smallint[]
:owned
SELECT format('ALTER SEQUENCE %s AS bigint;', name)
FROM owned JOIN pg_sequence s ON s.seqrelid = sequence AND s.seqtypid <> 'bigint'::regtype
WHERE deptype = 'a'
ORDER BY relation, sequence
