# What the tests of migrations share: databases in which snowflake_convert.adopt_keys is on, and the
# content of the catalogs after a tool's own migration has run there.
#
# Each tool makes the same tables from its own models: authors, who may have another author as their
# mentor; books, each of one author; tags; and a table that joins books and tags.
package MigrationsTest;

use strict;
use warnings;

use ClientsTest;
use Exporter 'import';
use IPC::Run;
use JSON::PP;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(migration_server fresh_database command_runs command_says are_adopted none_is_adopted nothing_changed columns_of javascript_server
  javascript_project javascript_uses prisma_project compared_database row_of compares);

my $server;

sub migration_server
{
	$server = new_server('migrations', preload => 1, patient => 1, conf => "listen_addresses = '127.0.0.1'\nlog_statement = all\nautovacuum = off\nmax_worker_processes = 30\n");
	start_server($server);
	@ENV{qw(PGHOST PGPORT)} = ('127.0.0.1', $server->port);
	return $server;
}

# A new database, to which the environment leads. `schema`: the extensions' schema; undef: there are
# none. `adopt_keys`: the setting's value.
sub fresh_database
{
	my ($name, %options) = @_;
	my $mode = $options{adopt_keys} // 'on';
	my $schema = exists $options{schema} ? $options{schema} : 'snowflake';
	$server->safe_psql('postgres', "CREATE DATABASE $name");
	$server->safe_psql('postgres', "ALTER DATABASE $name SET snowflake_convert.adopt_keys = $mode");
	$server->safe_psql($name, "CREATE SCHEMA IF NOT EXISTS $schema; CREATE EXTENSION snowflake SCHEMA $schema; CREATE EXTENSION snowflake_convert SCHEMA $schema") if $schema;
	$ENV{PGDATABASE} = $name;
	$ENV{DATABASE_URL} = sprintf 'postgresql://%s@127.0.0.1:%d/%s', $ENV{PGUSER}, $server->port, $name;
	return $name;
}

# Runs a tool's command in a folder; returns both outputs.
sub command_says
{
	my ($folder, @command) = @_;
	my $out = '';
	my $well = IPC::Run::run(\@command, '<', '/dev/null', '>', \$out, '2>&1', init => sub { chdir $folder or die "chdir $folder: $!" },
		IPC::Run::timeout(120 * slowness()));
	return ($well, $out);
}

sub command_runs
{
	my ($what, $folder, @command) = @_;
	my ($well, $out) = command_says($folder, @command);
	ok($well, $what) or diag($out);
	return $out;
}

# Every integer column outside of the extension: "table.column type default".
sub columns_of
{
	my ($db) = @_;
	return split /\n/, $server->safe_psql($db, q{
		SELECT format('%s.%s %s %s', c.relname, a.attname, a.atttypid::regtype,
			CASE WHEN a.attidentity <> '' THEN 'identity' ELSE pg_get_expr(d.adbin, d.adrelid) END)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype)
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relkind IN ('r', 'p') AND c.oid >= 16384 AND n.nspname <> 'information_schema' AND c.relname !~ '^snowflake_'
		ORDER BY c.relname COLLATE "C", a.attnum});
}

