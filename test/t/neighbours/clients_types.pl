# What drivers and mappers read an integer and a bigint as, as the table of doc/clients.md says, and
# that a converted key is a number again by what the table names: exact if the id has 53 bits, with
# the layout javascript. Models still declare the key as narrow, because that is what a conversion
# meets.
#
# The clients are Debian's and npm's: test/clients makes a system that contains them.
# Not in the default run: it is about other software.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use JSON::PP;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($section) = slurp_file('doc/clients.md') =~ /^## Keys that become bigint\n(.*?)(?=^## )/ms or die "doc/clients.md has no section on keys that become bigint\n";
my %told;
for (grep { /^\| (?!client )/ } split /\n/, $section)
{
	my ($clients, $integer, $bigint, $remedy) = map { s/^ +| +$//gr } (split /\|/, $_)[ 1 .. 4 ];
	my ($narrow, $wide) = map { /`([^`]*)`/ } $integer, $bigint;
	$told{$_} = { integer => $narrow, bigint => $wide, told => $bigint, remedy => $remedy } for split /; /, $clients;
}

# A key that was an integer: an old id, one of the layout javascript, one of the default layout.
# Another column still is one.
my @ids = ('12', '246958565656581', '252885416692719981');
my $server = client_server();
$server->safe_psql('postgres', 'CREATE TABLE wide (id bigint PRIMARY KEY, was integer NOT NULL); INSERT INTO wide VALUES '
	  . join(', ', map { "($ids[$_], $_)" } 0 .. $#ids));
$ENV{QUERY} = 'SELECT id, was FROM wide ORDER BY was';
my $folder = PostgreSQL::Test::Utils::tempdir();

# Checks what a program has read: [type of `was`, type of `id`, the id as text] for each row, or for
# the last ones the error's code.
my %tried;
sub is_read
{
	my ($client, $rows) = @_;
	my $told = $told{$client} or die "doc/clients.md does not say what $client reads\n";
	$tried{$client} = 1;
	my ($damaged) = $told->{told} =~ /damaged/;
	my ($error) = $told->{told} =~ /\(([0-9A-Z]{5})\)/;
	# "same": a bigint is read as an integer is.
	my @types = $told->{integer} ? @$told{qw(integer bigint)} : ($rows->[0][0]) x 2;
	my @expected = map { [ @types, $_ ] } @ids;
	$expected[2] = $error if $error;
	$expected[2] = [ @{ $expected[2] }[ 0, 1 ], '252885416692719970' ] if $damaged;
	is_deeply($rows, \@expected, "$client: what it reads") or diag(explain($rows));
	return;
}

# With the page's remedy, which `code` puts in place, ids of up to 53 bits are exact, and of the type
# that an integer has.
sub is_restored
{
	my ($client, $code) = @_;
	my ($remedy) = $told{$client}{remedy} =~ /`([^`]*)`/ or die "doc/clients.md does not say what restores numbers for $client\n";
	my $rows = $code->($remedy) or return;
	is_deeply([ @{$rows}[ 0, 1 ] ], [ map { [ $told{$client}{integer}, $told{$client}{integer}, $_ ] } @ids[ 0, 1 ] ], "... numbers again by $remedy") or diag(explain($rows));
	is($rows->[2][2], '252885416692719970', '... which are damaged above 53 bits') if $told{$client}{integer} eq 'number';
	return;
}

### JavaScript

my ($node, $modules) = (program_in('node'), $ENV{SNOWFLAKE_NODE_MODULES} // '/nowhere');
symlink $modules, "$folder/node_modules" or die "symlink: $!";
write_program("$folder/rows.mjs", <<'JAVASCRIPT');
export const show = rows => {
  console.log(JSON.stringify(rows.map(row => Array.isArray(row) || row.id === undefined ? row : [typeof row.was, typeof row.id, String(row.id)])))
  process.exit(0)
}
JAVASCRIPT
my %javascript = (
	'node-postgres' => [ 'pg', <<'JAVASCRIPT' ],
import pg from 'pg'
REMEDY
const client = new pg.Client()
await client.connect()
show((await client.query(process.env.QUERY)).rows)
JAVASCRIPT
	'postgres.js' => [ 'postgres', <<'JAVASCRIPT' ],
import postgres from 'postgres'
show(await postgres({ OPTION }).unsafe(process.env.QUERY))
JAVASCRIPT
	'Knex' => [ 'knex', <<'JAVASCRIPT' ],
import pg from 'pg'
import knex from 'knex'
REMEDY
show(await knex({ client: 'pg', connection: {} })('wide').orderBy('was'))
JAVASCRIPT
	'Sequelize' => [ 'sequelize', <<'JAVASCRIPT' ],
import pg from 'pg'
import { DataTypes, Sequelize } from 'sequelize'
REMEDY
const db = new Sequelize(process.env.DATABASE_URL, { logging: false })
const wide = db.define('wide', { id: { type: DataTypes.INTEGER, primaryKey: true }, was: DataTypes.INTEGER }, { freezeTableName: true, timestamps: false })
show(await wide.findAll({ order: ['was'] }))
JAVASCRIPT
	'TypeORM' => [ 'typeorm', <<'JAVASCRIPT' ],
import { DataSource, EntitySchema } from 'typeorm'
const wide = new EntitySchema({ name: 'wide', columns: { id: { type: 'int', primary: true }, was: { type: 'int' } } })
const source = await new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities: [wide], OPTION }).initialize()
show(await source.getRepository(wide).find({ order: { was: 'ASC' } }))
JAVASCRIPT
	'MikroORM' => [ '@mikro-orm/postgresql', <<'JAVASCRIPT' ],
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
REMEDY
const Wide = new EntitySchema({ name: 'Wide', tableName: 'wide', properties: { id: { type: 'integer', primary: true }, was: { type: 'integer' } } })
const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Wide] })
show(await orm.em.fork().find(Wide, {}, { orderBy: { was: 'asc' } }))
JAVASCRIPT
	'Drizzle' => [ 'drizzle-orm', <<'JAVASCRIPT' ],
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, integer, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
const wide = pgTable('wide', { id: COLUMN.primaryKey(), was: integer('was') })
show(await drizzle(new pg.Pool()).select().from(wide).orderBy(wide.was))
JAVASCRIPT
);
for my $client (sort keys %javascript)
{
	my ($module, $code) = @{ $javascript{$client} };
	if (!$node || !-d "$modules/$module") { left_out($client, "no $module"); $tried{$client} = 1; next; }
	note("$module " . decode_json(slurp_file("$modules/$module/package.json"))->{version});
	my $run = sub {
		my ($remedy) = @_;
		my $column = $remedy || "integer('id')";
		my $program = $code =~ s/REMEDY/$remedy/r =~ s/OPTION/$remedy/r =~ s/COLUMN/$column/r;
		return run_program($node, write_program("$folder/types_" . $module =~ s/\W/_/gr . ".mjs", "import { show } from './rows.mjs'\n", $program));
	};
	is_read($client, $run->(''));
	if ($client ne 'Drizzle') { is_restored($client, $run); next; }
	my ($column) = $told{Drizzle}{remedy} =~ /`([^`]*)`/;
	is_deeply($run->($column), [ map { [ 'number', 'bigint', $_ ] } @ids ], "... and with $column it reads all");
}

$tried{Prisma} = 1;
if ($node && -d "$modules/prisma")
{
	local @ENV{qw(PRISMA_SCHEMA_ENGINE_BINARY CHECKPOINT_DISABLE)} = ('/bin/true', 1);
	my $run = sub {
		my ($type) = @_;
		write_program("$folder/$type/schema.prisma", qq(generator client {\n  provider = "prisma-client-js"\n  output = "./generated"\n}\n)
			  . qq(datasource db {\n  provider = "postgresql"\n}\nmodel wide {\n  id $type \@id\n  was Int\n}\n));
		my $out;
		ok(IPC::Run::run([ $node, "$modules/prisma/build/index.js", 'generate', '--schema', "$folder/$type/schema.prisma" ], '<', '/dev/null', '>', \$out, '2>&1'),
			"prisma generate, $type") or diag($out);
		return run_program($node, write_program("$folder/$type.mjs", <<"JAVASCRIPT"));
import { PrismaPg } from '\@prisma/adapter-pg'
import { PrismaClient } from './$type/generated/index.js'
import { show } from './rows.mjs'
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })
const read = async was => { try { return await prisma.wide.findFirst({ where: { was } }) } catch (error) { return error.code } }
show([await read(0), await read(1), await read(2)])
JAVASCRIPT
	};
	is_read('Prisma', $run->('Int'));
	my ($type) = $told{Prisma}{remedy} =~ /`([^`]*)`/;
	is_deeply($run->($type), [ map { [ 'number', 'bigint', $_ ] } @ids ], "... and with $type it reads all");
}
else { left_out('Prisma', 'no prisma'); }

my ($bun) = grep { -x } "$modules/\@oven/bun-linux-x64/bin/bun", "$modules/\@oven/bun-linux-aarch64/bin/bun";
$tried{Bun} = 1;
if ($bun) { is_read('Bun', run_program($bun, write_program("$folder/bun.mjs", "import { sql } from 'bun'\nimport { show } from './rows.mjs'\nshow(await sql.unsafe(process.env.QUERY))\n"))); }
else { left_out('Bun', 'no @oven/bun'); }

### Java

my $java = program_in('java');
my ($driver) = grep { -e } map { "$_/usr/share/java/postgresql.jar" } $ENV{SNOWFLAKE_NEIGHBOURS} // '', '';
$tried{JDBC} = 1;
if ($java && program_in('javac') && $driver)
{
	my ($get) = $told{JDBC}{remedy} =~ /`([^`]*)`/;
	my $seen = run_program($java, '-cp', $driver, write_program("$folder/Types.java", <<"JAVA"));
import java.sql.*;
import java.util.*;

class Types {
  public static void main(String[] arguments) throws Exception {
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    try (Connection connection = DriverManager.getConnection(url, System.getenv("PGUSER"), "");
        ResultSet row = connection.createStatement().executeQuery(System.getenv("QUERY"))) {
      List<String> rows = new ArrayList<>();
      while (row.next()) {
        String narrow;
        try { narrow = String.valueOf(row.getInt(1)); } catch (SQLException error) { narrow = error.getSQLState(); }
        rows.add("[\\"" + row.getObject(2).getClass().getSimpleName() + "\\", \\"" + row.getObject(1).getClass().getSimpleName() + "\\", \\"" + row.$get + "\\", \\"" + narrow + "\\"]");
      }
      System.out.println(rows);
    }
  }
}
JAVA
	is(join(' ', map { $_->[3] } @{ $seen // [] }), '12 22003 22003', 'JDBC: getInt(1) fails, as the page says');
	like($told{JDBC}{remedy}, qr/`getInt\(1\)` fails \(22003\)/, '... which it does');
	is_read('JDBC', [ map { [ @{$_}[ 0 .. 2 ] ] } @{ $seen // [] } ]);
}
else { left_out('JDBC', 'no Java compiler or no driver'); }

### Go

my ($go, $libraries) = (program_in('go'), '/usr/share/gocode');
$tried{pgx} = 1;
if ($go && -d "$libraries/src/github.com/jackc/pgx/v5")
{
	local @ENV{qw(GO111MODULE GOPATH GOCACHE GOFLAGS)} = ('off', "$folder:$libraries", "$folder/cache", '');
	my $program = write_program("$folder/src/types/main.go", <<'GO');
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, "")
	if err != nil {
		panic(err)
	}
	var seen [][]string
	rows, _ := conn.Query(ctx, os.Getenv("QUERY"))
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			panic(err)
		}
		var narrow int32
		fits := conn.TypeMap().Scan(pgtype.Int8OID, pgx.BinaryFormatCode, rows.RawValues()[0], &narrow) == nil
		seen = append(seen, []string{fmt.Sprintf("%T", values[1]), fmt.Sprintf("%T", values[0]), fmt.Sprint(values[0]), fmt.Sprint(fits)})
	}
	out, _ := json.Marshal(seen)
	fmt.Println(string(out))
}
GO
	my $out;
	ok(IPC::Run::run([ $go, 'build', '-o', "$folder/types", $program ], '<', '/dev/null', '>', \$out, '2>&1'), 'go build') or diag($out);
	my $seen = run_program("$folder/types");
	is_read('pgx', [ map { [ @{$_}[ 0 .. 2 ] ] } @{ $seen // [] } ]);
	is(join(' ', map { $_->[3] } @{ $seen // [] }), 'true false false', '... an int32 is too small for an id');
}
else { left_out('pgx', 'no Go with pgx'); }

### Python

my ($python, %version) = python_of_debian(qw(psycopg psycopg2 sqlalchemy asyncpg));
my %python = (
	'psycopg 3' => [ 'psycopg', q{rows = psycopg.connect().execute(query).fetchall()} ],
	'psycopg2' => [ 'psycopg2', qq{cursor = psycopg2.connect("").cursor()\ncursor.execute(query)\nrows = cursor.fetchall()} ],
	'SQLAlchemy' => [ 'sqlalchemy', <<'PYTHON' ],
wide = sqlalchemy.table("wide", sqlalchemy.column("id", sqlalchemy.Integer), sqlalchemy.column("was", sqlalchemy.Integer))
rows = sqlalchemy.create_engine("postgresql+psycopg2://").connect().execute(sqlalchemy.select(wide).order_by(wide.c.was)).fetchall()
PYTHON
	'asyncpg' => [ 'asyncpg', <<'PYTHON' ],
import asyncio
async def read():
    return await (await asyncpg.connect()).fetch(query)
rows = asyncio.run(read())
PYTHON
);
for my $client (sort keys %python)
{
	my ($module, $code) = @{ $python{$client} };
	if (!$version{$module}) { left_out($client, "no $module"); $tried{$client} = 1; next; }
	is_read($client, run_program($python, write_program("$folder/types_$module.py", "import json, os\nimport $module\nquery = os.environ['QUERY']\n", $code,
				'print(json.dumps([[type(row[1]).__name__, type(row[0]).__name__, str(row[0])] for row in rows]))')));
}

### Ruby

my $ruby = program_in('ruby', '/usr/bin');
my %ruby = (
	'pg of Ruby' => [ 'pg', 'rows = PG.connect.exec(ENV["QUERY"]).to_a' ],
	'Rails' => [ 'active_record', <<'RUBY' ],
ActiveRecord::Base.establish_connection(adapter: "postgresql")
class Wide < ActiveRecord::Base; self.table_name = "wide"; end
rows = Wide.order(:was).map { |row| { "id" => row.id, "was" => row.was } }
RUBY
	'Sequel' => [ 'sequel', 'rows = Sequel.connect(ENV["DATABASE_URL"])[:wide].order(:was).map { |row| row.transform_keys(&:to_s) }' ],
);
for my $client (sort keys %ruby)
{
	my ($library, $code) = @{ $ruby{$client} };
	$tried{$client} = 1;
	my $there = $ruby && IPC::Run::run([ $ruby, '-e', qq{require "$library"; require "pg"} ], '<', '/dev/null', '>', '/dev/null', '2>&1');
	if (!$there) { left_out($client, "no $library"); next; }
	is_read($client, run_program($ruby, write_program("$folder/types_$library.rb", qq{require "json"\nrequire "$library"\n}, $code,
				'puts JSON.generate(rows.map { |row| [row["was"].class.name, row["id"].class.name, row["id"].to_s] })')));
}

### PHP

my $php = program_in('php', '/usr/bin');
my %php = (
	'PDO' => [ 'pdo_pgsql', q{$rows = (new PDO(sprintf('pgsql:host=%s;port=%d;dbname=%s', getenv('PGHOST'), getenv('PGPORT'), getenv('PGDATABASE')), getenv('PGUSER')))->query(getenv('QUERY'))->fetchAll();} ],
	'pgsql of PHP' => [ 'pgsql', q{$rows = pg_fetch_all(pg_query(pg_connect(''), getenv('QUERY')));} ],
);
for my $client (sort keys %php)
{
	my ($extension, $code) = @{ $php{$client} };
	$tried{$client} = 1;
	if (!$php || !IPC::Run::run([ $php, '-r', qq{exit(extension_loaded("$extension") ? 0 : 1);} ])) { left_out($client, "no $extension"); next; }
	is_read($client, run_program($php, write_program("$folder/types_$extension.php", "<?php $code\n",
				'echo json_encode(array_map(fn ($row) => [get_debug_type($row["was"]), get_debug_type($row["id"]), (string) $row["id"]], $rows));')));
}

is(join(', ', sort grep { !$tried{$_} } keys %told), '', 'each client of the table is tried');
$server->stop('fast');
done_testing();
