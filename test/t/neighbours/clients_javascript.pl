# Runs each block of JavaScript in doc/clients.md as it is on the page. The ids that it returns are
# the ids in the table, and what the page warns of happens. Then it does the same with ids of the
# type snowflake_id, as in the page's table.
#
# The clients are npm's: test/clients downloads them into the folder that SNOWFLAKE_NODE_MODULES
# names.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use JSON::PP;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $node = program_in('node');
my $modules = $ENV{SNOWFLAKE_NODE_MODULES};
left_out_unless($node && $modules && -d "$modules/pg", "the folder of npm's packages", 'test/clients fetches them');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
symlink $modules, "$folder/node_modules" or die "symlink: $!";

sub version_of
{
	my ($module) = @_;
	return undef unless -e "$modules/$module/package.json";
	return decode_json(slurp_file("$modules/$module/package.json"))->{version};
}

# Runs the block, and prints the value of the expression, BigInt as strings.
sub javascript
{
	my ($name, $code, $result) = @_;
	my $print = "console.log(JSON.stringify($result, (key, value) => typeof value === 'bigint' ? `\${value}n` : value))\nprocess.exit(0)\n";
	return run_program($node, write_program("$folder/$name.mjs", $code, $print));
}

# Whether all values match.
sub all_are
{
	my ($pattern, $ids, $what) = @_;
	is(scalar(grep { !/$pattern/ } @{ $ids // [''] }), 0, $what);
	return;
}
my $failing = q{DO $$BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END$$};
my $string = qr/^\d+$/;
my $bigint = qr/^\d+n$/;
sub digits { my ($ids) = @_; return [ map { s/n$//r } @{ $ids // [] } ]; }

# The block of a client, unless the client is missing.
sub block_of
{
	my ($heading, $module) = @_;
	my $version = version_of($module);
	if (!$version) { left_out($heading, "no $module"); return; }
	note("$module $version");
	fresh_items($server);
	return recipe($heading);
}

# Code that the programs share that handle ids of the type. They print what is_as_told() compares
# with the page.
write_program("$folder/forms.mjs", <<'JAVASCRIPT');
export const known = process.env.CLIENTS_KNOWN_ID

function sqlstate(error) {
  for (let e = error; e; e = e.cause ?? e.parent ?? e.driverError ?? e.meta?.driverAdapterError) {
    for (const code of [e.originalCode, e.code]) if (/^[0-9A-Z]{5}$/.test(code) && !/^P[1-9]/.test(code)) return code
  }
}

const kindOf = id => typeof id === 'bigint' ? 'BigInt' : typeof id

export async function report({ one, many, given, find, kinds = [String, BigInt] }) {
  const seen = { ids: [], finds: {} }
  const reads = new Set()
  for (const [name, insert] of Object.entries({ one, many, given })) {
    try {
      const ids = await insert()
      seen[name] = 'yes'
      seen.ids.push(...ids.map(String))
      if (name !== 'given') ids.forEach(id => reads.add(kindOf(id)))
    } catch (error) {
      seen[name] = sqlstate(error)
      if (!seen[name]) throw error
    }
  }
  for (const kind of kinds) {
    const name = kind === String ? 'string' : 'BigInt'
    try {
      const id = await find(kind(known))
      seen.finds[name] = String(id) === known ? 'yes' : 'no'
      reads.add(kindOf(id))
    } catch (error) {
      seen.finds[name] = sqlstate(error) ?? String(error)
    }
  }
  console.log(JSON.stringify({ ...seen, reads: [...reads] }))
  process.exit(0)
}
JAVASCRIPT

# Lets a client handle ids in each form; `more` is called with the form afterwards.
sub in_each_form
{
	my ($client, $module, $code, $more) = @_;
	my $import = qq{import { known, report } from './forms.mjs'\n};
	each_form($server, $client eq 'Knex' ? 'article' : 'item', sub {
		my ($form) = @_;
		my $program = ref $code ? $code->($form) : $code;
		is_as_told($server, $client, $form, run_program($node, write_program("$folder/form_$module.mjs", $import, $program)), $client eq 'Knex' ? 'article' : 'item');
		$more->($form, $import) if $more;
	});
	return;
}

### Drivers

{
	my ($code, $as_bigint) = block_of('node-postgres', 'pg');
	my $seen = javascript('pg', $code, '[id, ids]');
	are_the_tables($server, [ $seen->[0] ], 'node-postgres');
	are_drawn($server, $seen->[1], 100, 'node-postgres');
	all_are($string, [ $seen->[0], @{ $seen->[1] } ], '... as strings');
	is(javascript('pg_sqlstate', $code, "await client.query(`$failing`).catch(e => e.code)"),
		'SF001', '... and the SQLSTATE of an error');
	isnt(javascript('pg_json', $code, q{String((await client.query("SELECT json_build_object('id', 249788568795254815) AS j")).rows[0].j.id)}),
		'249788568795254815', '... and a json column is damaged');

	fresh_items($server);
	my ($import, $rest) = $code =~ /\A(import [^\n]*\n)(.*)/s;
	my ($parser, $to_json) = split /^(?=BigInt)/m, $as_bigint;
	my $thrown = javascript('pg_bigint', $import . $parser . $rest, '(() => { try { JSON.stringify({ id }) } catch (e) { return [typeof id, e.name] } })()');
	is_deeply($thrown, [ 'bigint', 'TypeError' ], '... as BigInt, at which JSON.stringify throws');
	fresh_items($server);
	$seen = javascript('pg_bigint_json', $import . $as_bigint . $rest, 'JSON.parse(JSON.stringify([id]))');
	are_the_tables($server, $seen, '... and with toJSON() does not');
	all_are($string, $seen, '... but writes strings');

	my $forms = <<'JAVASCRIPT';
const idOf = async (statement, values) => (await client.query(statement, values)).rows.map(row => row.id)
await report({
  one: () => [id],
  many: () => idOf('INSERT INTO item (name) VALUES ($1), ($2) RETURNING id', ['second', 'third']),
  given: () => idOf('INSERT INTO item VALUES ($1, $2) RETURNING id', [ids[0], 'given']),
  find: async id => (await idOf("SELECT id FROM item WHERE id = $1 AND name = 'known'", [id]))[0],
})
JAVASCRIPT
	in_each_form('node-postgres', 'pg', $code . $forms, sub {
		my ($form) = @_;
		return unless $form eq 'column';
		my $query = 'SELECT id, array_agg(id) AS array, array_agg(id)::bigint[] AS cast, to_json(id) AS json FROM item GROUP BY id';
		my $types = q{[typeof row.id, typeof row.array, typeof row.cast[0], typeof row.json]};
		my $connect = "import pg from 'pg'\nconst client = new pg.Client()\nawait client.connect()\n";
		my $fetch = qq{const { rows: [row] } = await client.query(`$query`)\n};
		is(join(' ', @{ javascript('pg_typed', $connect . $fetch, $types) }), 'string string string string', '... arrays are text, unless cast');
		my $oid = qq{const { rows: [{ oid }] } = await client.query(`SELECT 'snowflake_id'::regtype::oid::int AS oid`)\n};
		is(join(' ', @{ javascript('pg_remedy', $connect . $oid . join("\n", remedy_of('node-postgres'), $fetch), $types) }), 'bigint string string string',
			'... a BigInt, by what the page says');
		is(join(' ', @{ javascript('pg_int8', $connect . $parser . $fetch, $types) }), 'string string string string', '... which a parser of bigint does not make');
	});
}

if (my ($code) = block_of('postgres.js', 'postgres'))
{
	my $seen = javascript('postgres', $code, '[id, ids]');
	are_the_tables($server, [ $seen->[0] ], 'postgres.js');
	are_drawn($server, $seen->[1], 100, 'postgres.js');
	all_are($string, [ $seen->[0], @{ $seen->[1] } ], '... as strings');
	is(javascript('postgres_sqlstate', $code, "await sql.unsafe(`$failing`).catch(e => e.code)"), 'SF001', '... and the SQLSTATE of an error');
	fresh_items($server);
	my $as_bigint = $code =~ s/postgres\(\)/postgres({ types: { bigint: postgres.BigInt } })/r;
	isnt($as_bigint, $code, 'as BigInt');
	$seen = javascript('postgres_bigint', $as_bigint, '[id]');
	are_the_tables($server, digits($seen), 'postgres.js with BigInt');
	all_are($bigint, $seen, '... which they are');

	my $forms = <<'JAVASCRIPT';
await report({
  one: () => [id],
  many: async () => (await sql`INSERT INTO item ${sql([{ name: 'second' }, { name: 'third' }])} RETURNING id`).map(row => row.id),
  given: async () => (await sql`INSERT INTO item ${sql({ id: ids[0], name: 'given' })} RETURNING id`).map(row => row.id),
  find: async id => (await sql`SELECT id FROM item WHERE id = ${id} AND name = 'known'`)[0]?.id,
})
JAVASCRIPT
	in_each_form('postgres.js', 'postgres', $code . $forms, sub {
		my ($form, $import) = @_;
		return unless $form eq 'column';
		my $oid = qq{const [{ oid }] = await postgres()`SELECT 'snowflake_id'::regtype::oid::int AS oid`\n};
		my ($types) = remedy_of('postgres.js');
		my $remedy = $code =~ s/^const sql = postgres\(\)/${oid}const sql = postgres({ $types })/mr;
		isnt($remedy, $code, '... told otherwise');
		my $fetch = q{const [row] = await sql`SELECT id FROM item WHERE id = ${BigInt(process.env.CLIENTS_KNOWN_ID)}`} . "\n";
		is_deeply(javascript('postgres_remedy', $remedy . $fetch, '[typeof id, String(row.id), typeof row.id]'), [ 'bigint', $ENV{CLIENTS_KNOWN_ID}, 'bigint' ],
			'... a BigInt, by what the page says');
	});
}

### Mappers

if (my ($code) = block_of('Drizzle', 'drizzle-orm'))
{
	my $seen;
	my $inserts = sent($server, 'INSERT', sub { $seen = javascript('drizzle', $code, 'rows.map(row => row.id)') });
	are_the_tables($server, digits($seen), 'Drizzle');
	all_are($bigint, $seen, '... as BigInt');
	is($inserts, 1, '... by one INSERT');
	fresh_items($server);
	$seen = javascript('drizzle_number', $code =~ s/mode: 'bigint'/mode: 'number'/r, 'rows.map(row => BigInt(row.id))');
	isnt(join(' ', sort @{ digits($seen) }), join(' ', table_ids($server)), q{... and mode 'number' damages them});

	in_each_form('Drizzle', 'drizzle', ($code =~ s/^const rows = .*\n//mr) . <<'JAVASCRIPT');
import { eq } from 'drizzle-orm'
const insert = async values => (await db.insert(item).values(values).returning()).map(row => row.id)
await report({
  one: () => insert([{ name: 'first' }]),
  many: () => insert([{ name: 'second' }, { name: 'third' }]),
  given: async () => insert([{ id: BigInt((await db.execute(sql`SELECT snowflake_nextval() AS id`)).rows[0].id), name: 'given' }]),
  find: async id => (await db.select().from(item).where(eq(item.id, id)))[0]?.id,
  kinds: [BigInt],
})
JAVASCRIPT
}

if (my ($schema, $code) = block_of('Prisma', '@prisma/adapter-pg'))
{
	write_program("$folder/schema.prisma", <<'PRISMA', $schema);
generator client {
  provider = "prisma-client-js"
  output   = "./generated"
}
datasource db {
  provider = "postgresql"
}
PRISMA
	my $out;
	# Its other downloads are for migrations, and it reports new versions.
	local $ENV{PRISMA_SCHEMA_ENGINE_BINARY} = '/bin/true';
	local $ENV{CHECKPOINT_DISABLE} = 1;
	ok(IPC::Run::run([ $node, "$modules/prisma/build/index.js", 'generate', '--schema', "$folder/schema.prisma" ], '<', '/dev/null', '>', \$out, '2>&1'),
		'prisma generate') or diag($out);
	my $begin = <<'JAVASCRIPT';
import { PrismaPg } from '@prisma/adapter-pg'
import { PrismaClient } from './generated/index.js'
const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })
JAVASCRIPT
	my $seen = javascript('prisma', $begin . $code, '[item.id, ...items.map(item => item.id)]');
	are_the_tables($server, digits($seen), 'Prisma');
	all_are($bigint, $seen, '... as BigInt');

	# Prisma names the schema in its statements.
	my $forms = $begin . <<'JAVASCRIPT';
await report({
  one: async () => [(await prisma.item.create({ data: { name: 'first' } })).id],
  many: async () => (await prisma.item.createManyAndReturn({ data: [{ name: 'second' }, { name: 'third' }] })).map(item => item.id),
  given: async () => {
    const [{ id }] = await prisma.$queryRaw`SELECT snowflake_nextval() AS id`
    return [(await prisma.item.create({ data: { id, name: 'given' } })).id]
  },
  find: async id => (await prisma.item.findUnique({ where: { id } }))?.id,
  kinds: [BigInt],
})
JAVASCRIPT
	in_each_form('Prisma', 'prisma', sub {
		my ($form) = @_;
		return $form =~ /^(?:view|cast)$/ ? $forms =~ s/DATABASE_URL \}/DATABASE_URL }, { schema: 'api' }/r : $forms;
	});
}

if (my ($code) = block_of('Knex', 'knex'))
{
	my $seen = javascript('knex', $code, 'rows.map(row => row.id)');
	are_the_tables($server, $seen, 'Knex', 'article');
	all_are($string, $seen, '... as strings');

	in_each_form('Knex', 'knex', ($code =~ s/^await db\.schema.*?^\}\)\n//msr =~ s/^const rows = .*\n//mr) . <<'JAVASCRIPT');
const insert = async rows => (await db('article').insert(rows).returning('id')).map(row => row.id)
await report({
  one: () => insert({ name: 'first' }),
  many: () => insert([{ name: 'second' }, { name: 'third' }]),
  given: async () => insert({ id: (await db.raw('SELECT snowflake_nextval() AS id')).rows[0].id, name: 'given' }),
  find: async id => (await db('article').where({ id, name: 'known' }).first('id'))?.id,
})
JAVASCRIPT
}

if (my ($code) = block_of('Sequelize', 'sequelize'))
{
	my $seen = javascript('sequelize', $code, '[item.id, ...items.map(item => item.id)]');
	are_the_tables($server, $seen, 'Sequelize');
	all_are($string, $seen, '... as strings');

	in_each_form('Sequelize', 'sequelize', ($code =~ s/^const items? = .*\n//mgr) . <<'JAVASCRIPT');
await report({
  one: async () => [(await Item.create({ name: 'first' })).id],
  many: async () => (await Item.bulkCreate([{ name: 'second' }, { name: 'third' }])).map(item => item.id),
  given: async () => {
    const [[{ id }]] = await sequelize.query('SELECT snowflake_nextval() AS id')
    return [(await Item.create({ id, name: 'given' })).id]
  },
  find: async id => (await Item.findByPk(id))?.id,
})
JAVASCRIPT
}

if (my ($code) = block_of('TypeORM', 'typeorm'))
{
	my $seen = javascript('typeorm', $code, 'items.map(item => item.id)');
	are_the_tables($server, $seen, 'TypeORM');
	all_are($string, $seen, '... as strings');

	in_each_form('TypeORM', 'typeorm', ($code =~ s/^const items = .*\n//mr) . <<'JAVASCRIPT');
const repository = source.getRepository(Item)
const save = async rows => (await repository.save(rows)).map(item => item.id)
await report({
  one: () => save([{ name: 'first' }]),
  many: () => save([{ name: 'second' }, { name: 'third' }]),
  given: async () => save([{ id: (await source.query('SELECT snowflake_nextval() AS id'))[0].id, name: 'given' }]),
  find: async id => (await repository.findOneBy({ id }))?.id,
})
JAVASCRIPT
}

$server->stop('fast');
no_recipe_left();
