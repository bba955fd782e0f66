\echo Use "CREATE EXTENSION snowflake" to load this file. \quit

-- The script runs with a superuser's rights, in a schema where others may create. A function or
-- operator of theirs that fits the types of a call better than PostgreSQL's own would be chosen. So
-- every function, operator, cast and type that is executed or stored here is qualified.

-- The registry: who holds which worker id.

CREATE TABLE snowflake_registry (
    lease_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id    integer NOT NULL UNIQUE,
    node         pg_catalog.text NOT NULL,
    role         pg_catalog.oid NOT NULL,
    secret_hash  pg_catalog.bytea NOT NULL,
    acquired_at  pg_catalog.timestamptz NOT NULL,
    renewed_at   pg_catalog.timestamptz NOT NULL,
    window_start bigint NOT NULL,
    window_end   bigint NOT NULL
);
COMMENT ON TABLE snowflake_registry IS
    'live leases: a row is inserted when a node starts to issue ids and deleted when it shuts down cleanly';
COMMENT ON COLUMN snowflake_registry.lease_id IS
    'number of the lease; lease_id modulo the number of worker ids is where the search for a free one starts';
COMMENT ON COLUMN snowflake_registry.worker_id IS 'worker id that the node holds, datacenter bits included';
COMMENT ON COLUMN snowflake_registry.node IS 'name of the node, for people';
COMMENT ON COLUMN snowflake_registry.role IS 'role that drew the lease, and alone can move or release it';
COMMENT ON COLUMN snowflake_registry.secret_hash IS
    'SHA-256 of the lease secret: the hash is sent to extend the lease, the secret only to release it';
COMMENT ON COLUMN snowflake_registry.acquired_at IS 'when the lease was drawn, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_registry.renewed_at IS 'when its window was last moved, by the same clock';
COMMENT ON COLUMN snowflake_registry.window_start IS 'first tick that the lease may use';
COMMENT ON COLUMN snowflake_registry.window_end IS 'first tick that the lease may not use';

-- A new registry's ring begins at a random place, so that one that was dropped and created again does not hand out the
-- worker ids of its predecessor first. 2^22 is a multiple of every ring of up to 22 bits.
SELECT pg_catalog.setval(
    pg_catalog.pg_get_serial_sequence('snowflake_registry'::pg_catalog.text, 'lease_id'::pg_catalog.text)::pg_catalog.regclass,
    1::bigint OPERATOR(pg_catalog.+)
        pg_catalog.floor(pg_catalog.random() OPERATOR(pg_catalog.*) 4194304::double precision)::bigint);

CREATE TABLE snowflake_watermark (
    worker_id integer PRIMARY KEY,
    last_tick bigint NOT NULL
);
COMMENT ON TABLE snowflake_watermark IS 'highest tick that any ended lease of a worker id may have used; it outlives the lease';
COMMENT ON COLUMN snowflake_watermark.worker_id IS 'worker id, datacenter bits included';
COMMENT ON COLUMN snowflake_watermark.last_tick IS 'the next lease of the worker id starts above this tick';

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
COMMENT ON TABLE snowflake_layout IS 'layout of this registry''s ids; empty means the default layout, which the first lease writes down';
COMMENT ON COLUMN snowflake_layout.singleton IS 'always true: there is one row, or none';
COMMENT ON COLUMN snowflake_layout.epoch_ms IS 'start of tick 0, in milliseconds since 1970-01-01 00:00 UTC';
COMMENT ON COLUMN snowflake_layout.tick_us IS 'length of a tick in microseconds';
COMMENT ON COLUMN snowflake_layout.timestamp_bits IS 'width of the timestamp, the highest field';
COMMENT ON COLUMN snowflake_layout.datacenter_bits IS 'width of the upper part of the worker id';
COMMENT ON COLUMN snowflake_layout.worker_bits IS 'width of its lower part';
COMMENT ON COLUMN snowflake_layout.sequence_bits IS 'width of the sequence number';
COMMENT ON COLUMN snowflake_layout.sequence_first IS 'whether the sequence number stands above the worker id';

CREATE TABLE snowflake_origin (
    singleton         boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    system_identifier bigint NOT NULL,
    timeline          bigint NOT NULL,
    started_at        pg_catalog.timestamptz,
    clean_at          pg_catalog.timestamptz,
    last_lease_id     bigint NOT NULL,
    jumped_from       bigint NOT NULL DEFAULT 0,
    jumped_to         bigint NOT NULL DEFAULT 0,
    raised_tick       bigint NOT NULL DEFAULT -1,
    longest_us        bigint NOT NULL DEFAULT 0,
    settles_until     pg_catalog.timestamptz,
    settling_us       bigint NOT NULL DEFAULT 0,
    loss_known        boolean NOT NULL DEFAULT false,
    word_at           pg_catalog.timestamptz
);
COMMENT ON TABLE snowflake_origin IS 'server that the registry was on at the last exchange with a node, and what still settles after a loss of commits';
COMMENT ON COLUMN snowflake_origin.singleton IS 'always true: there is one row, or none';
COMMENT ON COLUMN snowflake_origin.system_identifier IS 'system identifier of the server at the last exchange';
COMMENT ON COLUMN snowflake_origin.timeline IS 'its timeline then';
COMMENT ON COLUMN snowflake_origin.started_at IS 'its start; null before the first exchange';
COMMENT ON COLUMN snowflake_origin.clean_at IS
    'clean shutdown of the registry''s server, null as soon as a lease is acquired or extended: whoever finds it has all that was committed';
COMMENT ON COLUMN snowflake_origin.last_lease_id IS 'lease that was acquired last, or the number that lease ids go on above';
COMMENT ON COLUMN snowflake_origin.jumped_from IS 'no lease has an id above this one ...';
COMMENT ON COLUMN snowflake_origin.jumped_to IS
    '... up to this one: lease ids jumped over these when the server was started or promoted, and a node that names one holds a lost lease';
COMMENT ON COLUMN snowflake_origin.raised_tick IS 'highest tick that snowflake_raise() has ruled out for every node of this registry';
COMMENT ON COLUMN snowflake_origin.longest_us IS 'longest lease duration that a node ever asked for; 0 before the first lease';
COMMENT ON COLUMN snowflake_origin.settles_until IS
    'until then no lease expires, and only the upper third of the worker ids is used; null if it does not settle';
COMMENT ON COLUMN snowflake_origin.settling_us IS 'how long it settles in all: settles_until less this is when it began';
COMMENT ON COLUMN snowflake_origin.loss_known IS 'whether a loss of commits was noticed since the server was started: what tells of one tells of the same';
COMMENT ON COLUMN snowflake_origin.word_at IS 'when snowflake_settle() was last called';

-- Segments: small numbers for many servers.

