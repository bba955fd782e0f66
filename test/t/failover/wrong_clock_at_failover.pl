# A registry fails over, with leases lost, to an asynchronous standby whose wall clock is an hour
# behind, and that clock is set right before half of settling, after it, after its end, or ten minutes
# later. No window of a worker id overlaps another one, at that time or when all clocks step back to
# before the loss later.
#
# The nodes are SQL, with ticks of the right time. Nodes whose leases are lost are cut off, so that
# nothing but the timeline shows the loss. Time passes at once, for the server and for the nodes.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $lease_s = 40;
my $hour = 3600;
my ($passed, $trials, $overlaps, $held) = (0, 0, 0, 0);
my ($assigned, $refused) = (0, 0);

sub tick { return int((time() + $passed) * 1000) - 1735689600000; }

sub let_all_pass
{
	my ($standby, $seconds) = @_;
	let_pass($standby, $seconds);
	$passed += $seconds;
	return;
}

# Windows by lease id: [worker id, start, end].
sub windows
{
	my ($server) = @_;
	my %windows;
	for my $line (split /\n/, value($server, 'SELECT lease_id, worker_id, window_start, window_end FROM snowflake_registry'))
	{
		my ($lease, @window) = split /\|/, $line;
		$windows{$lease} = \@window;
	}
	return \%windows;
}

# Adds windows to others. A lease that was extended has the later end.
sub record
{
	my ($all, $more) = @_;
	for my $lease (keys %$more)
	{
		my $known = $all->{$lease} // $more->{$lease};
		my ($worker, $start, $end) = @{ $more->{$lease} };
		die "lease $lease has another worker id or start\n" if $known->[0] != $worker || $known->[1] != $start;
		$all->{$lease} = [ $worker, $start, $end > $known->[2] ? $end : $known->[2] ];
	}
	return;
}

# Up to so many nodes acquire a lease at this tick. Returns their leases as for windows().
sub acquire
{
	my ($server, $count, $tick) = @_;
	my $acquire = "SELECT lease_id, worker_id, window_start, window_end FROM snowflake_lease_acquire('n', 0, $tick, '$lease_s s',
		sha256(uuid_send(gen_random_uuid())), 0, NULL);\n";
	# An acquire that notices the loss may return nothing.
	my ($rc, $out, $err) = $server->psql('postgres', "\\set VERBOSITY verbose\n" . $acquire x $count, on_error_stop => 1);
	die $err if $rc != 0 && $err !~ /ERROR:\s+(SF002|SF004):/;
	$refused++ if $rc != 0 && $1 eq 'SF002';
	my %leases;
	for my $line (grep { /^\d/ } split /\n/, $out)
	{
		my ($lease, @window) = split /\|/, $line;
		$leases{$lease} = \@window;
	}
	$assigned += keys %leases;
	return \%leases;
}

