-- What a conversion cannot see, and says: columns, functions, sequences, publications, and the order of columns.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;
\set SHOW_CONTEXT never
-- The notices matter here, and not the statements.
\set run 'SELECT count(*) > 0 AS statements FROM'

--
-- A schema with all its foreign keys, and functions that use them well: only the order of columns.
--
CREATE TABLE author (id serial PRIMARY KEY, name text, born integer);
CREATE TABLE book (title text, pages integer, id serial PRIMARY KEY, author_id integer REFERENCES author, isbn bigint);
CREATE TABLE review (book_id integer REFERENCES book, stars smallint, words integer, PRIMARY KEY (book_id, stars));
CREATE FUNCTION book_count(min_pages integer) RETURNS integer LANGUAGE sql AS
    'SELECT count(*)::integer FROM book WHERE pages >= min_pages AND id > 0';
CREATE FUNCTION book_title(wanted bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found_id book.id%TYPE; pages integer; copies integer := 0;
BEGIN
    SELECT b.pages INTO pages FROM book b WHERE b.id = wanted;
    SELECT id INTO found_id FROM book WHERE id = wanted; -- copies := id
    RETURN found_id;
END $$;
CREATE FUNCTION author_born(a author) RETURNS integer LANGUAGE sql AS 'SELECT a.born';
ANALYZE author, book, review;
:run snowflake_convert('author', 'id', dry_run => true);
:run snowflake_convert('book', 'id', dry_run => true);
:run snowflake_convert('book', 'id', online => true);
SELECT * FROM snowflake_convert_warnings('book', 'id');
DROP FUNCTION book_count, book_title, author_born;
DROP TABLE author, book, review;

--
-- The order of columns: what is last already does not move.
--
CREATE TABLE a (id serial, qty bigint);
CREATE TABLE line (n integer, a_id integer);
ALTER TABLE a ADD PRIMARY KEY (id);
ALTER TABLE line ADD FOREIGN KEY (a_id) REFERENCES a;
CREATE FUNCTION add_a() RETURNS void LANGUAGE sql AS 'INSERT INTO a VALUES (7, 50)';
CREATE FUNCTION add_some() RETURNS void LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.a AS x (SELECT 1, 2); END $$;
CREATE FUNCTION add_well() RETURNS void LANGUAGE sql AS $$
    INSERT INTO a (id, qty) VALUES (7, 50); INSERT INTO a DEFAULT VALUES; -- INSERT INTO a VALUES (7, 50)
$$;
CREATE FUNCTION all_a() RETURNS SETOF a LANGUAGE sql AS 'SELECT 1, 2::bigint';
:run snowflake_convert('a', 'id', dry_run => true);
:run snowflake_convert('a', 'id', online => true);
SELECT kind, object FROM snowflake_convert_warnings('a', 'id', online => true, target => 'bigint');
-- Only the first call shows it.
SELECT snowflake_convert('a', 'id', online => true) LIMIT 1 \gset
:snowflake_convert
:run snowflake_convert('a', 'id', online => true);
SELECT kind, object, detail FROM snowflake_convert_warnings('a', 'id', online => true);
DROP FUNCTION add_a, add_some, add_well, all_a;
DROP TABLE a, line;
-- Of a partitioned table, once.
CREATE TABLE part (id integer, n integer, what text) PARTITION BY LIST (n);
CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1);
SELECT kind, object, detail FROM snowflake_convert_warnings('part', 'id', online => true);
-- Nothing moves if no type changes.
CREATE TABLE wide (id bigserial, n integer);
SELECT * FROM snowflake_convert_warnings('wide', 'id', online => true);
DROP TABLE part, wide;

--
-- Columns without a foreign key
--
CREATE TABLE post (id serial PRIMARY KEY, title text, parent_id integer, external_id bigint);
-- As django-taggit and Rails have them.
CREATE TABLE comment (id serial PRIMARY KEY, post_type text, post_id integer);
CREATE TABLE tagged_item (id serial PRIMARY KEY, content_type_id integer, object_id integer);
CREATE TABLE picture (id serial PRIMARY KEY, imageable_type text, imageable_id integer);
CREATE SCHEMA regress_snowflake_other;
CREATE TABLE regress_snowflake_other.post (id integer, title text);
CREATE TABLE post_archive (id integer);
CREATE TABLE named ("postId" integer, id_post smallint, postid real, post integer, posts integer, featured_post_ids integer[],
    post_count integer, post_title integer, paid integer, author_id integer);
