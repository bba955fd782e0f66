# A dump brings the layout along, and nothing of who holds which worker id (section 4 of the design): a restored database
# decodes the ids that came with it, and issues its own under a lease of its own (G1).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $conf = "max_worker_processes = 40\nsnowflake.max_databases = 40\nsnowflake.max_clock_skew = 0\n";
my $from = new_server('dump_from', conf => $conf);
my $to = new_server('dump_to', conf => $conf);
start_server($_) for $from, $to;
my $dir = PostgreSQL::Test::Utils::tempdir();

my %layouts = (
	default => '',
	# 10 ms from 2024 on, 8 bits of worker with 3 of datacenter before them, the sequence in front.
	other => q{SELECT %s.snowflake_set_layout('2024-01-01 00:00+00', '10 ms', 39, 3, 8, 10, true)});
my %layout_rows = (
	default => 't|1735689600000|1000|41|0|10|12|f',
	other => 't|1704067200000|10000|39|3|8|10|t');

# A database with the extension in a schema, a layout, leases and rows.
sub make_source
{
	my ($dbname, $layout, $schema) = @_;
	$from->safe_psql('postgres', "CREATE DATABASE $dbname");
	$from->safe_psql($dbname, join(';', ($schema eq 'public' ? () : "CREATE SCHEMA $schema"),
		"CREATE EXTENSION snowflake SCHEMA $schema", sprintf($layouts{$layout}, $schema),
		"CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT $schema.snowflake_nextval(), n int)",
		"CREATE TABLE lines (id bigint PRIMARY KEY DEFAULT $schema.snowflake_nextval(), order_id bigint REFERENCES orders, "
		  . "at timestamptz GENERATED ALWAYS AS (NULL) STORED)",
		'INSERT INTO orders (n) SELECT generate_series(1, 500)',
		'INSERT INTO lines (order_id) SELECT id FROM orders',
		# Leases and a watermark that must stay behind.
		"SELECT $schema.snowflake_acquire('other', 0, 1000, '1 day')",
		"INSERT INTO $schema.snowflake_watermark VALUES (77, 4711)"));
	return;
}

my $content = 'SELECT md5(string_agg(o::text || l::text, chr(10) ORDER BY o.id)) FROM orders o JOIN lines l ON l.order_id = o.id';

