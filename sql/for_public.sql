-- What every role may execute and read. Each function and view that PUBLIC has is listed here, with what it reveals or changes, and why that is right.
-- A function under a view must not show more than the view: either the view is for PUBLIC, too, or the function is not.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS snowflake CASCADE;
CREATE EXTENSION snowflake;
CREATE EXTENSION snowflake_convert;
RESET client_min_messages;

CREATE TEMP TABLE reason (object text PRIMARY KEY, why text NOT NULL CHECK (length(why) > 10));
INSERT INTO reason VALUES
('snowflake_nextval()', 'Issues an id. Every table with ids needs it for each role that inserts rows. An open transaction holds the horizon back, and snowflake_status shows whose.'),
('snowflake_nextvals(integer)', 'The same for several ids. A role can use up the numbers of a tick by any loop; calls then wait for the next tick.'),
('snowflake_currval()', 'The last id of the own session, as currval() of a sequence.'),
('snowflake_segment_nextval(text)', 'Issues a number if the role may use the segment (usage_role). The error for an unknown name lists names of segments: names of sequences, too, are visible to all.'),
('snowflake_segment_currval(text)', 'The last number of the own session, if the role may use the segment.'),
('snowflake_nextval_support(internal)', 'Cannot be called by SQL, because of its argument; the planner calls it for COPY.'),
('snowflake_copy_nextval(internal)', 'Cannot be called by SQL; COPY evaluates it for roles that may call snowflake_nextval().'),
('snowflake_copy_segment_nextval(internal,text)', 'Cannot be called by SQL; COPY evaluates it instead of snowflake_segment_nextval(), with the same check of usage_role.'),
('snowflake_horizon()', 'An id, and so a time, below which nothing new appears. Readers need it. A call lets the keeper take samples for a minute.'),
('snowflake_claim()', 'A trigger, for tables of the own. Its transaction holds the horizon back as by an id, but not below what was reported. Refused on temporary tables, which need no privilege but TEMPORARY.'),
('snowflake_decode(bigint)', 'Computes from its argument and the layout, which each id shows.'),
('snowflake_decode(bigint,text)', 'Computes from its arguments.'),
('snowflake_timestamp(bigint)', 'Computes from its argument and the layout.'),
('snowflake_timestamp(bigint,text)', 'Computes from its arguments.'),
('snowflake_encode(timestamp with time zone,integer,integer)', 'Computes from its arguments and the layout. That a role makes up an id changes nothing: it may insert any number into a table of its own.'),
('snowflake_encode(timestamp with time zone,integer,integer,text)', 'Computes from its arguments.'),
('snowflake_tick_timestamp(bigint)', 'Computes from its argument and the layout.'),
('snowflake_id_at(timestamp with time zone)', 'Computes from its argument and the layout.'),
('snowflake_id_at(timestamp with time zone,text)', 'Computes from its arguments.'),
('snowflake_range(tstzrange)', 'Computes from its argument and the layout.'),
('snowflake_range(tstzrange,text)', 'Computes from its arguments.'),
('snowflake_to_text(bigint,text)', 'Computes from its arguments.'),
('snowflake_to_text(bigint,text,text)', 'Computes from its arguments.'),
('snowflake_from_text(text,text)', 'Computes from its arguments.'),
('snowflake_from_text(text,text,text)', 'Computes from its arguments.'),
('snowflake_mask(bigint,text)', 'Masks for clients what the role can read. It does not reveal the key.'),
('snowflake_unmask(text,text)', 'Masked text hides ids from clients outside of the database, which send it back; the role that answers them has to unmask it. doc/public-ids.md says to revoke it if roles of the database must not.'),
('snowflake_id_in(cstring)', 'Reads a bigint, as any type does.'),
('snowflake_id_out(snowflake_id)', 'Writes a bigint, as any type does.'),
('snowflake_id_recv(internal)', 'Reads a bigint; cannot be called by SQL.'),
('snowflake_id_send(snowflake_id)', 'Writes a bigint, as any type does.'),
('snowflake_id(integer)', 'Casts its argument.'),
('snowflake_id(smallint)', 'Casts its argument.'),
('snowflake_id_contained(snowflake_id,anyrange)', 'Compares its arguments.'),
('snowflake_get_layout()', 'The layout of this database, which each id shows.'),
('snowflake_get_layouts()', 'Named layouts, this database''s own and the present time; the view snowflake_layouts is for PUBLIC.'),
('snowflake_get_ring()', 'Two numbers that follow from the layout.'),
('snowflake_get_status()', 'Shows what the view snowflake_status shows, which is for PUBLIC. Only members of pg_read_all_settings see the parts of last_error that name addresses and roles.'),
('snowflake_get_metrics()', 'Shows what the view snowflake_metrics shows, which is for PUBLIC.'),
('snowflake_layouts', 'See snowflake_get_layouts().'),
('snowflake_status', 'State of this node, as of pg_stat_activity. Prepared transactions come from pg_prepared_xacts, which is for PUBLIC.'),
('snowflake_metrics', 'Counters and other numbers of this node, as of pg_stat_database.'),
('snowflake_convert(regclass,name,boolean,boolean,boolean,text,interval,interval,regclass[],boolean)', 'Changes only tables whose owner''s rights the caller has. Code of the tables runs with the rights of their owner.'),
('snowflake_convert_all(regnamespace,boolean,regclass[],text,boolean)', 'The same for all tables of a schema.'),
('snowflake_convert_defaults(regnamespace,regclass[],interval,interval,boolean,boolean)', 'The same, each table in a transaction of its own.'),
('snowflake_convert_warnings(regclass,name,boolean,text)', 'For owners of the tables. Reads catalogs with the rights of the caller, and executes no code of the tables.'),
('snowflake_check_switch(regclass,name,text,boolean,text)', 'Changes nothing, and is for sessions of the table''s owner.'),
('snowflake_follow()', 'A trigger, for tables of the own: it copies a column of a row to another one of the same row.'),
('snowflake_try(text,interval,interval)', 'Executes statements with the rights of the caller, as if the caller had sent them.'),
('snowflake_fill(regclass,bigint)', 'Changes only tables whose owner''s rights the caller has, and in them only columns of a conversion.');

