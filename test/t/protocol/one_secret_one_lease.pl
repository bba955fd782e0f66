# If an answer was lost, the node repeats the request with the same secret and gets the same lease,
# with a window that is no shorter (section 4 of the design). A node that has a lease gets another
# lease in its place only if the other lease begins earlier.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = protocol_server('one_secret_one_lease');
my ($session, $dbname) = registry($server, 0, 3);
my $secret = '\x' . '11' x 16;
my $first = lease_acquire($session, 1000, '1 min', $secret);
like($first, qr/\|1000\|11000$/, 'a first window is 10 s long');
is(lease_acquire($session, 1000, '1 min', $secret), $first, 'the same secret again: the same lease');
is(lease_acquire($session, 1000, '5 min', $secret), $first, '... also if it is to be for longer');
is($session->query_safe('SELECT longest_us FROM snowflake_origin'), 300e6, '... which is recorded, because an extend may follow');
is(lease_acquire($session, 5000, '1 min', $secret), $first =~ s/11000$/15000/r, '... its window moved as far as a first one goes');
is(lease_acquire($session, 1000, '2 s', $secret), $first =~ s/11000$/15000/r, '... and not back');
my $holder = $server->background_psql($dbname);
$holder->query_safe('BEGIN; SELECT FROM snowflake_registry FOR UPDATE');
is(lease_acquire($session, 1000, '2 s', $secret), '55P03', '... nor waited for, if another call has locked it');
$holder->query_safe('ROLLBACK');
$holder->quit;
like(lease_acquire($session, 1000, '2 s', new_secret()), qr/\|1000\|3000$/, 'nor is it longer than what was asked for');
is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '2', '... two leases of two secrets');
is(state_of($session, "SELECT snowflake_lease_acquire('n', 0, 1000, '1 min', '$_', 0, NULL)"), '22023', 'a hash of another length') for '', $secret, '\x' . '11' x 33;
my ($id) = split /\|/, $first;
is(lease_extend($session, $id, $secret, 2000, 15000), '62000', 'an extend moves the end');
is($session->query_safe('SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... and nothing settles');

my $other = new_secret();
# Another lease in place of the present one helps only if it begins earlier.
is(lease_acquire($session, 70_000, '1 min', $other, 0, 70_000), '|||', 'no window begins before the clock');
is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '2', '... and nothing is acquired');
like(lease_acquire($session, 70_000, '1 min', $other, 0, 70_001), qr/\|70000\|80000$/, '... but when one tick later will do');
is(state_of($session, "BEGIN\\; SELECT snowflake_lease_extend($id, sha256('$secret'), 2000, '1 min', 0, 0, 0)\\; COMMIT"), '25001', 'not in a transaction block');
$session->query('ROLLBACK');
$session->{stderr} = '';
$session->quit;

$server->stop('fast');
done_testing();
