# From PostgreSQL 17 on, CREATE EXTENSION on a running server is enough. Sessions share one lease
# and one keeper, ids rise over a crash and over another CREATE EXTENSION (G1, G2), and there are
# slots for 64 databases (section 8 of the design).

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('running', preload => 0, patient => 1, conf => "snowflake.max_clock_skew = 0\nsnowflake.max_databases = 3\n");
start_server($server);

subtest 'without preloading, on a running server' => sub {
	plan skip_all => 'before 17 ids need a library that is preloaded' if $server->pg_version < 17;
	$server->safe_psql('postgres', 'CREATE DATABASE a');
	$server->safe_psql('a', 'CREATE EXTENSION snowflake');
	my $load = start_clients($server, 3, "SELECT snowflake_nextvals(100);\nSELECT snowflake_nextval();\n" x 100, dbname => 'a');
	wait_until('ids', sub { client_bytes($load) > 100_000 });
	is($server->safe_psql('a', 'SELECT state, leases_acquired_total FROM snowflake_metrics'), 'issuing|1', 'all sessions have one lease');
	is($server->safe_psql('a', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '1', 'and one keeper');
	$server->safe_psql('a', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'});
	my $size = client_bytes($load);
	ok(wait_until('ids', sub { client_bytes($load) > $size + 100_000 }), 'ids flow on when the keeper was ended');
	stop_clients($load);
	my ($ids, $twice) = compare_ids(@{ $load->{files} });
	cmp_ok($ids, '>', 1000, 'ids');
	is($twice, 0, 'none of them twice');
	my $last = $server->safe_psql('a', 'SELECT max(snowflake_nextval()) FROM generate_series(1, 1000)');

	# The named segment of shared memory outlives the extension, and ends with the server.
	is($server->safe_psql('a', "DROP EXTENSION snowflake; CREATE EXTENSION snowflake; SELECT snowflake_nextval() > $last"), 't',
		'ids go on above the last one when the extension is created again');
	kill_server($server, children => 1);
	start_server($server);
	is($server->safe_psql('a', "SELECT snowflake_nextval() > $last; SELECT leases_acquired_total FROM snowflake_metrics"), "t\n0", 'and after a crash, under the same lease');

	# More databases than there are slots.
	my $created = 0;
	for my $i (1 .. 65)
	{
		$server->safe_psql('postgres', "CREATE DATABASE d$i TEMPLATE template0");
		$server->safe_psql("d$i", 'CREATE EXTENSION snowflake');
		my ($code, $text) = query_error($server, "d$i", 'SELECT snowflake_nextval()');
		# The keeper is ended, because each keeper uses one of max_worker_processes.
		$server->safe_psql('postgres', "ALTER DATABASE d$i CONNECTION LIMIT 0");
		$server->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'd$i'");
		$created++ if $code eq '00000';
		next if $code eq '00000';
		is($code, 'SF001', "database $i has no place");
		like($text, qr/DETAIL:.*64 entries.*HINT:.*shared_preload_libraries/s, '... and the error says what to do');
		last;
	}
	is($created, 63, 'besides database a there are 63 places');
	$server->safe_psql('postgres', 'DROP DATABASE d1');
	is((query_error($server, 'd64', 'SELECT snowflake_nextval()'))[0], '00000', 'the place of a dropped database is taken again');
};

$server->stop('fast');
done_testing();
