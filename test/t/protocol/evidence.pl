# Evidence that the registry has lost commits ("Settling", section 4 of the design): a node names a
# later end of its window, or a lease id, that the registry does not know. The registry settles once
# for each loss. New lease ids are above all lease ids that it was told, even if its sequence was
# set back.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('evidence');
my $session = registry($server, 0, 3);
my $secret = '\x' . '11' x 16;
my ($id) = split /\|/, lease_acquire($session, 1000, '1 min', $secret);
is(lease_extend($session, $id, $secret, 2000, 11000), '62000', 'an end that is no later');
is($session->query_safe('SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... is no evidence');

# A window that ends later than the registry knows.
is(lease_extend($session, $id, $secret, 3000, 90_000), '90000', 'a window that the node knows to be longer is as long');
is($session->query_safe('SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', '... and the registry settles');
my $until = $session->query_safe('SELECT settles_until, settling_us FROM snowflake_origin');
is(lease_extend($session, $id, $secret, 3000, 95_000), '95000', 'what tells of the same loss again');
is($session->query_safe('SELECT settles_until, settling_us FROM snowflake_origin'), $until, '... changes nothing');
is($session->query_safe('SELECT snowflake_settled()'), 't', 'the operator ends it');
is($session->query_safe('SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... at once');
is($session->query_safe('SELECT snowflake_settled()'), 'f', '... and there is nothing left to end');

# A lease that the registry does not know.
my $far = $id + 1_000_000;
is(lease_extend($session, $far, $secret, 3000, 0), '', 'a lease above the last one is gone');
is($session->query_safe('SELECT last_lease_id > ' . $far . ', settles_until > clock_timestamp() FROM snowflake_origin'), 't|t', '... and the registry goes on above it, and settles');
my $end = $session->query_safe('SELECT settles_until FROM snowflake_origin');
lease_extend($session, $far + 50, $secret, 3000, 0);
is($session->query_safe('SELECT settles_until FROM snowflake_origin'), $end, 'another one of that loss changes nothing');
my ($next) = split /\|/, lease_acquire($session, 3000, '1 min', '44444444-4444-4444-4444-444444444444', $far + 20_000_000);
cmp_ok($next, '>', $far + 20_000_000, 'an acquire that has seen a higher one: on above that');
is($session->query_safe('SELECT settles_until FROM snowflake_origin'), $end, '... and what is held back is held back already');

# The sequence was set back.
$session->query_safe(q{SELECT setval(pg_get_serial_sequence('snowflake_registry', 'lease_id'), 5)});
my ($later) = split /\|/, lease_acquire($session, 3000, '1 min', '55555555-5555-5555-5555-555555555555');
cmp_ok($later, '>', $next, 'lease ids never go back');
$session->quit;

$server->stop('fast');
done_testing();
