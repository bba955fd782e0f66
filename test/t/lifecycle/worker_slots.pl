# Each database's keeper uses one of max_worker_processes. If none is free, calls fail with SF001
# and a message that says so. Until start_timeout a call tries again to start a keeper. When a
# keeper ends, another database's keeper can start (section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

# One slot in total, so that one database's keeper uses it.
my $server = new_server('narrow', patient => 1, conf => q{
log_statement = none
max_worker_processes = 1
max_logical_replication_workers = 0
max_parallel_workers_per_gather = 0
});
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', 'CREATE EXTENSION snowflake');

subtest 'no place for a keeper: SF001 that names max_worker_processes' => sub {
	like($server->safe_psql('postgres', 'SELECT snowflake_nextval()'), qr/^\d+$/, 'the first database has the place');
	my ($state, $error) = query_error($server, 'other', "SET snowflake.start_timeout = '300ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'the second has none');
	like($error, qr/DETAIL:.*max_worker_processes.*HINT:.*max_worker_processes/s, 'and the error says why');
	like($server->safe_psql('other', 'SELECT advice FROM snowflake_status'), qr/no ids are issued: the keeper does not run\. .*raise max_worker_processes/, '... as does the advice');
	like($server->safe_psql('postgres', 'SELECT snowflake_nextval()'), qr/^\d+$/, 'the first goes on');
};

subtest 'a refused keeper is asked for again until start_timeout' => sub {
	my $session = $server->background_psql('other', on_error_stop => 0);
	$session->{stdin} .= "SELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE datname = 'other' AND wait_event IN ('Extension', 'SnowflakeLease')") });
	$server->safe_psql('postgres', 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	$session->{run}->pump until $session->{stdout} =~ /id:\d/ || $session->{stderr} =~ /ERROR/;
	like($session->{stdout}, qr/id:\d+/, 'it gets its keeper as soon as there is a place');
	$session->quit;
};

subtest 'DROP EXTENSION frees the slot' => sub {
	$server->safe_psql('other', 'DROP EXTENSION snowflake');
	ok(wait_until('the place is free', sub {
		$server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}) eq '0';
	}), 'it ends the keeper');
	like($server->safe_psql('postgres', 'SELECT snowflake_nextval()'), qr/^\d+$/, 'another database has its place');
};

subtest 'no background workers at all: SF001 that names max_worker_processes' => sub {
	$server->append_conf('postgresql.conf', 'max_worker_processes = 0');
	$server->restart;
	my ($state, $error) = query_error($server, 'postgres', "SET snowflake.start_timeout = '300ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'the call fails');
	like($error, qr/max_worker_processes/, 'and the error says why');
};

$server->stop;
done_testing();
