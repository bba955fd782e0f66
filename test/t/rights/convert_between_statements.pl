# snowflake_convert() runs several statements, and the code of the table's owner runs within each.
# This code changes the session's settings, leaves work for the end of the transaction (deferred
# triggers, cursors, temporary tables), or renames objects. In no case does a later statement, or a
# statement of the superuser, call this code or change other roles' objects.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
Traps::start('rights', preload => 1);
sql('GRANT CREATE ON DATABASE postgres TO alice');

# The settings are restored before the next statement is parsed or run.
plant('alice', q{
	CREATE FUNCTION not_equal(oid, oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM alice.spring(''shadow''); RETURN $1 OPERATOR(pg_catalog.=) $2; END';
	CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = oid, FUNCTION = not_equal);
	CREATE FUNCTION format(text, VARIADIC name[]) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM alice.spring(''shadow''); RETURN ''''; END';
	CREATE TABLE settings (id serial PRIMARY KEY, CHECK (harmless(id)));
	CREATE TABLE settings_too (id int REFERENCES settings, CHECK (harmless(id)));
	INSERT INTO settings VALUES (1);
	INSERT INTO settings_too VALUES (1);
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM alice.spring('settings');
		PERFORM set_config('search_path', 'alice, pg_catalog', false), set_config('search_path', 'alice, pg_catalog', true),
			set_config('row_security', 'on', false), set_config('default_transaction_read_only', 'on', false);
		RETURN true;
	END$$;
});
sql('TRUNCATE traps.seen');
is(sql(q{SET search_path = public; SELECT count(*) FROM snowflake_convert('alice.settings', 'id'); SHOW search_path; SHOW row_security;
	SHOW default_transaction_read_only}), "3\npublic\non\noff", 'settings that a check changes are as before');
gained_nothing('settings');
is(went_off(), 'settings as alice', '... and names that it puts in front are not called');

# Before PostgreSQL 18, code deferred to the end of the transaction would run as the caller, so it
# must not be deferred.
plant('alice', q{
	CREATE TABLE later (n int);
	CREATE CONSTRAINT TRIGGER later AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire('later');
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
	CREATE TABLE waits (id int, CHECK (harmless(id)));
	INSERT INTO waits VALUES (1);
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM alice.spring('waits');
		BEGIN INSERT INTO alice.later VALUES (1); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		BEGIN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT alice.spring(''cursor'')'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'CREATE TEMP TABLE pg_class (oid oid)'; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		RETURN true;
	END$$;
});
is((query_error($server, $db, q{SELECT snowflake_convert('alice.waits', 'id')}))[0], '00000', 'a check that leaves something to be done is converted');
gained_nothing('deferred');
is(went_off(), 'waits as alice', '... and nothing of it was left');
is(sql('SELECT count(*) FROM alice.later'), '0', '... nor could it be');

# Names change between two statements, so the later one finds another role's object, in a schema of
# alice. She could drop it herself; the conversion notices it.
plant('alice', q{
	CREATE SCHEMA app;
	CREATE SCHEMA decoy;
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
	CREATE TABLE app.t (id serial, CHECK (harmless(id)));
	INSERT INTO app.t VALUES (1);
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		ALTER SCHEMA app RENAME TO away;
		ALTER SCHEMA decoy RENAME TO app;
		RETURN true;
	END$$;
});
sql('CREATE SEQUENCE decoy.t_id_seq');
my ($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('app.t', 'id')});
is($state, '55000', 'a statement that meets another\'s sequence is undone') or diag($text);
is(sql(q{SELECT relowner::regrole FROM pg_class WHERE oid = 'decoy.t_id_seq'::regclass}), 'postgres', '... and all is as it was');
gained_nothing('names');

$server->stop('fast');
done_testing();
