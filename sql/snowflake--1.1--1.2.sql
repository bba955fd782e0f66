\echo Use "ALTER EXTENSION snowflake UPDATE TO '1.2'" to load this file. \quit

-- The registry.

ALTER TABLE snowflake_registry ADD COLUMN role oid;
COMMENT ON COLUMN snowflake_registry.role IS 'role that drew the lease, and alone can move or release it; null for one of before version 1.2, until it is moved';

ALTER TABLE snowflake_origin
    ADD COLUMN settling_us bigint,
    ADD COLUMN settling_soft boolean NOT NULL DEFAULT false,
    ADD COLUMN settling_start bigint,
    ADD COLUMN started_at timestamptz,
    ADD COLUMN clean_at timestamptz,
    ADD COLUMN raised_tick bigint NOT NULL DEFAULT -1;
COMMENT ON COLUMN snowflake_origin.settling_us IS 'how long it settles in all: settles_until less this is when it began';
COMMENT ON COLUMN snowflake_origin.settling_soft IS 'whether commits may have been lost but nothing says so: then the other worker ids are only handed out last';
COMMENT ON COLUMN snowflake_origin.settling_start IS 'the offset on the ring, beyond the cuts, from which on leases are drawn; null where that is the cut';
COMMENT ON COLUMN snowflake_origin.started_at IS 'start of the server at the last acquire';
COMMENT ON COLUMN snowflake_origin.clean_at IS 'clean shutdown of the registry''s server, null as soon as a lease is drawn or moved: whoever finds it has all that was committed';
COMMENT ON COLUMN snowflake_origin.raised_tick IS 'highest tick that snowflake_raise() has ruled out for every node of this registry';

-- Guards: whatever reaches the tables by another way than the protocol must not lead to equal ids.

CREATE FUNCTION snowflake_guard() RETURNS trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard() IS
    'keeps what makes ids unique in the registry''s tables: a deleted lease leaves its watermark, what would fall or vanish is refused with 55000, what replication writes is discarded';
REVOKE ALL ON FUNCTION snowflake_guard() FROM PUBLIC;

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_registry
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_registry
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard_truncate BEFORE TRUNCATE ON snowflake_registry
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_watermark
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_watermark
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard_truncate BEFORE TRUNCATE ON snowflake_watermark
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_origin
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard_truncate BEFORE TRUNCATE ON snowflake_origin
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard;
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard_after;
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard_truncate;
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard;
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_after;
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_truncate;
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard_truncate;
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_registry IS 'a deleted lease leaves its watermark, and leases come from the protocol alone';
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_registry IS 'a lease stays what it is, and its window''s end does not fall';
COMMENT ON TRIGGER snowflake_guard_truncate ON snowflake_registry IS 'leases do not vanish';
COMMENT ON TRIGGER snowflake_guard ON snowflake_watermark IS 'watermarks do not vanish';
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_watermark IS 'watermarks do not fall';
COMMENT ON TRIGGER snowflake_guard_truncate ON snowflake_watermark IS 'watermarks do not vanish';
COMMENT ON TRIGGER snowflake_guard ON snowflake_origin IS 'only the protocol writes it';
COMMENT ON TRIGGER snowflake_guard_truncate ON snowflake_origin IS 'only the protocol writes it';
COMMENT ON TRIGGER snowflake_guard ON snowflake_layout IS 'replication brings a layout only where there is none';

CREATE FUNCTION snowflake_guard_drop() RETURNS event_trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard_drop() IS
    'loads the library, which refuses with 55000 to drop the registry while other nodes hold leases';
REVOKE ALL ON FUNCTION snowflake_guard_drop() FROM PUBLIC;

-- The name is sorted before others': pg_upgrade makes event triggers in the order of their names, and those that are there fire
-- when this one is added to the extension.
CREATE EVENT TRIGGER _snowflake_guard_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED')
    EXECUTE FUNCTION snowflake_guard_drop();
ALTER EVENT TRIGGER _snowflake_guard_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER _snowflake_guard_drop IS 'the registry is not dropped while other nodes hold leases, in sessions that have not loaded the library, too';

-- The registry protocol as nodes of this version speak it. Nodes of before call snowflake_acquire(), snowflake_extend() and
-- snowflake_release(), which an operator may revoke when there are none left. Errors common to all: as for those.

