-- A session that issues ids as fast as it can. Psql variable: hz, clock ticks per second in /proc.

-- Processor time of this backend so far, in seconds: utime and stime.
CREATE FUNCTION cpu_seconds(hz integer DEFAULT :hz) RETURNS double precision LANGUAGE sql VOLATILE AS $$
    SELECT (f[12]::bigint + f[13]::bigint)::double precision / hz
    FROM string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' ') f
$$;

-- Ids per second, and processor time per second. It takes ids at once, but counts only from `from`
-- on: by then the lead of an idle node is used up.
CREATE FUNCTION load("from" timestamptz, during interval, OUT ids_per_s double precision, OUT cpu double precision)
LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz;
    cpu_before double precision;
    ids bigint := 0;
    took double precision;
BEGIN
    WHILE clock_timestamp() < "from" LOOP
        PERFORM count(snowflake_nextval()) FROM generate_series(1, 1024);
    END LOOP;
    cpu_before := cpu_seconds();
    started := clock_timestamp();
    WHILE clock_timestamp() < "from" + during LOOP
        ids := ids + (SELECT count(snowflake_nextval()) FROM generate_series(1, 1024));
    END LOOP;
    took := extract(epoch FROM clock_timestamp() - started);
    ids_per_s := ids / took;
    cpu := (cpu_seconds() - cpu_before) / took;
END $$;
