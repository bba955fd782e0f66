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
'Changes a smallint, integer or bigint column, which may be plain, serial or identity, and widens
the columns that refer to it. If target is ''ids'', the column becomes bigint DEFAULT
snowflake_nextval(). If target is ''bigint'', the column becomes bigint and keeps its default,
identity and sequence. Returns the statements that it executes. With dry_run, the function only
returns the statements. The caller must own all tables that change.

With online, too, the function executes nothing. It returns the statements of a conversion that
blocks other sessions only for moments. Run them one by one, in order, outside a transaction block.
If the function is called again, it returns the statements that are left. With online and abandon,
it returns the statements that undo a conversion that has not reached the last statement. The
session must be connected as the table''s owner, who must own all that the statements touch.
Errors: 22004 for a null, 22023 for another target or for abandon without online; 42501, 42703,
42804, 42809, 42P01, 42P16, 2BP01 or 55000 if the column cannot be converted. If the function
executes the statements, also 25006 in a read-only transaction, and 55000 at any isolation level
except read committed.';

CREATE FUNCTION snowflake_convert(
    relation pg_catalog.regclass, column_name pg_catalog.name, segment pg_catalog.text,
    dry_run boolean DEFAULT false)
    RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME', 'snowflake_convert_segment' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, boolean) IS
'Gives a smallint, integer or bigint column the default snowflake_segment_nextval(segment). The
column may be plain, serial or identity, and keeps its type. Its sequence is dropped. If the next
number of the segment is not above the numbers of the column and of the sequence, the segment is
raised first, or created, which requires EXECUTE on snowflake_raise_segment() or
snowflake_create_segment(). A new segment has numbers only after the commit. Returns the statements
that it executes. With dry_run, the function only returns the statements. The caller must own all
tables that change.

The conversion is refused with 55000 if another node may hold a number that is in the column. If
the registry is in another database, the conversion is refused if the column or its sequence has a
number above 0.
Errors: 22003 if the column''s type has no number left, 22004 for a null, 22023 for an invalid
name of a segment, and the errors of the other form.';

CREATE FUNCTION snowflake_convert_all(schema pg_catalog.regnamespace, dry_run boolean DEFAULT false)
    RETURNS SETOF pg_catalog.text
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_convert_all(pg_catalog.regnamespace, boolean) IS
'Converts all keys of the tables of a schema, as snowflake_convert() would one by one. A key is a
smallint, integer or bigint column that is in a unique index, takes its numbers from a sequence, and
does not refer to another table. The sequence belongs to the column, or nothing else uses it.
Columns that refer to a key become bigint, in other schemas, too. If a key cannot be converted, none
is: the error names everything that is in the way. A notice names what is left out and why: other
columns that take numbers from a sequence, integer primary keys without a sequence, unique columns
with another default, and tables of extensions.

Foreign keys between the tables are dropped first and added last, and each table is altered once,
all in one transaction. Returns the statements that it executes. With dry_run, the function only
returns the statements; run them in one transaction. A notice says how much disk and how many locks
the conversion needs. The caller must own all tables that change.
Errors: 22004 for a null, 3F000 if there is no such schema; 42501, 42804, 42809, 42P16, 2BP01 or
55000 if a key cannot be converted. If the function executes the statements, also 25006 in a
read-only transaction, and 55000 at any isolation level except read committed.';

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
arguments, although nothing in the catalogs depends on the column. Names, statistics and the texts
of functions are searched, so some rows are false alarms, and some causes are not found. A dry run,
and the first call of an online conversion, show the same as notices. The column kind is:

- unreferenced: a column that may refer to a converted one without a foreign key, and is too narrow;
- function: a function that may take, hold or return ids as integers;
- sequence: a function or default that may use a sequence that the conversion drops;
- publication: a publication with a column that becomes bigint;
- column_order: a table whose columns change their order. Only for online => true.

The column object is what the warning is about, message the warning, detail the reason, hint what
to do. The function changes nothing and reads only catalogs. The caller must own all tables that
change.
Errors: 22004 for a null, 22023 for another target; 42501, 42703, 42809, 42P01 or 55000 if
snowflake_convert() cannot convert the table.';

