\echo Use "CREATE EXTENSION snowflake_convert" to load this file. \quit

-- As in the script of the extension snowflake, whatever is executed or stored here names
-- PostgreSQL's schema. Only the event trigger's function is revoked from PUBLIC: the others run
-- statements with the rights of the caller, and check that the caller owns the tables they change.

-- Fails if the extension snowflake is another one of this name.

CREATE FUNCTION snowflake_convert_require() RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C;
SELECT snowflake_convert_require();
DROP FUNCTION snowflake_convert_require();

CREATE FUNCTION snowflake_convert(
    relation pg_catalog.regclass, column_name pg_catalog.name, dry_run boolean DEFAULT false,
    online boolean DEFAULT false, abandon boolean DEFAULT false, target pg_catalog.text DEFAULT 'ids'::pg_catalog.text)
    RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert(pg_catalog.regclass, pg_catalog.name, boolean, boolean, boolean, pg_catalog.text) IS
'Changes a smallint, integer or bigint column, plain, serial or identity, and widens the columns
that refer to it. If target is ''ids'', the column becomes bigint DEFAULT snowflake_nextval(). If
target is ''bigint'', it becomes bigint and keeps its default, identity and sequence. Returns the
statements that it executes; with dry_run, it only returns them. The caller must own all tables that
change.

With online, too, the function executes nothing. It returns the statements of a conversion that
blocks other sessions only for moments: run them one by one, in order, outside a transaction block.
Called again, it returns those that are left. With online and abandon, it returns the statements
that undo a conversion that has not reached the last one. The session must be connected as the
table''s owner, who must own all that the statements touch.
Errors: 22004 for a null, 22023 for another target or for abandon without online; 42501, 42703,
42804, 42809, 42P01, 42P16, 2BP01 or 55000 if the column cannot be converted. If the function
executes the statements, also 25006 in a read-only transaction, and 55000 at any isolation level
except read committed.';

CREATE FUNCTION snowflake_convert_all(
    schema pg_catalog.regnamespace, dry_run boolean DEFAULT false,
    exclude pg_catalog.regclass[] DEFAULT '{}'::pg_catalog.regclass[],
    target pg_catalog.text DEFAULT 'ids'::pg_catalog.text)
    RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert_all(pg_catalog.regnamespace, boolean, pg_catalog.regclass[], pg_catalog.text) IS
'Converts all keys of the tables of a schema in one transaction, as snowflake_convert() would one by
one. A key is a smallint, integer or bigint column that is in a unique index, takes its numbers from
a sequence, and does not refer to another table. The sequence belongs to the column, or nothing else
uses it. Columns that refer to a key become bigint, in other schemas, too. If target is ''bigint'',
the keys only become bigint. Keys of the tables in exclude are left out. If another key cannot be
converted, none is: the error names everything that is in the way. A notice names what is left out
and why: excluded keys, other columns that take numbers from a sequence, integer primary keys
without a sequence, unique columns with another default, and tables of extensions.

Foreign keys between the tables are dropped first and added last, and each table is altered once.
Returns the statements that it executes; with dry_run, it only returns them, to be run in one
transaction. A notice says how much disk and how many locks the conversion needs, and which tables
are the largest. The caller must own all tables that change.
Errors: 22004 for a null, 22023 for another target or an excluded table that has no key in the
schema, 3F000 if there is no such schema; 42501, 42804, 42809, 42P16, 2BP01 or 55000 if a key cannot
be converted. If the function executes the statements, also 25006 in a read-only transaction, and
55000 at any isolation level except read committed.';

CREATE PROCEDURE snowflake_convert_defaults(
    schema pg_catalog.regnamespace, exclude pg_catalog.regclass[] DEFAULT '{}'::pg_catalog.regclass[])
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_convert_defaults(pg_catalog.regnamespace, pg_catalog.regclass[]) IS
'Converts the keys of a schema that are bigint, and to which only bigint columns refer, each in a
transaction of its own. Keys, and what is left out, are as with snowflake_convert_all(). The
procedure waits at most 0.1 s for the locks of a key that keep others out. If others use the table,
it tries the key again after the other keys, up to ten times. Keys that are narrow, in use or
refused are left, and one error at the end lists them. If it is ended, or keys are left, call it
again. The caller must own all tables that change.
Errors: 22004 for a null, 22023 for an excluded table that has no key in the schema, 25001 in a
transaction block, 25006 in a read-only transaction, 3F000 if there is no such schema; 55000 at any
isolation level except read committed. For keys that are left, 42501, 42804, 42809, 2BP01 or 55P03
if all are left for the same reason, otherwise 42501 or 55000.';

