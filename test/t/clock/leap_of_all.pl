# One wrong source of time serves all servers: the registry and its nodes leap together, for seconds
# or for nine minutes, and are set right. No node follows. All go on in order, in the present, with
# their worker ids, no call fails, and the registry has no tick of the leap afterwards (G5, G9;
# section 6 of the design). Meanwhile windows of 6 s are extended many times, sessions come and go,
# and a node that has read its clock before gets its first lease. Windows also end, because time
# passes while nobody asks.
#
# The default run has one leap of all by two days. At length there are also leaps by five years, of
# the registry alone, and of most nodes without the registry; servers that leap one after another;
# a registry that is restarted, and a standby that is promoted, while all have leapt; and a registry
# that was off for a day.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use List::Util qw(min shuffle sum);
use PostgreSQL::Test::Utils;
use RegistryTest qw(make_registry make_nodes place value);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seed = seed();
my $day_s = 24 * $hour_s;
my %leaps = ('two days' => 2 * $day_s, 'five years' => 5 * 365 * $day_s);
# What ids and ticks may be off by: time passes on the servers one after another.
my $near_s = 10 * slowness();

my $short = "snowflake.lease_duration = 6s\n";
my $longest_s = min(30 * slowness(), 300);    # of a window, in the trials without a registry
my $registry = make_registry('registry', clock => 1, conf => $short);
my $standby;
if (at_length(0, 1))
{
	$registry->backup('copy');
	$standby = new_server('standby', from => [ $registry, 'copy' ], clock => 1,
		conf => sprintf("primary_conninfo = '%s'\nwal_receiver_timeout = 0\n", $registry->connstr));
	$standby->set_standby_mode;
	start_server($standby);
}
my $place = place($registry, $standby // ());
# As long as nobody sets the clocks right, what is refused stays so: a slow keeper is no failure.
my $conf = sprintf("${short}snowflake.start_timeout = %ds\n", 20 * slowness());
my ($most, $other) = map { make_nodes($_, clock => 1, conf => $conf) } qw(most other);
my @all = ($registry, $standby // (), $most, $other);

# --------------------------------------------------------------------------------------------------
# Nodes, and what became of their calls
# --------------------------------------------------------------------------------------------------

# What has passed on both clocks of all servers. The true time is this program's, later by that.
my $passed_s = 0;
my ($calls, $leaps) = (0, 0);
my %seen;

sub true_s { return time() + $passed_s; }

sub lapse
{
	my ($seconds) = @_;
	let_pass($_, $seconds) for @all;
	$passed_s += $seconds;
	return;
}

# A database that is a node. Options: late => its clock is read, but it gets no lease yet.
sub new_node
{
	my ($server, $name, %options) = @_;
	value($server, "CREATE DATABASE $name TEMPLATE base");
	value($server, "ALTER DATABASE $name SET snowflake.registry = '" . ($options{late} ? 'host=/nowhere' : $place) . "'");
	my $node = { server => $server, name => $name, last => 0 };
	return $node unless $options{late};
	my ($state) = query_error($server, $name, q{SET snowflake.start_timeout = '10ms'; SELECT snowflake_nextval()});
	die "$name got $state\n" if $state ne 'SF001';
	# One that is just starting would not be ended, and keep the address that leads nowhere.
	wait_until('its keeper', sub { of_node($node, 'keeper_pid IS NOT NULL') eq 't' });
	RegistryTest::move_node($node, $place);
	return $node;
}

sub of_node { my ($node, $columns) = @_; return status($node->{server}, $columns, $node->{name}); }

# The answer to a call, an id or an error, that began at this time.
sub judge
{
	my ($node, $began, $id) = @_;
	my $took = time() - $began;
	$calls++;
	$seen{longest} = $took if $took > ($seen{longest} // 0);
	if ($id !~ /^\d{6,}$/)
	{
		diag("$node->{name}: $id") if $seen{failed}++ < 3;
		return;
	}
	my $at_s = ($id >> 17) / 1000 + $epoch_ms / 1000;
	$seen{future}++ if $at_s > true_s() + $near_s;
	$seen{past}++ if $at_s < $began + $passed_s - $near_s;
	$seen{falls}++ if $id <= $node->{last};
	$node->{last} = $id;
	my $worker = $id >> 12 & 31;
	$seen{anew}++ if $worker != ($node->{worker} //= $worker);
	return;
}

# An id from the node's session, or from a new one.
sub get
{
	my ($node, $new) = @_;
	my $began = time();
	if (!$new)
	{
		$node->{session} //= $node->{server}->background_psql($node->{name}, on_error_stop => 0);
		$began = time();
		return judge($node, $began, call($node->{session}));
	}
	my (undef, $out, $error) = $node->{server}->psql($node->{name}, "\\set VERBOSITY verbose\nSELECT snowflake_nextval()");
	return judge($node, $began, $out =~ /^\d+$/ ? (remember($out))[0] : $error =~ /(?:ERROR|FATAL):\s+(\w{5}):/ ? $1 : "?$error");
}

my @nodes;
my $turn = 0;

# All sessions get ids, and one node has a new session.
sub round
{
	get($_) for @nodes;
	get($nodes[ $turn++ % @nodes ], 1);
	sleep(0.1);
	return;
}

sub flow { my $end = time() + $_[0]; round() while time() < $end; return; }

# Ids flow until so much time has passed on the servers since `from`, mostly in parts that windows
# survive, or just do not.
sub flow_until_passed
{
	my ($from, $seconds) = @_;
	while (true_s() - $from < $seconds)
	{
		lapse(min(2 + rand(5), $seconds));
		round();
	}
	return;
}

# Windows end later than that on all nodes.
sub windows_move
{
	my ($what) = @_;
	my %ends = map { $_->{name} => of_node($_, q{coalesce(window_end, '-infinity')}) } @nodes;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $moved = 0;
	# Not for ever, if calls fail.
	wait_until('windows to move', sub {
		round();
		$moved = !grep { of_node($_, "window_end > '$ends{$_->{name}}' AND state = 'issuing'") ne 't' } @nodes;
		return $moved || ($seen{failed} // 0) > 10;
	});
	return ok($moved, $what);
}

# The leases that nodes have acquired, and how often registries have answered them.
sub acquired { return sum(map { of_node($_, 'leases_acquired_total') } @nodes); }
sub answers { return sum(map { value($_->{server}, 'SELECT registry_answers_total FROM snowflake_metrics', $_->{name}) } @nodes); }

my $primary = $registry;

# How far the highest tick that the registry has is ahead of the true time, in s.
sub furthest_s
{
	my $tick = value($primary, 'SELECT max(t) FROM (SELECT window_end AS t FROM snowflake_registry'
		  . ' UNION ALL SELECT last_tick FROM snowflake_watermark UNION ALL SELECT raised_tick FROM snowflake_origin) AS ticks');
	return ($tick + $epoch_ms) / 1000 - true_s();
}

# How many worker ids the nodes no longer hold: they are free, or taken by leases of before.
sub lost
{
	my $theirs = join(',', map { $_->{worker} } @nodes);
	my $held = join(',', map { of_node($_, 'lease_id') } @nodes);
	return value($primary, "SELECT count(*) FROM (SELECT worker_id FROM snowflake_watermark"
		  . " UNION SELECT worker_id FROM snowflake_registry WHERE lease_id NOT IN ($held)) AS w WHERE worker_id IN ($theirs)");
}

# Runs code as a trial, and checks that no call noticed anything.
sub unnoticed
{
	my ($name, $code) = @_;
	subtest $name => sub {
		# After a failure the next trial begins anew.
		delete $_->{worker} for @nodes;
		get($_) for @nodes;
		%seen = ();
		my ($began, $calls_before, $acquired, $lost, $answers) = (time(), $calls, acquired(), lost(), answers());
		$code->();
		windows_move('in the end windows move');
		$seen{acquired} = acquired() - $acquired;
		$seen{lost} = lost() - $lost;
		my %none = (
			future => 'no id is of the future',
			past => 'no id is of the past',
			falls => 'no id is below one before it (G9)',
			anew => 'no id has another worker id',
			acquired => 'no node acquired another lease',
			lost => 'no node lost its worker id',
			failed => 'no call failed');
		is($seen{$_} // 0, 0, $none{$_}) for qw(future past falls anew acquired lost failed);
		cmp_ok(furthest_s(), '<', $longest_s + $near_s, 'the registry has no tick of the future');
		my @wrong = grep { of_node($_, "clock_lead_seconds BETWEEN -1 AND 1") ne 't' } @nodes;
		is(scalar @wrong, 0, 'the clocks of all nodes are right');
		figures('%s: %.0f s, %d calls, %d answers of the registry, %s; longest wait %.1f s', $name, time() - $began, $calls - $calls_before,
			answers() - $answers, join(', ', map { ($seen{$_} // 0) . " $_" } qw(future past falls anew acquired lost failed)), $seen{longest});
	};
	return;
}

# These servers leap, in any order; code runs; then they are set right. Options: late => 1 if a node
# gets its first lease meanwhile; apart => seconds between two servers; until => how long it lasts.
sub leap
{
	my ($name, $by, $servers, $code, %options) = @_;
	unnoticed($name, sub {
		# The registry's clock and those of nodes are right for long.
		lapse(601);
		round() for 1 .. 2;
		my $late = $options{late} ? new_node($most, 'late_' . $leaps, late => 1) : undef;
		my $move = sub {
			my ($to_s) = @_;
			for my $server (shuffle(@$servers)) { move_clock($server, $passed_s + $to_s); flow($options{apart}) if $options{apart}; }
		};
		$leaps++;
		my $since = true_s();
		$move->($by);
		round();
		if ($late)
		{
			get($late);
			cmp_ok($late->{last}, '>', 0, 'a node gets its first lease while clocks are wrong');
			push @nodes, $late if $late->{last};
		}
		$code->($since);
		windows_move('windows move while clocks are wrong');
		flow_until_passed($since, $options{until}) if $options{until};
		$move->(0);
		round() for 1 .. 5;
		if ($late)
		{
			is(of_node($late, 'leases_acquired_total'), 1, '... which was one');
			@nodes = grep { $_ != $late } @nodes;
			$late->{session}->quit;
			value($most, "DROP DATABASE $late->{name} WITH (FORCE)");
		}
	});
	return;
}

value($registry, 'ALTER SYSTEM SET wal_sender_timeout = 0; SELECT pg_reload_conf()');
# From its first call on the registry goes by what its clock has kept.
RegistryTest::acquire_leases($registry, 1, duration => '6 s');
lapse(601);
@nodes = ((map { new_node($most, "node_$_") } 1 .. 3), new_node($other, 'node_4'));
get($_) for @nodes;
round();
%seen = ();

# --------------------------------------------------------------------------------------------------
# Trials
# --------------------------------------------------------------------------------------------------

leap('all by two days, 12 s', 2 * $day_s, \@all, sub { flow_until_passed($_[0], 12); }, late => 1);

if (at_length(0, 1))
{
	my $seconds = sub { flow(12); };
	my $minutes = sub { flow_until_passed($_[0], 480); };
	my @registries = ($registry, $standby);
	for my $leap (sort keys %leaps)
	{
		my $by = $leaps{$leap};
		leap("all by $leap, 12 s of real time", $by, \@all, $seconds, late => 1);
		leap("all by $leap, nine minutes", $by, \@all, $minutes, late => 1, until => 540);
		leap("all by $leap, one after another", $by, \@all, $seconds, late => 1, apart => 2);
		leap("the registry by $leap, 12 s of real time", $by, \@registries, $seconds, late => 1);
		leap("the registry by $leap, nine minutes", $by, \@registries, $minutes, late => 1, until => 540);
		leap("most nodes by $leap, 12 s of real time", $by, [$most], $seconds, late => 1);
		leap("most nodes by $leap, nine minutes", $by, [$most], $minutes, late => 1, until => 540);
	}
	leap('all by two days, and then by five years', $leaps{'two days'}, \@all, sub {
		flow(4);
		move_clock($_, $passed_s + $leaps{'five years'}) for shuffle(@all);
		flow(8);
	}, late => 1);

	# A machine that was started anew has another monotonic clock.
	for my $steady (1, 0)
	{
		unnoticed('the registry was off for a day' . ($steady ? '' : ', and its monotonic clock, too'), sub {
			$registry->stop('fast');
			lapse($day_s);
			if (!$steady) { $registry->{snowflake_steady_offset_ns} -= int($day_s * 1e9); move_clock($registry, $passed_s); }
			start_server($registry);
			round() for 1 .. 10;
		});
	}

	# The new life of a registry does not know the time of before. It accepts nodes in their
	# windows, which last for longer than it is away.
	set_lease_duration($_, "${longest_s}s") for $most, $other;
	my $away = sub {
		my ($code) = @_;
		my $left_s = int($longest_s * 0.6);
		ok(wait_until('long windows', sub { round(); !grep { of_node($_, "ids_flow_seconds > $left_s") ne 't' } @nodes }), 'windows are long');
		wait_until('the standby to stream', sub { value($registry, q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'}) eq '1' });
		$registry->stop('fast');
		round() for 1 .. 5;
		$code->();
		flow(5);
	};
	leap('all by five years, and the registry restarts', $leaps{'five years'}, \@all, sub {
		$away->(sub { start_server($registry); });
	});
	leap('all by five years, and the standby is promoted', $leaps{'five years'}, \@all, sub {
		$away->(sub {
			$standby->promote;
			$primary = $standby;
			@all = grep { $_ != $registry } @all;
		});
	});
}

is(repeated(), 0, 'no id was issued twice (G1): ' . remembered() . ' ids');
figures('%d trials (leaps), %d ids, seed %d', $leaps, remembered(), $seed);
$_->{session}->quit for @nodes;
$_->stop('fast') for $most, $other, $primary;
done_testing();