# What must hold of a restored database. $since: when the restore began, if a keeper was there all the time. It may draw a
# lease as soon as the restored extension is there; what came along, or stayed, is older.
sub check_restored
{
	my ($server, $dbname, $source, $layout, $schema, $name, $since) = @_;
	is($server->safe_psql($dbname, $content), $from->safe_psql($source, $content), "$name: the rows are the same");
	is($server->safe_psql($dbname, "SELECT * FROM $schema.snowflake_layout"), $layout_rows{$layout}, "$name: the layout came along");
	my %drawn_since = !$since ? () : (snowflake_registry => "WHERE acquired_at < '$since'");
	is($server->safe_psql($dbname, "SELECT count(*) FROM $schema.$_ " . ($drawn_since{$_} // '')), '0', "$name: $_ is empty")
	  for 'snowflake_registry', 'snowflake_watermark';
	is($server->safe_psql($dbname, "SELECT o.system_identifier = c.system_identifier, o.settles_until FROM $schema.snowflake_origin o, pg_control_system() c"),
		't|', "$name: snowflake_origin names this server");
	is($server->safe_psql($dbname, "SELECT md5(string_agg($schema.snowflake_decode(id)::text, ' ' ORDER BY id)) FROM orders"),
		$from->safe_psql($source, "SELECT md5(string_agg($schema.snowflake_decode(id)::text, ' ' ORDER BY id)) FROM orders"),
		"$name: its ids decode as they did");
	my $last = $server->safe_psql($dbname, 'SELECT max(id) FROM orders');
	my $new = $server->safe_psql($dbname, 'INSERT INTO orders (n) SELECT generate_series(1, 100) RETURNING id');
	my @new = split /\n/, $new;
	is(scalar(grep { $_ > $last } @new), 100, "$name: the default gives ids above those that came along");
	is($server->safe_psql($dbname, "SELECT count(*) FROM $schema.snowflake_registry r, $schema.snowflake_status s"
		  . ' WHERE r.worker_id = s.worker'), '1', "$name: ... under a lease of its own");
	return;
}

sub pg_dump
{
	my ($source, $file, @options) = @_;
	$from->command_ok([ 'pg_dump', '--no-sync', '-f', $file, @options, $source ], "pg_dump @options $source");
	return;
}

sub restore_plain
{
	my ($server, $dbname, $file, @options) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', @options, '-o', '/dev/null', '-f', $file, $dbname ],
		"psql @options into $dbname");
	return;
}

sub restore
{
	my ($server, $dbname, $file, @options) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->command_ok([ 'pg_restore', '--exit-on-error', @options, '-d', $dbname, $file ], "pg_restore @options into $dbname");
	return;
}

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

### A dump that is old: made before the first lease, so that it has no layout

$from->safe_psql('postgres', 'CREATE DATABASE fresh');
$from->safe_psql('fresh', 'CREATE EXTENSION snowflake; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval())');
pg_dump('fresh', "$dir/fresh.sql");
restore_plain($to, 'fresh', "$dir/fresh.sql");
is($to->safe_psql('fresh', 'SELECT count(*) FROM snowflake_layout'), '0', 'without a lease there is no layout to restore');
like($to->safe_psql('fresh', 'INSERT INTO t DEFAULT VALUES RETURNING id'), qr/^\d+$/, '... and the first lease writes it down');
is($to->safe_psql('fresh', 'SELECT * FROM snowflake_layout'), $layout_rows{default}, '... as the default');

### Restored again over itself: --clean drops the extension with its leases and makes it anew

$to->safe_psql('source_1_fc', 'SELECT snowflake_nextval()');
my $since = $to->safe_psql('source_1_fc', 'SELECT clock_timestamp()');
$to->command_ok([ 'pg_restore', '--exit-on-error', '--clean', '--if-exists', '-d', 'source_1_fc', "$dir/source_1.dump" ],
	'pg_restore --clean over a database that issues ids');
check_restored($to, 'source_1_fc', 'source_1', 'default', 'public', 'restored over itself', $since);

### Schema and data apart

$from->command_ok([ 'pg_dump', '--no-sync', '-s', '-f', "$dir/schema.sql", 'source_2' ], 'pg_dump --schema-only');
$from->command_ok([ 'pg_dump', '--no-sync', '-a', '-Fc', '-f', "$dir/data.dump", 'source_2' ], 'pg_dump --data-only');
restore_plain($to, 'apart', "$dir/schema.sql");
$to->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'apart', "$dir/data.dump" ], 'the data after the schema');
check_restored($to, 'apart', 'source_2', 'other', 'public', 'schema and data apart');

# Data that arrive where ids were issued under another layout must not change it unnoticed.
restore_plain($to, 'late', "$dir/schema.sql");
$to->safe_psql('late', 'SELECT snowflake_nextval()');
$to->command_fails_like([ 'pg_restore', '--exit-on-error', '-d', 'late', "$dir/data.dump" ], qr/snowflake_layout/,
	'a layout that comes too late is refused, and not silently lost');
is($to->safe_psql('late', 'SELECT * FROM snowflake_layout'), $layout_rows{default}, '... and the one in use stays');

### Restored by a role that is no superuser into a database where a superuser made the extension

$to->safe_psql('postgres', 'CREATE ROLE carol LOGIN; CREATE DATABASE carols OWNER carol');
$to->safe_psql('carols', 'CREATE EXTENSION snowflake; GRANT ALL ON SCHEMA public TO carol');
$from->command_ok([ 'pg_dump', '--no-sync', '-Fc', '-t', 'orders', '-f', "$dir/table.dump", 'source_1' ], 'pg_dump of one table');
$to->command_ok([ 'pg_restore', '--exit-on-error', '--no-owner', '-U', 'carol', '-d', 'carols', "$dir/table.dump" ],
	'an ordinary role restores a table that takes its ids from the extension');
like($to->safe_psql('carols', 'INSERT INTO orders (n) VALUES (1) RETURNING id', extra_params => [ '-U', 'carol' ]),
	qr/^\d+$/, '... and its default works');

$_->stop('fast') for $from, $to;
done_testing();