CREATE TEMP VIEW member AS
SELECT classid, objid FROM pg_depend
WHERE deptype = 'e' AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('snowflake', 'snowflake_convert'));
CREATE TEMP VIEW for_public AS
SELECT objid::regprocedure::text AS object FROM member
WHERE classid = 'pg_proc'::regclass AND has_function_privilege('public', objid, 'EXECUTE')
UNION ALL
SELECT objid::regclass::text FROM member JOIN pg_class c ON c.oid = objid
WHERE classid = 'pg_class'::regclass
    AND (CASE WHEN relkind = 'S' THEN has_sequence_privilege('public', objid, 'USAGE, SELECT, UPDATE')
        ELSE has_any_column_privilege('public', objid, 'SELECT, INSERT, UPDATE, REFERENCES')
            OR has_table_privilege('public', objid, 'DELETE, TRUNCATE, TRIGGER') END);
SELECT object AS without_reason FROM for_public EXCEPT SELECT object FROM reason;
SELECT object AS not_for_public FROM reason EXCEPT SELECT object FROM for_public;
-- Nothing gets rights by being called.
SELECT objid::regprocedure AS with_rights_of_its_owner FROM member JOIN pg_proc p ON p.oid = objid
WHERE classid = 'pg_proc'::regclass AND prosecdef;
-- A view that is not for PUBLIC has no function of its own that is, but for such as compute from what they are given.
SELECT DISTINCT c.oid::regclass AS view, f.refobjid::regprocedure AS function,
    has_function_privilege('public', f.refobjid, 'EXECUTE') AS public
