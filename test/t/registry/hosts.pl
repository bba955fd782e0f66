# How a node connects to its registry: with one connection for each exchange. A host that hangs does
# not prevent the use of the next host in the list.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use Pooler;
use Relay;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $registry = new_server('registry', preload => 0, streaming => 1,
	conf => "listen_addresses = '127.0.0.1'\nlog_connections = on\nlog_statement = all\n");
append_to_file($registry->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
start_server($registry);
my $user = $registry->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT current_user');

sub value { my ($server, $sql) = @_; return $server->safe_psql('postgres', $sql); }

my $names = 0;

sub new_node
{
	my ($ports, $conf, $more) = @_;
	$more //= '';
	my $hosts = join ',', map { '127.0.0.1' } split /,/, $ports;
	my $node = new_server('node_' . ++$names, patient => 1, conf => $conf . qq{
snowflake.registry = 'host=$hosts port=$ports dbname=postgres user=$user $more'
snowflake.node_name = 'node $names'
log_statement = none
});
	start_server($node);
	value($node, 'CREATE EXTENSION snowflake');
	return $node;
}

sub moves
{
	my ($node, $times) = @_;
	my $end = status($node, 'window_end');
	my $moves = 0;
	return wait_until('the window to move', sub {
		my $now = status($node, 'window_end');
		$moves++ if $now ne $end;
		$end = $now;
		return $moves >= $times;
	});
}

# TCP connections, and exchanges, each of which begins with one statement.
sub count_since
{
	my ($size) = @_;
	my $log = slurp_file($registry->logfile, $size);
	return (scalar(() = $log =~ /connection received: host=127\.0\.0\.1/g), scalar(() = $log =~ /pg_catalog\.pg_extension e/g));
}

my $nobody = PostgreSQL::Test::Cluster::get_free_port();
for my $ports ($registry->port, $registry->port . ",$nobody", "$nobody," . $registry->port)
{
	my $size = -s $registry->logfile;
	my $node = new_node($ports, "snowflake.lease_duration = 1s\n");
	value($node, 'SELECT snowflake_nextval()');
	ok(moves($node, 3), 'a window that moves');
	$node->stop('fast');
	my ($connections, $exchanges) = count_since($size);
	cmp_ok($exchanges, '>=', 5, "$exchanges exchanges");
	# The shutdown may interrupt one before its first statement.
	ok($connections == $exchanges || $connections == $exchanges + 1, "... with one connection each ($connections), with " . ($ports =~ /^$nobody/ ? 'nobody at the first host' : $ports =~ /,/ ? 'a list of hosts' : 'one host'));
}

for my $refusal ('unsupported startup parameter: options', 'command-line options are not supported')
{
	my $pooler = Pooler->new($registry->port, $refusal);
	my $size = -s $registry->logfile;
	my $node = new_node($pooler->port, "snowflake.lease_duration = 1s\n");
	like(value($node, 'SELECT snowflake_nextval()'), qr/^\d+$/, "a pooler that says: $refusal");
	ok(moves($node, 2), '... and the window moves');
	is(status($node, 'last_error'), '', '... without an error');
	$node->stop('fast');
	$pooler->finish;
}

subtest 'the first host takes connections and says nothing' => sub {
	my $relay = Relay->new($registry->port);
	$relay->tell('stall');
	my $node = new_node($relay->port . ',' . $registry->port, "snowflake.lease_duration = 3s\nsnowflake.start_timeout = 30s\n");
	my $since = time();
	like(value($node, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'ids flow after one try of it, before the call gives up');
	figures('an id after %.1f s, with a first host that says nothing', time() - $since);
	ok(moves($node, 4), 'the window moves');
	is(status($node, 'lease_waits_total'), '1', '... in time: no call waits again');
	$node->stop('fast');
	$relay->finish;
};

subtest 'the first host is the old primary, whose commits wait for a lost standby' => sub {
	my $successor = standby_of($registry, 'successor');
	my @nodes = map { new_node($registry->port . ',' . $successor->port, "snowflake.lease_duration = 20s\nsnowflake.start_timeout = 5s\n", 'target_session_attrs=read-write') } 1 .. 2;
	ok(wait_until('ids', sub { ($_->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'ids flow') for @nodes;
	# Windows that outlast it on a busy machine.
	set_lease_duration($_, '100s') for @nodes;
	ok(wait_until('long windows', sub { !grep { status($_, 'ids_flow_seconds > 80') ne 't' } @nodes }), 'windows are long');
	$registry->wait_for_catchup($successor);
	$successor->promote;
	$registry->append_conf('postgresql.conf', q{synchronous_standby_names = 'lost'});
	$registry->reload;
	ok(wait_until('the setting', sub { value($registry, 'SHOW synchronous_standby_names') eq 'lost' }), 'commits hang at the old one');
	my $promoted = value($successor, 'SELECT clock_timestamp()');
	set_lease_duration($_, '110s') for @nodes;
	my $began = time();
	my $failed = 0;
	my $waiting = 0;
	ok(wait_until('the nodes to get on', sub {
		$failed += ($_->psql('postgres', 'SELECT snowflake_nextval()'))[0] != 0 for @nodes;
		$waiting ||= value($registry, q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'});
		return value($successor, "SELECT count(*) FROM snowflake_registry WHERE node IN ('node $names', 'node " . ($names - 1) . "') AND extended_at > '$promoted'") eq '2';
	}), 'both nodes move their windows at the new one');
	cmp_ok($waiting, '>', 0, 'they had asked the old one before');
	is($failed, 0, 'and no call failed meanwhile');
	figures('windows moved at the new primary after %.1f s', time() - $began);
	$_->stop('fast') for @nodes;
	$successor->stop('fast');
};

$registry->stop('immediate');
done_testing();
