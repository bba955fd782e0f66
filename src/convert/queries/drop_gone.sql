-- $3 and $4 as in gone.sql.
-- Parameters: oid[], smallint[], oid[], oid[]
:wide
:keys
:gone
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', tab, conname) FROM gone_constraints ORDER BY 1
