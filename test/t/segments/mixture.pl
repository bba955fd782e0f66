# Three nodes of many sessions each, a registry on another server and a random mixture of faults. The
# test tries to break G11: whatever is killed, paused, restarted or copied, and whenever, no number
# of a segment is issued again, neither by the same node nor by another, not even a number whose
# transaction was rolled back or whose session died. Numbers rise within each connection. After
# snowflake_raise_segment() a node that has used up its ranges issues no number below the raise.
# When all faults are over, every node issues again.
#
# The test compares the numbers that clients received, and the integer keys of all nodes' tables,
# which are gathered in one table. The seed decides the faults, their order and their moments, but
# not what the servers are doing at those moments. SNOWFLAKE_MIXTURE_SECONDS sets the duration (10
# by default, 45 in test/run --all). It needs 6 s of processor time for 15 sessions, each time in new
# connections, and for restarts of four servers; 40 s at length for 48 sessions and more.
use strict;
use warnings;

use lib 'test/perl';
use Mixture qw($registry @nodes $keeper $backend node bring_about faults_happened run_pending signal_one pause_for pause_one stop_for kill_for end_world);
use PostgreSQL::Test::Utils;
use SegmentsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{SNOWFLAKE_MIXTURE_SECONDS} || at_length(10, 45);
my $sessions = at_length(5, 16);
my $seed = seed();

# A commit that does not wait for the disk is lost with the process.
$registry = segments_registry('registry', segments => { ticket => 'step => 500, max_step => 20000' },
	conf => "restart_after_crash = on\nsynchronous_commit = off\n");
my $conf = "restart_after_crash = on\nsnowflake.start_timeout = 2s\n";
# Copies of one machine, as if made from a template.
push @nodes, segment_node('node1', place($registry), conf => $conf);
value($nodes[0], tables_of_tickets());
# The first range takes as long as it takes; so do the last ones, below.
my $patiently = q{SET snowflake.start_timeout = '60s'};
value($nodes[0], "$patiently; SELECT snowflake_segment_nextval('ticket')");
$nodes[0]->stop('immediate');
$nodes[0]->backup_fs_cold('template');
push @nodes, map { new_server("node$_", from => [ $nodes[0], 'template' ]) } 2, 3;
start_server($_) for @nodes;

# A long run pauses more often, so that its numbers can still be compared.
my ($per_turn, $most) = (90, 20_000_000);
my $pause = $seconds * $sessions * @nodes * $per_turn / $most;
$pause = 0.3 if $pause < 0.3;
my $script = numbers_in_every_way(times => 10, at_once => 50, rolled_back => 10, kept => 10, copied => 20, pause => $pause);
my @loads = map { start_clients($_, $sessions, $script, rest => 0.5) } @nodes;

# Load raises the last allocated number, too; a raise adds little to it.
my ($raises, $raised) = (0, 0);

sub raise
{
	for (1 .. 5)
	{
		my $by = 1 + int rand(5000);
		my $timed_out;
		# Without a connection psql may end before it has read this: a broken pipe.
		my ($rc, $out) = eval {
			$registry->psql('postgres', qq{SELECT next_value, snowflake_raise_segment('ticket', next_value + $by)
				FROM snowflake_segments WHERE name = 'ticket'}, timeout => 10, timed_out => \$timed_out);
		};
		return 0 if $timed_out || !defined $rc || $rc != 0;
		my ($before, $after) = split /\|/, $out;
		$raises++;
		$raised += $after - $before;
	}
	return 1;
}

# A machine is copied together with its running server, and both continue, under the same name.
sub copy_node
{
	return 0 if @nodes > 3 + $seconds / 60;
	my $node = node();
	return 0 unless kill_for($node, 0, sub { $node->backup_fs_cold('copy_' . @nodes) });
	my $copy = new_server('node' . (@nodes + 1), from => [ $node, 'copy_' . @nodes ]);
	start_server($copy);
	# The rows are the original's.
	value($copy, 'TRUNCATE kept, copied');
	push @nodes, $copy;
	push @loads, start_clients($copy, $sessions, $script, rest => 0.5);
	return 1;
}

my $crashes = 0;
sub crash { my ($happened) = @_; $crashes++ if $happened; return $happened; }

