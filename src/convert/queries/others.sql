-- How far replicas are behind in bytes, whether the caller may not see that of some, and whether
-- somebody waits for the table $1 or for this transaction.
-- Parameters: oid
SELECT coalesce(max(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), replay_lsn))
                    FILTER (WHERE state = 'streaming'), 0)::int8 AS lag,
    coalesce(bool_or(state IS NULL), false) AS hidden,
    EXISTS (SELECT FROM pg_locks
            WHERE NOT granted
                AND (relation = $1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                     OR transactionid = pg_current_xact_id_if_assigned()::xid)) AS locks
FROM pg_stat_replication
