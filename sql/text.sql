-- Ids as text: base32, base58, base62.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
RESET client_min_messages;

SELECT id, snowflake_to_text(id, 'base32') AS base32, snowflake_to_text(id, 'base58') AS base58,
    snowflake_to_text(id, 'base62') AS base62
FROM (VALUES (0), (1), (57), (9007199254740991), (249788568795254815), (9223372036854775806), (9223372036854775807)) v(id);

SELECT e, snowflake_from_text(snowflake_to_text(id, e), e) = id AS same
FROM (VALUES ('base32'), ('base58'), ('base62')) n(e), (VALUES (0), (9223372036854775807)) v(id) ORDER BY 1, id;

-- There and back.
SELECT bool_and(snowflake_from_text(snowflake_to_text(id, 'base32'), 'base32') = id) AS base32,
    bool_and(snowflake_from_text(snowflake_to_text(id, 'base58'), 'base58') = id) AS base58,
    bool_and(snowflake_from_text(snowflake_to_text(id, 'base62'), 'base62') = id) AS base62
FROM (SELECT (random() * 9e18)::bigint AS id FROM generate_series(1, 10000)) r;

-- In the order of the ids under the C collation.
SELECT e, bool_and(snowflake_to_text(id, e) COLLATE "C" > snowflake_to_text(before, e)) AS rises
FROM (SELECT id, lag(id) OVER (ORDER BY id) AS before
    FROM (SELECT DISTINCT (9e18 * random() ^ 10)::bigint AS id FROM generate_series(1, 5000)) r) o,
    (VALUES ('base32'), ('base58'), ('base62')) n(e)
GROUP BY e ORDER BY e;

-- Nulls.
SELECT snowflake_to_text(NULL, 'base62') IS NULL AND snowflake_to_text(1, NULL) IS NULL
    AND snowflake_from_text(NULL, 'base62') IS NULL AND snowflake_from_text('', NULL) IS NULL AS null_in_null_out;

-- What reading forgives: Crockford's look-alikes, case and hyphens.
SELECT t, snowflake_from_text(t, 'base32') AS id FROM (VALUES ('06XVDC4ZZX40Z'), ('06xvdc4zzx40z'), ('o6XV-DC4Z-ZX4O-Z'),
    ('ooooooooooooi'), ('OOOOOOOOOOOOL'), ('-0000000000001-')) v(t);
SELECT snowflake_from_text('06XVDC4ZZX40Z'::char(13), 'base32'), snowflake_from_text('0IS27pUcdMV'::varchar, 'base62');

\set SHOW_CONTEXT never
-- Foreign characters.
SELECT snowflake_from_text('1adWh0rfjUz', 'base58');
\echo :SQLSTATE
SELECT snowflake_from_text('06XVDC4ZZX40U', 'base32');
SELECT snowflake_from_text('06XVDC4ZZX40Z*', 'base32');
SELECT snowflake_from_text(' 0IS27pUcdMV', 'base62');
SELECT snowflake_from_text('0IS27pUcdMV ', 'base62');
SELECT snowflake_from_text('0IS27-UcdMV', 'base62');
SELECT snowflake_from_text(E'0IS27pUcdM\n', 'base62');
SELECT snowflake_from_text('hello, world', 'base62');

-- Another width.
SELECT snowflake_from_text('', 'base32');
\echo :SQLSTATE
SELECT snowflake_from_text('-', 'base32');
SELECT snowflake_from_text('0', 'base58');
\echo :SQLSTATE
SELECT snowflake_from_text('1', 'base58');
SELECT snowflake_from_text('6XVDC4ZZX40Z', 'base32');
SELECT snowflake_from_text('006XVDC4ZZX40Z', 'base32');
-- What the hint says helps.
SELECT snowflake_from_text(lpad('z', 11, '1'), 'base58');

-- Beyond the largest id.
SELECT snowflake_from_text('7ZZZZZZZZZZZZ', 'base32'), snowflake_from_text('NQm6nKp8qFC', 'base58'),
    snowflake_from_text('AzL8n0Y58m7', 'base62');
SELECT snowflake_from_text('8000000000000', 'base32');
\echo :SQLSTATE
SELECT snowflake_from_text('NQm6nKp8qFD', 'base58');
SELECT snowflake_from_text('AzL8n0Y58m8', 'base62');
SELECT snowflake_from_text('ZZZZZZZZZZZZZ', 'base32');
SELECT snowflake_from_text('zzzzzzzzzzz', 'base58');
SELECT snowflake_from_text('zzzzzzzzzzz', 'base62');
\echo :SQLSTATE

-- Negative ids.
SELECT snowflake_to_text(-1, 'base58');
\echo :SQLSTATE
SELECT snowflake_to_text(-9223372036854775808, 'base62');
\echo :SQLSTATE

-- Unknown encodings.
SELECT snowflake_to_text(1, 'base64');
\echo :SQLSTATE
SELECT snowflake_to_text(-1, '');
SELECT snowflake_from_text('x', 'hex');
\echo :SQLSTATE
SELECT snowflake_from_text('0000000000000', 'BASE32');
SELECT snowflake_from_text('0000000000000', 'base32 ');

