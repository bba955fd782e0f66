\echo Use "ALTER EXTENSION snowflake UPDATE TO '1.1'" to load this file. \quit

-- Issuing.

CREATE FUNCTION snowflake_nextval_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_nextval_support(internal) IS
    'planner support of snowflake_nextval(): lets COPY insert many rows at once';

ALTER FUNCTION snowflake_nextval() SUPPORT snowflake_nextval_support;

-- COPY finds it through the support function that both have.
CREATE FUNCTION snowflake_copy_nextval(internal) RETURNS bigint
    AS 'MODULE_PATHNAME' LANGUAGE C STABLE STRICT PARALLEL SAFE SUPPORT snowflake_nextval_support;
COMMENT ON FUNCTION snowflake_copy_nextval(internal) IS
    'what COPY FROM evaluates, for each row, where a default calls snowflake_nextval(), which is its argument; the same result and errors; no SQL can call it';

-- Reading.

CREATE FUNCTION snowflake_decode(id bigint, layout text, OUT ts timestamptz, OUT worker integer, OUT seq integer)
    AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION snowflake_decode(bigint, text) IS
    'the same by a named layout of the view snowflake_layouts, and 22023 for an unknown name; a worker id or sequence number that the layout lacks is 0';

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

-- Layouts.

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
