# snowflake_convert.adopt_keys beyond one session's tables (section 14 of the design). Dumps in every form
# restore tables unchanged. Roles get no additional rights, and code that others planted is not
# called. The setting needs no loaded library, and can be switched off.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('adopting', preload => 0, conf => "max_worker_processes = 20\n");
start_server($server);
my $dir = PostgreSQL::Test::Utils::tempdir();

sub on { my ($sql, @more) = @_; return $server->safe_psql('shop', $sql, @more); }
sub fails
{
	my ($sql, $state, $pattern, $what) = @_;
	my ($found, $text) = query_error($server, 'shop', $sql);
	is($found, $state, $what);
	like($text, $pattern, '... and says so');
	return;
}
my $key = q{SELECT atttypid::regtype || coalesce(' ' || pg_get_expr(adbin, adrelid), '') FROM pg_attribute
	LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attname = '%s' AND attrelid = '%s'::regclass};
sub column { my ($table, $column) = @_; return on(sprintf $key, $column // 'id', $table); }
my $adopted = 'bigint ids.snowflake_nextval()';

### No library is loaded: the setting is a placeholder, and the first CREATE TABLE loads the library

$server->safe_psql('postgres', 'CREATE DATABASE shop');
on('CREATE SCHEMA ids; CREATE EXTENSION snowflake SCHEMA ids; CREATE EXTENSION snowflake_convert SCHEMA ids; ALTER DATABASE shop SET snowflake_convert.adopt_keys = on');
on('CREATE TABLE first (id serial PRIMARY KEY)');
is(column('first'), $adopted, 'a session without the library adopts');
on('CREATE TABLE second (id serial PRIMARY KEY, first_id integer); ALTER TABLE second ADD FOREIGN KEY (first_id) REFERENCES first');
is(column('second', 'first_id'), 'bigint', '... and widens');
on('ALTER ROLE CURRENT_USER IN DATABASE shop SET snowflake_convert.adopt_keys = off; ');
on('CREATE TABLE third (id serial PRIMARY KEY)');
like(column('third'), qr/^integer nextval/, "a role's setting counts");
on('ALTER ROLE CURRENT_USER IN DATABASE shop RESET snowflake_convert.adopt_keys');
on('SET session_replication_role = replica; CREATE TABLE fourth (id serial PRIMARY KEY)');
like(column('fourth'), qr/^integer nextval/, 'a session that applies changes of others adopts nothing');
if ($server->pg_version >= 17)
{
	on('SET event_triggers = off; CREATE TABLE fifth (id serial PRIMARY KEY)');
	like(column('fifth'), qr/^integer nextval/, 'event_triggers = off');
}
on('ALTER EVENT TRIGGER _snowflake_adopt_keys DISABLE; CREATE TABLE sixth (id serial PRIMARY KEY)');
like(column('sixth'), qr/^integer nextval/, 'the event trigger is disabled');
on('ALTER EVENT TRIGGER _snowflake_adopt_keys ENABLE');

# Before 17 ids need a preloaded library.
$server->append_conf('postgresql.conf', preloading(1));
$server->restart;

# From 17 on a partition has an identity, which is its parent's.
on('SET snowflake_convert.adopt_keys = off; CREATE TABLE parts (id bigint GENERATED ALWAYS AS IDENTITY, at date) PARTITION BY RANGE (at)');
my $error = (query_error($server, 'shop', 'CREATE TABLE part PARTITION OF parts DEFAULT; INSERT INTO parts (at) VALUES (now())'))[0];
is($error, '00000', 'a partition of a table with an identity is created');
is(on('SELECT max(id) FROM parts'), '1', "... and has its parent's numbers");

### The extension and the table in one transaction

$server->safe_psql('postgres', 'CREATE DATABASE at_once');
$server->safe_psql('at_once', 'BEGIN; CREATE EXTENSION snowflake_convert CASCADE; SET snowflake_convert.adopt_keys = on; CREATE TABLE t (id serial PRIMARY KEY, n int); COMMIT');
is($server->safe_psql('at_once', 'INSERT INTO t (n) VALUES (1) RETURNING id > 1::bigint << 40'), 't', 'extension and table in one transaction: ids after the commit');
is((query_error($server, 'at_once', 'BEGIN; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake_convert CASCADE; SET snowflake_convert.adopt_keys = on;
	CREATE TABLE u (id serial PRIMARY KEY, n int); INSERT INTO u (n) VALUES (1); COMMIT'))[0], '55000', '... and none before');

### Rights

on('CREATE ROLE alice; CREATE ROLE bob; CREATE ROLE outside; CREATE SCHEMA work; GRANT USAGE, CREATE ON SCHEMA work TO alice, bob, outside;
	GRANT USAGE ON SCHEMA ids TO alice, bob');
on('SET ROLE alice; CREATE TABLE work.author (id serial PRIMARY KEY, name text); GRANT REFERENCES, SELECT ON work.author TO bob');
is(column('work.author'), $adopted, 'an ordinary role adopts in its own table');
on(q{SET ROLE alice; INSERT INTO work.author (name) VALUES ('a')});
fails('SET ROLE outside; CREATE TABLE work.nothing (id serial PRIMARY KEY)', '42501', qr/permission denied for schema ids.*CONTEXT:.*because of snowflake_convert.adopt_keys/s,
	'a role without USAGE on the schema of the extension cannot');
fails('SET ROLE bob; CREATE TABLE work.book (id serial PRIMARY KEY, author_id integer REFERENCES work.author)', '42501',
	qr/cannot convert a table together with table work.author.*HINT.*CONTEXT:.*column author_id of table work.book/s, "a narrow column that refers to another role's table");
is(on(q{SELECT count(*) FROM pg_class WHERE relname IN ('nothing', 'book', 'book_id_seq', 'nothing_id_seq')}), '0', '... and nothing is created');
on('SET ROLE bob; CREATE TABLE work.book (id serial PRIMARY KEY, author_id bigint REFERENCES work.author)');
is(column('work.book'), $adopted, '... one of 64 bits may');
on('CREATE FUNCTION work.make() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$CREATE TABLE work.made (id serial PRIMARY KEY)$$;
	ALTER FUNCTION work.make() OWNER TO alice; SET ROLE bob; SELECT work.make()');
is(column('work.made') . on(q{SELECT ' ' || relowner::regrole FROM pg_class WHERE relname = 'made'}), "$adopted alice", 'SECURITY DEFINER: the table is adopted, and the definer owns it');

# The event trigger does not call objects that a role created to shadow PostgreSQL's names.
on(q{CREATE TABLE public.called (who name); GRANT INSERT ON public.called TO PUBLIC; CREATE SCHEMA planted AUTHORIZATION bob});
on(q{SET ROLE bob; SET search_path = planted;
	CREATE FUNCTION trap(name, name) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.called VALUES (current_user); RETURN true; END$$;
	CREATE FUNCTION trap(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.called VALUES (current_user); RETURN true; END$$;
	CREATE FUNCTION trap(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.called VALUES (current_user); RETURN true; END$$;
	CREATE OPERATOR = (LEFTARG = name, RIGHTARG = name, FUNCTION = trap);
	CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = oid, FUNCTION = trap);
	CREATE OPERATOR <> (LEFTARG = oid, RIGHTARG = oid, FUNCTION = trap);
	CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = trap);
	CREATE FUNCTION snowflake_nextval() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.called VALUES (current_user); RETURN 1; END$$;
	CREATE FUNCTION pg_event_trigger_ddl_commands(OUT classid oid, OUT objid oid, OUT command_tag text) RETURNS SETOF record LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN; END$$;
	CREATE FUNCTION pg_describe_object(oid, oid, integer) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.called VALUES (current_user); RETURN 'x'; END$$;
	CREATE TABLE pg_depend (); CREATE TABLE pg_attribute (); CREATE TABLE pg_constraint ()});
on('SET search_path = planted, pg_catalog; CREATE TABLE work.safe (id serial PRIMARY KEY, author_id integer REFERENCES public.first)');
on('SET search_path = planted, pg_catalog; CREATE TABLE planted.safe (id serial PRIMARY KEY, safe_id integer REFERENCES work.safe)');
is(join(' ', map { column(@$_) } [ 'work.safe' ], [ 'work.safe', 'author_id' ], [ 'planted.safe' ], [ 'planted.safe', 'safe_id' ]), "$adopted bigint $adopted bigint",
	"a superuser's table is adopted, with planted names in front");
is(on('SELECT count(*) FROM public.called'), '0', '... none of which was called');
on('DROP SCHEMA planted CASCADE');

### Dumps: adopted keys and other keys are restored unchanged

sub schema_of
{
	my ($dbname) = @_;
	my ($out, $err) = run_command([ 'pg_dump', '--schema-only', '--no-owner', '-d', $server->connstr($dbname) ]);
	return $out =~ s/^(?:--|\\(?:un)?restrict|SELECT pg_catalog.set_config).*\n//mgr =~ s/^SET .*\n//mgr;
}
on(q{SET snowflake_convert.adopt_keys = off;
	CREATE TABLE old_serial (id serial PRIMARY KEY, "Number" smallserial);
	CREATE TABLE old_identity (id integer GENERATED ALWAYS AS IDENTITY (START 7) PRIMARY KEY, serial_id integer REFERENCES old_serial);
	CREATE TABLE old_narrow (id bigint PRIMARY KEY DEFAULT ids.snowflake_nextval(), author_id integer REFERENCES work.author, first_id smallint);
	ALTER TABLE old_narrow ADD FOREIGN KEY (first_id) REFERENCES first;
	CREATE TABLE old_parts (id integer GENERATED BY DEFAULT AS IDENTITY, at date) PARTITION BY RANGE (at);
	CREATE TABLE old_part PARTITION OF old_parts DEFAULT;
	CREATE TABLE old_inherits (more serial) INHERITS (old_serial);
	INSERT INTO old_serial DEFAULT VALUES; INSERT INTO old_identity DEFAULT VALUES; INSERT INTO old_parts (at) VALUES (now());
	ALTER DATABASE shop SET snowflake_convert.adopt_keys = on});
my $before = schema_of('shop');
like($before, qr/CREATE TABLE public.old_narrow \(\s+id bigint DEFAULT ids.snowflake_nextval\(\) NOT NULL,\s+author_id integer/, 'the dump has a narrow column');
my @dump = ('pg_dump', '-d', $server->connstr('shop'));
$server->command_ok([ @dump, '-f', "$dir/plain.sql" ], 'pg_dump, plain');
$server->command_ok([ @dump, '-Fc', '-f', "$dir/custom" ], 'pg_dump, custom');
$server->command_ok([ @dump, '-Fd', '-f', "$dir/folder" ], 'pg_dump, a folder');
my %restores = (
	plain => [ [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.sql", '-d' ] ],
	one_transaction => [ [ 'pg_restore', '-1', "$dir/custom", '-d' ] ],
	jobs => [ [ 'pg_restore', '--exit-on-error', '--jobs=2', "$dir/folder", '-d' ] ],
	sections => [ map { [ 'pg_restore', '--exit-on-error', "--section=$_", "$dir/custom", '-d' ] } qw(pre-data data post-data) ]);
for my $way (sort keys %restores)
{
	$server->safe_psql('postgres', "CREATE DATABASE back_$way");
	$server->safe_psql('postgres', "ALTER DATABASE back_$way SET snowflake_convert.adopt_keys = on");
	$server->command_ok([ @$_, $server->connstr("back_$way") ], "restored, $way: $_->[-2]") for @{ $restores{$way} };
	is(schema_of("back_$way"), $before, '... as it was');
	is($server->safe_psql("back_$way", 'INSERT INTO old_serial DEFAULT VALUES RETURNING id'), '2', '... a sequence goes on');
}
$server->stop('fast');
done_testing();
