# After a start of the server, parallel queries of an ordinary role take every slot for background
# workers that they can get, and keep it. The keeper of a database that issued ids before still has
# a slot.

use strict;
use warnings;

use RegistryTest qw(value);
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $server = new_server('busy', preload => 1, conf => q{
log_statement = none
max_worker_processes = 4
max_parallel_workers = 4
max_parallel_workers_per_gather = 4
snowflake.start_timeout = 60s
});
start_server($server);
value($server, q{
	CREATE EXTENSION snowflake;
	CREATE ROLE busy LOGIN;
	CREATE FUNCTION hold(integer) RETURNS integer PARALLEL SAFE LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(300); RETURN 1; END$$;
	CREATE TABLE work AS SELECT n FROM generate_series(1, 10000) n;
	GRANT SELECT ON work TO busy});
value($server, 'ALTER TABLE work SET (parallel_workers = 4); ANALYZE work; SELECT snowflake_nextval()');
$server->restart;

my @sessions = map { $server->background_psql($db, on_error_stop => 0, extra_params => [ '-U', 'busy' ]) } 1 .. 2;
for my $session (@sessions)
{
	$session->query_safe('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off');
	$session->query_until(qr/begun/, "\\echo begun\nSELECT sum(hold(n)) FROM work;\n");
}
# The launcher of logical replication uses one slot.
ok(wait_until('the slots', sub { value($server, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('parallel worker', 'snowflake keeper')}) eq '3' }),
	'no slot is left');
my ($state, $error) = query_error($server, $db, 'SELECT snowflake_nextval()');
is($state, '00000', 'the first id comes') or diag($error);
is(value($server, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker'}), '2', '... while others have all slots but one');
value($server, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'busy'});
$_->{run}->kill_kill for @sessions;
$server->stop('fast');
done_testing();