# Checks in the catalogs that so many keys get ids, that each column that refers to them is bigint,
# and that so many sequences are left; and that each of these keys has rows, all with ids of a moment
# ago. `but` names tables whose keys need no rows.
sub are_adopted
{
	my ($db, $what, $keys, $sequences, @but) = @_;
	my @adopted = grep { / bigint (?:snowflake\.)?snowflake_nextval\(\)$/ } columns_of($db);
	is(scalar @adopted, $keys, "$what: keys that take ids") or diag(join "\n", columns_of($db));
	is($server->safe_psql($db, q{SELECT string_agg(DISTINCT a.atttypid::regtype::text, ' ') FROM pg_constraint f, unnest(conkey, confkey) AS k(referring, referred),
			pg_attribute a, pg_attrdef d WHERE f.contype = 'f' AND a.attrelid = conrelid AND a.attnum = referring
			AND d.adrelid = confrelid AND d.adnum = referred AND pg_get_expr(adbin, adrelid) ~ 'snowflake_nextval'}),
		'bigint', '... columns that refer to them are bigint');
	is(sequences($db), $sequences, '... other keys have their sequences');
	for (@adopted)
	{
		my ($table, $column) = /^(.*)\.(\S+) bigint/;
		next if grep { $_ eq $table } @but;
		my ($schema) = $server->safe_psql($db, "SELECT relnamespace::regnamespace FROM pg_class WHERE relname = '$table' AND relkind = 'r'");
		is($server->safe_psql($db, qq{SET search_path = public, snowflake;
				SELECT count(*) > 0 AND bool_and(snowflake_timestamp("$column") > now() - interval '5 min') FROM $schema."$table"}),
			't', "... $table has rows with ids");
	}
	return;
}

# Checks that every key has its sequence.
sub none_is_adopted
{
	my ($db, $what, $sequences) = @_;
	is(sequences($db), $sequences, "$what: keys have their sequences") or diag(join "\n", columns_of($db));
	is((grep { /snowflake/ } columns_of($db)), 0, '... none takes ids');
	return;
}

sub sequences { my ($db) = @_; return $server->safe_psql($db, q{SELECT count(*) FROM pg_class WHERE relkind = 'S' AND oid >= 16384 AND relname !~ '^snowflake_'}); }

sub nothing_changed
{
	my ($db, $what, $code) = @_;
	my @before = columns_of($db);
	$code->();
	is_deeply([ columns_of($db) ], \@before, $what);
	return;
}

# A new database with a key that takes ids and the trigger of the horizon, and with the extensions in
# this schema. Tools compare it with models.
sub compared_database
{
	my ($name, $schema) = @_;
	fresh_database($name, schema => $schema, adopt_keys => 'off');
	$server->safe_psql($name, qq{
		CREATE TABLE item (id bigint PRIMARY KEY DEFAULT $schema.snowflake_nextval(), name text NOT NULL);
		CREATE TRIGGER item_claim BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION $schema.snowflake_claim('id')});
	return $name;
}

