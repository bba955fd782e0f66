# The layout in a dump (section 4 of the design). Before the first lease, a dump contains no layout.
# A restore can load the layout with the data after the schema. If ids were already issued under
# another layout, the restore fails instead of silently dropping the dumped layout.

use strict;
use warnings;

use DumpTest;
use PostgreSQL::Test::Utils;
use Test::More;

DumpTest::start();
make_source('source_2', 'other', 'public');

### A dump that was made before the first lease, so it contains no layout

$from->safe_psql('postgres', 'CREATE DATABASE fresh');
$from->safe_psql('fresh', 'CREATE EXTENSION snowflake; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval())');
pg_dump('fresh', "$dir/fresh.sql");
restore_plain($to, 'fresh', "$dir/fresh.sql");
is($to->safe_psql('fresh', 'SELECT count(*) FROM snowflake_layout'), '0', 'without a lease there is no layout to restore');
like($to->safe_psql('fresh', 'INSERT INTO t DEFAULT VALUES RETURNING id'), qr/^\d+$/, '... and the first lease writes it down');
is($to->safe_psql('fresh', 'SELECT * FROM snowflake_layout'), $layout_rows{default}, '... as the default');

### Schema and data apart

$from->command_ok([ 'pg_dump', '--no-sync', '-s', '-f', "$dir/schema.sql", 'source_2' ], 'pg_dump --schema-only');
$from->command_ok([ 'pg_dump', '--no-sync', '-a', '-Fc', '-f', "$dir/data.dump", 'source_2' ], 'pg_dump --data-only');
restore_plain($to, 'apart', "$dir/schema.sql");
$to->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'apart', "$dir/data.dump" ], 'the data after the schema');
check_restored($to, 'apart', 'source_2', 'other', 'public', 'schema and data apart');

# If ids were issued under another layout, loading the data must not silently change the layout.
restore_plain($to, 'late', "$dir/schema.sql");
$to->safe_psql('late', 'SELECT snowflake_nextval()');
$to->command_fails_like([ 'pg_restore', '--exit-on-error', '-d', 'late', "$dir/data.dump" ], qr/snowflake_layout/,
	'a layout that comes too late is refused, and not silently lost');
is($to->safe_psql('late', 'SELECT * FROM snowflake_layout'), $layout_rows{default}, '... and the one in use stays');

DumpTest::stop();
done_testing();