my %kinds = (
	'session killed' => sub { crash(signal_one(node(), 'KILL', $backend)) },
	'session killed again' => sub { crash(signal_one(node(), 'KILL', $backend)) },
	'session terminated' => sub { signal_one(node(), 'TERM', $backend) },
	'session paused' => sub { pause_one(node(), $backend, 2) },
	'keeper killed' => sub { crash(signal_one(node(), 'KILL', $keeper)) },
	'keeper terminated' => sub { signal_one(node(), 'TERM', $keeper) },
	'keeper paused' => sub { pause_one(node(), $keeper, 4) },
	'node killed' => sub { crash(kill_for(node(), 1)) },
	'node rebooted' => sub { crash(kill_for(node(), 1, sub { unlink boxes_of($_[0]) })) },
	'node paused' => sub { pause_for(node(), 4) },
	'node restarted' => sub { stop_for(node(), 'fast', 0) },
	'node shut down' => sub { stop_for(node(), 'fast', 2) },
	'node copied' => sub { crash(copy_node()) },
	'registry killed' => sub { kill_for($registry, 1) },
	'registry restarted' => sub { stop_for($registry, 'fast', 0) },
	'registry stopped' => sub { stop_for($registry, 'immediate', 3) },
	'registry paused' => sub { pause_for($registry, 4) },
	'exchange killed' => sub { signal_one($registry, 'KILL', $backend) },
	'segment raised' => \&raise,
	'segment raised again' => \&raise);
my ($count, %times) = bring_about($seconds, %kinds);
run_pending(1);

subtest 'all is well again: every node issues' => sub {
	for my $i (0 .. $#nodes)
	{
		my $size = client_bytes($loads[$i]);
		ok(wait_until('numbers', sub { client_bytes($loads[$i]) > $size + 50_000 }), $nodes[$i]->name);
	}
};
stop_clients($_) for @loads;
subtest 'faults of all kinds happened' => sub { faults_happened($seconds, \%kinds, $count, \%times) };

my @answered = map { @{ $_->{files} } } @loads;
my @kept = gather('kept', @nodes);
my @copied = gather('copied', @nodes);
my ($issued, $duplicates, $lowest, $highest) = compare_ids(@answered, @copied);

subtest 'no number was issued twice, here or elsewhere (G11)' => sub {
	is($duplicates, 0, "duplicates among $issued");
	cmp_ok($issued, '>', 1000 * $seconds, 'numbers were compared');
	cmp_ok($highest, '<=', allocated_up_to($registry), 'and all were allocated');
};

subtest 'integer keys of all nodes are unique in one table' => sub {
	my ($state, $error) = query_error($registry, 'postgres', join '', 'CREATE TABLE gathered (id integer PRIMARY KEY);', map { "COPY gathered FROM '$_';" } @kept, @copied);
	is($state, '00000', 'they come together') or diag($error);
	cmp_ok(value($registry, 'SELECT count(*) FROM gathered'), '>', 100 * $seconds, 'they were gathered');
};

subtest 'numbers rose within each connection' => sub {
	is(falls_within(@answered), 0, 'numbers that did not');
};

subtest 'after a raise, none is below it once a node has used up what it had' => sub {
	my $floor = allocated_up_to($registry) + 12_345;
	is(value($registry, "SELECT snowflake_raise_segment('ticket', $floor)"), $floor, 'the next number is that');
	use_up($_) for @nodes;
	for my $node (@nodes)
	{
		my @numbers = split /\n/, value($node, "$patiently; SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, 1000)");
		is(scalar(grep { $_ < $floor } @numbers), 0, 'none on ' . $node->name);
	}
};

subtest 'no server noticed a fault of its own' => sub {
	for my $server ($registry, @nodes)
	{
		my $log = slurp_file($server->logfile);
		my @wrong = $log =~ /(PANIC:.*|TRAP:.*|\(PID \d+\) was terminated by signal (?!9\b)\d+.*|.*implausible response from registry.*)/g;
		is(join("\n", @wrong), '', $server->name);
	}
};

figures('%d numbers, %d duplicates; %d numbers in gaps after %d crashes and %d raises by %d; %d nodes',
	$issued, $duplicates, $highest - $lowest + 1 - $issued - $raised, $crashes, $raises, $raised, scalar @nodes);
diag("trials $count faults, $issued numbers, $duplicates duplicates, seed $seed");
end_world();
done_testing();
