# A registry that fails over and loses commits allocates no number twice. The registry is a pair of
# servers, each in turn the other's standby. Three nodes, databases of one server, follow the server
# that accepts writes. Segments have small ranges. Lost numbers stay within what is promised: as
# many ranges as were allocated in the last lease duration, or ten. Each segment of each failover is
# a trial.
#
# If nothing is lost, no more numbers are skipped than necessary: with a synchronous standby no more
# than the rule says; after the operator's call of snowflake_settled(), and after a clean handover,
# none. If files of an earlier moment are restored, the nodes' knowledge reveals it. SNOWFLAKE_SEED
# repeats a run, SNOWFLAKE_TRIALS sets the number of failovers. It needs 5 s of processor time: each
# failover makes a standby.
use strict;
use warnings;

use lib 'test/perl';
use File::Path qw(rmtree);
use List::Util qw(max shuffle sum0);
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $failovers = $ENV{SNOWFLAKE_TRIALS} || at_length(2, 3);

# name => the size of its ranges. They do not grow, so ten of them are known before they are lost.
my %step = map { ("s$_" => 10 * (1 + $_ % 4)) } 1 .. 12;
my @segments = sort keys %step;
my @names = qw(north east south);

my $primary = segments_registry('one', segments => { map { ($_ => "step => $step{$_}, max_step => $step{$_}") } @segments },
	preload => 1, conf => "wal_receiver_status_interval = 1s\n");
my $standby = standby_of($primary, 'two');
my $nodes = new_server('nodes', conf => "log_statement = none\nautovacuum = off\nsnowflake.start_timeout = 60s\n");
start_server($nodes);
value($nodes, 'CREATE DATABASE base');
value($nodes, 'CREATE EXTENSION snowflake', 'base');
for my $name (@names)
{
	value($nodes, "CREATE DATABASE $name TEMPLATE base");
	value($nodes, "ALTER DATABASE $name SET snowflake.registry = '" . place($primary, $standby) . "'");
}

my (%issued, %last);
my ($numbers, $duplicates, $falls) = (0, 0, 0);

