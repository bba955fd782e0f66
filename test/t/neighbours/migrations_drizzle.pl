# Drizzle's migrations, as drizzle-kit writes them, in databases in which
# snowflake_convert.adopt_keys is on: keys of 64 bits are adopted, keys of 32 bits keep their
# sequences. The test checks the catalogs, inserts of one row and of many rows, and which changes the
# tool finds afterwards (doc/migrations.md).
# Not in the default run: it needs foreign software, a framework and its migrations.

use strict;
use warnings;

use ClientsTest;
use JSON::PP;
use MigrationsTest;
use SnowflakeTest;
use Test::More;

my ($server, $node, $modules) = javascript_server();

my $schema = <<'JAVASCRIPT';
import { bigint, bigserial, integer, pgTable, primaryKey, serial, text } from 'drizzle-orm/pg-core'
const mode = { mode: 'bigint' }
export const author = pgTable('author', { id: serial('id').primaryKey(), name: text('name').notNull(), mentorId: integer('mentor_id').references(() => author.id) })
export const tag = pgTable('tag', { id: integer('id').primaryKey().generatedAlwaysAsIdentity(), name: text('name').notNull() })
export const book = pgTable('book', { id: serial('id').primaryKey(), title: text('title').notNull(), authorId: integer('author_id').notNull().references(() => author.id) })
export const bookTag = pgTable('book_tag', { bookId: integer('book_id').notNull().references(() => book.id), tagId: integer('tag_id').notNull().references(() => tag.id) },
  table => [primaryKey({ columns: [table.bookId, table.tagId] })])
JAVASCRIPT
my $wide = $schema =~ s/(?<!, )\bserial\(('\w+')\)/bigserial($1, mode)/gr =~ s/\binteger\(('\w+')\)/bigint($1, mode)/gr;
my $site = javascript_project('drizzle-kit', 'int.mjs' => $schema, 'bigint.mjs' => $wide, 'drizzle.config.js' => <<'JAVASCRIPT', 'use.mjs' => <<'JAVASCRIPT');
module.exports = { dialect: 'postgresql', schema: `./${process.env.KEY}.mjs`, out: './out', dbCredentials: { url: process.env.DATABASE_URL } }
JAVASCRIPT
import { eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
const { author, book, bookTag, tag } = await import(`./${process.env.KEY}.mjs`)
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const db = drizzle(pool)
const [a] = await db.insert(author).values({ name: 'a' }).returning()
const [b] = await db.insert(author).values({ name: 'b', mentorId: a.id }).returning()
const books = await db.insert(book).values(Array.from({ length: 100 }, (_, i) => ({ title: `${i}`, authorId: a.id }))).returning()
const [t] = await db.insert(tag).values({ name: 't' }).returning()
await db.insert(bookTag).values(books.map(row => ({ bookId: row.id, tagId: t.id })))
console.log(JSON.stringify([b.mentorId === a.id, (await db.select().from(author).where(eq(author.id, a.id))).length, (await db.select().from(bookTag)).length]))
await pool.end()
JAVASCRIPT
my $kit = sub { my @command = @_; return command_runs("Drizzle: $command[0]", $site, 'drizzle-kit', @command) };
my $pushes = sub { my (undef, $out) = command_says($site, 'drizzle-kit', 'push', '--verbose', '--strict'); return $out };
my $migrates = sub {
	my ($key, @database) = @_;
	$ENV{KEY} = $key;
	system('rm', '-rf', "$site/out");
	my $db = fresh_database(@database);
	$kit->('generate');
	$kit->('migrate');
	return $db;
};
my $db = $migrates->('bigint', 'drizzle');
is_deeply(javascript_uses($site), [ JSON::PP::true, 1, 100 ], '... tables work');
# Its own table has a key of 32 bits.
are_adopted($db, 'Drizzle', 3, 1);
nothing_changed($db, '... a second migrate does nothing', sub { $kit->('migrate') });
like($kit->('generate'), qr/No schema changes/, '... generate finds nothing');
like($pushes->(), qr/ALTER TABLE "author" ALTER COLUMN "id" DROP DEFAULT/, '... push would drop the defaults');

# Keys of 32 bits.
$db = $migrates->('int', 'drizzle_int');
is_deeply(javascript_uses($site), [ JSON::PP::true, 1, 100 ], 'Drizzle, keys of 32 bits: tables work');
none_is_adopted($db, '...', 4);
like($kit->('generate'), qr/No schema changes/, '... generate finds nothing');

$server->stop('fast');
no_recipe_left();
