-- For pgbench, with -M extended: what a keeper sends to acquire a lease, and to release it again
SELECT encode(uuid_send(gen_random_uuid()), 'hex') AS secret \gset
SELECT lease_id AS lease, window_start AS began FROM snowflake_lease_acquire('one of many', 0, now_tick(), '1 min', sha256(decode(:secret::text, 'hex')), 0, NULL) \gset
SELECT snowflake_lease_release(:lease::bigint, decode(:secret::text, 'hex'), :began::bigint, 0);
