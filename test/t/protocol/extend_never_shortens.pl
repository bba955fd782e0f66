# An extend moves a window's end forward, never back, and no further than the layout's last tick.
# Without the lease's own id and secret, neither extend nor release changes anything. The test tries
# shorter durations, any clock, wrong ids and secrets, and leases that are gone.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('extend_never_shortens');
my $session = registry($server);
my ($lease) = acquire($session, 1000, '1 min');
is((extend($session, $lease, 2000, '1 min'))[1], '62000', 'extend moves the end');
is((extend($session, $lease, 1000, '1 s'))[1], '62000', '... never back, for a shorter duration');
is((extend($session, $lease, q{'-9223372036854775808'}, '1 s'))[1], '62000', '... nor for an old clock');
is((extend($session, $lease, 500000, '1 min'))[1], '560000', 'a window that has ended, still in the registry, is moved too');
my $rows = registry_rows($session);
my %wrong = (%$lease, secret => new_secret());
is((extend($session, \%wrong, 900000))[1], '', 'with a wrong secret: null');
is((release($session, \%wrong, 1000))[1], 'f', '... and false');
is((release($session, \%wrong, -5))[1], 'f', '... before anything is said of the ticks');
%wrong = (%$lease, id => $lease->{id} + 1);
is((extend($session, \%wrong, 900000))[1], '', 'with a wrong lease id: null');
is(registry_rows($session), $rows, '... and nothing has changed');
is((extend($session, $lease, '9223372036854775807', '1 day'))[1], $max_tick + 1, 'the end stops where the layout does');
is((release($session, $lease, $max_tick))[1], 't', '... and it can be released at its last tick');
is((release($session, $lease, $max_tick))[1], 'f', '... once');
is((extend($session, $lease, 900000))[1], '', '... and is gone then');
$session->quit;

$server->stop('fast');
done_testing();
