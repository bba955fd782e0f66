-- Parameters: oid[], smallint[]
:wide
:keys
:indexes
:gone
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, conname) FROM gone_constraints ORDER BY 1
