-- $3 and $4 as in gone.sql.
-- Parameters: oid[], smallint[], oid[], oid[]
:wide
:keys
:gone
SELECT format('DROP INDEX CONCURRENTLY %I.%I;', nspname, relname) FROM gone_indexes ORDER BY 1
