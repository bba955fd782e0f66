# A transaction that has called the protocol and stays open would block other nodes. If its commit
# does not begin within a second, the session is ended, whatever it does meanwhile, and other nodes
# get leases. To wait for a synchronous standby is part of the commit.
#
# The functions refuse a transaction block. So either the one statement continues, or a client makes
# a block of the transaction afterwards. Each case is in its own database, so that all of them wait
# at the same time.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use Pipeline;
use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('registry', streaming => 1, preload => 0, clock => 1, conf => "max_prepared_transactions = 5\nmax_connections = 60\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE ROLE node LOGIN');

my $clock = q{(extract(epoch FROM clock_timestamp() - timestamptz '2025-01-01 00:00+00') * 1000)::bigint};
my $acquire = "snowflake_lease_acquire('x', 0, $clock, '1 min', sha256(decode(md5('x'), 'hex')), 0, NULL)";
my $another = "snowflake_lease_acquire('y', 0, $clock, '1 min', sha256(decode(md5('y'), 'hex')), 0, NULL)";
my $extend = "SELECT snowflake_lease_extend(r.lease_id, r.secret_hash, $clock, '1 min', 0, 0, 0)";
my $release = q{SELECT snowflake_lease_release(r.lease_id, decode(md5('x'), 'hex'), r.window_start, 0)};
my $ranges = q{SELECT snowflake_segment_ranges('x', ARRAY['ticket'], '{0}', '{0}', '{0}', '{1}', ARRAY[sha256('x')])};
my $row = 'FROM snowflake_registry r';
my %scripts = (
	asleep => "SELECT $acquire, pg_sleep(1000);",
	catching => "DO \$\$ BEGIN PERFORM $acquire; LOOP BEGIN PERFORM pg_sleep(1000);"
	  . ' EXCEPTION WHEN OTHERS OR query_canceled THEN NULL; END; END LOOP; END $$;',
	extending => "SELECT $acquire;\n$extend, pg_sleep(1000) $row;",
	releasing => "SELECT $acquire;\n$release, pg_sleep(1000) $row;",
	ranges => "$ranges, pg_sleep(1000);",
	# Another call does not begin another second.
	again => "SELECT $acquire, pg_sleep(0.3) FROM generate_series(1, 1000);",
	# What runs at the commit, but before it begins.
	deferred => "CREATE TEMP TABLE t (a int);\n"
	  . "CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1000); RETURN NULL; END';\n"
	  . "CREATE CONSTRAINT TRIGGER c AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.f();\n"
	  . "INSERT INTO t SELECT 1 FROM $acquire;",
	cursor => "DECLARE c CURSOR WITH HOLD FOR SELECT $acquire, pg_sleep(1000);",
	# Another session of the role has locked it.
	locked => "SELECT $acquire, set_config('lock_timeout', '0', true), pg_advisory_xact_lock(1);",
	# The client is stopped.
	unread => "SELECT a, repeat('x', 10000) FROM $acquire a, generate_series(1, 1000000);",
	# The clock steps back by two hours.
	stepped => "SELECT $acquire, pg_sleep(1000);");
my %pipelines = (
	idle => [ [ "SELECT $acquire", 'BEGIN' ] ],
	# An error disables all timeouts of a session, and a failed savepoint keeps the locks.
	after_error =>
	  [ [ "SELECT $acquire", 'BEGIN', 'SAVEPOINT s' ], ['SELECT 1 / 0'], ['ROLLBACK TO s'], ['SELECT 1'] ],
	failed => [ [ "SELECT $acquire", 'BEGIN', 'SAVEPOINT s' ], ['SELECT 1 / 0'] ],
	extending_idle => [ ["SELECT $acquire"], [ "$extend $row", 'BEGIN' ] ],
	releasing_idle => [ ["SELECT $acquire"], [ "$release $row", 'BEGIN' ] ]);
my %sent = (
	idle => "00000\nsent\n",
	after_error => "00000\n22012\n00000\n00000\nsent\n",
	failed => "00000\n22012\nsent\n",
	extending_idle => "00000\n00000\nsent\n",
	releasing_idle => "00000\n00000\nsent\n");
$server->safe_psql('postgres', "CREATE DATABASE $_") for 'template_of_all', sort keys %scripts, sort keys %pipelines;
for my $db ('postgres', sort keys %scripts, sort keys %pipelines)
{
	$server->safe_psql($db, "CREATE EXTENSION snowflake; SELECT snowflake_create_segment('ticket');
		GRANT SELECT ON snowflake_registry TO node; GRANT EXECUTE ON FUNCTION snowflake_lease_acquire,
			snowflake_lease_extend, snowflake_lease_release, snowflake_segment_ranges TO node");
}

my $count = q{SELECT count(*) FROM pg_stat_activity WHERE datname = '%s' AND usename = 'node'};
sub sessions_of { my ($db) = @_; return $server->safe_psql('postgres', sprintf($count, $db)); }
my (%sessions, %began);
my $again = 0;  # sessions that ended before they had done what they were for

sub start
{
	my ($db) = @_;
	$began{$db} = time();
	if ($scripts{$db})
	{
		$sessions{$db} = $server->background_psql($db, on_error_stop => 0, extra_params => [ '-U', 'node' ]);
		$began{$db} = time();
		$sessions{$db}->query_until(qr/begun/, "\\echo begun\n$scripts{$db}\n");
		return if $db ne 'unread';
		wait_until('its statement', sub { $server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'unread' AND query LIKE 'SELECT a, repeat%'}) eq '1' },
			sub { sessions_of('unread') eq '0' });
		kill 'STOP', $sessions{$db}{run}{KIDS}[0]{PID};
		return;
	}
	# On a busy machine the second may be over before all is sent: then the whole begins again.
	for (1 .. 10)
	{
		$began{$db} = time();
		$sessions{$db} = begin_pipeline($server, $db, 'node', @{ $pipelines{$db} });
		last if $sessions{$db}{out} eq $sent{$db} || time() - $began{$db} < 1;
		eval { $sessions{$db}{run}->finish };
		++$again;
	}
	return is($sessions{$db}{out}, $sent{$db}, "$db: a transaction block");
}

