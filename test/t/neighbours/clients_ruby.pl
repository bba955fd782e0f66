# The Ruby of doc/clients.md: each block is run as it stands there, and what models bring back are the ids in the table.
#
# ActiveRecord is Debian's: test/clients makes a system that has it.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $ruby = program_in('ruby', '/usr/bin');
my $out;
my $there = $ruby && IPC::Run::run([ $ruby, '-e', 'require "active_record"; require "pg"; puts ActiveRecord.version' ], '<', '/dev/null', '>', \$out, '2>', '/dev/null');
left_out_unless($there, 'Rails', 'apt-get install ruby-activerecord ruby-pg');
note("ActiveRecord $out");

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

$server->stop('fast');
no_recipe_left();
