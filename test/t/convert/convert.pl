# A table is converted while clients insert into it and into a table that refers to it. No row is
# lost, no id is issued twice (G1), and afterwards all clients get snowflake ids. Then the test
# checks the exact limit for existing ids, with a clock that stands still and under several layouts,
# and dumps and restores converted tables.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $server = new_server('convert', clock => 1, patient => 1);
start_server($server);
my $db = 'postgres';
$server->safe_psql($db, q{
	CREATE EXTENSION snowflake;
	CREATE EXTENSION snowflake_convert;
	CREATE TABLE orders (id serial PRIMARY KEY, n int);
	CREATE TABLE items (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id int NOT NULL REFERENCES orders, tries int);
	INSERT INTO orders (n) SELECT generate_series(1, 20000);
	INSERT INTO items (order_id) SELECT id FROM orders;
});

sub sql { return $server->safe_psql($db, join(";\n", @_)); }

### Under load

my $clients = start_clients($server, 4, q{
	INSERT INTO orders (n) VALUES (1) RETURNING id;
	BEGIN; INSERT INTO orders (n) VALUES (2) RETURNING id AS order_id \gset
	INSERT INTO items (order_id) VALUES (:order_id); COMMIT;
	INSERT INTO items (order_id) SELECT max(id) FROM orders WHERE n = 2;
	PREPARE p AS INSERT INTO orders (n) VALUES (3) RETURNING id; EXECUTE p; EXECUTE p;
});
my $inserted = sub { sql('SELECT count(*) FROM orders WHERE n = 3 AND id ' . $_[0]) };
ok(wait_until('all clients insert', sub { $inserted->('< 1000000') > 40 }), 'rows are inserted');

# Tries again and again with a short wait for locks, as doc/converting.md says.
sub convert
{
	my ($table) = @_;
	my ($tries, $state, $text) = (0);
	do
	{
		sleep(0.05) if $tries++;
		($state, $text) = query_error($server, $db, "SET lock_timeout = '300ms'; SELECT snowflake_convert('$table', 'id')");
	} while ($tries < 200 && ($state eq '55P03' || $state eq '40P01'));
	is($state, '00000', "$table was converted under load") or diag($text);
	return $tries;
}
my @tries = map { convert($_) } 'orders', 'items';
figures('tries %d and %d', @tries);
ok(wait_until('all clients insert', sub { $inserted->('> 1000000') > 40 }), 'rows go on being inserted, with snowflake ids');
stop_clients($clients);

my ($ids, $duplicates) = compare_ids(@{ $clients->{files} });
is($duplicates, 0, "no id of $ids was given twice");
my %there = map { $_ => 1 } split /\n/, sql('SELECT id FROM orders');
my @told = grep { /^\d+$/ } map { split /\n/, slurp_file($_) } @{ $clients->{files} };
is(scalar(grep { !$there{$_} } @told), 0, 'every row that a client was told of is there');
is(sql(q{SELECT count(*) FROM items i LEFT JOIN orders o ON o.id = i.order_id WHERE o.id IS NULL}), '0', 'every item has its order');
is(sql(q{SELECT count(*) FROM orders WHERE id BETWEEN 1 AND 20000}), '20000', 'old rows kept their ids');
# PostgreSQL refuses a statement that was prepared before its result became wider.
my @errors = grep { /ERROR/ && !/deadlock detected|cached plan must not change result type/ }
  map { split /\n/, -e "$clients->{folder}/$_.err" ? slurp_file("$clients->{folder}/$_.err") : '' } 1 .. 4;
is(join("\n", @errors), '', 'no client saw an error, but for deadlocks and results that have become wider');
is(sql(q{SELECT string_agg(relname, ',') FROM pg_class WHERE relkind = 'S' AND relname ~ '^(orders|items)'}), '', 'the sequences are gone');

### The limit

# Milliseconds since 2025, times 4096 sequence numbers of 1024 workers.
freeze_clock($server);
my $limit = sql(q{SELECT (floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000) << 22});
is(sql(q{SELECT (floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000) << 22}), $limit, 'the clock stands');
sql('CREATE TABLE edge (id bigint)', "INSERT INTO edge VALUES ($limit)");
for my $dry_run ('true', 'false')
{
	my ($state, $text) = query_error($server, $db, "SELECT snowflake_convert('edge', 'id', $dry_run)");
	is($state, '55000', "an id that could be issued now is refused, dry run $dry_run");
	like($text, qr/its largest id is $limit; new ids begin at $limit$/m, '... with both figures');
}
sql('UPDATE edge SET id = id - 1', q{SELECT snowflake_convert('edge', 'id')});
run_clock($server);
ok(sql('INSERT INTO edge DEFAULT VALUES RETURNING id') >= $limit, 'one below is not');

