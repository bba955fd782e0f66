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
    'inserted when a node starts to issue ids, and deleted when it shuts down cleanly; that of a '
    'crashed node, when another node needs the worker id or by snowflake_evict().';
COMMENT ON COLUMN snowflake_registry.lease_id IS
    'Number of the lease. It determines where the search for a free worker id begins.';
COMMENT ON COLUMN snowflake_registry.worker_id IS 'Worker id, datacenter bits included';
COMMENT ON COLUMN snowflake_registry.node IS 'Name of the node';
COMMENT ON COLUMN snowflake_registry.role IS
    'Role that acquired the lease, and alone can extend or release it. 0 if the worker id was '
    'set aside.';
COMMENT ON COLUMN snowflake_registry.secret_hash IS
    'SHA-256 of the lease secret. The node sends the hash to extend the lease, and the secret '
    'only to release it.';
COMMENT ON COLUMN snowflake_registry.acquired_at IS
    'When the lease was acquired, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_registry.extended_at IS
    'When the lease was last extended, by the same clock';
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
    'Highest tick that an ended lease may have used. The next lease starts above it.';
COMMENT ON COLUMN snowflake_watermark.leases_ended IS 'How many leases of the worker id have ended';

CREATE TABLE snowflake_layout (
    singleton  boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    definition pg_catalog.text COLLATE pg_catalog."C" NOT NULL
);
COMMENT ON TABLE snowflake_layout IS
    'The layout of this database''s ids, in at most one row. If the table is empty, the default '
    'layout applies. The row is written by snowflake_set_layout(), snowflake_set_aside(), the '
    'first lease, a restore or replication.';
COMMENT ON COLUMN snowflake_layout.singleton IS 'Always true, so at most one row';
COMMENT ON COLUMN snowflake_layout.definition IS
    'The definition, in its canonical form: epoch in milliseconds, tick in the largest unit, time '
    'and the other fields that have bits, from the highest down, with one space between';

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
    stepped_from      bigint NOT NULL DEFAULT 0,
    stepped_to        bigint NOT NULL DEFAULT 0,
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
    'One row with the state of the registry: its server and database at the last call of a node, '
    'its lease ids, whether it settles, and its clock';
COMMENT ON COLUMN snowflake_origin.singleton IS 'Always true, so at most one row';
COMMENT ON COLUMN snowflake_origin.system_identifier IS 'System identifier of that server';
COMMENT ON COLUMN snowflake_origin.timeline IS 'Timeline of that server';
COMMENT ON COLUMN snowflake_origin.started_at IS
    'When that server was started. Null before the first call.';
COMMENT ON COLUMN snowflake_origin.database_oid IS 'OID of that database. A copy has another one.';
COMMENT ON COLUMN snowflake_origin.clean_at IS
    'When that server was shut down cleanly. Null while nodes use the registry. For ten minutes, '
    'this shows a server on the next timeline that it has all commits of the registry.';
COMMENT ON COLUMN snowflake_origin.last_lease_id IS
    'Newest lease id or, if lease ids have skipped since, the number above which they continue';
COMMENT ON COLUMN snowflake_origin.leases_begun IS
    'How many rows were inserted into snowflake_registry. If these are more than its rows and '
    'leases_ended of snowflake_watermark together, leases were lost.';
COMMENT ON COLUMN snowflake_origin.jumped_from IS
    'Lease ids above this one and up to jumped_to were skipped when the server was started or '
    'promoted, or the database copied. A node that names one holds a lost lease.';
COMMENT ON COLUMN snowflake_origin.jumped_to IS 'Last lease id that was skipped';
COMMENT ON COLUMN snowflake_origin.stepped_from IS
    'Lease ids above this one and up to stepped_to were skipped when the wall clock stepped, as '
    'it does if a virtual machine is reverted with its memory. A node that names one holds a '
    'lost lease.';
COMMENT ON COLUMN snowflake_origin.stepped_to IS 'Last lease id that was skipped then';
COMMENT ON COLUMN snowflake_origin.raised_tick IS
    'Highest tick that snowflake_raise() has excluded for all nodes, or -1';
COMMENT ON COLUMN snowflake_origin.longest_us IS
    'Longest lease duration that a node has requested, in microseconds, or 0';
COMMENT ON COLUMN snowflake_origin.settling_us IS
    'How long the registry settles in all, in microseconds. Meanwhile, only the upper third of '
    'the worker ids of each datacenter is assigned. 0 if it has settled.';
COMMENT ON COLUMN snowflake_origin.settling_left_us IS
    'How long it still settles, in microseconds from counted_us on';
COMMENT ON COLUMN snowflake_origin.counted_us IS
    'When settling_left_us was written, in microseconds of the server''s monotonic clock';
COMMENT ON COLUMN snowflake_origin.settles_until IS
    'When settling ends if the wall clock is not set meanwhile, or null';
COMMENT ON COLUMN snowflake_origin.floor_at IS
    'Windows of new leases begin after this time, because a window up to it may have been lost. '
    'Null if there is none.';
COMMENT ON COLUMN snowflake_origin.loss_known IS
    'Whether a loss of commits was noticed since the server was started. Further evidence then '
    'belongs to that loss.';
COMMENT ON COLUMN snowflake_origin.settle_called_at IS 'When snowflake_settle() was last called';
COMMENT ON COLUMN snowflake_origin.clock_offset_us IS
    'The registry''s time minus the server''s monotonic clock, in microseconds. Ordinarily its '
    'time is that of the wall clock.';
COMMENT ON COLUMN snowflake_origin.clock_since_us IS
    'Since when the wall clock has shown that time, in microseconds of the monotonic clock. '
    '0: not read yet.';
COMMENT ON COLUMN snowflake_origin.step_offset_us IS
    'The wall clock minus the monotonic clock after a step, in microseconds. When this has '
    'lasted for ten minutes, it becomes clock_offset_us.';
COMMENT ON COLUMN snowflake_origin.step_since_us IS
    'Since when the wall clock has kept step_offset_us, in microseconds of the monotonic clock. '
    '0 without a step.';

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
    'One row for each segment of this registry, and for each dropped one whose ranges other '
    'nodes may hold';
COMMENT ON COLUMN snowflake_segment.name IS 'Name by which nodes ask for numbers';
COMMENT ON COLUMN snowflake_segment.segment_id IS
    'Random number that distinguishes segments of the same name';
COMMENT ON COLUMN snowflake_segment.last_value IS
    'Last number that was allocated, at first the number before the first one. It falls only if '
    'a node releases the end of the newest range.';
COMMENT ON COLUMN snowflake_segment.max_value IS 'Last number that may be allocated';
COMMENT ON COLUMN snowflake_segment.step IS 'Least size of a range';
COMMENT ON COLUMN snowflake_segment.max_step IS 'Greatest size of a range';
COMMENT ON COLUMN snowflake_segment.period_at IS
    'Start of the period in which the column allocated counts, as long as the registry''s '
    'snowflake.lease_duration';
