# The schedule of test/soak: which faults, in which order, how far apart, and the seed of every
# choice that a fault makes. A seed always has the same schedule, whatever the servers do.
package Schedule;

use strict;
use warnings;

use Digest::MD5 qw(md5);

# How often each kind comes. Faults that take servers a second must be rare, or the servers do
# nothing else.
my %often = (
	'session cancelled' => 140, 'backend terminated' => 120, 'backend paused' => 40, 'backend killed' => 7,
	'keeper terminated' => 80, 'keeper paused' => 30, 'keeper killed' => 7,
	'clock stepped' => 140, 'clock wrong' => 30, 'clock days behind' => 15, 'clocks leapt together' => 3, 'clocks stepped back together' => 3,
	'registry clock stepped' => 20, 'registry clock wrong' => 8, 'registry clock days behind' => 4,
	'network dropped' => 30, 'network hung' => 60, 'answers late' => 60, 'answers lost' => 60, 'connections cut' => 80,
	'exchange terminated' => 2, 'exchange killed' => 2, 'exchange paused' => 2,
	'odd calls' => 12, 'lease deleted' => 20, 'leases deleted' => 6, 'tables truncated' => 10, 'watermarks lowered' => 10, 'replica writing' => 10,
	'guard missing' => 6, 'lock kept' => 0.2, 'registry told to settle' => 0.5,
	'node paused' => 2, 'node stopped' => 2, 'node shut down' => 2, 'node killed' => 2, 'node rebooted' => 2, 'node restarted' => 2, 'node started with a wrong clock' => 2, 'node started in the past' => 2, 'node restarted while ids are ahead' => 3, 'node upgraded' => 1,
	'node evicted' => 1, 'node copied' => 1, 'disk of a node full' => 1, 'database created again' => 3,
	'registry paused' => 1, 'registry stopped' => 1, 'registry restarted' => 1, 'registry killed' => 1, 'disk of the registry full' => 1,
	'settings changed' => 60, 'registry readdressed' => 10,
	'registry failed over' => 2, 'registry failed over with a wrong clock' => 1, 'registry failed over and crashing' => 1,
	'registry started in the past' => 1, 'registry reverted with its memory' => 6, 'registry switched over' => 1, 'registry backed up' => 1, 'registry restored' => 1);

sub kinds { return sort keys %often; }

sub new
{
	my ($class, $seed, $mean_pause) = @_;
	my $all = 0;
	my @kinds = map { [ $_, $all += $often{$_} ] } kinds();
	return bless { seed => $seed, count => 0, mean_pause => $mean_pause, kinds => \@kinds, all => $all }, $class;
}

# Returns (pause before it in seconds, kind, seed of its choices). Does not use Perl's random
# generator. Each value is computed from the seed and its number: if each value seeded the next one
# by srand(), with 32 bits, all seeds would soon reach the same cycle.
sub next
{
	my ($self) = @_;
	my ($at, $pause, $choices) = map { $_ / 2**32 } unpack 'N3', md5("$self->{seed} " . $self->{count}++);
	my ($kind) = map { $_->[0] } grep { $at * $self->{all} < $_->[1] } @{ $self->{kinds} };
	return (-log(1 - $pause) * $self->{mean_pause}, $kind, int($choices * 2**31));
}

# Prints so many faults, as if none took any time and all happened.
sub show
{
	my ($self, $count) = @_;
	my $at = 0;
	for (1 .. $count)
	{
		my ($pause, $kind, $choices) = $self->next;
		$at += $pause;
		printf "%9.3f s  %s (%d)\n", $at, $kind, $choices;
	}
	return;
}

1;