# How many windows begin before another one of the same worker id ends.
sub count_overlaps
{
	my ($windows) = @_;
	my (%end, $count);
	for my $window (sort { $a->[1] <=> $b->[1] } values %$windows)
	{
		my ($worker, $start, $end) = @$window;
		if ($start < ($end{$worker} // 0))
		{
			diag("worker id $worker: a window from $start, one before it until $end{$worker}");
			$count++;
		}
		$end{$worker} = $end if $end > ($end{$worker} // 0);
	}
	return $count // 0;
}

# How many of these leases have the worker id of a lost one whose node still uses it.
sub count_held
{
	my ($leases, $lost, $tick) = @_;
	my %held = map { $_->[0] => 1 } grep { $_->[2] > $tick } values %$lost;
	return scalar(grep { $held{ $_->[0] } } values %$leases);
}

# Options: skew => max_clock_skew in s; own => whether the registry's own database issues ids; right
# => after how many seconds the clock is set right.
sub fail_over
{
	my (%options) = @_;
	my $n = ++$trials;
	my $what = sprintf('skew %d s, %s ids of its own, right after %d s', $options{skew}, $options{own} ? 'with' : 'without', $options{right});
	my $settling_s = $lease_s + 2 * $options{skew};

	my $primary = make_registry("primary_$n", clock => 1, preload => undef,
		conf => "snowflake.lease_duration = ${lease_s}s\nsnowflake.start_timeout = 20s\n");
	$passed = 0;

	# The last extend of two leases is lost, and nine leases are lost with it. They last so long that a
	# slow machine has promoted the standby before they end.
	my %windows;
	my $known = acquire($primary, 2, tick());
	$primary->backup("copy_$n");
	my $standby = new_server("standby_$n", from => [ $primary, "copy_$n" ], clock => 1, conf => "snowflake.max_clock_skew = $options{skew}s\n");
	move_clock($standby, -$hour);
	$standby->set_standby_mode;
	start_server($standby);
	my @lost = keys %{ acquire($primary, 9, tick()) };
	my @ids;
	my $issue = sub { my ($server) = @_; push @ids, split /\n/, value($server, 'SELECT * FROM snowflake_nextvals(3)') if $options{own} };
	$issue->($primary);
	for my $lease (keys %$known, @lost)
	{
		value($primary, sprintf(q{SELECT e.window_end FROM snowflake_registry r, snowflake_lease_extend(r.lease_id, r.secret_hash, %s, '%d s', r.window_end, r.worker_id, r.window_start) e
			WHERE r.lease_id = %s}, tick(), $lease_s, $lease));
	}
	my $lost = windows($primary);
	record(\%windows, $lost);
	my $lost_at = tick();

	$primary->stop('immediate');
	$standby->promote;
	my $acquire = sub {
		my ($count, $tick) = @_;
		my $leases = acquire($standby, $count, $tick);
		record(\%windows, $leases);
		record(\%windows, windows($standby));
		return $leases;
	};
	$issue->($standby);
	my $now = tick();
	my $held_here = count_held($acquire->(3, $now), $lost, $now);
	let_all_pass($standby, $options{right});
	$issue->($standby);
	$now = tick();
	my $used = grep { $_->[2] > $now } values %$lost;
	$held_here += count_held($acquire->(1, $now), $lost, $now);
	move_clock($standby, $passed);
	$now = tick();
	$held_here += count_held($acquire->(4, $now), $lost, $now);
	$issue->($standby);
	is($held_here, 0, "$what: no worker id of the $used leases that are lost and in use is assigned");

	# Settling ends, and later the time is confirmed.
	for my $seconds ($settling_s, 660)
	{
		let_all_pass($standby, $seconds);
		$acquire->(1, tick());
		$issue->($standby);
	}
	is(value($standby, 'SELECT settling_us FROM snowflake_origin'), 0, '... the registry has settled');
	# A registry whose clock was wrong throughout cannot know when the lost windows end. Without ids of
	# its own it settles from the first call on that it does not refuse.
	if ($options{right} < 600 || ($options{skew} > 0 && !$options{own}))
	{
		$passed -= (tick() - $lost_at) / 1000;
		move_clock($standby, $passed);
	}
	my %lost_worker = map { $_->[0] => 1 } @$lost{@lost};
	cmp_ok(scalar(grep { $lost_worker{ $_->[0] } } values %{ $acquire->(40, tick()) }), '>=', 3, '... and worker ids of lost leases are used again');
	$issue->($standby);
	my $overlaps_here = count_overlaps(\%windows);
	is($overlaps_here, 0, '... none of ' . keys(%windows) . ' windows overlaps another one of its worker id');
	my %seen;
	is(scalar(grep { $seen{$_}++ } @ids), 0, '... and ' . @ids . ' ids are different') if $options{own};
	$held += $held_here;
	$overlaps += $overlaps_here;
	$standby->stop('immediate');
	return;
}

my @trials = map {
	my $right = $_;
	map { { skew => $_->[0], own => $_->[1], right => $right } } [ 0, 0 ], [ 0, 1 ], [ 10, 0 ], [ 10, 1 ]
} 1, 30, 100, 700;
fail_over(%{ $trials[$_] }) for @{ at_length([ 0, 3 ], [ 0 .. $#trials ]) };
figures('%d trials, %d windows assigned, %d calls refused for the clock, %d worker ids assigned while held, %d overlaps', $trials, $assigned, $refused, $held, $overlaps);
done_testing();