COMMENT ON COLUMN snowflake_segment.allocated IS 'How many numbers were allocated in that period';
COMMENT ON COLUMN snowflake_segment.allocated_before IS
    'The same for the newest earlier period with an allocation';
COMMENT ON COLUMN snowflake_segment.newest IS 'Size of the newest range';
COMMENT ON COLUMN snowflake_segment.allocated_elsewhere IS
    'Whether a range was allocated to another database''s node';
COMMENT ON COLUMN snowflake_segment.skips IS
    'How many times the next range skips as many numbers as lost commits may have allocated';
COMMENT ON COLUMN snowflake_segment.dropped_at IS
    'When the segment was dropped, or null. Other nodes may still hold its ranges. A new segment '
    'of the same name continues above last_value.';
COMMENT ON COLUMN snowflake_segment.usage_role IS
    'Role whose members may use the numbers. Each server checks its own role of that name. Null: '
    'every role may.';

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
    'One row for each node, role and segment, with the newest ranges of the node. If a node will '
    'never return, delete its rows.';
COMMENT ON COLUMN snowflake_segment_range.segment_id IS 'Segment of the ranges';
COMMENT ON COLUMN snowflake_segment_range.here IS 'Whether the node is this database';
COMMENT ON COLUMN snowflake_segment_range.role IS 'Role that acquired the ranges';
COMMENT ON COLUMN snowflake_segment_range.node IS 'Name of the node';
COMMENT ON COLUMN snowflake_segment_range.secret_hash IS
    'SHA-256 of a secret of the node. The node sends the hash to acquire ranges, and the secret '
    'only to release numbers.';
COMMENT ON COLUMN snowflake_segment_range.held_from IS
    'First number that the node can release as unused';
COMMENT ON COLUMN snowflake_segment_range.newest_from IS 'First number of the newest range';
COMMENT ON COLUMN snowflake_segment_range.held_to IS 'Last number of the newest range';
COMMENT ON COLUMN snowflake_segment_range.acquired_at IS 'When the newest range was acquired';

-- Where ids go on after a clean shutdown. A database that issues ids has this row even if its
-- registry is elsewhere.

CREATE TABLE snowflake_last_tick (
    database_oid bigint PRIMARY KEY,
    began_at     pg_catalog.timestamptz NOT NULL,
    registry_is_set boolean NOT NULL
);
COMMENT ON TABLE snowflake_last_tick IS
    'The tick after which the ids of this database continue, stored at each clean shutdown. If it '
    'is ahead of the clock by at most snowflake.max_bridge and 10 seconds when a server is started, '
    'ids continue after it. pg_upgrade and standbys carry it, pg_dump does not.';
COMMENT ON COLUMN snowflake_last_tick.database_oid IS
    'OID of the database. Rows of other databases, of which this one is a copy, do not count.';
COMMENT ON COLUMN snowflake_last_tick.began_at IS
    'When the tick began: the last one that an id has or, if that is later, the one of the highest '
    'horizon that may have been reported';
COMMENT ON COLUMN snowflake_last_tick.registry_is_set IS
    'Whether snowflake.registry was set at that shutdown. If it is empty after it, '
    'snowflake_status.advice says so.';

