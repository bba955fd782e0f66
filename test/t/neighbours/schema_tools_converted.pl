# What schema tools do to converted tables while their models still declare keys of 32 bits. Each
# tool makes two tables, which are converted; then it synchronises them twice more. The table of
# doc/migrations.md says what comes of that, and with which models nothing changes. If a tool has
# made a column narrow beside a key that takes ids, snowflake_convert_warnings() names it, by the
# query that ends the rehearsal of doc/converting.md.
#
# The tools are Debian's and npm's: test/clients makes a system that contains them.
# Not in the default run: it is about other software.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use MigrationsTest;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($server, $node, $modules) = javascript_server();
my $default = 'snowflake.snowflake_nextval()';
my @converted = ("author.id bigint $default", "book.id bigint $default", 'book.author_id bigint ');
# What narrows everything gives the keys an identity or a sequence again.
my @narrowed = ('author.id integer SOURCE', 'book.id integer SOURCE', 'book.author_id integer ');
my @only_referring = (@converted[ 0, 1 ], $narrowed[2]);
my $narrow_query = block_of('doc/converting.md', q{WHERE w.kind = 'narrow'});

my ($section) = slurp_file('doc/migrations.md') =~ /^### Converted tables\n(.*?)^## /ms or die "doc/migrations.md has no section on converted tables\n";

# What the page says that a tool does.
my %tried;
sub told
{
	my ($tool) = @_;
	$tried{$tool} = 1;
	my ($row) = grep { grep { $_ eq $tool } split /; /, (split / *\| */, $_)[1] } $section =~ /^(\|.*)$/mg;
	die "doc/migrations.md does not say what $tool does to converted tables\n" unless $row;
	return (split / *\| */, $row)[2];
}

sub without { my ($tool, $why) = @_; $tried{$tool} = 1; left_out($tool, $why); return; }

