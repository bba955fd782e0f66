# A registry that is rolled back while its nodes live, by a base backup that is started without recovery.signal: neither system
# identifier nor timeline tell of it. With the operator's word, given before any node asks, only the reserve is used; without it
# the registry goes on elsewhere in the common part until a node names a lease that was lost. Compared are the worker ids of all nodes
# that issue at the same time, and all ids. SNOWFLAKE_SEED repeats a run.
# Not in the default run: two registries that are rolled back under ten nodes; t/failover/evidence
# has a third.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

seed();
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 9s\nsnowflake.start_timeout = 5s\n");
roll_back($nodes, how => 'backup', word => 1, first => 'acquires');
roll_back($nodes, how => 'backup', word => 0, first => 'acquires');
$nodes->stop('immediate');
done_testing();
