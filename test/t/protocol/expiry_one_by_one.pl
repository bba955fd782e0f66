# While a worker id is free, no lease expires. Then each acquire expires one lease, the one that
# ended first. The earlier of the two clocks decides whether a lease has ended: a node whose clock
# is a day ahead ends no lease.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = protocol_server('expiry_one_by_one');
my ($session, $dbname) = registry($server, 0, 3);
my @leases = map { (acquire($session, 1000 + $_, '1 s'))[0] } 0 .. 5;
my ($seventh) = acquire($session, 500_000, '1 min');
is(join(' ', map { $_->{worker} } @leases), $session->query_safe('SELECT string_agg(worker_id::text, chr(32) ORDER BY lease_id) FROM snowflake_registry'
	. " WHERE lease_id <> $seventh->{id}"), 'while a worker id is free no lease expires, though all have ended');
acquire($session, 500_000, '1 min');
for my $n (0 .. 2)
{
	my ($next) = acquire($session, 500_001 + $n, '1 min');
	is($next->{worker}, $leases[$n]{worker}, 'then each acquire expires one, the one that ended first');
	is((extend($session, $leases[$n], 600_000))[1], '', '... and is gone');
}
is((extend($session, $leases[3], 600_000, '1 min'))[1], '660000', 'the next still lives, and moves on');

# A lease that another call has locked, to extend or to release it, is not waited for.
my $holder = $server->background_psql($dbname);
my ($sooner, $later) = map { [ split /\|/ ] } split /\n/, $session->query_safe('SELECT lease_id, worker_id FROM snowflake_registry ORDER BY window_end, lease_id LIMIT 2');
$holder->query_safe("BEGIN; SELECT FROM snowflake_registry WHERE lease_id = $sooner->[0] FOR UPDATE");
my ($next) = acquire($session, 800_000, '1 min');
is($next->{worker}, $later->[1], 'if a lease is locked, the next one that ended expires');
$holder->query_safe('SELECT FROM snowflake_registry FOR UPDATE');
is((acquire($session, 900_000, '1 min'))[1], 'SF004', '... or none, if all are locked');
$holder->query_safe('ROLLBACK');
is((acquire($session, 900_000, '1 min'))[0]{worker}, $sooner->[1], '... which expire afterwards');
$holder->quit;

# The earlier clock decides: a node whose clock is a day ahead ends no lease.
my $now = $session->query_safe(q{SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000});
($session) = registry($server, 0, 2);
@leases = map { (acquire($session, $now, '1 min'))[0] } 1 .. 4;
is((acquire($session, $now + 86_400_000, '1 min'))[1], 'SF004', 'a clock that is a day ahead of the registry ends no lease');
is((extend($session, $_, $now + 1000))[1], $now + 61_000, '... each of which goes on') for @leases;
$session->quit;

$server->stop('fast');
done_testing();
