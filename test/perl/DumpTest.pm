# What the tests of dumps share: two servers; databases with layouts, leases and rows; pg_dump and
# the ways to restore; and checks of a restored database.
package DumpTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($from $to $dir %layout_rows make_source check_restored pg_dump restore_plain restore);

my $conf = "max_worker_processes = 40\nsnowflake.max_databases = 40\nsnowflake.max_clock_skew = 0\n";
our ($from, $to, $dir);

my %layouts = (
	default => '',
	# Ticks of 10 ms from 2024 on, 3 bits of datacenter, 8 bits of worker, and the sequence in the
	# first field.
	other => q{SELECT %s.snowflake_set_layout('epoch=2024-01-01 tick=10ms time=39 seq=10 datacenter=3 worker=8')});
our %layout_rows = (
	default => 't|epoch=1735689600000 tick=1ms time=41 worker=10 seq=12',
	other => 't|epoch=1704067200000 tick=10ms time=39 seq=10 datacenter=3 worker=8');

sub start
{
	$dir = PostgreSQL::Test::Utils::tempdir();
	($from, $to) = map { new_server($_, patient => 1, conf => $conf) } 'dump_from', 'dump_to';
	start_server($_) for $from, $to;
	return;
}

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
		# Leases and a watermark that must not be dumped.
		"SELECT $schema.snowflake_lease_acquire('other', 0, 1000, '1 day', sha256(uuid_send(gen_random_uuid())), 0, NULL)",
		"INSERT INTO $schema.snowflake_watermark VALUES (77, 4711)"));
	return;
}

my $content = 'SELECT md5(string_agg(o::text || l::text, chr(10) ORDER BY o.id)) FROM orders o JOIN lines l ON l.order_id = o.id';

# Checks a restored database. $since: when the restore began, if a keeper ran all the time. The
# keeper may acquire a lease as soon as the restored extension exists; a dumped or kept lease would
# be older.
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

sub stop { $_->stop('fast') for $from, $to; return; }

1;