CREATE TABLE snowflake_segment (
    name             pg_catalog.text COLLATE pg_catalog."C" PRIMARY KEY,
    segment_id       bigint NOT NULL UNIQUE CHECK (segment_id OPERATOR(pg_catalog.>) 0::bigint),
    first_value      bigint NOT NULL DEFAULT 1 CHECK (first_value OPERATOR(pg_catalog.>) 0::bigint),
    last_value       bigint NOT NULL CHECK (last_value OPERATOR(pg_catalog.>=) 0::bigint),
    max_value        bigint NOT NULL CHECK (max_value OPERATOR(pg_catalog.>=) last_value),
    step             integer NOT NULL CHECK (step OPERATOR(pg_catalog.>) 0),
    max_step         integer NOT NULL CHECK (max_step OPERATOR(pg_catalog.>=) step),
    period_at        pg_catalog.timestamptz,
    handed           bigint NOT NULL DEFAULT 0 CHECK (handed OPERATOR(pg_catalog.>=) 0::bigint),
    handed_before    bigint NOT NULL DEFAULT 0 CHECK (handed_before OPERATOR(pg_catalog.>=) 0::bigint),
    newest           bigint NOT NULL DEFAULT 0 CHECK (newest OPERATOR(pg_catalog.>=) 0::bigint),
    drawn_elsewhere  boolean NOT NULL DEFAULT false,
    may_have_lost    boolean NOT NULL DEFAULT false,
    dropped_at       pg_catalog.timestamptz,
    usage_role       pg_catalog.name CHECK (usage_role OPERATOR(pg_catalog.<>) ''::pg_catalog.name)
);
COMMENT ON TABLE snowflake_segment IS 'segments of this registry';
COMMENT ON COLUMN snowflake_segment.name IS 'name by which nodes ask for numbers';
COMMENT ON COLUMN snowflake_segment.segment_id IS 'random number that tells it from another one of the same name';
COMMENT ON COLUMN snowflake_segment.first_value IS 'no smaller number was handed out under this name';
COMMENT ON COLUMN snowflake_segment.last_value IS
    'last number that was handed out, one below the first before that; it falls only when the end of the newest range comes back';
COMMENT ON COLUMN snowflake_segment.max_value IS 'last number that may be handed out';
COMMENT ON COLUMN snowflake_segment.step IS 'no range is shorter';
COMMENT ON COLUMN snowflake_segment.max_step IS 'no range is longer';
COMMENT ON COLUMN snowflake_segment.period_at IS 'beginning of the period that handed is of; it lasts as long as a lease';
COMMENT ON COLUMN snowflake_segment.handed IS 'how many numbers were handed out in that period';
COMMENT ON COLUMN snowflake_segment.handed_before IS 'how many were in the period before';
COMMENT ON COLUMN snowflake_segment.newest IS 'size of the newest range';
COMMENT ON COLUMN snowflake_segment.drawn_elsewhere IS 'whether a range was handed out to another node than this database''s own';
COMMENT ON COLUMN snowflake_segment.may_have_lost IS 'whether the next range leaves out what lost commits may have handed out';
COMMENT ON COLUMN snowflake_segment.dropped_at IS
    'when it was dropped although other nodes may hold ranges of it: one that is created under its name goes on above last_value';
COMMENT ON COLUMN snowflake_segment.usage_role IS
    'role whose members alone may use its numbers, on each server the one of that name; null: every role';

CREATE TABLE snowflake_range (
    segment_id  bigint NOT NULL,
    here        boolean NOT NULL,
    role        pg_catalog.oid NOT NULL,
    node        pg_catalog.text NOT NULL,
    secret_hash pg_catalog.bytea NOT NULL,
    held_from   bigint NOT NULL,
    newest_from bigint NOT NULL,
    held_to     bigint NOT NULL,
    drawn_at    pg_catalog.timestamptz NOT NULL,
    PRIMARY KEY (segment_id, here, role, node)
);
COMMENT ON TABLE snowflake_range IS 'the newest ranges of each node; a row of a node that is gone for good can be deleted';
COMMENT ON COLUMN snowflake_range.segment_id IS 'segment that it is of';
COMMENT ON COLUMN snowflake_range.here IS 'whether the node is this database''s own';
COMMENT ON COLUMN snowflake_range.role IS 'role that drew it';
COMMENT ON COLUMN snowflake_range.node IS 'name of the node';
COMMENT ON COLUMN snowflake_range.secret_hash IS
    'SHA-256 of a secret of the node''s: the hash is sent to draw ranges, the secret only to give numbers back';
COMMENT ON COLUMN snowflake_range.held_from IS 'first number that may come back unused';
COMMENT ON COLUMN snowflake_range.newest_from IS 'first number of the newest range';
COMMENT ON COLUMN snowflake_range.held_to IS 'last number of the newest range';
COMMENT ON COLUMN snowflake_range.drawn_at IS 'when the newest range was drawn';

-- What a restored dump must bring back. A lease, a watermark or an origin of another server must not come back.
SELECT pg_catalog.pg_extension_config_dump('snowflake_layout'::pg_catalog.regclass, ''::pg_catalog.text);
SELECT pg_catalog.pg_extension_config_dump('snowflake_segment'::pg_catalog.regclass, 'WHERE dropped_at IS NULL'::pg_catalog.text);

-- Guards: whatever reaches the tables by another way than the protocol must not lead to equal ids.
-- snowflake_guard_table depends on each column by its UPDATE OF, and does nothing on an UPDATE:
-- PostgreSQL refuses to change the type of such a column, whose USING could lower it in all rows
-- without a row trigger, and drops the column only together with the trigger.

CREATE FUNCTION snowflake_layout_changed() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_layout_changed() IS
    'refuses to change the layout once a lease was drawn, and tells all sessions of a change; writes down which server the registry is on';
REVOKE ALL ON FUNCTION snowflake_layout_changed() FROM PUBLIC;

CREATE FUNCTION snowflake_guard() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard() IS
    'keeps what makes ids unique in the registry''s tables: a deleted lease leaves its watermark, what would fall or vanish is refused with 55000, what replication writes is discarded';
REVOKE ALL ON FUNCTION snowflake_guard() FROM PUBLIC;

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_registry
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_registry IS 'a deleted lease leaves its watermark, and leases come from the protocol alone';
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_registry
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard_after;
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_registry IS 'a lease stays what it is, and its window''s end does not fall';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF lease_id, worker_id, node, role, secret_hash, acquired_at, renewed_at, window_start,
        window_end
    ON snowflake_registry
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_registry IS
    'leases do not vanish, and no column is dropped or changes its type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_watermark
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_watermark IS 'watermarks do not vanish';
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_watermark
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_after;
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_watermark IS 'watermarks do not fall';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF worker_id, last_tick
    ON snowflake_watermark
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_watermark IS
    'watermarks do not vanish, and no column is dropped or changes its type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_layout
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_layout IS 'replication brings a layout only where there is none';
CREATE TRIGGER snowflake_layout_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON snowflake_layout
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_layout_changed();
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_layout_changed;
COMMENT ON TRIGGER snowflake_layout_changed ON snowflake_layout IS 'keeps the layout as it is once a lease was drawn';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_origin
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_origin IS 'only the protocol writes it';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF singleton, system_identifier, timeline, started_at, clean_at, last_lease_id,
        jumped_from, jumped_to, raised_tick, longest_us, settles_until, settling_us, loss_known,
        word_at
    ON snowflake_origin
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_origin ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_origin IS
    'only the protocol writes it, and no column is dropped or changes its type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_segment
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_segment IS 'segments do not vanish, and a restored one does not fall';
CREATE TRIGGER snowflake_guard_after AFTER UPDATE ON snowflake_segment
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment ENABLE ALWAYS TRIGGER snowflake_guard_after;
COMMENT ON TRIGGER snowflake_guard_after ON snowflake_segment IS 'segments do not fall';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF name, segment_id, first_value, last_value, max_value, step, max_step, period_at,
        handed, handed_before, newest, drawn_elsewhere, may_have_lost, dropped_at, usage_role
    ON snowflake_segment
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_segment ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_segment IS
    'segments do not vanish, and no column is dropped or changes its type';

