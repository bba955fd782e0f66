# What a registry waits for: each node says whether a synchronous standby is missing, a transaction
# has locked the registry's tables, or nothing answers at all. So nobody ends a session for a standby
# that is gone. The node's role has the rights that doc/many-servers.md grants, and a pooler may keep
# the node's settings from the registry.
#
# The registry is on another server, or in the node's own database. It needs 6 s of processor time to
# poll through more than a minute of waits.
# Not in the default run: it starts some 650 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use Pooler;
use PostgreSQL::Test::Utils;
use Relay;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $registry = registry_server(streaming => 1, conf => "log_statement = none\nlisten_addresses = '127.0.0.1'\nmax_prepared_transactions = 1\n");
append_to_file($registry->data_dir . '/pg_hba.conf', "host all node 127.0.0.1/32 trust\n");
$registry->reload;
my $relay = Relay->new($registry->port);
my $pooler = Pooler->new($registry->port, 'unsupported startup parameter: options');
my $nodes = base_server('nodes', streaming => 1, conf => "log_statement = none\nsnowflake.lease_duration = 6s\nsnowflake.start_timeout = 200ms\n");
value($nodes, 'CREATE ROLE nobody LOGIN');
my %port = (direct => $registry->port, pooled => $pooler->port, relayed => $relay->port);
for my $node (sort keys %port)
{
	new_registry($registry, $node, schema => 'public');
	new_node($nodes, $node, "host=127.0.0.1 port=$port{$node} dbname=$node user=node");
}
my @remote = qw(direct pooled);

sub advice { my ($db) = @_; return status($nodes, q{coalesce(advice, '')}, $db); }

sub says
{
	my ($db, $what, $pattern) = @_;
	my $said = '';
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(wait_until($what, sub { ($said = last_error($nodes, $db)) =~ $pattern }), "$db: $what") || diag("$said is not $pattern");
}

# What somebody who may not read all settings sees.
sub others
{
	my ($db, $what) = @_;
	return (as_role($nodes, $db, 'nobody', "SELECT coalesce($what, '') FROM snowflake_status"))[2];
}

# Everything is well again.
sub mends
{
	my (@dbs) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	for my $db (@dbs)
	{
		ok(flows($nodes, $db), "$db: ids flow again");
		ok(wait_until('no error', sub { last_error($nodes, $db) eq '' && advice($db) eq '' }), '... without an error, and without advice');
	}
	return;
}

sub standbys
{
	my ($server, $names) = @_;
	value($server, "ALTER SYSTEM SET synchronous_standby_names = '$names'");
	$server->reload;
	return wait_until('the setting', sub { value($server, 'SHOW synchronous_standby_names') eq $names });
}

# A call that waits in vain says what the registry waits for, and what to do.
sub fails
{
	my ($db, $detail, $hint) = @_;
	my ($state, $error) = ('', '');
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(wait_until('the window to end', sub {
		($state, $error) = query_error($nodes, $db, 'SELECT snowflake_nextval()');
		return $state eq 'SF001' && $error =~ $detail;
	}), "$db: SF001 says it, too") or diag($error);
	return like($error, $hint, '... with what to do');
}

my $to_do = qr/Start a standby that synchronous_standby_names of the registry's server names, or remove it from there and reload\. Ending sessions does not help\./;

# As long as the window lasts, and afterwards.
my $stops = qr/(?:ids stop at .*, unless the lease is extended|no ids are issued)/;

ok(flows($nodes, $_), "$_: ids flow") for sort keys %port;

subtest 'a synchronous standby is gone' => sub {
	my $log = -s $nodes->logfile;
	standbys($registry, 'gone_1, gone_2');
	my $waits = qr/Process \d+ of role "node" waits for a synchronous standby in a transaction that began \d+\.\d s ago; synchronous_standby_names is "gone_1, gone_2"\./;
	my $named = qr/the registry waits for a synchronous standby \($waits\)/;
	my $said = qr/^$named$/;
	says($_, 'the standby is named', $said) for @remote;
	my $silent = qr/the registry did not answer in time \(No answer from "127\.0\.0\.1", port \d+, which answers other statements\. The next request will name the cause\.\)/;
	my $logged = slurp_file($nodes->logfile, $log);
	like($logged, qr/cannot reach the registry: $silent/, 'the first request only says that the next one will');
	like($logged, qr/the registry refused: $named\n.*HINT:  $to_do/, '... and the log has that, too');
	for my $db (@remote)
	{
		like(advice($db), qr/^$stops: $named\. $to_do$/, "$db: the advice names it");
		is(others($db, 'last_error'), 'the registry waits for a synchronous standby', '... to others without the process');
		like(others($db, 'advice'), qr/^$stops: the registry waits for a synchronous standby\. $to_do$/, '... and so does the advice');
		fails($db, $named, $to_do);
	}
	# The next requests wait for the previous ones, or for the standby themselves.
	my %seen;
	# If the machine stands still, a request has no answer in time: then they are watched once more.
	for my $try (1 .. 3)
	{
		%seen = ();
		for (my $until = time() + at_length(6, 12) * slowness(); time() < $until; sleep(0.2))
		{
			for my $error (map { last_error($nodes, $_) } @remote) { $seen{ $error =~ $said ? 'standby' : $error }++; }
		}
		last if join(', ', sort keys %seen) !~ / in time/;
		says($_, 'the standby is named again', $said) for @remote;
	}
	is(join(', ', sort keys %seen), 'standby', 'nothing else is said while it lasts');
	my ($state, $error);
	ok(wait_until('the call', sub {
		($state, $error) = query_error($registry, 'direct', "SET lock_timeout = '200ms'; SELECT snowflake_evict(0, now())");
		return $error =~ /DETAIL:  $waits\n.*HINT:  $to_do/;
	}), "an operator's call says it, too") or diag($error);
	is($state, '55P03', '... with its own code');
	standbys($registry, '');
	mends(@remote);
};

