-- $3 as in gone.sql.
-- Parameters: oid[], smallint[], oid[]
:gone
SELECT format(E'LOCK TABLE %3$s%1$s;\nALTER TABLE %1$s DROP CONSTRAINT %2$I', tab, conname, referred)
FROM gone_constraints ORDER BY 1
