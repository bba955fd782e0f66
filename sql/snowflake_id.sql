-- The type snowflake_id: bigint, but for its JSON form.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;

-- Input and output are bigint's.
SELECT v::snowflake_id FROM (VALUES ('0'), ('-1'), (' 42 '), ('9223372036854775807'), ('-9223372036854775808')) t(v);
SELECT NULL::snowflake_id IS NULL AS is_null;
\set SHOW_CONTEXT never
SELECT '9223372036854775808'::snowflake_id;
\echo :SQLSTATE
SELECT ''::snowflake_id;
\echo :SQLSTATE
SELECT '1e3'::snowflake_id;
SELECT 'infinity'::snowflake_id;
SELECT typlen, typbyval, typalign, typstorage, typcategory, typispreferred FROM pg_type WHERE typname = 'snowflake_id';

-- Casts.
SELECT castsource::regtype, casttarget::regtype, castcontext, castmethod, castfunc::regprocedure
FROM pg_cast WHERE 'snowflake_id'::regtype IN (castsource, casttarget) ORDER BY 1, 2;
SELECT 7::smallint::snowflake_id, 7::snowflake_id, 7::bigint::snowflake_id, '7'::text::snowflake_id,
    pg_typeof(7::snowflake_id::bigint), (7::snowflake_id)::text;
SELECT 9223372036854775807::bigint::snowflake_id::numeric + 1 AS above;
CREATE TABLE item (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(), n integer, small smallint);
INSERT INTO item (id, n) VALUES (1, 1), (2::smallint, 2), (3::bigint, 3), ('4', 4);
INSERT INTO item (id, n) VALUES (5.0, 5);
\echo :SQLSTATE
INSERT INTO item (n) SELECT generate_series(5, 1000);
SELECT count(*), count(DISTINCT id), bool_and(id > lag) AS rises FROM (SELECT id, lag(id) OVER (ORDER BY n) FROM item WHERE n > 4) o;

-- JSON.
SELECT to_jsonb(1::bigint), to_jsonb(1::snowflake_id), to_json(1::snowflake_id), jsonb_build_object('id', 1::snowflake_id),
    jsonb_agg(1::snowflake_id), json_object_agg(1::snowflake_id, 1::snowflake_id), to_jsonb(ARRAY[1::snowflake_id, NULL]);
SELECT row_to_json(item), to_jsonb(item) FROM item WHERE id = 3;
SELECT (jsonb_populate_record(NULL::item, '{"id": "249788568795254815", "n": 1}')).id AS from_string,
    (jsonb_populate_record(NULL::item, '{"id": 249788568795254815, "n": 1}')).id AS from_number;
SELECT bool_and(r.id = item.id) AS same FROM item, jsonb_to_record(to_jsonb(item)) r(id snowflake_id, n integer);

-- bigint's operators and functions.
SELECT count(*) FROM item WHERE id = 3;
SELECT count(*) FROM item WHERE id = '3';
SELECT count(*) FROM item WHERE id IN (1, 2, 3::bigint) AND id BETWEEN 2 AND 3;
SELECT count(*) FROM item WHERE id = ANY ('{1,2,3}');
SELECT count(*) FROM item WHERE id = ANY ('{1,2,3}'::snowflake_id[]);
SELECT min(id), pg_typeof(min(id)), pg_typeof(max(id)), pg_typeof(id + 1), pg_typeof(id % 8) FROM item GROUP BY id ORDER BY id LIMIT 1;
SELECT array_agg(id ORDER BY id DESC) FROM item WHERE id < 5;
SELECT (snowflake_decode(id)).ts > '2026-01-01' AS recent, snowflake_from_text(snowflake_to_text(id, 'base58'), 'base58') = id AS text
FROM item WHERE n = 1000;
SELECT coalesce(id, 0::bigint) FROM item WHERE n = 1;
SELECT coalesce(id, 0) FROM item WHERE n = 1;
\echo :SQLSTATE
PREPARE one AS SELECT n FROM item WHERE id = $1;
EXECUTE one(3);
EXECUTE one('4');
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'one';

-- Ranges.
SELECT count(*) FROM item WHERE id <@ int8range(2, 4);
SELECT count(*) FROM item WHERE id <@ snowflake_range(tstzrange(now() - interval '1 hour', NULL));
SELECT NULL::snowflake_id <@ int8range(1, 2) IS NULL AND 1::snowflake_id <@ NULL::int8range IS NULL AS is_null,
    1::snowflake_id <@ 'empty'::int8range AS empty, 9223372036854775807::snowflake_id <@ int8range(NULL, NULL) AS all;
-- Expressions without an id are what they were: no literal and no parameter becomes one.
SELECT '[2,3)' <@ int8range(1, 10) AS ranges, 'empty' <@ int8range(1, 10) AS empty, 5::bigint <@ int8range(1, 10) AS bigint,
    5 <@ int4range(1, 10) AS other_range, '[2,3)' <@ int4range(1, 10) AS of_integers,
    int8range(2, 3) <@ '[1,10)' AS right, '{1}' <@ ARRAY[1, 2] AS arrays;
PREPARE contained AS SELECT $1 <@ int8range(1, 10);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'contained';

-- With the index.
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM item WHERE id = 3;
EXPLAIN (COSTS OFF) SELECT n FROM item WHERE id IN (249788568795254815, 249788568795254816);
EXPLAIN (COSTS OFF) SELECT * FROM item ORDER BY id LIMIT 1;
RESET enable_seqscan;

