# JavaScript's numbers are exact up to 53 bits. As JSON numbers ids therefore change, and ids of one
# millisecond become equal. The test also tries the two solutions: text, and a layout of 53 bits.

use strict;
use warnings;

use lib 'test/perl';
use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# To install node would take 50 MB in every run, so the test runs only if node is installed.
my ($node) = grep { -x } map { "$_/node" } split /:/, $ENV{PATH};
plan skip_all => 'node is not installed: what JavaScript makes of ids was not tried' unless $node;

my $server = new_server('javascript', patient => 1);
start_server($server);
for my $db ('whole', 'narrow')
{
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake');
}
$server->safe_psql('narrow', q{SELECT snowflake_set_layout('javascript')});
for my $db ('whole', 'narrow')
{
	$server->safe_psql($db, q{CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer);
		INSERT INTO item SELECT * FROM snowflake_nextvals(1000) WITH ORDINALITY});
}

# Runs JavaScript on a query's result, and returns what the script passes to `print`.
sub in_javascript
{
	my ($db, $query, $script) = @_;
	my $json = $server->safe_psql($db, $query);
	my ($out, $err) = ('', '');
	IPC::Run::run(
		[
			$node, '-e', "const input = require('fs').readFileSync(0, 'utf8');\n"
			  . "const print = x => console.log(JSON.stringify(x));\n$script"
		],
		'<', \$json, '>', \$out, '2>', \$err) or die "node: $err";
	return decode_json($out);
}

my $rows = q{SELECT json_agg(json_build_object('id', id, 'exact', id::text) ORDER BY id) FROM item};
my $numbers = q{
	const rows = JSON.parse(input);
	print({ rows: rows.length, changed: rows.filter(row => String(row.id) !== row.exact).length,
		safe: rows.filter(row => Number.isSafeInteger(row.id)).length, different: new Set(rows.map(row => row.id)).size,
		rising: rows.every((row, i) => i === 0 || row.id > rows[i - 1].id) });
};

### As JSON numbers

my $seen = in_javascript('whole', $rows, $numbers);
is($seen->{rows}, 1000, 'a thousand ids as JSON numbers');
is($seen->{safe}, 0, '... none is safe in JavaScript');
cmp_ok($seen->{changed}, '>', 800, '... nearly all are changed');
cmp_ok($seen->{different}, '<', 200, '... and many become equal');
figures('1000 ids of one statement as JSON numbers: %d changed, %d different ones left',
	$seen->{changed}, $seen->{different});
is(in_javascript('whole', 'SELECT 249788568795254815', 'print(String(JSON.parse(input)));'), '249788568795254820',
	'the example of doc/clients.md');

### As text

for my $encoding ('base32', 'base58', 'base62')
{
	$seen = in_javascript('whole',
		qq{SELECT json_agg(json_build_object('id', snowflake_to_text(id, '$encoding')) ORDER BY random()) FROM item},
		q{const ids = JSON.parse(input).map(row => row.id); print({ sent: ids, sorted: ids.slice().sort() });});
	is(scalar @{ $seen->{sent} }, 1000, "a thousand ids in $encoding");
	my $sorted = join ',', map { "'$_'" } @{ $seen->{sorted} };
	is($server->safe_psql('whole', qq{SELECT array_agg(snowflake_from_text(t, '$encoding') ORDER BY o)
			= (SELECT array_agg(id ORDER BY id) FROM item) FROM unnest(ARRAY[$sorted]) WITH ORDINALITY u(t, o)}),
		't', '... come back whole, and JavaScript sorts them as ids');
}
$seen = in_javascript('whole', q{SELECT json_agg(id::text ORDER BY id) FROM item},
	q{const ids = JSON.parse(input);
	print({ same: ids.every(id => String(BigInt(id)) === id), different: new Set(ids.map(BigInt)).size });});
is($seen->{same} && $seen->{different}, 1000, 'decimal digits as text are whole as BigInt');

### 53 bits

$seen = in_javascript('narrow', $rows, $numbers);
is($seen->{rows}, 1000, 'a thousand ids of the layout of 53 bits as JSON numbers');
is($seen->{safe}, 1000, '... all are safe');
is($seen->{changed}, 0, '... none is changed');
is($seen->{different}, 1000, '... none become equal');
ok($seen->{rising}, '... and they rise');
# The last id of this layout.
$seen = in_javascript('narrow',
	q{SELECT json_agg(json_build_object('id', id, 'exact', id::text)) FROM (VALUES (9007199254740991)) v(id)}, $numbers);
is($seen->{safe}, 1, 'the last id of that layout is the largest safe number');
is($server->safe_psql('narrow', q{SELECT worker || ' ' || seq FROM snowflake_decode(9007199254740991)}),
	'31 127', '... all bits of it set');

$server->stop('fast');
done_testing();