CREATE TRIGGER snowflake_guard BEFORE INSERT OR UPDATE OR DELETE ON snowflake_range
    FOR EACH ROW EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_range ENABLE ALWAYS TRIGGER snowflake_guard;
COMMENT ON TRIGGER snowflake_guard ON snowflake_range IS 'ranges come from the registry''s functions alone';
CREATE TRIGGER snowflake_guard_table BEFORE TRUNCATE OR
    UPDATE OF segment_id, here, role, node, secret_hash, held_from, newest_from, held_to, drawn_at
    ON snowflake_range
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_guard();
ALTER TABLE snowflake_range ENABLE ALWAYS TRIGGER snowflake_guard_table;
COMMENT ON TRIGGER snowflake_guard_table ON snowflake_range IS
    'ranges do not vanish, and no column is dropped or changes its type';

-- Lets the layout's trigger write the origin before the first lease, so that a standby that is promoted without having
-- heard of that lease knows of the failover, too. A function that is called by name could be ambiguous beside others'.
DELETE FROM snowflake_layout;

CREATE FUNCTION snowflake_guard_drop() RETURNS pg_catalog.event_trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_guard_drop() IS
    'loads the library, which refuses with 55000 to drop the registry while other nodes hold leases or ranges of segments';
REVOKE ALL ON FUNCTION snowflake_guard_drop() FROM PUBLIC;

-- The name is sorted before others': pg_upgrade makes event triggers in the order of their names, and those that are there fire
-- when this one is added to the extension.
CREATE EVENT TRIGGER _snowflake_guard_drop ON ddl_command_start WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA', 'DROP OWNED')
    EXECUTE FUNCTION snowflake_guard_drop();
ALTER EVENT TRIGGER _snowflake_guard_drop ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER _snowflake_guard_drop IS
    'the registry is not dropped while other nodes hold leases or ranges of segments, in sessions that have not loaded the library, too';

-- The registry protocol. Errors common to all: 22004 and 22023 for arguments, 25001 in a transaction
-- block, 25006 where nothing can be written, 55000 for any isolation level but read committed.