FROM member m JOIN pg_class c ON c.oid = m.objid AND relkind = 'v' JOIN pg_rewrite r ON r.ev_class = c.oid
    JOIN pg_depend f ON f.classid = 'pg_rewrite'::regclass AND f.objid = r.oid AND f.refclassid = 'pg_proc'::regclass
    JOIN member own ON own.classid = 'pg_proc'::regclass AND own.objid = f.refobjid
WHERE NOT has_table_privilege('public', c.oid, 'SELECT') ORDER BY 1, 2;

-- By a role without privileges, with nulls. 42501: it may not; 42804, not by SQL: of pseudo-types, by the server's build; a value: of those without arguments alone.
CREATE ROLE regress_snowflake_nobody;
CREATE ROLE regress_snowflake_monitor IN ROLE pg_monitor;
GRANT SELECT ON member TO PUBLIC;
CREATE FUNCTION pg_temp.outcome(function regprocedure) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    arguments text := (SELECT string_agg('NULL::' || type::regtype, ', ' ORDER BY number)
        FROM pg_proc, unnest(proargtypes) WITH ORDINALITY a(type, number) WHERE oid = function);
    is_null boolean;
BEGIN
    EXECUTE format('SELECT count(*) = 0 FROM %s(%s) r WHERE NOT (r IS NULL)', split_part(function::text, '(', 1), coalesce(arguments, '')) INTO is_null;
    RETURN CASE WHEN is_null THEN 'null' ELSE 'a value' END;
EXCEPTION WHEN OTHERS THEN
    RETURN CASE WHEN SQLSTATE IN ('0A000', '42846') THEN 'not by SQL' ELSE SQLSTATE END;
END $$;
SET ROLE regress_snowflake_nobody;
SELECT snowflake_nextval() > 0 AS issued;
SELECT objid::regprocedure AS function, pg_temp.outcome(objid::regprocedure) AS outcome
FROM member JOIN pg_proc p ON p.oid = objid
WHERE classid = 'pg_proc'::regclass AND prokind = 'f' AND prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
    AND proname !~ '^snowflake_(convert|check_switch)$'
ORDER BY outcome, 1;
RESET ROLE;

-- What snowflake_segments shows of this node is not for everybody, in whatever way its function is called.
SELECT snowflake_create_segment('shown', usage_role => 'regress_snowflake_monitor');
SELECT snowflake_segment_nextval('shown');
\set SHOW_CONTEXT never
SET ROLE regress_snowflake_nobody;
SELECT * FROM snowflake_segments;
\echo :SQLSTATE
SELECT name FROM snowflake_get_segments();
\echo :SQLSTATE
CREATE FUNCTION pg_temp.direct() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM snowflake_get_segments()';
SELECT pg_temp.direct();
\echo :SQLSTATE
SET ROLE regress_snowflake_monitor;
SELECT name, next_here FROM snowflake_segments;
SELECT name, next_here FROM snowflake_get_segments();
-- A member may show it to others, by a function with its own rights.
CREATE FUNCTION pg_temp.shown() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT next_here FROM snowflake_segments';
GRANT EXECUTE ON FUNCTION pg_temp.shown() TO PUBLIC;
SET ROLE regress_snowflake_nobody;
SELECT pg_temp.shown();
RESET ROLE;
-- The owner grants both.
GRANT SELECT ON snowflake_segments TO regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT name FROM snowflake_segments;
RESET ROLE;
GRANT EXECUTE ON FUNCTION snowflake_get_segments() TO regress_snowflake_nobody;
SET ROLE regress_snowflake_nobody;
SELECT name, next_here FROM snowflake_segments;
RESET ROLE;

SELECT snowflake_drop_segment('shown');
DROP FUNCTION pg_temp.shown(), pg_temp.direct();
REVOKE ALL ON snowflake_segments FROM regress_snowflake_nobody;
REVOKE ALL ON FUNCTION snowflake_get_segments() FROM regress_snowflake_nobody;
DROP ROLE regress_snowflake_nobody, regress_snowflake_monitor;
