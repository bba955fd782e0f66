# A node that asks again, because the answer was lost, asks with the same token and gets the same
# lease, its window no shorter (section 4 of the design). A node that has a lease gets another one
# in its place only if that begins earlier.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('one_token_one_lease');
my $session = registry($server, 0, 3);
my $token = '11111111-1111-1111-1111-111111111111';
my $first = lease_acquire($session, 1000, '1 min', $token);
like($first, qr/\|1000\|11000$/, 'a first window is 10 s long');
is(lease_acquire($session, 1000, '1 min', $token), $first, 'the same token again: the same lease');
is(lease_acquire($session, 5000, '1 min', $token), $first =~ s/11000$/15000/r, '... its window moved as far as a first one goes');
is(lease_acquire($session, 1000, '2 s', $token), $first =~ s/11000$/15000/r, '... and not back');
like(lease_acquire($session, 1000, '2 s', '22222222-2222-2222-2222-222222222222'), qr/\|1000\|3000$/, 'nor is it longer than what was asked for');
is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '2', '... two leases of two tokens');
is(lease_acquire($session, 1000, '1 min', '00000000-0000-0000-0000-000000000000'), '22023', 'a token of zeros is none');
my ($id) = split /\|/, $first;
is(lease_extend($session, $id, $token, 2000, 15000), '62000', 'an extend moves the end');
is($session->query_safe('SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... and nothing settles');

# Of another lease in place of one only an earlier beginning helps.
is(lease_acquire($session, 70_000, '1 min', '33333333-3333-3333-3333-333333333333', 0, 70_000), '|||', 'no window begins before the clock');
is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '2', '... and nothing is drawn');
like(lease_acquire($session, 70_000, '1 min', '33333333-3333-3333-3333-333333333333', 0, 70_001), qr/\|70000\|80000$/, '... but when one tick later will do');
is(state_of($session, "BEGIN\\; SELECT snowflake_lease_extend($id, '$token', 2000, '1 min', 0)\\; COMMIT"), '25001', 'not in a transaction block');
$session->query('ROLLBACK');
$session->{stderr} = '';
$session->quit;

$server->stop('fast');
done_testing();
