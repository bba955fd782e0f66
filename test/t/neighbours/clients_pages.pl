# Pages of masked, prefixed and plain keys, as frameworks write them: no row is missing, none is
# there twice, and no page scans the whole table (doc/public-ids.md, Pages of masked ids). Ordered by
# `id` alone, Knex and Sequelize miss rows, as the page says.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use MigrationsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($server, $node) = javascript_server();
my $keys = $server->basedir . '/keys';
append_to_file($keys, '1 ' . '5b' x 32 . "\n");
chmod 0600, $keys or die "$keys: $!";
$server->append_conf('postgresql.conf', "snowflake.mask_key_file = '$keys'\nrandom_page_cost = 1\n");
$server->restart;
my $db = fresh_database('pages', schema => 'public');
my $rows = 2000;
$server->safe_psql($db, qq{CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), name text NOT NULL);
	INSERT INTO item (name) SELECT i FROM generate_series(1, $rows) i; ANALYZE item});

# The functions of each form: an id's text, and the id of a text.
my %form = (masked => [ q{snowflake_mask(%s, 'item')}, q{snowflake_unmask(%s, 'item')} ],
	prefixed => [ q{snowflake_to_text(%s, 'base58', 'item')}, q{snowflake_from_text(%s, 'base58', 'item')} ], plain => [ '%s', 'CAST(%s AS bigint)' ]);

my $walk = <<'JAVASCRIPT';
const text = id => process.env.TEXT.replace('%s', id)
const after = id => `coalesce(${process.env.ID.replace('%s', id)}, 0)`
async function walk(page) {
  const seen = []
  for (let rows = await page(null); rows.length && seen.length < 10000; rows = await page(seen.at(-1))) seen.push(...rows.map(row => String(row.id)))
  console.log(JSON.stringify(seen))
  process.exit(0)
}
JAVASCRIPT
my %program = (knex => <<'JAVASCRIPT', 'drizzle-orm' => <<'JAVASCRIPT', sequelize => <<'JAVASCRIPT');
import knex from 'knex'
const db = knex({ client: 'pg', connection: process.env.DATABASE_URL })
await walk(last => db('item').select(db.raw(`${text('item.id')} AS id`)).where('item.id', '>', db.raw(after('?'), [last]))
  .orderBy(process.env.ORDER ?? 'item.id').limit(50))
JAVASCRIPT
import { gt, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable } from 'drizzle-orm/pg-core'
import pg from 'pg'
const item = pgTable('item', { id: bigint('id', { mode: 'bigint' }).primaryKey() })
const db = drizzle(new pg.Pool({ connectionString: process.env.DATABASE_URL }))
const [before, behind] = after('%s').split('%s')
await walk(last => db.select({ id: sql.raw(text('item.id')).as('id') }).from(item)
  .where(gt(item.id, sql`${sql.raw(before)}${last}${sql.raw(behind)}`)).orderBy(item.id).limit(50))
JAVASCRIPT
import { DataTypes, Op, Sequelize, col, literal } from 'sequelize'
const db = new Sequelize(process.env.DATABASE_URL, { logging: false })
const Item = db.define('item', { id: { type: DataTypes.BIGINT, primaryKey: true } }, { freezeTableName: true, timestamps: false })
await walk(last => Item.findAll({ attributes: [[literal(text('item.id')), 'id']], where: { id: { [Op.gt]: literal(after(last === null ? 'NULL' : db.escape(last))) } },
  order: [process.env.ORDER ?? col('item.id')], limit: 50, raw: true }))
JAVASCRIPT

# A session counts its scans when it ends.
sub scans
{
	wait_until('the clients to end', sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE datname = '$db' AND backend_type = 'client backend'") eq '0' });
	return $server->safe_psql($db, "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'item'");
}

for my $framework (sort keys %program)
{
	my $site = javascript_project($framework, 'use.mjs' => "$program{$framework}" =~ s/^((?:import .*\n)+)/$1$walk/r);
	for my $name (sort keys %form)
	{
		local @ENV{qw(TEXT ID)} = @{ $form{$name} };
		my @all = split /\n/, $server->safe_psql($db, sprintf "SELECT $form{$name}[0] FROM item ORDER BY id", 'id');
		my $before = scans();
		my $seen = javascript_uses($site);
		is(scalar @{ $seen // [] }, $rows, "$framework, $name ids: so many rows");
		ok(join(' ', @$seen) eq join(' ', @all), '... each row once, in the order of the keys');
		is(scans(), $before, '... no page scans the whole table');
		next unless $framework ne 'drizzle-orm' && $name eq 'masked';
		local $ENV{ORDER} = 'id';
		my %different = map { $_ => 1 } @{ javascript_uses($site) };
		cmp_ok(scalar keys %different, '<', $rows, '... in the order of id, rows are missing');
		cmp_ok(scans(), '>', $before, '... and pages scan the whole table');
	}
}

$server->stop('fast');
done_testing();
