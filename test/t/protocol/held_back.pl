# While a registry settles ("Settling", section 4 of the design), it grants only the upper third of
# the worker ids, until half of the time has passed. SF004 says how many worker ids are leased and
# how many are held back.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = protocol_server('held_back');
my $session = registry($server, 0, 5);
my $now = 1000;
my @before = map { (acquire($session, $now, '2 s'))[0]{worker} } 1 .. 5;
is(scalar(grep { $_ > 21 } @before), 0, "ordinarily worker ids come from the lower two thirds: @before");
$session->query_safe(q{SET snowflake.lease_duration = '4 s'; SELECT snowflake_settle('test')});
is($session->query_safe('SELECT settling_us FROM snowflake_origin'), 4_000_000, 'it settles for as long as its own leases, which are longer');
my (@settling, $state, $text);
for (1 .. 11)
{
	(my $lease, $state, $text) = acquire($session, $now, '2 s');
	last unless $lease;
	push @settling, $lease->{worker};
}
is(join(' ', sort { $a <=> $b } @settling), join(' ', 22 .. 31), 'while it settles they come from the upper third');
is($state, 'SF004', '... and nothing else does');
like($text, qr/Of 32 worker ids, 15 are leased, and 17 are held back until /, '... which the error says');
my $lease;
ok(wait_until('half of the time', sub { ($lease) = acquire($session, $now, '2 s'); return defined $lease }), 'when half of the time is over');
cmp_ok($lease->{worker}, '<', 22, '... the others can be had');
is($session->query_safe('SELECT clock_timestamp() > settles_until - settling_us / 2 * interval $$1 us$$ FROM snowflake_origin'), 't', '... and not earlier');
$session->quit;

$server->stop('fast');
done_testing();
