-- A registry of 8 segments, and a role for nodes that may only request ranges. Psql variable:
-- nodes.
CREATE EXTENSION snowflake;
SELECT snowflake_create_segment('segment ' || place) FROM generate_series(0, 7) place;

CREATE ROLE range_node LOGIN;
GRANT EXECUTE ON FUNCTION snowflake_segment_ranges TO range_node;

-- Nodes, and what they know of each segment
CREATE TABLE nodes AS SELECT n, 'node ' || n AS node, sha256(uuid_send(gen_random_uuid())) AS hash FROM generate_series(1, :nodes) n;
ALTER TABLE nodes ADD PRIMARY KEY (n);
CREATE TABLE segments AS
    SELECT regexp_replace(name, '.* ', '')::integer AS place, name, segment_id FROM snowflake_segment;
GRANT SELECT ON nodes, segments TO range_node;
VACUUM ANALYZE;