sub ends
{
	my ($db) = @_;
	ok(wait_until("the session of $db to end", sub { sessions_of($db) eq '0' }), "$db: the session has ended") or die "$db goes on\n";
	cmp_ok(time() - $began{$db}, '>', 0.9, '... after its second');
	ok(wait_until('a lease', sub { ($server->psql($db, "SELECT worker_id >= 0 FROM $another"))[1] eq 't' }), "$db: another node gets a lease");
	kill 'CONT', $sessions{$db}{run}{KIDS}[0]{PID} if $db eq 'unread';
	return;
}

my $locker = $server->background_psql('locked', extra_params => [ '-U', 'node' ]);
$locker->query_safe('SELECT pg_advisory_lock(1)');
my @together = grep { $_ ne 'stepped' } sort keys %scripts, sort keys %pipelines;
start($_) for @together;
ok(wait_until('the locker alone', sub { sessions_of('locked') eq '1' }), 'locked: one session is left');
$locker->quit;
ends($_) for @together;

# On a busy machine its second may be over before it is seen asleep: then another one begins.
my $asleep = 0;
for (1 .. 10)
{
	start('stepped');
	$asleep = wait_until('it to sleep', sub { $server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) eq '1' },
		sub { sessions_of('stepped') eq '0' }) and last;
	++$again;
}
ok($asleep, 'stepped: it sleeps');
move_clock($server, -7200);
ends('stepped');
my $took = time() - $began{stepped};
cmp_ok($took, '<', 600 * slowness(), '... and not two hours later');
figures('a session whose clock steps back by two hours: ended after %.1f s', $took);
move_clock($server, 0);

# A transaction that ends in time keeps its session.
my $honest = begin_pipeline($server, 'postgres', 'node',
	[ "SELECT $acquire", 'BEGIN', 'SAVEPOINT s', 'ROLLBACK TO s', 'COMMIT' ]);
is($honest->{out}, "00000\nsent\n", 'a transaction that ends in time');
is(pipeline($server, 'postgres', 'node', "SELECT $acquire", 'BEGIN', "PREPARE TRANSACTION 'p'"), '0A000', 'it is not prepared');

# A commit that waits for a standby.
my @pauses = (1.5, 3);
for my $pause (@pauses)
{
	my $session = $server->background_psql('postgres', extra_params => [ '-U', 'node' ]);
	$server->safe_psql('postgres', q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'});
	$server->reload;
	ok(wait_until('the setting', sub { $server->safe_psql('postgres', 'SHOW synchronous_standby_names') eq 'nobody' }), 'a standby that does not answer');
	$session->{stdin} .= "SELECT 'worker ' || worker_id FROM $acquire;\n";
	$session->{run}->pump_nb;
	ok(wait_until('it to wait', sub { $server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'}) eq '1' }), '... is waited for') or die "no commit waits\n";
	Time::HiRes::sleep($pause);
	$server->safe_psql('postgres', q{SET synchronous_commit = local; ALTER SYSTEM SET synchronous_standby_names = ''});
	$server->reload;
	like($session->query_safe('SELECT 1'), qr/^worker \d+\n1$/, "... for $pause s, and the session goes on");
	is($session->{stderr}, '', '... without a warning');
	$session->quit;
}

# Those that have quit may still be ending.
wait_until('the others to end', sub { sessions_of('postgres') <= 1 });
is(sessions_of('postgres'), '1', 'the one that ended in time is still there');
$honest->{run}->finish;
my $told = () = slurp_file($server->logfile) =~ /snowflake registry: ended a session that did not commit within 1 s of its call/g;
is($told, keys(%began) + $again, 'the log tells of each session that was ended');
for my $session (values %sessions) { eval { $session->{run}->finish }; }
$server->stop('fast');
done_testing();
