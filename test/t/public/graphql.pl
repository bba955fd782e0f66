# Ids over HTTP through a GraphQL layer (PostGraphile) and through handlers that send row_to_json()
# and json_agg(). Each id is queried, read by JSON.parse(), written by JSON.stringify() and put back
# into a table. With the type snowflake_id, as a column and in a view of an API's schema, no id
# changes. With bigint the handlers change nearly all ids. PostGraphile changes none, because it
# sends strings, but its cursors contain numbers, so pages miss rows or show rows twice.
#
# 10,000 ids; SNOWFLAKE_TRIALS=1000000 TEST_TIMEOUT=3000 takes six minutes. PostGraphile is npm's:
# test/clients fetches it into the folder that SNOWFLAKE_NODE_MODULES names.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use JSON::PP;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $trials = $ENV{SNOWFLAKE_TRIALS} || 10_000;
die "SNOWFLAKE_TRIALS: at least 1000\n" if $trials < 1000;
my $node = program_in('node');
my $modules = $ENV{SNOWFLAKE_NODE_MODULES};
left_out_unless($node && $modules && -d "$modules/postgraphile" && -d "$modules/pg", 'PostGraphile', 'test/clients fetches it');
note('PostGraphile ' . decode_json(slurp_file("$modules/postgraphile/package.json"))->{version});

my $server = new_server('graphql', initdb => [ '--encoding=UTF8', '--locale=C' ], patient => 1, conf => "listen_addresses = '127.0.0.1'\n" . quiet());
start_server($server);
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ('127.0.0.1', $server->port, 'postgres');

# The schemas have the same ids.
my %type_in = (numbers => 'bigint', typed => 'snowflake_id', api => 'snowflake_id');
my @schemas = sort keys %type_in;
my @layers = ('graphql', 'row_to_json', 'json_agg');
my $schemas = join ' ', map { "CREATE SCHEMA $_; CREATE FUNCTION $_.give_back(ids $type_in{$_}\[], ns integer[]) RETURNS void
	LANGUAGE sql AS \$\$ INSERT INTO public.returned SELECT '$_', 'graphql', * FROM unnest(ids, ns) \$\$;" } @schemas;
$server->safe_psql('postgres', <<"SQL");
CREATE EXTENSION snowflake;
CREATE TABLE returned (schema text, layer text, id snowflake_id, n integer);
$schemas
CREATE TABLE numbers.item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer UNIQUE, name text);
CREATE TABLE typed.item (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(), n integer UNIQUE, name text);
CREATE VIEW api.item AS SELECT id::snowflake_id AS id, n, name FROM numbers.item;
COMMENT ON VIEW api.item IS '\@primaryKey id';
COMMENT ON COLUMN api.item.id IS '\@omit create,update';
INSERT INTO numbers.item (n) SELECT generate_series(1, $trials);
INSERT INTO typed.item SELECT * FROM numbers.item;
CREATE TABLE sent AS SELECT n, id FROM numbers.item;
ANALYZE;
SQL

my $folder = PostgreSQL::Test::Utils::tempdir();
symlink $modules, "$folder/node_modules" or die "symlink: $!";
my $program = write_program("$folder/layers.cjs", <<'JAVASCRIPT');
const http = require('node:http')
const pg = require('pg')
const { postgraphile } = require('postgraphile')

const [count, ...schemas] = process.argv.slice(2)
const page = 1000
const pool = new pg.Pool()

async function serve(handler) {
  const server = http.createServer(handler)
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}`
}

// What a browser does: it knows ids from JSON.parse() and sends them by JSON.stringify().
async function call(url, body) {
  const response = await fetch(url, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${text}`)
  return JSON.parse(text)
}

async function query(url, query, variables) {
  const { data, errors } = await call(url, { query, variables })
  if (errors) throw new Error(JSON.stringify(errors))
  return data
}