CREATE FUNCTION snowflake_lease_acquire(
    node pg_catalog.text, datacenter integer, now_tick bigint, duration interval, secret_hash pg_catalog.bytea, seen_lease_id bigint, start_before bigint,
    OUT lease_id bigint, OUT worker_id integer, OUT window_start bigint, OUT window_end bigint,
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean,
    OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT word_us bigint,
    OUT workers_free bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_acquire(pg_catalog.text, integer, bigint, interval, pg_catalog.bytea, bigint, bigint) IS
    'draws a worker id for a node whose clock shows now_tick, for a duration of 1 second to 1 day, or returns the lease that this role drew with this hash of a lease secret; seen_lease_id is the highest that the node has seen, 0 for none; with start_before null unless the window can begin before that tick; SF004 when every worker id is leased; null, too, when it has just noticed that commits were lost and holds back all that is free: ask again. Not in a transaction block';
REVOKE ALL ON FUNCTION snowflake_lease_acquire(pg_catalog.text, integer, bigint, interval, pg_catalog.bytea, bigint, bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_lease_extend(
    lease_id bigint, secret_hash pg_catalog.bytea, now_tick bigint, duration interval, held_until bigint,
    worker_id integer, window_start bigint,
    OUT window_end bigint, OUT system_identifier bigint, OUT timeline bigint, OUT raised_tick bigint, OUT word_us bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_extend(bigint, pg_catalog.bytea, bigint, interval, bigint, integer, bigint) IS
    'moves the end of a lease''s window to now_tick plus the duration, never back; held_until is the end that the node has, worker_id and window_start what else it holds. window_end is null when the lease is gone, or another role''s. Not in a transaction block';
REVOKE ALL ON FUNCTION snowflake_lease_extend(bigint, pg_catalog.bytea, bigint, interval, bigint, integer, bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_lease_release(lease_id bigint, secret pg_catalog.bytea, last_tick bigint, held_until bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_lease_release(bigint, pg_catalog.bytea, bigint, bigint) IS
    'gives a lease back and keeps as its worker id''s watermark last_tick, or this server''s clock, max_clock_skew and max_lead if that is later; held_until is the window''s end that the node has; false when the lease was gone already, or another role''s. Not in a transaction block';
REVOKE ALL ON FUNCTION snowflake_lease_release(bigint, pg_catalog.bytea, bigint, bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_segment_ranges(
    node pg_catalog.text, names pg_catalog.text[], segment_ids bigint[], highest bigint[], unused bigint[], wanted bigint[],
    secrets pg_catalog.bytea[],
    OUT segment_ids bigint[], OUT range_last bigint[], OUT range_count bigint[],
    OUT usage_roles pg_catalog.text[],
    OUT system_identifier bigint, OUT timeline bigint, OUT word_us bigint, OUT known pg_catalog.text)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_segment_ranges(pg_catalog.text, pg_catalog.text[], bigint[], bigint[], bigint[], bigint[], pg_catalog.bytea[]) IS
    'for each of these segments, a range of about wanted numbers is handed out, which the registry records with the SHA-256 of a secret; if wanted is below 0, then under the hash no more than unused numbers up to highest can come back any more, and with the secret itself they come back; segment_ids are as the node knows them, 0 if it does not; of a segment that is not there the answer''s is 0, and known has names of those that are; range_count is 0 where it is used up; usage_roles is empty where every role may use the numbers; 55000 for a highest that is far above all that was handed out. Not in a transaction block';
REVOKE ALL ON FUNCTION snowflake_segment_ranges(pg_catalog.text, pg_catalog.text[], bigint[], bigint[], bigint[], bigint[], pg_catalog.bytea[]) FROM PUBLIC;

-- The operator's word.

CREATE FUNCTION snowflake_evict(worker_id integer, dead_since pg_catalog.timestamptz) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_evict(integer, pg_catalog.timestamptz) IS
    'frees a worker id above a time since which its node is certainly dead, and stays so until its window ends (a server that is started again without a reboot goes on under its lease), plus max_clock_skew, or above its window where that is 0; false when nobody has it; 22004 and 22023 for a time that is null, infinite, still to come or before renewed_at';
REVOKE ALL ON FUNCTION snowflake_evict(integer, pg_catalog.timestamptz) FROM PUBLIC;

CREATE FUNCTION snowflake_settle(reason pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settle(pg_catalog.text) IS
    'commits of this registry may have been lost, as after a restore: it settles for as long as the longest lease; nodes that have seen a newer timeline accept this registry again; the reason is for the log';
REVOKE ALL ON FUNCTION snowflake_settle(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_settled() RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_settled() IS
    'no commit of this registry was lost: it settles no longer, nor because of where its server is now; false when there was nothing to end';
REVOKE ALL ON FUNCTION snowflake_settled() FROM PUBLIC;

CREATE FUNCTION snowflake_raise(id bigint) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_raise(bigint) IS
    'from now on every id of this node is larger, and where its registry is in this database those of all its nodes, as soon as each has extended its lease, within a third of its window; returns when the clock has passed the id''s timestamp; 22023 when that is more than max_clock_skew ahead, 22003 for an id that the layout cannot hold or a negative one';
REVOKE ALL ON FUNCTION snowflake_raise(bigint) FROM PUBLIC;

CREATE FUNCTION snowflake_renew() RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_renew() IS
    'the lease that this node has is never used again here, nor given back: for a machine that was copied with its memory, before anybody asks the copy for an id; the next id is of a new lease';
REVOKE ALL ON FUNCTION snowflake_renew() FROM PUBLIC;

CREATE FUNCTION snowflake_create_segment(
    name pg_catalog.text, start bigint DEFAULT 1, step integer DEFAULT 1000, max_value bigint DEFAULT 9223372036854775807, max_step integer DEFAULT 1000000,
    usage_role pg_catalog.name DEFAULT NULL)
    RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_create_segment(pg_catalog.text, bigint, integer, bigint, integer, pg_catalog.name) IS
    'creates a segment in this registry: numbers from start to max_value, of which nodes fetch step to max_step at a time, and which only members of usage_role may use on each server, if that is not null; above the last number of one of its name that was dropped while nodes held ranges of it; 42710 where there is one, 22023 for limits that cannot be, 55000 where the registry is in another database';
REVOKE ALL ON FUNCTION snowflake_create_segment(pg_catalog.text, bigint, integer, bigint, integer, pg_catalog.name) FROM PUBLIC;

CREATE FUNCTION snowflake_drop_segment(name pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_drop_segment(pg_catalog.text) IS
    'drops a segment of this registry; nodes use up what they have of it; 42704 where there is none';
REVOKE ALL ON FUNCTION snowflake_drop_segment(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_raise_segment(name pg_catalog.text, value bigint) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_raise_segment(pg_catalog.text, bigint) IS
    'the next number that this registry hands out is at least that, and never goes back; this database''s node uses no smaller one from now on, others use up what they have; returns the next number; 42704, or 22023 for what is no number of the segment';
REVOKE ALL ON FUNCTION snowflake_raise_segment(pg_catalog.text, bigint) FROM PUBLIC;

-- Issuing.

CREATE FUNCTION snowflake_nextval_support(pg_catalog.internal) RETURNS pg_catalog.internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextval_support(pg_catalog.internal) IS 'planner support of snowflake_nextval(): lets COPY insert many rows at once';

CREATE FUNCTION snowflake_nextval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_nextval() IS
    'next id; SF001 without a lease, SF002 when the clock is behind, SF003 when the layout''s time is used up, SF004 when every worker id is leased';

-- COPY finds it through the support function that both have.
CREATE FUNCTION snowflake_copy_nextval(pg_catalog.internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_nextval(pg_catalog.internal) IS
    'what COPY FROM evaluates, for each row, where a default calls snowflake_nextval(), which is its argument; the same result and errors; no SQL can call it';

CREATE FUNCTION snowflake_nextvals(count integer) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextvals(integer) IS
    'the next count ids, rising; 22023 unless count is positive, otherwise the errors of snowflake_nextval()';

CREATE FUNCTION snowflake_currval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_currval() IS
    'id that this session issued last, those of parallel workers not counted; 55000 before the first';

CREATE FUNCTION snowflake_segment_nextval(name pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_segment_nextval(pg_catalog.text) IS
    'the next number of a segment, unique on all nodes of the registry and rising on each; for column defaults; 42501 without the privileges of the segment''s usage_role, 42704 where there is none of that name, SF005 where the registry has handed out no range in time, SF006 at its end, 53400 where too many are in use';

CREATE FUNCTION snowflake_copy_segment_nextval(pg_catalog.internal, pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_segment_nextval(pg_catalog.internal, pg_catalog.text) IS 'what COPY evaluates in place of snowflake_segment_nextval()';

CREATE FUNCTION snowflake_segment_currval(name pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_segment_currval(pg_catalog.text) IS 'the last number of a segment in this session; 55000 before the first, 42501 as for the next number';

CREATE FUNCTION snowflake_horizon() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_horizon() IS
    'id below which every row whose id this node issued, in the transaction that wrote it, is visible to this statement or never will be; 0 while none is known. 25006 during recovery, 0A000 in a part of a statement that Citus sent here, 55000 where no ids can be issued';

-- Reading.

CREATE FUNCTION snowflake_decode(id bigint, OUT ts pg_catalog.timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint) IS
    'timestamp, worker id and sequence number of an id, by this database''s layout; nulls for a number of the default layout''s first minute, in which nothing was issued: one that a table had before; 22003 for an id that the layout cannot hold';

CREATE FUNCTION snowflake_decode(id bigint, layout pg_catalog.text, OUT ts pg_catalog.timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, pg_catalog.text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name; a worker id or sequence number that the layout lacks is 0';

CREATE FUNCTION snowflake_timestamp(id bigint) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint) IS
    'timestamp of an id, by this database''s layout; 22003 for an id that the layout cannot hold';

CREATE FUNCTION snowflake_timestamp(id bigint, layout pg_catalog.text) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, pg_catalog.text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

CREATE FUNCTION snowflake_encode(ts pg_catalog.timestamptz, worker integer, seq integer) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(pg_catalog.timestamptz, integer, integer) IS
    'the id that snowflake_decode() takes apart into these, by this database''s layout, the timestamp rounded down to its tick; 22003 for what does not fit its field. Nothing keeps it from being an id that was or will be issued';

CREATE FUNCTION snowflake_encode(ts pg_catalog.timestamptz, worker integer, seq integer, layout pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(pg_catalog.timestamptz, integer, integer, pg_catalog.text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

CREATE FUNCTION snowflake_tick_timestamp(tick bigint) RETURNS pg_catalog.timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_tick_timestamp(bigint) IS
    'when a tick of this database''s layout begins; infinite beyond what a timestamp can hold';

CREATE FUNCTION snowflake_id_at(ts pg_catalog.timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(pg_catalog.timestamptz) IS
    'smallest id whose timestamp is ts or later, by this database''s layout: id >= snowflake_id_at(ts) is the same as snowflake_timestamp(id) >= ts; 0 before the epoch, 22003 after the layout''s last tick, and where ids are negative';

CREATE FUNCTION snowflake_id_at(ts pg_catalog.timestamptz, layout pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(pg_catalog.timestamptz, pg_catalog.text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

CREATE FUNCTION snowflake_range(during pg_catalog.tstzrange) RETURNS pg_catalog.int8range
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(pg_catalog.tstzrange) IS
    'ids whose timestamps lie in the range, by this database''s layout: id <@ snowflake_range(r) is the same as snowflake_timestamp(id) <@ r for every id that is not negative; without upper bound where the range ends after the layout, 22003 for a bound where ids are negative';

CREATE FUNCTION snowflake_range(during pg_catalog.tstzrange, layout pg_catalog.text) RETURNS pg_catalog.int8range
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(pg_catalog.tstzrange, pg_catalog.text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

-- Text. The names of the encodings: base32 (Crockford; 13 digits), base58 (11), base62 (11), hex (16).

CREATE FUNCTION snowflake_to_text(id bigint, encoding pg_catalog.text) RETURNS pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_to_text(bigint, pg_catalog.text) IS
    'an id as text of fixed width in base32, base58, base62 or hex, under the C collation in the order of the ids; 22003 for a negative id, 22023 for an unknown encoding';

CREATE FUNCTION snowflake_from_text(id pg_catalog.text, encoding pg_catalog.text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_from_text(pg_catalog.text, pg_catalog.text) IS
    'the id that snowflake_to_text() wrote; 22P02 for a foreign character or another width, 22003 for a number that is no id, 22023 for an unknown encoding';

-- Layouts.

CREATE FUNCTION snowflake_get_layout(
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_layout() IS
    'this database''s layout, the default one included; what a node compares with its own before it asks a registry';

CREATE FUNCTION snowflake_set_layout(name pg_catalog.text) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME', 'snowflake_set_named_layout' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(pg_catalog.text) IS
    'gives this database a named layout of the view snowflake_layouts to begin with; 22023 for an unknown name, otherwise the errors of the other form';
REVOKE ALL ON FUNCTION snowflake_set_layout(pg_catalog.text) FROM PUBLIC;

CREATE FUNCTION snowflake_set_layout(
    epoch pg_catalog.timestamptz, tick interval, timestamp_bits integer, datacenter_bits integer, worker_bits integer,
    sequence_bits integer, sequence_first boolean DEFAULT false) RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(pg_catalog.timestamptz, interval, integer, integer, integer, integer, boolean) IS
    'gives this database a layout to begin with, and does nothing when it has it already; 22023 for a layout that cannot be, that ids cannot be issued with or that has less than ten years left, 22004 for a null, 55000 once a worker id was leased under another';
REVOKE ALL ON FUNCTION snowflake_set_layout(pg_catalog.timestamptz, interval, integer, integer, integer, integer, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_get_layouts(
    OUT name pg_catalog.text, OUT epoch pg_catalog.timestamptz, OUT tick interval, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean, OUT total_bits integer,
    OUT settable boolean, OUT end_of_life pg_catalog.timestamptz, OUT negative_until pg_catalog.timestamptz) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE ROWS 18;
COMMENT ON FUNCTION snowflake_get_layouts() IS 'what the view snowflake_layouts shows';

CREATE VIEW snowflake_layouts AS
    SELECT * FROM snowflake_get_layouts();
COMMENT ON VIEW snowflake_layouts IS 'layouts that have a name: those of well-known systems, and the default one';
COMMENT ON COLUMN snowflake_layouts.name IS 'name by which snowflake_decode(), snowflake_set_layout() and the others know it';
COMMENT ON COLUMN snowflake_layouts.epoch IS 'start of tick 0';
COMMENT ON COLUMN snowflake_layouts.tick IS 'length of a tick';
COMMENT ON COLUMN snowflake_layouts.timestamp_bits IS 'width of the timestamp, the highest field';
COMMENT ON COLUMN snowflake_layouts.datacenter_bits IS 'upper part of the worker id';
COMMENT ON COLUMN snowflake_layouts.worker_bits IS 'lower part of the worker id';
COMMENT ON COLUMN snowflake_layouts.sequence_bits IS 'width of the sequence number';
COMMENT ON COLUMN snowflake_layouts.sequence_first IS 'whether the sequence number stands above the worker id';
COMMENT ON COLUMN snowflake_layouts.total_bits IS 'sum of the widths; 63 fill a bigint up to its sign, 64 take the sign in';
COMMENT ON COLUMN snowflake_layouts.settable IS
    'whether snowflake_set_layout() takes it now: it has worker and sequence bits and ten years left';
COMMENT ON COLUMN snowflake_layouts.end_of_life IS 'when its time is used up: no id is issued from then on';
COMMENT ON COLUMN snowflake_layouts.negative_until IS
    'null, but for a layout that takes the sign in: its ids are negative from end_of_life until then, and can be read';
GRANT SELECT ON snowflake_layouts TO PUBLIC;

-- Existing tables.

CREATE FUNCTION snowflake_convert(relation pg_catalog.regclass, column_name pg_catalog.name, dry_run boolean DEFAULT false) RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert(pg_catalog.regclass, name, boolean) IS
    'makes a smallint, integer or bigint column bigint DEFAULT snowflake_nextval(), be it plain, serial or identity, and widens what refers to it; returns the statements, which dry_run keeps from being executed; 22004, 42501, 42703, 42804, 42809, 42P01, 42P16, 2BP01 or 55000 for what cannot be converted';

CREATE FUNCTION snowflake_segment_standing(
    name pg_catalog.text, for_update boolean,
    OUT dropped boolean, OUT first_value bigint, OUT last_value bigint, OUT max_value bigint, OUT holder pg_catalog.text, OUT held_to bigint)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_segment_standing(pg_catalog.text, boolean) IS
    'what snowflake_convert() has to know of a segment of this registry; dropped is null where there was none of that name; held_to is the last number that another node has, and holder that node; for_update keeps it so until the transaction ends';
REVOKE ALL ON FUNCTION snowflake_segment_standing(pg_catalog.text, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_convert(relation pg_catalog.regclass, column_name pg_catalog.name, segment pg_catalog.text, dry_run boolean DEFAULT false) RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME', 'snowflake_convert_segment' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert(pg_catalog.regclass, name, pg_catalog.text, boolean) IS
    'gives a smallint, integer or bigint column, be it plain, serial or identity, the default snowflake_segment_nextval(segment); its type stays. Before that the segment is created, or raised, above its numbers and those of the sequence that goes, unless it begins there: that takes EXECUTE on the function that does it, whoever owns the table. Returns the statements, which dry_run keeps from being executed. Nodes use up what they have of a segment, so it is refused where another one may have a number that is in the column, and on a node of a registry elsewhere unless there are no numbers above 0; 22003 where the type has no number left, 22004, 22023, 42501, 42703, 42804, 42809, 42P01, 42P16, 2BP01 or 55000 for what cannot be converted. Where it creates the segment, numbers come after the commit';

CREATE FUNCTION snowflake_check(
    relation pg_catalog.regclass, column_name pg_catalog.name,
    OUT problem pg_catalog.text, OUT worker integer, OUT ids bigint, OUT first_id bigint, OUT last_id bigint) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check(pg_catalog.regclass, name) IS
    'ids of a bigint column that are not of this database''s layout, of the future by more than max_clock_skew, or of a time for which this registry never leased their worker id; none when all is well. Where the registry is in another database nothing is compared with its leases, and all ids are listed as such, for each worker id. 42501 for who may not read the column, 42703, 42804, 42809 or 42P01 for what is no such column';
REVOKE ALL ON FUNCTION snowflake_check(pg_catalog.regclass, pg_catalog.name) FROM PUBLIC;

-- Watching: this node.

CREATE FUNCTION snowflake_get_status(
    OUT state pg_catalog.text, OUT node pg_catalog.text, OUT worker integer, OUT lease_id bigint,
    OUT window_start pg_catalog.timestamptz, OUT window_end pg_catalog.timestamptz, OUT ids_flow_for interval,
    OUT last_id bigint, OUT lead interval, OUT clock_lead interval, OUT clock_bridged bigint, OUT keeper_pid integer,
    OUT ids_taken bigint, OUT ids_given_back bigint, OUT runs_taken bigint, OUT clock_waits bigint, OUT lease_waits bigint,
    OUT failed_calls bigint, OUT failed_segment_calls bigint, OUT clock_steps_back bigint, OUT leases_drawn bigint,
    OUT registry_here boolean, OUT registry_answers bigint, OUT registry_failures bigint,
    OUT answer_seconds double precision, OUT since_answer_seconds double precision, OUT ranges_failing boolean,
    OUT last_error pg_catalog.text, OUT last_error_code pg_catalog.text, OUT last_error_at pg_catalog.timestamptz,
    OUT workers bigint, OUT workers_free bigint, OUT end_of_life pg_catalog.timestamptz, OUT advice pg_catalog.text,
    OUT black_box boolean, OUT horizon bigint, OUT horizon_age interval, OUT horizon_pid integer, OUT horizon_xid pg_catalog.xid, OUT horizon_since pg_catalog.timestamptz)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_get_status() IS 'what the views snowflake_status and snowflake_metrics show: one consistent look';

CREATE VIEW snowflake_status AS
    SELECT s.state, s.node, s.worker, s.lease_id, s.window_start, s.window_end, s.ids_flow_for, s.last_id, s.lead, s.keeper_pid,
           s.ids_taken OPERATOR(pg_catalog.-) s.ids_given_back AS ids_taken, s.runs_taken, s.clock_waits, s.lease_waits,
           s.clock_steps_back, s.leases_drawn, s.last_error, s.last_error_code, s.last_error_at, s.end_of_life, s.advice,
           s.clock_lead, s.clock_bridged, s.horizon, s.horizon_age, s.horizon_pid, p.gid AS horizon_gid,
           coalesce(s.horizon_since, p.prepared) AS horizon_since
    FROM snowflake_get_status() s
         LEFT JOIN pg_catalog.pg_prepared_xacts p ON p.transaction OPERATOR(pg_catalog.=) s.horizon_xid;
COMMENT ON VIEW snowflake_status IS 'this node: one row';
COMMENT ON COLUMN snowflake_status.state IS
    'what a call would get now: issuing; clock behind, by more than max_lead, the last id or the lease; window ended, because the registry has not moved it; time used up, of the layout; held back, by a registry that settles; no lease; idle, when nobody has asked for an id yet; standby, whose registry is here and cannot be written; not preloaded';
COMMENT ON COLUMN snowflake_status.node IS 'name under which the node stands in the registry';
COMMENT ON COLUMN snowflake_status.worker IS 'worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.lease_id IS 'lease that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.window_start IS 'ids of the lease have no earlier timestamp';
COMMENT ON COLUMN snowflake_status.window_end IS 'ids flow until then even if the registry cannot be reached';
COMMENT ON COLUMN snowflake_status.ids_flow_for IS 'time left until window_end; 0 while calls fail, null without a lease';
COMMENT ON COLUMN snowflake_status.last_id IS 'highest id that may have been issued under the lease';
COMMENT ON COLUMN snowflake_status.lead IS 'by how much the last tick, or the lease''s first, leads the clock; 0 when it does not';
COMMENT ON COLUMN snowflake_status.keeper_pid IS 'process id of the keeper, null when none runs';
COMMENT ON COLUMN snowflake_status.ids_taken IS 'numbers taken by sessions since the server started, issued or lost with a run';
COMMENT ON COLUMN snowflake_status.runs_taken IS 'how often sessions took numbers';
COMMENT ON COLUMN snowflake_status.clock_waits IS 'calls that waited for the clock';
COMMENT ON COLUMN snowflake_status.lease_waits IS 'calls that waited for a lease or for the window to move';
COMMENT ON COLUMN snowflake_status.clock_steps_back IS 'steps back of the clock that were answered with another worker id';
COMMENT ON COLUMN snowflake_status.leases_drawn IS 'leases drawn since the server started';
COMMENT ON COLUMN snowflake_status.last_error IS
    'what the registry answered to the keeper''s last try, null when that succeeded; only members of pg_read_all_settings read what may name its address or a role there';
COMMENT ON COLUMN snowflake_status.last_error_code IS 'SQLSTATE of last_error';
COMMENT ON COLUMN snowflake_status.last_error_at IS 'when the keeper met last_error';
COMMENT ON COLUMN snowflake_status.end_of_life IS 'when the layout''s time is used up';
COMMENT ON COLUMN snowflake_status.advice IS
    'what should be looked after although ids flow, one line each; null when all is well';
COMMENT ON COLUMN snowflake_status.clock_lead IS
    'by how much the node''s clock, which ids read, leads the server''s, because that stepped back; below 0 while it leapt forward and is not believed';
COMMENT ON COLUMN snowflake_status.clock_bridged IS 'how many steps back of the server''s clock nobody noticed';
COMMENT ON COLUMN snowflake_status.horizon IS
    'newest answer of snowflake_horizon(), for a snapshot taken now; null before anybody has asked for it';
COMMENT ON COLUMN snowflake_status.horizon_age IS 'how far the horizon is behind the node''s clock';
COMMENT ON COLUMN snowflake_status.horizon_pid IS 'process whose transaction holds the horizon back; null when none does';
COMMENT ON COLUMN snowflake_status.horizon_gid IS
    'prepared transaction that does: one that drew ids, or that was prepared before the server''s start, of which nobody knows whether it did';
COMMENT ON COLUMN snowflake_status.horizon_since IS 'when that transaction drew its first id, or was prepared';
GRANT SELECT ON snowflake_status TO PUBLIC;

CREATE VIEW snowflake_metrics AS
    SELECT s.state,
           CASE WHEN s.ids_taken IS NOT NULL AND s.state OPERATOR(pg_catalog.<>) 'standby'::pg_catalog.text
               THEN (s.state OPERATOR(pg_catalog.=) 'issuing'::pg_catalog.text)::integer END AS issuing,
           CASE WHEN s.ids_taken IS NOT NULL AND s.state OPERATOR(pg_catalog.<>) 'standby'::pg_catalog.text
               THEN (s.state OPERATOR(pg_catalog.=) 'idle'::pg_catalog.text)::integer END AS idle,
           (s.keeper_pid IS NOT NULL)::integer AS keeper_running,
           s.registry_here::integer AS registry_here,
           s.worker,
           extract(epoch FROM s.ids_flow_for)::double precision AS ids_flow_seconds,
           extract(epoch FROM s.window_end)::double precision AS window_end_timestamp_seconds,
           extract(epoch FROM s.lead)::double precision AS lead_seconds,
           extract(epoch FROM s.clock_lead)::double precision AS clock_lead_seconds,
           coalesce(s.clock_bridged, 0::bigint) AS clock_bridged_total,
           s.clock_steps_back AS clock_steps_back_total,
           s.ids_taken AS ids_taken_total,
           s.ids_given_back AS ids_given_back_total,
           s.runs_taken AS runs_taken_total,
           s.clock_waits AS clock_waits_total,
           s.lease_waits AS lease_waits_total,
           s.failed_calls AS failed_calls_total,
           s.failed_segment_calls AS failed_segment_calls_total,
           s.leases_drawn AS leases_drawn_total,
           s.registry_answers AS registry_answers_total,
           s.registry_failures AS registry_failures_total,
           s.answer_seconds AS registry_answer_seconds,
           s.since_answer_seconds AS since_registry_answer_seconds,
           (s.last_error IS NOT NULL)::integer AS registry_failing,
           s.ranges_failing::integer AS ranges_failing,
           extract(epoch FROM s.last_error_at)::double precision AS last_error_timestamp_seconds,
           s.workers,
           s.workers_free,
           extract(epoch FROM s.horizon_age)::double precision AS horizon_age_seconds,
           s.black_box::integer AS black_box,
           coalesce(pg_catalog.array_length(pg_catalog.string_to_array(s.advice, E'\n'::pg_catalog.text), 1), 0) AS advice,
           extract(epoch FROM s.end_of_life)::double precision OPERATOR(pg_catalog.-)
               extract(epoch FROM pg_catalog.clock_timestamp())::double precision AS end_of_life_seconds
    FROM snowflake_get_status() s;
COMMENT ON VIEW snowflake_metrics IS 'this node in numbers, for what collects metrics: one row; what it does not have is null';
COMMENT ON COLUMN snowflake_metrics.state IS 'what a call would get now, as in snowflake_status; the one column that is no number';
COMMENT ON COLUMN snowflake_metrics.issuing IS
    'whether a call would get an id now: 1 or 0; null on a standby, and where nothing is preloaded, as where there is nothing but a registry';
COMMENT ON COLUMN snowflake_metrics.idle IS
    'whether nobody has asked for an id yet, so that the first call draws a lease: 1 or 0; where this and issuing are 0, calls fail or wait; null as issuing is';
COMMENT ON COLUMN snowflake_metrics.keeper_running IS
    'whether the keeper runs: 1 or 0; where it does not, the next call that needs one starts it';
COMMENT ON COLUMN snowflake_metrics.registry_here IS 'whether the registry is in this database: 1 or 0';
COMMENT ON COLUMN snowflake_metrics.worker IS 'worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_metrics.ids_flow_seconds IS
    'time for which ids flow although the registry cannot be written; 0 while calls fail, null without a lease';
COMMENT ON COLUMN snowflake_metrics.window_end_timestamp_seconds IS 'end of the lease''s window, in seconds since 1970-01-01 00:00 UTC';
COMMENT ON COLUMN snowflake_metrics.lead_seconds IS 'by how much the last tick leads the clock; 0 when it does not';
COMMENT ON COLUMN snowflake_metrics.clock_lead_seconds IS
    'by how much the node''s clock leads the server''s, because that stepped back; below 0 while it leapt forward and is not believed';
COMMENT ON COLUMN snowflake_metrics.clock_bridged_total IS 'steps back of the server''s clock that nobody noticed';
COMMENT ON COLUMN snowflake_metrics.clock_steps_back_total IS 'steps back of the clock that were answered with another worker id';
COMMENT ON COLUMN snowflake_metrics.ids_taken_total IS 'numbers taken by sessions since the server started, those given back included';
COMMENT ON COLUMN snowflake_metrics.ids_given_back_total IS 'numbers of these that came back unused, to be taken again';
COMMENT ON COLUMN snowflake_metrics.runs_taken_total IS 'how often sessions took numbers';
COMMENT ON COLUMN snowflake_metrics.clock_waits_total IS 'calls that waited for the clock';
COMMENT ON COLUMN snowflake_metrics.lease_waits_total IS 'calls that waited for a lease or for the window to move';
COMMENT ON COLUMN snowflake_metrics.failed_calls_total IS 'calls for ids that ended in an error, or were cancelled while they waited';
COMMENT ON COLUMN snowflake_metrics.failed_segment_calls_total IS
    'calls for numbers of segments that ended in an error, or were cancelled while they waited';
COMMENT ON COLUMN snowflake_metrics.leases_drawn_total IS 'leases drawn since the server started';
COMMENT ON COLUMN snowflake_metrics.registry_answers_total IS 'questions of the keeper that the registry answered';
COMMENT ON COLUMN snowflake_metrics.registry_failures_total IS 'questions of the keeper that the registry refused, or did not answer';
COMMENT ON COLUMN snowflake_metrics.registry_answer_seconds IS 'how long the newest answer of the registry took';
COMMENT ON COLUMN snowflake_metrics.since_registry_answer_seconds IS 'time since that answer';
COMMENT ON COLUMN snowflake_metrics.registry_failing IS
    'whether the keeper''s last try to draw, move or give back a lease failed: 1 or 0; snowflake_status has the error';
COMMENT ON COLUMN snowflake_metrics.ranges_failing IS 'whether its last try to fetch numbers of segments failed: 1 or 0';
COMMENT ON COLUMN snowflake_metrics.last_error_timestamp_seconds IS
    'when the try of registry_failing failed, in seconds since 1970-01-01 00:00 UTC; null where it did not';
COMMENT ON COLUMN snowflake_metrics.workers IS
    'how many worker ids the node''s datacenter has, or the registry where the layout has no datacenters';
COMMENT ON COLUMN snowflake_metrics.workers_free IS 'how many of these nobody else held when the lease was drawn';
COMMENT ON COLUMN snowflake_metrics.horizon_age_seconds IS
    'how far the horizon is behind the node''s clock; null before anybody has asked for it';
COMMENT ON COLUMN snowflake_metrics.black_box IS
    'whether the server has a black box, so that ids go on under the same lease after a crash: 1 or 0; null where nothing is preloaded';
COMMENT ON COLUMN snowflake_metrics.advice IS 'how many lines of advice snowflake_status has';
COMMENT ON COLUMN snowflake_metrics.end_of_life_seconds IS 'time until the layout''s time is used up';
GRANT SELECT ON snowflake_metrics TO PUBLIC;

CREATE FUNCTION snowflake_get_segments(
    OUT name pg_catalog.text, OUT next_here bigint, OUT left_here bigint, OUT rate double precision, OUT lasts interval,
    OUT usage_role pg_catalog.name) RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_segments() IS 'what the view snowflake_segments shows of this node';

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
                                                 'from'::pg_catalog.text, r.held_from, 'to'::pg_catalog.text, r.held_to, 'since'::pg_catalog.text, r.drawn_at)
                   ORDER BY r.held_to) AS holders
        FROM snowflake_range r WHERE r.segment_id OPERATOR(pg_catalog.=) s.segment_id) h ON true;
COMMENT ON VIEW snowflake_segments IS
    'segments of this registry, and what this node has of them; of a registry in another database the latter alone';
COMMENT ON COLUMN snowflake_segments.name IS 'name by which nodes ask for numbers';
COMMENT ON COLUMN snowflake_segments.next_value IS 'first number of the next range, null when all are handed out';
COMMENT ON COLUMN snowflake_segments.max_value IS 'last number';
COMMENT ON COLUMN snowflake_segments.step IS 'no range is shorter';
COMMENT ON COLUMN snowflake_segments.max_step IS 'no range is longer';
COMMENT ON COLUMN snowflake_segments.holders IS 'the newest ranges of each node: node, role, from, to, since';
COMMENT ON COLUMN snowflake_segments.next_here IS 'this node''s next number; null when it has none';
COMMENT ON COLUMN snowflake_segments.left_here IS 'how many numbers this node has left; null when nobody has asked here yet';
COMMENT ON COLUMN snowflake_segments.rate IS 'numbers per second that this node issued of its range';
COMMENT ON COLUMN snowflake_segments.lasts IS
    'how long left_here lasts at that rate: until then the registry may be away; null without a rate';
COMMENT ON COLUMN snowflake_segments.usage_role IS
    'role whose members alone may use the numbers, null: every role; of a registry in another database as of the newest answer';
GRANT SELECT ON snowflake_segments TO pg_read_all_stats;

-- Watching: the registry.

CREATE VIEW snowflake_workers AS
    SELECT r.worker_id AS worker, r.node, r.lease_id, r.acquired_at, r.renewed_at,
           pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) r.acquired_at AS age,
           pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) r.renewed_at AS since_renewal,
           snowflake_tick_timestamp(r.window_start) AS window_start,
           snowflake_tick_timestamp(r.window_end) AS window_end,
           pg_catalog.clock_timestamp() OPERATOR(pg_catalog.>) (r.renewed_at OPERATOR(pg_catalog.+)
               ((snowflake_tick_timestamp(r.window_end) OPERATOR(pg_catalog.-) r.renewed_at)
                   OPERATOR(pg_catalog./) 2::double precision)) AS late,
           snowflake_tick_timestamp(r.window_end) OPERATOR(pg_catalog.<=) pg_catalog.clock_timestamp() AS expired,
           pg_catalog.pg_get_userbyid(r.role) AS role
    FROM snowflake_registry r;
COMMENT ON VIEW snowflake_workers IS 'the registry: who holds which worker id';
COMMENT ON COLUMN snowflake_workers.worker IS 'worker id that the node holds, datacenter bits included';
COMMENT ON COLUMN snowflake_workers.node IS 'name of the node, for people';
COMMENT ON COLUMN snowflake_workers.lease_id IS 'number of the lease';
COMMENT ON COLUMN snowflake_workers.acquired_at IS 'when the lease was drawn, by the clock of the registry''s server';
COMMENT ON COLUMN snowflake_workers.renewed_at IS 'when its window was last moved, by the same clock';
COMMENT ON COLUMN snowflake_workers.age IS 'time since acquired_at';
COMMENT ON COLUMN snowflake_workers.since_renewal IS 'time since renewed_at; negative when the clock was ahead then';
COMMENT ON COLUMN snowflake_workers.window_start IS 'ids of the lease have no earlier timestamp';
COMMENT ON COLUMN snowflake_workers.window_end IS 'nor this one or a later one, unless it is moved';
COMMENT ON COLUMN snowflake_workers.late IS 'whether half of the lease has passed without a word; a keeper speaks after a third';
COMMENT ON COLUMN snowflake_workers.expired IS 'whether the window is over: the next acquire that finds no other worker id may take it';
COMMENT ON COLUMN snowflake_workers.role IS 'role that drew the lease, and alone can move or release it';
GRANT SELECT ON snowflake_workers TO pg_read_all_stats;

CREATE VIEW snowflake_registry_metrics AS
    SELECT l.workers,
           coalesce(f.held, 0::bigint) AS workers_held,
           l.workers OPERATOR(pg_catalog.-) coalesce(f.held, 0::bigint) AS workers_free,
           coalesce(f.expired, 0::bigint) AS workers_expired,
           CASE WHEN o.settling_seconds IS NOT NULL THEN
               coalesce(f.expired, 0::bigint) OPERATOR(pg_catalog.+) l.common OPERATOR(pg_catalog.-)
               (SELECT pg_catalog.count(*) FROM snowflake_registry r
                WHERE (r.worker_id OPERATOR(pg_catalog.>>) l.worker_bits)
                          OPERATOR(pg_catalog.=) coalesce(f.datacenter, 0)
                    AND (r.worker_id::bigint OPERATOR(pg_catalog.%) l.workers) OPERATOR(pg_catalog.<) l.common)
               ELSE 0::bigint END AS workers_held_back,
           a.leases, a.late AS leases_late, a.expired AS leases_expired,
           coalesce(o.settling_seconds, 0::double precision) AS settling_seconds
    FROM snowflake_get_status() s
         CROSS JOIN (SELECT worker_bits, workers,
                            workers OPERATOR(pg_catalog.-) (workers OPERATOR(pg_catalog./) 3::bigint) AS common
                     FROM (SELECT worker_bits, 1::bigint OPERATOR(pg_catalog.<<) worker_bits AS workers
                           FROM snowflake_get_layout()) bits) l
         CROSS JOIN (SELECT pg_catalog.count(*) AS leases,
                            pg_catalog.count(*) FILTER (WHERE late AND NOT expired) AS late,
                            pg_catalog.count(*) FILTER (WHERE expired) AS expired
                     FROM snowflake_workers) a
         LEFT JOIN (SELECT extract(epoch FROM settles_until OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())
                               ::double precision AS settling_seconds
                    FROM snowflake_origin
                    WHERE settles_until OPERATOR(pg_catalog.>) pg_catalog.clock_timestamp()) o ON true
         LEFT JOIN LATERAL (SELECT w.worker OPERATOR(pg_catalog.>>) l.worker_bits AS datacenter,
                                   pg_catalog.count(*) FILTER (WHERE NOT w.expired) AS held,
                                   pg_catalog.count(*) FILTER (WHERE w.expired) AS expired
                            FROM snowflake_workers w GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1) f ON true
    WHERE s.registry_here;
COMMENT ON VIEW snowflake_registry_metrics IS
    'the registry of this database in numbers, for what collects metrics: one row, none where the registry is in another database; what is said of worker ids is of the datacenter that has the fewest left';
COMMENT ON COLUMN snowflake_registry_metrics.workers IS 'how many worker ids there are';
COMMENT ON COLUMN snowflake_registry_metrics.workers_held IS 'how many of these nodes hold, in windows that are not over';
COMMENT ON COLUMN snowflake_registry_metrics.workers_free IS 'how many nobody holds';
COMMENT ON COLUMN snowflake_registry_metrics.workers_expired IS 'how many of the free ones are of leases whose windows are over';
COMMENT ON COLUMN snowflake_registry_metrics.workers_held_back IS 'how many of the free ones are held back, because the registry settles';
COMMENT ON COLUMN snowflake_registry_metrics.leases IS 'leases in all datacenters';
COMMENT ON COLUMN snowflake_registry_metrics.leases_late IS 'leases whose nodes have said nothing for half of their window';
COMMENT ON COLUMN snowflake_registry_metrics.leases_expired IS 'leases whose windows are over: of nodes that crashed and did not come back';
COMMENT ON COLUMN snowflake_registry_metrics.settling_seconds IS 'time until the registry has settled; 0 when it has';
GRANT SELECT ON snowflake_registry_metrics TO pg_read_all_stats;
