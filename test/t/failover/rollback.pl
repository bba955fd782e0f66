# A registry is rolled back while its nodes run: a base backup starts without recovery.signal, so
# neither the system identifier nor the timeline changes. If the operator calls snowflake_settle()
# before any node calls the registry, it uses only the reserve. Without this call, it continues at
# another slot of the common part until a node names a lease that was lost. The test compares the
# worker ids of all nodes that issue at the same time, and all ids. SNOWFLAKE_SEED repeats a run.
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
roll_back($nodes, how => 'backup', settle => 1, first => 'acquires');
roll_back($nodes, how => 'backup', settle => 0, first => 'acquires');
$nodes->stop('immediate');
done_testing();
