# If every worker id is leased, the next node is refused with the time when the first lease ends,
# and nothing changes (G1). From that tick on and not before, the lease that ended is replaced. The
# end of its window becomes the watermark, and its previous holder finds it gone.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('all_leased');
my $session = registry($server, 0, 3);
my @leases = map { (acquire($session, 1000 + $_, '1 min'))[0] } 0 .. 7;
is(join(' ', sort { $a <=> $b } map { $_->{worker} } @leases), '0 1 2 3 4 5 6 7', 'eight leases of eight');
my $before = registry_rows($session);
my (undef, $state, $text) = acquire($session, 2000);
is($state, 'SF004', 'the ninth is refused');
like($text, qr/DETAIL:.*All 8 worker ids.*2025-01-01/s, '... with the time when the first of them ends');
# The first window ends at tick 61000.
is($session->query_safe(q{SET timezone = 'UTC'}), '', 'UTC');
like((acquire($session, 2000))[2], qr/2025-01-01 00:01:01\+00/, '... which is when the first window ends');
is((acquire($session, 60999))[1], 'SF004', 'a lease lives until its window has ended');
is(registry_rows($session), $before, '... and a refusal changes nothing');
my ($lease) = acquire($session, 61000);
is($lease->{worker}, $leases[0]{worker}, 'the first that ended is acquired again');
is($lease->{start}, 61000, '... from its end on');
is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $lease->{worker}"), '60999',
	'an expired lease leaves the last tick of its window as the watermark');
is((extend($session, $leases[0], 62000))[1], '', q{the old holder's lease is gone});
is((release($session, $leases[0], 1000))[1], 'f', '... which is no error when it releases it');
is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $lease->{worker}"), '60999', '... and changes no watermark');
$session->quit;

$server->stop('fast');
done_testing();
