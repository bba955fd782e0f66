-- Parameters: oid[], smallint[]
:wide
:keys
:indexes
:gone
SELECT format('DROP INDEX CONCURRENTLY %I.%I;', nspname, relname) FROM gone_indexes ORDER BY 1
