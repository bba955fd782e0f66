# Tables that are distributed by a column of the type snowflake_id. Rows are spread evenly. A
# condition on the id reads one shard, whatever the type of the value. Tables that are distributed
# by the same type are joined locally. Ids are unique through each node. Citus requires equal types:
# a column of type bigint cannot be co-located with a column of this type, nor joined with it.
# Not in the default run: it needs Citus, which is built for it.
use strict;
use warnings;

use CitusTest;
use SnowflakeTest;
use Test::More;

# A busy machine needs longer for a first id now and then.
CitusTest::start(conf => "snowflake.start_timeout = 60s\n");
value($coordinator, q{
	CREATE TABLE item (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(), name text);
	SELECT create_distributed_table('item', 'id');
	CREATE TABLE part (item_id snowflake_id REFERENCES item, line int, PRIMARY KEY (item_id, line));
	SELECT create_distributed_table('part', 'item_id', colocate_with => 'item');
	CREATE TABLE big (item_id bigint, line int)});
for my $node ($coordinator, @workers)
{
	value($node, q{INSERT INTO item (name) SELECT 'many' FROM generate_series(1, 1000)});
	value($node, q{INSERT INTO item (name) VALUES ('one'); COPY item (name) FROM PROGRAM 'seq 1000'});
}
is(value($coordinator, 'SELECT count(*), count(DISTINCT id), count(DISTINCT (snowflake_decode(id)).worker) FROM item'), '6003|6003|3', 'written through each node');
is(value($coordinator, q{SELECT count(*), min(result::int) > 500, max(result::int) < 1000 FROM run_command_on_shards('item', 'SELECT count(*) FROM %s')}), '8|t|t',
	'rows spread evenly');

my $insert = 'INSERT INTO part SELECT id, 1 FROM item';
unlike(value($coordinator, "EXPLAIN (COSTS OFF) $insert"), qr/INSERT\/SELECT method/, 'INSERT ... SELECT stays on the shards');
value($coordinator, $insert);
my $join = 'SELECT count(*), min(name) FROM item JOIN part ON item_id = id';
is(value($coordinator, $join), '6003|1', 'a join of tables that are co-located');
like(value($coordinator, "EXPLAIN (COSTS OFF) $join WHERE name > ''"), qr/Task Count: 8/, '... on the shards');

my $id = value($coordinator, 'SELECT max(id) FROM item');
for my $value ($id, "'$id'", "'$id'::snowflake_id", "$id\::bigint")
{
	my $plan = value($coordinator, "EXPLAIN (COSTS OFF) SELECT name FROM item WHERE id = $value");
	like($plan, qr/Task Count: 1\b.*Index (?:Only )?Scan/s, "id = $value: one shard, by its index");
	is(value($coordinator, "SELECT count(*) FROM item WHERE id = $value"), '1', '... with the row');
}
for my $type (qw(snowflake_id bigint))
{
	is(value($coordinator, "SET plan_cache_mode = force_generic_plan; PREPARE one($type) AS SELECT count(*) FROM item WHERE id = \$1;" . "EXECUTE one('$id');" x 8), join("\n", (1) x 8),
		"a prepared statement with a parameter of type $type");
}
is(value($workers[0], "UPDATE item SET name = 'changed' WHERE id = $id RETURNING id"), $id, 'an UPDATE through a worker');
is(value($workers[0], "SELECT to_json(i) FROM item i WHERE id = $id"), qq({"id":"$id","name":"changed"}), '... and its JSON has a string');
is(value($coordinator, "DELETE FROM part WHERE item_id = $id; SELECT count(*) FROM part"), '6002', 'a DELETE');

like((query_error($coordinator, $db, q{SELECT create_distributed_table('big', 'item_id', colocate_with => 'item')}))[1], qr/Distribution column types don't match/,
	'bigint cannot be co-located with it');
value($coordinator, q{SELECT create_distributed_table('big', 'item_id', colocate_with => 'none'); INSERT INTO big SELECT id, 1 FROM item});
like((query_error($coordinator, $db, 'SET citus.enable_repartition_joins = on; SELECT count(*) FROM item JOIN big ON item_id = id'))[1],
	qr/complex joins are only supported/, '... nor joined with it');
is(value($coordinator, 'WITH b AS MATERIALIZED (SELECT item_id FROM big OFFSET 0) SELECT count(*) FROM item JOIN b ON item_id = id'), '6003', '... but as a subquery of its own');
finish();
