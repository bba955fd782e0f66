# The migrations of Knex, Sequelize and TypeORM, as these tools write them, in databases in which
# snowflake_convert.adopt_keys is on: keys of 64 bits are adopted, keys of 32 bits keep their
# sequences. The test checks the catalogs, inserts of one row and of many rows, and which changes the
# tools find afterwards (doc/migrations.md).
# Not in the default run: it needs foreign software, a framework and its migrations.

use strict;
use warnings;

use ClientsTest;
use JSON::PP;
use MigrationsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($server, $node, $modules) = javascript_server();

### Knex

{
	my $site = javascript_project('knex', 'knexfile.js' => <<'JAVASCRIPT', 'migrations/1_initial.js' => <<'JAVASCRIPT', 'use.mjs' => <<'JAVASCRIPT');
module.exports = { client: 'pg', connection: process.env.DATABASE_URL }
JAVASCRIPT
const [key, reference] = process.env.KEY === 'int' ? ['increments', 'integer'] : ['bigIncrements', 'bigInteger']
exports.up = async knex => {
  await knex.schema.createTable('author', t => { t[key](); t.string('name'); t[reference]('mentor_id').references('author.id') })
  await knex.schema.createTable('tag', t => { t[key](); t.string('name') })
  await knex.schema.createTable('book', t => { t[key](); t.string('title'); t[reference]('author_id').notNullable(); t.foreign('author_id').references('author.id') })
  await knex.schema.createTable('book_tag', t => { t[reference]('book_id').references('book.id'); t[reference]('tag_id').references('tag.id'); t.primary(['book_id', 'tag_id']) })
}
exports.down = async knex => { for (const table of ['book_tag', 'book', 'tag', 'author']) await knex.schema.dropTable(table) }
JAVASCRIPT
import knex from 'knex'
const db = knex({ client: 'pg', connection: process.env.DATABASE_URL })
const [a] = await db('author').insert({ name: 'a' }).returning('id')
const [b] = await db('author').insert({ name: 'b', mentor_id: a.id }).returning('*')
const books = await db.batchInsert('book', Array.from({ length: 100 }, (_, i) => ({ title: `${i}`, author_id: a.id })), 30).returning('id')
const [tag] = await db('tag').insert({ name: 't' }).returning('id')
await db('book_tag').insert(books.map(book => ({ book_id: book.id, tag_id: tag.id })))
console.log(JSON.stringify([typeof a.id, b.mentor_id === a.id, (await db('author').where({ id: a.id })).length, (await db('book_tag').where({ tag_id: tag.id })).length]))
await db.destroy()
JAVASCRIPT
	local $ENV{KEY} = 'int';
	my $db = fresh_database('knex_int');
	command_runs('Knex, keys of 32 bits: migrate:latest', $site, 'knex', 'migrate:latest');
	is_deeply(javascript_uses($site), [ 'number', JSON::PP::true, 1, 100 ], '... tables work');
	none_is_adopted($db, '...', 5);
	local $ENV{KEY} = 'bigint';
	$db = fresh_database('knex');
	command_runs('Knex: migrate:latest', $site, 'knex', 'migrate:latest');
	is_deeply(javascript_uses($site), [ 'string', JSON::PP::true, 1, 100 ], '... tables work');
	are_adopted($db, 'Knex', 3, 2);
	nothing_changed($db, '... a second migrate:latest does nothing', sub { like(command_runs('... which runs', $site, 'knex', 'migrate:latest'), qr/Already up to date/) });
	command_runs('... migrate:rollback', $site, 'knex', 'migrate:rollback');
}

### Sequelize

