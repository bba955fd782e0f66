# A table is converted to a segment's numbers while clients insert into it. No row is lost, and no
# number is issued twice (G11). If another node holds a range with numbers that the column contains,
# the conversion is refused on every node. A range that this node had acquired before a restart does
# not count as another node's.

use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $registry = own_node('registry', segments => { shared => 'start => 50000, step => 100', busy => 'step => 100' });
my $node = segment_node('other', place($registry));
value($_, "CREATE EXTENSION snowflake_convert") for $registry, $node;

sub convert
{
	my ($server, $table, $segment) = @_;
	return query_error($server, 'postgres', "SET lock_timeout = '300ms'; SELECT snowflake_convert('$table', 'id', '$segment')");
}

### Under load

value($registry, 'CREATE TABLE orders (id serial PRIMARY KEY, n int); INSERT INTO orders (n) SELECT generate_series(1, 5000)');
my $clients = start_clients($registry, 4, q{
	INSERT INTO orders (n) VALUES (1) RETURNING id;
	PREPARE p AS INSERT INTO orders (n) VALUES (2) RETURNING id; EXECUTE p; EXECUTE p;
	INSERT INTO orders (n) SELECT 3 FROM generate_series(1, 20) RETURNING id;
});
sub inserted { my ($where) = @_; return value($registry, "SELECT count(*) FROM orders WHERE n = 2 AND $where"); }
ok(wait_until('all clients insert', sub { inserted('true') > 40 }), 'rows are inserted');
my ($state, $text);
for (1 .. 200)
{
	($state, $text) = convert($registry, 'orders', 'orders');
	last if $state ne '55P03';
	sleep(0.05);
}
is($state, '00000', 'a table was converted under load') or diag($text);
my $start = value($registry, q{SELECT first_value FROM snowflake_segment WHERE name = 'orders'});
ok(wait_until('all clients insert', sub { inserted("id > $start") > 200 }), 'rows go on being inserted, with the segment\'s numbers');
stop_clients($clients);
my ($numbers, $duplicates) = compare_ids(@{ $clients->{files} });
is($duplicates, 0, "no number of $numbers was given twice");
my @errors = grep { /ERROR/ } map { split /\n/, -e "$clients->{folder}/$_.err" ? slurp_file("$clients->{folder}/$_.err") : '' } 1 .. 4;
is(join("\n", @errors), '', 'no client saw an error');

### Another node

# Creates the table again, with so many rows.
sub fill
{
	my ($server, $table, $rows) = @_;
	return value($server, "DROP TABLE IF EXISTS $table; CREATE TABLE $table (id serial PRIMARY KEY, n int);"
		  . " INSERT INTO $table (n) SELECT generate_series(1, $rows)");
}

is(number($node, 'busy'), 1, 'another node has numbers of a segment');
fill($registry, 'small', 150);
($state, $text) = convert($registry, 'small', 'busy');
is($state, '55000', 'a table of numbers that it may issue is not converted');
like($text, qr/Node "other" may hold numbers of segment "busy" up to 100, and the column's numbers begin at 1/, '... with the node and its numbers');
my %theirs = map { $_ => 1 } numbers($node, 150, 'busy');
($state) = convert($registry, 'small', 'busy');
is($state, '55000', '... nor when it has had more');
number($node, 'shared');
is((convert($registry, 'small', 'shared'))[0], '00000', 'a segment of which all numbers are above can be in use anywhere');
value($registry, 'INSERT INTO small (n) SELECT generate_series(1, 300)');
my %here = map { $_ => 1 } split /\n/, value($registry, 'SELECT id FROM small');
is(scalar(grep { $here{$_} } numbers($node, 300, 'shared')), 0, '... and no number of the table is issued there');

# On the other node, which does not see the registry's tables.
fill($node, 'small', 150);
($state, $text) = convert($node, 'small', 'fresh');
is($state, '55000', 'a table on a node of a registry elsewhere is not converted');
like($text, qr/create a segment from 151 to 2147483647 with snowflake_create_segment\(\)/, '... with what is to be done on the registry');
value($registry, q{SELECT snowflake_create_segment('fresh', 151, max_value => 2147483647)});
value($node, q{ALTER TABLE small ALTER id SET DEFAULT snowflake_segment_nextval('fresh'); INSERT INTO small (n) VALUES (1)});
is(value($node, 'SELECT max(id) FROM small'), 151, '... which is enough');
is((convert($node, 'small', 'fresh'))[0], '00000', '... and what is left is done by the function');
is(value($node, q{SELECT count(*) FROM pg_class WHERE relname = 'small_id_seq'}), '0', '... which drops the sequence');
value($node, 'CREATE TABLE none (id serial)');
is((convert($node, 'none', 'fresh'))[0], '00000', 'a table without numbers is converted there, too');

### Before a restart

for my $end ('fast', 'immediate')
{
	my $segment = "life_$end";
	create_segment($registry, $segment, 'step => 100');
	numbers($registry, 5, $segment);
	$registry->restart if $end eq 'fast';
	if ($end eq 'immediate') { $registry->stop('immediate'); $registry->start; }
	number($registry, 'shared');
	fill($registry, 'alive', 50);
	($state, $text) = convert($registry, 'alive', $segment);
	is($state, '00000', "what a node had before a shutdown ($end) is no other's") or diag($text);
	value($registry, 'INSERT INTO alive (n) SELECT generate_series(1, 50)');
	is(value($registry, 'SELECT count(DISTINCT id) FROM alive'), '100', '... and no number is given twice');
}

$_->stop for $node, $registry;
done_testing();
