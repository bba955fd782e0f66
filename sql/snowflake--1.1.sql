\echo Use "CREATE EXTENSION snowflake" to load this file. \quit

-- The registry: who holds which worker id.

CREATE TABLE snowflake_registry (
    lease_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    worker_id    integer NOT NULL UNIQUE,
    node         text NOT NULL,
    token        uuid NOT NULL,
    acquired_at  timestamptz NOT NULL,
    renewed_at   timestamptz NOT NULL,
    window_start bigint NOT NULL,
    window_end   bigint NOT NULL
);
COMMENT ON TABLE snowflake_registry IS 'live leases: a row is inserted when a node starts to issue ids and deleted when it shuts down cleanly';
COMMENT ON COLUMN snowflake_registry.lease_id IS 'number of the lease; lease_id modulo the number of worker ids is where the search for a free one starts';
COMMENT ON COLUMN snowflake_registry.worker_id IS 'worker id that the node holds, datacenter bits included';
COMMENT ON COLUMN snowflake_registry.node IS 'name of the node, for people';
COMMENT ON COLUMN snowflake_registry.token IS 'secret that moving or releasing the lease takes';
COMMENT ON COLUMN snowflake_registry.window_start IS 'first tick that the lease may use';
COMMENT ON COLUMN snowflake_registry.window_end IS 'first tick that the lease may not use';

-- A new registry's ring begins at a random place, so that one that was dropped and created again does not hand out the
-- worker ids of its predecessor first. 2^22 is a multiple of every ring of up to 22 bits.
SELECT setval(pg_get_serial_sequence('snowflake_registry', 'lease_id'), 1 + floor(random() * 4194304)::bigint);

CREATE TABLE snowflake_watermark (
    worker_id integer PRIMARY KEY,
    last_tick bigint NOT NULL
);
COMMENT ON TABLE snowflake_watermark IS 'highest tick that any ended lease of a worker id may have used; it outlives the lease';

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
COMMENT ON COLUMN snowflake_layout.epoch_ms IS 'start of tick 0, in milliseconds since 1970-01-01 00:00 UTC';
COMMENT ON COLUMN snowflake_layout.tick_us IS 'length of a tick in microseconds';
COMMENT ON COLUMN snowflake_layout.sequence_first IS 'whether the sequence number stands above the worker id';

CREATE TABLE snowflake_origin (
    singleton         boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    system_identifier bigint NOT NULL,
    timeline          bigint NOT NULL,
    last_lease_id     bigint NOT NULL,
    settles_until     timestamptz,
    settling_lease_id bigint,
    settling_cuts     bigint[]
);
COMMENT ON TABLE snowflake_origin IS 'server that the registry was on at the last acquire, and what still settles after a failover';
COMMENT ON COLUMN snowflake_origin.last_lease_id IS 'lease that was drawn last';
COMMENT ON COLUMN snowflake_origin.settles_until IS 'until then nothing expires and only part of the worker ids is handed out';
COMMENT ON COLUMN snowflake_origin.settling_lease_id IS 'lease whose place on the ring the cuts are counted from';
COMMENT ON COLUMN snowflake_origin.settling_cuts IS 'for each datacenter, the offset on the ring below which nothing is handed out';

-- Before the first lease, so that a standby which is promoted without having heard of it knows of the failover, too.
INSERT INTO snowflake_origin (system_identifier, timeline, last_lease_id)
    SELECT system_identifier, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint,
        pg_sequence_last_value(pg_get_serial_sequence('snowflake_registry', 'lease_id'))
    FROM pg_control_system();

-- What a restored dump must bring back. A lease, a watermark or an origin of another server must not come back.
SELECT pg_extension_config_dump('snowflake_layout', '');

CREATE FUNCTION snowflake_layout_changed() RETURNS trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_layout_changed() IS 'refuses to change the layout once a lease was drawn, and tells all sessions of a change';

-- Who could fire it from a table of his own could hold up every acquire.
REVOKE ALL ON FUNCTION snowflake_layout_changed() FROM PUBLIC;

CREATE TRIGGER snowflake_layout_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON snowflake_layout
    FOR EACH STATEMENT EXECUTE FUNCTION snowflake_layout_changed();
