-- Ids to read, and the layout's arithmetic written by hand. Psql variable: count.
CREATE TABLE reading_ids AS SELECT snowflake_nextval() AS id FROM generate_series(1, :count);
VACUUM ANALYZE reading_ids;

CREATE FUNCTION sql_timestamp(id bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$SELECT to_timestamp(((id >> 22) + 1735689600000) / 1e3::float8)$$;
CREATE FUNCTION plpgsql_timestamp(id bigint) RETURNS timestamptz LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$BEGIN RETURN to_timestamp(((id >> 22) + 1735689600000) / 1e3::float8); END$$;

CREATE FUNCTION sql_decode(id bigint, OUT ts timestamptz, OUT worker integer, OUT seq integer)
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$SELECT to_timestamp(((id >> 22) + 1735689600000) / 1e3::float8), (id >> 12 & 1023)::int, (id & 4095)::int$$;
CREATE FUNCTION plpgsql_decode(id bigint, OUT ts timestamptz, OUT worker integer, OUT seq integer)
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    ts := to_timestamp(((id >> 22) + 1735689600000) / 1e3::float8);
    worker := (id >> 12 & 1023)::int;
    seq := (id & 4095)::int;
END$$;

-- If the results differ, the comparison is meaningless.
DO $$
BEGIN
    IF EXISTS (SELECT FROM (SELECT id FROM reading_ids LIMIT 10000) i
               WHERE snowflake_timestamp(id) <> sql_timestamp(id) OR sql_timestamp(id) <> plpgsql_timestamp(id)
                  OR snowflake_decode(id)::text <> sql_decode(id)::text
                  OR sql_decode(id)::text <> plpgsql_decode(id)::text) THEN
        RAISE 'the functions disagree';
    END IF;
END $$;
