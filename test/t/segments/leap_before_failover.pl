# A registry's clock, which was an hour behind, is set right, or steps twice, and then the registry
# fails over to an asynchronous standby. What was allocated shortly before still counts, so no lost
# number is allocated again. It needs 4 s of processor time for eight servers.
# Not in the default run: it starts some 450 processes.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my ($numbers, $trials) = (0, 0);
for my $steps ([3600], [ 3600, 0, 3600 ])
{
	my $n = ++$trials;
	my $primary = segments_registry("primary_$n", clock => 1, preload => 1, patient => 1, segments => { s => 'step => 10, max_step => 10' });
	my $node = segment_node("node_$n", place($primary), patient => 1);
	my @numbers = numbers($node, 600, 's');
	for my $offset (@$steps)
	{
		move_clock($primary, $offset);
		push @numbers, numbers($node, 31, 's');
	}
	$primary->backup('copy');
	my $standby = new_server("standby_$n", from => [ $primary, 'copy' ], clock => 1);
	$standby->set_standby_mode;
	push @numbers, numbers($node, 400, 's');
	$primary->stop('immediate');
	start_server($standby);
	$standby->promote;
	my $other = segment_node("other_$n", place($standby), patient => 1);
	push @numbers, numbers($other, 600, 's');
	my %seen;
	is(scalar(grep { $seen{$_}++ } @numbers), 0, scalar(@$steps) . ' steps: no number twice');
	$numbers += @numbers;
	$_->stop('immediate') for $standby, $node, $other;
}
figures('%d trials, %d numbers', $trials, $numbers);
done_testing();
