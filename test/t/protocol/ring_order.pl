# Worker ids are acquired in circular order in the common part (section 4 of the design). Each lease
# gets the next worker id, from the registry's slot on, that no node has and whose last window is in
# the past. The test acquires 1,030 leases in a row, and releases other leases in any order
# meanwhile. No lease gets a worker id that is in use, and no window begins below the end of its
# worker id's last window (G1).
# Not in the default run: it needs 2 s of processor time.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

seed();
my $server = protocol_server('ring_order');
my $session = registry($server);
my $now = 1_000_000_000;
my (%live, %last_end, $previous, $first);
my ($wraps, $wrong, $overlaps, $skipped) = (0, 0, 0, 0);
for my $i (1 .. 1030)
{
	my ($lease, $state, $text) = acquire($session, $now += 100, '1 s');
	die "lease $i: $text" unless $lease;
	my $worker = $lease->{worker};
	++$wrong if $live{$worker};
	# In the ring's order: from lease_id on, without worker ids that are leased, or may have been
	# used up to now.
	my $expected = $lease->{id} % 683;
	while ($live{$expected} || ($last_end{$expected} // -1) >= $now) { $expected = ($expected + 1) % 683; ++$skipped; }
	++$wrong if $worker != $expected;
	++$overlaps if exists $last_end{$worker} && $lease->{start} <= $last_end{$worker};
	++$wraps if defined $previous && $worker < $previous;
	$previous = $worker;
	# Every fifth lease is kept, and released much later. The first one is kept until the end, so
	# that the ring meets it again.
	$live{$worker} = $lease;
	$first //= $worker;
	my @give = $i % 5 != 1 ? ($lease) : keys %live > 150 ? $live{ (grep { $_ != $first } keys %live)[0] } : ();
	for my $gone (@give)
	{
		my $last = $gone->{start} + int(rand(10));
		my ($code, $answer) = release($session, $gone, $last);
		++$wrong if $code ne '00000' || $answer ne 't';
		$last_end{ $gone->{worker} } = $gone->{end} - 1;
		delete $live{ $gone->{worker} };
	}
}
is($wrong, 0, 'no lease got a live worker id, and each the next one of the ring');
is($overlaps, 0, 'every window starts above its watermark');
cmp_ok($wraps, '>=', 1, 'past 682 the common part goes on at 0');
cmp_ok($skipped, '>=', 1, 'live worker ids lay on the way');
is($session->query_safe('SELECT string_agg(worker_id::text, chr(32) ORDER BY worker_id) FROM snowflake_registry'),
	join(' ', sort { $a <=> $b } keys %live), 'the registry holds just those that live');
$session->quit;

$server->stop('fast');
done_testing();
