# A node has one row in the registry while it runs. A clean shutdown, also under load, deletes the
# row and leaves the watermark: the last tick that was issued (G8). No previous id is issued again
# (G1).
# Runs alone: it bounds the time of a shutdown.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use SnowflakeTest;
use Test::More;

my $max_lead_ms = 5;

my $server = new_server('shutdown', patient => 1, late => 1, conf => "log_statement = none\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

subtest 'before the first id there is no lease' => sub {
	is(registry($server), '', 'no row');
	is(status($server, "state, keeper_pid IS NULL"), 'idle|t', 'no keeper');
};

subtest 'one row while the server runs' => sub {
	issue($server, 1000);
	issue($server, 1000);
	my ($worker) = split /\|/, registry($server);
	is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), 1, 'one row');
	is(status($server, 'worker'), $worker, 'of the worker id that the status shows');
	is(status($server, 'leases_acquired_total'), 1, 'acquired once');
	is_deeply(watermarks($server), {}, 'and no watermark yet');
};

for my $mode (qw(smart fast))
{
	subtest "a $mode shutdown leaves no row, and the last tick that was issued as the watermark (G8)" => sub {
		my @ids = issue($server, 5000);
		my ($worker, $window_end) = split /\|/, registry($server);
		stop_in_time($server, $mode, "a $mode shutdown");
		start_server($server);
		is(registry($server), '', 'no row');
		is(watermarks($server)->{$worker}, tick_of($ids[-1]), 'the watermark is the tick of the last id');
		cmp_ok(tick_of($ids[-1]), '<', $window_end - 1, 'which is not the end of the window');
		is(worker_of($ids[-1]), $worker, 'and has the row\'s worker id');
		my @after = issue($server, 1000);
		cmp_ok($after[0], '>', 0, 'ids flow again');
		isnt(worker_of($after[0]), $worker, 'with another worker id');
	};
}

subtest 'a lease under which nothing was issued leaves a watermark too' => sub {
	# A new keeper has a lease; the first call is cancelled before it gets an id.
	$server->restart;
	$server->psql('postgres', "SET snowflake.start_timeout = 0; SELECT snowflake_nextval()");
	wait_until('the lease', sub { status($server, 'state') eq 'issuing' });
	my ($worker, $window_end) = split /\|/, registry($server);
	my $start = $server->safe_psql('postgres', 'SELECT window_start FROM snowflake_registry');
	my $last_id = status($server, 'last_id');
	$server->stop('fast');
	start_server($server);
	is(registry($server), '', 'no row');
	is(watermarks($server)->{$worker}, $last_id eq '' ? $start - 1 : tick_of($last_id), 'the tick before the window');
	issue($server, 100);
};

subtest 'a fast shutdown under load releases the lease (G8)' => sub {
	my $clients = start_clients($server, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 2000)) TO STDOUT;\n" x 500);
	wait_until('ids', sub { client_bytes($clients) > 1_000_000 });
	my $worker = status($server, 'worker');
	stop_in_time($server, 'fast', 'a fast shutdown under load');
	my $ended = now_ms() - $epoch_ms;
	stop_clients($clients);
	start_server($server);
	is(registry($server), '', 'no row');
	my ($ids, $duplicates, undef, $highest) = compare_ids(@{ $clients->{files} });
	my $watermark = watermarks($server)->{$worker};
	cmp_ok($watermark, '>=', tick_of($highest), 'the watermark is not below any id that reached a client');
	cmp_ok($watermark, '<=', $ended + $max_lead_ms, 'nor beyond what the clock showed, as the end of the window is');
	is($duplicates, 0, "no duplicate among $ids");
	my ($next) = issue($server, 100);
	ok(tick_of($next) > $watermark || worker_of($next) != $worker, 'the next life begins after it, or with another worker id');
};

subtest 'a fast shutdown with an idle keeper' => sub {
	issue($server, 1);
	stop_in_time($server, 'fast', 'a fast shutdown of an idle node');
	start_server($server);
	is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry WHERE window_start ='
			. ' (SELECT max(window_start) FROM snowflake_registry) AND lease_id = (SELECT last_value FROM snowflake_registry_lease_id_seq)'), 0, 'no row');
};

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
