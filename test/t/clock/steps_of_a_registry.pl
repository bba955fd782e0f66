# A time service steps the clock of a registry by 0.1 to 10 s, as often as a hundred times a day. The
# registry cannot tell that from a revert with its memory, so that it skips lease ids at each step of
# more than a second. What that costs: one write of snowflake_origin, by the next exchange; no node
# is refused, nothing settles, and a year of such days uses up less than a thousandth of the ids.
use strict;
use warnings;

use RegistryTest;
use SnowflakeTest;
use Test::More;

seed();
my $steps = $ENV{SNOWFLAKE_TRIALS} || at_length(20, 100);
my $server = new_server('registry', clock => 1);
start_server($server);
value($server, 'CREATE EXTENSION snowflake');
my ($id, $worker, $start, $end) = split /\|/, value($server,
	sprintf q{SELECT lease_id, worker_id, window_start, window_end FROM snowflake_lease_acquire('node', 0, %s, '10 min', sha256('node'), 0, NULL)}, node_tick());

sub last_lease_id { return value($server, 'SELECT last_lease_id FROM snowflake_origin'); }

# The records and bytes that an extend writes to the WAL, and its time in ms.
sub extend
{
	my $shown = value($server, sprintf q{EXPLAIN (ANALYZE, WAL, TIMING off) SELECT FROM snowflake_lease_extend(%s, sha256('node'), %s, '10 min', %s, %s, %s)},
		$id, node_tick(), $end, $worker, $start);
	$end = value($server, 'SELECT window_end FROM snowflake_registry');
	my ($records, $bytes, $ms) = $shown =~ /WAL: records=(\d+).*? bytes=(\d+).*Execution Time: ([\d.]+) ms/s or die $shown;
	return ($records, $bytes, $ms);
}

sub median { my @sorted = sort { $a <=> $b } @_; return $sorted[ @sorted / 2 ]; }

my (%cost, $skips);
# By how much the clock is ahead of the one at first, and was at the step that the registry knows.
my ($offset, $known) = (0, 0);
my $first = last_lease_id();
extend();
for my $step (1 .. $steps)
{
	my ($before, $to) = ($offset);
	do { $to = $offset + (0.1 + rand(9.9)) * ($offset > 0 ? -1 : 1); } while (grep { abs(abs($_) - 1) < 0.1 } $to, $to - $known);
	move_clock($server, $offset = $to);
	my $last = last_lease_id();
	my @cost = extend();
	my $skipped = last_lease_id() != $last;
	$skips += $skipped;
	is($skipped ? 1 : 0, abs($offset - $known) > 1 ? 1 : 0, sprintf 'a step from %.2f s to %.2f s, with %.2f s known', $before, $offset, $known);
	$known = abs($offset) < 1 ? 0 : $skipped ? $offset : $known;
	push @{ $cost{ $skipped ? 'skip' : 'step' } }, \@cost;
	push @{ $cost{none} }, [ extend() ];
}
my $used = last_lease_id() - $first;
my %name = (skip => 'after a step with a skip', step => 'after another step', none => 'without a step');
for my $kind (grep { $cost{$_} } qw(none step skip))
{
	my @of = map { my $i = $_; median(map { $_->[$i] } @{ $cost{$kind} }) } 0 .. 2;
	SnowflakeTest::figures('an extend %s: %d records, %d bytes of WAL, %.2f ms (medians of %d)', $name{$kind}, @of, scalar @{ $cost{$kind} });
}
SnowflakeTest::figures('%d steps, %d skips of %d lease ids together: %.1e of all in a year with 100 steps a day', $steps, $skips, $used, $used / $steps * 36500 / 2**62);
cmp_ok($used / $steps * 36500, '<', 2**62 / 1000, 'a year uses up less than a thousandth of the lease ids');
is(value($server, 'SELECT settles_until IS NULL AND NOT loss_known FROM snowflake_origin'), 't', 'nothing settles');
is(value($server, 'SELECT count(*) FROM snowflake_registry'), '1', 'the node has its lease');
$server->stop('fast');
done_testing();