async function graphql(schema) {
  const url = await serve(postgraphile(pool, schema, { graphqlRoute: '/', disableQueryLog: true, graphiql: false })) + '/'
  const { __type: { fields } } = await query(url, '{ __type(name: "Item") { fields { name type { name ofType { name } } } } }')
  const { type } = fields.find(field => field.name === 'id')
  const scalar = type.name ?? type.ofType.name
  const seen = { scalar, strings: 0, found: 0, nodes: 0, updated: 0, created: 0, deleted: 0 }
  const some = []                         // a thousand of all
  for (let pageInfo = { endCursor: null, hasNextPage: true }; pageInfo.hasNextPage;) {
    const { allItems } = await query(url, `query ($first: Int, $after: Cursor) {
      allItems(first: $first, after: $after, orderBy: PRIMARY_KEY_ASC) { nodes { id n } pageInfo { endCursor hasNextPage } } }`,
    { first: page, after: pageInfo.endCursor })
    const ids = allItems.nodes.map(node => node.id)
    seen.strings += ids.filter(id => typeof id === 'string').length
    some.push(...ids.slice(0, 1000 * page / count))
    await query(url, `mutation ($ids: [${scalar}], $ns: [Int]) { giveBack(input: { ids: $ids, ns: $ns }) { clientMutationId } }`,
      { ids, ns: allItems.nodes.map(node => node.n) })
    pageInfo = allItems.pageInfo
  }
  const find = async id => (await query(url, `query ($id: ${scalar}!) { itemById(id: $id) { id } }`, { id })).itemById?.id
  const nodeOf = async id => (await query(url, `query ($id: ${scalar}!) { itemById(id: $id) { nodeId } }`, { id })).itemById.nodeId
  const byNode = async nodeId => (await query(url, 'query ($nodeId: ID!) { item(nodeId: $nodeId) { id } }', { nodeId })).item.id
  const first = 50 * schemas.indexOf(schema)
  for (const id of some.slice(first, first + 50)) {
    if (await find(id) === id) seen.found++
    if (await byNode(await nodeOf(id)) === id) seen.nodes++
    const { updateItemById: { item } } = await query(url, `mutation ($id: ${scalar}!) {
      updateItemById(input: { id: $id, itemPatch: { name: "${schema}" } }) { item { id name } } }`, { id })
    if (item.id === id && item.name === schema) seen.updated++
    const { createItem: { item: created } } = await query(url, 'mutation { createItem(input: { item: { name: "created" } }) { item { id } } }')
    if (await find(created.id) === created.id) seen.created++
    const { deleteItemById: { item: deleted } } = await query(url, `mutation ($id: ${scalar}!) {
      deleteItemById(input: { id: $id }) { item { id } } }`, { id: created.id })
    if (deleted.id === created.id && await find(created.id) === undefined) seen.deleted++
  }
  return seen
}

// A handler that lets node-postgres parse the rows, and one that sends the server's text.
const rows = {
  row_to_json: async (schema, from) => JSON.stringify((await pool.query(
    `SELECT row_to_json(i) AS item FROM ${schema}.item i WHERE n > $1 AND n <= $1 + $2 ORDER BY n`, [from, page])).rows.map(row => row.item)),
  json_agg: async (schema, from) => (await pool.query(
    `SELECT json_agg(i ORDER BY n)::text AS items FROM ${schema}.item i WHERE n > $1 AND n <= $1 + $2`, [from, page])).rows[0].items,
}

async function handle(request, response) {
  try {
    const [, layer, schema, from] = request.url.split('/')
    if (request.method === 'POST') {
      let body = ''
      for await (const chunk of request) body += chunk
      await pool.query(`INSERT INTO returned SELECT $1, $2, id, n FROM jsonb_populate_recordset(NULL::${schema}.item, $3)`, [schema, layer, body])
      response.end('{}')
    } else {
      response.end(await rows[layer](schema, Number(from)))
    }
  } catch (error) {
    response.statusCode = 500
    response.end(String(error))
  }
}