CREATE FUNCTION snowflake_check_switch(
    relation pg_catalog.regclass, column_name pg_catalog.name, target pg_catalog.text, checksum pg_catalog.text)
    RETURNS pg_catalog.void
    AS 'MODULE_PATHNAME' LANGUAGE C VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp
    SET row_security = off;
COMMENT ON FUNCTION snowflake_check_switch(pg_catalog.regclass, pg_catalog.name, pg_catalog.text, pg_catalog.text) IS
'Part of the last statement of an online conversion. checksum is the MD5 of that statement. The
function fails unless all steps before it are done and the statement is what snowflake_convert()
would return now.
Errors: 55000 if the tables have changed since, and the errors of snowflake_convert().';

CREATE FUNCTION snowflake_follow() RETURNS pg_catalog.trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_follow() IS
'Trigger function of an online conversion. Before each row is inserted or updated, the function
copies the column that its first argument names to the column that its second argument names.';

CREATE PROCEDURE snowflake_try(statements pg_catalog.text)
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_try(pg_catalog.text) IS
'Executes statements that need a strong lock for a moment, all in one transaction and with the
rights of the caller. The search_path is pg_catalog. Unless a statement is VALIDATE CONSTRAINT,
other settings that change how SQL is read are pinned, too. CREATE INDEX CONCURRENTLY only creates
an empty, invalid index, which REINDEX INDEX CONCURRENTLY builds. The procedure waits at most 0.1 s
for all locks together, counted from the first statement that is no query; with VALIDATE CONSTRAINT,
for each lock. If a lock is not available, the procedure undoes the attempt, pauses and tries again,
for up to ten minutes.
Errors: 22004 if statements is null, 25001 in a transaction block, 55P03 or 40P01 after ten
minutes, and the errors of the statements.';

CREATE PROCEDURE snowflake_fill(relation pg_catalog.regclass, max_lag bigint DEFAULT 67108864)
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON PROCEDURE snowflake_fill(pg_catalog.regclass, bigint) IS
'Fills the new columns of an online conversion in a table and in its partitions and children. Each
batch takes about 50 ms and is committed. The procedure pauses while a replica is more than max_lag
bytes behind, and while other sessions wait for locks on the table or its rows. If the caller may
not see how far replicas are behind, a NOTICE says so. The procedure fires no triggers, not even
those that are ENABLE ALWAYS, and policies hide no rows from it. Constraints, generated columns and
indexes are kept, with the rights of the table''s owner. Every ten seconds, a NOTICE says how many
blocks of the table have been read, how many rows filled, and what the procedure waits for. If the
procedure is ended, call it again. The session must be connected as the table''s owner.
Errors: 22004 for a null, 22023 if max_lag is negative, 25001 in a transaction block, 25006 in a
read-only transaction, 42501, 42P01, 55000 at any isolation level except read committed, or if the
table is not as the conversion made it, and the errors of the table''s constraints.';

CREATE FUNCTION snowflake_adopt_keys() RETURNS pg_catalog.event_trigger
    AS 'MODULE_PATHNAME' LANGUAGE C;
COMMENT ON FUNCTION snowflake_adopt_keys() IS
'Function of the event trigger _snowflake_adopt_keys. If snowflake_convert.adopt_keys is on, it
changes CREATE TABLE: serial and identity columns of type bigint become bigint NOT NULL DEFAULT
snowflake_nextval(), with a notice for each. Temporary tables, tables of extensions and columns that
refer to another table by a foreign key of the command are left as they are.
Errors: 42804 if a smallint or integer column of the command refers to such a column.';
REVOKE ALL ON FUNCTION snowflake_adopt_keys() FROM PUBLIC;

-- The name begins with an underscore like that of _snowflake_guard_drop, for the same reason.
CREATE EVENT TRIGGER _snowflake_adopt_keys ON ddl_command_start WHEN TAG IN ('CREATE TABLE', 'CREATE SCHEMA')
    EXECUTE FUNCTION snowflake_adopt_keys();
COMMENT ON EVENT TRIGGER _snowflake_adopt_keys IS
    'Lets bigint keys of new tables take their ids from snowflake_nextval(), if '
    'snowflake_convert.adopt_keys is on';