-- What a dump carries. Leases, watermarks and the origin of another server must not be restored.
SELECT pg_catalog.pg_extension_config_dump('snowflake_layout'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('snowflake_segment'::pg_catalog.regclass, 'WHERE dropped_at IS NULL'::pg_catalog.text);
-- The owner of a database dumps it, and restores the dump into a database whose extension may
-- belong to another role.
GRANT SELECT, INSERT ON snowflake_layout, snowflake_segment TO pg_database_owner;

-- Guards: writes that bypass the protocol (see below) must not lead to equal ids.
-- snowflake_make_guards() makes triggers of these functions.

CREATE FUNCTION snowflake_layout_changed() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_layout_changed() IS
'Trigger function of snowflake_layout. It refuses with 55000 to change the layout once a lease was
acquired, and notifies sessions of changes. In CREATE EXTENSION it records the registry''s server.';
REVOKE ALL ON FUNCTION snowflake_layout_changed() FROM PUBLIC;

CREATE FUNCTION snowflake_guard() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard() IS
'Trigger function of the registry''s tables, against writes that bypass the protocol. If a lease is
deleted by hand, the last tick of its window becomes the watermark. A write that would change a
lease, or lower or remove a watermark or a segment, fails with 55000. Writes of logical replication
are discarded, except a layout into an empty table.';
REVOKE ALL ON FUNCTION snowflake_guard() FROM PUBLIC;

CREATE FUNCTION snowflake_guard_drop() RETURNS pg_catalog.event_trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard_drop() IS
'Function of the event trigger _snowflake_guard_drop. It loads the library, which refuses with 55000
to drop the registry while other nodes hold leases or ranges of segments.';
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
    OUT layout pg_catalog.text, OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT settle_called_us bigint,
    OUT workers_free bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_acquire(pg_catalog.text, integer, bigint, interval, pg_catalog.bytea, bigint, bigint, boolean) IS
'Acquires a lease on a worker id for the node with this name in this datacenter. now_tick is the
tick of the node''s clock. duration is 1 second to 1 day, and is limited to
snowflake.max_lease_duration. secret_hash is the SHA-256 of the lease secret. If the role already
has a lease with this hash, the function extends and returns it. seen_lease_id is the newest lease
id that the node had from this registry, or 0. If start_before is not null, the window must start
before that tick. leapt says that the node''s wall clock has leapt to now_tick, and that the node
does not follow yet. The registry accepts this only if its own clock has not stepped for ten
minutes. A null is like false.

Returns the lease, the registry''s layout, and the system identifier and timeline of the registry''s
server. raised_tick is the tick that snowflake_raise() has excluded. settle_called_us is the time of
the last snowflake_settle() in microseconds since 1970-01-01 UTC. workers_free is how many worker
ids of the datacenter no other node holds, or -1 if they were not counted.

All columns are null in two cases:

- the window cannot start before start_before;
- the registry settles, the role has no lease with this hash, and the call only recorded that
  commits were lost, or how long the registry still settles. Then call again.
Errors: 22004 for a null, except in start_before and leapt, 22023 for an invalid argument, 25001 in
a transaction block, 53400 if the role has snowflake.max_leases_per_role leases and none has
expired, SF002 if the clocks differ by more than snowflake.max_clock_skew, SF003 if the layout''s
time is used up, SF004 if every worker id is leased or held back.';
REVOKE ALL ON FUNCTION snowflake_lease_acquire(pg_catalog.text, integer, bigint, interval, pg_catalog.bytea, bigint, bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_lease_extend(
    lease_id bigint, secret_hash pg_catalog.bytea, now_tick bigint, duration interval, held_until bigint,
    worker_id integer, window_start bigint, leapt boolean DEFAULT false,
    OUT window_end bigint,
    OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT settle_called_us bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_extend(bigint, pg_catalog.bytea, bigint, interval, bigint, integer, bigint, boolean) IS
'Extends a lease: moves the end of its window to now_tick plus duration, but never back. held_until
is the end of the window in the node''s copy of the lease, and worker_id and window_start are from
that copy. If the row of the lease was lost, the registry restores it from these values. leapt is as
in snowflake_lease_acquire(), but not null.

Returns the new end of the window, or null if the lease no longer exists or belongs to another role.
The other columns are as in snowflake_lease_acquire().
Errors: 22004 for a null, 22023 for an invalid argument, 25001 in a transaction block, SF002 if the
clocks differ by more than snowflake.max_clock_skew, or if held_until is further ahead than a window
can reach.';
REVOKE ALL ON FUNCTION snowflake_lease_extend(bigint, pg_catalog.bytea, bigint, interval, bigint, integer, bigint, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_lease_release(lease_id bigint, secret pg_catalog.bytea, last_tick bigint, held_until bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_release(bigint, pg_catalog.bytea, bigint, bigint) IS
'Releases a lease, by its secret. last_tick is the last tick that the node used, held_until the end
of the window in the node''s copy of the lease. The watermark becomes the later of last_tick and the
tick of this server''s clock plus snowflake.max_clock_skew and snowflake.max_lead, but at most the
last tick of the window.

Returns false if the lease no longer exists or belongs to another role.
Errors: 22004 for a null, 22023 if last_tick is neither in the window nor the tick before it, 25001
in a transaction block, SF002 if last_tick or held_until is further ahead of this server''s clock
than a node can be.';
REVOKE ALL ON FUNCTION snowflake_lease_release(bigint, pg_catalog.bytea, bigint, bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_segment_ranges(
    node pg_catalog.text, names pg_catalog.text[], segment_ids bigint[], highest bigint[], unused bigint[], wanted bigint[],
    secrets pg_catalog.bytea[],
    OUT segment_ids bigint[], OUT range_last bigint[], OUT range_count bigint[],
    OUT usage_roles pg_catalog.text[],
    OUT system_identifier bigint, OUT timeline bigint, OUT settle_called_us bigint, OUT known pg_catalog.text)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_segment_ranges(pg_catalog.text, pg_catalog.text[], bigint[], bigint[], bigint[], bigint[], pg_catalog.bytea[]) IS
'Allocates ranges of segments to the node with this name, or releases unused numbers. Each array has
one element for each segment:

- names: its name;
- segment_ids: the segment_id that the node has recorded, or 0;
- highest: the highest number that the node has acquired;
- unused: how many numbers up to highest the node has not issued;
- wanted: about how many numbers the node requests, negative if none;
- secrets: the SHA-256 of a secret of the node, or the secret.

If wanted is not negative, the registry allocates a range and records it with the hash. If wanted is
negative, the hash records that only the unused numbers can be released, and the secret releases
them.

Returns for each segment segment_ids, with 0 if it does not exist, range_last, the last number of
the range, range_count, the size of the range or 0, and usage_roles, with an empty string if every
role may use the numbers. If a segment does not exist, known lists existing ones. The other columns
are as in snowflake_lease_acquire().
Errors: 22004 for a null, 22023 for arrays of different lengths, 25001 in a transaction block, 55000
if highest is far above all allocated numbers.';
REVOKE ALL ON FUNCTION snowflake_segment_ranges(pg_catalog.text, pg_catalog.text[], bigint[], bigint[], bigint[], bigint[], pg_catalog.bytea[]) FROM PUBLIC;

-- For administrators: worker ids, settling, ids that must be larger, segments.

CREATE FUNCTION snowflake_evict(worker_id integer, dead_since pg_catalog.timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_evict(integer, pg_catalog.timestamptz) IS
'Frees the worker id of a dead node. The node must certainly have been dead since dead_since, and
stay dead until its window ends: if its server is started without a reboot of the machine, it
continues under its lease. If its clock may have been ahead by more than snowflake.max_clock_skew
and snowflake.max_bridge of this server together, ids can be issued twice: then wait for the end of
the window instead. A node bridges by its own server''s max_bridge, which this server does not know.

The next lease of the worker id starts no earlier than dead_since plus these two settings and
snowflake.max_lead of this server, or than the end of the window if that is earlier. If
snowflake.max_clock_skew is 0, or the window ends so late that the node''s clock must be ahead of
the registry''s, it starts above the window.

Returns false if snowflake_registry has no row with the worker id.
Errors: 22004 for a null, 22023 for a time that is infinite, in the future or before extended_at.';
REVOKE ALL ON FUNCTION snowflake_evict(integer, pg_catalog.timestamptz) FROM PUBLIC;

CREATE FUNCTION snowflake_set_aside(worker_id integer) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_aside(integer) IS
'Sets a worker id aside for ids that snowflake_encode() makes: no node gets it until
snowflake_evict() is called for it, with a time after this call. snowflake_workers shows it as the
node "set aside". snowflake_check() accepts its ids, except ids of the future. The call fixes the
layout, as the first lease does.
Errors: 22004 for a null, 22023 if the layout has no such worker id, 55000 if the worker id is or
was leased, while the registry settles, or if the registry is in another database.';
REVOKE ALL ON FUNCTION snowflake_set_aside(integer) FROM PUBLIC;

CREATE FUNCTION snowflake_settle(reason pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settle(pg_catalog.text) IS
'Records that commits of this registry may have been lost, for example by a restore. The registry
settles for as long as the longest lease can last. Nodes accept it from then on, even if they have
seen a newer timeline. The reason is logged.
Errors: 22004 for a null.';
REVOKE ALL ON FUNCTION snowflake_settle(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_settled() RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settled() IS
'Ends settling. Call it only if no commit of this registry was lost; snowflake_registry_metrics
shows whether the registry settles. The present start of its server is no reason to settle again,
and floor_at of snowflake_origin becomes null.

Returns false if the registry did not settle and had no reason to settle.';
REVOKE ALL ON FUNCTION snowflake_settled() FROM PUBLIC;

CREATE FUNCTION snowflake_make_guards() RETURNS integer
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_make_guards() IS
'Makes the guards again that this database has lost, and returns how many: triggers of the
registry''s tables that are missing, changed or not ENABLE ALWAYS, and the event trigger
_snowflake_guard_drop if it is not ENABLE ALWAYS. advice of snowflake_status names them. Acquires
and extends wait until the transaction ends. Only a superuser enables the event trigger: for others
a WARNING says that it is left.
Errors: 42501 unless the caller may create triggers on the tables, as their owner and superusers
may, 55000 if a table or a trigger function is not as the extension made it.';
REVOKE ALL ON FUNCTION snowflake_make_guards() FROM PUBLIC;
-- Nobody can have put a function of this type there before, which a call could mean, too.
CREATE FUNCTION snowflake_make_guards(snowflake_origin) RETURNS integer
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
SELECT snowflake_make_guards(NULL::snowflake_origin);
DROP FUNCTION snowflake_make_guards(snowflake_origin);

-- There is no row to delete. The statement fires snowflake_layout_changed, which fills
-- snowflake_origin before the first lease, so that a standby notices a failover even if it is
-- promoted before it receives that lease.
DELETE FROM snowflake_layout;

CREATE FUNCTION snowflake_raise(id bigint) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_raise(bigint) IS
'Makes all later ids of this node larger than the given id. If the registry is in this database, so
do its other nodes after they have extended their leases, when a third of the window has passed.
Returns when the node''s clock has passed the id''s timestamp. While the node bridges a step back,
its clock is ahead of the server''s, and other nodes will issue ids that are as far ahead of their
clocks.
Errors: 22003 for an id that is negative or that the layout cannot hold, 22004 for a null, 22023 if
the id''s timestamp is more than snowflake.max_clock_skew ahead of the clock, 55000 if this node has
no lease and its registry is not known to be this database.';
REVOKE ALL ON FUNCTION snowflake_raise(bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_renew() RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_renew() IS
'Makes this node forget its lease and its ranges of segments, without releasing them. Ids are then
issued under a new lease. Call it in a copy of a running machine before an id is requested there.';
REVOKE ALL ON FUNCTION snowflake_renew() FROM PUBLIC;

CREATE FUNCTION snowflake_create_segment(
    name pg_catalog.text, start bigint DEFAULT 1, step integer DEFAULT 1000, max_value bigint DEFAULT 9223372036854775807, max_step integer DEFAULT 1000000,
    usage_role pg_catalog.name DEFAULT NULL)
    RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_create_segment(pg_catalog.text, bigint, integer, bigint, integer, pg_catalog.name) IS
'Creates a segment in this registry with the numbers from start to max_value. Nodes acquire ranges
of step to max_step numbers. Unless usage_role is null, only members of that role may use the
numbers; each server checks its own role of that name. If a segment of the same name was dropped
of which another node ever acquired a range, the new one continues above its numbers.
Errors: 22004 if another argument is null, 22023 for an invalid name or limits, 42710 if the segment
exists, 55000 if the registry is in another database, SF006 if the dropped segment has used all
numbers up to max_value.';
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
'Raises a segment of this registry: the next number that it allocates becomes at least value, and
never falls. This database''s own node issues no number below value from now on. Other nodes still
issue the numbers that they hold. Returns the next number that the registry allocates.
Errors: 22004 for a null, 22023 if value is not between 1 and max_value, 42704 if there is no such
segment, 55000 if the registry is in another database.';
REVOKE ALL ON FUNCTION snowflake_raise_segment(pg_catalog.text, bigint) FROM PUBLIC;

-- Issuing.

CREATE FUNCTION snowflake_nextval_support(pg_catalog.internal) RETURNS pg_catalog.internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextval_support(pg_catalog.internal) IS
'Planner support function that lets COPY insert many rows at a time.';

CREATE FUNCTION snowflake_nextval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_nextval() IS
'Returns the next id, in read-only transactions, too.
Errors: SF001 without a lease, SF002 if the clock is behind, SF003 if the layout''s time is used up,
SF004 if every worker id is leased or held back, 25006 on a standby whose registry is in this
database, 55000 if the library must be preloaded and is not, or in the transaction that created the
extension.';

-- For COPY, the support function of both lets the planner replace snowflake_nextval() by this
-- function. It is STABLE, though each call returns another id, because COPY inserts one row at a
-- time if a default is volatile (src/pg/sql/copy.cpp).
CREATE FUNCTION snowflake_copy_nextval(pg_catalog.internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_nextval(pg_catalog.internal) IS
'COPY FROM evaluates it instead of snowflake_nextval() in a column''s default, with the same result
and errors; for a role that may execute only that, COPY FROM inserts one row at a time. SQL cannot
call it.';

CREATE FUNCTION snowflake_nextvals(count integer) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextvals(integer) IS
'Returns count ids in ascending order.
Errors: 22023 unless count is positive, and the errors of snowflake_nextval().';

CREATE FUNCTION snowflake_currval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_currval() IS
'Returns the id that this session, without its parallel workers, issued last.
Errors: 55000 before the session''s first id.';

CREATE FUNCTION snowflake_segment_nextval(name pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_segment_nextval(pg_catalog.text) IS
'Returns the next number of a segment, for column defaults, and in read-only transactions, too.
Numbers are unique on all nodes of the registry, and rise on each node.
Errors: 22023 for an invalid name, 42501 without the privileges of the segment''s usage_role, 42704
if there is no such segment, 53400 if snowflake.max_segments segments are in use, 25006 and 55000 as
for snowflake_nextval(), 55000 in the transaction that created the segment, SF005 if the registry
allocates no range in time, SF006 if the segment is used up.';

CREATE FUNCTION snowflake_copy_segment_nextval(pg_catalog.internal, pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_segment_nextval(pg_catalog.internal, pg_catalog.text) IS
'The same as snowflake_copy_nextval(), for snowflake_segment_nextval().';

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
'Returns an id below which no new rows of this node appear: rows below it are either visible to the
calling statement or never will be. This holds for rows whose id was issued on this node, in the
transaction that wrote the row, and for rows that passed the trigger snowflake_claim(). Returns 0
while no such id is known.
Errors: 0A000 in a part of a statement that Citus sent from another node, 25006 during recovery,
55000 if the library must be preloaded and is not.';

CREATE FUNCTION snowflake_claim() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_claim() IS
'Trigger for tables that are read below snowflake_horizon(): the horizon then also covers rows whose
ids were not issued in the transaction that inserts them. Create it BEFORE INSERT, FOR EACH ROW; its
argument names the column with the id, a bigint, a snowflake_id, or a domain of these. If a higher
horizon was already reported, the insert fails. With BEFORE INSERT OR UPDATE, this holds for changed
ids, too. A null is not checked.
Errors: 39P01 if the trigger is created in another way, 42703 and 42804 if there is no such column
or it has another type, 42809 for a temporary table, 55000 if the library must be preloaded and is
not, SF007 if a reported horizon is above the id.';

CREATE FUNCTION snowflake_confirm_clock() RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_confirm_clock() IS
'Confirms that this server''s clock is right, although it is more than snowflake.max_leap ahead of
what the server knows of the time, or behind that by more than snowflake.max_bridge and a minute.
The server knows the time by what it has stored with one, such as checkpoints and commits, by its
clock, and by what has passed since. If the clock was in doubt, the nodes of the server follow it
and snowflake_horizon() rises with it from then on; without this call, when it has kept its time for
ten minutes. A registry judges clocks by itself, and is told nothing.

Returns false if there was nothing to confirm.
Errors: 55000 if the clock shows a time before 2025, 58030 if the data directory cannot be written.';
REVOKE ALL ON FUNCTION snowflake_confirm_clock() FROM PUBLIC;

CREATE FUNCTION snowflake_reset_horizon(OUT horizon_before bigint, OUT horizon_after bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_reset_horizon() IS
'Takes back a horizon of the future when a wrong clock has been set right. snowflake_claim() then
accepts rows with ids of the present again, and readers get them. If ids are still of the wrong
time, the node acquires another worker id, and calls wait for it. Also reset the horizons and ids
that readers have stored, which the function cannot do. The clock is confirmed, as by
snowflake_confirm_clock().

horizon_before is the highest horizon that was or may have been reported. No id below horizon_after,
the new horizon, is issued or accepted from now on.
Errors: 25006 during recovery, 55000 if the horizon is not more than a minute ahead of the clock, or
the clock shows a time before 2025, 58030 if the data directory cannot be written.';
REVOKE ALL ON FUNCTION snowflake_reset_horizon() FROM PUBLIC;

-- Reading and encoding.

CREATE FUNCTION snowflake_decode(id bigint, OUT ts pg_catalog.timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint) IS
'Returns the timestamp, worker id and sequence number of an id in this database''s layout. In the
default layout, all are null for numbers below 251658240000: no id was issued in the layout''s first
minute, so these come from elsewhere, such as a sequence.
Errors: 22003 for an id that the layout cannot hold.';

CREATE FUNCTION snowflake_decode(id bigint, layout pg_catalog.text, OUT ts pg_catalog.timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, pg_catalog.text) IS
'The same in another layout: a name in the view snowflake_layouts, or a definition such as
''epoch=1582165202020 tick=1ms time=51 worker=6 seq=6'': epoch in milliseconds since 1970 or as a
day, such as 2025-01-01, in UTC; tick in us, ms or s, 1ms if it is missing; and the bits of the
fields, from the highest ones down. The fields are time, datacenter, worker, seq, and skip for bits
to pass over. A time that is split has sec and ms. No value is null; a missing worker id or sequence
number is 0.
Errors: also 22023 for an unknown layout or an invalid definition.';

CREATE FUNCTION snowflake_timestamp(id bigint) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint) IS
'Returns the timestamp of an id in this database''s layout. Unlike that of snowflake_decode(), it is
never null.
Errors: 22003 for an id that the layout cannot hold.';

CREATE FUNCTION snowflake_timestamp(id bigint, layout pg_catalog.text) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, pg_catalog.text) IS
'The same in a layout given as for snowflake_decode().
Errors: also 22023 for an unknown layout or an invalid definition.';

CREATE FUNCTION snowflake_encode(ts pg_catalog.timestamptz, worker integer, seq integer) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(pg_catalog.timestamptz, integer, integer) IS
'Returns the id with this timestamp, rounded down to its tick, worker id and sequence number in this
database''s layout: the inverse of snowflake_decode(). It can be an id that was or will be issued.
Errors: 22003 if a part does not fit its field.';

CREATE FUNCTION snowflake_encode(ts pg_catalog.timestamptz, worker integer, seq integer, layout pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(pg_catalog.timestamptz, integer, integer, pg_catalog.text) IS
'The same in a layout given as for snowflake_decode().
Errors: also 22023 for an unknown layout or an invalid definition.';

CREATE FUNCTION snowflake_tick_timestamp(tick bigint) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_tick_timestamp(bigint) IS
'Returns when a tick of this database''s layout starts, infinite if a timestamp cannot hold it.';

CREATE FUNCTION snowflake_id_at(ts pg_catalog.timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(pg_catalog.timestamptz) IS
'Returns the smallest id whose timestamp is ts or later in this database''s layout, or 0 for a time
before the epoch. For ids that are not negative, id >= snowflake_id_at(ts) is equivalent to
snowflake_timestamp(id) >= ts.
Errors: 22003 for a time that is after the layout''s last tick, or at which ids are negative.';

CREATE FUNCTION snowflake_id_at(ts pg_catalog.timestamptz, layout pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(pg_catalog.timestamptz, pg_catalog.text) IS
'The same in a layout given as for snowflake_decode().
Errors: also 22023 for an unknown layout, an invalid definition, or one whose ids are not ordered by
time.';

CREATE FUNCTION snowflake_range(during pg_catalog.tstzrange) RETURNS pg_catalog.int8range
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(pg_catalog.tstzrange) IS
'Returns the range of ids whose timestamps are within during, in this database''s layout. It has no
upper bound if during ends after the layout''s last tick. For ids that are not negative, id <@
snowflake_range(during) is equivalent to snowflake_timestamp(id) <@ during.
Errors: 22003 for a finite bound at which ids are negative.';

CREATE FUNCTION snowflake_range(during pg_catalog.tstzrange, layout pg_catalog.text) RETURNS pg_catalog.int8range
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(pg_catalog.tstzrange, pg_catalog.text) IS
'The same in a layout given as for snowflake_decode().
Errors: also 22023 for an unknown layout, an invalid definition, or one whose ids are not ordered by
time.';

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
'Returns the id that snowflake_to_text() encoded. In base32 it also accepts lower case, I and L for
1, O for 0, and hyphens anywhere.
Errors: 22003 for a number above the largest id, 22023 for an unknown encoding, 22P02 if the text
has another width or a character that is not a digit of the encoding.';

CREATE FUNCTION snowflake_to_text(id bigint, encoding pg_catalog.text, prefix pg_catalog.text) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_to_text(bigint, pg_catalog.text, pg_catalog.text) IS
'Returns a prefix, an underscore and the same text, such as order_ and the digits; with the empty
prefix, no underscore. A prefix has up to 63 of the characters a to z and _, and does not begin or
end with _.
Errors: also 22023 for an invalid prefix.';

CREATE FUNCTION snowflake_from_text(id pg_catalog.text, encoding pg_catalog.text, prefix pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_from_text(pg_catalog.text, pg_catalog.text, pg_catalog.text) IS
'The same for a text with this prefix.
Errors: also 22023 for an invalid prefix, 22P02 if the text has another one.';

CREATE FUNCTION snowflake_mask(id bigint, prefix pg_catalog.text) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_mask(bigint, pg_catalog.text) IS
'Returns an id as text that shows neither when its row was created nor how many rows there are: the
prefix, an underscore (none after the empty prefix) and 15 digits of base58. It is encrypted with
the last key in the file of snowflake.mask_key_file.
Errors: 0A000 if the library was built without libcrypto, 22023 for an invalid prefix, 55000 if
there is no key.';

CREATE FUNCTION snowflake_unmask(masked pg_catalog.text, prefix pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_unmask(pg_catalog.text, pg_catalog.text) IS
'Returns the id that snowflake_mask() encrypted with this prefix and any key in the file of
snowflake.mask_key_file. One in 65,536 invalid texts is not noticed; its result is a random number.
Errors: 0A000 if the library was built without libcrypto, 22023 for an invalid prefix, 22P02 if the
text has another prefix, was changed or was masked with another key, 55000 if there is no key.';

-- A type of ids for clients that read JSON: only PostgreSQL's own number types become JSON numbers.
-- It has no operator class. Those of bigint apply through the implicit cast, so keys, foreign keys
-- and partitions are bigint's, and ALTER TYPE rewrites nothing.

CREATE TYPE snowflake_id;

CREATE FUNCTION snowflake_id_in(pg_catalog.cstring) RETURNS snowflake_id
    AS 'int8in' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_in(pg_catalog.cstring) IS
'As int8in() for bigint.';

CREATE FUNCTION snowflake_id_out(snowflake_id) RETURNS pg_catalog.cstring
    AS 'int8out' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_out(snowflake_id) IS
'As int8out() for bigint.';

CREATE FUNCTION snowflake_id_recv(pg_catalog.internal) RETURNS snowflake_id
    AS 'int8recv' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_recv(pg_catalog.internal) IS
'As int8recv() for bigint.';

CREATE FUNCTION snowflake_id_send(snowflake_id) RETURNS pg_catalog.bytea
    AS 'int8send' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_send(snowflake_id) IS
'As int8send() for bigint.';

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
COMMENT ON FUNCTION snowflake_id(integer) IS
'Casts an integer.';
CREATE CAST (integer AS snowflake_id) WITH FUNCTION snowflake_id(integer) AS ASSIGNMENT;
COMMENT ON CAST (integer AS snowflake_id) IS 'The same number';

CREATE FUNCTION snowflake_id(smallint) RETURNS snowflake_id
    AS 'int28' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id(smallint) IS
'Casts a smallint.';
CREATE CAST (smallint AS snowflake_id) WITH FUNCTION snowflake_id(smallint) AS ASSIGNMENT;
COMMENT ON CAST (smallint AS snowflake_id) IS 'The same number';

-- The argument is anyrange: with int8range, an untyped literal that is meant as a range would be
-- read as an id in '[1,5)' <@ an int8range. The body is a string: pg_upgrade may create this
-- function, for a domain's CHECK, before the cast to bigint.
CREATE FUNCTION snowflake_id_contained(snowflake_id, pg_catalog.anyrange) RETURNS boolean
    AS 'SELECT $1::bigint OPERATOR(pg_catalog.<@) $2' LANGUAGE sql IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_contained(snowflake_id, pg_catalog.anyrange) IS
'Whether an id is within a range of bigint. The planner replaces calls by bigint''s own operator.';
CREATE OPERATOR <@ (
    LEFTARG = snowflake_id, RIGHTARG = pg_catalog.anyrange, FUNCTION = snowflake_id_contained);
COMMENT ON OPERATOR <@ (snowflake_id, pg_catalog.anyrange) IS 'is contained by';

-- Layouts.

CREATE FUNCTION snowflake_get_layout() RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_layout() IS
'Returns this database''s layout, as the table snowflake_layout has it. Before its first lease, a
node compares it with the registry''s.';

CREATE FUNCTION snowflake_set_layout(layout pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(pg_catalog.text) IS
'Gives this database a layout, before its first lease: a name in the view snowflake_layouts, or a
definition as for snowflake_decode(), with the fields time, datacenter, worker and seq or time, seq,
datacenter and worker in this order; datacenter may be missing. If the database already has this
layout, the function does nothing.
Errors: 22004 for a null, 22023 for a layout that is unknown, invalid, cannot issue ids or has less
than ten years left, 55000 once a lease was acquired under another layout.';
REVOKE ALL ON FUNCTION snowflake_set_layout(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_get_layouts(
    OUT name pg_catalog.text, OUT epoch pg_catalog.timestamptz, OUT tick interval, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean, OUT total_bits integer,
    OUT settable boolean, OUT end_of_life pg_catalog.timestamptz, OUT negative_until pg_catalog.timestamptz,
    OUT definition pg_catalog.text) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION snowflake_get_layouts() IS
'Returns the rows of the view snowflake_layouts.';

CREATE VIEW snowflake_layouts AS
    SELECT * FROM snowflake_get_layouts();
COMMENT ON VIEW snowflake_layouts IS
    'One row for each named layout: the default one, and those of well-known systems. The row '
    'without a name is this database''s own layout.';
COMMENT ON COLUMN snowflake_layouts.name IS
    'Name for snowflake_set_layout(), and for the argument layout of snowflake_decode() and '
    'other functions. Null for this database''s own layout.';
COMMENT ON COLUMN snowflake_layouts.epoch IS 'Start of tick 0';
COMMENT ON COLUMN snowflake_layouts.tick IS 'Length of a tick';
COMMENT ON COLUMN snowflake_layouts.timestamp_bits IS 'Width of the timestamp, the highest field';
COMMENT ON COLUMN snowflake_layouts.datacenter_bits IS 'Width of the upper part of the worker id';
COMMENT ON COLUMN snowflake_layouts.worker_bits IS 'Width of the lower part of the worker id';
COMMENT ON COLUMN snowflake_layouts.sequence_bits IS 'Width of the sequence number';
COMMENT ON COLUMN snowflake_layouts.sequence_first IS
    'Whether the sequence number is above the worker id';
COMMENT ON COLUMN snowflake_layouts.total_bits IS
    'Sum of the widths. 63 bits fill a bigint up to its sign bit, 64 include it.';
COMMENT ON COLUMN snowflake_layouts.settable IS
    'Whether snowflake_set_layout() accepts the layout now in a database that has had no lease. It '
    'then has worker and sequence bits, and at least ten years left.';
COMMENT ON COLUMN snowflake_layouts.end_of_life IS
    'When the layout''s time is used up, and no more ids are issued';
COMMENT ON COLUMN snowflake_layouts.negative_until IS
    'If the layout uses the sign bit, its ids are negative, and can only be read, from '
    'end_of_life until this time. Otherwise null.';
COMMENT ON COLUMN snowflake_layouts.definition IS
    'The layout as a definition, which is accepted where a name is, and can be changed to '
    'describe another layout';
GRANT SELECT ON snowflake_layouts TO PUBLIC;

-- For the extension snowflake_convert, which calls this function in C: its callers need no EXECUTE.

CREATE FUNCTION snowflake_least_new_id() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_least_new_id() IS
'For the extension snowflake_convert: returns an id below which none is issued in this layout from
now on, unless the clock steps back.
Errors: 22023 if ids can only be read in the layout, SF003 if the layout''s time is used up.';
REVOKE ALL ON FUNCTION snowflake_least_new_id() FROM PUBLIC;

-- Checking tables.

CREATE FUNCTION snowflake_check(
    relation pg_catalog.regclass, column_name pg_catalog.name,
    OUT problem pg_catalog.text, OUT worker integer, OUT ids bigint, OUT first_id bigint, OUT last_id bigint) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check(pg_catalog.regclass, pg_catalog.name) IS
'Finds ids in a column, of type bigint or snowflake_id, that this registry cannot have issued.
Returns one row for each problem and worker id, with the count of the ids, the smallest and the
largest. No row: all is well. The column problem is a sentence that says that the ids:

- are not of this database''s layout; then worker is null;
- are ahead of the node''s clock by more than a minute, or snowflake.max_clock_skew if that is
  longer: they are of the future, unless that clock is known to be behind;
- are of times for which their worker id was neither leased nor set aside;
- cannot be compared with leases, because the registry is in another database: all ids without
  another problem.
Errors: 22004 for a null, 42501 if the caller may not read the column, 42703, 42804, 42809 or 42P01
if it is not such a column of a table, 55000 at any isolation level except read committed.';
REVOKE ALL ON FUNCTION snowflake_check(pg_catalog.regclass, pg_catalog.name) FROM PUBLIC;

-- Monitoring this node.

CREATE FUNCTION snowflake_get_status(
    OUT state pg_catalog.text, OUT node pg_catalog.text, OUT worker integer, OUT lease_id bigint,
    OUT window_end pg_catalog.timestamptz, OUT last_id bigint, OUT keeper_pid integer,
    OUT last_error pg_catalog.text, OUT last_error_code pg_catalog.text, OUT advice pg_catalog.text,
    OUT clock pg_catalog.text, OUT horizon bigint, OUT horizon_pid integer, OUT horizon_xid pg_catalog.xid, OUT horizon_since pg_catalog.timestamptz)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_get_status() IS
'Returns what the view snowflake_status shows, and horizon_xid, by which it finds horizon_gid, from
one consistent read.';

CREATE VIEW snowflake_status AS
    SELECT s.state, s.node, s.worker, s.lease_id, s.window_end, s.last_id, s.keeper_pid, s.last_error, s.last_error_code, s.advice,
           s.clock, s.horizon, s.horizon_pid, p.gid AS horizon_gid, coalesce(s.horizon_since, p.prepared) AS horizon_since
    FROM snowflake_get_status() s
         LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) s.horizon_xid;
COMMENT ON VIEW snowflake_status IS
    'One row with the state of this node. The numbers are in snowflake_metrics.';
COMMENT ON COLUMN snowflake_status.state IS
    'What a call would get now. issuing: an id. idle: an id, after it has acquired a lease, because '
    'no id was requested yet, or the keeper has ended and released the lease. clock behind: the '
    'clock is behind the last id or the lease by more than max_lead. window ended: the registry has '
    'not extended the lease. held back: there is no lease, because the registry settles. no lease: '
    'there is none for another reason. time used up: the layout has no time left. standby: the '
    'registry is in this database and cannot be written. not preloaded: the library must be '
    'preloaded and is not.';
COMMENT ON COLUMN snowflake_status.node IS 'Name of the node in the registry';
COMMENT ON COLUMN snowflake_status.worker IS 'Worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.lease_id IS
    'Number of the lease that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.window_end IS
    'End of the lease''s window. Until then ids are issued even while the registry is '
    'unavailable.';
COMMENT ON COLUMN snowflake_status.last_id IS
    'Highest id that may have been issued under the lease';
COMMENT ON COLUMN snowflake_status.keeper_pid IS 'Process id of the keeper, null if none runs';
COMMENT ON COLUMN snowflake_status.last_error IS
    'Error of the keeper''s last attempt to acquire, extend or release a lease. Null if it '
    'succeeded. Only members of pg_read_all_settings see parts that may name the registry''s '
    'address or a role of its server.';
COMMENT ON COLUMN snowflake_status.last_error_code IS 'SQLSTATE of last_error';
COMMENT ON COLUMN snowflake_status.advice IS
    'What needs attention, one piece of advice on each line. If ids or numbers of segments have '
    'stopped or are about to stop, the first line says why, until when they are issued, and what '
    'to do. Null if all is well.';
COMMENT ON COLUMN snowflake_status.clock IS
    'How the node''s clock, which ids read, goes with the wall clock. follows: it shows the wall '
    'clock. bridges a step back: it is ahead, and runs at half speed. holds a leap: it runs on from '
    'the former time until the wall clock is believed. runs by itself: the wall clock shows a time '
    'before the layout''s epoch.';
COMMENT ON COLUMN snowflake_status.horizon IS
    'Newest value of snowflake_horizon() for a snapshot taken now. Null before the first call.';
COMMENT ON COLUMN snowflake_status.horizon_pid IS
    'Process whose transaction holds the horizon back, or null';
COMMENT ON COLUMN snowflake_status.horizon_gid IS
    'Prepared transaction that holds the horizon back: it has taken ids or, if it was prepared '
    'before the server was started, may have taken some.';
COMMENT ON COLUMN snowflake_status.horizon_since IS
    'When that transaction took its first id, or was prepared';
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
    OUT since_registry_answer_seconds double precision,
    OUT since_extension_seconds double precision, OUT registry_failing integer,
    OUT ranges_failing integer, OUT password_in_clear integer,
    OUT horizon_age_seconds double precision, OUT black_box integer, OUT advice integer,
    OUT end_of_life_seconds double precision)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_get_metrics() IS
'Returns what the view snowflake_metrics shows, from one consistent read.';

CREATE VIEW snowflake_metrics AS
    SELECT * FROM snowflake_get_metrics();
COMMENT ON VIEW snowflake_metrics IS
    'One row with the state of this node in numbers, for monitoring systems. Values that the '
    'node does not have are null.';
COMMENT ON COLUMN snowflake_metrics.state IS
    'What a call would get now, as in snowflake_status: the only column that is not a number';
COMMENT ON COLUMN snowflake_metrics.issuing IS
    '1 if a call would get an id now, else 0. Null if state is standby or not preloaded.';
COMMENT ON COLUMN snowflake_metrics.idle IS
    '1 if the next call acquires a lease, because no id was requested yet, or the keeper has ended '
    'and released the lease, else 0. If idle and issuing are 0, calls fail or wait. Null if issuing '
    'is null.';
COMMENT ON COLUMN snowflake_metrics.keeper_running IS
    '1 if the keeper runs, else 0. The next call that needs it starts it.';
COMMENT ON COLUMN snowflake_metrics.registry_here IS
    '1 if the registry is in this database, else 0';
COMMENT ON COLUMN snowflake_metrics.worker IS 'Worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_metrics.ids_flow_seconds IS
    'How long ids are issued even while the registry is unavailable. 0 while calls fail, null '
    'without a lease.';
COMMENT ON COLUMN snowflake_metrics.lead_seconds IS
    'By how much the last tick is ahead of the node''s clock, at least 0';
COMMENT ON COLUMN snowflake_metrics.clock_lead_seconds IS
    'By how much the node''s clock is ahead of the server''s after a step back. Negative while '
    'it does not follow a leap.';
COMMENT ON COLUMN snowflake_metrics.clock_bridged_total IS
    'Steps back of the server''s clock that the node''s clock bridged';
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
COMMENT ON COLUMN snowflake_metrics.since_extension_seconds IS
    'Time since the window was acquired or last extended, or since a restart under the same lease. '
    'Null without a lease.';
COMMENT ON COLUMN snowflake_metrics.registry_failing IS
    '1 if the keeper''s last attempt to acquire, extend or release a lease failed, else 0. '
    'snowflake_status shows the error.';
COMMENT ON COLUMN snowflake_metrics.ranges_failing IS
    '1 if the keeper''s last attempt to acquire ranges of segments failed, else 0';
COMMENT ON COLUMN snowflake_metrics.password_in_clear IS
    '1 if a server in the registry''s place would get the password in clear text when it asks for '
    'it, else 0. Always 0 with libpq 16 or later, on loopback addresses and over sockets.';
COMMENT ON COLUMN snowflake_metrics.horizon_age_seconds IS
    'How long the horizon has been held back: by a transaction since its first id, or by the keeper '
    'since a call waits for it, whichever is longer. 0 if neither. Null before the first call of '
    'snowflake_horizon().';
COMMENT ON COLUMN snowflake_metrics.black_box IS
    '1 if the server has a black box, so that ids continue under the same lease after a crash, '
    'else 0. Null if the library must be preloaded and is not.';
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
    'One row for each segment of this registry, with the numbers that this node has. If the '
    'registry is in another database, one row for each segment that this node uses.';
COMMENT ON COLUMN snowflake_segments.name IS 'Name by which nodes ask for numbers';
COMMENT ON COLUMN snowflake_segments.next_value IS
    'First number of the next range. Null if all numbers are allocated.';
COMMENT ON COLUMN snowflake_segments.max_value IS 'Last number of the segment';
COMMENT ON COLUMN snowflake_segments.step IS 'Least size of a range';
COMMENT ON COLUMN snowflake_segments.max_step IS 'Greatest size of a range';
COMMENT ON COLUMN snowflake_segments.holders IS
    'Newest ranges of each node, with the keys node, role, from, to and since';
COMMENT ON COLUMN snowflake_segments.next_here IS 'Next number of this node, or null';
COMMENT ON COLUMN snowflake_segments.left_here IS
    'How many numbers this node has left. Null before its first call.';
COMMENT ON COLUMN snowflake_segments.rate IS
    'Numbers per second that this node has issued from its range';
COMMENT ON COLUMN snowflake_segments.lasts IS
    'How long left_here lasts at this rate if the registry is unavailable. Null without a rate.';
COMMENT ON COLUMN snowflake_segments.usage_role IS
    'Role whose members may use the numbers, or null for every role. If the registry is in '
    'another database, from its newest answer.';
GRANT SELECT ON snowflake_segments TO pg_read_all_stats;

-- Monitoring the registry.

CREATE VIEW snowflake_workers AS
    SELECT r.worker_id AS worker, r.node, r.lease_id, r.acquired_at, r.extended_at,
           snowflake_tick_timestamp(r.window_end) AS window_end,
           pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) (r.extended_at OPERATOR(pg_catalog.+)
               ((snowflake_tick_timestamp(r.window_end) OPERATOR(pg_catalog.-) r.extended_at)
                   OPERATOR(pg_catalog./) 2::double precision))
               AND snowflake_tick_timestamp(r.window_end) OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp() AS late,
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
    'When the lease was last extended, by the same clock';
COMMENT ON COLUMN snowflake_workers.window_end IS
    'End of the lease''s window. Ids of the lease have earlier timestamps.';
COMMENT ON COLUMN snowflake_workers.late IS
    'Whether more than half of the time from extended_at to window_end has passed, and the window is '
    'not over. Keepers extend after a third.';
COMMENT ON COLUMN snowflake_workers.expired IS
    'Whether the window is over. Unless the registry settles, the next acquire may get this '
    'worker id if no other is free.';
COMMENT ON COLUMN snowflake_workers.role IS
    'Role that acquired the lease, and alone can extend or release it. Null if the worker id was '
    'set aside.';
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
           CASE WHEN settling.seconds IS NOT NULL THEN coalesce(fullest.expired, 0::bigint) ELSE 0::bigint END
               OPERATOR(pg_catalog.+)
           CASE WHEN settling.seconds OPERATOR(pg_catalog.>) settling.half THEN ring.common OPERATOR(pg_catalog.-)
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
                            pg_catalog.count(*) FILTER (WHERE late) AS late,
                            pg_catalog.count(*) FILTER (WHERE expired) AS expired
                     FROM snowflake_workers) leases
         LEFT JOIN (SELECT extract(epoch FROM settles_until OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())
                               ::double precision AS seconds,
                           settling_us::double precision OPERATOR(pg_catalog./) 2000000::double precision AS half
                    FROM snowflake_origin
                    WHERE settles_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp()) settling ON true
         LEFT JOIN LATERAL (SELECT w.worker::bigint OPERATOR(pg_catalog./) ring.workers AS datacenter,
                                   pg_catalog.count(*) FILTER (WHERE NOT w.expired) AS held,
                                   pg_catalog.count(*) FILTER (WHERE w.expired) AS expired
                            FROM snowflake_workers w GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1) fullest ON true
    WHERE node.registry_here OPERATOR(pg_catalog.=) 1;
COMMENT ON VIEW snowflake_registry_metrics IS
    'One row with the state of this database''s registry in numbers, for monitoring systems; '
    'none if the registry is in another database. Worker ids are counted in the datacenter that '
    'has the fewest free ones.';
COMMENT ON COLUMN snowflake_registry_metrics.workers IS 'Worker ids of the datacenter';
COMMENT ON COLUMN snowflake_registry_metrics.workers_held IS
    'Worker ids of the datacenter that are held by nodes whose windows are not over';
COMMENT ON COLUMN snowflake_registry_metrics.workers_free IS
    'Worker ids of the datacenter that no node holds';
COMMENT ON COLUMN snowflake_registry_metrics.workers_expired IS
    'Free worker ids that belong to leases whose windows are over';
COMMENT ON COLUMN snowflake_registry_metrics.workers_held_back IS
    'Free worker ids that are held back because the registry settles: after half of the time only '
    'those of leases whose windows are over';
COMMENT ON COLUMN snowflake_registry_metrics.leases IS
    'Leases in all datacenters, and worker ids that are set aside';
COMMENT ON COLUMN snowflake_registry_metrics.leases_late IS
    'Leases that are late (see snowflake_workers)';
COMMENT ON COLUMN snowflake_registry_metrics.leases_expired IS
    'Leases whose windows are over: their nodes crashed, or cannot reach the registry.';
COMMENT ON COLUMN snowflake_registry_metrics.settling_seconds IS
    'Time until the registry has settled, or 0';
GRANT SELECT ON snowflake_registry_metrics TO pg_read_all_stats;