# The integer columns of the two tables.
sub columns { my ($db) = @_; return sort map { s/ (?:identity|nextval\(.*)$/ SOURCE/r } grep { /^(?:author|book)\./ } columns_of($db); }
sub narrow { my ($db) = @_; return $server->safe_psql($db, "SET search_path = public, snowflake; $narrow_query") =~ s/\|.*//r; }

sub left_to_convert
{
	my ($db) = @_;
	my $statements = $server->safe_psql($db, q{SET client_min_messages = warning; SELECT count(*) FROM snowflake.snowflake_convert_all('public', dry_run => true)});
	return $statements ? 'something' : '';
}

# Two rows and their conversion in a new database, whose tables the tool has made.
sub convert_tables
{
	my ($name, $synchronise) = @_;
	my $db = fresh_database($name, adopt_keys => 'off');
	my $out = $synchronise->(wide => 0);
	is(scalar(() = columns($db)), 3, "$name: the tool makes the tables") or diag($out);
	$server->safe_psql($db, "INSERT INTO author (id, name) VALUES (7, 'old'); INSERT INTO book (id, title, author_id) VALUES (8, 'old', 7);
		SET client_min_messages = warning; SELECT snowflake.snowflake_convert_all('public')");
	is_deeply([ columns($db) ], [ sort @converted ], '... which are converted');
	return $db;
}

my $names = 0;
# `synchronise` runs the tool with wide or narrow models, and returns its output. `told`: what the
# page says. `to`: the columns afterwards. `says`: the output. `then` checks more. `done`: the output
# with wide models; undef: there are none.
sub second_synchronisation
{
	my ($tool, $synchronise, %expected) = @_;
	my $db = convert_tables('converted_' . ++$names, $synchronise);
	like(told($tool), $expected{told}, "$tool: what the page says");
	my $out = join '', map { $synchronise->(wide => 0, again => $_) } 1, 2;
	is_deeply([ columns($db) ], [ sort @{ $expected{to} } ], "$tool, with keys of 32 bits: what it makes of converted tables") or diag($out);
	like($out, $expected{says}, '... what it says') if $expected{says};
	my $narrow = (grep { /^book.author_id integer/ } @{ $expected{to} }) && (grep { /\Q$default\E/ } @{ $expected{to} });
	is(narrow($db), $narrow ? 'column author_id of table public.book' : '', '... what snowflake_convert_warnings() names');
	is(left_to_convert($db), "@{ $expected{to} }" eq "@converted" ? '' : 'something', '... what a dry run would convert again');
	$expected{then}->($db) if $expected{then};
	return unless $expected{done};
	$db = convert_tables('converted_' . ++$names, $synchronise);
	$out = $synchronise->(wide => 1, again => 1);
	like($out, $expected{done}, '... with what the page says, the tool succeeds');
	is_deeply([ columns($db) ], [ sort @converted ], '... and changes nothing') or diag($out);
	is($server->safe_psql($db, q{SELECT title FROM book JOIN author ON author.id = author_id AND author.id = 7}), 'old', '... and rows are as before');
	return;
}

sub begins_at_1 { my ($db) = @_; is($server->safe_psql($db, q{INSERT INTO author (name) VALUES ('new') RETURNING id}), 1, '... ids begin at 1'); return; }
sub foreign_keys { my ($db) = @_; return $server->safe_psql($db, q{SELECT count(*) FROM pg_constraint WHERE contype = 'f'}); }
my $inserts = "INSERT INTO author (name) VALUES ('new'); INSERT INTO book (title, author_id) SELECT 'new', max(id) FROM author";

### TypeORM

{
	my $site = javascript_project('typeorm', 'synchronize.cjs' => <<'JAVASCRIPT');
const { DataSource, EntitySchema } = require('typeorm')
const id = process.env.COLUMN ? eval(`(${process.env.COLUMN})`) : { type: 'int', primary: true, generated: 'increment' }
const author = new EntitySchema({ name: 'author', columns: { id, name: { type: 'text' } } })
const book = new EntitySchema({ name: 'book', columns: { id, title: { type: 'text' } }, relations: { author: { type: 'many-to-one', target: 'author', joinColumn: { name: 'author_id' } } } })
new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities: [author, book], synchronize: true }).initialize()
  .then(source => source.destroy()).then(() => console.log('done'), error => console.log(error.message))
JAVASCRIPT
	my $synchronise = sub {
		my (%how) = @_;
		local $ENV{COLUMN} = $how{wide} ? "{ type: 'bigint', primary: true, default: () => '$default' }" : '';
		return (command_says($site, $node, 'synchronize.cjs'))[1];
	};
	second_synchronisation('TypeORM', $synchronise, told => qr/^\*\*drops the columns/, to => \@narrowed, says => qr/^done$/m, done => qr/^done$/m, then => sub {
		my ($db) = @_;
		is($server->safe_psql($db, 'SELECT author.id, book.id, author_id FROM author, book'), '1|1|', '... rows have new numbers, and references are lost');
	});
}

### Sequelize

{
	my $site = javascript_project('sequelize', 'alter.mjs' => <<'JAVASCRIPT');
import { DataTypes, Sequelize } from 'sequelize'
const db = new Sequelize(process.env.DATABASE_URL, { logging: false })
const id = { type: DataTypes[process.env.KEY], primaryKey: true, autoIncrement: true }
const options = { freezeTableName: true, timestamps: false }
const author = db.define('author', { id, name: DataTypes.TEXT }, options)
const book = db.define('book', { id, title: DataTypes.TEXT }, options)
book.belongsTo(author, { foreignKey: 'author_id' })
await db.sync({ alter: true }).then(() => console.log('done'), error => console.log(error.message))
await db.close()
JAVASCRIPT
	my $synchronise = sub { my (%how) = @_; local $ENV{KEY} = $how{wide} ? 'BIGINT' : 'INTEGER'; return (command_says($site, $node, 'alter.mjs'))[1]; };
	second_synchronisation('Sequelize', $synchronise, told => qr/^nothing/, to => \@converted, says => qr/^done$/m, done => qr/^done$/m);
}

### MikroORM

{
	my $site = javascript_project('@mikro-orm/postgresql', 'update.mjs' => <<'JAVASCRIPT');
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
const id = process.env.COLUMN ? eval(`(${process.env.COLUMN})`) : { type: 'integer', primary: true, autoincrement: true }
const Author = new EntitySchema({ name: 'Author', tableName: 'author', properties: { id, name: { type: 'text' } } })
const Book = new EntitySchema({ name: 'Book', tableName: 'book', properties: { id, title: { type: 'text' }, author: { kind: 'm:1', entity: () => Author, fieldName: 'author_id' } } })
const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Author, Book], schemaGenerator: { ignoreSchema: ['snowflake'], ignoreTriggers: true } })
await orm.schema.update().then(() => console.log('done'), error => console.log(error.message))
await orm.close()
JAVASCRIPT
	my $synchronise = sub {
		my (%how) = @_;
		local $ENV{COLUMN} = $how{wide} ? "{ type: 'bigint', primary: true, defaultRaw: '$default' }" : '';
		return (command_says($site, $node, 'update.mjs'))[1];
	};
	second_synchronisation('MikroORM', $synchronise, told => qr/^fails, and has dropped the foreign keys/, to => \@converted, done => qr/^done$/m, says => qr/type "serial" does not exist/,
		then => sub { my ($db) = @_; is(foreign_keys($db), 0, '... and has dropped the foreign key') });
}

