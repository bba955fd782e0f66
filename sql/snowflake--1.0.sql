\echo Use "CREATE EXTENSION snowflake" to load this file. \quit

-- A node is a database that issues ids. To issue ids, it acquires a lease on a worker id from its
-- registry, which is the tables below in this or another database. The lease has a window of ticks,
-- the layout's units of time. The node has the worker id until the window ends. The keeper, a
-- background worker of the node, extends the lease and releases it at a clean shutdown. The
-- watermark of a worker id is the last tick that an ended lease may have used. If the registry may
-- have lost commits, it settles: until the longest lost lease must be over, it gives no worker id
-- of a lease to another node. If the server's clock steps back, the node bridges the step: its own
-- clock runs on. The horizon of a node is an id below which no new row of that node appears.
-- doc/design.md has the rest.
--
-- The script runs with a superuser's rights, in a schema where other roles may create objects. If
-- their function or operator fits the types of a call better than PostgreSQL's own, PostgreSQL
-- chooses it. So whatever is executed or stored here names PostgreSQL's schema, except types that
-- are key words, and calls the extension's own functions with exactly their types.
--
-- PUBLIC may issue and read ids and see the state of this node (sql/for_public.sql has the
-- reasons). pg_read_all_stats may read the views of the registry, and pg_database_owner what a dump
-- carries. Everything else is revoked from PUBLIC.
--
-- test/reference generates doc/reference.md from what COMMENT ON says. An empty line or "Errors:"
-- begins a paragraph there, "- " an item of a list. Other line breaks are for readers of \df+.

-- The registry: which node has which worker id.

CREATE TABLE snowflake_registry (
    lease_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id    integer NOT NULL UNIQUE,
    node         pg_catalog.text NOT NULL,
    role         pg_catalog.oid NOT NULL,
    secret_hash  pg_catalog.bytea NOT NULL,
    acquired_at  pg_catalog.timestamptz NOT NULL,
    extended_at  pg_catalog.timestamptz NOT NULL,
    window_start bigint NOT NULL,
    window_end   bigint NOT NULL
);
COMMENT ON TABLE snowflake_registry IS
    'One row for each lease, and for each worker id that is set aside. The row of a lease is '
    'inserted when a node starts to issue ids, and deleted when the node shuts down cleanly. The '
    'row of a node that crashed is deleted when another node needs its worker id, or by '
    'snowflake_evict().';
COMMENT ON COLUMN snowflake_registry.lease_id IS
    'Number of the lease. It determines with which worker id the search for a free one begins.';
COMMENT ON COLUMN snowflake_registry.worker_id IS
    'Worker id that the node holds, datacenter bits included';
COMMENT ON COLUMN snowflake_registry.node IS 'Name of the node';
COMMENT ON COLUMN snowflake_registry.role IS
    'Role that acquired the lease. Only this role can extend or release it. 0 if the worker id was '
    'set aside.';
COMMENT ON COLUMN snowflake_registry.secret_hash IS
    'SHA-256 of the lease secret. To extend the lease, the node sends the hash. The node sends the '
    'secret only to release the lease.';
COMMENT ON COLUMN snowflake_registry.acquired_at IS
    'When the lease was acquired, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_registry.extended_at IS
    'When the lease was last extended, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_registry.window_start IS 'First tick that the lease may use';
COMMENT ON COLUMN snowflake_registry.window_end IS 'First tick after the window';

-- The first lease id is random, so a registry that was dropped and created again does not begin
-- with the worker ids of its predecessor. When lease ids skip, they skip multiples of 2^22
-- (core/ring.h).
SELECT pg_catalog.setval(
    pg_catalog.pg_get_serial_sequence('snowflake_registry'::pg_catalog.text, 'lease_id'::pg_catalog.text)::pg_catalog.regclass,
    1::bigint OPERATOR(pg_catalog.+)
        pg_catalog.floor(pg_catalog.random() OPERATOR(pg_catalog.*) 4194304::double precision)::bigint);

