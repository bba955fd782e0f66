# Tables of three nodes, each filled by its own DEFAULT, are gathered by logical replication in one
# table with a primary key, while the nodes continue to issue ids (G1). The test looks for
# conflicting ids and missing rows, and detects a conflict that it makes itself.
# Not in the default run: it starts some 150 processes.

use strict;
use warnings;

use Gathering;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

Gathering::start();
fill_first();

$central->safe_psql('postgres', 'CREATE DATABASE subscribed');
$central->safe_psql('subscribed', q{CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL, amount integer)});
for my $node (@nodes)
{
	my $name = $node->name;
	my $source = sprintf 'host=%s port=%s dbname=postgres', $node->host, $node->port;
	# Half of the rows arrive by the initial copy, the others one by one.
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
# From PostgreSQL 18 on a conflict has its own message.
my $conflict = qr/duplicate key|conflict=insert_exists/;
unlike(slurp_file($central->logfile), $conflict, 'none in the log');
is(all_rows('subscribed', 'orders'), all_rows(), 'the rows are those of the nodes');

# An id of one node, inserted by hand on another.
my $taken = $nodes[0]->safe_psql('postgres', 'SELECT max(id) FROM orders');
$nodes[1]->safe_psql('postgres', "INSERT INTO orders (id, amount) VALUES ($taken, 0)");
ok(wait_until('the subscriber to fail', sub { slurp_file($central->logfile) =~ $conflict }), 'the subscriber notices a conflict');

figures('%d rows of %d nodes gathered by logical replication', 2 * $rows * @nodes, scalar @nodes);
for my $name (@names)
{
	$central->safe_psql('subscribed', "ALTER SUBSCRIPTION $name DISABLE");
	$central->safe_psql('subscribed', "ALTER SUBSCRIPTION $name SET (slot_name = NONE)");
	$central->safe_psql('subscribed', "DROP SUBSCRIPTION $name");
}
$_->stop for @nodes, $central;
done_testing();
