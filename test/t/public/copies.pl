# A dump and a physical standby keep a database with columns of type snowflake_id unchanged: types,
# defaults, domains, arrays, views, indexes, constraints, partitions and rows. The copy then issues
# ids. The extension is in the schema public, or in a schema that no search_path contains.
# t/public/pg_upgrade tests the same with pg_upgrade.
# Not in the default run: dumps of many databases, and as many restores.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use PublicTest;
use SnowflakeTest;
use Test::More;

# ---------------------------------------------------------------------------------------------------------------------
# A dump
# ---------------------------------------------------------------------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir();
my $conf = "log_statement = none\nautovacuum = off\nmax_worker_processes = 40\nsnowflake.max_databases = 40\n";
my $from = new_server('from', streaming => 1, patient => 1, conf => $conf);
my $to = new_server('to', patient => 1, conf => $conf);
start_server($_) for $from, $to;
my $dumps = 0;
for my $dbname (sort keys %schema_of)
{
	make_public($from, $dbname, domain => 'CHECK (VALUE < 9000000000000000000)');
	my $facts = public_facts($from, $dbname);
	like($facts->{types}, qr/^(\Q$schema_of{$dbname}\E\.snowflake_id) \1 \1 \1 integer/, "$dbname: the columns are of the type");
	my @ways = (
		[ 'plain', [], 'psql', [] ], [ 'plain', [ '--column-inserts', '--rows-per-insert=100' ], 'psql', ['--single-transaction'] ],
		[ 'custom', [], 'pg_restore', ['--single-transaction'] ], [ 'custom', [ '--load-via-partition-root' ], 'pg_restore', ['--jobs=2'] ]);
	for my $way (@ways)
	{
		my ($format, $dump_options, $program, $options) = @$way;
		my ($file, $target) = ("$dir/$dbname.$dumps", "restored_$dumps");
		my $name = "$dbname, dumped as $format @$dump_options, restored @$options";
		$dumps++;
		$from->command_ok([ 'pg_dump', '--no-sync', "--format=$format", '-f', $file, @$dump_options, $dbname ], "$name: pg_dump");
		execute($to, 'postgres', "CREATE DATABASE $target");
		$to->command_ok([ $program eq 'psql' ? ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', @$options, '-f', $file, '-d', $target)
				: ('pg_restore', '--exit-on-error', @$options, '-d', $target, $file) ], '... restored');
		is_deeply(public_facts($to, $target), $facts, '... everything is as it was');
		goes_on($to, $target, $dbname, $name);
	}
	# A dump of the rows only, also into bigint columns.
	$from->command_ok([ 'pg_dump', '--no-sync', '--data-only', '-t', 'lines', '-t', 'ranged*', '-f', "$dir/rows", $dbname ], "$dbname: pg_dump of rows");
	execute($to, 'postgres', "CREATE DATABASE bigs_$dbname");
	execute($to, "bigs_$dbname", 'CREATE TABLE lines (id bigint, order_id bigint, item bigint)', map { "CREATE TABLE ranged_$_ (id bigint, n integer)" } 0, 1);
	$to->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', "$dir/rows", '-d', "bigs_$dbname" ], '... into bigint columns, without the extension');
	is(execute($to, "bigs_$dbname", "SELECT md5(string_agg(t::text, ' ' ORDER BY id)) FROM $_ t"), execute($from, $dbname, "SELECT md5(string_agg(t::text, ' ' ORDER BY id)) FROM $_ t"), "... $_ is as it was")
	  for 'lines', 'ranged_0', 'ranged_1';
}

# ---------------------------------------------------------------------------------------------------------------------
# A physical standby
# ---------------------------------------------------------------------------------------------------------------------

my $standby = standby_of($from, 'standby', conf => $conf);
$from->wait_for_catchup($standby, 'replay', $from->lsn('flush'));
for my $dbname (sort keys %schema_of)
{
	is_deeply(public_facts($standby, $dbname), public_facts($from, $dbname), "$dbname: a standby reads what is on the primary");
	is((query_error($standby, $dbname, 'INSERT INTO orders (n) VALUES (1)'))[0], '25006', '... and does not write');
	is(execute($standby, $dbname, 'SET enable_seqscan = off', 'SELECT count(*) FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.id = l.item'), 500, '... and joins by its indexes');
}
$from->stop('fast');
$standby->promote;
goes_on($standby, $_, $_, "$_: promoted") for sort keys %schema_of;
$_->stop('fast') for $standby, $to;

figures('%d dumps restored, 2 databases on a standby', $dumps);
done_testing();
