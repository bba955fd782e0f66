# Under Patroni a leader freezes, and another one is promoted and crashes. Then the first one
# continues and takes the lock. On its old timeline nodes refuse it until snowflake_settle() is
# called there, and continue within a window after the call. No id is issued twice.
#
# If Patroni or etcd is not available, the test is skipped.
# Not in the default run: it needs Patroni and etcd, and waits for their failovers.
use strict;
use warnings;

use lib 'test/perl';
use Patroni;
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);
use version;

my ($version, $missing) = Patroni::version();
plan skip_all => "there is no $missing; apt-get install patroni etcd-server" unless $version;

# A lease lasts longer than a failover.
my $lease = 4 * Patroni::ttl() * slowness();
my %parameters = (shared_preload_libraries => 'snowflake', 'snowflake.lease_duration' => "${lease}s", fsync => 'off', autovacuum => 'off',
	wal_retrieve_retry_interval => '100ms');
my $registry = Patroni->new([ 'one', 'two' ], parameters => \%parameters);
my $old = $registry->leader;
serve_nodes($old);
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = ${lease}s\n");
my $place = $registry->place('postgres', 'node');
my @nodes = map { begin_node($nodes, "early_$_", $place) } 1 .. 2;
$registry->wait_replica;

my $timeline = q{SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int};
$registry->freeze_member($old);
my $new = $registry->wait_leader($old);
is(value($new, $timeline), '2', 'the leader froze, and another was promoted');
push @nodes, begin_node($nodes, 'late', $place);
ok(ids_flow($_), "$_->{name} issues") for @nodes;
my $renewed = 'SELECT count(*) FROM snowflake_registry WHERE extended_at > (SELECT acquired_at FROM snowflake_registry ORDER BY lease_id DESC LIMIT 1)';
ok(wait_until('all to have moved over', sub { value($new, $renewed) >= 2 }), '... and all have moved over to it');

$registry->kill_member($new);
ok(wait_until('the lock to end', sub { !$registry->has_leader }), 'it dies, and nobody is the leader');
$registry->thaw_member($old);
ok(wait_until('the lock', sub { $registry->has_leader }), 'the first thaws and takes the lock');
is($registry->wait_leader, $old, '... as the leader that it was');
# Patroni 3.2 has demoted it first, and promotes it: an ordinary failover.
my $kept = version->parse($version) < version->parse('3.2.0');
is(value($old, $timeline), $kept ? '1' : '2', $kept ? '... on its old timeline' : '... on a new timeline');
if ($kept)
{
	for my $node (@nodes)
	{
		my $error = '';
		ok(wait_until("the window of $node->{name} to end", sub {
			(my $state, $error) = query_error($nodes, $node->{name}, 'SELECT snowflake_nextval()');
			return $state eq 'SF001';
		}), "$node->{name} refuses it until its window ends");
		like($error, qr/only after a call of snowflake_settle\(\) in the registry's database/, '... and says who can end that, and how');
	}
	value($old, q{SELECT snowflake_settle('it won back')});
}
my $from = time();
ok(ids_flow($_), "then $_->{name} issues") for @nodes;
my $took = time() - $from;
cmp_ok($took, '<', $lease, '... within a window');
all_different('with the old leader', @nodes);
# Both timelines have the same number, so Patroni cannot detect that the other server must be
# rewound.
if ($kept)
{
	$registry->start_member($new);
	$registry->wait_replica;
	ok(ids_flow($_), "with the other as a replica $_->{name} issues") for @nodes;
}
none_twice('nodes whose old leader won back', @nodes);
figures('Patroni %s, %s, windows of %d s; all nodes issued after %.1f s', $version, $kept ? 'its old timeline' : 'a new timeline', $lease, $took);
$nodes->stop('fast');
done_testing();
