-- What a conversion warns of: columns, functions, publications, and the order of columns. For bounds, see convert_bounds.sql.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;
\set SHOW_CONTEXT never
-- That of pg_regress is refused if checks or indexes are made again.
SET DateStyle = ISO;
-- The notices matter here, and not the statements.
\set run 'SELECT count(*) > 0 AS statements FROM'

--
-- A schema with all its foreign keys: only the order of columns.
--
CREATE TABLE author (id serial PRIMARY KEY, name text, born integer);
CREATE TABLE book (title text, pages integer, id serial PRIMARY KEY, author_id integer REFERENCES author, isbn bigint);
CREATE TABLE review (book_id integer REFERENCES book, stars smallint, words integer, PRIMARY KEY (book_id, stars));
CREATE FUNCTION author_born(a author) RETURNS integer LANGUAGE sql AS 'SELECT a.born';
:run snowflake_convert('author', 'id', dry_run => true);
:run snowflake_convert('book', 'id', dry_run => true);
:run snowflake_convert('book', 'id', online => true);
SELECT * FROM snowflake_convert_warnings('book', 'id');
DROP FUNCTION author_born;
DROP TABLE author, book, review;

--
-- The order of columns: what is last already does not move. Functions with rows of the table are named.
--
CREATE TABLE a (id serial, qty bigint);
CREATE TABLE line (n integer, a_id integer);
ALTER TABLE a ADD PRIMARY KEY (id);
ALTER TABLE line ADD FOREIGN KEY (a_id) REFERENCES a;
CREATE FUNCTION all_a() RETURNS SETOF a LANGUAGE sql AS 'SELECT 1, 2::bigint';
CREATE FUNCTION some_a(OUT a, OUT n integer) LANGUAGE sql AS 'SELECT row(1, 2::bigint)::a, 3';
CREATE FUNCTION of_a(a[]) RETURNS integer LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION of_line(line) RETURNS integer LANGUAGE sql AS 'SELECT 1';
:run snowflake_convert('a', 'id', dry_run => true);
:run snowflake_convert('a', 'id', online => true);
SELECT kind, object FROM snowflake_convert_warnings('a', 'id', online => true, target => 'bigint');
-- Only the first call shows it.
SELECT snowflake_convert('a', 'id', online => true) LIMIT 1 \gset
:snowflake_convert
:run snowflake_convert('a', 'id', online => true);
SELECT kind, object, detail FROM snowflake_convert_warnings('a', 'id', online => true);
DROP FUNCTION all_a, some_a, of_a, of_line;
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
CREATE SCHEMA regress_snowflake_shop;
SET search_path = regress_snowflake_shop, public;
CREATE TABLE post (id serial PRIMARY KEY, title text, parent_id integer, external_id bigint);
CREATE TABLE categories ("categoryID" serial PRIMARY KEY);
CREATE TABLE blog_post (id serial PRIMARY KEY);
CREATE TABLE boxes (id serial PRIMARY KEY);
CREATE TABLE box_lid (id integer PRIMARY KEY REFERENCES boxes);
CREATE TABLE comment (id serial PRIMARY KEY, post_type text, post_id integer);
CREATE TABLE picture (id serial PRIMARY KEY, "imageableType" text, "imageableId" integer, type text);
CREATE SCHEMA regress_snowflake_other;
CREATE TABLE regress_snowflake_other.log (post_id integer, other_id integer, what text);
CREATE DOMAIN small AS smallint;
CREATE TYPE pair AS (post_id small, n integer);
CREATE TABLE named ("postId" integer, postid small, posts_id integer, post_ids integer[], "blogPostID" integer, box_id integer,
    category_id integer, box_lid_id integer, author_id integer, post integer, post_ref integer, post_id_count integer, real_post_id real,
    wide_post_id bigint, "post_ID" integer REFERENCES post, own_post_id serial, gone_id integer);
