# A transaction that has called the protocol and stays open would hold up every other node. It loses its session after 10 s, whatever
# it is doing meanwhile, and others get leases.
#
# Each is in a database of its own, so all have their 10 s at the same time.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('registry', preload => 0);
start_server($server);

my $clock = q{(extract(epoch FROM clock_timestamp() - timestamptz '2025-01-01 00:00+00') * 1000)::bigint};
my $acquire = "SELECT lease_id FROM snowflake_acquire('x', 0, $clock, '1 min')";
my $anew = "snowflake_lease_acquire('x', 0, $clock, '1 min', gen_random_uuid(), 0, NULL)";
my %scripts = (
	idle => "BEGIN; $acquire;",
	asleep => "SELECT $anew, pg_sleep(1000);",
	catching => "DO \$\$ BEGIN PERFORM $anew; LOOP BEGIN PERFORM pg_sleep(1000); EXCEPTION WHEN OTHERS OR query_canceled THEN NULL; END; END LOOP; END \$\$;",
	# An error puts an end to all timeouts of a session.
	after_error => "BEGIN; $acquire; SAVEPOINT s; SELECT 1 / 0; ROLLBACK TO s; SELECT 1;",
	extending => "$acquire; BEGIN; SELECT snowflake_extend(lease_id, token, $clock, '1 min') FROM snowflake_registry;",
	releasing => "$acquire; BEGIN; SELECT snowflake_release(lease_id, token, window_start) FROM snowflake_registry;");
my (%sessions, %began);
for my $db (sort keys %scripts)
{
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake');
	$sessions{$db} = $server->background_psql($db, on_error_stop => 0);
	$began{$db} = time();
	$sessions{$db}->query_until(qr/begun/, "\\echo begun\n$scripts{$db}\n");
}
# One that ends in time keeps its session.
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my $honest = $server->background_psql('postgres');
like((ask($honest, "BEGIN; $acquire; SAVEPOINT s; ROLLBACK TO s; COMMIT; SELECT pg_backend_pid()"))[0], qr/\d/, 'a transaction that ends in time');

my $count = 'SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_type = \'client backend\'';
for my $db (sort keys %scripts)
{
	my ($rc, $out, $err) = $server->psql($db, "SET statement_timeout = '60s'; SELECT worker_id >= 0 FROM $anew");
	is($out, 't', "$db: another node gets a lease") or diag($err);
	ok(wait_until("the session of $db to end", sub { $server->safe_psql('postgres', sprintf($count, "'$db'")) eq '0' }), "$db: the session has ended");
	my $took = time() - $began{$db};
	cmp_ok($took, '>', 9, '... after its 10 s');
	figures('%s: ended after %.1f s', $db, $took);
}
is((ask($honest, 'SELECT 1'))[0], '1', 'the one that ended in time is still there');
$honest->quit;
my $told = () = slurp_file($server->logfile) =~ /snowflake registry: ended a session whose transaction took longer than 10 s/g;
is($told, scalar(keys %scripts), 'the log tells of each session that was ended');
eval { $_->quit } for values %sessions;
$server->stop('fast');
done_testing();
