# A registry takes 3 s for each response. Under a long lease calls are not affected (G4): no call
# waits for the keeper and no call fails, even while the registry is paused and then killed. The
# window still moves.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use lib 'test/perl';
use OutageTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $registry = tcp_registry();
my $node = relayed_node($registry, '60s');
my $timed = "SELECT id || E'\\nt ' || extract(epoch FROM b - a) FROM "
  . "(SELECT clock_timestamp() AS a, snowflake_nextval() AS id, clock_timestamp() AS b) AS c;\nSELECT FROM pg_sleep(0.005);\n";
ids_flow($node, 'a node has a lease');
set_lease_duration($node->{server}, '4min');
ok(wait_until('the window to grow', sub { node_status($node, q{ids_flow_seconds > 225}) eq 't' }), 'its window grows');
my ($from, $waits) = split /\|/, node_status($node, 'extract(epoch FROM window_end), lease_waits_total');
$node->{relay}->tell('delay 3');
my $load = start_clients($node->{server}, 1, $timed x 200);

pause_server($registry);
set_lease_duration($node->{server}, '5min');
ok(wait_until('the fault to be seen', sub { node_status($node, q{coalesce(last_error, '')}) =~ /in time/ }), 'the registry is paused');
kill_server($registry, children => 1);
ok(wait_until('the fault to be seen', sub { node_status($node, q{coalesce(last_error, '')}) =~ /could not connect to|lost the connection to/ }), '... and killed');
$registry->start;
ok(wait_until('the window to move', sub { node_status($node, "extract(epoch FROM window_end) > $from + 15") eq 't' }), 'the window was moved');
ok(wait_until('calls', sub { client_bytes($load) > 40_000 }), 'calls went on');
is(node_status($node, 'lease_waits_total'), $waits, 'none of which waited for the keeper');
stop_clients($load);
$node->{relay}->tell('pass');

my ($calls, $slowest) = (0, 0);
for my $line (split /\n/, slurp_file($load->{files}[0]))
{
	next unless $line =~ /^t ([\d.]+)/;
	$calls++;
	$slowest = $1 if $1 > $slowest;
}
figures('answers 3 s late each: the slowest of %d calls %.1f ms', $calls, 1000 * $slowest);
my $errors = $load->{files}[0] =~ s/\.out$/.err/r;
is(-e $errors ? slurp_file($errors) : '', '', 'no error');
cmp_ok($calls, '>', 1000, 'calls');
my ($ids, $duplicates) = compare_ids(@{ $load->{files} });
is($duplicates, 0, "no duplicate among $ids ids");
end_nodes($node);
$registry->stop('fast');
done_testing();
