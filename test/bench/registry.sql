-- A registry with as many live leases as the psql variable `leases` says, and a procedure that
-- times calls in it. The nodes' clock is the server's.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
CREATE EXTENSION snowflake;

CREATE FUNCTION now_tick() RETURNS bigint LANGUAGE sql VOLATILE
    AS $$SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000$$;

-- With the longest lease duration, so that no lease expires
CREATE TABLE leases AS
    SELECT n, uuid_send(gen_random_uuid()) AS secret, NULL::bigint AS lease_id FROM generate_series(1, :leases) n;
UPDATE leases SET lease_id =
    (SELECT acquired.lease_id
     FROM snowflake_lease_acquire('node ' || n, 0, now_tick(), '1 day', sha256(secret), 0, NULL) acquired,
          LATERAL snowflake_lease_extend(acquired.lease_id, sha256(secret), now_tick(), '1 day', 0, 0, 0) moved);
ALTER TABLE leases ADD PRIMARY KEY (n);
VACUUM ANALYZE;

CREATE TABLE measured (call text, ms double precision);

-- Each call runs in its own transaction, as a node's call does, and its time includes the commit.
-- The time does not include the release of acquired leases, which keeps the number of live leases
-- constant. The first calls of a session are not counted.
CREATE PROCEDURE time_calls(calls integer) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    acquiring double precision := 0;
    extending double precision := 0;
    own bytea;
    acquired record;
    one record;
    moved bigint;
BEGIN
    FOR i IN -2 .. calls LOOP
        IF i = 1 THEN acquiring := 0; extending := 0; END IF;
        own := uuid_send(gen_random_uuid());
        started := clock_timestamp();
        SELECT * INTO acquired
            FROM snowflake_lease_acquire('another', 0, now_tick(), '1 min', sha256(own), 0, NULL);
        COMMIT;
        acquiring := acquiring + extract(epoch FROM clock_timestamp() - started);
        PERFORM snowflake_lease_release(acquired.lease_id, own, acquired.window_start, 0);
        SELECT * INTO one FROM leases ORDER BY random() LIMIT 1;
        COMMIT;
        started := clock_timestamp();
        SELECT window_end INTO moved
            FROM snowflake_lease_extend(one.lease_id, sha256(one.secret), now_tick(), '1 day', 0, 0, 0);
        COMMIT;
        extending := extending + extract(epoch FROM clock_timestamp() - started);
        IF acquired.lease_id IS NULL OR moved IS NULL THEN RAISE 'a lease is gone'; END IF;
    END LOOP;
    INSERT INTO measured VALUES ('acquire', acquiring * 1000 / calls), ('extend', extending * 1000 / calls);
END $$;
