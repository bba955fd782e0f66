# What nodes know is evidence of lost commits, whatever the timeline shows. A registry's files of
# several restarts ago are restored, and the nodes extend first. If other nodes acquire first, only
# chance keeps worker ids apart (section 4 of the design); unit/settling_test.cpp measures how often
# this fails.
# SNOWFLAKE_SEED repeats a run.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

seed();
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 9s\nsnowflake.start_timeout = 5s\n");
roll_back($nodes, how => 'files', settle => 0, first => 'extends', restarts => 2 + int(rand(2)));
$nodes->stop('immediate');
done_testing();
