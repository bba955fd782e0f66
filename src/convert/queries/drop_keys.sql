-- Parameters: oid[], smallint[]
:wide
:keys
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, conname) FROM keys WHERE own ORDER BY tab, conname