-- Immutable: as a generated column, as the key of a look-up, with a plan that uses its index.
CREATE TABLE page (id bigint PRIMARY KEY DEFAULT snowflake_nextval(),
    slug text COLLATE "C" NOT NULL GENERATED ALWAYS AS (snowflake_to_text(id, 'base58')) STORED UNIQUE, n integer);
INSERT INTO page (n) SELECT generate_series(1, 1000);
SELECT count(*) AS rows, bool_and(length(slug) = 11) AS width, bool_and(snowflake_from_text(slug, 'base58') = id) AS same FROM page;
SELECT bool_and(n = by_slug) AS same_order FROM (SELECT n, row_number() OVER (ORDER BY slug) AS by_slug FROM page) o;
SELECT slug AS one FROM page WHERE n = 77 \gset
SELECT n FROM page WHERE slug = :'one';
SELECT n FROM page WHERE id = snowflake_from_text(:'one', 'base58');
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM page WHERE id = snowflake_from_text('1adWh8rfjUz', 'base58');
CREATE INDEX page_base62 ON page (snowflake_to_text(id, 'base62'));
EXPLAIN (COSTS OFF) SELECT n FROM page WHERE snowflake_to_text(id, 'base62') = '0IS27pUcdMV';
RESET enable_seqscan;
RESET enable_bitmapscan;

-- JSON: PostgreSQL keeps every digit, as a number and as text; what a browser makes of the number is another matter.
SELECT to_jsonb(249788568795254815), to_jsonb(snowflake_to_text(249788568795254815, 'base58')),
    (jsonb_build_object('id', 249788568795254815)->>'id')::bigint = 249788568795254815 AS same_number,
    (249788568795254815::float8)::bigint AS as_a_browser_reads_it;

-- With a prefix.
SELECT e, snowflake_to_text(249788568795254815, e, 'order') AS text,
    snowflake_from_text(snowflake_to_text(249788568795254815, e, 'order'), e, 'order') = 249788568795254815 AS same,
    snowflake_to_text(249788568795254815, e, '') = snowflake_to_text(249788568795254815, e) AS same_without,
    snowflake_from_text(snowflake_to_text(249788568795254815, e, ''), e, '') = 249788568795254815 AS and_back
FROM (VALUES ('base32'), ('base58'), ('base62')) n(e) ORDER BY 1;
SELECT snowflake_from_text(snowflake_to_text(0, 'base62', p), 'base62', p) = 0 AS same, length(p)
FROM (VALUES ('a'), ('a_b'), ('a__b'), (repeat('z', 63))) v(p);
SELECT snowflake_to_text(NULL, 'base62', 'a') IS NULL AND snowflake_to_text(1, NULL, 'a') IS NULL AND snowflake_to_text(1, 'base62', NULL) IS NULL
    AND snowflake_from_text(NULL, 'base62', 'a') IS NULL AND snowflake_from_text('', NULL, 'a') IS NULL
    AND snowflake_from_text('', 'base62', NULL) IS NULL AS null_in_null_out;
SELECT snowflake_from_text('order_o6XV-DC4Z-ZX4O-Z', 'base32', 'order');
EXPLAIN (COSTS OFF) SELECT n FROM page WHERE id = snowflake_from_text('page_1adWh8rfjUz', 'base58', 'page');

-- Other prefixes, and none.
SELECT snowflake_from_text('item_1adWh8rfjUz', 'base58', 'order');
\echo :SQLSTATE
SELECT snowflake_from_text('1adWh8rfjUz', 'base58', 'order');
SELECT snowflake_from_text('order_1adWh8rfjUz', 'base58', '');
SELECT snowflake_from_text('_1adWh8rfjUz', 'base58', '');
SELECT snowflake_from_text('Order_1adWh8rfjUz', 'base58', 'order');
SELECT snowflake_from_text('order__1adWh8rfjUz', 'base58', 'order');
SELECT snowflake_from_text('order_1adWh8rfjUz', 'base58', 'orders');
SELECT snowflake_from_text('order_', 'base58', 'order');
SELECT snowflake_from_text('order_1adWh*rfjUz', 'base58', 'order');
SELECT snowflake_from_text('order_item_1adWh8rfjUz', 'base58', 'order');
SELECT snowflake_from_text('', 'base58', 'order');
SELECT snowflake_from_text('order_1adWh8rfjUz', 'base58');

-- What is no prefix.
SELECT snowflake_to_text(1, 'base62', '_a');
\echo :SQLSTATE
SELECT snowflake_to_text(1, 'base62', 'a_');
SELECT snowflake_to_text(1, 'base62', 'Order');
SELECT snowflake_to_text(1, 'base62', 'order1');
SELECT snowflake_to_text(1, 'base62', 'or der');
SELECT snowflake_to_text(1, 'base62', '_');
SELECT snowflake_to_text(1, 'base62', repeat('z', 64));
SELECT snowflake_from_text('a_00000000001', 'base62', 'a_');
\echo :SQLSTATE
SELECT snowflake_to_text(-1, 'base62', 'a');
\echo :SQLSTATE
