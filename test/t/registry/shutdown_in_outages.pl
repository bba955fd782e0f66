# A fast shutdown of a node ends, whatever its registry does: the network is gone, the host hangs,
# the server is paused, answers arrive late or never. The node releases its lease if it can (G8),
# and waits no longer than the limit. After the next start ids are issued. At the end no node has a
# lease, and no id was issued twice (G1).
#
# If the shutdown waited for the registry, it would never end in this test, so the test's limit is
# generous.
# Runs alone: it bounds the time of a shutdown.
# Not in the default run: it starts some 100 processes.
use strict;
use warnings;

use lib 'test/perl';
use OutageTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

seed();
my $registry = tcp_registry();
my $node = relayed_node($registry, '4s');
my $relay = $node->{relay};

my $pass = sub { $relay->tell('pass') };
my %at_shutdown = (
	'the network is dropped' => [ sub { $relay->tell('drop'); $relay->tell('forget') }, $pass ],
	'the registry\'s host hangs' => [ sub { $relay->tell('stall') }, $pass ],
	'the registry is paused' => [ sub { pause_server($registry) }, sub { resume_server($registry) } ],
	'an answer is held back' => [
		sub { $relay->tell('hold snowflake_lease_extend('); wait_until('an answer', sub { $relay->held }) }, $pass ],
	'the answer to the release is held back' => [ sub { $relay->tell('hold snowflake_lease_release(') }, $pass ],
	'answers come 3 s late' => [ sub { $relay->tell('delay 3') }, $pass ],
);
for my $name (sort keys %at_shutdown)
{
	my ($begin, $end) = @{ $at_shutdown{$name} };
	subtest "a fast shutdown while $name" => sub {
		ids_flow($node, 'ids flow before it');
		$begin->();
		# At a random moment, in the middle of the keeper's work.
		sleep(rand(1.5));
		$node->{session}->quit;
		my $since = time();
		$node->{server}->stop('fast');
		my $took = time() - $since;
		cmp_ok($took, '<', 30 * slowness(), 'it takes no longer than it may');
		$end->();
		start_server($node->{server});
		connect_session($node);
		my $back = call_until_id($node);
		ok(defined $back, 'ids flow after the start');
		figures('a shutdown while %s: %.1f s; ids %.1f s after the start', $name, $took, $back // -1);
	};
}

my $lease = node_status($node, 'lease_id');
end_nodes($node);
my $leases = 'SELECT count(*) FROM snowflake_registry WHERE snowflake_tick_timestamp(window_end) > clock_timestamp()';
is($registry->safe_psql('postgres', "$leases AND lease_id = $lease"), '0', 'the last lease is released: nothing was in the way');
# Leases that could not be released end with their windows.
ok(wait_until('the windows to end', sub { $registry->safe_psql('postgres', $leases) eq '0' }), 'nobody has a lease in the end');
my ($ids, $duplicates) = compare_ids($node->{ids_file});
is($duplicates, 0, "no duplicate among $ids ids");
$registry->stop('fast');
done_testing();
