# What nodes know is evidence of lost commits, whatever the timeline shows. A registry's files of
# several restarts ago are restored, and the nodes extend first. If other nodes acquire first, only
# chance keeps worker ids apart (section 4 of the design); unit/settling_test.cpp measures how often
# this fails.
#
# At length, others do acquire first: under files of several restarts ago, after snowflake_settle();
# and under a base backup that starts without recovery.signal, with and without this call. The test
# compares the worker ids of all nodes that issue at the same time, and all ids. SNOWFLAKE_SEED
# repeats a run.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

seed();
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 10s\nsnowflake.start_timeout = 5s\n");
roll_back($nodes, how => 'files', settle => 0, first => 'extends', restarts => 2 + int(rand(2)));
if ($ENV{SNOWFLAKE_ALL})
{
	roll_back($nodes, how => 'files', settle => 1, first => 'acquires', restarts => 2 + int(rand(4)));
	roll_back($nodes, how => 'backup', settle => $_, first => 'acquires') for 1, 0;
}
$nodes->stop('immediate');
done_testing();
