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
    online boolean DEFAULT false, abandon boolean DEFAULT false, target pg_catalog.text DEFAULT 'ids'::pg_catalog.text,
    max_wait pg_catalog.interval DEFAULT '100 ms'::pg_catalog.interval,
    give_up_after pg_catalog.interval DEFAULT '10 min'::pg_catalog.interval,
    exclude pg_catalog.regclass[] DEFAULT '{}'::pg_catalog.regclass[], keep_sequence boolean DEFAULT false)
    RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert(pg_catalog.regclass, pg_catalog.name, boolean, boolean, boolean, pg_catalog.text,
    pg_catalog.interval, pg_catalog.interval, pg_catalog.regclass[], boolean) IS
'Changes a smallint, integer or bigint column, plain, serial or identity, and widens the columns
that refer to it. If target is ''ids'', the column becomes bigint DEFAULT snowflake_nextval(), and its
sequence is dropped. With keep_sequence, a serial column''s sequence stays, which is not possible for
an identity''s. If target is ''bigint'', the column becomes bigint and keeps its default, identity and
sequence. Returns the statements that it executes; with dry_run, it only returns them. Notices say
what may stop working, before other sessions have to wait: see snowflake_convert_warnings(). If a
column that refers to the converted one takes no new ids, the conversion is refused, unless its table
is in exclude. The caller must own all tables that change.

With online, too, the function executes nothing. It returns the statements of a conversion that
blocks other sessions only for moments: run them one by one, in order, outside a transaction block.
Called again, it returns those that are left. With online and abandon, it returns the statements
that undo a conversion that has not reached the switch. The statements contain max_wait and
give_up_after: see snowflake_try(). The session must be connected as the table''s owner, who must own
all that the statements touch.
Errors: 22004 for a null, 22023 for another target, for a table in exclude without a column that
refers to the converted one, for max_wait or give_up_after out of range, or for one of these or abandon
without online; 42703, 42809 or 42P01
if there is no such column of a table; 42501 if a right is lacking, otherwise 55000, if the column
cannot be converted: the error names everything that is in the way, and what to do. If the function
executes the statements, also 25006 in a read-only transaction, and 55000 at any isolation level
except read committed.';

CREATE FUNCTION snowflake_convert_all(
    schema pg_catalog.regnamespace, dry_run boolean DEFAULT false,
    exclude pg_catalog.regclass[] DEFAULT '{}'::pg_catalog.regclass[],
    target pg_catalog.text DEFAULT 'ids'::pg_catalog.text, keep_sequence boolean DEFAULT false)
    RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert_all(pg_catalog.regnamespace, boolean, pg_catalog.regclass[], pg_catalog.text,
    boolean) IS
'Converts all keys of the tables of a schema in one transaction, as snowflake_convert() would one by
one. A key is a smallint, integer or bigint column that is in a unique index, takes its numbers from
a sequence, and does not refer to another table. The sequence belongs to the column, or nothing else
uses it. Columns that refer to a key become bigint, in other schemas, too. If target is ''bigint'',
the keys only become bigint. With keep_sequence, the sequences of serial columns stay, and identities
cannot be converted. Keys of the tables in exclude are left out, and their columns that refer
to other keys need not take new ids. If another key cannot be
converted, none is: the error names everything that is in the way. A notice names what is left out
and why: excluded keys, other columns that take numbers from a sequence, integer primary keys
without a sequence, unique columns with another default, and tables of extensions.

Foreign keys between the tables are dropped first and added last, and each table is altered once.
Returns the statements that it executes; with dry_run, it only returns them, to be run in one
transaction. Notices say what may stop working, how much disk and how many locks the conversion
needs, and which tables are the largest, before other sessions have to wait. The caller must own all tables that change.
Errors: 22004 for a null, 22023 for another target or an excluded table that has no key in the
schema and does not refer to one, 3F000 if there is no such schema; 42501 or 55000 if keys cannot be converted, as for
snowflake_convert(). If the function executes the statements, also 25006 in a read-only transaction, and
55000 at any isolation level except read committed.';

CREATE PROCEDURE snowflake_convert_defaults(
    schema pg_catalog.regnamespace, exclude pg_catalog.regclass[] DEFAULT '{}'::pg_catalog.regclass[],
    max_wait pg_catalog.interval DEFAULT '100 ms'::pg_catalog.interval,
    give_up_after pg_catalog.interval DEFAULT '10 min'::pg_catalog.interval, dry_run boolean DEFAULT false,
    keep_sequence boolean DEFAULT false)
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_convert_defaults(pg_catalog.regnamespace, pg_catalog.regclass[], pg_catalog.interval,
    pg_catalog.interval, boolean, boolean) IS
