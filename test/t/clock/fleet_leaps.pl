# The clocks of 20 nodes leap ahead for a minute and come back, under one registry with 32 worker
# ids. The 12 free worker ids serve some of the nodes. The other nodes bridge the step, whatever its
# size. All nodes issue ids all the time, and no id is issued twice (G1, G5, G9). In one case the
# registry's clock does not move, and its operator allows the difference. In the other case it
# leaps, too.
# Not in the default run: 20 nodes under load.
# Takes long: four minutes.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $fleet = 20;
my $hour_s = 3600;

# Lets a minute pass, mostly by moving all clocks. Stores in $longest how long any of the nodes was
# without an id, in s.
sub watch_a_minute
{
	my ($loads, $longest, @servers) = @_;
	my (@bytes, @since);
	my $look = sub {
		for my $i (0 .. $#$loads)
		{
			my $bytes = client_bytes($loads->[$i]);
			my $now = time();
			if (!defined $bytes[$i] || $bytes > $bytes[$i]) { ($bytes[$i], $since[$i]) = ($bytes, $now); }
			elsif ($now - $since[$i] > $$longest) { $$longest = $now - $since[$i]; }
		}
	};
	for my $part (1 .. 12)
	{
		# A new lease's window is short. A busy machine needs its time to extend it.
		wait_until('all windows to be extended', sub { count_nodes("ids_flow_seconds > 4.6") == $fleet });
		let_pass($_, 4.6) for @servers;
		my $end = time() + 0.4;
		while (time() < $end) { $look->(); sleep(0.1); }
	}
	return;
}

my $registry = make_registry('registry', clock => 1, conf => "max_connections = 60\n");
my $nodes = make_nodes('nodes', clock => 1, conf => sprintf("snowflake.start_timeout = %ds\nmax_connections = 100\n", 10 * slowness()));
my @nodes = map { begin_node($nodes, "node_$_", place($registry), pause => '\! sleep 0.4') } 1 .. $fleet;
my @loads = map { $_->{load} } @nodes;

# How long a node is without an id if no clock leaps, in s. The leaps' times are compared with this.
my $usual = 0;

sub count_nodes { return scalar(grep { status($nodes, $_[0], $_->{name}) eq 't' } @nodes); }

sub leaps
{
	my ($name, $hours, @servers) = @_;
	my $move = sub { my ($s) = @_; move_clock($_, $_->{snowflake_offset_ns} / 1e9 + $s) for @servers; };
	my $longest = 0;
	$move->($hours * $hour_s);
	watch_a_minute(\@loads, \$longest, $nodes, $registry);
	figures('%s: ahead, no node was without an id for longer than %.1f s', $name, $longest);
	cmp_ok($longest, '<', 5 * slowness() + 3 * $usual, 'ahead, ids flow on all nodes all the time');
	ok(wait_until('all to issue', sub { count_nodes("state = 'issuing' AND clock_lead_seconds < 1") == $fleet }), '... which all issue by the clock that leapt');

	$longest = 0;
	$move->(-$hours * $hour_s);
	watch_a_minute(\@loads, \$longest, $nodes, $registry) for 1 .. 2;
	figures('%s: back again, no node was without an id for longer than %.1f s', $name, $longest);
	cmp_ok($longest, '<', 5 * slowness() + 3 * $usual, 'back again, ids flow on all nodes all the time');
	ok(wait_until('all to issue', sub { count_nodes("state = 'issuing'") == $fleet }), '... which all issue');
	my $bridge = count_nodes("clock_lead_seconds > 1800");
	figures('%s: %d nodes acquired another worker id, %d go on by bridging', $name, $fleet - $bridge, $bridge);
	cmp_ok($bridge, '>=', $fleet - 12, '... more than by the 12 worker ids that are left');
	cmp_ok($bridge, '<', $fleet, '... which are of use to some');
	all_different('back again', @nodes);
	my @errors = grep { -s $_ } map { s/out$/err/r } map { @{ $_->{files} } } @loads;
	is(scalar @errors, 0, 'no call failed') or diag(slurp_file($errors[0]));

	# Until no id and no watermark is ahead of the clock.
	let_pass($_, 2 * $hours * $hour_s + 60) for $nodes, $registry;
	wait_until('all to be caught up', sub { count_nodes("state = 'issuing' AND clock_lead_seconds < 1") == $fleet });
	return;
}

watch_a_minute(\@loads, \$usual, $nodes, $registry);
figures('before, no node was without an id for longer than %.1f s', $usual);
subtest 'ahead by an hour, the registry as well' => sub { leaps('same', 1, $nodes, $registry); };
subtest 'ahead by an hour, at a registry with the true clock' => sub {
	value($registry, q{ALTER DATABASE postgres SET snowflake.max_clock_skew = '2h'});
	# The setting applies to new connections.
	value($registry, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'node'});
	leaps('true', 1, $nodes);
};
none_twice("$fleet nodes", @nodes);
$_->stop('fast') for $nodes, $registry;
done_testing();