CREATE FUNCTION snowflake_convert_warnings(
    relation pg_catalog.regclass, column_name pg_catalog.name, online boolean DEFAULT false,
    target pg_catalog.text DEFAULT 'ids'::pg_catalog.text, OUT kind pg_catalog.text, OUT object pg_catalog.text,
    OUT message pg_catalog.text, OUT detail pg_catalog.text, OUT hint pg_catalog.text)
    RETURNS SETOF pg_catalog.record
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert_warnings(pg_catalog.regclass, pg_catalog.name, boolean, pg_catalog.text) IS
'Returns what may stop working when snowflake_convert() has converted the column with the same
arguments, although nothing in the catalogs depends on the column. A dry run, and the first call of
an online conversion, show the same as notices. The column kind is:

- bound: a table or column that takes no new ids, because of a check or the bounds of partitions;
- publication: a publication with a column that becomes bigint;
- column_order: a table whose columns change their order. Only online;
- plan: a PL/pgSQL trigger function that belongs to a role whose privileges the table''s owner lacks:
  sessions keep its plans for the old type. Only online;
- unreferenced: a column that is too narrow, in no foreign key, and whose name ends in id. Its name
  is that of the table, or a column such as subject_type is beside it;
- function: a function with a smallint or integer parameter that a trigger function of an affected
  table calls, or that is used together with an affected column.

The column object is what the warning is about, message the warning, detail the reason, hint what to
do. The function changes nothing, and runs no code of the tables. The caller must own all tables
that change.
Errors: 22004 for a null, 22023 for another target; 42501, 42703, 42809, 42P01 or 55000 if
snowflake_convert() cannot convert the table.';

CREATE FUNCTION snowflake_check_switch(
    relation pg_catalog.regclass, column_name pg_catalog.name, target pg_catalog.text, checksum pg_catalog.text)
    RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check_switch(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, pg_catalog.text) IS
'Part of the last statement of an online conversion, whose MD5 is checksum. It fails unless all
steps before are done and the statement is what snowflake_convert() would return now.
Errors: 55000 if the tables have changed since, and the errors of snowflake_convert().';

CREATE FUNCTION snowflake_follow() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_follow() IS
'Trigger function of an online conversion: copies the column that its first argument names to the
column that its second argument names, before a row is inserted or updated.';

CREATE PROCEDURE snowflake_try(statements pg_catalog.text)
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_try(pg_catalog.text) IS
'Executes statements that need a strong lock for a moment, in one transaction and with the rights of
the caller. The search_path is pg_catalog. Unless a statement is VALIDATE CONSTRAINT, other settings
that change how SQL is read are pinned, too. CREATE INDEX CONCURRENTLY only creates an empty,
invalid index, which REINDEX INDEX CONCURRENTLY builds. The procedure waits at most 0.1 s for all
locks together, counted from the first statement that is no query; with VALIDATE CONSTRAINT, for
each lock. If a lock is not available, it undoes the attempt, pauses and tries again, for up to ten
minutes.
Errors: 22004 if statements is null, 25001 in a transaction block, 55P03 or 40P01 after ten minutes,
and the errors of the statements.';

CREATE PROCEDURE snowflake_fill(relation pg_catalog.regclass, max_lag bigint DEFAULT 67108864)
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_fill(pg_catalog.regclass, bigint) IS
'Fills the new columns of an online conversion in a table and in its partitions and children. Each
batch takes about 50 ms and is committed. The procedure pauses while a replica is more than max_lag
bytes behind, and while other sessions wait for locks on the table or its rows. A NOTICE says so if
the caller may not see how far replicas are behind. It fires no triggers, not even those that are
ENABLE ALWAYS, and policies hide no rows from it. Constraints, generated columns and indexes are
kept, with the rights of the table''s owner. Every ten seconds, a NOTICE says how many blocks of the
table have been read, how many rows filled, and what the procedure waits for. If it is ended, call
it again. The session must be connected as the table''s owner.
Errors: 22004 for a null, 22023 if max_lag is negative, 25001 in a transaction block, 25006 in a
read-only transaction, 42501, 42P01, 55000 at any isolation level except read committed, or if the
table is not as the conversion made it, and the errors of the table''s constraints.';

CREATE FUNCTION snowflake_adopt_keys() RETURNS pg_catalog.event_trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_adopt_keys() IS
'Function of the event trigger _snowflake_adopt_keys. If snowflake_convert.adopt_keys is on, serial
and identity columns of type bigint become bigint NOT NULL DEFAULT snowflake_nextval() in CREATE
TABLE, with a notice for each, except in temporary tables and tables of extensions, and if they have
a foreign key in the command.
Errors: 42804 if a smallint or integer column of the command refers to such a column.';
REVOKE ALL ON FUNCTION snowflake_adopt_keys() FROM PUBLIC;

-- The name begins with an underscore like that of _snowflake_guard_drop, for the same reason.
CREATE EVENT TRIGGER _snowflake_adopt_keys ON ddl_command_start WHEN TAG IN ('CREATE TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION snowflake_adopt_keys();
COMMENT ON EVENT TRIGGER _snowflake_adopt_keys IS
    'Lets bigint keys of new tables take their ids from snowflake_nextval(), if '
    'snowflake_convert.adopt_keys is on';
