# Rails' migrations, as users write them, in databases in which snowflake_convert.adopt_keys is on:
# keys of 64 bits are adopted, keys of 32 bits beside them keep their sequences. The test checks the
# catalogs, inserts of one row and of many rows, the commands that reset sequences, and both forms of
# a dumped schema (doc/migrations.md).
#
# ActiveRecord is Debian's: test/clients makes a system that contains it.
# Not in the default run: it needs foreign software, a framework and its migrations.

use strict;
use warnings;

use ClientsTest;
use MigrationsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $ruby = rails_of_debian();

my $server = migration_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($extension, $initializer) = recipe('Migrations in Rails');

write_program("$folder/rails.rb", <<'RUBY', $initializer, $extension, <<'RUBY');
require "active_record"
require "json"
require "stringio"
RUBY
def database(name)
  ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"], username: ENV["PGUSER"], database: name)
end
database(ENV["PGDATABASE"])
ActiveRecord::Migration.verbose = false
ActiveRecord::Schema.verbose = false

class Initial < ActiveRecord::Migration[7.2]
  def change
    create_table(:authors) { |t| t.string :name; t.references :mentor, foreign_key: { to_table: :authors } }
    create_table(:tags, id: :serial) { |t| t.string :name }
    create_table(:books) { |t| t.string :title; t.references :author, null: false, foreign_key: true; t.bigint :editor_id }
    add_foreign_key :books, :authors, column: :editor_id
    create_join_table(:books, :tags) { |t| t.index :book_id }
    add_foreign_key :books_tags, :books
    add_foreign_key :books_tags, :tags
    create_table(:notes, id: :integer) { |t| t.belongs_to :tag, type: :integer, foreign_key: true }
  end
end

class Author < ActiveRecord::Base; belongs_to :mentor, class_name: "Author", optional: true; has_many :books; end
class Tag < ActiveRecord::Base; has_and_belongs_to_many :books; end
class Book < ActiveRecord::Base; belongs_to :author; has_and_belongs_to_many :tags; end
class Note < ActiveRecord::Base; belongs_to :tag; end
def connection = ActiveRecord::Base.connection
def dumped = StringIO.new.tap { |file| ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection_pool, file) }.string
RUBY
sub ruby
{
	my ($name, $code, $without) = @_;
	my $rails = slurp_file("$folder/rails.rb");
	$rails =~ s/^ActiveSupport.on_load\(:active_record_postgresqladapter.*\n//m if $without;
	return run_program($ruby, write_program("$folder/$name.rb", $rails, $code));
}

my $use = <<'RUBY';
a = Author.create!(name: "a")
Author.create!(name: "b", mentor: a)
Book.insert_all!((1..100).map { |i| { title: i.to_s, author_id: a.id, editor_id: a.id } })
tag = Tag.create!(name: "t")
tag.books << Book.all.to_a
Note.create!(tag: tag)
seen = [Author.find(a.id).name, Author.where(mentor: a).count, a.books.count, tag.books.count, Book.first.editor_id == a.id]
RUBY
my @seen = ('a', 1, 100, 100, JSON::PP::true);

my $db = fresh_database('rails');
is_deeply(ruby('initial', "Initial.migrate(:up)\n$use\nputs seen.to_json"), \@seen, 'Rails: tables work');
# Tags and notes have keys of 32 bits.
are_adopted($db, 'Rails', 2, 2);
is_deeply(ruby('reset', 'puts [connection.reset_pk_sequence!("authors"), connection.set_pk_sequence!("authors", 1), connection.pk_and_sequence_for("authors")].to_json'),
	[ undef, undef, undef ], '... reset_pk_sequence! does nothing, with what the page says');
is_deeply(ruby('bare', 'begin; connection.reset_pk_sequence!("authors"); rescue => e; puts e.cause.class.name.to_json; end', 1), 'PG::UndefinedTable',
	'... without it, it fails');
is(ruby('others', <<'RUBY'), 7, '... where there is a sequence, it is reset');
connection.execute("SET snowflake_convert.adopt_keys = off")
connection.create_table(:olds) { |t| t.string :name }
connection.execute("INSERT INTO olds VALUES (6)")
connection.reset_pk_sequence!("olds")
puts connection.select_value("INSERT INTO olds DEFAULT VALUES RETURNING id").tap { connection.drop_table(:olds) }.to_json
RUBY
is(ruby('fixtures', 'connection.insert_fixtures_set({ "authors" => [{ "name" => "fixture" }], "tags" => [{ "name" => "fixture" }] }, []); puts (Author.count + Tag.count).to_json'), 5,
	'... fixtures are inserted');
is(ruby('apart', 'ActiveRecord::SchemaDumper.ignore_tables.clear; puts dumped.scan(/create_table "[^"]*snowflake/).size'), 0,
	'... schema.rb is without the tables of an extension in a schema of its own');
ok(ruby('truncate', 'connection.truncate_tables("books_tags", "books"); puts Book.create!(author: Author.first).id.to_json') > 2**40, '... truncate_tables restarts nothing');
is(ruby('down', 'Initial.migrate(:down); puts connection.tables.grep_v(/\Asnowflake_/).size'), 0, '... the migration can be undone');

# schema.rb, from a database whose extension was created by a migration, is loaded into another.
$db = fresh_database('rails_extension', schema => undef);
is_deeply(ruby('extension', "AddSnowflake.migrate(:up)\nInitial.migrate(:up)\n$use\nputs seen.to_json"), \@seen, 'the extension comes by a migration: tables work');
are_adopted($db, 'Rails, extension by a migration', 2, 2);
my $schema = ruby('dump', 'puts dumped.to_json');
unlike($schema, qr/create_table "snowflake_/, 'schema.rb: without tables of the extension');
my @wanted = columns_of($db);
my $structure = "$folder/structure.sql";
command_runs('structure.sql: dumped', $folder, 'pg_dump', '--schema-only', '--no-privileges', '--no-owner', '--file', $structure, $db);
write_program("$folder/schema.rb", $schema);
for my $mode (qw(on off))
{
	$db = fresh_database("rails_schema_$mode", schema => undef, adopt_keys => $mode);
	is(ruby("load_$mode", qq{load "$folder/schema.rb"; puts 1}), 1, "schema.rb: loaded, adopt_keys = $mode");
	is_deeply([ columns_of($db) ], \@wanted, '... the same columns');
	$db = fresh_database("rails_structure_$mode", schema => undef, adopt_keys => $mode);
	command_runs("structure.sql: loaded, adopt_keys = $mode", $folder, 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $structure, $db);
	is_deeply([ columns_of($db) ], \@wanted, '... the same columns');
}

$server->stop('fast');
no_recipe_left();
