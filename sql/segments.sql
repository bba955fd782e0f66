-- Segments: small numbers out of ranges that the registry allocates.

SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;
SELECT snowflake_create_segment('ticket');
SELECT snowflake_segment_nextval('ticket'), snowflake_segment_nextval('ticket');
SELECT snowflake_segment_currval('ticket');
SELECT snowflake_segment_currval('other');
SELECT name, next_value, max_value, step, max_step, jsonb_array_length(holders) AS holders, holders -> 0 -> 'from' AS held_from,
    holders -> 0 -> 'to' AS held_to, next_here, left_here, rate > 0 AS rate, lasts > '0' AS lasts FROM snowflake_segments;

-- The keeper of a database that issues nothing else acquires no lease.
CREATE DATABASE regress_snowflake_segments;
\set here :DBNAME
\c regress_snowflake_segments
CREATE EXTENSION snowflake;
SELECT snowflake_create_segment('alone', 5);
SELECT snowflake_segment_nextval('alone');
SELECT state, lease_id, keeper_pid IS NOT NULL AS keeper FROM snowflake_status;
SELECT count(*) FROM snowflake_registry;
SELECT snowflake_nextval() > 0;
SELECT state FROM snowflake_status;
\c :here
DROP DATABASE regress_snowflake_segments;

-- Of columns.
CREATE TABLE regress_ticket (id integer DEFAULT snowflake_segment_nextval('ticket') PRIMARY KEY, note text);
INSERT INTO regress_ticket (note) VALUES ('a'), ('b');
INSERT INTO regress_ticket (note) SELECT 'c' FROM generate_series(1, 5000);
COPY regress_ticket (note) FROM STDIN;
d
e
\.
BEGIN;
INSERT INTO regress_ticket (note) VALUES ('rolled back') RETURNING id IS NOT NULL;
ROLLBACK;
SELECT count(*), count(DISTINCT id), bool_and(id > 0) FROM regress_ticket;
INSERT INTO regress_ticket (note) VALUES ('f') RETURNING id = snowflake_segment_currval('ticket') AS same;
BEGIN READ ONLY;
SELECT snowflake_segment_nextval('ticket') > 0;
SELECT snowflake_create_segment('read only');
ROLLBACK;

-- Names.
SELECT snowflake_create_segment('ticket');
SELECT snowflake_create_segment(E'a "quoted" \\ ''name'', {with} commas');
SELECT snowflake_segment_nextval(E'a "quoted" \\ ''name'', {with} commas');
SELECT snowflake_create_segment(repeat('x', 127));
SELECT snowflake_segment_nextval(repeat('x', 127)), snowflake_segment_nextval('ticket') > 1 AS of_the_other;
SELECT snowflake_create_segment(repeat('x', 128));
SELECT snowflake_segment_nextval(repeat('x', 128));
SELECT snowflake_create_segment('');
SELECT snowflake_segment_nextval('');
SELECT snowflake_segment_nextval(NULL), snowflake_segment_currval(NULL);
SELECT snowflake_create_segment(NULL);
SELECT snowflake_create_segment('null', NULL);
SELECT snowflake_segment_nextval('missing');
SELECT snowflake_drop_segment('missing');
-- A session keeps nothing of them.
SELECT sum(used_bytes) AS used FROM pg_backend_memory_contexts WHERE name = 'snowflake segments' \gset
DO $$
BEGIN
    FOR i IN 1 .. 100 LOOP
        BEGIN
            PERFORM snowflake_segment_nextval('missing ' || i);
        EXCEPTION WHEN undefined_object THEN
        END;
    END LOOP;
END $$;
SELECT sum(used_bytes) - :used AS kept FROM pg_backend_memory_contexts WHERE name = 'snowflake segments';
SELECT snowflake_raise_segment('missing', 1);
SELECT snowflake_drop_segment(repeat('x', 127));
SELECT snowflake_drop_segment(E'a "quoted" \\ ''name'', {with} commas');

