# Random acquires, extends and releases are compared with a model of the registry's rules (section 4
# of the design). Each result, lease and watermark agrees with the model, in rings of several sizes,
# with clocks that drift, step and have extreme values. The test tries to break G1: windows of one
# worker id never overlap, whatever leases are acquired, extended, released or left to expire, in
# whatever order and with whatever clocks.
#
# SNOWFLAKE_SEED repeats a run.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $server = protocol_server('random_operations');

# The rules again, in Perl: leases by worker id, watermarks by worker id, nothing else.
my %model;

sub model_reset
{
	my ($ring, $datacenters) = @_;
	%model = (ring => $ring, datacenters => $datacenters, live => {}, mark => {});
	return;
}

# The expected result of acquire for a lease id: (worker, start, end), or only the SQLSTATE.
sub model_acquire
{
	my ($lease_id, $now, $ticks, $datacenter) = @_;
	$now = 0 if $now < 0;
	return 'SF003' if $now > $max_tick;
	my %live = %{ $model{live} };
	my %mark = %{ $model{mark} };
	# In circular order in the common part, two thirds of the ring, in every second round backwards;
	# then in the reserve, from its middle.
	my $common = $model{ring} - int($model{ring} / 3);
	my $middle = $common + int($model{ring} / 6);
	my @common = map { ($lease_id + $_) % $common } 0 .. $common - 1;
	@common = map { $common - 1 - $_ } @common if $lease_id >> 22 & 1;
	my @ring = map { $datacenter * $model{ring} + $_ } @common, $middle .. $model{ring} - 1, reverse $common .. $middle - 1;
	my @free = grep { !$live{$_} } @ring;
	my ($worker) = grep { ($mark{$_} // -1) < $now } @free;
	# The first lease that has ended by both clocks, and only if no other worker id is available.
	my $clock = now_ms() - 1_735_689_600_000;
	my $ended = $now < $clock ? $now : $clock;
	if (!defined $worker)
	{
		($worker) = sort { $live{$a}{end} <=> $live{$b}{end} || $live{$a}{id} <=> $live{$b}{id} } grep { $live{$_} && $live{$_}{end} <= $ended } @ring;
		if (defined $worker)
		{
			my $end = (delete $live{$worker})->{end};
			$mark{$worker} = $end - 1 if !exists $mark{$worker} || $mark{$worker} < $end - 1;
		}
	}
	($worker) = sort { $mark{$a} <=> $mark{$b} || $a <=> $b } @free unless defined $worker;
	return 'SF004' unless defined $worker;
	my $watermark = $mark{$worker} // -1;
	my $start = $now > $watermark ? $now : $watermark + 1;
	return 'SF003' if $start > $max_tick;
	my $end = $start + $ticks > $max_tick + 1 ? $max_tick + 1 : $start + $ticks;
	$model{live} = \%live;
	$model{mark} = \%mark;
	return ($worker, $start, $end);
}

sub model_rows
{
	my $live = $model{live};
	return join("\n", map { join('|', $live->{$_}{id}, hash_of($live->{$_}{secret}), $_, $live->{$_}{start}, $live->{$_}{end}) } sort { $a <=> $b } keys %$live);
}

sub model_watermarks
{
	my $mark = $model{mark};
	return join("\n", map { "$_|$mark->{$_}" } sort { $a <=> $b } keys %$mark);
}

my $trials = 0;
my %kinds;
PLAN: for my $plan ([ 0, 3, at_length(500, 1500) ], [ 1, 2, at_length(350, 1000) ], [ 0, 1, at_length(200, 500) ], [ 0, 6, at_length(500, 1500) ])
{
	my ($datacenter_bits, $worker_bits, $operations) = @$plan;
	my $session = registry($server, $datacenter_bits, $worker_bits);
	model_reset(1 << $worker_bits, 1 << $datacenter_bits);
	my $clock = 1_000_000;
	my (@history, @windows, $last_id);
	my $failed = 0;
	for my $n (1 .. $operations)
	{
		# The clock drifts, and sometimes it is wrong: behind, ahead, or at a limit.
		$clock += int(rand(4000));
		$clock -= int(rand(100_000)) if rand() < 0.05;
		$clock += int(rand(200_000)) if rand() < 0.05;
		my $now = $clock;
		$now = (-1, 0, $max_tick - int(rand(3000)), $max_tick + 1)[ int(rand(4)) ] if rand() < 0.02;
		my $seconds = 1 + int(rand(rand() < 0.8 ? 20 : 300));
		my $lease = @history ? $history[ int(rand(@history)) ] : undef;
		# Newer leases more often, because they are still valid.
		$lease = $history[ -1 - int(rand(@history > 8 ? 8 : @history)) ] if @history && rand() < 0.8;
		my ($what, $got, $expected) = ('acquire');
		if (!$lease || rand() < 0.45)
		{
			my $datacenter = int(rand($model{datacenters}));
			my ($acquired, $state) = acquire($session, $now, "$seconds s", $datacenter);
			my @answer = model_acquire($acquired ? $acquired->{id} : 0, $now, $seconds * 1000, $datacenter);
			$expected = join(' ', @answer);
			$got = $acquired ? "$acquired->{worker} $acquired->{start} $acquired->{end}" : $state;
			$what .= " $now for $seconds s in $datacenter";
			++$kinds{ $acquired ? 'acquired' : $state };
			if ($acquired && @answer == 3)
			{
				$model{live}{ $acquired->{worker} } = $acquired;
				push @history, $acquired;
				$got .= ' not rising' if defined $last_id && $acquired->{id} <= $last_id;
				$last_id = $acquired->{id};
			}
		}
		else
		{
			my $live = $model{live}{ $lease->{worker} };
			undef $live unless $live && $live->{id} == $lease->{id};
			my %shown = %$lease;
			my $wrong = rand() < 0.1;
			$shown{secret} =~ tr/0123456789abcdef/123456789abcdef0/ if $wrong;
			undef $live if $wrong;
			if (rand() < 0.5)
			{
				$what = "extend $lease->{id} at $now by $seconds s";
				(undef, $got) = extend($session, \%shown, $now, "$seconds s");
				$expected = '';
				if ($live)
				{
					my $from = $now > 0 ? $now : 0;
					my $end = $from + $seconds * 1000 > $max_tick + 1 ? $max_tick + 1 : $from + $seconds * 1000;
					$live->{end} = $end if $end > $live->{end};
					$expected = $live->{end};
				}
				++$kinds{ $live ? 'extended' : 'extend refused' };
			}
			else
			{
				my $at = $live // $lease;
				my $last = $at->{start} - 1 + int(rand($at->{end} - $at->{start} + 1));
				$last = (($at->{start} - 2, $at->{end})[ int(rand(2)) ]) if rand() < 0.15;
				$what = "release $lease->{id} at $last";
				my ($state, $text) = release($session, \%shown, $last);
				$got = $state eq '00000' ? $text : $state;
				$expected = !$live ? 'f' : $last < $live->{start} - 1 || $last >= $live->{end} ? '22023' : 't';
				if ($expected eq 't')
				{
					my $worker = $lease->{worker};
					delete $model{live}{$worker};
					my $used = $live->{end} - 1;
					$model{mark}{$worker} = $used if !exists $model{mark}{$worker} || $model{mark}{$worker} < $used;
				}
				++$kinds{"release $expected"};
			}
		}
		++$trials;
		my $rows = registry_rows($session);
		my $marks = watermarks($session);
		next if $got eq $expected && $rows eq model_rows() && $marks eq model_watermarks();
		fail("seed $seed, plan @$plan, operation $n: $what");
		diag("answer: $got, expected: $expected\nregistry:\n$rows\nexpected:\n" . model_rows()
			  . "\nwatermarks:\n$marks\nexpected:\n" . model_watermarks());
		last PLAN;
	}
	pass("$operations random operations with $datacenter_bits datacenter and $worker_bits worker bits");
	$session->quit;
}
diag("$trials trials: " . join(', ', map { "$kinds{$_} $_" } sort keys %kinds));
ok($kinds{$_}, "among them: $_") for 'acquired', 'SF004', 'extended', 'extend refused', 'release t', 'release f', 'release 22023';

$server->stop('fast');
done_testing();