{
	my $site = javascript_project('sequelize', '.sequelizerc' => <<'JAVASCRIPT', 'config.js' => <<'JAVASCRIPT', 'migrations/1-initial.js' => <<'JAVASCRIPT', 'use.mjs' => <<'JAVASCRIPT');
module.exports = { config: 'config.js', 'migrations-path': 'migrations' }
JAVASCRIPT
module.exports = { development: { url: process.env.DATABASE_URL, dialect: 'postgres' } }
JAVASCRIPT
module.exports = {
  async up(query, Sequelize) {
    const type = Sequelize[process.env.KEY]
    const id = { allowNull: false, autoIncrement: true, primaryKey: true, type }
    await query.createTable('author', { id, name: Sequelize.STRING, mentorId: { type, references: { model: 'author', key: 'id' } } })
    await query.createTable('tag', { id, name: Sequelize.STRING })
    await query.createTable('book', { id, title: Sequelize.STRING, authorId: { type, allowNull: false } })
    await query.addConstraint('book', { fields: ['authorId'], type: 'foreign key', references: { table: 'author', field: 'id' } })
    await query.createTable('book_tag', {
      bookId: { type, primaryKey: true, references: { model: 'book', key: 'id' } },
      tagId: { type, primaryKey: true, references: { model: 'tag', key: 'id' } } })
  },
  async down(query) { for (const table of ['book_tag', 'book', 'tag', 'author']) await query.dropTable(table) },
}
JAVASCRIPT
import { DataTypes, Sequelize } from 'sequelize'
const db = new Sequelize(process.env.DATABASE_URL, { logging: false })
const id = { allowNull: false, autoIncrement: true, primaryKey: true, type: DataTypes[process.env.KEY] }
const of = tableName => ({ tableName, timestamps: false })
const Author = db.define('Author', { id, name: DataTypes.STRING }, of('author'))
const Book = db.define('Book', { id, title: DataTypes.STRING }, of('book'))
const Tag = db.define('Tag', { id, name: DataTypes.STRING }, of('tag'))
Author.belongsTo(Author, { as: 'mentor', foreignKey: 'mentorId' })
Book.belongsTo(Author, { foreignKey: 'authorId' })
const join = { through: 'book_tag', timestamps: false }
Book.belongsToMany(Tag, { ...join, foreignKey: 'bookId', otherKey: 'tagId' })
Tag.belongsToMany(Book, { ...join, foreignKey: 'tagId', otherKey: 'bookId' })
const a = await Author.create({ name: 'a' })
const b = await Author.create({ name: 'b', mentorId: a.id })
const books = await Book.bulkCreate(Array.from({ length: 100 }, (_, i) => ({ title: `${i}`, authorId: a.id })))
const tag = await Tag.create({ name: 't' })
await tag.addBooks(books)
if (process.env.ALTER) await db.sync({ alter: true })
const found = await Book.findAll({ where: { authorId: a.id }, include: Tag })
console.log(JSON.stringify([typeof a.id, b.mentorId === a.id, (await Author.findByPk(a.id)).name, found.filter(book => book.Tags[0].id === tag.id).length]))
await db.close()
JAVASCRIPT
	local $ENV{KEY} = 'INTEGER';
	my $db = fresh_database('sequelize_int');
	command_runs('Sequelize, keys of 32 bits: db:migrate', $site, 'sequelize-cli', 'db:migrate');
	is_deeply(javascript_uses($site), [ 'number', JSON::PP::true, 'a', 100 ], '... tables work');
	none_is_adopted($db, '...', 3);
	local $ENV{KEY} = 'BIGINT';
	$db = fresh_database('sequelize');
	command_runs('Sequelize: db:migrate', $site, 'sequelize-cli', 'db:migrate');
	is_deeply(javascript_uses($site), [ 'string', JSON::PP::true, 'a', 100 ], '... tables work');
	are_adopted($db, 'Sequelize', 3, 0);
	nothing_changed($db, '... a second db:migrate does nothing', sub { command_runs('... which runs', $site, 'sequelize-cli', 'db:migrate') });
	nothing_changed($db, '... sync({ alter: true }) changes no key', sub { local $ENV{ALTER} = 1; javascript_uses($site) });
	command_runs('... db:migrate:undo', $site, 'sequelize-cli', 'db:migrate:undo');
}

### TypeORM

