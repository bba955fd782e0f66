# A dump contains the layout, but not the holders of worker ids (section 4 of the design). A
# restored database decodes the ids in its tables, and issues new ids under its own lease (G1). The
# test uses several layouts and schemas, and restores plain and custom formats, in one transaction
# and with several jobs, on the same server, on another server, and over a database that issues ids.
# Not in the default run: dumps of many databases, and as many restores.

use strict;
use warnings;

use DumpTest;
use PostgreSQL::Test::Utils;
use Test::More;

DumpTest::start();
my $number = 0;
for my $case ([ 'default', 'public' ], [ 'other', 'public' ], [ 'default', 'ids' ], [ 'other', '"Other ids"' ])
{
	my ($layout, $schema) = @$case;
	my $source = 'source_' . ++$number;
	make_source($source, $layout, $schema);
	my $name = "layout $layout in $schema";

	my $plain = "$dir/$source.sql";
	my $custom = "$dir/$source.dump";
	pg_dump($source, $plain);
	pg_dump($source, $custom, '-Fc');
	my $text = slurp_file($plain);
	unlike($text, qr/^COPY .*snowflake_(registry|watermark|origin)/m, "$name: the dump has no leases");
	like($text, qr/^COPY .*snowflake_layout/m, "$name: it has the layout");

	restore_plain($from, "${source}_here", $plain);
	check_restored($from, "${source}_here", $source, $layout, $schema, "plain, same server, $name");
	restore_plain($to, "${source}_there", $plain, '--single-transaction');
	check_restored($to, "${source}_there", $source, $layout, $schema, "plain, other server, $name");
	restore($to, "${source}_fc", $custom, '--single-transaction');
	check_restored($to, "${source}_fc", $source, $layout, $schema, "custom, one transaction, $name");
	restore($from, "${source}_jobs", $custom, '--jobs=2');
	check_restored($from, "${source}_jobs", $source, $layout, $schema, "custom, two jobs, $name");
}

### Restored again over itself: --clean drops the extension with its leases and creates it again

$to->safe_psql('source_1_fc', 'SELECT snowflake_nextval()');
my $since = $to->safe_psql('source_1_fc', 'SELECT clock_timestamp()');
$to->command_ok([ 'pg_restore', '--exit-on-error', '--clean', '--if-exists', '-d', 'source_1_fc', "$dir/source_1.dump" ],
	'pg_restore --clean over a database that issues ids');
check_restored($to, 'source_1_fc', 'source_1', 'default', 'public', 'restored over itself', $since);

DumpTest::stop();
done_testing();
