# Tools of npm that compare a database with models: what each would do to the objects of the
# extension, to a key's default and to the trigger snowflake_claim, with the extension beside the
# tables and in a schema of its own, without and with the settings that doc/migrations.md names.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use MigrationsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($server, $node, $modules) = javascript_server();
my $refused = qr/cannot drop .* because extension snowflake requires it/;
my $trigger = 'trigger item.item_claim';

### MikroORM

{
	my $site = javascript_project('@mikro-orm/postgresql', 'update.mjs' => <<'JAVASCRIPT');
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
const { DATABASE_URL: clientUrl, NEXTVAL, WITHOUT_DEFAULT, OPTIONS } = process.env
const id = { type: 'bigint', primary: true, ...(WITHOUT_DEFAULT ? {} : { defaultRaw: NEXTVAL }) }
const Item = new EntitySchema({ name: 'Item', tableName: 'item', properties: { id, name: { type: 'text' } } })
const orm = await MikroORM.init({ clientUrl, entities: [Item], ...eval(`({ ${OPTIONS ?? ''} })`) })
const sql = await orm.schema.getUpdateSchemaSQL()
await orm.schema.update().catch(error => console.log(error.message))
console.log(sql.trim() || 'nothing to do')
await orm.close()
JAVASCRIPT
	my $update = sub { my ($options) = @_; return sub { local $ENV{OPTIONS} = $options; return (command_says($site, $node, 'update.mjs'))[1] } };
	my ($beside) = grep { /^schemaGenerator: / } row_of('MikroORM');
	my ($apart) = slurp_file('doc/migrations.md') =~ /`(schemaGenerator: \{ ignoreSchema[^`]*)`/ or die 'no ignoreSchema';
	compares('MikroORM', 'public', $update->(''), says => qr/$refused.*drop trigger if exists "snowflake_guard" on "snowflake_registry"/s);
	compares('MikroORM', 'snowflake', $update->(''), says => qr/$refused.*drop schema if exists "snowflake"/s);
	compares('MikroORM, with what the page says', 'snowflake', $update->($apart), says => qr/^nothing to do$/);
	compares('MikroORM, with what the page says', 'public', $update->($beside), says => qr/^nothing to do$/);
	# The page warns of this.
	for my $settings ([ snowflake => $apart ], [ public => $beside ])
	{
		my ($schema, $options) = @$settings;
		(my $less = $options) =~ s/, ignoreTriggers: true// or die "no ignoreTriggers: $options";
		compares('MikroORM without ignoreTriggers', $schema, $update->($less), gone => $trigger);
	}
	local $ENV{WITHOUT_DEFAULT} = 1;
	compares('MikroORM without defaultRaw', 'snowflake', $update->($apart), gone => 'column item.id bigint snowflake.snowflake_nextval()');
}

### migra

{
	my $site = javascript_project('@pgkit/migra', 'package.json' => '{}');
	$server->safe_psql('postgres', 'CREATE DATABASE wanted');
	$server->safe_psql('wanted', 'CREATE TABLE item (id bigint PRIMARY KEY, name text NOT NULL)');
	my $copy = compared_database('wanted_too', 'public');
	my $migra = sub {
		my ($wanted, @options) = @_;
		return sub {
			my ($well, $out) = command_says($site, 'migra', $ENV{DATABASE_URL}, $ENV{DATABASE_URL} =~ s/\w+$/$wanted/r, '--unsafe', @options);
			my $statements = join '', $out =~ /^((?:drop|alter|create) .*\n)/mg;
			command_says($site, 'psql', '-X', '-c', $_) for split /\n/, $statements;
			return $statements;
		};
	};
	my ($option) = slurp_file('doc/migrations.md') =~ /migra\s+`(--[^`]*)`/ or die 'no option of migra';
	compares('migra', 'public', $migra->('wanted'), says => qr/drop extension if exists "snowflake";/, gone => qr/trigger snowflake_registry.snowflake_guard(?!_)/);
	compares('migra with the option', 'snowflake', $migra->('wanted', split / /, $option), gone => "column item.id bigint snowflake.snowflake_nextval(), $trigger");
	compares('migra, if both databases have the extension', 'public', $migra->($copy), says => qr/^$/);
}

### Drizzle

{
	my $site = javascript_project('drizzle-kit', 'drizzle.config.js' => <<'JAVASCRIPT', 'schema.mjs' => <<'JAVASCRIPT');
module.exports = { dialect: 'postgresql', schema: './schema.mjs', out: './out', dbCredentials: { url: process.env.DATABASE_URL } }
JAVASCRIPT
import { sql } from 'drizzle-orm'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
export const item = pgTable('item', { id: bigint('id', { mode: 'bigint' }).primaryKey().default(sql.raw(process.env.NEXTVAL)), name: text('name').notNull() })
JAVASCRIPT
	my $kit = sub { my @command = @_; return sub { return (command_says($site, 'drizzle-kit', @command))[1] } };
	compares('Drizzle: push', 'public', $kit->('push', '--force'), says => $refused);
	compares('Drizzle: push', 'snowflake', $kit->('push', '--force'), says => qr/No changes detected/);
	my $pulled = sub { system('rm', '-rf', "$site/out"); $kit->('pull')->(); return slurp_file("$site/out/schema.ts") };
	compares('Drizzle: pull', 'public', $pulled, says => qr/pgTable\("snowflake_registry"/);
	compares('Drizzle: pull', 'snowflake', sub { return $pulled->() =~ /snowflake_registry/ ? 'found' : 'not found' }, says => qr/^not found/);
	like(slurp_file("$site/out/schema.ts"), qr/mode: "number".*snowflake_nextval/, '... its mode for keys would damage ids');
}

### Prisma

{
	my $site = prisma_project();
	local @ENV{qw(PRISMA_SCHEMA_ENGINE_BINARY PRISMA_QUERY_ENGINE_LIBRARY CHECKPOINT_DISABLE)} = ('/bin/true', '/bin/true', 1);
	my $db = sub {
		my @command = @_;
		return sub {
			write_program("$site/schema.prisma", qq(datasource db {\n  provider = "postgresql"\n  url = env("DATABASE_URL")\n}\n)
				  . qq(model item {\n  id BigInt \@id \@default(dbgenerated("$ENV{NEXTVAL}"))\n  name String\n}\n));
			return (command_says($site, $node, "$modules/prisma6/build/index.js", 'db', @command))[1];
		};
	};
	compares('Prisma: db push', 'snowflake', $db->('push', '--skip-generate'), says => qr/already in sync/);
	compares('Prisma: db pull', 'snowflake', $db->('pull', '--print'), says => qr/model item \{\s+id\s+BigInt \@id \@default\(dbgenerated\("snowflake.snowflake_nextval\(\)"\)\)(?!.*model)/s);
	compares('Prisma: db push', 'public', $db->('push', '--skip-generate', '--accept-data-loss'), says => $refused);
	compares('Prisma: db pull', 'public', $db->('pull', '--print'), says => qr/model snowflake_registry/);
	compares('Prisma: db push --force-reset', 'public', $db->('push', '--skip-generate', '--force-reset'), says => qr/successfully reset/, gone => qr/extension snowflake,/);
	local $ENV{EXTERNAL} = join ' ', map { "public.snowflake_$_" } qw(last_tick layout origin registry segment segment_range watermark);
	compares('Prisma: db push with external tables', 'public', $db->('push', '--skip-generate'), says => qr/already in sync/);
}

### TypeORM and Sequelize

{
	my $site = javascript_project('typeorm', 'synchronize.cjs' => <<'JAVASCRIPT', 'alter.mjs' => <<'JAVASCRIPT');
const { DataSource, EntitySchema } = require('typeorm')
const id = { type: 'bigint', primary: true, default: () => process.env.NEXTVAL }
const item = new EntitySchema({ name: 'item', columns: { id, name: { type: 'text' } } })
const options = { synchronize: true, dropSchema: Boolean(process.env.DROP) }
new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities: [item], ...options }).initialize()
  .then(source => source.destroy()).then(() => console.log('done'), error => console.log(error.message))
JAVASCRIPT
import { DataTypes, Sequelize, literal } from 'sequelize'
const db = new Sequelize(process.env.DATABASE_URL, { logging: false })
const id = { type: DataTypes.BIGINT, primaryKey: true, defaultValue: literal(process.env.NEXTVAL) }
db.define('item', { id, name: { type: DataTypes.TEXT, allowNull: false } }, { freezeTableName: true, timestamps: false })
await (process.env.DROP ? db.getQueryInterface().dropAllTables() : db.sync({ alter: true })).then(() => console.log('done'), error => console.log(error.message))
await db.close()
JAVASCRIPT
	my $program = sub { my ($name) = @_; return sub { return (command_says($site, $node, $name))[1] } };
	for my $schema ('public', 'snowflake')
	{
		compares('TypeORM: synchronize', $schema, $program->('synchronize.cjs'), says => qr/^done/);
		compares('Sequelize: sync({ alter: true })', $schema, $program->('alter.mjs'), says => qr/^done/);
	}
	local $ENV{DROP} = 1;
	compares('TypeORM: dropSchema', 'public', $program->('synchronize.cjs'), says => $refused);
	compares('Sequelize: dropAllTables()', 'public', $program->('alter.mjs'), says => $refused);
	compares('TypeORM: dropSchema', 'snowflake', $program->('synchronize.cjs'), says => qr/^done/, gone => qr/^constraint item item_pkey .*, \Q$trigger\E$/);
	compares('Sequelize: dropAllTables()', 'snowflake', $program->('alter.mjs'), says => qr/^done/, gone => qr/\Q$trigger\E$/);
}

$server->stop('fast');
done_testing();
