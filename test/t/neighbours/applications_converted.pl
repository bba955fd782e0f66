# Applications whose tables are converted while their code still expects keys of 32 bits: Rails with
# columns that it remembers, Django with AutoField, graphile-worker and Unleash. Each does what
# doc/migrations.md says, and works by what the page says to do.
#
# They are Debian's and npm's: test/clients makes a system that contains them.
# Not in the default run: it is about other software. Unleash starts three times and makes its tables
# by several hundred migrations, which takes half a minute of processor time.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use MigrationsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($server, $node, $modules) = javascript_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($section) = slurp_file('doc/migrations.md') =~ /^### Converted tables\n(.*?)^## /ms or die "doc/migrations.md has no section on converted tables\n";
my %tried;
sub without { my ($application, $why) = @_; $tried{$application} = 1; left_out($application, $why); return; }

# What the page says to do for an application.
sub row
{
	my ($application) = @_;
	$tried{$application} = 1;
	return ($section =~ /^\| \Q$application\E\b[^|]*\| (.*) \|$/m)[0] // die "doc/migrations.md does not say what to do for $application\n";
}

sub quiet_sql { my ($db, $sql) = @_; return $server->safe_psql($db, "SET client_min_messages = warning; SET search_path = public, snowflake; $sql"); }

### Rails