-- Limits.
SELECT snowflake_create_segment('wrong', 0);
SELECT snowflake_create_segment('wrong', -1);
SELECT snowflake_create_segment('wrong', 2, max_value => 1);
SELECT snowflake_create_segment('wrong', 1, 0);
SELECT snowflake_create_segment('wrong', 1, 10, max_step => 9);
SELECT snowflake_create_segment('wrong', 1, 2147483647);
SELECT snowflake_create_segment('last', 9223372036854775806, 1, 9223372036854775807, 1);
SELECT snowflake_segment_nextval('last');
SELECT snowflake_segment_nextval('last');
SELECT snowflake_segment_nextval('last');
SELECT next_value, left_here FROM snowflake_segments WHERE name = 'last';
SELECT snowflake_create_segment('small', 1, max_value => 3);
SELECT snowflake_segment_nextval('small') FROM generate_series(1, 3);
SELECT snowflake_segment_nextval('small');
SELECT snowflake_create_segment('of integers', 2147483647, max_value => 3000000000);
CREATE TABLE regress_small (id integer DEFAULT snowflake_segment_nextval('of integers'));
INSERT INTO regress_small DEFAULT VALUES RETURNING id;
INSERT INTO regress_small DEFAULT VALUES RETURNING id;

-- A number is used up for each row that conflicts, but not by what inserts only rows that are missing.
SELECT snowflake_create_segment('upsert', max_step => 1000);
CREATE TABLE regress_upsert (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('upsert'), name text UNIQUE);
INSERT INTO regress_upsert (name) VALUES ('a') RETURNING id;
INSERT INTO regress_upsert (name) SELECT 'a' FROM generate_series(1, 10) ON CONFLICT DO NOTHING;
INSERT INTO regress_upsert (name) VALUES ('b') RETURNING id;
INSERT INTO regress_upsert (name) SELECT name FROM (VALUES ('a'), ('b'), ('c')) new (name)
    WHERE NOT EXISTS (SELECT FROM regress_upsert r WHERE r.name = new.name) ON CONFLICT DO NOTHING RETURNING id;
MERGE INTO regress_upsert r USING (VALUES ('a'), ('b'), ('d')) new (name) ON r.name = new.name WHEN NOT MATCHED THEN INSERT (name) VALUES (new.name);
SELECT id FROM regress_upsert WHERE name = 'd';
-- Rows with given numbers collide, unless the segment is raised.
INSERT INTO regress_upsert VALUES (15, 'given'), (17, 'given, too');
INSERT INTO regress_upsert (name) VALUES ('e');
INSERT INTO regress_upsert (name) VALUES ('e') RETURNING id;
SELECT snowflake_raise_segment('upsert', (SELECT max(id) + 1 FROM regress_upsert)) > 17;
INSERT INTO regress_upsert (name) VALUES ('f') RETURNING id;
DROP TABLE regress_upsert;
SELECT snowflake_drop_segment('upsert');

-- Raised: never back.
SELECT snowflake_create_segment('raised', max_step => 1000);
SELECT snowflake_segment_nextval('raised');
SELECT snowflake_raise_segment('raised', 500) IN (1001, 2001);
SELECT snowflake_segment_nextval('raised');
SELECT snowflake_raise_segment('raised', 7) IN (1001, 2001);
SELECT snowflake_segment_nextval('raised');
SELECT snowflake_raise_segment('raised', 70000);
SELECT snowflake_segment_nextval('raised');
SELECT snowflake_raise_segment('raised', 0);
SELECT snowflake_raise_segment('raised', NULL);
SELECT snowflake_raise_segment('small', 4);
SELECT snowflake_raise_segment('raised', 9223372036854775807);
SELECT snowflake_segment_nextval('raised');
SELECT snowflake_segment_nextval('raised');

-- In one transaction.
BEGIN;
SELECT snowflake_create_segment('uncommitted');
SELECT snowflake_segment_nextval('uncommitted');
ROLLBACK;
SELECT snowflake_segment_nextval('uncommitted');

-- Dropped, and another of the name. Only this database's node had numbers of it, and has them no more.
SELECT snowflake_drop_segment('raised');
SELECT snowflake_segment_nextval('raised');
SELECT snowflake_create_segment('raised', 10);
SELECT snowflake_segment_nextval('raised');

