# A copy of a node is a different node, whatever is copied with the data directory (G1, section 5 of
# the design). A hot standby issues ids under its own worker id, also after its promotion, and so
# does a clone. The three nodes have the same name and three leases, and no two of them issue equal
# ids.
# Not in the default run: it starts some 100 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Cluster;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, 'fleet');
my $node = new_server('node', streaming => 1,
	conf => "snowflake.lease_duration = 6s\nsnowflake.start_timeout = 60s\nsnowflake.registry = '" . at($registry, 'fleet') . "'\nsnowflake.node_name = 'number 2'\n");
start_server($node);
value($node, 'CREATE EXTENSION snowflake');
take($node, 1000);

$node->backup('copy');
my $replica = PostgreSQL::Test::Cluster->new('replica');
$replica->init_from_backup($node, 'copy', has_streaming => 1);
$replica->start;
my $clone = PostgreSQL::Test::Cluster->new('clone');
$clone->init_from_backup($node, 'copy');
$clone->start;
SKIP:
{
	my ($state, $text) = query_error($replica, 'postgres', 'SELECT snowflake_nextval()');
	is($state, '00000', 'a hot standby issues ids under a remote registry') or diag($text);
	skip 'the standby does not issue', 5 if $state ne '00000';
	is(value($replica, 'SELECT pg_is_in_recovery()'), 't', '... in recovery');
	take($replica, 1000);
	my $worker = status($replica, 'worker');
	isnt($worker, status($node, 'worker'), '... with a worker id of its own');
	take($node, 1000);
	ok(moves($replica), '... and moves its window');
	$replica->promote;
	take($replica, 1000);
	isnt(status($replica, 'worker'), status($node, 'worker'), 'once promoted it goes on');
	is(status($replica, 'leases_acquired_total'), '1', '... under the same lease');
}
take($_, 1000) for $clone, $node;
isnt(status($clone, 'worker'), status($node, 'worker'), 'a clone acquires its own worker id');
is(value($registry, "SELECT count(DISTINCT worker) FROM $schema.snowflake_workers WHERE node = 'number 2'", 'fleet'), '3', 'three nodes of one name have three leases');
take($_, 1000) for $node, $clone, $replica;
is(taken_twice(), 0, 'and no id of any of them is another\'s');
$_->stop('fast') for $clone, $replica;
is(value($registry, "SELECT count(*) FROM $schema.snowflake_workers WHERE node = 'number 2'", 'fleet'), '1', 'a clean shutdown releases a lease');
$node->stop('fast');
$registry->stop('smart');
done_testing();
