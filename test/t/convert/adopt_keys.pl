# snowflake_convert.adopt_keys beyond one session's tables (section 14 of the design). The setting
# needs no loaded library, and ends with the extension, also if the library's file is missing. Roles
# get no additional rights. Scripts of extensions and dumps in every form make their tables unchanged.
# Not in the default run: it starts some 200 processes.

use strict;
use warnings;

use Installation;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $home = own_installation();
my $scripts = installed($home, 'sharedir') . '/extension';
append_to_file("$scripts/makes_keys.control", "default_version = '1'\n");
append_to_file("$scripts/makes_keys--1.sql", 'CREATE TABLE made_by_script (id bigserial PRIMARY KEY, first_id integer REFERENCES public.first);');
my $server = new_server('adopting', home => $home, preload => 0, patient => 1, conf => "max_worker_processes = 20\n");
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
on('CREATE SCHEMA ids; CREATE EXTENSION snowflake SCHEMA ids; CREATE SCHEMA tools; CREATE EXTENSION snowflake_convert SCHEMA tools;
	ALTER DATABASE shop SET snowflake_convert.adopt_keys = on');
on('CREATE TABLE first (id bigserial PRIMARY KEY)');
is(column('first'), $adopted, 'a session without the library adopts');
fails('CREATE TABLE second (id bigserial PRIMARY KEY, first_id integer REFERENCES first)', '42804',
	qr/column "first_id" of table "second" is too narrow for ids.*type integer and refers to column "id" of table "first".*HINT/s, '... and refuses a narrow reference');
on('ALTER ROLE CURRENT_USER IN DATABASE shop SET snowflake_convert.adopt_keys = off');
on('CREATE TABLE third (id bigserial PRIMARY KEY)');
like(column('third'), qr/^bigint nextval/, "a role's setting counts");
on('ALTER ROLE CURRENT_USER IN DATABASE shop RESET snowflake_convert.adopt_keys');
on('SET session_replication_role = replica; CREATE TABLE fourth (id bigserial PRIMARY KEY)');
like(column('fourth'), qr/^bigint nextval/, 'a session that applies changes of others adopts nothing');
if ($server->pg_version >= 17)
{
	on('SET event_triggers = off; CREATE TABLE fifth (id bigserial PRIMARY KEY)');
	like(column('fifth'), qr/^bigint nextval/, 'event_triggers = off');
}
on('CREATE EXTENSION makes_keys');
like(column('made_by_script'), qr/^bigint nextval/, 'an extension creates its tables as its script says');

# Before 17 ids need a preloaded library.
$server->append_conf('postgresql.conf', preloading(1));
$server->restart;

### The extensions and the table in one transaction

$server->safe_psql('postgres', 'CREATE DATABASE at_once');
$server->safe_psql('at_once', 'BEGIN; CREATE EXTENSION snowflake_convert CASCADE; SET snowflake_convert.adopt_keys = on; CREATE TABLE t (id bigserial PRIMARY KEY, n int); COMMIT');
is($server->safe_psql('at_once', 'INSERT INTO t (n) VALUES (1) RETURNING id > 1::bigint << 40'), 't', 'extension and table in one transaction: ids after the commit');

### Rights

on('CREATE ROLE alice; CREATE ROLE bob; CREATE ROLE outside; CREATE SCHEMA work; GRANT USAGE, CREATE ON SCHEMA work TO alice, bob, outside;
	GRANT USAGE ON SCHEMA ids TO alice, bob');
on('SET ROLE alice; CREATE TABLE work.author (id bigserial PRIMARY KEY, name text); GRANT REFERENCES, SELECT, INSERT ON work.author TO bob');
is(column('work.author'), $adopted, 'an ordinary role adopts, without rights in the schema of snowflake_convert');
on(q{SET ROLE alice; INSERT INTO work.author (name) VALUES ('a')});
fails('SET ROLE outside; CREATE TABLE work.nothing (id bigserial PRIMARY KEY)', '42501', qr/permission denied for schema ids/, 'a role without USAGE on the schema of snowflake cannot');
is(on(q{SELECT count(*) FROM pg_class WHERE relname IN ('nothing', 'nothing_id_seq')}), '0', '... and nothing is created');
on('SET ROLE bob; CREATE TABLE work.book (id bigserial PRIMARY KEY, author_id bigint REFERENCES work.author)');
is(column('work.book'), $adopted, "a reference to another role's table");
fails('REVOKE EXECUTE ON FUNCTION ids.snowflake_nextval() FROM PUBLIC; SET ROLE bob; INSERT INTO work.book DEFAULT VALUES', '42501', qr/permission denied for function snowflake_nextval/,
	'the default needs EXECUTE, as one that is written by hand');
on('GRANT EXECUTE ON FUNCTION ids.snowflake_nextval() TO PUBLIC');
on('CREATE FUNCTION work.make() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$CREATE TABLE work.made (id bigserial PRIMARY KEY)$$;
	ALTER FUNCTION work.make() OWNER TO alice; SET ROLE bob; SELECT work.make()');
is(column('work.made') . on(q{SELECT ' ' || relowner::regrole FROM pg_class WHERE relname = 'made'}), "$adopted alice", 'SECURITY DEFINER: the table is adopted, and the definer owns it');
on('CREATE SCHEMA of_alice AUTHORIZATION alice CREATE TABLE made (id bigserial PRIMARY KEY)');
is(column('of_alice.made'), $adopted, 'CREATE SCHEMA AUTHORIZATION');

# Objects that another role created to shadow PostgreSQL's names are not called.
on('CREATE SCHEMA planted AUTHORIZATION bob');
on(q{SET ROLE bob; SET search_path = planted;
	CREATE FUNCTION snowflake_nextval() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
	CREATE FUNCTION nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
	CREATE DOMAIN bigserial AS text; CREATE DOMAIN int8 AS text});
on('SET search_path = planted, ids, pg_catalog; CREATE TABLE work.safe (id bigserial PRIMARY KEY); CREATE TABLE work.text (id int8 PRIMARY KEY)');
is(column('work.safe'), $adopted, 'with planted names in front, the function is the one of the extension');
is(column('work.text'), 'planted.int8', '... and a name means the type that it means without adoption');
on('DROP SCHEMA planted CASCADE');

### Dumps: adopted keys and other keys are restored unchanged

sub schema_of
{
	my ($dbname) = @_;
	my ($out, $err) = run_command([ 'pg_dump', '--schema-only', '--no-owner', '-d', $server->connstr($dbname) ]);
	return $out =~ s/^(?:--|\\(?:un)?restrict|SELECT pg_catalog.set_config).*\n//mgr =~ s/^SET .*\n//mgr;
}
on(q{DROP EXTENSION makes_keys; SET snowflake_convert.adopt_keys = off;
	CREATE TABLE old_serial (id bigserial PRIMARY KEY, "Number" serial);
	CREATE TABLE old_identity (id bigint GENERATED ALWAYS AS IDENTITY (START 7) PRIMARY KEY, serial_id bigint REFERENCES old_serial);
	CREATE TABLE old_narrow (id bigint PRIMARY KEY DEFAULT ids.snowflake_nextval(), author_id integer REFERENCES work.author, first_id smallint);
	ALTER TABLE old_narrow ADD FOREIGN KEY (first_id) REFERENCES first;
	CREATE TABLE old_parts (id bigint GENERATED BY DEFAULT AS IDENTITY, at date) PARTITION BY RANGE (at);
	CREATE TABLE old_part PARTITION OF old_parts DEFAULT;
	CREATE TABLE old_inherits (more bigserial) INHERITS (old_serial);
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

### Another schema, and the end

on('ALTER SCHEMA ids RENAME TO numbers; CREATE TABLE renamed (id bigserial PRIMARY KEY)');
is(column('renamed'), 'bigint numbers.snowflake_nextval()', "the schema's new name");
on('ALTER EVENT TRIGGER _snowflake_adopt_keys DISABLE; CREATE TABLE disabled (id bigserial PRIMARY KEY)');
like(column('disabled'), qr/^bigint nextval/, 'the event trigger is disabled');
on('ALTER EVENT TRIGGER _snowflake_adopt_keys ENABLE');

my $library = installed($home, 'pkglibdir') . '/snowflake_convert.so';
rename $library, "$library.away" or die "rename $library: $!";
fails('CREATE TABLE none (id bigserial PRIMARY KEY)', '58P01', qr/could not access file "(?:\$libdir\/)?snowflake_convert"/, "without the library's file CREATE TABLE fails");
is((query_error($server, 'shop', 'ALTER TABLE first ADD COLUMN number integer; CREATE TABLE copy AS TABLE first; DROP TABLE copy'))[0], '00000', '... other commands do not');
is((query_error($server, 'shop', 'ALTER EVENT TRIGGER _snowflake_adopt_keys DISABLE; CREATE TABLE away (id bigserial PRIMARY KEY)'))[0], '00000', '... nor does it with a disabled event trigger');
is((query_error($server, 'shop', 'ALTER EVENT TRIGGER _snowflake_adopt_keys ENABLE; DROP EXTENSION snowflake_convert; CREATE TABLE later (id bigserial PRIMARY KEY)'))[0], '00000',
	'the extension can be dropped without the file');
like(column('later'), qr/^bigint nextval/, '... which ends adoption, although the setting is on');
is(column('renamed'), 'bigint numbers.snowflake_nextval()', '... adopted keys stay');
is(on('INSERT INTO renamed DEFAULT VALUES RETURNING id > 1::bigint << 40'), 't', '... and issue ids');
$server->stop('fast');
done_testing();
