# A node that is paused past its window issues no ids of the old lease when it continues (G1),
# although its clients are in the middle of calls and another node has acquired its worker id
# meanwhile. Two nodes share one worker id, which each pause moves to the other node. Between two
# ids of one node's window there is no id of the other node.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use ProtocolTest qw(lease_function);
use SnowflakeTest;
use Test::More;

my $rounds = 6;
# One worker bit, and one of the two worker ids is leased: every lease gets the worker id of the
# previous lease.
my $layout = q{(true, 'epoch=1577836800000 tick=1ms time=41 worker=1 seq=12')};
my $registry = registry_server(conf => "log_statement = none\n");
new_registry($registry, 'narrow', layout => $layout);
my $taken = value($registry, lease_function($schema) . q{SELECT worker_id FROM
	pg_temp.lease('nobody', (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1577836800000, '1 day')}, 'narrow');
my %nodes;
for my $name (qw(a b))
{
	my $place = at($registry, 'narrow');
	my $node = $nodes{$name} = new_server($name, conf => qq{
snowflake.registry = '$place'
snowflake.node_name = 'node $name'
snowflake.lease_duration = 1s
snowflake.start_timeout = 1s
snowflake.max_clock_skew = 0
log_statement = none
});
	start_server($node);
	value($node, "CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES $layout");
}

sub count_in
{
	my ($name, $from, $pattern) = @_;
	my $since = slurp_file($nodes{$name}->logfile, $from);
	return scalar(() = $since =~ /$pattern/g);
}
my $loss = qr/snowflake keeper: lost worker id/;

my $load = "COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;\nSELECT snowflake_nextval();\nSELECT FROM pg_sleep(0.003);\n" x 100;
my %loads = map { $_ => start_clients($nodes{$_}, 2, $load) } qw(a b);
my %log_from = map { $_ => -s $nodes{$_}->logfile } qw(a b);
my $woken = 0;
my %leases_of;
for my $round (1 .. $rounds)
{
	my @lease;
	my $query = "SELECT lease_id, node, worker_id, secret_hash FROM $schema.snowflake_registry WHERE worker_id <> $taken";
	wait_until('a lease', sub { @lease = split /\|/, value($registry, $query, 'narrow'); @lease });
	my ($holder) = $lease[1] =~ /node (\w)/;
	my $other = $holder eq 'a' ? 'b' : 'a';
	my $size = client_bytes($loads{$holder});
	wait_until('ids', sub { client_bytes($loads{$holder}) > $size + 50_000 });
	my $log = -s $nodes{$holder}->logfile;
	pause_server($nodes{$holder});
	my @next;
	my $acquired = wait_until('the other node to acquire',
		sub { @next = split /\|/, value($registry, $query, 'narrow'); @next && $next[0] > $lease[0] && $next[1] eq "node $other" });
	$leases_of{ $_->[3] }{ $_->[0] } = 1 for \@lease, \@next;
	$size = client_bytes($loads{$other});
	wait_until('ids', sub { client_bytes($loads{$other}) > $size + 20_000 });
	resume_server($nodes{$holder});
	$woken++ if $acquired && $next[2] == $lease[2];
	wait_until('the loss to be noticed', sub { count_in($holder, $log, $loss) > 0 });
}
# A node without a lease waits in each call.
append_to_file("$_->{folder}/stop", '') for values %loads;
value($_, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()}) for values %nodes;
stop_clients($_) for values %loads;

is($woken, $rounds, 'pauses in which the other node got the same worker id');
is(scalar(grep { keys %$_ > 1 } values %leases_of), 0, 'no two leases had the same secret');
my ($ids, $duplicates) = compare_ids(map { @{ $_->{files} } } values %loads);
is($duplicates, 0, "duplicates among $ids");
cmp_ok($ids, '>', 20_000, 'ids were compared');
# All ids of both nodes have one worker id. In the order of ticks, each node's ids are in its own
# windows: between two ids of a node there is none of the other node, unless a change of the lease
# is between them.
my @all;
for my $name (qw(a b))
{
	for my $file (@{ $loads{$name}{files} })
	{
		push @all, map { [ $_ >> 13, $name ] } grep { /^\d+$/ } split /\n/, slurp_file($file);
	}
}
@all = sort { $a->[0] <=> $b->[0] } @all;
my ($changes, $shared) = (0, 0);
for my $i (1 .. $#all)
{
	next if $all[$i][1] eq $all[ $i - 1 ][1];
	$changes++;
	$shared++ if $all[$i][0] == $all[ $i - 1 ][0];
}
is($shared, 0, 'ticks that both nodes used');
my ($acquired, $lost) = (0, 0);
for my $name (qw(a b))
{
	$acquired += count_in($name, $log_from{$name}, qr/snowflake keeper: acquired worker id/);
	$lost += count_in($name, $log_from{$name}, $loss);
}
cmp_ok($lost, '>=', $rounds, 'leases that were lost are in the log');
cmp_ok($acquired, '>=', $rounds, 'leases that were acquired are in the log');
cmp_ok($changes, '<=', $acquired, 'the worker id changed hands no more often than a lease was acquired');
figures('%d pauses, %d leases acquired and %d lost, %d ids', $rounds, $acquired, $lost, $ids);
$_->stop('fast') for values %nodes;
$registry->stop('fast');
done_testing();