### A partition's own NOT NULL, which from PostgreSQL 18 on is a constraint that prevents a change
### of type

sql('CREATE TABLE split (id int NOT NULL, n int) PARTITION BY LIST (n)', 'CREATE TABLE split_1 PARTITION OF split (id NOT NULL) FOR VALUES IN (1)',
	'CREATE TABLE split_2 PARTITION OF split FOR VALUES IN (2)');
sub convert_split { return query_error($server, $db, q{SELECT snowflake_convert('split', 'id')}); }
if ($server->pg_version >= 18)
{
	my ($state, $text) = convert_split();
	is($state, '55000', 'a NOT NULL of a partition\'s own is refused');
	like($text, qr/cannot convert column id of table public\.split\n.*DETAIL: .*table public\.split_1 has its own NOT NULL.*HINT: .*Detach partitions/s, '... with the way out');
	sql('ALTER TABLE split DETACH PARTITION split_1', 'ALTER TABLE split ATTACH PARTITION split_1 FOR VALUES IN (1)',
		q{COMMENT ON CONSTRAINT split_1_id_not_null ON split_1 IS 'of split_1'});
	($state, $text) = convert_split();
	is($state, '55000', '... and a comment on the inherited one');
	like($text, qr/constraint split_1_id_not_null on table public\.split_1 has a comment of its own/, '... by its name');
	sql('COMMENT ON CONSTRAINT split_1_id_not_null ON split_1 IS NULL');
}
is((convert_split())[0], '00000', 'a table is converted whose partition is NOT NULL by its own words');
like(sql("INSERT INTO split (n) VALUES ($_) RETURNING id"), qr/^\d{15,}$/, "... partition $_, too") for 1, 2;
is((query_error($server, $db, 'INSERT INTO split VALUES (NULL, 1)'))[0], '23502', '... and still is');

### Other layouts: the limit depends on the database's layout. No id is issued here, so the layout
### may change.

sql('CREATE DATABASE other');
sub other { return $server->safe_psql('other', join(";\n", @_)); }

sub state_of_conversion
{
	return query_error($server, 'other', q{SELECT snowflake_convert('t', 'id')});
}
# Seconds since 2025, 3 bits of worker and 2 of sequence.
other('CREATE EXTENSION snowflake_convert CASCADE', q{INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1s time=31 worker=3 seq=2')});
freeze_clock($server);
$limit = other('SELECT (floor(extract(epoch FROM clock_timestamp()))::bigint - 1735689600) << 5');
other('CREATE TABLE t (id bigint)', "INSERT INTO t VALUES ($limit)");
my ($state, $text) = state_of_conversion();
is($state, '55000', 'an id that could be issued now is refused under another layout');
like($text, qr/its largest id is $limit; new ids begin at $limit$/m, '... with both figures');
other('UPDATE t SET id = id - 1');
is((state_of_conversion())[0], '00000', '... one below is not');
run_clock($server);

other('ALTER TABLE t ALTER id DROP DEFAULT', "UPDATE snowflake_layout SET definition = 'epoch=1735689600000 tick=1s time=20 worker=3 seq=2'");
is((state_of_conversion())[0], 'SF003', 'a layout whose time is used up is no default');
other("UPDATE snowflake_layout SET definition = 'epoch=1735689600000 tick=1s time=31 worker=3'");
is((state_of_conversion())[0], '22023', '... nor is one without a sequence');
# From the year 3000 on.
other("UPDATE snowflake_layout SET definition = 'epoch=32503680000000 tick=1s time=31 worker=3 seq=2'", 'UPDATE t SET id = 0');
is((state_of_conversion())[0], '55000', 'before the epoch, 0 is the first id');
other('UPDATE t SET id = -1');
is((state_of_conversion())[0], '00000', '... and -1 is below it');

### Dump and restore

my $dir = PostgreSQL::Test::Utils::tempdir();
my $content = q{SELECT md5(string_agg(o::text, ' ' ORDER BY o.id)), count(*) FROM orders o};
$server->command_ok([ 'pg_dump', '--no-sync', '-Fc', '-f', "$dir/converted.dump", $db ], 'pg_dump of the converted tables');
sql('CREATE DATABASE restored');
$server->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', "$dir/converted.dump" ], 'pg_restore');
is($server->safe_psql('restored', $content), sql($content), 'the rows are the same');
ok($server->safe_psql('restored', 'INSERT INTO orders (n) VALUES (4) RETURNING id') > sql('SELECT max(id) FROM orders'),
	'... and new ones get snowflake ids');
is($server->safe_psql('restored', q{SELECT snowflake_convert('orders', 'id')}), '', '... from a default that is known again');

$server->stop('fast');
done_testing();