CREATE DOMAIN small AS smallint;
CREATE TYPE pair AS (post_id small, n integer);
-- Another table, or another key.
CREATE TABLE blog_post (id serial PRIMARY KEY);
CREATE TABLE blog (blog_post_id integer, post_id integer REFERENCES blog_post, comment_id integer, own_post_id serial);
:run snowflake_convert('post', 'id', dry_run => true);
-- What statistics say.
INSERT INTO post (title, parent_id) SELECT n, nullif(n - 1, 0) FROM generate_series(1, 1000) n;
INSERT INTO comment (post_id) SELECT n FROM generate_series(1, 900) n;
INSERT INTO named (author_id) SELECT n FROM generate_series(0, 800) n;
INSERT INTO tagged_item (content_type_id, object_id) SELECT 7, 1000000 + n FROM generate_series(1, 100) n;
ALTER TABLE blog ADD fits_no_id integer, ADD negative_id integer, ADD huge_id integer;
INSERT INTO blog (fits_no_id, negative_id, huge_id) SELECT n % 3, -n, 10000 + n FROM generate_series(1, 100) n;
ANALYZE post, comment, named, tagged_item, blog;
SELECT object, detail FROM snowflake_convert_warnings('post', 'id');
-- The same afterwards: what is still too narrow.
:run snowflake_convert('post', 'id');
SELECT count(*) FROM snowflake_convert_warnings('post', 'id');
SELECT count(*) FROM snowflake_convert_warnings('post', 'id', target => 'bigint');
DROP TABLE post, comment, tagged_item, picture, post_archive, named, blog_post, blog;
DROP TYPE pair, small;
DROP SCHEMA regress_snowflake_other CASCADE;