### Drizzle

{
	my $site = javascript_project('drizzle-kit', 'drizzle.config.js' => <<'JAVASCRIPT', 'schema.mjs' => <<'JAVASCRIPT');
module.exports = { dialect: 'postgresql', schema: './schema.mjs', out: './out', dbCredentials: { url: process.env.DATABASE_URL } }
JAVASCRIPT
import { sql } from 'drizzle-orm'
import { bigint, integer, pgTable, serial, text } from 'drizzle-orm/pg-core'
const { WIDE, SERIAL } = process.env
const id = () => WIDE ? bigint('id', { mode: 'bigint' }).primaryKey().default(sql`snowflake.snowflake_nextval()`) : SERIAL ? serial('id').primaryKey() : integer('id').primaryKey().generatedByDefaultAsIdentity()
const reference = name => WIDE ? bigint(name, { mode: 'bigint' }) : integer(name)
export const author = pgTable('author', { id: id(), name: text('name') })
export const book = pgTable('book', { id: id(), title: text('title'), authorId: reference('author_id').references(() => author.id) })
JAVASCRIPT
	my $synchronise = sub {
		my (%how) = @_;
		local $ENV{WIDE} = $how{wide} || '';
		return (command_says($site, 'drizzle-kit', 'push', '--force'))[1];
	};
	second_synchronisation('Drizzle', $synchronise, told => qr/^narrows them/, to => \@narrowed, done => qr/No changes detected/, then => \&begins_at_1);
	local $ENV{SERIAL} = 1;
	second_synchronisation('Drizzle', $synchronise, told => qr/with `serial\(\)` it fails/, to => \@converted, says => qr/type "serial" does not exist/, done => qr/No changes detected/);
}

### Prisma

{
	my $site = prisma_project();
	local @ENV{qw(PRISMA_SCHEMA_ENGINE_BINARY PRISMA_QUERY_ENGINE_LIBRARY CHECKPOINT_DISABLE)} = ('/bin/true', '/bin/true', 1);
	my @options;
	my $synchronise = sub {
		my (%how) = @_;
		my ($type, $value) = $how{wide} ? ('BigInt', qq{\@default(dbgenerated("$default"))}) : ('Int', '@default(autoincrement())');
		write_program("$site/schema.prisma", <<"PRISMA");
datasource db {
  provider = "postgresql"
  url      = env("DATABASE_URL")
}
model author {
  id    $type \@id $value
  name  String?
  books book[]
}
model book {
  id        $type \@id $value
  title     String?
  author_id $type
  author    author \@relation(fields: [author_id], references: [id])
}
PRISMA
		return (command_says($site, $node, "$modules/prisma6/build/index.js", 'db', 'push', '--skip-generate', @options))[1];
	};
	second_synchronisation('Prisma', $synchronise, told => qr/^asks/, to => \@converted, done => qr/already in sync/, says => qr/Use the --accept-data-loss flag/);
	@options = ('--accept-data-loss');
	second_synchronisation('Prisma', $synchronise, told => qr/`--accept-data-loss` fails, and has dropped the foreign keys/, to => \@converted, done => qr/already in sync/,
		says => qr/type "serial" does not exist/, then => sub { my ($db) = @_; is(foreign_keys($db), 0, '... and has dropped the foreign key') });
}

