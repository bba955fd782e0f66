# While a registry settles ("Settling", section 4 of the design), it assigns only the upper third of
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
# The calls that follow must be over within half of it, on a busy machine, too.
$session->query_safe(q{SET snowflake.lease_duration = '20 s'; SELECT snowflake_settle('test')});
is($session->query_safe('SELECT settling_us FROM snowflake_origin'), 20_000_000, 'it settles for as long as its own leases, which are longer');
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

# Small rings: two worker ids have no reserve, four have one, eight have two. A node that has a lease
# keeps it.
for my $ring ([ 1, 0 ], [ 2, 1 ], [ 3, 2 ])
{
	my ($bits, $reserve) = @$ring;
	$session = registry($server, 0, $bits);
	my ($before) = acquire($session, $now, '2 s');
	$session->query_safe(q{SET snowflake.lease_duration = '20 s'; SELECT snowflake_settle('test')});
	my $acquired = 0;
	($lease, $state, $text) = acquire($session, $now, '2 s');
	while ($lease) { ++$acquired; ($lease, $state, $text) = acquire($session, $now, '2 s'); }
	is($acquired, $reserve, "$bits worker bits: while it settles $reserve leases can be acquired");
	my ($all, $leased) = (1 << $bits, 1 + $reserve);
	like($text, qr/SF004.*Of $all worker ids, $leased are leased, and ${\($all - $leased)} are held back until /s, '... and then all others are held back');
	is((extend($session, $before, $now + 1000, '2 s'))[1], $now + 3000, '... but a lease goes on');
	next if $reserve;
	ok(wait_until('half of the time', sub { defined((acquire($session, $now, '2 s'))[0]) }), '... until half of the time is over');
	is($session->query_safe('SELECT clock_timestamp() BETWEEN settles_until - settling_us / 2 * interval $$1 us$$ AND settles_until FROM snowflake_origin'), 't', '... and before it has settled');
}
continue { $session->quit; }

$server->stop('fast');
done_testing();
