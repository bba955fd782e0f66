# A library with pgEdge's functions replaces our library. Our extension cannot be created, and its
# existing objects fail, each with PostgreSQL's own error. When our library is back, they work.
# Not in the default run: it is about other software.

use strict;
use warnings;

use Installation;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $home = own_installation();
my $library = installed($home, 'pkglibdir') . '/snowflake.so';
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/theirs.c", <<'C');
#include "postgres.h"
#include "fmgr.h"
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(snowflake_nextval);
PG_FUNCTION_INFO_V1(snowflake_currval);
Datum snowflake_nextval(PG_FUNCTION_ARGS) { PG_RETURN_INT64(1); }
Datum snowflake_currval(PG_FUNCTION_ARGS) { PG_RETURN_INT64(1); }
C
my $headers = `pg_config --includedir-server`;
chomp $headers;
command_ok([ 'gcc', '-shared', '-fPIC', "-I$headers", "$folder/theirs.c", '-o', "$folder/theirs.so" ], 'a library like theirs');

my $mixed = new_server('mixed', home => $home, preload => 0, conf => quiet());
start_server($mixed);
value($mixed, 'CREATE DATABASE fresh; CREATE EXTENSION snowflake');
my $id = value($mixed, q{SELECT snowflake_id_at('2026-01-01 00:00+00')});
ok(rename($library, "$library.ours") && rename("$folder/theirs.so", $library), 'it takes the place of ours') or die $!;
my ($state, $text) = query_error($mixed, 'fresh', 'CREATE EXTENSION snowflake');
is($state, '42883', 'ours cannot be created');
like($text, qr/could not find function "snowflake_layout_changed" in file "\S*snowflake\.so"/, '... as doc/troubleshooting.md has it');
is(value($mixed, q{SELECT count(*) FROM pg_class WHERE relname LIKE 'snowflake%'}, 'fresh'), '0', '... and nothing is left of it');
($state, $text) = query_error($mixed, $db, "SELECT snowflake_timestamp($id)");
is($state, '42883', 'objects of ours that are there do not work');
like($text, qr/could not find function "snowflake_timestamp" in file/, '... for the same reason');
ok(rename("$library.ours", $library), 'ours is back');
is(value($mixed, "SELECT snowflake_timestamp($id) = '2026-01-01 00:00+00'"), 't', '... and they do');
is((query_error($mixed, 'fresh', 'CREATE EXTENSION snowflake'))[0], '00000', '... and it can be created');
$mixed->stop('fast');

done_testing();
