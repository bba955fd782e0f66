# A standby that was down while its registry was restarted six times is promoted. The registry settles
# at the first report, nodes keep their leases, and nodes that begin then have other worker ids. The
# test compares all ids. t/failover/evidence does the same with files.
# Not in the default run: a registry is restarted six times under seven nodes.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 9s\nsnowflake.start_timeout = 5s\n");

my $primary = make_registry('primary');
my $standby = standby_of($primary, 'standby');
my @nodes = map { begin_node($nodes, "node_$_", place($primary, $standby)) } 1 .. 3;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
$standby->stop('fast');
push @nodes, map { begin_node($nodes, "node_$_", place($primary, $standby)) } 4 .. 6;
ok(restart_registry($primary, 6, @nodes), 'the primary is restarted six times');
$primary->stop('immediate');
$standby->start;
my @keeping = adoptable($standby, @nodes);
my $leases = leases(@keeping);
$standby->promote;
push @nodes, my $late = begin_node($nodes, 'late', place($primary, $standby));
all_different('a new node', @nodes);
is(value($standby, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', 'the registry settles');
ok(wait_until('all to be known', sub { value($standby, 'SELECT count(*) FROM snowflake_registry WHERE window_end > ' . node_tick()) == @nodes }),
	'it adopts what it does not know');
ok(ids_flow($_), "... $_->{name} issues") for @nodes;
is(leases(@keeping), $leases, '... and none of ' . @keeping . ' nodes has lost its lease');
unlike(slurp_file($nodes->logfile), qr/implausible response from registry/, '... nor refused the registry');
is(value($standby, q{SELECT count(*) FROM snowflake_registry WHERE node = 'unknown'}), scalar(@keeping), '... and shows their nodes as unknown');
like(slurp_file($standby->logfile), qr/restored lease/, '... as its log says');
none_twice('six nodes under a registry of six restarts ago, and a new one', @nodes);
value($nodes, "ALTER DATABASE $_->{name} ALLOW_CONNECTIONS false") for @nodes;
value($nodes, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$_->{name}'") for @nodes;
$standby->stop('fast');

$nodes->stop('immediate');
done_testing();
