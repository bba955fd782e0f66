# Kills at random moments under load, half of them while the registry is unavailable. A crash costs
# nothing (G10). After each start the first calls of several sessions get ids at once, always under
# the same lease and worker id, and above all previous ids. No id is issued twice (G1), and the
# registry has one row.
#
# The seed decides the kinds of kill and their moments, but not what the server is doing at those
# moments. The number of kills that the contract names takes some minutes: SNOWFLAKE_TRIALS=200
# TEST_TIMEOUT=900 test/run t/crash/random_kills
use strict;
use warnings;

use lib 'test/perl';
use KillTest;
use List::Util qw(min max shuffle);
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $trials = $ENV{SNOWFLAKE_TRIALS} || at_length(12, 42);
my $sessions = 4;
my $began = time();
my $seed = seed();

my ($registry, $relay, $place) = distant_registry();
# No call waits for ever: if there is no id within a second, this is an error.
my $node = new_node('node', place => $place, conf => "snowflake.start_timeout = 1s\n");

# Runs long enough to be hit within, pauses, single calls, and transactions that are rolled back.
value($node, 'CREATE TABLE kept (id bigint DEFAULT snowflake_nextval())');
my $script = ids_in_every_way(times => 500, copied => 100, rolled_back => 10, at_once => 20, pause => 0.008);

# Each kind is used as often as the others, half of them while cut off, and no more than two of
# those in a row, because windows are short if a node crashes all the time.
my @kinds = sort keys %crashes;
my @plan = shuffle(map { $kinds[ $_ % @kinds ] } 0 .. $trials - 1);
my @cut;
while (@cut < $trials)
{
	my $in_a_row = 1 + int rand 2;
	push @cut, (0) x $in_a_row, (1) x $in_a_row;
}

my (@lives, @errors, %workers, %leases, %missed);
my ($cut_off, $with_registry, $waits, $acquired) = (0, 0, 0, 0);

# All that issue after one start: sessions, and a call of this program at the same time.
sub live
{
	my ($n) = @_;
	my $load = start_clients($node, $sessions, $script);
	my $call = first_call($node);
	push @errors, "life $n: $call->{error}" if $call->{error};
	push @errors, "life $n: no ids" unless wait_until("ids in life $n", sub { client_bytes($load) > $sessions * 3000 });
	$workers{ $call->{worker} // '?' }++;
	$leases{ $call->{lease} // '?' }++;
	append_to_file("$load->{folder}/first.out", ($call->{id} // '') . "\n");
	push @{ $load->{files} }, "$load->{folder}/first.out";
	push @lives, $load;
	return $call;
}

my $first = live(0);
my $lease = $first->{lease};
for my $n (1 .. $trials)
{
	my $cut = $cut[ $n - 1 ];
	my $name = $plan[ $n - 1 ];
	# The window has to outlast the lives without a registry, also on a busy machine.
	push @errors, "life $n: the window stays short" if $cut && !$cut[ $n - 2 ]
	  && !wait_until('a longer window', sub { lease_row($registry, 'window_end > ' . node_tick() . ' + 15000') eq 't' });
	$relay->tell($cut ? (qw(drop stall))[ rand 2 ] : 'pass forgotten');
	my $renewed = lease_row($registry, 'extended_at');
	sleep(rand(0.4));
	# A client that loses the server ends, and is not used after the next start.
	append_to_file("$lives[-1]{folder}/stop", '');
	my $happened;
	for (1 .. 50) { last if $happened = $crashes{$name}->($node); }
	$missed{$name}++ unless $happened;
	stop_clients($lives[-1]);
	$cut ? $cut_off++ : $with_registry++;
	my $call = live($n);
	$waits += $call->{waits} // 1;
	$acquired += $call->{acquired} // 1;
	push @errors, "life $n: the lease is not extended"
	  unless $cut || wait_until('an extension', sub { lease_row($registry, "extended_at > '$renewed'") eq 't' });
}
$relay->tell('pass forgotten');
append_to_file("$lives[-1]{folder}/stop", '');
value($node, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
stop_clients($lives[-1]);

# Errors that clients saw, except the server's death.
for my $life (@lives)
{
	push @errors, grep { /ERROR:/ } map { -e $_ ? split /\n/, slurp_file($_) : () } glob "$life->{folder}/*.err";
}
is(join(', ', %missed), '', "all of $trials kills happened");
is(join("\n", @errors), '', "ids flowed with the first calls of each life, $cut_off of which began without a registry");
cmp_ok($cut_off, '>=', int($trials / 2) - 1, '... which is half of them');
is("$waits waits, $acquired leases", '0 waits, 0 leases', '... and no life waited for a lease or acquired one');

my ($highest, $not_above) = (-1, 0);
for my $life (@lives)
{
	my @ids = grep { /^\d+$/ } map { split /\n/, slurp_file($_) } @{ $life->{files} };
	$not_above++ if min(@ids) <= $highest;
	$highest = max($highest, @ids);
	$workers{ $_ >> 12 & 31 }++ for @ids;
}
my ($ids, $twice) = compare_ids(map { @{ $_->{files} } } @lives);
is($twice, 0, "of $ids ids of all lives none was issued twice (G1)");
is($not_above, 0, 'each life is above all lives before');
is(falls_within(map { @{ $_->{files} } } @lives), 0, 'ids rose within each connection (G2)');
is(scalar(keys %workers), 1, 'all have one worker id');
is(scalar(keys %leases), 1, '... and one lease');
is(lease_row($registry, 'lease_id'), $lease, '... which is the only row of the registry');
figures('%d trials (kills) in %.0f s, %d without a registry, %d ids of %d sessions each, %d worker ids, %d duplicates, %d lives not in order, seed %d',
	$trials, time() - $began, $cut_off, $ids, $sessions, scalar(keys %workers), $twice, $not_above, $seed);
$node->stop('fast');
is(lease_row($registry, 'count(*)'), '0', 'a clean stop releases it');
$relay->finish;
$registry->stop('fast');
done_testing();