async function rest(url, layer, schema) {
  let strings = 0
  for (let from = 0; from < count; from += page) {
    const items = await call(`${url}/${layer}/${schema}/${from}`)
    strings += items.filter(item => typeof item.id === 'string').length
    await call(`${url}/${layer}/${schema}`, items)
  }
  return { strings }
}

async function main() {
  const seen = {}
  const url = await serve(handle)
  for (const schema of schemas) {
    seen[schema] = { row_to_json: await rest(url, 'row_to_json', schema), json_agg: await rest(url, 'json_agg', schema) }
    seen[schema].graphql = await graphql(schema)
  }
  console.log(JSON.stringify(seen))
}
main().then(() => process.exit(0), error => { console.error(error); process.exit(1) })
JAVASCRIPT

my ($out, $err) = ('', '');
my $well = IPC::Run::run([ $node, $program, $trials, @schemas ], '<', '/dev/null', '>', \$out, '2>', \$err,
	IPC::Run::timeout((60 + $trials / 500) * slowness()));
ok($well, 'the layers answered') or die "$out$err\n";
my $seen = decode_json((split /\n/, $out)[-1]);

my %changed;
for my $schema (@schemas)
{
	my %came = map { my ($layer, @counts) = split /\|/; $layer => \@counts } split /\n/, $server->safe_psql('postgres', qq{
		SELECT layer, count(*), count(*) FILTER (WHERE r.id <> sent.id), count(DISTINCT r.id), count(*) = $trials AND count(DISTINCT n) = $trials
		FROM returned r JOIN sent USING (n) WHERE schema = '$schema' GROUP BY layer});
	for my $layer (@layers)
	{
		my ($count, $changed, $different, $once) = @{ $came{$layer} // [ 0, 0, 0, 'f' ] };
		my $strings = $seen->{$schema}{$layer}{strings};
		$changed{$schema}{$layer} = $changed;
		if ($type_in{$schema} eq 'bigint' && $layer eq 'graphql')
		{
			# PostGraphile's cursors contain numbers.
			is($changed, 0, "$schema, $layer: none changed");
			is($strings, $count, '... as strings');
			is($once, 'f', '... but the pages missed rows, or had rows twice');
			$changed{$schema}{missed} = $trials - $different;
			next;
		}
		is("$count $once", "$trials t", "$schema, $layer: all came back, each once");
		if ($type_in{$schema} eq 'bigint')
		{
			is($strings, 0, '... as numbers');
			cmp_ok($changed, '>', 0.8 * $trials, '... nearly all changed');
			cmp_ok($different, '<', 0.2 * $trials, '... and many became equal');
		}
		else
		{
			is($strings, $trials, '... as strings');
			is($changed, 0, '... none changed');
			is($different, $trials, '... none became equal');
		}
	}
	my $graphql = $seen->{$schema}{graphql};
	is($graphql->{scalar}, $type_in{$schema} eq 'bigint' ? 'BigInt' : 'BigFloat', "$schema: PostGraphile's scalar");
	is(join(' ', @{$graphql}{qw(found nodes updated created deleted)}), '50 50 50 50 50', '... rows are found, found as nodes, updated, created and deleted by their ids');
	my $table = $schema eq 'api' ? 'numbers' : $schema;
	is($server->safe_psql('postgres', qq{SELECT count(*), count(*) FILTER (WHERE name = '$schema') FROM $table.item}), "$trials|50", '... in the table');
}
figures('%d ids over HTTP and back, changed by %s: snowflake_id as a column %s, in a view %s, bigint %s; pages of PostGraphile missed %d bigints', $trials,
	join(', ', @layers), (map { my $in = $changed{$_}; join ', ', map { $in->{$_} } @layers } qw(typed api numbers)), $changed{numbers}{missed});

$server->stop('fast');
done_testing();
