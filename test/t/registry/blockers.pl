# If a session blocks the registry's tables, three errors name it: the last error of each node,
# SF001 for roles that may read this, and the error of an operator's own call. The registry is in
# this database or in another one.
#
# Each way of blocking has its own databases, so all nodes wait at the same time. Two of the ways
# block only acquires, so their nodes have no lease.
# Not in the default run: many sessions that lock and wait.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my %blocks = (
	whole => 'LOCK TABLE %s.snowflake_origin',
	shared => 'LOCK TABLE %s.snowflake_registry IN SHARE MODE',
	rows => 'SELECT FROM %s.snowflake_registry FOR UPDATE',
	origin => 'SELECT FROM %s.snowflake_origin FOR UPDATE',
	call => 'SELECT %s.snowflake_settled()',
	prepared => 'LOCK TABLE %s.snowflake_watermark',
	dropped => 'DROP EXTENSION snowflake');
# A drop waits for nodes on other servers, and so is refused.
my @remote = grep { $_ ne 'dropped' } sort keys %blocks;
my $conf = "max_prepared_transactions = 20\nmax_worker_processes = 40\n";

my $registry = registry_server(conf => $conf);
my $many = base_server('many', conf => "$conf\nsnowflake.lease_duration = 2s\nsnowflake.start_timeout = 1s\n");
for my $server ($registry, $many) { value($server, 'CREATE ROLE "the blocker" SUPERUSER LOGIN; CREATE ROLE nobody LOGIN'); }
for my $way (@remote)
{
	new_registry($registry, $way, schema => 'public');
	new_node($many, "remote_$way", at($registry, $way));
}
value($many, "CREATE DATABASE local_$_ TEMPLATE base") for keys %blocks;

my (@held, @nodes);

# Blocks one node. The pattern `who` names the blocker.
sub block
{
	my ($server, $db, $node, $way) = @_;
	ok(flows($many, $node), "$node: ids flow") unless $way =~ /origin|call/;
	my $session = $server->background_psql($db, extra_params => [ '-U', 'the blocker' ]);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $who = qr/Process $pid of role "the blocker" has locked the registry's tables in a transaction that began \d+\.\d s ago\./;
	$session->query_safe('BEGIN');
	$session->query_safe(sprintf $blocks{$way}, 'public');
	if ($way eq 'prepared')
	{
		my $xid = $session->query_safe('SELECT pg_current_xact_id()');
		$session->query_safe("PREPARE TRANSACTION '$db'");
		$who = qr/The prepared transaction $xid has locked the registry's tables\./;
	}
	push @held, { server => $server, db => $db, way => $way, session => $session, who => $who };
	push @nodes, { db => $node, who => $who };
	return;
}

block($registry, $_, "remote_$_", $_) for @remote;
block($many, "local_$_", "local_$_", $_) for sort keys %blocks;

for my $node (@nodes)
{
	my ($db, $who) = @$node{qw(db who)};
	my $detail;
	ok(wait_until("the window of $db to end", sub {
		(my $state, $detail) = query_error($many, $db, 'SELECT snowflake_nextval()');
		return $state eq 'SF001' && $detail =~ $who;
	}), "$db: the detail of SF001 names the blocker") or diag($detail);
	# Meanwhile an exchange may have had no answer in time, of which the next one names the cause.
	my ($state, $error);
	wait_until('the reason', sub { ($state, $error) = as_role($many, $db, 'nobody', 'SELECT snowflake_nextval()'); return $error =~ /tables are locked/ });
	is($state, 'SF001', "$db: somebody without rights gets SF001, too");
	like($error, qr/the registry's tables are locked/, '... with the reason');
	unlike($error, qr/Process|prepared|the blocker/, '... and without the name');
	next if $db eq 'local_dropped';    # the view is locked, too
	ok(wait_until("the last error of $db", sub { last_error($many, $db) =~ $who }), "$db: the last error names the blocker")
	  or diag(last_error($many, $db));
	is((as_role($many, $db, 'nobody', q{SELECT coalesce(last_error, '') ~ 'Process|prepared|the blocker' FROM snowflake_status}))[2],
		'f', "$db: to others the view does not");
}

# An operator's call waits for some of them, too.
for my $held (grep { $_->{way} =~ /^(?:call|origin|whole)$/ } @held)
{
	my $name = ($held->{server} == $registry ? 'remote' : 'local') . "_$held->{way}";
	my ($state, $error) = query_error($held->{server}, $held->{db}, "SET lock_timeout = '100ms'; SELECT snowflake_settle('a test')");
	is($state, '55P03', "$name: an operator's call");
	like($error, $held->{who}, '... names the blocker');
}

for my $held (@held)
{
	$held->{session}->query_safe('ROLLBACK') if $held->{way} ne 'prepared';
	value($held->{server}, "ROLLBACK PREPARED '$held->{db}'", $held->{db}) if $held->{way} eq 'prepared';
	$held->{session}->quit;
}
for my $node (@nodes)
{
	ok(flows($many, $node->{db}), "$node->{db}: ids flow again");
	ok(wait_until('no error', sub { last_error($many, $node->{db}) eq '' }), '... without an error');
}
$many->stop('fast');
$registry->stop('fast');
done_testing();
