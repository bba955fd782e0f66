# Patroni runs the registry, with etcd. Planned switchovers hold nothing back. Nor does the kill of
# a leader whose replica is synchronous, because a callback reports that nothing was lost. Then
# leaders are killed while an asynchronous replica lacks their newest leases, and each comes back as
# a replica. Finally etcd is stopped, so the leader is demoted. All the time the nodes and the
# registry's leader issue ids, and no id is issued twice.
#
# Nodes have a list of hosts and find the host that accepts writes. If Patroni or etcd is not
# available, the test is skipped.
# Not in the default run: it needs Patroni and etcd, and waits for their failovers. It needs a
# minute of processor time for two agents, etcd, and servers that are started and rewound many
# times.
use strict;
use warnings;

use lib 'test/perl';
use Patroni;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my ($version, $missing) = Patroni::version();
plan skip_all => "there is no $missing; apt-get install patroni etcd-server" unless $version;
seed();

# A lease lasts longer than a failover of a busy machine, even if it was to be extended just then.
my $lease = 20 * Patroni::ttl() * slowness();
my $skew = 2;
my %parameters = (shared_preload_libraries => 'snowflake', 'snowflake.max_clock_skew' => "${skew}s", 'snowflake.lease_duration' => "${lease}s",
	'snowflake.start_timeout' => '20s', wal_retrieve_retry_interval => '100ms', wal_receiver_status_interval => '1s', fsync => 'off', autovacuum => 'off');
my $began = time();
my $registry = Patroni->new([ 'one', 'two' ], parameters => \%parameters);
my $leader = $registry->leader;
serve_nodes($leader);
my $place = $registry->place('postgres', 'node');

my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = ${lease}s\n");
my @steady = map { begin_node($nodes, "steady_$_", $place) } 1 .. 2;
my @nodes = @steady;
set_lease_duration($nodes, $lease + 1 . 's');
for my $node (@steady) { wait_until('a long window', sub { value($nodes, "SELECT ids_flow_seconds > $lease / 2 FROM snowflake_metrics", $node->{name}) eq 't' }) or die "no long window\n"; }
# On the primary, the registry's database issues ids, too.
my $own = { name => 'the leader', load => start_clients($registry, 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 20)) TO STDOUT;\nSELECT FROM pg_sleep(0.02);\n" x 20) };
my @slowest;    # failovers and switchovers, in seconds

sub since { my ($size) = @_; return join '', map { slurp_file($_->logfile, $size->{ $_->name }) } @{ $registry->{members} }; }
sub logs { return { map { ($_->name => -s $_->logfile) } @{ $registry->{members} } }; }

sub all_well
{
	my ($what) = @_;
	ok(ids_flow($_), "$what: $_->{name} issues") for @nodes, $own;
	return all_different($what, @nodes);
}

# Acquires all free worker ids, and those of nodes that have ended, and releases them.
sub nothing_held_back
{
	my ($what) = @_;
	my $free = 32 - value($leader, 'SELECT count(*) FROM snowflake_registry');
	my @acquired = acquire_leases($leader, 32);
	cmp_ok(scalar(@acquired), '>=', $free, "$what: all $free free worker ids can be had");
	unused($leader, @acquired);
	return;
}

my $kills = 0;

# The leader's server and agent are killed, and another leader is elected.
sub kill_leader
{
	my $old = $leader;
	$registry->kill_member($old);
	$kills++;
	my $from = time();
	$leader = $registry->wait_leader($old);
	push @slowest, time() - $from;
	return $old;
}

# A node that starts, and its lease.
sub begin_another
{
	my ($name) = @_;
	push @nodes, begin_node($nodes, $name, $place);
	return value($nodes, 'SELECT lease_id FROM snowflake_status', $name);
}

sub knows { my ($name, $lease_id) = @_; return value($leader, "SELECT count(*) FROM snowflake_registry WHERE lease_id = $lease_id AND node LIKE '%/$name'"); }

# ---------------------------------------------------------------------------------------------------------------------
# Planned switchovers
# ---------------------------------------------------------------------------------------------------------------------

my $switchovers = 0;
all_well('at first');
for my $n (1 .. 2)
{
	my $size = logs();
	my $from = time();
	$leader = $registry->switch_over;
	push @slowest, time() - $from;
	$switchovers++;
	all_well("switchover $n");
	is(value($leader, 'SELECT timeline, settles_until IS NULL, clean_at IS NULL FROM snowflake_origin'), ($n + 1) . '|t|t', '... the promoted one knows that nothing is lost');
	unlike(since($size), qr/SF004|held back|settles until/, '... and holds nothing back');
	$registry->wait_replica;
}
nothing_held_back('after switchovers');

# ---------------------------------------------------------------------------------------------------------------------
# Leaders that die without loss, which a callback reports to the successor
# ---------------------------------------------------------------------------------------------------------------------

$registry->on_promotion('SELECT snowflake_settled()');
$registry->synchronous(1);
sleep(rand(1));
my $kept = begin_another('kept');
my $old = kill_leader();
is(knows('kept', $kept), '1', 'synchronous, killed: the newest lease is there');
ok(wait_until('its call', sub { value($leader, 'SELECT settles_until IS NULL FROM snowflake_origin') eq 't' }), '... and the callback has said so');
begin_another('after_kept');
nothing_held_back('after a synchronous failover');
$registry->start_member($old);
$registry->wait_replica;
all_well('synchronous, with the old leader as a replica');
$registry->on_promotion(undef);
$registry->synchronous(0);

# ---------------------------------------------------------------------------------------------------------------------
# Leaders that die with leases that no other server knows
# ---------------------------------------------------------------------------------------------------------------------

for my $n (1 .. 2)
{
	sleep(rand(1));
	kill 'STOP', split /\n/, value($leader, 'SELECT pid FROM pg_stat_replication');
	my $lost = begin_another("lost_$n");
	my $old = kill_leader();
	is(knows("lost_$n", $lost), '0', "kill $n: a lease was lost");
	begin_another("after_$n");
	is(value($leader, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', '... and the promoted one settles');
	all_different("kill $n, at once", @nodes);
	$registry->start_member($old);
	$registry->wait_replica;
	all_well("kill $n, with the old leader as a replica");
}

# ---------------------------------------------------------------------------------------------------------------------
# etcd is stopped for longer than the leader may run without it
# ---------------------------------------------------------------------------------------------------------------------

my $size = logs();
$registry->pause_etcd;
ok(wait_until('it to step down', sub { since($size) =~ /[Dd]emot/ }), 'without etcd the leader steps down');
$registry->continue_etcd;
$registry->wait_leader;
push @nodes, begin_node($nodes, 'paused', $place);
$registry->wait_replica;
all_well('with etcd back');

none_twice("nodes and of the leader itself, in $switchovers switchovers, $kills kills and a pause of etcd", @nodes, $own);
for my $node (@steady)
{
	my $errors = join '', map { s/out$/err/r } @{ $node->{load}{files} };
	is(-s $errors // 0, 0, "$node->{name} never failed") or diag(slurp_file($errors));
}
figures('Patroni %s, failovers and switchovers took %s s; %.0f s in all', $version, join(' ', map { sprintf '%.1f', $_ } @slowest), time() - $began);
$nodes->stop('fast');
done_testing();
