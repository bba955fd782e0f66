-- $3 as in gone.sql.
-- Parameters: oid[], smallint[], oid[]
:gone
SELECT format('DROP INDEX CONCURRENTLY %I.%I;', nspname, relname) FROM gone_indexes ORDER BY 1
