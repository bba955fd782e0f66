# Three nodes, one registry and a random mixture of faults. The test tries to break G1: nodes are
# paused, killed, restarted, cut off, failed over or given another time, in any order, several of
# them at the same time. No id that ever reached a client of any node is issued again, not even one
# that was rolled back. It also tries to break G6: when all faults are over, every node issues
# again.
#
# The third node is a copy of the second, with its data directory and name. Each node reaches the
# registry through its own relay. When the registry fails over to its asynchronous standby, the
# relay's target changes. This failover loses commits, so the test does it only if the ring is large
# enough for settling to hold back the worker ids that the lost commits may have assigned.
#
# The seed decides the ring's size, the faults, their order and their moments, but not what the
# servers are doing at those moments. SNOWFLAKE_MIXTURE_SECONDS sets the duration (8 by default, 60
# in test/run --all). Mixture.pm has the code of each fault. It needs 6 s of processor time for six
# clients, for restarts of five servers, and to compare all ids.
use strict;
use warnings;

use Mixture;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $seconds = $ENV{SNOWFLAKE_MIXTURE_SECONDS} || at_length(8, 60);
my $seed = seed();

# The fewer worker ids there are, the sooner one is used again.
my $worker_bits = (2, 3, 10, 10)[ rand 4 ];
make_world($worker_bits, standby => $worker_bits == 10);

subtest 'every node issues at first' => sub {
	for my $node (@nodes) { ok(wait_until('a first id', sub { issues($node) }), $node->name); }
};
my $started = time();
my @clients = start_load($seconds);

my %kinds = faults();
my ($count, %times) = bring_about($seconds, %kinds);

# ---------------------------------------------------------------------------------------------------------------------
# All faults are over
# ---------------------------------------------------------------------------------------------------------------------

heal();
my $healed = time();

subtest 'every node issues again (G6)' => sub {
	for my $node (@nodes)
	{
		ok(wait_until('ids again', sub { issues($node) }), $node->name)
		  or diag($node->psql('postgres', 'TABLE snowflake_status', extra_params => ['-x'], timeout => 10) // '');
	}
	figures('all nodes issued %.1f s after the last fault was healed', time() - $healed);
	# The clients' connections, too: their present statements must not hang.
	for my $i (0 .. $#nodes)
	{
		my $size = client_bytes($clients[$i]);
		ok(wait_until('ids', sub { client_bytes($clients[$i]) > $size + 20_000 }), $nodes[$i]->name . ' to its clients');
	}
};

my $enough = 1000 * $seconds;
# 19 digits and a line end each, and as much again for other output.
wait_until('enough ids', sub { my $bytes = 0; $bytes += client_bytes($_) for @clients; $bytes > 2 * 20 * $enough });
stop_clients($_) for @clients;
my $over = time();

subtest 'faults of all kinds happened' => sub {
	faults_happened($seconds, \%kinds, $count, \%times);
	figures('slowest stop %s', join(', ', map { sprintf '%s %.1f s', $_, $slowest{$_} } sort keys %slowest));
};

my ($ids, $duplicates, $lowest, $highest) = compare_ids(map { @{ $_->{files} } } @clients);

subtest 'no id was issued twice, here or elsewhere (G1)' => sub {
	is($duplicates, 0, "duplicates among $ids");
	cmp_ok($ids, '>', $enough, 'ids were compared');
};

subtest 'no id is twice in the tables of all nodes, whether or not it reached a client' => sub {
	my @files;
	for my $node (@nodes)
	{
		my $name = $node->basedir . '/kept';
		$node->safe_psql('postgres', "COPY kept TO '$name'");
		push @files, $name;
	}
	my ($rows, $twice) = compare_ids(@files);
	is($twice, 0, "duplicates among $rows");
	cmp_ok($rows, '>', 0, 'rows were kept');
};

subtest 'no id is of a time that was an hour off' => sub {
	my ($first, $last) = split /\|/, $nodes[0]->safe_psql('postgres', "SELECT extract(epoch FROM snowflake_timestamp($lowest)), extract(epoch FROM snowflake_timestamp($highest))");
	cmp_ok($first, '>', $started - $drift - 2, 'none before it began');
	cmp_ok($last, '<', $over + $drift + 0.1, 'and none after it ended');
};

subtest 'no server noticed a fault of its own' => sub {
	for my $server (@registries, @nodes)
	{
		my $log = slurp_file($server->logfile);
		my @crashes = $log =~ /(PANIC:.*|TRAP:.*|\(PID \d+\) was terminated by signal (?!9\b)\d+.*)/g;
		is(join("\n", @crashes), '', $server->name);
	}
};

my $leases = 0;
for my $node (@nodes)
{
	my $log = slurp_file($node->logfile);
	$leases += () = $log =~ /snowflake keeper: acquired worker id/g;
}
cmp_ok($leases, '>', 3, 'leases were acquired again and again');
figures('%d worker ids in the ring, %d leases in %d s', 2**$worker_bits, $leases, $seconds);

diag("trials $count faults, $leases leases, $ids ids, $duplicates duplicates, seed $seed");
end_world();
done_testing();
