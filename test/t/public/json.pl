# Ids in JSON, sent to JavaScript and stored in the table again: with to_jsonb(), row_to_json(),
# jsonb_agg() and arrays, then JSON.parse() and JSON.stringify() in node, then jsonb_to_record(),
# jsonb_populate_recordset() and COPY. No id of a column of type snowflake_id changes, nor an id of
# a view in an API's schema over a bigint column. Nearly all ids of a bigint column change.
#
# SNOWFLAKE_TRIALS sets the number of ids for each of these ways. Without node, the test returns the
# JSON as the server wrote it.
# Not in the default run: many rows in many tables.

use strict;
use warnings;

use lib 'test/perl';
use IPC::Run;
use JSON::PP;
use SnowflakeTest;
use Test::More;

my $count = $ENV{SNOWFLAKE_TRIALS} || 50_000;
my ($node) = grep { -x } map { "$_/node" } split /:/, $ENV{PATH};

my $server = new_server('json', patient => 1, conf => "log_statement = none\nautovacuum = off\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }

# The tables are equal. In back_plain an id may occur twice, because ids that change become equal.
value(qq{
	CREATE EXTENSION snowflake;
	CREATE SCHEMA api;
	CREATE TABLE item (id snowflake_id PRIMARY KEY, n integer);
	CREATE TABLE plain (id bigint PRIMARY KEY, n integer);
	INSERT INTO item SELECT * FROM snowflake_nextvals($count) WITH ORDINALITY;
	INSERT INTO plain SELECT * FROM item;
	CREATE VIEW api.item AS SELECT id::snowflake_id AS id, n FROM plain;
	CREATE TABLE back_item (id snowflake_id PRIMARY KEY, n integer);
	CREATE TABLE back_plain (id bigint, n integer);
	CREATE TABLE json_line (j jsonb);
	VACUUM ANALYZE item, plain});

my %source = (
	column => { from => 'item', row => 'item', table => 'back_item', type => 'snowflake_id' },
	view => { from => 'api.item', row => 'api.item', table => 'back_plain', type => 'snowflake_id' },
	bigint => { from => 'plain', row => 'plain', table => 'back_plain', type => 'bigint' });

# How a table is written, a JSON value in each line, and how it is read back.
my $lines = q{TRUNCATE json_line; COPY json_line FROM '<file>'; INSERT INTO <table>};
my %journey = (
	to_jsonb => {
		out => 'SELECT to_jsonb(t) FROM <from> t',
		back => "$lines SELECT r.id, r.n FROM json_line, jsonb_to_record(j) r(id <type>, n integer)" },
	jsonb_agg => {
		out => 'SELECT jsonb_agg(t ORDER BY n) FROM <from> t GROUP BY n / 5000',
		back => "$lines SELECT r.id, r.n FROM json_line, jsonb_populate_recordset(NULL::<row>, j) r" },
	# JavaScript itself writes the input of COPY.
	row_to_json => { out => 'SELECT row_to_json(t) FROM <from> t', back => q{COPY <table> FROM '<file>' (FORMAT csv)}, csv => 1 },
	arrays => {
		out => q{SELECT jsonb_build_object('first', min(n), 'ids', array_agg(id ORDER BY n)) FROM <from> GROUP BY n / 1000},
		back => "$lines SELECT e.id, r.first + e.o - 1 FROM json_line, jsonb_to_record(j) r(first integer, ids <type>[]),"
		  . ' unnest(r.ids) WITH ORDINALITY e(id, o)' });

# What an application does with a line: it parses it, reads the ids and sends it on.
my $script = <<'JAVASCRIPT';
const fs = require('fs');
const [from, to, csv] = process.argv.slice(1);
const types = {}, different = new Set();
let count = 0;
const sent = [];
for (const line of fs.readFileSync(from, 'utf8').split('\n')) {
  if (line === '') continue;
  const value = JSON.parse(line);
  for (const id of Array.isArray(value) ? value.map(row => row.id) : value.ids ?? [value.id]) {
    types[typeof id] = (types[typeof id] ?? 0) + 1;
    different.add(id);
    count++;
  }
  sent.push(csv === 'csv' ? `${value.id},${value.n}` : JSON.stringify(value));
}
fs.writeFileSync(to, sent.join('\n') + '\n');
console.log(JSON.stringify({ count, types, different: different.size }));
JAVASCRIPT

sub in_javascript
{
	my ($from, $to, $csv) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ $node, '-e', $script, $from, $to, $csv ? 'csv' : 'json' ], '<', \'', '>', \$out, '2>', \$err)
	  or die "node: $err";
	return decode_json($out);
}

# Reads a file back into a source's table. Returns how many rows were read, and how many ids are
# missing or have changed.
sub come_back
{
	my ($source, $back) = @_;
	value("TRUNCATE $source->{table}; $back");
	return split /\|/, value("SELECT (SELECT count(*) FROM $source->{table}), count(*) FROM item"
		  . " LEFT JOIN $source->{table} b USING (n) WHERE b.id IS DISTINCT FROM item.id");
}

my (%changed, $journeys);
for my $name (sort keys %source)
{
	my $source = $source{$name};
	for my $way (sort keys %journey)
	{
		my ($written, $returned) = map { $server->basedir . "/$_" } 'written', 'returned';
		my $sql = sub { my ($text, $file) = @_; return $text =~ s/<(\w+)>/$source->{$1} \/\/ $file/ger; };
		value('COPY (' . $sql->($journey{$way}{out}) . ") TO '$written'");
		is_deeply([ come_back($source, $sql->($journey{$way}{back}, $written)) ], [ $count, 0 ],
			"$name, $way: the server reads back each id as it wrote it") unless $journey{$way}{csv};
		next unless $node;
		my $seen = in_javascript($written, $returned, $journey{$way}{csv});
		my ($rows, $changed) = come_back($source, $sql->($journey{$way}{back}, $returned));
		unlink $written, $returned;
		$journeys += $count;
		is($seen->{count}, $count, "$name, $way: $count ids in JavaScript");
		is($rows, $count, '... and as many back in the table');
		if ($name eq 'bigint')
		{
			is_deeply($seen->{types}, { number => $count }, '... as numbers');
			cmp_ok($changed, '>', 0.8 * $count, '... nearly all have changed');
			cmp_ok($seen->{different}, '<', 0.2 * $count, '... and many have become equal');
			$changed{bigint} += $changed;
			next;
		}
		is_deeply($seen->{types}, { string => $count }, '... as strings');
		is($seen->{different}, $count, '... all different');
		is($changed, 0, '... none has changed');
		$changed{$name} += $changed;
	}
}
if ($node)
{
	figures('%d trials: %d ids through JavaScript: changed as snowflake_id %d, in a view of that type %d, as bigint %d of %d',
		$count, $journeys, @changed{qw(column view bigint)}, $journeys / 3);
}
else { diag('skipped: node is not installed: what JavaScript makes of the ids was not tried'); }

### Without JavaScript: its numbers are PostgreSQL's double precision

is(value("SELECT count(*) FROM $source{$_}{from} WHERE jsonb_typeof(to_jsonb(id)) = 'string'"), $count, "$_: each id is a JSON string")
  for 'column', 'view';
is(value(q{SELECT count(*) FROM plain WHERE jsonb_typeof(to_jsonb(id)) = 'number'}), $count, 'bigint: each id is a JSON number');
cmp_ok(value(q{SELECT count(*) FROM plain WHERE to_json(id)::text::float8::bigint <> id}), '>', 0.8 * $count,
	'... and double precision changes nearly all');

$server->stop('fast');
done_testing();