subtest 'a transaction has locked the tables' => sub {
	for my $db (@remote)
	{
		my $session = $registry->background_psql($db);
		my $pid = $session->query_safe('SELECT pg_backend_pid()');
		$session->query_safe('BEGIN');
		$session->query_safe('SELECT FROM snowflake_registry FOR UPDATE');
		says($db, 'the transaction is named', qr/Process $pid of role "postgres" has locked the registry's tables in a transaction that began \d+\.\d s ago\. It waits for ClientRead\./);
		like(advice($db), qr/^$stops: .*Process $pid .*\. End the transaction that has locked the registry's tables, or wait for it\.$/, '... also as advice');
		$session->quit;
	}
	mends(@remote);
};

subtest 'the transaction waits for another one' => sub {
	value($registry, 'CREATE TABLE elsewhere ()', 'direct');
	my ($first, $second) = map { $registry->background_psql('direct') } 1 .. 2;
	my ($end, $link) = map { $_->query_safe('SELECT pg_backend_pid()') } $first, $second;
	$_->query_safe('BEGIN') for $first, $second;
	$first->query_safe('LOCK TABLE elsewhere');
	$second->query_safe('LOCK TABLE snowflake_registry IN SHARE MODE');
	$second->{stdin} .= "LOCK TABLE elsewhere;\n";
	$second->{run}->pump_nb;
	says('direct', 'the end of the chain is named',
		qr/Process $end of role "postgres" blocks process $link, which has locked the registry's tables, in a transaction that began \d+\.\d s ago\. It waits for ClientRead\./);
	$first->quit;
	$second->quit;
	mends('direct');
};

# Neither the transaction's lock nor the one that is waited for would stop a call by itself.
subtest 'a lock that is waited for is ahead of the calls' => sub {
	for my $case ([ $registry, 'direct' ], [ $nodes, 'queued' ])
	{
		my ($server, $db) = @$case;
		if ($db eq 'queued') { value($nodes, 'CREATE DATABASE queued TEMPLATE base'); ok(flows($nodes, $db), "$db: ids flow"); }
		my ($reader, $vacuum) = map { $server->background_psql($db) } 1 .. 2;
		my ($end, $link) = map { $_->query_safe('SELECT pg_backend_pid()') } $reader, $vacuum;
		$reader->query_safe('BEGIN');
		$reader->query_safe('LOCK TABLE snowflake_origin IN ACCESS SHARE MODE');
		$vacuum->{stdin} .= "VACUUM FULL snowflake_origin;\n";
		$vacuum->{run}->pump_nb;
		says($db, 'whom it waits for is named',
			qr/Process $end of role "postgres" blocks process $link, which waits to lock the registry's tables, in a transaction that began \d+\.\d s ago\. It waits for ClientRead\./);
		$_->quit for $reader, $vacuum;
		mends($db);
	}
};

subtest 'the transaction waits for a prepared one' => sub {
	my $session = $registry->background_psql('direct');
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	value($registry, q{BEGIN; LOCK TABLE elsewhere; PREPARE TRANSACTION 'p'}, 'direct');
	$session->query_safe('BEGIN');
	$session->query_safe('LOCK TABLE snowflake_registry IN SHARE MODE');
	$session->{stdin} .= "LOCK TABLE elsewhere;\n";
	$session->{run}->pump_nb;
	says('direct', 'which is said',
		qr/Process $pid of role "postgres" has locked the registry's tables in a transaction that began \d+\.\d s ago\. It waits for a prepared transaction\./);
	value($registry, q{ROLLBACK PREPARED 'p'}, 'direct');
	$session->quit;
	mends('direct');
};

subtest 'nothing answers' => sub {
	my $in_time = qr/^could not connect to the registry in time \(No answer from "127\.0\.0\.1", port \d+\.\)$/;
	$relay->tell('delay 6');
	says('relayed', 'a slow network is no standby', $in_time);
	$relay->tell('pass forgotten');
	mends('relayed');
	pause_server($registry);
	says($_, 'a server that hangs is no standby', $in_time) for 'direct';
	unlike(advice('direct'), $to_do, '... and nobody is told to start one');
	resume_server($registry);
	mends('direct');
};

subtest 'the registry is in the own database' => sub {
	my @own = qw(own connected);
	value($nodes, "CREATE DATABASE $_ TEMPLATE base") for @own;
	# Over a connection.
	value($nodes, sprintf q{ALTER DATABASE connected SET snowflake.registry = 'host=%s port=%d dbname=connected'}, $nodes->host, $nodes->port);
	ok(flows($nodes, $_), "$_: ids flow") for @own;
	standbys($nodes, 'gone');
	says('own', 'the standby is named', qr/^the keeper's commit waits for a synchronous standby \(synchronous_standby_names is "gone"\)$/);
	like(advice('own'), qr/^$stops: the keeper's commit waits .*"gone"\)\. $to_do$/, '... also as advice');
	is(others('own', 'last_error'), last_error($nodes, 'own'), '... to everybody');
	is(status($nodes, 'last_error_code', 'own'), '55000', '... with a code');
	fails('own', qr/the keeper's commit waits for a synchronous standby/, $to_do);
	says('connected', 'the standby is named', qr/^the registry waits for a synchronous standby \(Process .* synchronous_standby_names is "gone"\.\)$/);
	standbys($nodes, '');
	mends(@own);
};

$nodes->stop('fast');
$registry->stop('fast');
$_->finish for $relay, $pooler;
done_testing();
