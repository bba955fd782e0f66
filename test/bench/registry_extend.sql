-- For pgbench: what a keeper sends to extend the window of its lease
\set n random(1, 1000)
SELECT (SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'snowflake');
SELECT moved.* FROM leases, LATERAL snowflake_lease_extend(lease_id, sha256(secret), now_tick(), '1 hour', 0, 0, 0) moved WHERE n = :n;