ALTER TABLE named DROP gone_id;
CREATE TABLE named_below (below_id integer) INHERITS (named);
:run snowflake_convert('post', 'id', dry_run => true);
SELECT object, message FROM snowflake_convert_warnings('categories', 'categoryID') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('blog_post', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('boxes', 'id') WHERE object !~ 'imageable';
-- What fits best: a table's name, the key's, or the end of a table's, of those with the prefix of the column's table
-- if there is one. Of a column, the end is enough.
CREATE TABLE shop_item (id serial PRIMARY KEY);
CREATE TABLE web_item (id serial PRIMARY KEY);
CREATE TABLE _private_tasks (id serial PRIMARY KEY);
CREATE TABLE tblcustomer (customer_id serial PRIMARY KEY);
CREATE TABLE old_customer (id serial PRIMARY KEY);
CREATE TABLE members ("ID_member" serial PRIMARY KEY);
CREATE TABLE old_post (id serial PRIMARY KEY);
CREATE TABLE shop_line (id serial PRIMARY KEY, item_id integer, "taskId" integer, customer_id integer, oldcustomer_id integer, post_id integer,
    from_blog_post_id integer, line_id integer, id_member integer, by_id_member integer, bid_member integer);
SELECT object, message FROM snowflake_convert_warnings('shop_item', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('web_item', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('_private_tasks', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('tblcustomer', 'customer_id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('old_customer', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('members', 'ID_member') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('old_post', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('blog_post', 'id') WHERE object !~ 'imageable';
SELECT object, message FROM snowflake_convert_warnings('shop_line', 'id') WHERE object !~ 'imageable';
-- What names its table in each row is no notice: most of these columns never refer to the key.
SELECT object, message, detail FROM snowflake_convert_warnings('shop_line', 'id') WHERE object ~ 'imageable';
:run snowflake_convert('shop_line', 'id', dry_run => true);
DROP TABLE shop_item, web_item, _private_tasks, tblcustomer, old_customer, members, old_post, shop_line;
-- All of a schema, if the schema is converted. They are one notice, so that none of them is left out.
:run snowflake_convert_all('regress_snowflake_shop', dry_run => true);
-- The same afterwards: what is still too narrow. What is narrow again is found by a query for all keys.
:run snowflake_convert('post', 'id');
SELECT count(*) FROM snowflake_convert_warnings('post', 'id');
SELECT count(*) FROM snowflake_convert_warnings('post', 'id', target => 'bigint');
ALTER TABLE named ALTER "post_ID" TYPE integer;
SELECT kind, object, message, detail FROM snowflake_convert_warnings('post', 'id') WHERE kind = 'narrow';
ALTER TABLE post ALTER id TYPE integer;
SELECT kind, object, message, detail FROM snowflake_convert_warnings('post', 'id') WHERE kind = 'narrow';
ALTER TABLE post ALTER id TYPE bigint;
SET client_min_messages = warning;
DROP SCHEMA regress_snowflake_shop, regress_snowflake_other CASCADE;
RESET client_min_messages;
RESET search_path;

--
-- Functions, as far as the catalogs show that they get a value: by a trigger function, a check, a view or an index.
--
CREATE TABLE item (id serial PRIMARY KEY, name text);
CREATE TABLE store (id serial PRIMARY KEY);
CREATE FUNCTION f(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION "Odd name"(small smallint, other text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION "Odd"(small smallint, other text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION spaced(integer) RETURNS void LANGUAGE sql AS '';
-- A part of another name; not called; both; another parameter; one of another table.
CREATE FUNCTION anged(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION old(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION g(integer, text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION g(bigint, text) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION h(bigint) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION get_item(item_id integer) RETURNS text LANGUAGE sql AS 'SELECT name FROM item WHERE id = $1';
CREATE FUNCTION of_store(integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION store_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM of_store(new.id); RETURN new; END $$;
CREATE TRIGGER store_changed AFTER INSERT ON store FOR EACH ROW EXECUTE FUNCTION store_changed();
CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM public.F(new.id), "Odd"(new.id::smallint,'x'), g(new.id, ''), h(new.id), item_changed(new.id);
    RETURN old; -- of_store
    PERFORM
        spaced (new.id);
END -- anged$$;
CREATE TRIGGER changed AFTER INSERT ON item FOR EACH ROW EXECUTE FUNCTION changed();
CREATE FUNCTION is_good(integer) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0';
CREATE FUNCTION is_shown(integer) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 0';
CREATE FUNCTION sorted(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT $1';
ALTER TABLE item ADD CONSTRAINT good CHECK (is_good(id));
CREATE VIEW item_names AS SELECT id, name FROM item WHERE is_shown(id);
CREATE INDEX ON item (sorted(id));
SELECT object, detail, hint FROM snowflake_convert_warnings('item', 'id') WHERE kind = 'function';
-- Arrays of these, also VARIADIC; not if there is one of bigint.
CREATE FUNCTION of_list(integer[]) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true';
CREATE FUNCTION of_some(text, VARIADIC integer[]) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION of_both(integer[]) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION of_both(bigint[]) RETURNS void LANGUAGE sql AS '';
CREATE TABLE listed (id serial PRIMARY KEY, CHECK (of_list(ARRAY[id])));
CREATE FUNCTION listed_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM of_some('', new.id, 1), of_both(ARRAY[new.id]); RETURN new; END $$;
CREATE TRIGGER listed_changed AFTER INSERT ON listed FOR EACH ROW EXECUTE FUNCTION listed_changed();
SELECT object, detail FROM snowflake_convert_warnings('listed', 'id') WHERE kind = 'function';
DROP TABLE listed;
DROP FUNCTION of_list, of_some, of_both(integer[]), of_both(bigint[]), listed_changed;
-- A dry run shows so many.
ALTER TABLE item DROP CONSTRAINT good;
DROP VIEW item_names;
DO $$ BEGIN
    FOR n IN 1 .. 19 LOOP EXECUTE format('CREATE FUNCTION many_%s(integer) RETURNS void LANGUAGE sql AS ''''', n); END LOOP;
    EXECUTE format('CREATE OR REPLACE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS %L', 'BEGIN PERFORM ' || (
        SELECT string_agg(format('many_%s(new.id)', n), ',' ) FROM generate_series(1, 19) n) || '; RETURN new; END');
    FOR n IN 1 .. 4 LOOP
        EXECUTE format('CREATE FUNCTION changed_%s() RETURNS trigger LANGUAGE plpgsql AS %L', n, 'BEGIN PERFORM f(1); END');
        EXECUTE format('CREATE TRIGGER changed_%s AFTER INSERT ON item EXECUTE FUNCTION changed_%1$s()', n);
    END LOOP;
END $$;
SELECT detail FROM snowflake_convert_warnings('item', 'id') WHERE object ~ ' public.f\(';
\set VERBOSITY terse
:run snowflake_convert('item', 'id', dry_run => true);
\set VERBOSITY default
SET client_min_messages = warning;
DROP TABLE item, store CASCADE;
RESET client_min_messages;
DO $$ BEGIN
    FOR n IN 1 .. 19 LOOP EXECUTE format('DROP FUNCTION many_%s', n); END LOOP;
    FOR n IN 1 .. 4 LOOP EXECUTE format('DROP FUNCTION changed_%s', n); END LOOP;
END $$;
DROP FUNCTION f, "Odd name", "Odd", spaced, anged, old, g(integer, text), g(bigint, text), h, get_item, of_store, store_changed, changed,
    is_good, is_shown, sorted;

--
-- Publications: of the columns that they contain.
--
CREATE TABLE orders (id serial PRIMARY KEY, n integer);
CREATE TABLE other (id serial PRIMARY KEY);
SET client_min_messages = error;
CREATE PUBLICATION regress_snowflake_one FOR TABLE orders (n, id);
CREATE PUBLICATION regress_snowflake_all FOR ALL TABLES;
CREATE PUBLICATION regress_snowflake_schema FOR TABLES IN SCHEMA public;
CREATE PUBLICATION regress_snowflake_none FOR TABLE other, orders (n);
RESET client_min_messages;
SELECT kind, message, detail, hint FROM snowflake_convert_warnings('orders', 'id');
SELECT kind, object FROM snowflake_convert_warnings('orders', 'id', target => 'bigint');
-- A type that does not change is no matter for subscribers.
DROP PUBLICATION regress_snowflake_one;
ALTER TABLE orders ALTER id TYPE bigint;
SELECT kind, object FROM snowflake_convert_warnings('orders', 'id');
DROP PUBLICATION regress_snowflake_all, regress_snowflake_schema, regress_snowflake_none;
DROP TABLE orders, other;

--
-- Trigger functions of others, which an online switch cannot have compiled again
--
CREATE ROLE regress_snowflake_owner;
CREATE ROLE regress_snowflake_auditor;
CREATE TABLE audited (id serial PRIMARY KEY);
CREATE TABLE audited_too (audited_id integer REFERENCES audited);
CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
ALTER FUNCTION audit() COST 7;
ALTER FUNCTION audit() OWNER TO regress_snowflake_auditor;
CREATE TRIGGER audit AFTER INSERT ON audited FOR EACH ROW EXECUTE FUNCTION audit();
CREATE TRIGGER audit AFTER INSERT ON audited_too FOR EACH ROW EXECUTE FUNCTION audit();
ALTER TABLE audited OWNER TO regress_snowflake_owner;
ALTER TABLE audited_too OWNER TO regress_snowflake_owner;
SELECT * FROM snowflake_convert_warnings('audited', 'id', online => true) \gx
SELECT kind FROM snowflake_convert_warnings('audited', 'id');
SELECT kind FROM snowflake_convert_warnings('audited', 'id', online => true, target => 'bigint');
GRANT regress_snowflake_auditor TO regress_snowflake_owner;
SELECT kind FROM snowflake_convert_warnings('audited', 'id', online => true);
DROP TABLE audited, audited_too;
DROP FUNCTION audit;
DROP ROLE regress_snowflake_owner, regress_snowflake_auditor;

--
-- Names of any kind
--
CREATE TABLE "a.b*[(%s" (";id" serial PRIMARY KEY, "$1\" text);
CREATE TABLE "x""y
'z" ("q""%d" integer REFERENCES "a.b*[(%s", n integer, "a.b*[(%s_id" integer);
SELECT kind, object, detail FROM snowflake_convert_warnings('"a.b*[(%s"', ';id', online => true);
:run snowflake_convert('"a.b*[(%s"', ';id', dry_run => true);
DROP TABLE "a.b*[(%s" CASCADE;
DROP TABLE "x""y
'z";

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
-- The owner sees columns of others.
RESET ROLE;
ALTER TABLE mine OWNER TO regress_snowflake_other;
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
