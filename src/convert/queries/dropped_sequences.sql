-- $1 and $2: the converted columns, $3: 'i' for sequences of identities, 'a' for those of serial
-- columns. The statement that drops it.
-- Parameters: oid[], smallint[], "char"
:owned
SELECT CASE deptype WHEN 'i' THEN format('ALTER TABLE %s ALTER COLUMN %I DROP IDENTITY;', relation::regclass, attname)
    ELSE format('DROP SEQUENCE %s;', name) END
FROM owned WHERE deptype = $3
ORDER BY relation, sequence
