# What ids that are unique across servers are for: tables of three nodes, each filled by its own DEFAULT, come together in one
# table with a primary key, through postgres_fdw and through logical replication, while the nodes go on. Tries to find an id
# that conflicts or a row that is missing.
#
# The server that gathers is the registry's, and has no library preloaded: it issues none of these ids.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 20_000;    # of each node, before and again while they are being gathered
my @names = qw(north east south);

my $central = new_server('central', preload => 0, conf => "log_statement = none\nmax_worker_processes = 16\n"
	  . "max_logical_replication_workers = 10\nmax_sync_workers_per_subscription = 3\n");
start_server($central);
$central->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my $conninfo = sprintf 'host=%s port=%s dbname=postgres', $central->host, $central->port;

my @nodes;
for my $name (@names)
{
	my $node = new_server($name, conf => qq{
log_statement = none
snowflake.registry = '$conninfo'
snowflake.node_name = '$name'
wal_level = logical
max_wal_senders = 8
max_replication_slots = 8
});
	start_server($node);
	$node->safe_psql('postgres', qq{
		CREATE EXTENSION snowflake;
		CREATE TABLE orders (
			id bigint DEFAULT snowflake_nextval(),
			region text NOT NULL DEFAULT '$name' CHECK (region = '$name'),
			amount integer NOT NULL,
			PRIMARY KEY (id, region));
		CREATE PUBLICATION orders FOR TABLE orders;
	});
	push @nodes, $node;
}

# Several sessions of every node at once, so that the nodes' ticks meet.
sub fill
{
	my @runs;
	for my $node (@nodes)
	{
		for my $part (1 .. 4)
		{
			my $each = $rows / 8;
			my $sql = "INSERT INTO orders (amount) SELECT n FROM generate_series(1, $each) n; "
			  . "INSERT INTO orders (amount) VALUES (1), (2); INSERT INTO orders (amount) SELECT n FROM generate_series(1, $each - 2) n";
			push @runs, IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', $sql ],
				'<', '/dev/null', '>&', \my $output);
		}
	}
	my $failed = 0;
	for my $run (@runs) { $run->finish or $failed++; }
	return $failed;
}

subtest 'each node fills its own table' => sub {
	is(fill(), 0, 'sessions that failed');
	my %workers = map { $_->safe_psql('postgres', 'SELECT worker FROM snowflake_status') => 1 } @nodes;
	is(scalar keys %workers, 3, 'worker ids of the one registry');
	is($central->safe_psql('postgres', q{SELECT string_agg(node, ' ' ORDER BY node) FROM snowflake_workers}), join(' ', sort @names), 'who holds them');
	for my $node (@nodes)
	{
		is($node->safe_psql('postgres', 'SELECT count(*) FROM orders'), $rows, 'rows of ' . $node->name);
	}
};

# ---------------------------------------------------------------------------------------------------------------------
# postgres_fdw
# ---------------------------------------------------------------------------------------------------------------------

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

subtest 'a table with a foreign partition on each node' => sub {
	is($central->safe_psql('gathered', 'SELECT count(*), count(DISTINCT id), count(DISTINCT region) FROM everywhere'),
		join('|', 3 * $rows, 3 * $rows, 3), 'rows, different ids, regions');
	my $id = $nodes[1]->safe_psql('postgres', 'SELECT min(id) FROM orders');
	is($central->safe_psql('gathered', "SELECT region FROM everywhere WHERE id = $id"), $names[1], 'the id alone finds its one row');
};

subtest 'gathered into a partitioned table whose primary key is the id' => sub {
	my ($rc, $out, $err) = $central->psql('gathered', 'INSERT INTO gathered SELECT * FROM everywhere');
	is($rc, 0, 'no conflict') or diag($err);
	is($central->safe_psql('gathered', 'SELECT count(*) FROM gathered'), 3 * $rows, 'all rows');
	is($central->safe_psql('gathered', 'SELECT count(*) FILTER (WHERE g.region IS DISTINCT FROM e.region OR g.amount IS DISTINCT FROM e.amount) FROM gathered g FULL JOIN everywhere e USING (id)'),
		0, 'rows that are another');
	my $partitions = $central->safe_psql('gathered', 'SELECT count(*) FROM (SELECT tableoid FROM gathered GROUP BY 1 HAVING count(*) > 10000) p');
	is($partitions, 3, 'spread over the partitions');
};

