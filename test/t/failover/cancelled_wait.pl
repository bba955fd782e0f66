# A registry's commits wait for a synchronous standby. If a wait is cancelled, the commit exists
# only on the primary, and the statement returns its result with a WARNING. A node does not accept
# this result. So if a failover loses the commit, no other node gets its worker id while it issues
# ids.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $first = make_registry('first');
my $second = standby_of($first, 'second');
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 8s\n");
my $place = place($first, $second);
my @nodes = map { begin_node($nodes, "node_$_", $place) } 1 .. 2;

# The standby is cut off, and from now on commits wait for it.
$first->wait_for_catchup($second, 'replay', $first->lsn('flush'));
$second->append_conf('postgresql.conf', "primary_conninfo = ''");
$second->reload;
ok(wait_until('the standby to be cut off', sub { value($second, 'SELECT count(*) FROM pg_stat_wal_receiver') eq '0' }), 'the standby is cut off');
$first->append_conf('postgresql.conf', "synchronous_standby_names = '*'");
$first->reload;
my $known = value($first, 'SELECT max(lease_id) FROM snowflake_registry');

# Cancels the sessions that wait for the standby; called repeatedly.
my $cancelled = 0;
my $cancel = sub { $cancelled += value($first, q{SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'}); };
value($nodes, 'CREATE DATABASE late TEMPLATE base');
value($nodes, "ALTER DATABASE late SET snowflake.registry = '$place'");
my $late = { server => $nodes, name => 'late', load => start_clients($nodes, 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 100)) TO STDOUT;\n", dbname => 'late') };
ok(wait_until('its row to be committed on the primary alone', sub {
	$cancel->();
	return value($first, "SELECT count(*) FROM snowflake_registry WHERE lease_id > $known") > 0 && $cancelled > 2;
}), 'the lease of another node is committed on the primary alone');
is(value($nodes, q{SELECT count(*) FROM snowflake_status WHERE lease_id IS NOT NULL}, 'late'), '0', '... which does not count on it');
# Read once, because connections go on.
is(PostgreSQL::Test::Utils::slurp_file($late->{load}{files}[0]) =~ s/^connection\n//gmr, '', '... and has issued nothing');
# Moves of the window that only the primary has do not count either.
my $end = value($nodes, 'SELECT window_end FROM snowflake_status', 'node_1');
$cancel->() for 1 .. 20;
is(value($nodes, 'SELECT window_end FROM snowflake_status', 'node_1'), $end, 'nor are windows longer for that');

$first->stop('immediate');
$second->promote;
push @nodes, $late, begin_node($nodes, 'node_3', $place);
ok(ids_flow($_), "$_->{name} issues after the failover") for @nodes;
all_different('after a failover that lost commits', @nodes);
none_twice('nodes across a failover that lost commits without an acknowledgement', @nodes);
figures('%d waits for a synchronous standby cancelled', $cancelled);
$_->stop('immediate') for $nodes, $second;
done_testing();