-- A column changes its type, back and forth, without a rewrite of its table or its index.
CREATE TABLE old (id bigint PRIMARY KEY DEFAULT snowflake_nextval());
INSERT INTO old SELECT snowflake_nextvals(1000);
SELECT relfilenode AS filenode FROM pg_class WHERE oid = 'old'::regclass \gset
SELECT relfilenode AS index_filenode FROM pg_class WHERE oid = 'old_pkey'::regclass \gset
ALTER TABLE old ALTER id TYPE snowflake_id;
ALTER TABLE old ALTER id TYPE bigint;
ALTER TABLE old ALTER id TYPE snowflake_id;
SELECT bool_and(relfilenode IN (:filenode, :index_filenode)) AS same_files FROM pg_class WHERE relname IN ('old', 'old_pkey');
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'old'::regclass;

-- Foreign keys in both directions.
CREATE TABLE line (item_id bigint REFERENCES item, line_id snowflake_id REFERENCES item, PRIMARY KEY (item_id, line_id));
INSERT INTO line VALUES (1, 2);
INSERT INTO line VALUES (1, 7);
\echo :SQLSTATE
DELETE FROM item WHERE id = 2;
\echo :SQLSTATE
CREATE TABLE bigs (id bigint PRIMARY KEY);
CREATE TABLE ids (id snowflake_id REFERENCES bigs ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO bigs VALUES (1), (2);
INSERT INTO ids VALUES (1), (2);
INSERT INTO ids VALUES (3);
\echo :SQLSTATE
UPDATE bigs SET id = 4 WHERE id = 1;
DELETE FROM bigs WHERE id = 2;
SELECT * FROM ids;

-- ON CONFLICT, MERGE.
INSERT INTO item (id, n) VALUES (1, 100) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING id, n;
MERGE INTO item USING (VALUES (1::bigint, 101)) v(id, n) ON item.id = v.id WHEN MATCHED THEN UPDATE SET n = v.n;
SELECT n FROM item WHERE id = 1;

-- Partitions by range and hash, BRIN and hash indexes.
CREATE TABLE by_range (id snowflake_id PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE by_range_1 PARTITION OF by_range FOR VALUES FROM (0) TO (1000);
CREATE TABLE by_range_2 PARTITION OF by_range FOR VALUES FROM (1000) TO (9223372036854775807);
INSERT INTO by_range SELECT id FROM item;
EXPLAIN (COSTS OFF) SELECT * FROM by_range WHERE id = 5;
CREATE TABLE by_hash (id snowflake_id PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE by_hash_0 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_hash_1 PARTITION OF by_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE big_hash (id bigint PRIMARY KEY) PARTITION BY HASH (id);
CREATE TABLE big_hash_0 PARTITION OF big_hash FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE big_hash_1 PARTITION OF big_hash FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_hash SELECT id FROM item;
INSERT INTO big_hash SELECT id FROM item;
SELECT count(*) = (SELECT count(*) FROM item) AS same_partitions
FROM by_hash a JOIN big_hash b USING (id) WHERE right(a.tableoid::regclass::text, 1) = right(b.tableoid::regclass::text, 1);
CREATE INDEX item_brin ON item USING brin (id);
CREATE INDEX item_hash ON item USING hash (id);
CREATE INDEX item_brin_bloom ON item USING brin (id int8_bloom_ops);
SET enable_seqscan = off;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM item WHERE id = 3;
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;

-- Joins with bigint, of each kind.
ANALYZE item, old, line;
SET enable_nestloop = off;
SET enable_hashjoin = off;
SELECT count(*) FROM item JOIN big_hash USING (id);
RESET enable_hashjoin;
SET enable_mergejoin = off;
SELECT count(*) FROM item a JOIN item b USING (id);
RESET enable_mergejoin;
RESET enable_nestloop;

-- A view of an API's schema; the table's column stays bigint. All is updatable but the id, which is an expression.
ALTER TABLE old ALTER id TYPE bigint;
ALTER TABLE old ADD n integer;
CREATE SCHEMA api;
CREATE VIEW api.old AS SELECT id::snowflake_id AS id, n FROM old;
INSERT INTO api.old (n) VALUES (1) RETURNING id > 0 AS issued, pg_typeof(id);
INSERT INTO old VALUES (18, 2);
UPDATE api.old SET n = 3 WHERE id = '18';
SELECT to_json(o) FROM api.old o WHERE id = 18;
INSERT INTO api.old VALUES (19, 4);
\echo :SQLSTATE
UPDATE api.old SET id = 19 WHERE id = 18;
\echo :SQLSTATE
DELETE FROM api.old WHERE id = 18;
SELECT count(*) FROM old WHERE n IS NOT NULL;

-- COPY.
CREATE TEMP TABLE copied (id snowflake_id DEFAULT snowflake_nextval(), n integer);
COPY copied (n) FROM stdin;
1
2
\.
COPY copied FROM stdin;
249788568795254815	3
\.
SELECT count(*), count(DISTINCT id), max(id) > 249788568795254815 AS issued FROM copied;

DROP VIEW api.old;
DROP SCHEMA api;
DROP TABLE line, ids, bigs, item, old, by_range, by_hash, big_hash, copied;