### Strapi

if (-d "$modules/\@strapi/database")
{
	my $site = javascript_project('@strapi/database', 'sync.cjs' => <<'JAVASCRIPT');
const { Database } = require('@strapi/database')
const { PGHOST: host, PGPORT: port, PGUSER: user, PGDATABASE: database, CHANGED } = process.env
// Strapi writes the columns' names into these.
const id = () => ({ type: 'increments' })
const string = () => ({ type: 'string' })
const models = [
  { uid: 'author', singularName: 'author', tableName: 'author', attributes: { id: id(), name: string() } },
  { uid: 'book', singularName: 'book', tableName: 'book', attributes: { id: id(), title: string(),
    ...(CHANGED === '1' ? { pages: string() } : {}), author: { type: 'relation', relation: 'manyToOne', target: 'author', useJoinTable: false } } },
]
const db = new Database({ connection: { client: 'postgres', connection: { host, port, user, database } }, settings: { migrations: { dir: `${__dirname}/migrations` }, runMigrations: false } })
db.init({ models }).then(() => db.schema.sync()).then(status => console.log(status), error => console.log(error.message)).then(() => process.exit(0))
JAVASCRIPT
	my $synchronise = sub { my (%how) = @_; local $ENV{CHANGED} = $how{again} // ''; return (command_says($site, $node, 'sync.cjs'))[1]; };
	second_synchronisation('Strapi', $synchronise, told => qr/^narrows referring columns/, to => \@only_referring, says => qr/^CHANGED$/m, then => sub {
		my ($db) = @_;
		like(($server->psql($db, $inserts, on_error_stop => 1))[2], qr/integer out of range/, '... then a new row fails');
		$server->safe_psql($db, "SET client_min_messages = warning; SELECT snowflake.snowflake_convert_all('public'); $inserts");
		is_deeply([ columns($db) ], [ sort @converted ], '... a second conversion widens the column again');
		like($synchronise->(again => 1), qr/integer out of range/, '... and with new rows, Strapi cannot change its schema');
	});
}
else { without('Strapi', 'no @strapi/database'); }

### GORM

my ($go, $libraries) = (program_in('go'), '/usr/share/gocode');
if ($go && -d "$libraries/src/gorm.io/driver/postgres")
{
	my $folder = PostgreSQL::Test::Utils::tempdir();
	for my $bits (32, 64)
	{
		my $program = write_program("$folder/src/migrate$bits/main.go", <<'GO' =~ s/BITS/$bits/gr);
package main

import (
	"fmt"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

type Author struct {
	ID   intBITS `gorm:"primaryKey"`
	Name string
}

type Book struct {
	ID       intBITS `gorm:"primaryKey"`
	Title    string
	AuthorID intBITS
	Author   Author
}

func (Author) TableName() string { return "author" }
func (Book) TableName() string   { return "book" }

func main() {
	db, err := gorm.Open(postgres.Open("client_encoding=UTF8"), &gorm.Config{})
	if err == nil {
		err = db.AutoMigrate(&Author{}, &Book{})
	}
	fmt.Println("done", err)
}
GO
		my $out;
		local @ENV{qw(GO111MODULE GOPATH GOCACHE GOFLAGS)} = ('off', "$folder:$libraries", "$folder/cache", '');
		ok(IPC::Run::run([ $go, 'build', '-o', "$folder/gorm$bits", $program ], '<', '/dev/null', '>', \$out, '2>&1'), "go build, $bits bits") or diag($out);
	}
	my $synchronise = sub { my (%how) = @_; return (command_says($folder, "$folder/gorm" . ($how{wide} ? 64 : 32)))[1]; };
	second_synchronisation('GORM', $synchronise, told => qr/^narrows referring columns/, to => \@only_referring, says => qr/^done <nil>$/m, done => qr/^done <nil>$/m);
}
else { without('GORM', 'no Go with GORM'); }

### Doctrine

my $php = program_in('php', '/usr/bin');
if ($php && -d '/usr/share/php/Doctrine/ORM')
{
	my ($join) = told('Doctrine') =~ /`([^`]*JoinColumn[^`]*)`/;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $synchronise = sub {
		my (%how) = @_;
		my $referring = $how{wide} ? $join : '';
		my $key = $how{wide} ? "#[ORM\\Column(type: 'bigint', options: ['default' => '$default'])]" : q{#[ORM\Column(type: 'integer')] #[ORM\GeneratedValue]};
		return (command_says($folder, $php, write_program("$folder/update.php", <<'PHP' =~ s/KEY/$key/gr =~ s/REFERRING/$referring/r)))[1];
<?php
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
require '/usr/share/php/Doctrine/ORM/autoload.php';
use Doctrine\ORM\Mapping as ORM;
#[ORM\Entity] #[ORM\Table(name: 'author')]
class Author { #[ORM\Id] KEY public ?int $id = null; #[ORM\Column(type: 'text')] public ?string $name = null; }
#[ORM\Entity] #[ORM\Table(name: 'book')]
class Book
{
    #[ORM\Id] KEY public ?int $id = null;
    #[ORM\Column(type: 'text')] public ?string $title = null;
    #[ORM\ManyToOne(targetEntity: Author::class)] REFERRING public ?Author $author = null;
}
$connection = Doctrine\DBAL\DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => (int) getenv('PGPORT'), 'dbname' => getenv('PGDATABASE'), 'user' => getenv('PGUSER')]);
$config = new Doctrine\ORM\Configuration();
$config->setMetadataDriverImpl(new Doctrine\ORM\Mapping\Driver\AttributeDriver([]));
$config->enableNativeLazyObjects(true);
$em = new Doctrine\ORM\EntityManager($connection, $config);
(new Doctrine\ORM\Tools\SchemaTool($em))->updateSchema([$em->getClassMetadata('Author'), $em->getClassMetadata('Book')]);
echo "done\n";
PHP
	};
	second_synchronisation('Doctrine', $synchronise, told => qr/^narrows them/, to => \@narrowed, says => qr/^done$/m, done => qr/^done$/m, then => \&begins_at_1);
	$join = '';
	my $db = convert_tables('converted_' . ++$names, $synchronise);
	$synchronise->(wide => 1);
	is_deeply([ grep { /author_id/ } columns($db) ], ["book.author_id bigint $default"], '... without JoinColumn, the column has a default, too');
}
else { without('Doctrine', 'no Doctrine'); }

### Alembic

my ($python, %version) = python_of_debian(qw(alembic));
if ($version{alembic})
{
	my $folder = PostgreSQL::Test::Utils::tempdir();
	my $synchronise = sub {
		my (%how) = @_;
		local $ENV{KEY} = $how{wide} ? 'BigInteger' : 'Integer';
		local $ENV{CREATE} = $how{again} ? '' : 1;
		return (command_says($folder, $python, write_program("$folder/compare.py", <<'PYTHON')))[1];
import os
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, ForeignKey, MetaData, Table, Text

Key = getattr(sqlalchemy, os.environ["KEY"])
models = MetaData()
Table("author", models, Column("id", Key, primary_key=True), Column("name", Text))
Table("book", models, Column("id", Key, primary_key=True), Column("title", Text), Column("author_id", Key, ForeignKey("author.id")))
with sqlalchemy.create_engine("postgresql+psycopg2://").connect() as connection:
    if os.environ["CREATE"]:
        models.create_all(connection)
        connection.commit()
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    print("differences:", compare_metadata(context, models))
PYTHON
	};
	second_synchronisation('Alembic', $synchronise, told => qr/^writes/, to => \@converted, says => qr/modify_type.*modify_type.*modify_type/s, done => qr/^differences:/m,
		then => sub { unlike($synchronise->(wide => 1, again => 1), qr/modify/, '... which writes no change for models of 64 bits') });
}
else { without('Alembic', 'no alembic'); }

my ($tools) = $section =~ /^\| tool .*\n\|-.*\n((?:\|.*\n)+)/m;
is(join(', ', grep { !$tried{$_} } $tools =~ /^\| (.*?) +\|/mg), '', 'each tool of the table is tried');
$server->stop('fast');
done_testing();