# What a tool could drop or change, in their order.
sub objects_of
{
	my ($db) = @_;
	my $ours = q{NOT IN (SELECT oid FROM pg_namespace WHERE nspname ~ '^pg_' OR nspname = 'information_schema')};
	return split /\n/, $server->safe_psql($db, qq{
		SELECT o FROM (
			SELECT format('column %s.%s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), pg_get_expr(adbin, adrelid))
				FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
				WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v') AND relnamespace $ours
			UNION ALL SELECT format('sequence %s', oid::regclass) FROM pg_class WHERE relkind = 'S' AND relnamespace $ours
			UNION ALL SELECT format('index %s %s', indexrelid::regclass, pg_get_indexdef(indexrelid)) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace $ours
			UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE connamespace $ours
			UNION ALL SELECT format('trigger %s.%s%s', tgrelid::regclass, tgname, CASE tgenabled WHEN 'O' THEN '' WHEN 'A' THEN ' always' ELSE ' ' || tgenabled::text END)
				FROM pg_trigger WHERE NOT tgisinternal
			UNION ALL SELECT format('function %s', oid::regprocedure) FROM pg_proc WHERE pronamespace $ours
			UNION ALL SELECT format('extension %s', extname) FROM pg_extension
			UNION ALL SELECT format('event trigger %s', evtname) FROM pg_event_trigger) _ (o)
		ORDER BY o COLLATE "C"});
}

# What doc/migrations.md says of a tool: the pieces of code in its row.
sub row_of
{
	my ($tool) = @_;
	my ($section) = slurp_file('doc/migrations.md') =~ /^## Schema tools\n(.*?)^## /ms or die "doc/migrations.md has no schema tools\n";
	my ($row) = $section =~ /^(\| \[?\Q$tool\E\b.*)$/m or die "doc/migrations.md has no row \"$tool\"\n";
	return $row =~ /`([^`]*)`/g;
}

# Lets a tool compare a database whose extension is in this schema. `says`: its output; `gone`: the
# objects that are gone afterwards, by default none.
my $databases = 0;
sub compares
{
	my ($what, $schema, $code, %expected) = @_;
	my $db = compared_database('compared_' . ++$databases, $schema);
	my @before = objects_of($db);
	local $ENV{NEXTVAL} = $schema eq 'public' ? 'snowflake_nextval()' : "$schema.snowflake_nextval()";
	my $out = $code->();
	my %left = map { $_ => 1 } objects_of($db);
	my $gone = join(', ', grep { !$left{$_} } @before);
	my $name = "$what, extension in $schema: objects that are gone";
	(ref $expected{gone} ? like($gone, $expected{gone}, $name) : is($gone, $expected{gone} // '', $name)) or diag($out);
	like($out, $expected{says}, '... what it says') if $expected{says};
	return;
}

# A server, node and the folder of npm's packages. test/clients fetches these into the folder that
# SNOWFLAKE_NODE_MODULES names.
sub javascript_server
{
	my $node = program_in('node');
	my $modules = $ENV{SNOWFLAKE_NODE_MODULES};
	left_out_unless($node && $modules && -d "$modules/drizzle-kit", "the folder of npm's packages", 'test/clients fetches them');
	$ENV{PATH} = "$modules/.bin:$ENV{PATH}";
	return (migration_server(), $node, $modules);
}

# The folder of a project that uses a package, with these files.
sub javascript_project
{
	my ($name, %files) = @_;
	my $site = PostgreSQL::Test::Utils::tempdir() . "/$name";
	write_program("$site/$_", $files{$_}) for keys %files;
	symlink $ENV{SNOWFLAKE_NODE_MODULES}, "$site/node_modules" or die "symlink: $!";
	note("$name " . decode_json(slurp_file("$site/node_modules/$name/package.json"))->{version});
	return $site;
}

# A project of Prisma 6, whose package has the engine in JavaScript. The engine needs the types
# "char" and name, and the adapter does not know them.
sub prisma_project
{
	return javascript_project('prisma6', 'prisma.config.mjs' => <<'JAVASCRIPT');
import { PrismaPg } from 'adapter6'
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils'
import Result from 'pg/lib/result.js'
const [char, name, text] = [18, 19, 25]
const characters = new Set()
const addFields = Result.prototype.addFields
Result.prototype.addFields = function (fields) {
  for (const field of fields) {
    if (field.dataTypeID === char) characters.add(field.name)
    if ([char, name].includes(field.dataTypeID)) field.dataTypeID = text
  }
  return addFields.call(this, fields)
}
async function adapter() {
  const factory = new PrismaPg({ host: process.env.PGHOST, port: Number(process.env.PGPORT), user: process.env.PGUSER, database: process.env.PGDATABASE })
  const connect = factory.connect.bind(factory)
  factory.connect = async () => {
    const connected = await connect()
    const queryRaw = connected.queryRaw.bind(connected)
    connected.queryRaw = async query => {
      const result = await queryRaw(query)
      const columnTypes = result.columnTypes.map((type, i) => characters.has(result.columnNames[i]) ? ColumnTypeEnum.Character : type)
      return { ...result, columnTypes }
    }
    return connected
  }
  return factory
}
const external = process.env.EXTERNAL?.split(' ') ?? []
export default { experimental: { adapter: true, externalTables: true }, engine: 'js', schema: 'schema.prisma', tables: { external }, adapter }
JAVASCRIPT
}

sub javascript_uses { my ($site) = @_; return run_program(program_in('node'), "$site/use.mjs"); }

1;
