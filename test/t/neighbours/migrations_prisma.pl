# Prisma's migrations, as Prisma writes them, in databases in which snowflake_convert.adopt_keys is
# on. The test checks the catalogs, inserts of one row and of many rows, and which changes the tool
# finds afterwards (doc/migrations.md).
# Not in the default run: it needs foreign software, a framework and its migrations.

use strict;
use warnings;

use ClientsTest;
use JSON::PP;
use MigrationsTest;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($server, $node, $modules) = javascript_server();

# Of Prisma 7's migrations npm has only the command, which downloads the program that carries them
# out. Prisma 6.19 has this program in its package, too, and uses it if the configuration says so.
my $models = <<'PRISMA';
model Author {
  id       BigInt   @id @default(autoincrement())
  name     String
  mentorId BigInt?
  mentor   Author?  @relation("mentor", fields: [mentorId], references: [id])
  pupils   Author[] @relation("mentor")
  books    Book[]
}
model Book {
  id       BigInt @id @default(autoincrement())
  title    String
  authorId BigInt
  author   Author @relation(fields: [authorId], references: [id])
  tags     Tag[]
}
model Tag {
  id    BigInt @id @default(autoincrement())
  name  String
  books Book[]
}
PRISMA
my $generator = qq(generator client {\n  provider = "prisma-client-js"\n  output = "./generated"\n}\n);
my $source = qq(datasource db {\n  provider = "postgresql"\n);
my $site = javascript_project('prisma6', 'schema.prisma' => "$generator$source}\n$models", 'migrated.prisma' => qq($source  url = env("DATABASE_URL")\n}\n$models),
	'prisma.config.mjs' => <<'JAVASCRIPT', 'migrations/migration_lock.toml' => qq(provider = "postgresql"\n), 'use.mjs' => <<'JAVASCRIPT');
import { PrismaPg } from '@prisma/adapter-pg'
export default {
  experimental: { adapter: true }, engine: 'js', schema: 'migrated.prisma', migrations: { path: 'migrations' },
  adapter: async () => new PrismaPg({ host: process.env.PGHOST, port: Number(process.env.PGPORT), user: process.env.PGUSER, database: process.env.PGDATABASE }),
}
JAVASCRIPT
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/index.js'
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })
const a = await prisma.author.create({ data: { name: 'a' } })
const b = await prisma.author.create({ data: { name: 'b', mentorId: a.id } })
const { count } = await prisma.book.createMany({ data: Array.from({ length: 100 }, (_, i) => ({ title: `${i}`, authorId: a.id })) })
await prisma.tag.create({ data: { name: 't', books: { connect: (await prisma.book.findMany()).map(({ id }) => ({ id })) } } })
console.log(JSON.stringify([typeof a.id, b.mentorId === a.id, count, await prisma.book.count({ where: { authorId: a.id, tags: { some: { name: 't' } } } })]))
process.exit(0)
JAVASCRIPT
# Their other downloads are not used, and they report new versions.
local @ENV{qw(PRISMA_SCHEMA_ENGINE_BINARY PRISMA_QUERY_ENGINE_LIBRARY CHECKPOINT_DISABLE)} = ('/bin/true', '/bin/true', 1);
my $prisma = sub { my @command = @_; return command_runs("Prisma: @command[0, 1]", $site, $node, "$modules/prisma6/build/index.js", @command) };
my $db = fresh_database('prisma');
my @initial = ('diff', '--from-empty', '--to-schema-datamodel', 'migrated.prisma', '--script', '--output', 'initial.sql');
$prisma->('migrate', @initial);
write_program("$site/migrations/1_initial/migration.sql", slurp_file("$site/initial.sql"));
$prisma->('migrate', 'deploy');
# Prisma 7 would read the other configuration in the project's folder.
command_runs('Prisma 7: generate', PostgreSQL::Test::Utils::tempdir(), $node, "$modules/prisma/build/index.js", 'generate', '--schema', "$site/schema.prisma");
is_deeply(javascript_uses($site), [ 'bigint', JSON::PP::true, 100, 100 ], '... tables work');
are_adopted($db, 'Prisma', 3, 0);
nothing_changed($db, '... a second deploy does nothing', sub { like($prisma->('migrate', 'deploy'), qr/No pending migrations/) });
like($prisma->('migrate', 'status'), qr/up to date/, '... status finds nothing');

# The extension in a separate migration.
my ($migration) = map { $_->{text} } grep { $_->{heading} eq 'Migrations in Prisma' } blocks_of('doc/migrations.md');
$db = fresh_database('prisma_extension', schema => undef);
write_program("$site/migrations/0_snowflake/migration.sql", $migration);
$prisma->('migrate', 'deploy');
is_deeply(javascript_uses($site), [ 'bigint', JSON::PP::true, 100, 100 ], '... with the extension by a migration, tables work');
are_adopted($db, 'Prisma, extension by a migration', 3, 0);

$server->stop('fast');
no_recipe_left();
