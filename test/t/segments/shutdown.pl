# Which of a segment's numbers are skipped. A node that is shut down returns the rest of its ranges.
# A single node leaves no gap, however often it is restarted. Three nodes that share a registry
# leave only the gaps that later ranges force. After a crash the next number is above all numbers of
# the node. The test reports how many are skipped.
# Not in the default run: many restarts of three servers.
use strict;
use warnings;

use lib 'test/perl';
use List::Util qw(shuffle);
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $seed = seed();

subtest 'a node whose registry is its own' => sub {
	my $node = own_node('alone', patient => 1, segments => { ticket => '', other => 'start => 100, step => 10' });
	my ($next, $next_of_other) = (1, 100);
	for my $n (1 .. 4)
	{
		my ($count, $of_other) = (1 + int rand(2500), 1 + int rand(30));
		is(join(' ', (numbers($node, $count))[ 0, -1 ]), $next . ' ' . ($next + $count - 1), "life $n: $count numbers, one after the other");
		is(join(' ', numbers($node, $of_other, 'other')), join(' ', $next_of_other .. $next_of_other + $of_other - 1), '... of another segment, too');
		$next += $count;
		$next_of_other += $of_other;
		$node->stop($n % 2 ? 'fast' : 'smart');
		start_server($node);
		is(allocated_up_to($node), $next - 1, '... and the rest is returned');
		is(value($node, 'SELECT count(*) FROM snowflake_segment_range'), '0', '... so that it has nothing');
	}
	is(number($node), $next, 'the next number is the one after the last');

	subtest 'a crash' => sub {
		for my $n (1 .. 3)
		{
			my $had = allocated_up_to($node);
			my $last = number($node);
			kill_server($node, children => 1);
			start_server($node);
			my $first = number($node);
			is($first, $had + 1, "crash $n: the next number is above all that the node had");
			figures('%d numbers in the gap after a crash', $first - $last - 1);
		}
	};

	subtest 'a keeper that is told to stop' => sub {
		my $last = number($node);
		my $keeper = value($node, 'SELECT keeper_pid FROM snowflake_status');
		value($node, "SELECT pg_terminate_backend($keeper)");
		ok(wait_until('it to end', sub { !-e "/proc/$keeper" }), 'it ends');
		is(number($node), $last + 1, 'the next number is the one after the last');
	};
	$node->stop('fast');
};

subtest 'three nodes of one registry' => sub {
	my $registry = segments_registry('registry', segments => { ticket => 'step => 100, max_step => 400' });
	my @nodes = map { segment_node("node$_", place($registry), patient => 1) } 1 .. 3;
	my ($duplicates, %issued) = (0);
	my $take = sub { my ($node, $count) = @_; $duplicates += grep { $issued{$_}++ } numbers($node, $count); return; };
	# Until the node has its next range, after which it requests none.
	my $fill = sub {
		my ($node) = @_;
		$take->($node, 10);
		my $next = shown($node, 'next_here');
		return $next ne '' && value($registry, sprintf q{SELECT newest_from > %d FROM snowflake_segment_range WHERE node LIKE '%s%%'}, $next, $node->name) eq 't';
	};
	my ($whole, $forced) = (0, 0);
	for my $round (1 .. 3)
	{
		for (1 .. 3) { $take->($_, 1 + int rand(300)) for shuffle(@nodes); }
		for my $node (@nodes) { ok(wait_until('both ranges', sub { $fill->($node) }), "round $round: " . $node->name . ' has two ranges'); }
		for my $node (shuffle(@nodes))
		{
			my $end = allocated_up_to($registry);
			my ($next, $left) = split /\|/, shown($node, 'next_here, left_here');
			my ($newest, $to) = split /\|/, value($registry, sprintf q{SELECT newest_from, held_to FROM snowflake_segment_range WHERE node LIKE '%s%%'}, $node->name);
			$node->stop('fast');
			# The newest range of all is returned, and the node's previous range if the two are
			# consecutive.
			my $follows = $next + $left - 1 == $to;
			my $expected = $to != $end ? $end : $follows ? $next - 1 : $newest - 1;
			$to == $end && $follows ? $whole++ : $forced++;
			is(allocated_up_to($registry), $expected, '... of which ' . $node->name . ' returns ' . ($end - $expected) . " of $left numbers");
			is(value($registry, sprintf q{SELECT count(*) FROM snowflake_segment_range WHERE node LIKE '%s%%'}, $node->name), '0', '... and has none any more');
		}
		start_server($_) for @nodes;
	}
	cmp_ok($forced, '>', 0, 'later ranges forced gaps');
	$take->($_, 10) for @nodes;
	is($duplicates, 0, 'of ' . keys(%issued) . ' numbers none was issued twice');
	$_->stop('fast') for @nodes;
	figures('%d numbers issued of %d that were allocated to three nodes in four lives; %d returned all, %d had later ranges above theirs',
		scalar keys %issued, allocated_up_to($registry), $whole, $forced);
	$registry->stop('fast');
};