{
	my $site = javascript_project('typeorm', 'source.js' => <<'JAVASCRIPT', 'use.mjs' => <<'JAVASCRIPT');
const { DataSource, EntitySchema } = require('typeorm')
const id = { type: process.env.KEY, primary: true, generated: 'increment' }
const entities = [
  new EntitySchema({ name: 'author', columns: { id, name: { type: 'text' } },
    relations: { mentor: { type: 'many-to-one', target: 'author', joinColumn: true, nullable: true } } }),
  new EntitySchema({ name: 'tag', columns: { id, name: { type: 'text' } } }),
  new EntitySchema({ name: 'book', columns: { id, title: { type: 'text' } }, relations: {
    author: { type: 'many-to-one', target: 'author', joinColumn: true, nullable: false }, tags: { type: 'many-to-many', target: 'tag', joinTable: true } } }),
]
module.exports = { source: new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities, migrations: ['migrations/*.js'] }) }
JAVASCRIPT
import source_ from './source.js'
const { source } = source_
await source.initialize()
const of = name => source.getRepository(name)
const a = await of('author').save({ name: 'a' })
await of('author').save({ name: 'b', mentor: a })
const tag = await of('tag').save({ name: 't' })
await of('book').save(Array.from({ length: 100 }, (_, i) => ({ title: `${i}`, author: a, tags: [tag] })))
const found = await of('book').find({ where: { author: { id: a.id } }, relations: { author: true, tags: true } })
console.log(JSON.stringify([typeof a.id, (await of('author').findOneBy({ id: a.id })).name, found.filter(book => book.tags[0].id === tag.id).length]))
await source.destroy()
JAVASCRIPT
	my $typeorm = sub { my ($command, @more) = @_; return command_runs("TypeORM: $command", $site, 'typeorm', $command, '-d', 'source.js', @more) };
	for my $key ('int', 'bigint')
	{
		local $ENV{KEY} = $key;
		my $db = fresh_database("typeorm_$key");
		unlink glob "$site/migrations/*";
		$typeorm->('migration:generate', '--outputJs', 'migrations/Initial');
		$typeorm->('migration:run');
		is_deeply(javascript_uses($site), [ $key eq 'int' ? 'number' : 'string', 'a', 100 ], "TypeORM, $key: tables work");
		if ($key eq 'int') { none_is_adopted($db, '...', 4) }
		else { are_adopted($db, 'TypeORM', 3, 1) }
		nothing_changed($db, '... a second migration:run does nothing', sub { like($typeorm->('migration:run'), qr/No migrations are pending/) });
		my ($well, $out) = command_says($site, 'typeorm', 'migration:generate', '-d', 'source.js', '--outputJs', 'migrations/Again');
		# The page warns of this.
		if ($key eq 'bigint') { like(slurp_file((glob "$site/migrations/*Again.js")[0]), qr/CREATE SEQUENCE IF NOT EXISTS "author_id_seq"/, '... migration:generate would bring the sequences back') }
		else { like($out, qr/No changes in database schema were found/, '... migration:generate finds nothing') }
		$typeorm->('migration:revert');
	}
	# The page advises this: entities that state the column's type.
	local $ENV{KEY} = 'bigint';
	my ($column) = recipe('Migrations in TypeORM');
	chomp $column;
	write_program("$site/source.js", slurp_file("$site/source.js") =~ s/^const id = .*/const id = $column/mr);
	my $db = fresh_database('typeorm_default', schema => 'public');
	unlink glob "$site/migrations/*";
	$typeorm->('migration:generate', '--outputJs', 'migrations/Initial');
	$typeorm->('migration:run');
	is_deeply(javascript_uses($site), [ 'string', 'a', 100 ], '... with the default in the entity, tables work');
	my ($well, $out) = command_says($site, 'typeorm', 'migration:generate', '-d', 'source.js', '--outputJs', 'migrations/Again');
	like($out, qr/No changes in database schema were found/, '... and migration:generate finds nothing');
}

$server->stop('fast');
no_recipe_left();
