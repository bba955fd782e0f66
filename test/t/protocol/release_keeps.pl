# The watermark after a release if clocks are judged. A node whose clock is ahead may have used
# ticks up to that difference. So the watermark includes them, limited to the node's window (G1). A
# last tick in the future is refused.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('release_keeps');
my $session = registry($server);
my $ms = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
my $now = sub { $session->query_safe("SELECT $ms") };
my $mark = sub { $session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $_[0]") };
$session->query_safe(q{SET snowflake.max_clock_skew = '10s'});
my ($lease) = acquire($session, $now->(), '1 min');
my $before = $now->();
is((release($session, $lease, $lease->{start}))[1], 't', 'a lease released at once');
my $kept = $mark->($lease->{worker});
# 10 s and one tick, and 5 ms.
ok($kept >= $before + 10_006 && $kept <= $now->() + 10_006, '... keeps what a node whose clock is ahead may have used: the registry\'s clock, max_clock_skew and max_lead');
($lease) = acquire($session, $now->(), '2 s');
release($session, $lease, $lease->{start});
is($mark->($lease->{worker}), $lease->{end} - 1, '... but no more than the window had');
($lease) = acquire($session, $now->(), '1 min');
is((release($session, $lease, $lease->{start} + 30_000))[0], 'SF002', 'a last tick that is yet to come is refused');
is((acquire($session, $now->() + 40_000, '1 min'))[1], 'SF002', 'so is a clock that is ahead');
$session->quit;

$server->stop('fast');
done_testing();