CREATE FUNCTION snowflake_lease_acquire(
    node text, datacenter integer, now_tick bigint, duration interval, token uuid, seen_lease_id bigint, start_before bigint,
    OUT lease_id bigint, OUT worker_id integer, OUT window_start bigint, OUT window_end bigint,
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean,
    OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT workers_free bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_acquire(text, integer, bigint, interval, uuid, bigint, bigint) IS
    'draws a worker id for a node whose clock shows now_tick, or returns the lease that this role drew with this token; seen_lease_id is the highest that the node has seen, 0 for none; with start_before null unless the window can begin before that tick; otherwise as snowflake_acquire(). Not in a transaction block';

CREATE FUNCTION snowflake_lease_extend(
    lease_id bigint, token uuid, now_tick bigint, duration interval, held_until bigint,
    OUT window_end bigint, OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_extend(bigint, uuid, bigint, interval, bigint) IS
    'moves the end of a lease''s window to now_tick plus the duration, never back; held_until is the end that the node has. window_end is null when the lease is gone, or another role''s. Not in a transaction block';

CREATE FUNCTION snowflake_lease_release(lease_id bigint, token uuid, last_tick bigint, held_until bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_release(bigint, uuid, bigint, bigint) IS
    'gives a lease back and keeps as its worker id''s watermark last_tick, or this server''s clock, max_clock_skew and max_lead if that is later; held_until is the window''s end that the node has; false when the lease was gone already, or another role''s. Not in a transaction block';

REVOKE ALL ON FUNCTION snowflake_lease_acquire(text, integer, bigint, interval, uuid, bigint, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_lease_extend(bigint, uuid, bigint, interval, bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_lease_release(bigint, uuid, bigint, bigint) FROM PUBLIC;

-- The operator's word.

CREATE FUNCTION snowflake_evict(worker_id integer, dead_since timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_evict(integer, timestamptz) IS
    'frees a worker id above a time since which its node is certainly dead, and stays so until its window ends (a server that is started again without a reboot goes on under its lease), plus max_clock_skew, or above its window where that is 0; false when nobody has it; 22004 and 22023 for a time that is null, infinite, still to come or before renewed_at';

CREATE FUNCTION snowflake_settle(reason text) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settle(text) IS
    'commits of this registry may have been lost, as after a restore: it settles for one lease duration; the reason is for the log';

CREATE FUNCTION snowflake_settled() RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settled() IS
    'no commit of this registry was lost: it settles no longer, nor because of where its server is now; false when there was nothing to end';

REVOKE ALL ON FUNCTION snowflake_evict(integer, timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_settle(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_settled() FROM PUBLIC;

CREATE FUNCTION snowflake_raise(id bigint) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_raise(bigint) IS
    'from now on every id of this node is larger, and where its registry is in this database those of all its nodes, as soon as each has extended its lease, within a third of its window; returns when the clock has passed the id''s timestamp; 22023 when that is more than max_clock_skew ahead, 22003 for an id that the layout cannot hold or a negative one';

REVOKE ALL ON FUNCTION snowflake_raise(bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_renew() RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_renew() IS
    'the lease that this node has is never used again here, nor given back: for a machine that was copied with its memory, before anybody asks the copy for an id; the next id is of a new lease';

REVOKE ALL ON FUNCTION snowflake_renew() FROM PUBLIC;

-- Ids from elsewhere.

CREATE FUNCTION snowflake_check(
    relation regclass, column_name name,
    OUT problem text, OUT worker integer, OUT ids bigint, OUT first_id bigint, OUT last_id bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check(regclass, name) IS
    'ids of a bigint column that are not of this database''s layout, of the future by more than max_clock_skew, or of a time for which this registry never leased their worker id; none when all is well. Where the registry is in another database nothing is compared with its leases, and all ids are listed as such, for each worker id. 42501 for who may not read the column, 42703, 42804, 42809 or 42P01 for what is no such column';

REVOKE ALL ON FUNCTION snowflake_check(regclass, name) FROM PUBLIC;

-- Before the first lease, so that a standby which is promoted without having heard of it knows of the failover, too. The table's
-- owner may be anybody, whose triggers must not run with the rights of whoever updates the extension.
CREATE FUNCTION snowflake_make_origin() RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C;
SELECT snowflake_make_origin();
DROP FUNCTION snowflake_make_origin();

-- Watching.

CREATE FUNCTION snowflake_get_advice() RETURNS text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_advice() IS 'what the column advice of the view snowflake_status shows';

CREATE FUNCTION snowflake_get_clock(OUT clock_lead interval, OUT clock_bridged bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_clock() IS 'what the columns clock_lead and clock_bridged of the view snowflake_status show';

CREATE OR REPLACE VIEW snowflake_status AS
    SELECT s.*, snowflake_get_advice() AS advice, c.clock_lead, c.clock_bridged FROM snowflake_get_status() s, snowflake_get_clock() c;
COMMENT ON COLUMN snowflake_status.state IS
    'what a call would get now: issuing; clock behind, by more than max_lead, the last id or the lease; window ended, because the registry has not moved it; time used up, of the layout; held back, by a registry that settles; no lease; idle, when nobody has asked for an id yet; not preloaded';
COMMENT ON COLUMN snowflake_status.lease_id IS 'lease that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.window_start IS 'ids of the lease have no earlier timestamp';
COMMENT ON COLUMN snowflake_status.ids_flow_for IS 'time left until window_end; 0 while calls fail, null without a lease';
COMMENT ON COLUMN snowflake_status.lead IS 'by how much the last tick, or the lease''s first, leads the clock; 0 when it does not';
COMMENT ON COLUMN snowflake_status.clock_lead IS
    'by how much the node''s clock, which ids read, leads the server''s, because that stepped back; below 0 while it leapt forward and is not believed';
COMMENT ON COLUMN snowflake_status.clock_bridged IS 'how many steps back of the server''s clock nobody noticed';
COMMENT ON COLUMN snowflake_status.last_error IS
    'what the registry answered to the keeper''s last try, null when that succeeded; only members of pg_read_all_settings read what may name its address or a role there';
COMMENT ON COLUMN snowflake_status.last_error_code IS 'SQLSTATE of last_error';
COMMENT ON COLUMN snowflake_status.last_error_at IS 'when the keeper met last_error';
COMMENT ON COLUMN snowflake_status.advice IS
    'what should be looked after although ids flow, one line each, as of when the lease was drawn; null when all is well';

-- There is no interval / integer in pg_catalog, and whoever could create one in this schema had it called by all who looked.
CREATE OR REPLACE VIEW snowflake_workers AS
    SELECT r.worker_id AS worker, r.node, r.lease_id, r.acquired_at, r.renewed_at,
           clock_timestamp() - r.acquired_at AS age,
           clock_timestamp() - r.renewed_at AS since_renewal,
           snowflake_tick_timestamp(r.window_start) AS window_start,
           snowflake_tick_timestamp(r.window_end) AS window_end,
           clock_timestamp() > r.renewed_at
               + ((snowflake_tick_timestamp(r.window_end) - r.renewed_at) OPERATOR(pg_catalog./) 2::double precision) AS late,
           snowflake_tick_timestamp(r.window_end) <= clock_timestamp() AS expired,
           pg_get_userbyid(r.role) AS role
    FROM snowflake_registry r;
COMMENT ON COLUMN snowflake_workers.worker IS 'worker id that the node holds, datacenter bits included';
COMMENT ON COLUMN snowflake_workers.node IS 'name of the node, for people';
COMMENT ON COLUMN snowflake_workers.lease_id IS 'number of the lease';
COMMENT ON COLUMN snowflake_workers.acquired_at IS 'when the lease was drawn, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_workers.renewed_at IS 'when its window was last moved, by the same clock';
COMMENT ON COLUMN snowflake_workers.age IS 'time since acquired_at';
COMMENT ON COLUMN snowflake_workers.since_renewal IS 'time since renewed_at; negative when the clock was ahead then';
COMMENT ON COLUMN snowflake_workers.window_start IS 'ids of the lease have no earlier timestamp';
COMMENT ON COLUMN snowflake_workers.window_end IS 'nor this one or a later one, unless it is moved';
COMMENT ON COLUMN snowflake_workers.expired IS 'whether the window is over: the next acquire that finds no other worker id may take it';
COMMENT ON COLUMN snowflake_workers.role IS 'role that drew the lease, and alone can move or release it; null for one of before version 1.2, until it is moved';