--
-- Functions
--
CREATE TABLE film (film_id serial PRIMARY KEY, title text);
CREATE TABLE store (store_id serial PRIMARY KEY);
CREATE TABLE inventory (inventory_id serial PRIMARY KEY, film_id integer NOT NULL REFERENCES film, store_id integer REFERENCES store);
-- Pagila's.
CREATE FUNCTION inventory_in_stock(p_inventory_id integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RETURN true; END $$;
CREATE FUNCTION film_in_stock(p_film_id integer, p_store_id integer, OUT p_film_count integer) RETURNS SETOF integer LANGUAGE sql AS $_$
    SELECT inventory_id FROM inventory WHERE film_id = $1 AND store_id = $2 AND inventory_in_stock(inventory_id) $_$;
:run snowflake_convert('inventory', 'inventory_id', dry_run => true);
:run snowflake_convert('film', 'film_id', dry_run => true);
DROP FUNCTION inventory_in_stock, film_in_stock;
DROP TABLE inventory, film, store;

CREATE TABLE item (id serial PRIMARY KEY, name text);
CREATE FUNCTION f(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION item_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM f(new.id); RETURN new; END $$;
CREATE TRIGGER item_changed AFTER INSERT ON item FOR EACH ROW EXECUTE FUNCTION item_changed();
-- Variables, casts, results, calls, checks.
CREATE FUNCTION variables() RETURNS void LANGUAGE plpgsql AS $$
DECLARE a integer; b constant int := (SELECT max(id) FROM item); c smallint[]; item_id integer; e item.id%TYPE; f bigint; n integer;
    "G" integer; store_id integer; name integer;
BEGIN
    SELECT id INTO STRICT a FROM item LIMIT 1;
    FOR n IN SELECT name FROM item WHERE id > 7 LOOP NULL; END LOOP;
    INSERT INTO item DEFAULT VALUES RETURNING id INTO "G";
    c := ARRAY(SELECT id FROM item);
    SELECT i.name INTO name FROM item i WHERE i.id = 1;
END $$;
CREATE FUNCTION casts() RETURNS void LANGUAGE sql AS 'SELECT cast(id AS int), item.id::pg_catalog.int2 FROM item';
CREATE FUNCTION new_item(text) RETURNS integer LANGUAGE sql AS 'INSERT INTO item (name) VALUES ($1) RETURNING id';
CREATE FUNCTION items() RETURNS TABLE (item_id integer, name text) LANGUAGE sql AS 'SELECT id, name FROM item';
CREATE FUNCTION get_item(integer) RETURNS text LANGUAGE sql AS 'SELECT name FROM item WHERE id = $1';
CREATE FUNCTION locks() RETURNS void LANGUAGE sql AS 'SELECT pg_advisory_lock(1, id) FROM item';
CREATE FUNCTION is_good(integer) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0';
ALTER TABLE item ADD CONSTRAINT good CHECK (is_good(id));
CREATE VIEW item_names AS SELECT id, name FROM item;
CREATE FUNCTION over_view() RETURNS integer LANGUAGE sql AS 'SELECT id FROM item_names';
CREATE FUNCTION of_row(item) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN $1.id; END';
-- Both, and others.
CREATE FUNCTION g(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION g(bigint) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION h(bigint, store_id integer) RETURNS void LANGUAGE sql AS '';
CREATE TABLE store (id serial PRIMARY KEY);
CREATE FUNCTION calls() RETURNS void LANGUAGE sql AS 'SELECT g(id), h(id, 3) FROM item';
CREATE FUNCTION cleanup(days integer) RETURNS void LANGUAGE sql AS 'DELETE FROM item WHERE name = ''x''';
CREATE FUNCTION other_items(integer) RETURNS integer LANGUAGE sql AS 'SELECT $1';
SELECT object, detail, hint FROM snowflake_convert_warnings('item', 'id') WHERE kind = 'function';
DROP VIEW item_names;
-- A dry run shows so many.
DO $$ BEGIN
    FOR n IN 1 .. 12 LOOP EXECUTE format('CREATE FUNCTION many_%s(item_id integer) RETURNS void LANGUAGE sql AS ''''', n); END LOOP;
END $$;
\set VERBOSITY terse
:run snowflake_convert('item', 'id', dry_run => true);
\set VERBOSITY default
DROP TABLE item, store CASCADE;
DO $$ BEGIN
    FOR n IN 1 .. 12 LOOP EXECUTE format('DROP FUNCTION many_%s', n); END LOOP;
END $$;
DROP FUNCTION f, item_changed, variables, casts, new_item, items, get_item, locks, is_good, over_view, g(integer), g(bigint), h,
    calls, cleanup, other_items;

--
-- Sequences: in texts, because others are refused. Publications.
--
CREATE TABLE orders (id serial PRIMARY KEY, n integer);
CREATE TABLE copies (id integer DEFAULT nextval('orders_id_seq'::text), n integer DEFAULT length('orders_id_seq'));
CREATE FUNCTION next_order() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN nextval('public.orders_id_seq'); END $$;
CREATE FUNCTION last_order() RETURNS bigint LANGUAGE sql AS 'INSERT INTO orders DEFAULT VALUES; SELECT lastval()';
CREATE FUNCTION other_order() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN nextval('orders_id_seq_2'); END $$;
SET client_min_messages = error;
CREATE PUBLICATION regress_snowflake_one FOR TABLE orders (n, id);
CREATE PUBLICATION regress_snowflake_all FOR ALL TABLES;
CREATE PUBLICATION regress_snowflake_schema FOR TABLES IN SCHEMA public;
CREATE PUBLICATION regress_snowflake_none FOR TABLE copies;
RESET client_min_messages;
SELECT kind, message, detail, hint FROM snowflake_convert_warnings('orders', 'id') WHERE kind IN ('sequence', 'publication');
SELECT kind, object FROM snowflake_convert_warnings('orders', 'id', target => 'bigint');
-- A type that does not change is no matter for subscribers.
DROP PUBLICATION regress_snowflake_one;
ALTER TABLE orders ALTER id TYPE bigint;
SELECT kind, object FROM snowflake_convert_warnings('orders', 'id');
DROP PUBLICATION regress_snowflake_all, regress_snowflake_schema, regress_snowflake_none;
DROP FUNCTION next_order, last_order, other_order;
DROP TABLE orders, copies;
-- An identity's sequence has a name, too.
CREATE TABLE orders (id integer GENERATED ALWAYS AS IDENTITY, n integer);
CREATE FUNCTION next_order() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('orders_id_seq') $$;
SELECT kind, object FROM snowflake_convert_warnings('orders', 'id');
DROP FUNCTION next_order;
DROP TABLE orders;

--
-- Names of any kind
--
CREATE TABLE "a.b*[(%s" (";id" serial PRIMARY KEY, "$1\" text);
CREATE TABLE "x""y
'z" ("q""%d" integer REFERENCES "a.b*[(%s", n integer, "a.b*[(%s_id" integer);
CREATE FUNCTION "f""+'"(n integer) RETURNS integer LANGUAGE sql AS 'INSERT INTO "x""y
''z" VALUES (1); SELECT "q""%d" FROM "x""y
''z"';
CREATE FUNCTION "odd("(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION caller() RETURNS void LANGUAGE sql AS 'SELECT "odd("(";id"), nextval(''"a.b*[(%s_;id_seq"'') FROM "a.b*[(%s"';
SELECT kind, object, detail FROM snowflake_convert_warnings('"a.b*[(%s"', ';id', online => true);
:run snowflake_convert('"a.b*[(%s"', ';id', dry_run => true);
DROP TABLE "a.b*[(%s" CASCADE;
DROP TABLE "x""y
'z";
DROP FUNCTION "f""+'", "odd(", caller;

--
-- Errors, and rights: those of the conversion
--
CREATE TABLE mine (id serial PRIMARY KEY, n integer);
CREATE TABLE wide_id (mine_id integer);
SELECT * FROM snowflake_convert_warnings(NULL, 'id');
\echo :SQLSTATE
SELECT * FROM snowflake_convert_warnings('mine', NULL);
SELECT * FROM snowflake_convert_warnings('mine', 'id', online => NULL);
SELECT * FROM snowflake_convert_warnings('mine', 'id', target => NULL);
SELECT * FROM snowflake_convert_warnings('mine', 'id', target => 'uuid');
\echo :SQLSTATE
SELECT * FROM snowflake_convert_warnings('mine', 'none');
\echo :SQLSTATE
SELECT * FROM snowflake_convert_warnings('mine_id_seq', 'last_value');
\echo :SQLSTATE
CREATE ROLE regress_snowflake_other;
CREATE SCHEMA regress_snowflake_trap;
CREATE FUNCTION regress_snowflake_trap.lower(name) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'a trap'; END $$;
GRANT USAGE ON SCHEMA regress_snowflake_trap TO regress_snowflake_other;
SET ROLE regress_snowflake_other;
SELECT * FROM snowflake_convert_warnings('mine', 'id');
\echo :SQLSTATE
-- The owner sees columns of others, but not their values.
RESET ROLE;
INSERT INTO wide_id SELECT n FROM generate_series(1, 100) n;
INSERT INTO mine (n) SELECT n FROM generate_series(1, 100) n;
ANALYZE mine, wide_id;
ALTER TABLE mine OWNER TO regress_snowflake_other;
SELECT object, detail FROM snowflake_convert_warnings('mine', 'id');
SET ROLE regress_snowflake_other;
-- Another's functions are not taken for PostgreSQL's.
SET search_path = regress_snowflake_trap, public;
SELECT object, detail FROM snowflake_convert_warnings('mine', 'id');
-- It only reads.
BEGIN READ ONLY;
SELECT count(*) FROM snowflake_convert_warnings('mine', 'id', online => true);
ROLLBACK;
RESET ROLE;
RESET search_path;
DROP TABLE mine, wide_id;
DROP SCHEMA regress_snowflake_trap CASCADE;
DROP ROLE regress_snowflake_other;
DROP EXTENSION snowflake_convert, snowflake;
