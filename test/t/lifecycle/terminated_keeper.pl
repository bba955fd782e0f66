# A keeper that is terminated releases its lease, and the next call starts another keeper. Under
# load this costs a wait and no error. A keeper ignores a cancellation. No previous id is issued
# again (G1, G8).
# Not in the default run: it needs 2 s of processor time.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('terminated', patient => 1, conf => "log_statement = none\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

subtest 'a keeper that is terminated releases its lease, and the next call starts another' => sub {
	my @before = issue($server, 1000);
	my $worker = status($server, 'worker');
	my $pid = keeper_pid($server);
	$server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	wait_until('the keeper to end', sub { keeper_pid($server) eq '' });
	is($server->safe_psql('postgres', "SELECT count(*) FROM snowflake_registry WHERE worker_id = $worker"), 0, 'no row');
	is(watermarks($server)->{$worker}, tick_of($before[-1]), 'the watermark is the last tick');
	my @after = issue($server, 1000);
	cmp_ok($after[0], '>', $before[-1], 'ids flow again, and rise');
	isnt(keeper_pid($server), $pid, 'another keeper');
	is(repeated(), 0, 'no id of before was seen again (G1)');
};

subtest 'keepers that are terminated again and again under load cost nothing but a wait' => sub {
	my $clients = start_clients($server, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 500)) TO STDOUT;\n" x 500);
	my $ended = 0;
	# The one before may be gone, and the next not there yet.
	for (my $try = 1; $try <= 20 || $ended < 15 && $try <= 100; $try++)
	{
		my $size = client_bytes($clients);
		wait_until('more ids', sub { client_bytes($clients) > $size + 20000 });
		$ended++ if $server->safe_psql('postgres', "SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status WHERE keeper_pid IS NOT NULL") eq 't';
	}
	stop_clients($clients);
	my ($ids, $duplicates) = compare_ids(@{ $clients->{files} });
	cmp_ok($ended, '>=', 15, 'keepers were terminated');
	is($duplicates, 0, "no duplicate among $ids");
	is(join('', map { slurp_file($_ =~ s/out$/err/r) } @{ $clients->{files} }), '', 'no call failed');
};

subtest 'a keeper that is cancelled goes on' => sub {
	issue($server, 1);
	my $pid = keeper_pid($server);
	my $acquired = status($server, 'leases_acquired_total');
	$server->safe_psql('postgres', "SELECT pg_cancel_backend($pid)") for 1 .. 5;
	is(scalar issue($server, 1000), 1000, 'ids flow');
	is(keeper_pid($server), $pid, 'the same keeper');
	is(status($server, 'leases_acquired_total'), $acquired, 'the same lease');
};

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
