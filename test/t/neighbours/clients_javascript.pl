# The JavaScript of doc/clients.md: each block is run as it stands there, what it brings back are the ids in the table, and what the
# page warns of happens.
#
# The clients are npm's: test/clients fetches them into the folder that SNOWFLAKE_NODE_MODULES names.

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

# Runs the block, and prints what the expression then is, BigInt as strings.
sub javascript
{
	my ($name, $code, $result) = @_;
	my $print = "console.log(JSON.stringify($result, (key, value) => typeof value === 'bigint' ? `\${value}n` : value))\nprocess.exit(0)\n";
	return run_program($node, write_program("$folder/$name.mjs", $code, $print));
}

# Whether all are like that.
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

# The block of a client, unless it is not there.
sub block_of
{
	my ($heading, $module) = @_;
	my $version = version_of($module);
	if (!$version) { left_out($heading, "no $module"); return; }
	note("$module $version");
	fresh_items($server);
	return recipe($heading);
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
	# What it would otherwise download is for migrations; and it tells of new versions.
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
}

if (my ($code) = block_of('Knex', 'knex'))
{
	my $seen = javascript('knex', $code, 'rows.map(row => row.id)');
	are_the_tables($server, $seen, 'Knex', 'article');
	all_are($string, $seen, '... as strings');
}

if (my ($code) = block_of('Sequelize', 'sequelize'))
{
	my $seen = javascript('sequelize', $code, '[item.id, ...items.map(item => item.id)]');
	are_the_tables($server, $seen, 'Sequelize');
	all_are($string, $seen, '... as strings');
}

if (my ($code) = block_of('TypeORM', 'typeorm'))
{
	my $seen = javascript('typeorm', $code, 'items.map(item => item.id)');
	are_the_tables($server, $seen, 'TypeORM');
	all_are($string, $seen, '... as strings');
}

$server->stop('fast');
no_recipe_left();
