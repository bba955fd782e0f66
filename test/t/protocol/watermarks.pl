# A watermark never falls (G1), whatever last tick a release names, whatever watermark already
# exists, and whether the lease was released or expired. If all worker ids were used ahead of the
# clock, the one with the lowest watermark is assigned, and its window begins above that watermark.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('watermarks');
my $session = registry($server, 0, 2);
my ($lease) = acquire($session, 5000, '1 min');
is((release($session, $lease, $_))[0], '22023', "released at $_, outside 4999 .. 64999: refused")
  for 4998, 65000, -1, '9223372036854775807', q{'-9223372036854775808'};
is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '1', '... and still leased');
is((release($session, $lease, 64999))[1], 't', 'released at its last tick');
is(watermarks($session), "$lease->{worker}|64999", '... which is the watermark');

# Later leases begin above the watermarks; a clock that is behind cannot lower them.
my %ahead = ($lease->{worker} => 64999);
for my $n (1 .. 3)
{
	my ($other) = acquire($session, 5000, (55 + $n) . ' s');
	isnt($other->{worker}, $lease->{worker}, 'a worker id whose watermark lies ahead of the clock is skipped');
	release($session, $other, 5000);
	$ahead{ $other->{worker} } = 60_000 + $n * 1000 - 1;
}
my ($lowest) = sort { $ahead{$a} <=> $ahead{$b} } keys %ahead;
my ($acquired) = acquire($session, 5000, '1 min');
is($acquired->{worker}, $lowest, 'where all lie ahead, the lowest is taken');
is($acquired->{start}, 61000, '... and its window starts above it');
is($acquired->{end}, 121000, '... and lasts as long as any other');
is((release($session, $acquired, 60999))[1], 't', 'a lease that used nothing is released at the tick before its window');

# An existing watermark stays if it is higher.
($acquired) = acquire($session, 5000);
$session->query_safe("UPDATE snowflake_watermark SET last_tick = 700000 WHERE worker_id = $acquired->{worker}");
release($session, $acquired, $acquired->{start});
is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $acquired->{worker}"), '700000', 'a release never lowers a watermark');
# The other leases do not end, so the lease that has ended is needed.
($acquired) = acquire($session, 800000, '1 s');
acquire($session, 800000, '1 day') for 1 .. 3;
$session->query_safe("UPDATE snowflake_watermark SET last_tick = 900000 WHERE worker_id = $acquired->{worker}");
is((acquire($session, 801000, '1 s'))[0]{start}, 900001, 'expired, it is acquired from its watermark on');
is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $acquired->{worker}"), '900000', 'nor does expiry');
$session->quit;

$server->stop('fast');
done_testing();
