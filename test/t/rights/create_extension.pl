# CREATE EXTENSION in a schema in which bob may create: functions and operators of his that fit a call of the scripts better than
# PostgreSQL's own lead to a refusal by their names, and those that only look so are not called, by the scripts or by the views.
# Version 1.0 left room in its view, which the update takes away.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Traps;

Traps::start('rights', preload => 1);

# A database in which the traps are bob's alone.
sub new_database
{
	my ($name, $planted) = @_;
	sql("CREATE DATABASE $name");
	prepare($name, 'bob');
	plant('bob', "SET search_path = bob; $planted", $name);
	$server->safe_psql($name, 'TRUNCATE traps.seen');
	return;
}

# What fits a call of the scripts better than PostgreSQL's own: for each, the function that must be named.
my %better = (
	'bob.setval(pg_catalog.text,bigint)' => q{CREATE FUNCTION setval(text, bigint) RETURNS bigint LANGUAGE plpgsql AS
		'BEGIN PERFORM bob.spring(''setval''); RETURN 1; END'},
	'bob.times(double precision,integer)' => q{CREATE FUNCTION times(float8, int) RETURNS float8 LANGUAGE plpgsql AS
		'BEGIN PERFORM bob.spring(''times''); RETURN 1; END';
		CREATE OPERATOR * (LEFTARG = float8, RIGHTARG = int, FUNCTION = times)},
	'bob.pg_extension_config_dump(pg_catalog.text,pg_catalog.text)' => q{CREATE FUNCTION pg_extension_config_dump(text, text) RETURNS void
		LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''config''); END'},
);
my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
append_to_file("$sharedir/extension/needs_snowflake.control", "default_version = '1'\nrequires = 'snowflake'\n");
append_to_file("$sharedir/extension/needs_snowflake--1.sql", 'SELECT 1;');
my $count = 0;
for my $function (sort keys %better)
{
	my $database = 'better' . ++$count;
	new_database($database, $better{$function});
	my ($code, $error) = query_error($server, $database, 'CREATE EXTENSION snowflake SCHEMA bob');
	is($code, '55000', "planted $function: refused");
	like($error, qr/would call \Q$function\E/, '... by its name');
	is(went_off($database), '', '... and it did not run');
	($code, $error) = query_error($server, $database, 'CREATE EXTENSION needs_snowflake SCHEMA bob CASCADE');
	is($code, '55000', '... nor for an extension that requires this one') or diag($error);
	is(went_off($database), '', '... and it did not run');
	sql("DROP DATABASE $database");
}

# What fits as well, or less well, or what a later call might take instead. An event trigger of the superuser's own, whose function
# calls what it likes, is nobody's trap.
new_database('beside', q{
	CREATE FUNCTION pg_get_serial_sequence(varchar, varchar) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''varchar''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(name, name) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''name''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(anyelement, anyelement) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''any''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''variadic''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(text, text, int DEFAULT 1) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''default''); RETURN NULL; END';
	CREATE FUNCTION random(int DEFAULT 1) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''random''); RETURN 0; END';
	CREATE FUNCTION floor(float8) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''floor''); RETURN 0; END';
	CREATE FUNCTION floor(numeric) RETURNS numeric LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''floor''); RETURN 0; END';
	CREATE FUNCTION clock_timestamp(int DEFAULT 1) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''clock''); RETURN now(); END';
	CREATE FUNCTION snowflake_tick_timestamp(numeric) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''tick''); RETURN now(); END';
	CREATE FUNCTION add(timestamptz, interval) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''add''); RETURN $1; END';
	CREATE OPERATOR + (LEFTARG = timestamptz, RIGHTARG = interval, FUNCTION = add);
	CREATE FUNCTION divide(interval, int) RETURNS interval LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''divide''); RETURN $1; END';
	CREATE OPERATOR / (LEFTARG = interval, RIGHTARG = int, FUNCTION = divide);
	CREATE FUNCTION divide(interval, float8) RETURNS interval LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''divide''); RETURN $1; END';
	CREATE OPERATOR / (LEFTARG = interval, RIGHTARG = float8, FUNCTION = divide);
	CREATE DOMAIN bob.timestamptz AS text;
	CREATE DOMAIN bob.text AS pg_catalog.int4;
});
$server->safe_psql('beside', q{
	CREATE FUNCTION traps.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION traps.note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM traps.mine(); END';
	CREATE EVENT TRIGGER first ON ddl_command_start EXECUTE FUNCTION traps.note();
	CREATE EVENT TRIGGER last ON ddl_command_end EXECUTE FUNCTION traps.note();
});
my ($state, $text) = query_error($server, 'beside', 'CREATE EXTENSION snowflake SCHEMA bob');
is($state, '00000', 'an extension is created beside names that only look like what it calls') or diag($text);
is(went_off('beside'), '', '... and none of them is called');
$server->safe_psql('beside', 'SELECT bob.snowflake_nextval(); SELECT * FROM bob.snowflake_workers; SELECT * FROM bob.snowflake_status; SELECT * FROM bob.snowflake_layouts');
is(went_off('beside'), '', '... nor do views call them');

# Version 1.0 left room in its view: who updates it is rid of that.
$server->safe_psql('beside', q{DROP EXTENSION snowflake; CREATE EXTENSION snowflake SCHEMA bob VERSION '1.0'; SELECT bob.snowflake_nextval();
	SELECT * FROM bob.snowflake_workers});
is(went_off('beside'), 'divide as postgres', 'a view of version 1.0 calls a planted operator');
sql('ALTER ROLE bob NOSUPERUSER');
$server->safe_psql('beside', 'ALTER EXTENSION snowflake UPDATE; SELECT * FROM bob.snowflake_workers');
is(went_off('beside'), '', '... and no longer, once it is updated');

unlink glob("$sharedir/extension/needs_snowflake*");
$server->stop('fast');
done_testing();