subtest 'a row inserted through a foreign table gets its id from the node' => sub {
	# postgres_fdw sends a value for every column that the foreign table has; the others get the node's DEFAULT.
	my $name = $names[0];
	$central->safe_psql('gathered', qq{
		CREATE FOREIGN TABLE ${name}_new (region text, amount integer)
			SERVER $name OPTIONS (schema_name 'public', table_name 'orders');
		INSERT INTO ${name}_new SELECT '$name', -n FROM generate_series(1, 100) n;
	});
	is($central->safe_psql('gathered', "SELECT count(*), count(DISTINCT id) FROM everywhere WHERE amount < 0"), '100|100', 'rows with ids of the node');
	$nodes[0]->safe_psql('postgres', 'DELETE FROM orders WHERE amount < 0');
};

# ---------------------------------------------------------------------------------------------------------------------
# Logical replication
# ---------------------------------------------------------------------------------------------------------------------

$central->safe_psql('postgres', 'CREATE DATABASE subscribed');
$central->safe_psql('subscribed', q{CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL, amount integer)});

subtest 'replicated into one table whose primary key is the id, while the nodes go on' => sub {
	for my $node (@nodes)
	{
		my $name = $node->name;
		my $source = sprintf 'host=%s port=%s dbname=postgres', $node->host, $node->port;
		# Half of the rows come by the first copy, the others one by one.
		$central->safe_psql('subscribed', "CREATE SUBSCRIPTION $name CONNECTION '$source' PUBLICATION orders WITH (streaming = off)");
	}
	is(fill(), 0, 'sessions that failed');
	my $all = 2 * $rows * @nodes;
	my $count = 0;
	wait_until('all rows at the subscriber', sub {
		($count = $central->safe_psql('subscribed', 'SELECT count(*) FROM orders')) >= $all;
	});
	is($count, $all, 'all rows');
	is($central->safe_psql('subscribed', 'SELECT string_agg(region || n, \' \' ORDER BY region) FROM (SELECT region, count(*) AS n FROM orders GROUP BY 1) r'),
		join(' ', map { $_ . 2 * $rows } sort @names), 'of each node');
	# Each later version has more of these counters, some under other names.
	is($central->safe_psql('subscribed', q{SELECT count(*) >= 2 * count(DISTINCT subid), sum(counter.value::bigint)
		FROM pg_stat_subscription_stats s, jsonb_each_text(to_jsonb(s)) counter WHERE counter.key ~ '_error_count$|^confl_'}), 't|0', 'conflicts');
	unlike(slurp_file($central->logfile), qr/duplicate key/, 'none in the log');
};

subtest 'both ways lead to the same rows' => sub {
	my $digest = q{SELECT md5(string_agg(id || region || amount, ' ' ORDER BY id)) FROM };
	is($central->safe_psql('subscribed', $digest . 'orders'), $central->safe_psql('gathered', $digest . 'everywhere'), 'rows');
};

subtest 'a conflict would have been noticed' => sub {
	# An id of one node, put by hand into another.
	my $id = $nodes[0]->safe_psql('postgres', 'SELECT max(id) FROM orders');
	$nodes[1]->safe_psql('postgres', "INSERT INTO orders (id, amount) VALUES ($id, 0)");
	my ($state) = query_error($central, 'gathered', "TRUNCATE gathered; INSERT INTO gathered SELECT * FROM everywhere");
	is($state, '23505', 'by the primary key of the gathered table');
	ok(wait_until('the subscriber to fail', sub { slurp_file($central->logfile) =~ /duplicate key/ }), 'and by the subscriber');
	$central->safe_psql('subscribed', "ALTER SUBSCRIPTION $names[1] DISABLE");
};

figures('%d rows of %d nodes gathered by foreign tables and by logical replication', 2 * $rows * @nodes, scalar @nodes);

for my $name (@names)
{
	$central->safe_psql('subscribed', "ALTER SUBSCRIPTION $name DISABLE");
	$central->safe_psql('subscribed', "ALTER SUBSCRIPTION $name SET (slot_name = NONE)");
	$central->safe_psql('subscribed', "DROP SUBSCRIPTION $name");
}
$_->stop for @nodes, $central;
done_testing();