-- Another node has numbers of it.
SELECT segment_ids[1] > 0 AS there, range_last, range_count, system_identifier <> 0 AS system, timeline, known
    FROM snowflake_segment_ranges('elsewhere', '{raised}', '{0}', '{0}', '{0}', '{0}', ARRAY[sha256('elsewhere')]);
SELECT snowflake_drop_segment('raised');
SELECT snowflake_create_segment('raised', max_value => 1500);
SELECT snowflake_create_segment('raised');
SELECT snowflake_segment_nextval('raised');

-- What nodes ask.
\set hash 'sha256(''secret, 16 bytes'')'
SELECT segment_ids, range_last, range_count, known FROM snowflake_segment_ranges('n', '{}', '{}', '{}', '{}', '{}', '{}');
SELECT segment_ids, range_last, range_count, known FROM snowflake_segment_ranges('n', '{missing}', '{0}', '{0}', '{0}', '{0}', ARRAY[:hash]);
SELECT snowflake_create_segment('asked', 1, 10, 1000, 100);
SELECT segment_ids[1] AS id FROM snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{-1}', ARRAY[:hash]) \gset
CREATE FUNCTION regress_ask(secret bytea, highest bigint, unused bigint, wanted bigint) RETURNS text LANGUAGE sql AS $$
    SELECT format('%s %s', range_last[1], range_count[1]) FROM snowflake_segment_ranges('n', '{asked}',
        ARRAY[(SELECT segment_id FROM snowflake_segment WHERE name = 'asked')], ARRAY[highest], ARRAY[unused], ARRAY[wanted],
        ARRAY[secret]) $$;
SELECT regress_ask(:hash, 0, 0, 0) AS a_step, regress_ask(:hash, 10, 0, 9223372036854775807) AS the_longest;
-- Nothing comes back without the secret; with it once, and no more than the registry had heard of before.
\set secret '''secret, 16 bytes'''
SELECT regress_ask(:hash, 110, 50, -1) AS kept, regress_ask(:secret, 110, 60, -1) AS too_many;
SELECT regress_ask(:hash, 110, 0, 0) AS next, regress_ask(:hash, 120, 10, -1) AS kept;
SELECT regress_ask('another secret..', 120, 10, -1) AS anothers, regress_ask(:secret, 120, 10, -1) AS back, regress_ask(:secret, 110, 10, -1) AS again;
SELECT regress_ask(:hash, 110, 0, 1) AS from_there;
SELECT regress_ask(sha256('another'), 120, 10, 0) AS anothers_do_not_come_back;
SELECT regress_ask(:secret, 130, 9223372036854775807, -1), regress_ask(:secret, 130, -1, -9223372036854775808);
SELECT regress_ask(:secret, 130, 0, 0);
SELECT regress_ask('\x00', 130, 0, -1);
SELECT last_value FROM snowflake_segment WHERE name = 'asked';
SELECT regress_ask(:hash, 1001, 0, 0);
SELECT regress_ask(:hash, 9223372036854775807, 0, 0);
SELECT snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{0,0}', ARRAY[:hash]);
SELECT snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{NULL}', ARRAY[:hash]);
SELECT snowflake_segment_ranges('n', '{{asked}}', '{0}', '{0}', '{0}', '{0}', ARRAY[:hash]);
SELECT snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{0}', NULL);
SELECT snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{0}', '{}');
SELECT snowflake_segment_ranges(repeat('n', 257), '{asked}', '{0}', '{0}', '{0}', '{0}', ARRAY[:hash]);
SELECT snowflake_segment_ranges('n', ARRAY[repeat('x', 128)], '{0}', '{0}', '{0}', '{0}', ARRAY[:hash]);
BEGIN;
SELECT snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{0}', ARRAY[:hash]);
ROLLBACK;

