# A transaction that has called the protocol and stays open would block every other node. Its
# session is ended after 10 s, whatever the session does meanwhile, and other nodes get leases.
#
# The functions refuse a transaction block. So either the one statement continues, or a client makes
# a block of the transaction afterwards. Each case is in its own database, so that all of them wait
# their 10 s at the same time.
use strict;
use warnings;

use lib 'test/perl';
use Pipeline;
use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('registry', preload => 0);
start_server($server);

my $clock = q{(extract(epoch FROM clock_timestamp() - timestamptz '2025-01-01 00:00+00') * 1000)::bigint};
my $acquire = "snowflake_lease_acquire('x', 0, $clock, '1 min', sha256(decode(md5('x'), 'hex')), 0, NULL)";
my $extend = "SELECT snowflake_lease_extend(r.lease_id, r.secret_hash, $clock, '1 min', 0, 0, 0)";
my $release = q{SELECT snowflake_lease_release(r.lease_id, decode(md5('x'), 'hex'), r.window_start, 0)};
my $row = 'FROM snowflake_registry r';
my %scripts = (
	asleep => "SELECT $acquire, pg_sleep(1000);",
	catching => "DO \$\$ BEGIN PERFORM $acquire; LOOP BEGIN PERFORM pg_sleep(1000);"
	  . ' EXCEPTION WHEN OTHERS OR query_canceled THEN NULL; END; END LOOP; END $$;',
	extending => "SELECT $acquire;\n$extend, pg_sleep(1000) $row;",
	releasing => "SELECT $acquire;\n$release, pg_sleep(1000) $row;");
my %pipelines = (
	idle => [ [ "SELECT $acquire", 'BEGIN' ] ],
	# An error disables all timeouts of a session.
	after_error =>
	  [ [ "SELECT $acquire", 'BEGIN', 'SAVEPOINT s' ], ['SELECT 1 / 0'], ['ROLLBACK TO s'], ['SELECT 1'] ],
	extending_idle => [ ["SELECT $acquire"], [ "$extend $row", 'BEGIN' ] ],
	releasing_idle => [ ["SELECT $acquire"], [ "$release $row", 'BEGIN' ] ]);
my %sent = (
	idle => "00000\nsent\n",
	after_error => "00000\n22012\n00000\n00000\nsent\n",
	extending_idle => "00000\n00000\nsent\n",
	releasing_idle => "00000\n00000\nsent\n");
my (%sessions, %began);
for my $db (sort keys %scripts, sort keys %pipelines)
{
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake');
	$sessions{$db} = $server->background_psql($db, on_error_stop => 0) if $scripts{$db};
	$began{$db} = time();
	if ($scripts{$db})
	{
		$sessions{$db}->query_until(qr/begun/, "\\echo begun\n$scripts{$db}\n");
		next;
	}
	$sessions{$db} = begin_pipeline($server, $db, undef, @{ $pipelines{$db} });
	is($sessions{$db}{out}, $sent{$db}, "$db: a transaction block");
}
# A transaction that ends in time keeps its session.
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my $honest = begin_pipeline($server, 'postgres', undef,
	[ "SELECT $acquire", 'BEGIN', 'SAVEPOINT s', 'ROLLBACK TO s', 'COMMIT' ]);
is($honest->{out}, "00000\nsent\n", 'a transaction that ends in time');

my $count = q{SELECT count(*) FROM pg_stat_activity WHERE datname = '%s' AND backend_type = 'client backend'};
for my $db (sort keys %began)
{
	# A call gives up waiting for the lock after 4 s, as a node does.
	ok(wait_until('a lease', sub { ($server->psql($db, "SELECT worker_id >= 0 FROM $acquire"))[1] eq 't' }), "$db: another node gets a lease");
	my $left = sub { $server->safe_psql('postgres', sprintf($count, $db)) };
	ok(wait_until("the session of $db to end", sub { $left->() eq '0' }), "$db: the session has ended");
	my $took = time() - $began{$db};
	cmp_ok($took, '>', 9, '... after its 10 s');
	figures('%s: ended after %.1f s', $db, $took);
}
# A session that has just ended may still be there for a moment.
ok(wait_until('it alone', sub { $server->safe_psql('postgres', sprintf($count, 'postgres') . ' AND pid <> pg_backend_pid()') eq '1' }),
	'the one that ended in time is still there');
$honest->{run}->finish;
my $told = () = slurp_file($server->logfile) =~ /snowflake registry: ended a session whose transaction took longer than 10 s/g;
is($told, scalar(keys %began), 'the log tells of each session that was ended');
for my $session (values %sessions) { eval { $session->{run}->finish }; }
$server->stop('fast');
done_testing();