CREATE TABLE snowflake_watermark (
    worker_id    integer PRIMARY KEY,
    last_tick    bigint NOT NULL,
    leases_ended bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE snowflake_watermark IS
    'One row for each worker id on which a lease has ended. Rows are never deleted.';
COMMENT ON COLUMN snowflake_watermark.worker_id IS 'Worker id, datacenter bits included';
COMMENT ON COLUMN snowflake_watermark.last_tick IS
    'Highest tick that an ended lease of the worker id may have used. The next lease starts above '
    'this tick.';
COMMENT ON COLUMN snowflake_watermark.leases_ended IS 'How many leases of the worker id have ended';

CREATE TABLE snowflake_layout (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    epoch_ms        bigint NOT NULL,
    tick_us         bigint NOT NULL,
    timestamp_bits  integer NOT NULL,
    datacenter_bits integer NOT NULL,
    worker_bits     integer NOT NULL,
    sequence_bits   integer NOT NULL,
    sequence_first  boolean NOT NULL
);
COMMENT ON TABLE snowflake_layout IS
    'The layout of this database''s ids, in at most one row. While the table is empty, the default '
    'layout applies. snowflake_set_layout() or the first lease writes the row, and so do '
    'snowflake_set_aside(), a restore and replication.';
COMMENT ON COLUMN snowflake_layout.singleton IS 'Always true, so that there is at most one row';
COMMENT ON COLUMN snowflake_layout.epoch_ms IS
    'Start of tick 0, in milliseconds since 1970-01-01 00:00 UTC';
COMMENT ON COLUMN snowflake_layout.tick_us IS 'Length of a tick in microseconds';
COMMENT ON COLUMN snowflake_layout.timestamp_bits IS 'Width of the timestamp, the highest field';
COMMENT ON COLUMN snowflake_layout.datacenter_bits IS 'Width of the upper part of the worker id';
COMMENT ON COLUMN snowflake_layout.worker_bits IS 'Width of the lower part of the worker id';
COMMENT ON COLUMN snowflake_layout.sequence_bits IS 'Width of the sequence number';
COMMENT ON COLUMN snowflake_layout.sequence_first IS
    'Whether the sequence number is in higher bits than the worker id';

CREATE TABLE snowflake_origin (
    singleton         boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    system_identifier bigint NOT NULL,
    timeline          bigint NOT NULL,
    started_at        pg_catalog.timestamptz,
    database_oid      bigint NOT NULL,
    clean_at          pg_catalog.timestamptz,
    last_lease_id     bigint NOT NULL,
    leases_begun      bigint NOT NULL DEFAULT 0,
    jumped_from       bigint NOT NULL DEFAULT 0,
    jumped_to         bigint NOT NULL DEFAULT 0,
    raised_tick       bigint NOT NULL DEFAULT -1,
    longest_us        bigint NOT NULL DEFAULT 0,
    settling_us       bigint NOT NULL DEFAULT 0,
    settling_left_us  bigint NOT NULL DEFAULT 0,
    counted_us        bigint NOT NULL DEFAULT 0,
    settles_until     pg_catalog.timestamptz,
    floor_at          pg_catalog.timestamptz,
    loss_known        boolean NOT NULL DEFAULT false,
    settle_called_at  pg_catalog.timestamptz,
    clock_offset_us   bigint NOT NULL DEFAULT 0,
    clock_since_us    bigint NOT NULL DEFAULT 0,
    step_offset_us    bigint NOT NULL DEFAULT 0,
    step_since_us     bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE snowflake_origin IS
    'One row with the state of the registry: on which server and in which database it was when a '
    'node last called it, its lease ids, whether it settles, and its clock';
COMMENT ON COLUMN snowflake_origin.singleton IS 'Always true, so that there is at most one row';
COMMENT ON COLUMN snowflake_origin.system_identifier IS 'System identifier of the recorded server';
COMMENT ON COLUMN snowflake_origin.timeline IS 'Timeline of the recorded server';
COMMENT ON COLUMN snowflake_origin.started_at IS
    'When the recorded server was started. Null before the first call of a node.';
COMMENT ON COLUMN snowflake_origin.database_oid IS
    'OID of the recorded database. A database that was copied from it has another one.';
COMMENT ON COLUMN snowflake_origin.clean_at IS
    'When the recorded server was shut down cleanly. Null while nodes use the registry. If the '
    'column is not null when a server is started, that server has all commits of the registry.';
COMMENT ON COLUMN snowflake_origin.last_lease_id IS
    'Number of the newest lease or, if lease ids have skipped since, the number above which they '
    'continue';
COMMENT ON COLUMN snowflake_origin.leases_begun IS
    'How many rows were inserted into snowflake_registry. If this is more than the table has rows '
    'and leases_ended of snowflake_watermark adds up to, leases were lost.';
COMMENT ON COLUMN snowflake_origin.jumped_from IS
    'Lease ids above this id and up to jumped_to were skipped when the server was started or '
    'promoted, or the database copied. If a node names a skipped id, the node holds a lost lease.';
COMMENT ON COLUMN snowflake_origin.jumped_to IS 'Last lease id that was skipped';
COMMENT ON COLUMN snowflake_origin.raised_tick IS
    'Highest tick that snowflake_raise() has excluded for all nodes of this registry. -1 if '
    'snowflake_raise() has not been called.';
COMMENT ON COLUMN snowflake_origin.longest_us IS
    'Longest lease duration that a node has requested, in microseconds. 0 before the first lease.';
COMMENT ON COLUMN snowflake_origin.settling_us IS
    'How long the registry settles in all, in microseconds. While it settles, only the upper third '
    'of the worker ids of each datacenter is assigned. 0 if it has settled.';
COMMENT ON COLUMN snowflake_origin.settling_left_us IS
    'How long the registry still settles, in microseconds, from the time counted_us on';
COMMENT ON COLUMN snowflake_origin.counted_us IS
    'When settling_left_us was written, by the monotonic clock of the recorded server in '
    'microseconds';
COMMENT ON COLUMN snowflake_origin.settles_until IS
    'When settling ends, if the wall clock is not set meanwhile. Only snowflake_registry_metrics '
    'reads this column. Null if the registry does not settle.';
COMMENT ON COLUMN snowflake_origin.floor_at IS
    'Windows of new leases begin after this time, because a window up to it may have been lost. '
    'Null if there is no such time.';
COMMENT ON COLUMN snowflake_origin.loss_known IS
    'Whether a loss of commits was noticed since the server was started. If true, further evidence '
    'belongs to that loss.';
COMMENT ON COLUMN snowflake_origin.settle_called_at IS 'When snowflake_settle() was last called';
COMMENT ON COLUMN snowflake_origin.clock_offset_us IS
    'The registry goes by the monotonic clock of the recorded server plus this, in microseconds. '
    'Ordinarily the sum is what the wall clock shows.';
COMMENT ON COLUMN snowflake_origin.clock_since_us IS
    'Since when the wall clock has shown that sum, by the monotonic clock in microseconds';
COMMENT ON COLUMN snowflake_origin.step_offset_us IS
    'After a step of the wall clock, the wall clock minus the monotonic clock, in microseconds. '
    'When the wall clock has kept this difference for ten minutes, the difference becomes '
    'clock_offset_us.';
COMMENT ON COLUMN snowflake_origin.step_since_us IS
    'Since when the wall clock has kept step_offset_us, by the monotonic clock in microseconds. 0 '
    'if there was no step.';

-- A segment is a series of small numbers, like a sequence that many nodes share. The registry
-- allocates ranges of its numbers to nodes, which issue them without asking again.

CREATE TABLE snowflake_segment (
    name             pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY,
    segment_id       bigint NOT NULL UNIQUE CHECK (segment_id OPERATOR(pg_catalog.>) 0::bigint),
    last_value       bigint NOT NULL CHECK (last_value OPERATOR(pg_catalog.>=) 0::bigint),
    max_value        bigint NOT NULL CHECK (max_value OPERATOR(pg_catalog.>=) last_value),
    step             integer NOT NULL CHECK (step OPERATOR(pg_catalog.>) 0),
    max_step         integer NOT NULL CHECK (max_step OPERATOR(pg_catalog.>=) step),
    period_at        pg_catalog.timestamptz,
    allocated        bigint NOT NULL DEFAULT 0 CHECK (allocated OPERATOR(pg_catalog.>=) 0::bigint),
    allocated_before bigint NOT NULL DEFAULT 0 CHECK (allocated_before OPERATOR(pg_catalog.>=) 0::bigint),
    newest           bigint NOT NULL DEFAULT 0 CHECK (newest OPERATOR(pg_catalog.>=) 0::bigint),
    allocated_elsewhere boolean NOT NULL DEFAULT false,
    skips            integer NOT NULL DEFAULT 0 CHECK (skips OPERATOR(pg_catalog.>=) 0),
    dropped_at       pg_catalog.timestamptz,
    usage_role       pg_catalog.name CHECK (usage_role OPERATOR(pg_catalog.<>) ''::pg_catalog.name)
);
COMMENT ON TABLE snowflake_segment IS
    'One row for each segment of this registry, and for each dropped segment whose ranges other '
    'nodes may hold';
COMMENT ON COLUMN snowflake_segment.name IS 'Name by which nodes ask for numbers';
COMMENT ON COLUMN snowflake_segment.segment_id IS
    'Random number that distinguishes the segment from other segments of the same name';
COMMENT ON COLUMN snowflake_segment.last_value IS
    'Last number that was allocated. If no number was allocated, this is the number before the '
    'first number. The value falls only if a node releases the end of the newest range.';
COMMENT ON COLUMN snowflake_segment.max_value IS 'Last number that may be allocated';
COMMENT ON COLUMN snowflake_segment.step IS 'Least size of a range';
COMMENT ON COLUMN snowflake_segment.max_step IS 'Greatest size of a range';
COMMENT ON COLUMN snowflake_segment.period_at IS
    'Start of the period for which the column allocated counts numbers. A period is as long as '
    'snowflake.lease_duration of the registry.';
COMMENT ON COLUMN snowflake_segment.allocated IS 'How many numbers were allocated in that period';
COMMENT ON COLUMN snowflake_segment.allocated_before IS
    'How many numbers were allocated in the newest earlier period in which there was an allocation';
COMMENT ON COLUMN snowflake_segment.newest IS 'Size of the newest range';
COMMENT ON COLUMN snowflake_segment.allocated_elsewhere IS
    'Whether a range was allocated to another database''s node';
COMMENT ON COLUMN snowflake_segment.skips IS
    'How many times the next range skips as many numbers as lost commits may have allocated';
COMMENT ON COLUMN snowflake_segment.dropped_at IS
    'When the segment was dropped. Other nodes may still hold ranges of the segment. A new segment '
    'of the same name continues above last_value. Null if the segment is not dropped.';
COMMENT ON COLUMN snowflake_segment.usage_role IS
    'Name of the role whose members may use the numbers. Each server checks its own role of that '
    'name. If null, every role may use the numbers.';

CREATE TABLE snowflake_segment_range (
    segment_id  bigint NOT NULL,
    here        boolean NOT NULL,
    role        pg_catalog.oid NOT NULL,
    node        pg_catalog.text NOT NULL,
    secret_hash pg_catalog.bytea NOT NULL,
    held_from   bigint NOT NULL,
    newest_from bigint NOT NULL,
    held_to     bigint NOT NULL,
    acquired_at pg_catalog.timestamptz NOT NULL,
    PRIMARY KEY (segment_id, here, role, node)
);
COMMENT ON TABLE snowflake_segment_range IS
    'One row for each node, role and segment, with the newest ranges that the node has acquired. '
    'If a node will never return, delete its rows.';
COMMENT ON COLUMN snowflake_segment_range.segment_id IS 'Segment of the ranges';
COMMENT ON COLUMN snowflake_segment_range.here IS 'Whether the node is this database';
COMMENT ON COLUMN snowflake_segment_range.role IS 'Role that acquired the ranges';
COMMENT ON COLUMN snowflake_segment_range.node IS 'Name of the node';
COMMENT ON COLUMN snowflake_segment_range.secret_hash IS
    'SHA-256 of a secret of the node. To acquire ranges, the node sends the hash. The node sends '
    'the secret only to release numbers.';
COMMENT ON COLUMN snowflake_segment_range.held_from IS
    'First number that the node can release as unused';
COMMENT ON COLUMN snowflake_segment_range.newest_from IS 'First number of the newest range';
COMMENT ON COLUMN snowflake_segment_range.held_to IS 'Last number of the newest range';
COMMENT ON COLUMN snowflake_segment_range.acquired_at IS 'When the newest range was acquired';

-- What a dump carries. Leases, watermarks and the origin of another server must not be restored.
SELECT pg_catalog.pg_extension_config_dump('snowflake_layout'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('snowflake_segment'::pg_catalog.regclass, 'WHERE dropped_at IS NULL'::pg_catalog.text);
-- The owner of a database dumps it, and restores the dump into a database whose extension may
-- belong to another role.
GRANT SELECT, INSERT ON snowflake_layout, snowflake_segment TO pg_database_owner;

-- Guards: writes that bypass the protocol (see below) must not lead to equal ids. What must not
-- fall is checked by snowflake_guard_after as it is stored, because another BEFORE trigger may
-- change a row after snowflake_guard. snowflake_guard_table names every column in UPDATE OF, but
-- does nothing on an UPDATE: PostgreSQL refuses to change the type of a column that a trigger
-- names, which could write other values by USING, and drops such a column only with the trigger,
-- which the protocol then misses.

CREATE FUNCTION snowflake_layout_changed() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_layout_changed() IS
'Trigger function of snowflake_layout. If a lease was acquired, the function refuses with 55000 to
change the layout. The function notifies all sessions of a change. When the extension is created,
the function records the registry''s server.';
REVOKE ALL ON FUNCTION snowflake_layout_changed() FROM PUBLIC;

CREATE FUNCTION snowflake_guard() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard() IS
'Trigger function of the registry''s tables. The function protects the data that keeps ids unique
against writes that bypass the protocol. If a lease is deleted by hand, the last tick of its window
becomes the watermark. A write that would change a lease, or lower or remove a watermark or a
segment, fails with 55000. Writes of logical replication are discarded, except a layout that is
written into an empty table.';
REVOKE ALL ON FUNCTION snowflake_guard() FROM PUBLIC;

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_registry
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_registry IS
    'Only the protocol inserts and changes leases. If a lease is deleted by hand, the last tick of '
    'its window becomes the watermark.';
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_registry
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard_after;
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_registry IS
    'A lease keeps its number and worker id, and its window''s end does not fall';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF lease_id, worker_id, node, role, secret_hash, acquired_at, extended_at, window_start,
        window_end
    ON snowflake_registry
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_registry IS
    'TRUNCATE is refused, and so is a change of a column''s type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_watermark
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_watermark IS 'Watermarks are not deleted';
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_watermark
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_after;
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_watermark IS 'Watermarks do not fall';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF worker_id, last_tick, leases_ended
    ON snowflake_watermark
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_watermark IS
    'TRUNCATE is refused, and so is a change of a column''s type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_layout IS
    'Replication writes a layout only if the table is empty';
CREATE TRIGGER snowflake_layout_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON snowflake_layout
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_layout_changed();
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_layout_changed;
COMMENT ON TRIGGER snowflake_layout_changed ON snowflake_layout IS
    'The layout does not change once a lease was acquired';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_origin
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_origin IS 'Only the protocol writes to the table';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF singleton, system_identifier, timeline, started_at, database_oid, clean_at,
        last_lease_id, leases_begun, jumped_from, jumped_to, raised_tick, longest_us, settling_us,
        settling_left_us, counted_us, settles_until, floor_at, loss_known, settle_called_at,
        clock_offset_us, clock_since_us, step_offset_us, step_since_us
    ON snowflake_origin
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_origin IS
    'TRUNCATE is refused, and so is a change of a column''s type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_segment
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_segment IS
    'Segments are not deleted by hand, and a restore does not lower a segment';
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_segment
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment ENABLE ALWAYS TRIGGER snowflake_guard_after;
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_segment IS
    'The name of a segment does not change, and its last number falls only if the protocol '
    'releases numbers';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF name, segment_id, last_value, max_value, step, max_step, period_at, allocated,
        allocated_before, newest, allocated_elsewhere, skips, dropped_at, usage_role
    ON snowflake_segment
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_segment IS
    'TRUNCATE is refused, and so is a change of a column''s type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_segment_range
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment_range ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_segment_range IS
    'Only the registry''s functions write ranges. Rows may be deleted.';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF segment_id, here, role, node, secret_hash, held_from, newest_from, held_to, acquired_at
    ON snowflake_segment_range
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment_range ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_segment_range IS
    'TRUNCATE is refused, and so is a change of a column''s type';

-- There is no row to delete. The statement fires snowflake_layout_changed, which fills
-- snowflake_origin before the first lease, so that a standby notices a failover even if it is
-- promoted before it receives that lease.
DELETE FROM snowflake_layout;

CREATE FUNCTION snowflake_guard_drop() RETURNS pg_catalog.event_trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard_drop() IS
'Function of the event trigger _snowflake_guard_drop. The function loads the library. While other
nodes hold leases or ranges of segments, the library refuses with 55000 to drop the registry.';
REVOKE ALL ON FUNCTION snowflake_guard_drop() FROM PUBLIC;

-- The underscore sorts the name before most. pg_upgrade creates event triggers in the order of
-- their names, and those that exist fire when this one is added to the extension.
CREATE EVENT TRIGGER _snowflake_guard_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED')
    EXECUTE FUNCTION snowflake_guard_drop();
ALTER EVENT TRIGGER _snowflake_guard_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER _snowflake_guard_drop IS
    'While other nodes hold leases or ranges of segments, the registry cannot be dropped, even in '
    'a session that has not loaded the library';

-- The registry protocol: what nodes call. In addition to the errors in their comments, the
-- functions fail with 42501 in a security-restricted operation, 25006 on a standby or in a
-- read-only transaction, and 55000 at any isolation level except read committed.

CREATE FUNCTION snowflake_lease_acquire(
    node pg_catalog.text, datacenter integer, now_tick bigint, duration interval, secret_hash pg_catalog.bytea,
    seen_lease_id bigint, start_before bigint, leapt boolean DEFAULT false,
    OUT lease_id bigint, OUT worker_id integer, OUT window_start bigint, OUT window_end bigint,
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean,
    OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT settle_called_us bigint,
    OUT workers_free bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_acquire(pg_catalog.text, integer, bigint, interval, pg_catalog.bytea, bigint, bigint, boolean) IS
'Acquires a lease on a worker id for the node with this name in this datacenter. now_tick is the
tick that the node''s clock shows. duration is 1 second to 1 day, and is limited to
snowflake.max_lease_duration. secret_hash is the SHA-256 of the lease secret. If the role already
has a lease with this hash, the function extends and returns that lease. seen_lease_id is the id of
the newest lease that the node had from this registry, or 0. If start_before is not null, a lease is
acquired only if its window can start before that tick. leapt says that the node''s wall clock has
leapt to now_tick, and that the node does not follow the leap yet. The registry accepts such a tick
only if its own clock has not stepped for ten minutes. A null is like false.

Returns the lease, the registry''s layout, and the system identifier and timeline of the
registry''s server. raised_tick is the tick that snowflake_raise() has excluded. settle_called_us is
the time of the last snowflake_settle() in microseconds since 1970-01-01 00:00 UTC. workers_free is
the number of worker ids of the datacenter that no other node holds, or -1 if these worker ids were
not counted.

All columns are null in two cases:

- the window cannot start before start_before;
- the registry settles, the role has no lease with this hash, and this call only recorded that
  commits were lost, or how long the registry still settles. Then call the function again.

Errors: 22004 if any argument except start_before and leapt is null, 22023 for an invalid argument,
25001 in a transaction block, 53400 if the role has snowflake.max_leases_per_role leases and none of
them has expired, SF002 if the clocks differ by more than snowflake.max_clock_skew, SF003 if the
layout''s time is used up, SF004 if every worker id is leased or held back.';
REVOKE ALL ON FUNCTION snowflake_lease_acquire(pg_catalog.text, integer, bigint, interval, pg_catalog.bytea, bigint, bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_lease_extend(
    lease_id bigint, secret_hash pg_catalog.bytea, now_tick bigint, duration interval, held_until bigint,
    worker_id integer, window_start bigint, leapt boolean DEFAULT false,
    OUT window_end bigint,
    OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT settle_called_us bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_extend(bigint, pg_catalog.bytea, bigint, interval, bigint, integer, bigint, boolean) IS
'Extends a lease. The function moves the end of the lease''s window to now_tick plus duration, but
never back. held_until is the end of the window in the node''s copy of the lease. worker_id and
window_start are also from that copy. If the row of the lease was lost, the registry restores the
lease from these values. leapt is as in snowflake_lease_acquire(), but not null.

Returns the new end of the window. The columns about the registry are as in
snowflake_lease_acquire(). window_end is null if the lease no longer exists or belongs to another
role.
Errors: 22004 for a null, 22023 for an invalid argument, 25001 in a transaction block, SF002 if
the clocks differ by more than snowflake.max_clock_skew, or if held_until is further ahead than a
window can reach.';
REVOKE ALL ON FUNCTION snowflake_lease_extend(bigint, pg_catalog.bytea, bigint, interval, bigint, integer, bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_lease_release(lease_id bigint, secret pg_catalog.bytea, last_tick bigint, held_until bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_release(bigint, pg_catalog.bytea, bigint, bigint) IS
'Releases a lease. The argument secret is the lease secret. last_tick is the last tick that the
node used. held_until is the end of the window in the node''s copy of the lease. The watermark of
the worker id becomes the later of last_tick and the tick of this server''s clock plus
snowflake.max_clock_skew and snowflake.max_lead, but at most the last tick of the window.

Returns false if the lease no longer exists or belongs to another role.
Errors: 22004 for a null, 22023 if last_tick is neither in the window nor the tick before it,
25001 in a transaction block, SF002 if last_tick or held_until is further ahead of this server''s
clock than a node can be.';
REVOKE ALL ON FUNCTION snowflake_lease_release(bigint, pg_catalog.bytea, bigint, bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_segment_ranges(
    node pg_catalog.text, names pg_catalog.text[], segment_ids bigint[], highest bigint[], unused bigint[], wanted bigint[],
    secrets pg_catalog.bytea[],
    OUT segment_ids bigint[], OUT range_last bigint[], OUT range_count bigint[],
    OUT usage_roles pg_catalog.text[],
    OUT system_identifier bigint, OUT timeline bigint, OUT settle_called_us bigint, OUT known pg_catalog.text)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_segment_ranges(pg_catalog.text, pg_catalog.text[], bigint[], bigint[], bigint[], bigint[], pg_catalog.bytea[]) IS
'Allocates ranges of segments to the node with this name, or releases unused numbers. Each array
has one element for each segment:

- names: the name of the segment;
- segment_ids: the segment_id that the node has recorded, or 0;
- highest: the highest number that the node has acquired;
- unused: how many numbers up to highest the node has not issued;
- wanted: about how many numbers the node requests, or a negative number if it requests none;
- secrets: the SHA-256 of a secret of the node, or the secret itself.

If wanted is not negative, the registry allocates a range and records it with the hash. If wanted is
negative and secrets has the hash, the registry records that only the unused numbers can be
released. If wanted is negative and secrets has the secret, the registry releases them.

Returns arrays with one element for each segment:

- segment_ids: the segment_id, or 0 if the segment does not exist;
- range_last: the last number of the range;
- range_count: the size of the range, or 0 if none was allocated;
- usage_roles: the segment''s usage_role, or an empty string if every role may use the numbers.

If a segment does not exist, known lists names of existing segments. The other columns are as in
snowflake_lease_acquire().
Errors: 22004 for a null, 22023 for arrays of different lengths, 25001 in a transaction block, 55000
if highest is far above all allocated numbers.';
REVOKE ALL ON FUNCTION snowflake_segment_ranges(pg_catalog.text, pg_catalog.text[], bigint[], bigint[], bigint[], bigint[], pg_catalog.bytea[]) FROM PUBLIC;

-- For administrators: worker ids, settling, ids that must be larger, segments.

CREATE FUNCTION snowflake_evict(worker_id integer, dead_since pg_catalog.timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_evict(integer, pg_catalog.timestamptz) IS
'Frees the worker id of a dead node. Call the function only if the node has certainly been dead
since dead_since, and will be until its window ends: if its server is started without a reboot of
the machine, it continues under its lease. If the node''s clock may have been ahead by more than
snowflake.max_clock_skew, snowflake.max_bridge and snowflake.max_lead in all, ids can be issued
twice: then wait for the end of the window instead.

The next lease of the worker id starts at dead_since plus these three settings. If
snowflake.max_clock_skew is 0, or the window ends so late that the node''s clock must be ahead of
the registry''s, the next lease starts above the window.

Returns false if snowflake_registry has no row with the worker id.
Errors: 22004 for a null, 22023 for a time that is infinite, in the future or before extended_at.';
REVOKE ALL ON FUNCTION snowflake_evict(integer, pg_catalog.timestamptz) FROM PUBLIC;

CREATE FUNCTION snowflake_set_aside(worker_id integer) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_aside(integer) IS
'Sets a worker id aside, for ids that snowflake_encode() makes: no node gets the worker id until
snowflake_evict() is called for it, with any time in the past. The view snowflake_workers shows it
as the node "set aside". snowflake_check() accepts its ids, except ids of the future. The function
fixes the layout, as the first lease does.
Errors: 22004 for a null, 22023 if the layout has no such worker id, 55000 if the worker id is or
was leased, while the registry settles, or if the registry is in another database.';
REVOKE ALL ON FUNCTION snowflake_set_aside(integer) FROM PUBLIC;

CREATE FUNCTION snowflake_settle(reason pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settle(pg_catalog.text) IS
'Records that commits of this registry may have been lost, for example by a restore. The registry
settles for as long as the longest lease can last. Nodes accept this registry from then on, even if
they have seen a newer timeline. The reason is written to the log.
Errors: 22004 for a null.';
REVOKE ALL ON FUNCTION snowflake_settle(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_settled() RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settled() IS
'Ends settling. Call the function only if no commit of this registry was lost; whether the registry
settles is in snowflake_registry_metrics. The present start of its server is no reason to settle
again, and floor_at of snowflake_origin becomes null.

Returns false if the registry did not settle and had no reason to settle.';
REVOKE ALL ON FUNCTION snowflake_settled() FROM PUBLIC;

CREATE FUNCTION snowflake_make_guards() RETURNS integer
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_make_guards() IS
'Creates the guards again that this database has lost, and returns how many: triggers of the
registry''s tables that are missing, changed, or not ENABLE ALWAYS, and the event trigger
_snowflake_guard_drop if it is not ENABLE ALWAYS. advice of snowflake_status names them. Acquires
and extends wait until the transaction ends.

Errors: 42501 for a caller who may not create triggers on the tables, which only their owner and
superusers may; 55000 if a trigger function or a table is not as the extension made it.';
REVOKE ALL ON FUNCTION snowflake_make_guards() FROM PUBLIC;

CREATE FUNCTION snowflake_raise(id bigint) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_raise(bigint) IS
'Makes all later ids of this node larger than the given id. If the registry is in this database,
each node of the registry issues only larger ids after that node has extended its lease, which it
does when a third of the window has passed. The function returns when the node''s clock has passed
the id''s timestamp. While the node bridges a step back, its clock is ahead of the server''s, and
other nodes of the registry will issue ids that are as far ahead of their clocks.
Errors: 22003 for an id that is negative or that the layout cannot hold, 22004 for a null, 22023
if the id''s timestamp is more than snowflake.max_clock_skew ahead of the clock.';
REVOKE ALL ON FUNCTION snowflake_raise(bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_renew() RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_renew() IS
'Makes this node forget its lease and its ranges of segments, without releasing them. Ids are then
issued under a new lease. Call the function in a copy of a running machine before anything
requests an id from the copy.';
REVOKE ALL ON FUNCTION snowflake_renew() FROM PUBLIC;

CREATE FUNCTION snowflake_create_segment(
    name pg_catalog.text, start bigint DEFAULT 1, step integer DEFAULT 1000, max_value bigint DEFAULT 9223372036854775807, max_step integer DEFAULT 1000000,
    usage_role pg_catalog.name DEFAULT NULL)
    RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_create_segment(pg_catalog.text, bigint, integer, bigint, integer, pg_catalog.name) IS
'Creates a segment in this registry with the numbers from start to max_value. Nodes acquire ranges
of step to max_step numbers. Unless usage_role is null, only members of that role may use the
numbers. Each server checks its own role of that name. If a segment of the same name was dropped
while other nodes held its ranges, the new segment continues above the numbers of the dropped
segment.
Errors: 22004 if another argument is null, 22023 for an invalid name or limits, 42710 if the
segment exists, 55000 if the registry is in another database, SF006 if the dropped segment has
used all numbers up to max_value.';
REVOKE ALL ON FUNCTION snowflake_create_segment(pg_catalog.text, bigint, integer, bigint, integer, pg_catalog.name) FROM PUBLIC;

CREATE FUNCTION snowflake_drop_segment(name pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_drop_segment(pg_catalog.text) IS
'Drops a segment of this registry. Other nodes still issue the numbers that they hold.
Errors: 22004 for a null, 42704 if there is no such segment, 55000 if the registry is in another
database.';
REVOKE ALL ON FUNCTION snowflake_drop_segment(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_raise_segment(name pg_catalog.text, value bigint) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_raise_segment(pg_catalog.text, bigint) IS
'Raises a segment of this registry. The next number that the registry allocates becomes at least
value. From now on this database''s own node issues no number below value. Other nodes still issue
the numbers that they hold. The function never lowers the next number. Returns the next number
that the registry allocates.
Errors: 22004 for a null, 22023 if value is not between 1 and max_value, 42704 if there is no such
segment, 55000 if the registry is in another database.';
REVOKE ALL ON FUNCTION snowflake_raise_segment(pg_catalog.text, bigint) FROM PUBLIC;

-- Issuing.

CREATE FUNCTION snowflake_nextval_support(pg_catalog.internal) RETURNS pg_catalog.internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextval_support(pg_catalog.internal) IS
'Planner support function of snowflake_nextval() and snowflake_segment_nextval(). The function
lets COPY insert many rows at a time.';

CREATE FUNCTION snowflake_nextval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_nextval() IS
'Returns the next id. The function works in read-only transactions.
Errors: SF001 without a lease, SF002 if the clock is behind, SF003 if the layout''s time is used up,
SF004 if every worker id is leased or held back, 25006 on a standby whose registry is in this
database, 55000 if the library must be preloaded and is not, 55000 in the transaction that created
the extension.';

-- For COPY, the support function of both lets the planner replace snowflake_nextval() by this
-- function. It is STABLE, though each call returns another id, because COPY inserts one row at a
-- time if a default is volatile (src/pg/sql/copy.cpp).
CREATE FUNCTION snowflake_copy_nextval(pg_catalog.internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_nextval(pg_catalog.internal) IS
'In a column''s default, COPY FROM evaluates this function instead of snowflake_nextval() for each
row. The result and the errors are those of snowflake_nextval(). SQL cannot call this function. If
a role may execute snowflake_nextval() but not this function, COPY FROM inserts one row at a time
for the role.';

CREATE FUNCTION snowflake_nextvals(count integer) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextvals(integer) IS
'Returns count ids in ascending order.
Errors: 22023 unless count is positive, and the errors of snowflake_nextval().';

CREATE FUNCTION snowflake_currval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_currval() IS
'Returns the id that this session issued last. Ids that its parallel workers issued do not count.
Errors: 55000 before the session''s first id.';

CREATE FUNCTION snowflake_segment_nextval(name pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_segment_nextval(pg_catalog.text) IS
'Returns the next number of a segment. The function is for column defaults. Numbers are unique on
all nodes of the registry. On each node, numbers rise. The function works in read-only
transactions.
Errors: 22023 for an invalid name, 42501 without the privileges of the segment''s usage_role,
42704 if there is no such segment, 53400 if snowflake.max_segments segments are in use, 25006 and
55000 as for snowflake_nextval(), 55000 in the transaction that created the segment, SF005 if the
registry allocates no range in time, SF006 if the segment is used up.';

CREATE FUNCTION snowflake_copy_segment_nextval(pg_catalog.internal, pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_segment_nextval(pg_catalog.internal, pg_catalog.text) IS
'COPY FROM evaluates this function instead of snowflake_segment_nextval(), just as it evaluates
snowflake_copy_nextval() instead of snowflake_nextval().';

CREATE FUNCTION snowflake_segment_currval(name pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_segment_currval(pg_catalog.text) IS
'Returns the number that this session last issued from the segment.
Errors: 42501 without the privileges of the segment''s usage_role, 55000 before the session''s
first number of the segment.';

-- The horizon.

CREATE FUNCTION snowflake_horizon() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_horizon() IS
'Returns an id below which no new rows of this node appear. Rows below this id are either visible
to the calling statement or will never be visible. This is guaranteed for rows whose id was
issued on this node, in the same transaction that wrote the row, and for rows that passed the
trigger snowflake_claim(). Returns 0 while no such id is known.
Errors: 0A000 in a part of a statement that Citus sent from another node, 25006 during recovery,
55000 if the library must be preloaded and is not.';

CREATE FUNCTION snowflake_claim() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_claim() IS
'Trigger for tables that are read below snowflake_horizon(). It is created BEFORE INSERT, FOR EACH
ROW, and its argument is the name of the column with the id: a bigint, a snowflake_id, or a domain
of these. The horizon then also covers rows whose ids were not issued in the transaction that
inserts them. If a higher horizon was already reported, the insert fails. If the trigger is created
BEFORE INSERT OR UPDATE, an id that changes is treated in the same way. A null is not checked.
Errors: 39P01 if the trigger is created in another way, 42703 and 42804 if there is no such column
or it has another type, 42809 for a temporary table, 55000 if the library must be preloaded and is
not, SF007 if a reported horizon is above the id.';

CREATE FUNCTION snowflake_confirm_clock() RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_confirm_clock() IS
'Confirms that this server''s clock is right, although it was more than snowflake.max_leap ahead of
the last sign of life when the server was started, or has leapt by more since then. From then on
snowflake_horizon() rises in all databases of the server. Without this call it rises when the clock
has kept its time for ten minutes. Signs of life are what the server has stored with a time, such as
checkpoints and commits.

Returns false if the clock was not in doubt.';
REVOKE ALL ON FUNCTION snowflake_confirm_clock() FROM PUBLIC;

CREATE FUNCTION snowflake_reset_horizon(OUT horizon_before bigint, OUT horizon_after bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_reset_horizon() IS
'Takes back a horizon that is in the future because the clock was wrong, when the clock has been set
right. The trigger snowflake_claim() then accepts rows with ids of the present again, and readers
get them. If ids are still of the wrong time, the node acquires another worker id. Also reset the
horizons and ids that readers have stored, which the function cannot do.

horizon_before is the highest horizon that was or may have been reported. horizon_after is the new
horizon: no id below it is issued or accepted from now on.
Errors: 25006 during recovery, 55000 if the horizon is not more than a minute ahead of the clock,
58030 if the data directory cannot be written.';
REVOKE ALL ON FUNCTION snowflake_reset_horizon() FROM PUBLIC;

-- Reading and encoding.

CREATE FUNCTION snowflake_decode(id bigint, OUT ts pg_catalog.timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint) IS
'Returns the timestamp, worker id and sequence number of an id in this database''s layout. In the
default layout, all three values are null for numbers below 251658240000. No id is that small,
because none was issued in the layout''s first minute: the number comes from elsewhere, such as a
sequence.
Errors: 22003 for an id that the layout cannot hold.';

CREATE FUNCTION snowflake_decode(id bigint, layout pg_catalog.text, OUT ts pg_catalog.timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, pg_catalog.text) IS
'Returns the timestamp, worker id and sequence number of an id in another layout. layout is a name
in the view snowflake_layouts, or a definition such as ''epoch=1582165202020 tick=1ms time=51
worker=6 seq=6'': epoch in milliseconds since 1970, tick in us, ms or s, and the bits of the fields,
from the highest ones down. The fields are time, datacenter, worker, seq, and skip for bits to pass
over. A time that is split has sec and ms. These values are never null. If the layout has no worker
id or no sequence number, the missing value is 0.
Errors: 22003 for an id that the layout cannot hold, 22023 for an unknown layout or an invalid
definition.';

CREATE FUNCTION snowflake_timestamp(id bigint) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint) IS
'Returns the timestamp of an id in this database''s layout. It is never null, unlike that of
snowflake_decode().
Errors: 22003 for an id that the layout cannot hold.';

CREATE FUNCTION snowflake_timestamp(id bigint, layout pg_catalog.text) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, pg_catalog.text) IS
'Returns the timestamp of an id in a layout that is given as for snowflake_decode().
Errors: 22003 for an id that the layout cannot hold, 22023 for an unknown layout or an invalid
definition.';

CREATE FUNCTION snowflake_encode(ts pg_catalog.timestamptz, worker integer, seq integer) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(pg_catalog.timestamptz, integer, integer) IS
'Returns the id with this timestamp, worker id and sequence number in this database''s layout. The
function is the inverse of snowflake_decode(). The timestamp is rounded down to its tick. The
result can be an id that was issued or will be issued.
Errors: 22003 if a part does not fit its field.';

CREATE FUNCTION snowflake_encode(ts pg_catalog.timestamptz, worker integer, seq integer, layout pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(pg_catalog.timestamptz, integer, integer, pg_catalog.text) IS
'Returns the id with this timestamp, worker id and sequence number in a layout that is given as
for snowflake_decode(). The function is the inverse of snowflake_decode(). The timestamp is rounded
down to its tick. The result can be an id that was issued or will be issued.
Errors: 22003 if a part does not fit its field, 22023 for an unknown layout or an invalid
definition.';

CREATE FUNCTION snowflake_tick_timestamp(tick bigint) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_tick_timestamp(bigint) IS
'Returns when a tick of this database''s layout starts. If a timestamp cannot hold the time, the
result is infinite.';

CREATE FUNCTION snowflake_id_at(ts pg_catalog.timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(pg_catalog.timestamptz) IS
'Returns the smallest id whose timestamp is ts or later, in this database''s layout. For every id
that is not negative, the condition id >= snowflake_id_at(ts) is equivalent to
snowflake_timestamp(id) >= ts. Returns 0 for a time before the epoch.
Errors: 22003 for a time that is after the layout''s last tick, or at which ids are negative.';

CREATE FUNCTION snowflake_id_at(ts pg_catalog.timestamptz, layout pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(pg_catalog.timestamptz, pg_catalog.text) IS
'Returns the smallest id whose timestamp is ts or later, in a layout that is given as for
snowflake_decode(). Returns 0 for a time before the epoch.
Errors: 22003 for a time that is after the layout''s last tick, or at which ids are negative, 22023
for an unknown layout, an invalid definition, or one whose ids are not ordered by time.';

CREATE FUNCTION snowflake_range(during pg_catalog.tstzrange) RETURNS pg_catalog.int8range
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(pg_catalog.tstzrange) IS
'Returns the range of ids whose timestamps are within during, in this database''s layout. For
every id that is not negative, the condition id <@ snowflake_range(during) is equivalent to
snowflake_timestamp(id) <@ during. The result has no upper bound if during ends after the
layout''s last tick.
Errors: 22003 for a finite bound at which ids are negative.';

CREATE FUNCTION snowflake_range(during pg_catalog.tstzrange, layout pg_catalog.text) RETURNS pg_catalog.int8range
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(pg_catalog.tstzrange, pg_catalog.text) IS
'Returns the range of ids whose timestamps are within during, in a layout that is given as for
snowflake_decode(). The result has no upper bound if during ends after the layout''s last tick.
Errors: 22003 for a finite bound at which ids are negative, 22023 for an unknown layout, an invalid
definition, or one whose ids are not ordered by time.';

-- Ids as text.

CREATE FUNCTION snowflake_to_text(id bigint, encoding pg_catalog.text) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_to_text(bigint, pg_catalog.text) IS
'Returns an id as text of fixed width, in the encoding base32 (Crockford''s, 13 digits), base58
(11) or base62 (11). Under the C collation the texts sort like the ids.
Errors: 22003 for a negative id, 22023 for an unknown encoding.';

CREATE FUNCTION snowflake_from_text(id pg_catalog.text, encoding pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_from_text(pg_catalog.text, pg_catalog.text) IS
'Returns the id that snowflake_to_text() encoded.
Errors: 22003 for a number above the largest id, 22023 for an unknown encoding, 22P02 if the text
has another width or a character that is not a digit of the encoding.';

CREATE FUNCTION snowflake_to_text(id bigint, encoding pg_catalog.text, prefix pg_catalog.text) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_to_text(bigint, pg_catalog.text, pg_catalog.text) IS
'Returns a prefix, an underscore and an id as text, such as order_ and the digits. With the empty
prefix there is no underscore. A prefix has up to 63 of the characters a to z and _, and does not
begin or end with _.
Errors: 22003 for a negative id, 22023 for an unknown encoding or an invalid prefix.';

CREATE FUNCTION snowflake_from_text(id pg_catalog.text, encoding pg_catalog.text, prefix pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_from_text(pg_catalog.text, pg_catalog.text, pg_catalog.text) IS
'Returns the id that snowflake_to_text() encoded with this prefix.
Errors: 22003 for a number above the largest id, 22023 for an unknown encoding or an invalid
prefix, 22P02 if the text has another prefix, another width or a character that is not a digit of
the encoding.';

CREATE FUNCTION snowflake_mask(id bigint, prefix pg_catalog.text) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_mask(bigint, pg_catalog.text) IS
'Returns an id as text that shows neither when its row was created nor how many rows there are: the
prefix, an underscore and 15 digits of base58. The text is encrypted with the last key in the file
of snowflake.mask_key_file. With the empty prefix there is no underscore.
Errors: 0A000 if the library was built without libcrypto, 22023 for an invalid prefix, 55000 if
there is no key.';

CREATE FUNCTION snowflake_unmask(masked pg_catalog.text, prefix pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_unmask(pg_catalog.text, pg_catalog.text) IS
'Returns the id that snowflake_mask() encrypted with this prefix, with any key in the file of
snowflake.mask_key_file. One in 65,536 invalid texts is not noticed; its result is a random number.
Errors: 0A000 if the library was built without libcrypto, 22023 for an invalid prefix, 22P02 if the
text has another prefix, was changed or was masked with another key, 55000 if there is no key.';

-- A type of ids for clients that read JSON: only PostgreSQL's own number types become JSON numbers.
-- It has no operator class. Those of bigint apply through the implicit cast, so keys, foreign keys
-- and partitions are bigint's, and ALTER TYPE rewrites nothing.

CREATE TYPE snowflake_id;

CREATE FUNCTION snowflake_id_in(pg_catalog.cstring) RETURNS snowflake_id
    AS 'int8in' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_in(pg_catalog.cstring) IS 'Reads a snowflake_id as bigint is read.';

CREATE FUNCTION snowflake_id_out(snowflake_id) RETURNS pg_catalog.cstring
    AS 'int8out' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_out(snowflake_id) IS 'Writes a snowflake_id as bigint is written.';

CREATE FUNCTION snowflake_id_recv(pg_catalog.internal) RETURNS snowflake_id
    AS 'int8recv' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_recv(pg_catalog.internal) IS
'Reads a snowflake_id in the binary format of bigint.';

CREATE FUNCTION snowflake_id_send(snowflake_id) RETURNS pg_catalog.bytea
    AS 'int8send' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_send(snowflake_id) IS
'Writes a snowflake_id in the binary format of bigint.';

CREATE TYPE snowflake_id (
    INPUT = snowflake_id_in, OUTPUT = snowflake_id_out, RECEIVE = snowflake_id_recv, SEND = snowflake_id_send,
    LIKE = pg_catalog.int8, CATEGORY = 'N');
COMMENT ON TYPE snowflake_id IS
'A bigint whose JSON form is a string, so that JavaScript reads every digit. bigint''s operators and
indexes serve it, and a column can be changed from one type to the other without a rewrite.';

CREATE CAST (snowflake_id AS bigint) WITHOUT FUNCTION AS IMPLICIT;
COMMENT ON CAST (snowflake_id AS bigint) IS 'The same number';
CREATE CAST (bigint AS snowflake_id) WITHOUT FUNCTION AS ASSIGNMENT;
COMMENT ON CAST (bigint AS snowflake_id) IS 'The same number';

-- Programs cast numbers to numeric, and PostgreSQL does not cast in two steps, through bigint.
CREATE CAST (snowflake_id AS numeric) WITH FUNCTION pg_catalog.numeric(bigint) AS ASSIGNMENT;
COMMENT ON CAST (snowflake_id AS numeric) IS 'The same number';

CREATE FUNCTION snowflake_id(integer) RETURNS snowflake_id
    AS 'int48' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id(integer) IS 'Returns an integer as snowflake_id.';
CREATE CAST (integer AS snowflake_id) WITH FUNCTION snowflake_id(integer) AS ASSIGNMENT;
COMMENT ON CAST (integer AS snowflake_id) IS 'The same number';

CREATE FUNCTION snowflake_id(smallint) RETURNS snowflake_id
    AS 'int28' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id(smallint) IS 'Returns a smallint as snowflake_id.';
CREATE CAST (smallint AS snowflake_id) WITH FUNCTION snowflake_id(smallint) AS ASSIGNMENT;
COMMENT ON CAST (smallint AS snowflake_id) IS 'The same number';

-- The argument is anyrange: with int8range, an untyped literal that is meant as a range would be
-- read as an id in '[1,5)' <@ an int8range. The body is a string: pg_upgrade may create this
-- function, for a domain's CHECK, before the cast to bigint.
CREATE FUNCTION snowflake_id_contained(snowflake_id, pg_catalog.anyrange) RETURNS boolean
    AS 'SELECT $1::bigint OPERATOR(pg_catalog.<@) $2' LANGUAGE sql IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_contained(snowflake_id, pg_catalog.anyrange) IS
'Returns whether an id is within a range of bigint. The planner replaces calls by bigint''s own
operator.';
CREATE OPERATOR <@ (
    LEFTARG = snowflake_id, RIGHTARG = pg_catalog.anyrange, FUNCTION = snowflake_id_contained);
COMMENT ON OPERATOR <@ (snowflake_id, pg_catalog.anyrange) IS 'is contained by';

-- Layouts.

CREATE FUNCTION snowflake_get_layout(
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_layout() IS
'Returns this database''s layout, with columns as in the table snowflake_layout. Before its first
lease, a node compares this database''s layout with the registry''s layout.';

CREATE FUNCTION snowflake_set_layout(name pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME', 'snowflake_set_named_layout' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(pg_catalog.text) IS
'Gives this database a named layout of the view snowflake_layouts, before its first lease.
Errors: 22023 for an unknown layout, and the errors of the other form.';
REVOKE ALL ON FUNCTION snowflake_set_layout(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_set_layout(
    epoch pg_catalog.timestamptz, tick interval, timestamp_bits integer, datacenter_bits integer, worker_bits integer,
    sequence_bits integer, sequence_first boolean DEFAULT false) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(pg_catalog.timestamptz, interval, integer, integer, integer, integer, boolean) IS
'Gives this database a layout of its own, before its first lease. The arguments are the start of
tick 0, the length of a tick (1 microsecond to 1 day), the widths of the fields in bits, and
whether the sequence number is in higher bits than the worker id. If the database already has this
layout, the function does nothing.
Errors: 22004 for a null, 22023 for a layout that is invalid, cannot issue ids or has less than
ten years left, 55000 once a lease was acquired under another layout.';
REVOKE ALL ON FUNCTION snowflake_set_layout(pg_catalog.timestamptz, interval, integer, integer, integer, integer, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_get_layouts(
    OUT name pg_catalog.text, OUT epoch pg_catalog.timestamptz, OUT tick interval, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean, OUT total_bits integer,
    OUT settable boolean, OUT end_of_life pg_catalog.timestamptz, OUT negative_until pg_catalog.timestamptz,
    OUT definition pg_catalog.text) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE ROWS 19;
COMMENT ON FUNCTION snowflake_get_layouts() IS
'Returns the rows of the view snowflake_layouts.';

CREATE VIEW snowflake_layouts AS
    SELECT * FROM snowflake_get_layouts();
COMMENT ON VIEW snowflake_layouts IS
    'One row for each named layout. Named layouts are the default layout and the layouts of '
    'well-known systems.';
COMMENT ON COLUMN snowflake_layouts.name IS
    'Name for the argument layout of snowflake_decode() and other functions, and for '
    'snowflake_set_layout()';
COMMENT ON COLUMN snowflake_layouts.epoch IS 'Start of tick 0';
COMMENT ON COLUMN snowflake_layouts.tick IS 'Length of a tick';
COMMENT ON COLUMN snowflake_layouts.timestamp_bits IS 'Width of the timestamp, the highest field';
COMMENT ON COLUMN snowflake_layouts.datacenter_bits IS 'Width of the upper part of the worker id';
COMMENT ON COLUMN snowflake_layouts.worker_bits IS 'Width of the lower part of the worker id';
COMMENT ON COLUMN snowflake_layouts.sequence_bits IS 'Width of the sequence number';
COMMENT ON COLUMN snowflake_layouts.sequence_first IS
    'Whether the sequence number is in higher bits than the worker id';
COMMENT ON COLUMN snowflake_layouts.total_bits IS
    'Sum of the widths. 63 bits fill a bigint up to its sign bit. 64 bits include the sign bit.';
COMMENT ON COLUMN snowflake_layouts.settable IS
    'Whether snowflake_set_layout() accepts the layout now. Such a layout has worker and sequence '
    'bits, and at least ten years left.';
COMMENT ON COLUMN snowflake_layouts.end_of_life IS
    'When the layout''s time is used up. No id is issued from this time on.';
COMMENT ON COLUMN snowflake_layouts.negative_until IS
    'If the layout uses the sign bit, its ids are negative from end_of_life until this time. '
    'Negative ids can only be read. Null if the layout does not use the sign bit.';
COMMENT ON COLUMN snowflake_layouts.definition IS
    'The same layout as a definition: where a name is accepted, a definition is, too. It can be '
    'changed to describe a layout that has no name.';
GRANT SELECT ON snowflake_layouts TO PUBLIC;

-- For the extension snowflake_convert, which calls this function in C: its callers need no EXECUTE.

CREATE FUNCTION snowflake_least_new_id() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_least_new_id() IS
'Returns what the extension snowflake_convert needs about ids: nothing smaller is issued in this
layout from now on, unless the clock steps back.
Errors: 22023 if ids can only be read in the layout, SF003 if the layout''s time is used up.';
REVOKE ALL ON FUNCTION snowflake_least_new_id() FROM PUBLIC;

-- Checking tables.

CREATE FUNCTION snowflake_check(
    relation pg_catalog.regclass, column_name pg_catalog.name,
    OUT problem pg_catalog.text, OUT worker integer, OUT ids bigint, OUT first_id bigint, OUT last_id bigint) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check(pg_catalog.regclass, pg_catalog.name) IS
'Finds ids in a column, of type bigint or snowflake_id, that this registry cannot have issued. For
each problem and worker id it returns one row with the count of the ids, the smallest id and the
largest id. If it returns no row, all is well. The column problem is a sentence that says that the
ids:

- are not of this database''s layout; then worker is null;
- are ahead of the node''s clock by more than snowflake.max_clock_skew;
- are of times for which their worker id was neither leased nor set aside;
- cannot be compared with leases, because the registry is in another database. Then all ids without
  another problem have this one.
Errors: 22004 for a null, 42501 if the caller may not read the column, 42703, 42804, 42809 or
42P01 if it is not such a column of a table, 55000 at any isolation level except read committed.';
REVOKE ALL ON FUNCTION snowflake_check(pg_catalog.regclass, pg_catalog.name) FROM PUBLIC;

-- Monitoring this node.

CREATE FUNCTION snowflake_get_status(
    OUT state pg_catalog.text, OUT node pg_catalog.text, OUT worker integer, OUT lease_id bigint,
    OUT window_end pg_catalog.timestamptz, OUT last_id bigint, OUT keeper_pid integer,
    OUT last_error pg_catalog.text, OUT last_error_code pg_catalog.text, OUT advice pg_catalog.text,
    OUT horizon bigint, OUT horizon_pid integer, OUT horizon_xid pg_catalog.xid, OUT horizon_since pg_catalog.timestamptz)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_get_status() IS
'Returns what the view snowflake_status shows, from one consistent read. By horizon_xid the view
finds horizon_gid.';

CREATE VIEW snowflake_status AS
    SELECT s.state, s.node, s.worker, s.lease_id, s.window_end, s.last_id, s.keeper_pid, s.last_error, s.last_error_code, s.advice,
           s.horizon, s.horizon_pid, p.gid AS horizon_gid, coalesce(s.horizon_since, p.prepared) AS horizon_since
    FROM snowflake_get_status() s
         LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) s.horizon_xid;
COMMENT ON VIEW snowflake_status IS
    'One row with the state of this node. The numbers are in snowflake_metrics.';
COMMENT ON COLUMN snowflake_status.state IS
    'What a call would get now. issuing: an id. idle: an id, after it has acquired the first '
    'lease. clock behind: the clock is behind the last id or the lease by more than max_lead. '
    'window ended: the registry has not extended the lease. held back: the node has no lease, '
    'because the registry settles. no lease: the node has none for another reason. time used up: '
    'the layout has no time left. standby: the registry is in this database and cannot be written. '
    'not preloaded: the library must be preloaded and is not.';
COMMENT ON COLUMN snowflake_status.node IS 'Name of the node in the registry';
COMMENT ON COLUMN snowflake_status.worker IS 'Worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.lease_id IS
    'Number of the lease that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.window_end IS
    'End of the lease''s window. Ids are issued until then even while the registry is unavailable.';
COMMENT ON COLUMN snowflake_status.last_id IS
    'Highest id that may have been issued under the lease';
COMMENT ON COLUMN snowflake_status.keeper_pid IS 'Process id of the keeper, null if none runs';
COMMENT ON COLUMN snowflake_status.last_error IS
    'Error of the keeper''s last attempt to acquire, extend or release a lease. Null if the '
    'attempt succeeded. Only members of pg_read_all_settings see the parts that may name the '
    'registry''s address or a role of the registry''s server.';
COMMENT ON COLUMN snowflake_status.last_error_code IS 'SQLSTATE of last_error';
COMMENT ON COLUMN snowflake_status.advice IS
    'What needs attention. If ids or numbers of segments have stopped or are about to stop, the '
    'first line says why, until when they are issued, and what to do. Each line is one piece of '
    'advice. Null if all is well.';
COMMENT ON COLUMN snowflake_status.horizon IS
    'Newest value of snowflake_horizon() for a snapshot taken now. Null before the first call.';
COMMENT ON COLUMN snowflake_status.horizon_pid IS
    'Process whose transaction holds the horizon back. Null if there is no such process.';
COMMENT ON COLUMN snowflake_status.horizon_gid IS
    'Prepared transaction that holds the horizon back. Either the transaction has taken ids, or it '
    'was prepared before the server was started and may have taken ids.';
COMMENT ON COLUMN snowflake_status.horizon_since IS
    'When the transaction that holds the horizon back took its first id, or was prepared';
GRANT SELECT ON snowflake_status TO PUBLIC;

CREATE FUNCTION snowflake_get_metrics(
    OUT state pg_catalog.text, OUT issuing integer, OUT idle integer, OUT keeper_running integer,
    OUT registry_here integer, OUT worker integer, OUT ids_flow_seconds double precision,
    OUT lead_seconds double precision, OUT clock_lead_seconds double precision,
    OUT clock_bridged_total bigint, OUT clock_steps_back_total bigint, OUT ids_taken_total bigint,
    OUT clock_waits_total bigint, OUT lease_waits_total bigint, OUT failed_calls_total bigint,
    OUT failed_segment_calls_total bigint, OUT leases_acquired_total bigint,
    OUT registry_answers_total bigint, OUT registry_failures_total bigint,
    OUT registry_answer_seconds double precision,
    OUT since_registry_answer_seconds double precision, OUT registry_failing integer,
    OUT ranges_failing integer, OUT horizon_age_seconds double precision, OUT black_box integer,
    OUT advice integer, OUT end_of_life_seconds double precision)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_get_metrics() IS
'Returns what the view snowflake_metrics shows. All values are from one consistent read.';

CREATE VIEW snowflake_metrics AS
    SELECT * FROM snowflake_get_metrics();
COMMENT ON VIEW snowflake_metrics IS
    'One row with the state of this node in numbers, for monitoring systems. A value that the node '
    'does not have is null.';
COMMENT ON COLUMN snowflake_metrics.state IS
    'What a call would get now, as in snowflake_status. This is the only column that is not a '
    'number.';
COMMENT ON COLUMN snowflake_metrics.issuing IS
    '1 if a call would get an id now, else 0. Null on a standby, and if the library must be '
    'preloaded and is not.';
COMMENT ON COLUMN snowflake_metrics.idle IS
    '1 if no id has been requested yet, so that the first call acquires a lease. Otherwise 0. If '
    'both idle and issuing are 0, calls fail or wait. Null if issuing is null.';
COMMENT ON COLUMN snowflake_metrics.keeper_running IS
    '1 if the keeper runs, else 0. The next call that needs the keeper starts it.';
COMMENT ON COLUMN snowflake_metrics.registry_here IS
    '1 if the registry is in this database, else 0';
COMMENT ON COLUMN snowflake_metrics.worker IS 'Worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_metrics.ids_flow_seconds IS
    'Time for which ids are issued even while the registry is unavailable. 0 while calls fail, '
    'null without a lease.';
COMMENT ON COLUMN snowflake_metrics.lead_seconds IS
    'By how much the last tick is ahead of the node''s clock. 0 if the tick is not ahead.';
COMMENT ON COLUMN snowflake_metrics.clock_lead_seconds IS
    'By how much the node''s clock is ahead of the server''s clock after a step back of the '
    'server''s clock. Negative while the node''s clock does not follow a leap of the server''s '
    'clock.';
COMMENT ON COLUMN snowflake_metrics.clock_bridged_total IS
    'Steps back of the server''s clock after which the node''s clock ran on';
COMMENT ON COLUMN snowflake_metrics.clock_steps_back_total IS
    'Steps back of the clock after which another worker id was acquired';
COMMENT ON COLUMN snowflake_metrics.ids_taken_total IS
    'Ids that sessions have taken since the server was started';
COMMENT ON COLUMN snowflake_metrics.clock_waits_total IS 'Calls that waited for the clock';
COMMENT ON COLUMN snowflake_metrics.lease_waits_total IS
    'Calls that waited for a lease or for an extension of the window';
COMMENT ON COLUMN snowflake_metrics.failed_calls_total IS
    'Calls for ids that failed, or were cancelled while they waited';
COMMENT ON COLUMN snowflake_metrics.failed_segment_calls_total IS
    'Calls for numbers of segments that failed, or were cancelled while they waited';
COMMENT ON COLUMN snowflake_metrics.leases_acquired_total IS
    'Leases acquired since the server was started';
COMMENT ON COLUMN snowflake_metrics.registry_answers_total IS
    'Requests of the keeper that the registry answered';
COMMENT ON COLUMN snowflake_metrics.registry_failures_total IS
    'Requests of the keeper that the registry refused or did not answer';
COMMENT ON COLUMN snowflake_metrics.registry_answer_seconds IS
    'How long the newest answer of the registry took';
COMMENT ON COLUMN snowflake_metrics.since_registry_answer_seconds IS
    'Time since the newest answer of the registry';
COMMENT ON COLUMN snowflake_metrics.registry_failing IS
    '1 if the keeper''s last attempt to acquire, extend or release a lease failed, else 0. '
    'snowflake_status shows the error.';
COMMENT ON COLUMN snowflake_metrics.ranges_failing IS
    '1 if the keeper''s last attempt to acquire ranges of segments failed, else 0';
COMMENT ON COLUMN snowflake_metrics.horizon_age_seconds IS
    'How far the horizon is behind the node''s clock. Null before the first call of '
    'snowflake_horizon().';
COMMENT ON COLUMN snowflake_metrics.black_box IS
    '1 if the server has a black box, else 0. With a black box, ids continue under the same lease '
    'after a crash. Null if the library must be preloaded and is not.';
COMMENT ON COLUMN snowflake_metrics.advice IS 'Number of lines of advice in snowflake_status';
COMMENT ON COLUMN snowflake_metrics.end_of_life_seconds IS
    'Time until the layout''s time is used up';
GRANT SELECT ON snowflake_metrics TO PUBLIC;

CREATE FUNCTION snowflake_get_segments(
    OUT name pg_catalog.text, OUT next_here bigint, OUT left_here bigint, OUT rate double precision, OUT lasts interval,
    OUT usage_role pg_catalog.name) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_segments() IS
'Returns what the view snowflake_segments shows of this node. A role that reads the view needs
EXECUTE on this function.';
REVOKE ALL ON FUNCTION snowflake_get_segments() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION snowflake_get_segments() TO pg_read_all_stats;

CREATE VIEW snowflake_segments AS
    SELECT coalesce(s.name, n.name) AS name,
           CASE WHEN s.last_value OPERATOR(pg_catalog.<) s.max_value
               THEN s.last_value OPERATOR(pg_catalog.+) 1::bigint END AS next_value,
           s.max_value, s.step, s.max_step, h.holders, n.next_here, n.left_here, n.rate, n.lasts,
           CASE WHEN s.name IS NULL THEN n.usage_role ELSE s.usage_role END AS usage_role
    FROM (SELECT * FROM snowflake_segment WHERE dropped_at IS NULL) s
    FULL JOIN snowflake_get_segments() n ON n.name OPERATOR(pg_catalog.=) s.name
    LEFT JOIN LATERAL (
        SELECT pg_catalog.jsonb_agg(
                   pg_catalog.jsonb_build_object('node'::pg_catalog.text, r.node, 'role'::pg_catalog.text, pg_catalog.pg_get_userbyid(r.role),
                                                 'from'::pg_catalog.text, r.held_from, 'to'::pg_catalog.text, r.held_to, 'since'::pg_catalog.text, r.acquired_at)
                   ORDER BY r.held_to) AS holders
        FROM snowflake_segment_range r WHERE r.segment_id OPERATOR(pg_catalog.=) s.segment_id) h ON true;
COMMENT ON VIEW snowflake_segments IS
    'One row for each segment of this registry, with the numbers that this node has of the '
    'segment. If the registry is in another database, the view has one row for each segment that '
    'this node uses.';
COMMENT ON COLUMN snowflake_segments.name IS 'Name by which nodes ask for numbers';
COMMENT ON COLUMN snowflake_segments.next_value IS
    'First number of the next range. Null if all numbers are allocated.';
COMMENT ON COLUMN snowflake_segments.max_value IS 'Last number of the segment';
COMMENT ON COLUMN snowflake_segments.step IS 'Least size of a range';
COMMENT ON COLUMN snowflake_segments.max_step IS 'Greatest size of a range';
COMMENT ON COLUMN snowflake_segments.holders IS
    'Newest ranges of each node, with the keys node, role, from, to and since';
COMMENT ON COLUMN snowflake_segments.next_here IS
    'Next number of this node. Null if the node has no number.';
COMMENT ON COLUMN snowflake_segments.left_here IS
    'How many numbers this node has left. Null if no number has been requested on this node.';
COMMENT ON COLUMN snowflake_segments.rate IS
    'Numbers per second that this node has issued from its range';
COMMENT ON COLUMN snowflake_segments.lasts IS
    'How long left_here lasts at this node''s rate if the registry is unavailable. Null without a '
    'rate.';
COMMENT ON COLUMN snowflake_segments.usage_role IS
    'Role whose members may use the numbers. Null if every role may use the numbers. If the '
    'registry is in another database, the role is from the registry''s newest answer.';
GRANT SELECT ON snowflake_segments TO pg_read_all_stats;

-- Monitoring the registry.

CREATE VIEW snowflake_workers AS
    SELECT r.worker_id AS worker, r.node, r.lease_id, r.acquired_at, r.extended_at,
           snowflake_tick_timestamp(r.window_end) AS window_end,
           pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) (r.extended_at OPERATOR(pg_catalog.+)
               ((snowflake_tick_timestamp(r.window_end) OPERATOR(pg_catalog.-) r.extended_at)
                   OPERATOR(pg_catalog./) 2::double precision)) AS late,
           snowflake_tick_timestamp(r.window_end) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() AS expired,
           CASE WHEN r.role OPERATOR(pg_catalog.<>) 0::pg_catalog.oid THEN pg_catalog.pg_get_userbyid(r.role) END AS role
    FROM snowflake_registry r;
COMMENT ON VIEW snowflake_workers IS
    'One row for each worker id in the registry that is leased or set aside';
COMMENT ON COLUMN snowflake_workers.worker IS 'Worker id, datacenter bits included';
COMMENT ON COLUMN snowflake_workers.node IS 'Name of the node';
COMMENT ON COLUMN snowflake_workers.lease_id IS 'Number of the lease';
COMMENT ON COLUMN snowflake_workers.acquired_at IS
    'When the lease was acquired, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_workers.extended_at IS
    'When the lease was last extended, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_workers.window_end IS
    'End of the lease''s window. Ids of the lease have earlier timestamps.';
COMMENT ON COLUMN snowflake_workers.late IS
    'Whether more than half of the time from extended_at to window_end has passed. Keepers extend '
    'a lease when a third of it has passed.';
COMMENT ON COLUMN snowflake_workers.expired IS
    'Whether the window is over. Unless the registry settles, the next node that acquires a lease '
    'may get this worker id if no other is free.';
COMMENT ON COLUMN snowflake_workers.role IS
    'Role that acquired the lease. Only this role can extend or release it. Null if the worker id '
    'was set aside.';
GRANT SELECT ON snowflake_workers TO pg_read_all_stats;

CREATE FUNCTION snowflake_get_ring(OUT workers bigint, OUT common bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_ring() IS
'Returns how many worker ids a datacenter has in this database''s layout, and how many of these, the
lower two thirds, a registry does not assign while it settles.';

CREATE VIEW snowflake_registry_metrics AS
    SELECT ring.workers,
           coalesce(fullest.held, 0::bigint) AS workers_held,
           ring.workers OPERATOR(pg_catalog.-) coalesce(fullest.held, 0::bigint) AS workers_free,
           coalesce(fullest.expired, 0::bigint) AS workers_expired,
           CASE WHEN settling.seconds IS NOT NULL THEN
               coalesce(fullest.expired, 0::bigint) OPERATOR(pg_catalog.+) ring.common OPERATOR(pg_catalog.-)
               (SELECT pg_catalog.count(*) FROM snowflake_registry r
                WHERE (r.worker_id::bigint OPERATOR(pg_catalog./) ring.workers)
                          OPERATOR(pg_catalog.=) coalesce(fullest.datacenter, 0::bigint)
                    AND (r.worker_id::bigint OPERATOR(pg_catalog.%) ring.workers) OPERATOR(pg_catalog.<) ring.common)
               ELSE 0::bigint END AS workers_held_back,
           leases.number AS leases, leases.late AS leases_late, leases.expired AS leases_expired,
           coalesce(settling.seconds, 0::double precision) AS settling_seconds
    FROM snowflake_get_metrics() node
         CROSS JOIN snowflake_get_ring() ring
         CROSS JOIN (SELECT pg_catalog.count(*) AS number,
                            pg_catalog.count(*) FILTER (WHERE late AND NOT expired) AS late,
                            pg_catalog.count(*) FILTER (WHERE expired) AS expired
                     FROM snowflake_workers) leases
         LEFT JOIN (SELECT extract(epoch FROM settles_until OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())
                               ::double precision AS seconds
                    FROM snowflake_origin
                    WHERE settles_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp()) settling ON true
         LEFT JOIN LATERAL (SELECT w.worker::bigint OPERATOR(pg_catalog./) ring.workers AS datacenter,
                                   pg_catalog.count(*) FILTER (WHERE NOT w.expired) AS held,
                                   pg_catalog.count(*) FILTER (WHERE w.expired) AS expired
                            FROM snowflake_workers w GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1) fullest ON true
    WHERE node.registry_here OPERATOR(pg_catalog.=) 1;
COMMENT ON VIEW snowflake_registry_metrics IS
    'One row with the state of this database''s registry in numbers, for monitoring systems. If '
    'the registry is in another database, the view has no row. The numbers of worker ids are for '
    'the datacenter that has the fewest free worker ids.';
COMMENT ON COLUMN snowflake_registry_metrics.workers IS 'Worker ids of the datacenter';
COMMENT ON COLUMN snowflake_registry_metrics.workers_held IS
    'How many worker ids of the datacenter are held by nodes whose windows are not over';
COMMENT ON COLUMN snowflake_registry_metrics.workers_free IS
    'How many worker ids of the datacenter no node holds';
COMMENT ON COLUMN snowflake_registry_metrics.workers_expired IS
    'How many of the free worker ids belong to leases whose windows are over';
COMMENT ON COLUMN snowflake_registry_metrics.workers_held_back IS
    'How many of the free worker ids are held back because the registry settles';
COMMENT ON COLUMN snowflake_registry_metrics.leases IS
    'Leases in all datacenters, and worker ids that are set aside';
COMMENT ON COLUMN snowflake_registry_metrics.leases_late IS
    'Leases that are late (see snowflake_workers), and whose windows are not over yet';
COMMENT ON COLUMN snowflake_registry_metrics.leases_expired IS
    'Leases whose windows are over. Their nodes crashed, or cannot reach the registry.';
COMMENT ON COLUMN snowflake_registry_metrics.settling_seconds IS
    'Time until the registry has settled. 0 if the registry has settled.';
GRANT SELECT ON snowflake_registry_metrics TO pg_read_all_stats;