my $ruby = program_in('ruby', '/usr/bin');
if ($ruby && IPC::Run::run([ $ruby, '-e', 'require "active_record"; require "pg"' ], '<', '/dev/null', '>', '/dev/null', '2>&1'))
{
	fresh_database('rails', adopt_keys => 'off');
	my $seen = run_program($ruby, write_program("$folder/rails.rb", <<'RUBY'));
require "active_record"
require "json"
ActiveRecord::Base.establish_connection(adapter: "postgresql")
connection = ActiveRecord::Base.connection
connection.execute("SET client_min_messages = warning; CREATE TABLE items (id serial PRIMARY KEY, name text)")
class Item < ActiveRecord::Base; end
Item.create!(name: "old")
connection.execute("SELECT snowflake.snowflake_convert_all('public')")
state = begin
  Item.create!(name: "new")
  "none"
rescue StandardError => error
  error.class.name
end
Item.reset_column_information
puts JSON.generate([state, Item.count, Item.create!(name: "new").id > 2**32])
RUBY
	my ($error) = row('Rails') =~ /\(`([^`]*)`\)/;
	is_deeply($seen, [ $error, 1, JSON::PP::true ], 'Rails: an error while it remembers the type, and no row');
}
else { without('Rails', 'no ActiveRecord'); }

### Django

my ($python, %version) = python_of_debian(qw(django));
if ($version{django})
{
	my $program = write_program("$folder/django_keys.py", <<'PYTHON');
import json
import os

import django
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "HOST": os.environ["PGHOST"],
        "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"]}},
    INSTALLED_APPS=[], DEFAULT_AUTO_FIELD="django.db.models." + os.environ["FIELD"])
django.setup()
from django.db import connection, models


class Author(models.Model):
    name = models.TextField()

    class Meta:
        app_label = "shop"
        db_table = "author"


def attempt(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


if os.environ["FIELD"] == "AutoField":
    with connection.schema_editor() as editor:
        editor.create_model(Author)
    with connection.cursor() as cursor:
        cursor.execute("SET client_min_messages = warning; SELECT snowflake.snowflake_convert_all('public')")
author = Author.objects.create(name="new")
print(json.dumps([
    author.pk > 2**32, attempt(lambda: Author.objects.get(pk=author.pk).name), attempt(lambda: author.save() or "saved"),
    Author.objects.filter(pk=author.pk).update(name="newer")]))
PYTHON
	fresh_database('django', adopt_keys => 'off');
	local $ENV{FIELD} = 'AutoField';
	my $seen = run_program($python, $program);
	# Django before 4.2 does not know that the id is too large for the field.
	if ($version{django} =~ /^(?:[5-9]|4\.2|\d\d)/) { is_deeply($seen, [ JSON::PP::true, 'DoesNotExist', 'IntegrityError', 0 ], 'Django with AutoField: finds no new row, as the page says'); }
	else { is_deeply($seen, [ JSON::PP::true, 'new', 'saved', 1 ], 'Django with AutoField'); }
	my ($field) = row('Django') =~ /^`(\w+)`/;
	$ENV{FIELD} = $field;
	is_deeply(run_program($python, $program), [ JSON::PP::true, 'new', 'saved', 1 ], "... with $field it does");
}
else { without('Django', 'no Django'); }

### graphile-worker

if (-d "$modules/graphile-worker")
{
	my $site = javascript_project('graphile-worker', 'use.mjs' => <<'JAVASCRIPT');
import { Logger, makeWorkerUtils, runOnce } from 'graphile-worker'
const options = { connectionString: process.env.DATABASE_URL, logger: new Logger(() => () => {}) }
const utils = await makeWorkerUtils(options)
await utils.migrate()
const task = `task${process.env.ROUND}`
let done = []
try {
  const { id } = await utils.addJob(task, {}, { queueName: `queue${process.env.ROUND}` })
  await runOnce({ ...options, taskList: { [task]: (payload, { job }) => { done.push(job.id === id) } } })
} catch (error) {
  done = error.code
}
console.log(JSON.stringify(done))
process.exit(0)
JAVASCRIPT
	my $db = fresh_database('graphile', adopt_keys => 'off');
	local $ENV{ROUND} = 1;
	is_deeply(javascript_uses($site), [ JSON::PP::true ], 'graphile-worker: a job is done');
	my @excluded = map { "graphile_worker.$_" } row('graphile-worker') =~ /`(_private\w+)`/g;
	quiet_sql($db, sprintf q{SELECT snowflake_convert_all('graphile_worker', exclude => '{%s}')}, join ',', @excluded);
	$ENV{ROUND} = 2;
	is_deeply(javascript_uses($site), [ JSON::PP::true ], "... and after the conversion without @excluded");
	quiet_sql($db, "SELECT snowflake_convert('$_', 'id', online => true) \\gexec") for @excluded;
	$ENV{ROUND} = 3;
	is(javascript_uses($site), '22003', '... with them, it is not');
}
else { without('graphile-worker', 'npm has not fetched it'); }

### Unleash

if (-d "$modules/unleash-server")
{
	my $row = row('Unleash');
	my ($layout) = $row =~ /the layout `(\w+)`/;
	my ($parser) = $row =~ /`(pg\.types[^`]*)`/;
	my $site = javascript_project('unleash-server', 'parser.cjs' => "const pg = require(require.resolve('pg', { paths: [require.resolve('unleash-server')] }))\n$parser\n", 'use.cjs' => <<'JAVASCRIPT');
const { create } = require('unleash-server')
const { PGHOST: host, PGPORT: port, PGUSER: user, PGDATABASE: database, NAME: name } = process.env
const never = { enable: false }
create({
  db: { host, port: Number(port), user, password: 'none', database, ssl: false }, logLevel: 'fatal', versionCheck: never, telemetry: false,
  authentication: { type: 'none', createAdminUser: false },
}).then(async ({ app }) => {
  const http = app.listen(0, '127.0.0.1')
  await new Promise(resolve => http.on('listening', resolve))
  const call = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${http.address().port}/api/admin/${path}`,
      { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
    return [response.status, response.ok ? await response.json() : {}]
  }
  const [user] = await call('POST', 'user-admin', { email: `${name}@example.org`, rootRole: 1, name })
  const [made, segment] = await call('POST', 'segments', { name, constraints: [] })
  const [found] = await call('GET', `segments/${segment.id}`)
  console.log(JSON.stringify([user, made, found, typeof segment.id]))
  process.exit(0)
}).catch(error => { console.error(error); process.exit(1) })
JAVASCRIPT
	my $uses = sub { my ($name, @options) = @_; local $ENV{NAME} = $name; return run_program($node, @options, "$site/use.cjs"); };
	fresh_database('unleash', schema => undef);
	is_deeply($uses->('first'), [ 201, 201, 200, 'number' ], 'Unleash: a user and a segment');
	for my $case ([ 'snowflake', [], [ 400, 201, 404, 'string' ] ], [ $layout, [ '-r', "$site/parser.cjs" ], [ 201, 201, 200, 'number' ] ])
	{
		my ($of, $options, $expected) = @$case;
		my $db = $ENV{PGDATABASE} = "unleash_$of";
		$server->safe_psql('postgres', "CREATE DATABASE $db TEMPLATE unleash");
		$server->safe_psql($db, "CREATE SCHEMA snowflake; CREATE EXTENSION snowflake_convert SCHEMA snowflake CASCADE; SELECT snowflake.snowflake_set_layout('$of')");
		my $view = $server->safe_psql($db, q{SELECT pg_get_viewdef('features_view')});
		$server->safe_psql($db, 'DROP VIEW features_view');
		my $named = ($server->psql($db, q{SELECT snowflake.snowflake_convert_all('public', dry_run => true)}))[2];
		my @columns = $named =~ /^(?:DETAIL:  )?column (\w+) of table (\S+) is of type integer$/mg;
		cmp_ok(scalar @columns, '>', 10, "... layout $of: columns named");
		while (my ($column, $table) = splice @columns, 0, 2) { quiet_sql($db, "ALTER TABLE $table ALTER $column TYPE bigint"); }
		quiet_sql($db, "SELECT snowflake_convert_all('public'); CREATE VIEW features_view AS $view");
		is_deeply($uses->('second', @$options), $expected, '... what it does after a conversion');
	}
}
else { without('Unleash', 'npm has not fetched it'); }

my ($applications) = $section =~ /^\| application .*\n\|-.*\n((?:\|.*\n)+)/m;
is(join(', ', grep { !$tried{$_} } $applications =~ /^\| ([\w-]+)/mg), '', 'each application of the table is tried');
$server->stop('fast');
done_testing();
