# Tables of three nodes, each filled by its own DEFAULT, are gathered with postgres_fdw: in one
# table with a foreign partition on each node, and in one table with a primary key (G1). The test
# looks for conflicting ids and missing rows, and detects a conflict that it makes itself.
# Not in the default run: it starts some 150 processes.

use strict;
use warnings;

use Gathering;
use SnowflakeTest;
use Test::More;

Gathering::start();
fill_first();

$central->safe_psql('postgres', 'CREATE DATABASE gathered');
$central->safe_psql('gathered', q{
	CREATE EXTENSION postgres_fdw;
	CREATE TABLE everywhere (id bigint, region text, amount integer) PARTITION BY LIST (region);
	CREATE TABLE gathered (id bigint PRIMARY KEY, region text NOT NULL, amount integer) PARTITION BY HASH (id);
	CREATE TABLE gathered_0 PARTITION OF gathered FOR VALUES WITH (MODULUS 3, REMAINDER 0);
	CREATE TABLE gathered_1 PARTITION OF gathered FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE gathered_2 PARTITION OF gathered FOR VALUES WITH (MODULUS 3, REMAINDER 2);
});
for my $node (@nodes)
{
	my ($name, $host, $port) = ($node->name, $node->host, $node->port);
	$central->safe_psql('gathered', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'postgres', fetch_size '5000');
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name;
		CREATE FOREIGN TABLE ${name}_orders PARTITION OF everywhere FOR VALUES IN ('$name')
			SERVER $name OPTIONS (schema_name 'public', table_name 'orders');
	});
}

# A table with a foreign partition on each node.
is($central->safe_psql('gathered', 'SELECT count(*), count(DISTINCT id), count(DISTINCT region) FROM everywhere'),
	join('|', 3 * $rows, 3 * $rows, 3), 'rows, different ids, regions');
my $id = $nodes[1]->safe_psql('postgres', 'SELECT min(id) FROM orders');
is($central->safe_psql('gathered', "SELECT region FROM everywhere WHERE id = $id"), $names[1], 'the id alone finds its one row');

# Gathered into a partitioned table whose primary key is the id.
my ($rc, $out, $err) = $central->psql('gathered', 'INSERT INTO gathered SELECT * FROM everywhere');
is($rc, 0, 'no conflict') or diag($err);
is($central->safe_psql('gathered', 'SELECT count(*) FROM gathered'), 3 * $rows, 'all rows');
is($central->safe_psql('gathered', 'SELECT count(*) FILTER (WHERE g.region IS DISTINCT FROM e.region OR g.amount IS DISTINCT FROM e.amount) FROM gathered g FULL JOIN everywhere e USING (id)'),
	0, 'rows that are another');
my $partitions = $central->safe_psql('gathered', 'SELECT count(*) FROM (SELECT tableoid FROM gathered GROUP BY 1 HAVING count(*) > 10000) p');
is($partitions, 3, 'spread over the partitions');
is(all_rows('gathered', 'gathered'), all_rows(), 'the rows are those of the nodes');

# A row inserted through a foreign table gets its id from the node. postgres_fdw sends a value for
# every column of the foreign table, and the other columns get the node's DEFAULT.
my $name = $names[0];
$central->safe_psql('gathered', qq{
	CREATE FOREIGN TABLE ${name}_new (region text, amount integer)
		SERVER $name OPTIONS (schema_name 'public', table_name 'orders');
	INSERT INTO ${name}_new SELECT '$name', -n FROM generate_series(1, 100) n;
});
is($central->safe_psql('gathered', "SELECT count(*), count(DISTINCT id) FROM everywhere WHERE amount < 0"), '100|100', 'rows with ids of the node');
$nodes[0]->safe_psql('postgres', 'DELETE FROM orders WHERE amount < 0');

# An id of one node, inserted by hand on another.
my $taken = $nodes[0]->safe_psql('postgres', 'SELECT max(id) FROM orders');
$nodes[1]->safe_psql('postgres', "INSERT INTO orders (id, amount) VALUES ($taken, 0)");
my ($state) = query_error($central, 'gathered', 'TRUNCATE gathered; INSERT INTO gathered SELECT * FROM everywhere');
is($state, '23505', 'the primary key of the gathered table notices a conflict');

figures('%d rows of %d nodes gathered by foreign tables', $rows * @nodes, scalar @nodes);
$_->stop for @nodes, $central;
done_testing();