# A raise to a number that a node has: the rest of the node's range is not returned below it.
subtest 'a raise within a range' => sub {
	my $registry = own_node('raised', patient => 1);
	my @nodes = map { segment_node("holder$_", place($registry), patient => 1) } 1 .. 2;
	for my $from_end (500, 1, 0, -1)
	{
		my $last = number($nodes[0]);
		my $end = allocated_up_to($registry);
		my $floor = $end - $from_end;
		is(value($registry, "SELECT snowflake_raise_segment('ticket', $floor)"), $end + 1, "raised to $floor, while a node has numbers from $last to $end");
		$nodes[0]->stop('fast');
		cmp_ok(number($nodes[1]), '>=', $floor, '... what comes back of a node that had smaller ones is not allocated again');
		$nodes[1]->stop('fast');
		cmp_ok(number($registry), '>=', $floor, '... nor is it here');
		start_server($_) for @nodes;
	}
	# On the registry's own node, the raise takes effect at once.
	my $floor = allocated_up_to($registry) - 10;
	value($registry, "SELECT snowflake_raise_segment('ticket', $floor)");
	is(number($registry), $floor, 'here it is the next number');
	$registry->restart;
	is(number($registry), $floor + 1, '... and after a shutdown nothing is left out');
	# A raise that is rolled back costs only the numbers that the node had.
	my $end = allocated_up_to($registry);
	value($registry, q{BEGIN; SELECT snowflake_raise_segment('ticket', 1000000000000); ROLLBACK});
	my ($state, $error) = query_error($registry, 'postgres', q{SELECT snowflake_segment_nextval('ticket')});
	is($state, '00000', 'a raise that is rolled back takes no numbers away') or diag($error);
	cmp_ok(allocated_up_to($registry) - $end, '<=', 10_000, '... but for a range or two');
	$_->stop('fast') for @nodes, $registry;
};

# Whatever synchronous_commit the registry's server has, a range is on disk before a node gets it.
subtest 'a registry that is killed after its answer' => sub {
	my $registry = segments_registry('killed', conf => "synchronous_commit = off\nwal_writer_delay = 10s\n");
	my $lost = 0;
	for (1 .. 3)
	{
		my $last = value($registry, q{SELECT range_last[1] FROM snowflake_segment_ranges('n', '{ticket}', '{0}', '{0}', '{0}', '{0}', ARRAY[sha256('n')])});
		value($registry, "CREATE TABLE lost_$_ ()");
		kill_server($registry);
		start_server($registry);
		is(allocated_up_to($registry), $last, "a range up to $last is there");
		$lost++ if value($registry, "SELECT to_regclass('lost_$_') IS NULL") eq 't';
	}
	figures('%d of 3 transactions that were committed after it were lost', $lost);
	$registry->stop('fast');
};

diag("seed $seed");
done_testing();
