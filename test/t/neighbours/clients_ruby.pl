# Runs each block of Ruby in doc/clients.md as it is on the page, and checks that the models' ids
# are the ids in the table. Then it does the same with ids of the type snowflake_id, as in the
# page's table.
#
# ActiveRecord is Debian's: test/clients makes a system that contains it.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use JSON::PP;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $ruby = rails_of_debian();

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($migration, $model) = recipe('Rails');
my $seen;
my $inserts = sent($server, 'INSERT INTO "articles"', sub {
	$seen = run_program($ruby, write_program("$folder/page.rb", <<'BEFORE', $migration, "CreateArticles.migrate(:up)\n", $model, <<'AFTER'));
require "active_record"
require "json"
ActiveRecord::Base.establish_connection(adapter: "postgresql")
ActiveRecord::Migration.verbose = false
BEFORE
one = Article.create!(name: "first")
many = Article.insert_all!([{ name: "second" }, { name: "third" }], returning: :id).rows.flatten
begin
  ActiveRecord::Base.connection.execute("DO $$BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END$$")
rescue ActiveRecord::StatementInvalid => e
  state = e.cause.result.error_field(PG::Result::PG_DIAG_SQLSTATE)
end
puts JSON.generate([[one.id, *many], JSON.parse(one.to_json)["id"], state])
AFTER
});
are_the_tables($server, $seen->[0], 'Rails', 'articles');
is($inserts, 2, '... by two INSERT');
is($seen->[1], "$seen->[0][0]", '... as a string in JSON');
is($seen->[2], 'SF001', '... and the SQLSTATE of an error');

my ($attribute) = remedy_of('Rails');
for my $integers (0, 1)
{
	# Rails sees no primary key of a view.
	my $forms = join "\n", <<'RUBY', $model, q{Article.primary_key = "id"}, $integers ? "Article.$attribute" : '', <<'RUBY';
require "active_record"
require "json"
ActiveRecord::Base.establish_connection(adapter: "postgresql")
RUBY
$ids = []
$reads = {}
def attempt(reads: true)
  ids = yield
  ids.each { |id| $reads[id.class.name] = true } if reads
  $ids.concat(ids.map(&:to_s))
  "yes"
rescue ActiveRecord::StatementInvalid => e
  e.cause.result.error_field(PG::Result::PG_DIAG_SQLSTATE)
end
one = attempt { [Article.create!(name: "first").id] }
insert_all = "yes"
many = attempt(reads: false) do
  rows = [{ name: "second" }, { name: "third" }]
  Article.insert_all!(rows, returning: :id).rows.flatten
rescue ArgumentError => e
  insert_all = e.class.name
  Article.create!(rows).map(&:id)
end
given = attempt(reads: false) { [Article.create!(id: Article.connection.select_value("SELECT snowflake_nextval()"), name: "given").id] }
known = ENV["CLIENTS_KNOWN_ID"]
finds = [known.to_i, known].to_h do |id|
  found = Article.find_by(id: id, name: "known")
  $reads[found.id.class.name] = true if found
  [id.class.name, found && found.id.to_s == known ? "yes" : "no"]
end
json = JSON.parse(Article.find(known).to_json)["id"]
puts JSON.generate({ one: one, many: many, given: given, finds: finds, reads: $reads.keys, ids: $ids, json: json, insert_all: insert_all })
RUBY
	each_form($server, 'articles', sub {
		my ($form) = @_;
		my $seen = run_program($ruby, write_program("$folder/forms.rb", $forms));
		is($seen->{json}, $ENV{CLIENTS_KNOWN_ID}, "Rails, $form: in JSON");
		is($seen->{insert_all}, $form =~ /^(?:view|cast)$/ ? 'ArgumentError' : 'yes', '... insert_all!(), which wants an index');
		if ($integers) { is(join(' ', @{ $seen->{reads} }), 'Integer', '... an integer, by what the page says'); }
		else { is_as_told($server, 'Rails', $form, $seen, 'articles'); }
	});
}

# Sequel, of which the page says the same.
fresh_items($server);
my $sequel = run_program($ruby, write_program("$folder/sequel.rb", <<'RUBY'));
require "json"
require "sequel"
db = Sequel.connect(ENV["DATABASE_URL"])
id = db[:item].insert(name: "first")
state = begin
  db.reset_primary_key_sequence(:item)
  "none"
rescue Sequel::DatabaseError => error
  error.wrapped_exception.result.error_field(PG::Result::PG_DIAG_SQLSTATE)
end
db.extension :schema_dumper
dumped = [{}, { same_db: true }].map { |options| db.dump_schema_migration(options).include?("snowflake_nextval()") }
puts JSON.generate([id, state, dumped])
RUBY
are_the_tables($server, [ $sequel->[0] ], 'Sequel');
is($sequel->[1], '42602', '... reset_primary_key_sequence fails');
is_deeply($sequel->[2], [ JSON::PP::false, JSON::PP::true ], '... a dumped schema has the default only with same_db');

$server->stop('fast');
no_recipe_left();