'Converts the keys of a schema that are bigint, and to which only bigint columns refer, each in a
transaction of its own; a serial column''s sequence is dropped in the next one, or stays with
keep_sequence. Keys, and what is left out, are as with snowflake_convert_all(). The procedure waits at
most max_wait for the locks of a key that keep others out. If others use the table, it tries the key
again after the other keys, until it has lasted for give_up_after. Keys that are narrow, in use or
refused are left, and one error at the end lists them. Before it begins, notices say what may stop
working; with dry_run, it ends then, with the same error. If it is ended, or keys are left, call it
again. The caller must own all tables that change.
Errors: 22004 for a null, 22023 for an excluded table that has no key in the schema and does not refer
to one, or for max_wait or give_up_after out of range, as snowflake_try(); 25001 in a
transaction block, 25006 in a read-only transaction, 3F000 if there is no such schema; 55000 at any
isolation level except read committed. For keys that are left, 42501 if a right is lacking, 55P03 or
40P01 if others use the tables of all of them, otherwise 55000.';

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
arguments, although nothing in the catalogs depends on the column. Each call that converts, its dry
run, and the first call of an online conversion, show the same as notices, but for columns that say
in each row what they refer to. The column kind is:

- bound: a table or column that takes no new ids, because of a check or the bounds of partitions; the
  conversion is refused, unless the column''s table is excluded or only a table below is meant;
- publication: a publication with a column that becomes bigint;
- column_order: a table whose columns change their order. Only online;
- plan: a PL/pgSQL trigger function that belongs to a role whose privileges the table''s owner lacks:
  sessions keep its plans for the old type. Only online;
- narrow: a column that is narrower than a converted key, such as one that a schema tool has changed
  back. A call that converts widens it, and shows no notice;
- sequence: the sequence of a serial column that has been converted. Otherwise only a notice of calls
  with keep_sequence;
- identity: a column that is GENERATED ALWAYS, and accepts explicit ids afterwards;
- unreferenced: a column that is too narrow, in no foreign key, and whose name ends in id or in that
  of the key. It names the table or the key, or a column such as subject_type is beside it;
- function: a function with a parameter that is a smallint or integer, or an array of these, that a
  trigger function of an affected table calls, or that is used together with an affected column.

The column object is what the warning is about, message the warning, detail the reason, hint what to
do. The function changes nothing and, unless it refuses, runs no code of the tables. The caller must
own all tables that change.
Errors: 22004 for a null, 22023 for another target; 42501, 42703, 42809, 42P01 or 55000 if
snowflake_convert() cannot convert the table.';

CREATE FUNCTION snowflake_check_switch(
    relation pg_catalog.regclass, column_name pg_catalog.name, target pg_catalog.text, keep_sequence boolean,
    checksum pg_catalog.text)
    RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check_switch(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, boolean,
    pg_catalog.text) IS
'Part of the switch of an online conversion; checksum is the MD5 of its statements. It fails unless
all steps before are done and the switch is what snowflake_convert() would return now.
Errors: 55000 if the tables have changed since, and the errors of snowflake_convert().';

CREATE FUNCTION snowflake_follow() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_follow() IS
'Trigger function of an online conversion: copies the column that its first argument names to the
column that its second argument names, before a row is inserted or updated.';

CREATE PROCEDURE snowflake_try(
    statements pg_catalog.text, max_wait pg_catalog.interval DEFAULT '100 ms'::pg_catalog.interval,
    give_up_after pg_catalog.interval DEFAULT '10 min'::pg_catalog.interval)
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_try(pg_catalog.text, pg_catalog.interval, pg_catalog.interval) IS
'Executes statements that need a strong lock for a moment, in one transaction and with the rights of
the caller. The search_path is pg_catalog. Unless a statement is VALIDATE CONSTRAINT, other settings
that change how SQL is read are pinned, too. CREATE INDEX CONCURRENTLY only creates an empty,
invalid index, which REINDEX INDEX CONCURRENTLY builds. LOCK TABLE also locks sequences, and views
alone.

The procedure waits at most max_wait for all locks together, counted from the first statement that is
no query; with VALIDATE CONSTRAINT, for each lock. Once it has one, it waits for the others for half
of deadlock_timeout at most. If a lock is not available, it undoes the attempt, pauses for at least
as long and tries again, until it has lasted for give_up_after. Every ten seconds, a NOTICE says what it waits for. After a deadlock, which ends the
attempt, the next one locks last what was held: of the relations in LOCK TABLE only. A lock_timeout
of the session does not count. max_wait is 100 ms to one day, give_up_after up to one day.
Errors: 22004 for a null, 22023 for max_wait or give_up_after out of range, 25001 in a transaction
block, 55P03 or 40P01 after give_up_after, and the errors of the statements.';

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