# Gets so many numbers of each of these segments on a node, in turn, so that one exchange acquires
# ranges of many segments. The numbers are compared with all others.
sub take
{
	my ($name, %counts) = @_;
	my $counts = join ', ', map { "('$_', $counts{$_})" } shuffle(grep { $counts{$_} > 0 } keys %counts);
	return unless $counts;
	for my $line (split /\n/, value($nodes, "SELECT name, snowflake_segment_nextval(name) FROM (VALUES $counts) AS s (name, count), generate_series(1, count) i ORDER BY i", $name))
	{
		my ($segment, $number) = split /\|/, $line;
		$numbers++;
		diag("$segment $number twice, second by $name") if $issued{$segment}{$number}++ && ++$duplicates < 5;
		$falls++ if $number <= ($last{$name}{$segment} // 0);
		$last{$name}{$segment} = $number;
	}
	return;
}

sub left { my ($name) = @_; return map { split /\|/ } split /\n/, value($nodes, 'SELECT name, left_here FROM snowflake_segments', $name); }

sub columns
{
	my ($server) = @_;
	my %columns;
	for my $line (split /\n/, value($server, 'SELECT name, last_value, allocated + allocated_before, newest FROM snowflake_segment'))
	{
		my ($name, @values) = split /\|/, $line;
		@{ $columns{$name} }{qw(last allocated newest)} = @values;
	}
	return %columns;
}

# How many numbers of a segment with this row may be lost.
sub promised { my ($row, $segment) = @_; return max($row->{allocated}, 10 * max($row->{newest}, $step{$segment})); }

# The stopped primary becomes a standby of the new one.
sub rebuild
{
	my ($old, $new, $backup) = @_;
	$new->backup($backup);
	rmtree($old->data_dir);
	$old->init_from_backup($new, $backup, has_streaming => 1);
	$old->start;
	return;
}

sub catch_up { return $primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert')); }

# The other server becomes the primary.
sub fail_over
{
	kill_server($primary, children => 1);
	$standby->promote;
	($primary, $standby) = ($standby, $primary);
	return;
}

# Runs the code while no node can call the registry. A registry that has failed over skips numbers
# with the first call.
sub while_no_node_calls
{
	my ($code) = @_;
	pause_server($nodes);
	my $done = eval { $code->(); 1 };
	my $error = $@;
	# Also after an error: processes that stand still do not end.
	resume_server($nodes);
	die $error unless $done;
	return;
}

my ($lost, $lost_issued, $trials) = (0, 0, 0);

# Commits from here on are lost, because the standby no longer receives them. After so many earlier
# losses, nodes acquire as many ranges as may be lost, less those that they may be acquiring
# already.
sub lose_ranges
{
	my ($skips) = @_;
	my %known = columns($standby);
	# Of a few segments none, but not, by chance, of most.
	my %spared = map { ($_ => 1) } (shuffle(@segments))[ 0 .. int(rand(@segments / 2)) - 1 ];
	my %most = map { ($_ => $spared{$_} ? 0 : (1 + $skips) * promised($known{$_}, $_) - (@names + 1) * $step{$_}) } @segments;
	for my $round (1 .. 30)
	{
		my %now = columns($primary);
		my @more = grep { $now{$_}{last} - $known{$_}{last} < $most{$_} } @segments;
		last unless @more;
		my $name = $names[ rand @names ];
		take($name, map { ($_ => $step{$_}) } @more);
	}
	return;
}

subtest 'an asynchronous standby' => sub {
	for my $n (1 .. $failovers)
	{
		my $rounds = 1 + int rand(3);
		for (1 .. $rounds) { take($_, map { ($_ => 1 + int rand(2 * $step{$_})) } @segments) for shuffle(@names); }
		# The standby knows of an earlier loss, but not the numbers that the primary then skips.
		my $told = int rand(2);
		value($primary, "SELECT snowflake_settle('a loss before the loss')") if $told;
		catch_up();
		my @senders = split /\n/, value($primary, q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'});
		kill 'STOP', @senders;
		# A keeper may have acquired ranges meanwhile: the standby gets what was sent of those
		# commits.
		my $sent = value($primary, 'SELECT sent_lsn FROM pg_stat_replication');
		# If the WAL ends within a record, the standby waits for the rest.
		my $looks = 0;
		wait_until('the standby to replay what was sent', sub { ++$looks > 30 || value($standby, "SELECT pg_last_wal_replay_lsn() >= '$sent'") eq 't' });
		lose_ranges($told);
		my (%at_the_end, %before, %known);
		while_no_node_calls(sub {
			%at_the_end = columns($primary);
			%before = columns($standby);
			fail_over();
			%known = columns($primary);
		});
		my @wrong = grep { $known{$_}{last} != $before{$_}{last} || $at_the_end{$_}{last} - $known{$_}{last} > (1 + $told) * promised($known{$_}, $_) } @segments;
		is("@wrong", '', "failover $n: no more is lost than may be") or diag(explain(\%at_the_end, \%before, \%known));
		my @lost = grep { $at_the_end{$_}{last} > $known{$_}{last} } @segments;
		cmp_ok(scalar(@lost), '>', @segments / 3, '... and of most segments something');
		$lost += $at_the_end{$_}{last} - $known{$_}{last} for @lost;
		# Numbers that the new primary would allocate again.
		for my $segment (@lost) { $lost_issued += grep { $_ > $known{$segment}{last} } keys %{ $issued{$segment} }; }
		$trials += @segments;
		# Some nodes first use up their ranges, and others call the registry at once.
		for my $name (shuffle(@names))
		{
			my %left = rand() < 0.5 ? () : left($name);
			take($name, map { ($_ => ($left{$_} // 0) + 1 + int rand(2 * $step{$_})) } @segments);
		}
		rebuild($standby, $primary, "after_$n");
	}
	cmp_ok($lost_issued, '>', $failovers * @segments, 'numbers that were lost had been issued');
};

# The distance from the last number that the new primary knew to the next range of each segment,
# which one node acquires.
sub skipped
{
	my (%known) = @_;
	take('north', map { ($_ => 1) } @segments);
	my %now = columns($primary);
	return map { ($_ => $now{$_}{last} - $step{$_} - $known{$_}{last}) } grep { $now{$_}{last} > $known{$_}{last} } @segments;
}

# Waits until no node needs another range, which it does when a tenth of its last one is used: an
# exchange that is under way would take it afterwards.
sub all_rest
{
	for my $name (@names)
	{
		wait_until('the next ranges', sub { my %left = left($name); return !grep { $left{$_} <= $step{$_} - int($step{$_} / 10) } keys %left });
	}
	return;
}

sub use_all { my ($name) = @_; my %left = left($name); take($name, %left); return; }

subtest 'a synchronous standby' => sub {
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n");
	$primary->reload;
	ok(wait_until('it to be synchronous', sub { value($primary, q{SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'}) eq '1' }), 'there is one');
	take($_, map { ($_ => 3 * $step{$_}) } @segments) for @names;
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = ''\n");
	fail_over();
	value($primary, q{ALTER SYSTEM SET synchronous_standby_names = ''});
	my %known = columns($primary);
	my @lost = grep { $known{$_}{last} < max(keys %{ $issued{$_} }) } @segments;
	is("@lost", '', 'nothing that was issued is lost');
	use_all('north');
	my %skipped = skipped(%known);
	cmp_ok(scalar(keys %skipped), '>', @segments / 2, 'and nodes go on');
	my @more = grep { $skipped{$_} > 3 * promised($known{$_}, $_) + $step{$_} } sort keys %skipped;
	is("@more", '', 'no more is left out than the rule says') or diag(explain(\%skipped));
	figures('%d numbers of %d segments left out after a failover without loss', sum0(values %skipped), scalar keys %skipped);
	rebuild($standby, $primary, 'synchronous');
};

subtest 'if the operator reports that nothing is lost' => sub {
	take($_, map { ($_ => 3 * $step{$_}) } @segments) for @names;
	all_rest();
	catch_up();
	fail_over();
	is(value($primary, 'SELECT snowflake_settled()'), 't', 'it would have settled');
	my %known = columns($primary);
	use_all('north');
	my %skipped = skipped(%known);
	is(sum0(map { $_ > 0 } map { $skipped{$_} % $step{$_} } keys %skipped), 0, 'ranges follow on each other');
	my @more = grep { $skipped{$_} > 2 * $step{$_} } sort keys %skipped;
	is("@more", '', 'nothing is left out') or diag(explain(\%skipped));
	rebuild($standby, $primary, 'settled');
};

subtest 'a clean handover' => sub {
	# The registry's database is a node itself: its keeper reports that nothing is missing.
	number($primary, 's1');
	take($_, map { ($_ => 3 * $step{$_}) } @segments) for @names;
	all_rest();
	$primary->stop('fast');
	$standby->promote;
	($primary, $standby) = ($standby, $primary);
	my %known = columns($primary);
	use_all('north');
	my %skipped = skipped(%known);
	my @more = grep { $skipped{$_} > 2 * $step{$_} } sort keys %skipped;
	is("@more", '', 'nothing is left out') or diag(explain(\%skipped));
};

subtest 'files of an earlier moment' => sub {
	my $copy = $primary->basedir . '/copy';
	my (%known, %now);
	while_no_node_calls(sub {
		$primary->stop('fast');
		PostgreSQL::Test::RecursiveCopy::copypath($primary->data_dir, $copy);
		$primary->start;
		%known = columns($primary);
	});
	use_all($_) for @names;
	take('east', map { ($_ => 2 * $step{$_}) } @segments);
	%now = columns($primary);
	is(join(' ', grep { $now{$_}{last} <= $known{$_}{last} } @segments), '', 'ranges are allocated');
	# A node that still needs a range requests it as soon as the registry is back.
	all_rest();
	while_no_node_calls(sub {
		$primary->stop('immediate');
		rmtree($primary->data_dir);
		PostgreSQL::Test::RecursiveCopy::copypath($copy, $primary->data_dir);
		chmod 0700, $primary->data_dir;
		$primary->start;
		%now = columns($primary);
	});
	is(join(' ', grep { $now{$_}{last} != $known{$_}{last} } @segments), '', '... and forgotten');
	# The node that has the numbers names them, of one segment. Then all segments are known to have
	# lost some.
	my %left = left('east');
	take('east', s1 => $left{s1} + 1);
	like(slurp_file($primary->logfile), qr/registry settles until .*: a node has had numbers of a segment that it never allocated/, 'a node tells it');
	for my $name (shuffle(@names)) { use_all($name); take($name, map { ($_ => 2 * $step{$_}) } @segments); }
};

is($duplicates, 0, "of $numbers numbers none was issued twice");
is($falls, 0, 'and they rose on each node');
figures('%d numbers lost by the registry, of which %d had been issued', $lost, $lost_issued);
diag("trials $trials segments of $failovers failovers, $numbers numbers, $duplicates duplicates, seed $seed");
$nodes->stop('fast');
$primary->stop('fast');
done_testing();