ALTER TABLE snowflake_layout ENABLE ALWAYS TRIGGER snowflake_layout_changed;
COMMENT ON TRIGGER snowflake_layout_changed ON snowflake_layout IS 'keeps the layout as it is once a lease was drawn';

-- The registry protocol. Errors common to the three: 22004 and 22023 for arguments, 25006 where nothing can be written,
-- 55000 for any isolation level but read committed.

CREATE FUNCTION snowflake_acquire(
    node text, datacenter integer, now_tick bigint, duration interval,
    OUT lease_id bigint, OUT token uuid, OUT worker_id integer, OUT window_start bigint, OUT window_end bigint,
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_acquire(text, integer, bigint, interval) IS
    'draws a worker id for a node whose clock shows now_tick, for a duration of 1 second to 1 day; SF004 when every worker id is leased; null when it has just noticed a failover and holds back all that is free: ask again';

CREATE FUNCTION snowflake_extend(lease_id bigint, token uuid, now_tick bigint, duration interval) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_extend(bigint, uuid, bigint, interval) IS
    'moves the end of a lease''s window to now_tick plus the duration, never back; returns the end, or null when the lease is gone';

CREATE FUNCTION snowflake_release(lease_id bigint, token uuid, last_tick bigint) RETURNS boolean
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_release(bigint, uuid, bigint) IS
    'gives a lease back and keeps last_tick as its worker id''s watermark; false when the lease was gone already';

REVOKE ALL ON FUNCTION snowflake_acquire(text, integer, bigint, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_extend(bigint, uuid, bigint, interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_release(bigint, uuid, bigint) FROM PUBLIC;

-- Issuing.

CREATE FUNCTION snowflake_nextval_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextval_support(internal) IS
    'planner support of snowflake_nextval(): lets COPY insert many rows at once';

CREATE FUNCTION snowflake_nextval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_nextval() IS
    'next id; SF001 without a lease, SF002 when the clock is behind, SF003 when the layout''s time is used up, SF004 when every worker id is leased';

-- COPY finds it through the support function that both have.
CREATE FUNCTION snowflake_copy_nextval(internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_nextval(internal) IS
    'what COPY FROM evaluates, for each row, where a default calls snowflake_nextval(), which is its argument; the same result and errors; no SQL can call it';

CREATE FUNCTION snowflake_nextvals(count integer) RETURNS SETOF bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextvals(integer) IS
    'the next count ids, rising; 22023 unless count is positive, otherwise the errors of snowflake_nextval()';

CREATE FUNCTION snowflake_currval() RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION snowflake_currval() IS
    'id that this session issued last, those of parallel workers not counted; 55000 before the first';

-- Reading.

CREATE FUNCTION snowflake_decode(id bigint, OUT ts timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint) IS
    'timestamp, worker id and sequence number of an id, by this database''s layout; 22003 for an id that the layout cannot hold';

CREATE FUNCTION snowflake_decode(id bigint, layout text, OUT ts timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name; a worker id or sequence number that the layout lacks is 0';

CREATE FUNCTION snowflake_timestamp(id bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint) IS
    'timestamp of an id, by this database''s layout; 22003 for an id that the layout cannot hold';

CREATE FUNCTION snowflake_timestamp(id bigint, layout text) RETURNS timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_timestamp(bigint, text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

CREATE FUNCTION snowflake_encode(ts timestamptz, worker integer, seq integer) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(timestamptz, integer, integer) IS
    'the id that snowflake_decode() takes apart into these, by this database''s layout, the timestamp rounded down to its tick; 22003 for what does not fit its field. Nothing keeps it from being an id that was or will be issued';

CREATE FUNCTION snowflake_encode(ts timestamptz, worker integer, seq integer, layout text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_encode(timestamptz, integer, integer, text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

-- Time ranges.

CREATE FUNCTION snowflake_id_at(ts timestamptz) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(timestamptz) IS
    'smallest id whose timestamp is ts or later, by this database''s layout: id >= snowflake_id_at(ts) is the same as snowflake_timestamp(id) >= ts; 0 before the epoch, 22003 after the layout''s last tick, and where ids are negative';

CREATE FUNCTION snowflake_id_at(ts timestamptz, layout text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_id_at(timestamptz, text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

CREATE FUNCTION snowflake_range(during tstzrange) RETURNS int8range
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(tstzrange) IS
    'ids whose timestamps lie in the range, by this database''s layout: id <@ snowflake_range(r) is the same as snowflake_timestamp(id) <@ r for every id that is not negative; without upper bound where the range ends after the layout, 22003 for a bound where ids are negative';

CREATE FUNCTION snowflake_range(during tstzrange, layout text) RETURNS int8range
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_range(tstzrange, text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name';

-- Ticks and layouts.

CREATE FUNCTION snowflake_tick_timestamp(tick bigint) RETURNS timestamptz
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_tick_timestamp(bigint) IS
    'when a tick of this database''s layout begins; infinite beyond what a timestamp can hold';

CREATE FUNCTION snowflake_get_layout(
    OUT epoch_ms bigint, OUT tick_us bigint, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean)
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_layout() IS
    'this database''s layout, the default one included; what a node compares with its own before it asks a registry';

CREATE FUNCTION snowflake_set_layout(name text) RETURNS void
    AS 'MODULE_PATHNAME', 'snowflake_set_named_layout' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(text) IS
    'gives this database a named layout of the view snowflake_layouts to begin with; 22023 for an unknown name, otherwise the errors of the other form';

CREATE FUNCTION snowflake_set_layout(
    epoch timestamptz, tick interval, timestamp_bits integer, datacenter_bits integer, worker_bits integer,
    sequence_bits integer, sequence_first boolean DEFAULT false) RETURNS void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION snowflake_set_layout(timestamptz, interval, integer, integer, integer, integer, boolean) IS
    'gives this database a layout to begin with, and does nothing when it has it already; 22023 for a layout that cannot be, that ids cannot be issued with or that has less than ten years left, 22004 for a null, 55000 once a worker id was leased under another';

REVOKE ALL ON FUNCTION snowflake_set_layout(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION snowflake_set_layout(timestamptz, interval, integer, integer, integer, integer, boolean) FROM PUBLIC;

CREATE FUNCTION snowflake_get_layouts(
    OUT name text, OUT epoch timestamptz, OUT tick interval, OUT timestamp_bits integer, OUT datacenter_bits integer,
    OUT worker_bits integer, OUT sequence_bits integer, OUT sequence_first boolean, OUT total_bits integer,
    OUT settable boolean, OUT end_of_life timestamptz, OUT negative_until timestamptz) RETURNS SETOF record
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE PARALLEL SAFE ROWS 18;
COMMENT ON FUNCTION snowflake_get_layouts() IS 'what the view snowflake_layouts shows';

CREATE VIEW snowflake_layouts AS SELECT * FROM snowflake_get_layouts();
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
COMMENT ON COLUMN snowflake_layouts.settable IS 'whether snowflake_set_layout() takes it now: it has worker and sequence bits and ten years left';
COMMENT ON COLUMN snowflake_layouts.end_of_life IS 'when its time is used up: no id is issued from then on';
COMMENT ON COLUMN snowflake_layouts.negative_until IS 'null, but for a layout that takes the sign in: its ids are negative from end_of_life until then, and can be read';
GRANT SELECT ON snowflake_layouts TO PUBLIC;

-- Text. The names of the encodings: base32 (Crockford; 13 digits), base58 (11), base62 (11), hex (16).

CREATE FUNCTION snowflake_to_text(id bigint, encoding text) RETURNS text
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_to_text(bigint, text) IS
    'an id as text of fixed width in base32, base58, base62 or hex, under the C collation in the order of the ids; 22003 for a negative id, 22023 for an unknown encoding';

CREATE FUNCTION snowflake_from_text(id text, encoding text) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_from_text(text, text) IS
    'the id that snowflake_to_text() wrote; 22P02 for a foreign character or another width, 22003 for a number that is no id, 22023 for an unknown encoding';

-- Moving tables over.

CREATE FUNCTION snowflake_convert(relation regclass, column_name name, dry_run boolean DEFAULT false) RETURNS SETOF text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert(regclass, name, boolean) IS
    'makes a smallint, integer or bigint column bigint DEFAULT snowflake_nextval(), be it plain, serial or identity, and widens what refers to it; returns the statements, which dry_run keeps from being executed; 22004, 42501, 42703, 42804, 42809, 42P01, 42P16, 2BP01 or 55000 for what cannot be converted';

-- Watching.

CREATE FUNCTION snowflake_get_status(
    OUT state text, OUT node text, OUT worker integer, OUT lease_id bigint,
    OUT window_start timestamptz, OUT window_end timestamptz, OUT ids_flow_for interval,
    OUT last_id bigint, OUT lead interval, OUT keeper_pid integer,
    OUT ids_taken bigint, OUT runs_taken bigint, OUT clock_waits bigint, OUT lease_waits bigint,
    OUT clock_steps_back bigint, OUT leases_drawn bigint,
    OUT last_error text, OUT last_error_code text, OUT last_error_at timestamptz, OUT end_of_life timestamptz)
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_get_status() IS 'what the view snowflake_status shows';

CREATE VIEW snowflake_status AS SELECT * FROM snowflake_get_status();
COMMENT ON VIEW snowflake_status IS 'this node: one row';
COMMENT ON COLUMN snowflake_status.state IS 'issuing, no lease, or not preloaded';
COMMENT ON COLUMN snowflake_status.node IS 'name under which the node stands in the registry';
COMMENT ON COLUMN snowflake_status.worker IS 'worker id that the node holds, or held last';
COMMENT ON COLUMN snowflake_status.window_end IS 'ids flow until then even if the registry cannot be reached';
COMMENT ON COLUMN snowflake_status.ids_flow_for IS 'time left until window_end';
COMMENT ON COLUMN snowflake_status.last_id IS 'highest id that may have been issued under the lease';
COMMENT ON COLUMN snowflake_status.lead IS 'by how much the last tick leads the clock; 0 when it does not';
COMMENT ON COLUMN snowflake_status.keeper_pid IS 'process id of the keeper, null when none runs';
COMMENT ON COLUMN snowflake_status.ids_taken IS 'numbers taken by sessions since the server started, issued or lost with a run';
COMMENT ON COLUMN snowflake_status.runs_taken IS 'how often sessions took numbers';
COMMENT ON COLUMN snowflake_status.clock_waits IS 'calls that waited for the clock';
COMMENT ON COLUMN snowflake_status.lease_waits IS 'calls that waited for a lease or for the window to move';
COMMENT ON COLUMN snowflake_status.clock_steps_back IS 'steps back of the clock that were answered with another worker id';
COMMENT ON COLUMN snowflake_status.leases_drawn IS 'leases drawn since the server started';
COMMENT ON COLUMN snowflake_status.last_error IS 'what the registry answered to the keeper''s last try, null when that succeeded';
COMMENT ON COLUMN snowflake_status.end_of_life IS 'when the layout''s time is used up';
GRANT SELECT ON snowflake_status TO PUBLIC;

CREATE VIEW snowflake_workers AS
    SELECT r.worker_id AS worker, r.node, r.lease_id, r.acquired_at, r.renewed_at,
           clock_timestamp() - r.acquired_at AS age,
           clock_timestamp() - r.renewed_at AS since_renewal,
           snowflake_tick_timestamp(r.window_start) AS window_start,
           snowflake_tick_timestamp(r.window_end) AS window_end,
           clock_timestamp() > r.renewed_at + (snowflake_tick_timestamp(r.window_end) - r.renewed_at) / 2 AS late,
           snowflake_tick_timestamp(r.window_end) <= clock_timestamp() AS expired
    FROM snowflake_registry r;
COMMENT ON VIEW snowflake_workers IS 'the registry: who holds which worker id';
COMMENT ON COLUMN snowflake_workers.late IS 'whether half of the lease has passed without a word; a keeper speaks after a third';
COMMENT ON COLUMN snowflake_workers.expired IS 'whether the next acquire may turn this lease into a watermark';
GRANT SELECT ON snowflake_workers TO pg_read_all_stats;