-- A node names a number that was never allocated: commits are lost, and the next range of every segment leaves out what they may have allocated.
SELECT last_value FROM snowflake_segment WHERE name = 'asked';
SELECT regress_ask(:hash, 131, 0, 0) AS above_it;
SELECT skips FROM snowflake_segment WHERE name = 'ticket';
SELECT snowflake_settled();
SELECT skips FROM snowflake_segment WHERE name = 'ticket';
SELECT snowflake_create_segment('lost', max_step => 1000);
SELECT snowflake_segment_nextval('lost');
SELECT snowflake_settle('a test');
SELECT max(number) > 11000 AS left_out FROM (SELECT snowflake_segment_nextval('lost') AS number FROM generate_series(1, 5000)) numbers;
SELECT skips FROM snowflake_segment WHERE name = 'lost';
SELECT snowflake_settled();

-- What comes another way.
DELETE FROM snowflake_segment WHERE name = 'ticket';
TRUNCATE snowflake_segment;
UPDATE snowflake_segment SET last_value = 0 WHERE name = 'ticket';
UPDATE snowflake_segment SET name = 'renamed' WHERE name = 'ticket';
UPDATE snowflake_segment SET segment_id = 1 WHERE name = 'ticket';
\set VERBOSITY terse
UPDATE snowflake_segment SET max_value = 1 WHERE name = 'ticket';
INSERT INTO snowflake_segment (segment_id, last_value, max_value, step, max_step) VALUES (7, 1, 9, 1, 1);
INSERT INTO snowflake_segment (name, segment_id, max_value, step, max_step) VALUES ('broken', 7, 9, 1, 1);
INSERT INTO snowflake_segment (name, segment_id, last_value, max_value, step, max_step) VALUES ('broken', 7, -1, 9, 1, 1);
INSERT INTO snowflake_segment (name, segment_id, last_value, max_value, step, max_step) VALUES ('broken', 7, 10, 9, 1, 1);
\set VERBOSITY default

INSERT INTO snowflake_segment_range VALUES (1, false, 10, 'n', sha256('n'), 1, 1, 1000, now());
UPDATE snowflake_segment_range SET held_from = 1;
TRUNCATE snowflake_segment_range;
BEGIN;
SET LOCAL session_replication_role = replica;
UPDATE snowflake_segment SET last_value = 0 WHERE name = 'small';
SELECT last_value FROM snowflake_segment WHERE name = 'small';
ROLLBACK;
INSERT INTO snowflake_segment (name, segment_id, last_value, max_value, step, max_step) VALUES ('small', 7, 1, 9, 1, 1), ('restored', 8, 41, 99, 1, 1);
SELECT name, last_value, max_value FROM snowflake_segment WHERE name IN ('small', 'restored') ORDER BY name;
SELECT snowflake_segment_nextval('restored');

-- Rights.
CREATE ROLE regress_snowflake_nobody;
GRANT USAGE ON SCHEMA public TO regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_segment_nextval('ticket') > 0;
SELECT snowflake_create_segment('theirs');
SELECT snowflake_raise_segment('ticket', 1);
SELECT snowflake_drop_segment('ticket');
SELECT snowflake_segment_ranges('n', '{asked}', '{0}', '{0}', '{0}', '{0}', ARRAY[:hash]);
SELECT FROM snowflake_segments;
SELECT FROM snowflake_segment;
SELECT FROM snowflake_segment_range;
-- Errors name segments to roles that may read the view, and to no others, even if they may call the function.
SELECT snowflake_segment_nextval('missing');
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_drop_segment(text), snowflake_raise_segment(text, bigint) TO regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_drop_segment('missing');
SELECT snowflake_raise_segment('missing', 1);
RESET ROLE;
GRANT pg_read_all_stats TO regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_segment_nextval('missing');
SELECT snowflake_drop_segment('missing');
RESET ROLE;
REVOKE USAGE ON SCHEMA public FROM regress_snowflake_nobody;
REVOKE EXECUTE ON FUNCTION snowflake_drop_segment(text), snowflake_raise_segment(text, bigint) FROM regress_snowflake_nobody;
DROP ROLE regress_snowflake_nobody;

DROP TABLE regress_ticket, regress_small;
DROP FUNCTION regress_ask(bytea, bigint, bigint, bigint);
SELECT snowflake_drop_segment(name) FROM (SELECT name FROM snowflake_segment WHERE dropped_at IS NULL ORDER BY name) s;

-- So that the extension can be dropped.
DELETE FROM snowflake_segment_range WHERE NOT here;
