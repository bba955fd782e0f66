# The life of a lease: start, clean shutdown, crash, a lost keeper, no place for one. Tries to break G1 (no id of before is
# ever seen again), G6 (after a crash the node issues at once), G8 (a clean shutdown deletes the lease's row and leaves the
# watermark: the last tick that was issued), and the promise that a fast shutdown ends within 3 s whatever the keeper
# waits for.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $shutdown_limit_s = 3 * slowness();

my %seen;    # every id that a client of the server at hand ever got
my $repeated = 0;

sub remember { $repeated += grep { $seen{$_}++ } @_; return @_; }

# Ids in the order of their calls, from a connection of its own.
sub issue
{
	my ($server, $count) = @_;
	return remember(split /\n/, $server->safe_psql('postgres', "SELECT snowflake_nextval() FROM generate_series(1, $count)"));
}

sub registry { return $_[0]->safe_psql('postgres', 'SELECT worker_id, window_end FROM snowflake_registry ORDER BY lease_id'); }

# worker_id => last_tick
sub watermarks
{
	return { map { split /\|/ } split /\n/, $_[0]->safe_psql('postgres', 'SELECT worker_id, last_tick FROM snowflake_watermark') };
}

sub status { return $_[0]->safe_psql('postgres', "SELECT $_[1] FROM snowflake_status"); }

sub tick_of { return $_[0] >> 22; }
sub worker_of { return $_[0] >> 12 & 1023; }

sub stop_seconds
{
	my ($server, $mode) = @_;
	my $start = time();
	$server->stop($mode);
	return time() - $start;
}

sub keeper_pid { return status($_[0], 'keeper_pid'); }

sub keeper_waits_for
{
	my ($server, $event) = @_;
	return wait_until("the keeper to wait for $event", sub {
		$server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND wait_event = '$event'") });
}

my $server = new_server('lifecycle', conf => q{
log_statement = none
restart_after_crash = on
max_prepared_transactions = 5
});
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
	is(status($server, 'leases_drawn'), 1, 'drawn once');
	is_deeply(watermarks($server), {}, 'and no watermark yet');
};

for my $mode (qw(smart fast))
{
	subtest "a $mode shutdown leaves no row, and the last tick that was issued as the watermark (G8)" => sub {
		my @ids = issue($server, 5000);
		my ($worker, $window_end) = split /\|/, registry($server);
		my $seconds = stop_seconds($server, $mode);
		cmp_ok($seconds, '<', $shutdown_limit_s, 'seconds');
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
	# A new keeper comes with a lease; its first caller is cancelled before it gets an id.
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

subtest 'a fast shutdown under load gives the lease back (G8)' => sub {
	my $clients = start_clients($server, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 2000)) TO STDOUT;\n" x 500);
	wait_until('ids', sub { client_bytes($clients) > 1_000_000 });
	my $worker = status($server, 'worker');
	my $end = $server->safe_psql('postgres', 'SELECT window_end FROM snowflake_registry');
	cmp_ok(stop_seconds($server, 'fast'), '<', $shutdown_limit_s, 'seconds');
	stop_clients($clients);
	start_server($server);
	is(registry($server), '', 'no row');
	my ($ids, $duplicates, undef, $highest) = compare_ids(@{ $clients->{files} });
	my $watermark = watermarks($server)->{$worker};
	cmp_ok($watermark, '>=', tick_of($highest), 'the watermark is not below any id that reached a client');
	cmp_ok($watermark, '<', $end - 1, 'nor at the end of the window');
	is($duplicates, 0, "no duplicate among $ids");
	my ($next) = issue($server, 100);
	ok(tick_of($next) > $watermark || worker_of($next) != $worker, 'the next life begins after it, or with another worker id');
};

# After each of these the next call must succeed without waiting for anything but its first lease: not for the clock, and
# not for the window of the dead lease to end.
my @crashes = (
	[ 'an immediate shutdown', sub { $server->stop('immediate'); start_server($server); } ],
	[ 'SIGKILL of the postmaster and all of its processes', sub { ok(kill_server($server, children => 1), 'all are gone'); start_server($server); } ],
	[ 'SIGKILL of the postmaster alone', sub { ok(kill_server($server), 'all are gone'); start_server($server); } ],
	[ 'SIGKILL of a backend', sub {
			my $session = $server->background_psql('postgres', on_error_stop => 0);
			my ($out) = ask($session, 'SELECT snowflake_nextval(), pg_backend_pid()');
			remember((split /\|/, $out)[0]);
			my $before = ready_count($server);
			kill 'KILL', (split /\|/, $out)[1];
			ok(wait_ready($server, $before), 'PostgreSQL restarts itself');
			$session->{run}->kill_kill;
		} ],
	[ 'SIGKILL of the keeper', sub {
			my $before = ready_count($server);
			kill 'KILL', keeper_pid($server);
			ok(wait_ready($server, $before), 'PostgreSQL restarts itself');
		} ],
);
for my $crash (@crashes)
{
	my ($name, $happen) = @$crash;
	subtest "after $name the node issues at once (G6)" => sub {
		my @before = issue($server, 20000);
		my $rows = $server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry');
		my ($worker, $window_end) = split /\|/, (split /\n/, registry($server))[-1];
		$happen->();
		is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), $rows, 'the dead lease\'s row is still there');
		my $start = time();
		my @after = issue($server, 20000);
		my $took_ms = (time() - $start) * 1000;
		is(scalar @after, 20000, 'the first call succeeds');
		is(status($server, 'lease_waits'), 1, 'one wait, for the first lease');
		is(status($server, 'clock_steps_back'), 0, 'the clock was not behind');
		cmp_ok(tick_of($after[0]), '<', $window_end, 'it did not wait for the dead window to end');
		isnt(worker_of($after[0]), $worker, 'another worker id');
		is($repeated, 0, 'no id of before was seen again (G1)');
		figures('after %s, psql, a new lease and 20000 ids took %.0f ms', $name, $took_ms);
	};
}

subtest 'a keeper that is terminated gives its lease back, and the next call brings another' => sub {
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
	is($repeated, 0, 'no id of before was seen again (G1)');
};

subtest 'keepers that are terminated again and again under load cost nothing but a wait' => sub {
	my $clients = start_clients($server, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 500)) TO STDOUT;\n" x 500);
	my $ended = 0;
	for (1 .. 20)
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
	my $drawn = status($server, 'leases_drawn');
	$server->safe_psql('postgres', "SELECT pg_cancel_backend($pid)") for 1 .. 5;
	is(scalar issue($server, 1000), 1000, 'ids flow');
	is(keeper_pid($server), $pid, 'the same keeper');
	is(status($server, 'leases_drawn'), $drawn, 'the same lease');
};

subtest 'a fast shutdown with an idle keeper' => sub {
	issue($server, 1);
	my $seconds = stop_seconds($server, 'fast');
	cmp_ok($seconds, '<', $shutdown_limit_s, 'seconds');
	figures('a fast shutdown of an idle node took %.2f s', $seconds);
	start_server($server);
	is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry WHERE window_start ='
			. ' (SELECT max(window_start) FROM snowflake_registry) AND lease_id = (SELECT last_value FROM snowflake_registry_lease_id_seq)'), 0, 'no row');
};

# Locks that nobody will ever release while the server shuts down.
for my $case ([ 'the registry', 'snowflake_registry' ], [ 'all four tables', 'snowflake_registry, snowflake_watermark, snowflake_layout, snowflake_origin' ])
{
	my ($name, $tables) = @$case;
	subtest "a fast shutdown while a prepared transaction locks $name and there is no lease yet" => sub {
		# The session knows the layout already; the keeper that gave it its first id is gone.
		my $session = $server->background_psql('postgres', on_error_stop => 0);
		remember(grep { /\d/ } ask($session, "SET snowflake.start_timeout = '1h'; SELECT snowflake_nextval()"));
		$server->safe_psql('postgres', 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
		wait_until('the keeper to end', sub { status($server, 'state') eq 'idle' && keeper_pid($server) eq '' });
		$server->safe_psql('postgres', "BEGIN; LOCK TABLE $tables; PREPARE TRANSACTION 'lock'");
		$session->{stdin} .= "SELECT snowflake_nextval();\n";
		$session->{run}->pump_nb;
		ok(wait_until('the keeper to wait for the lock', sub {
			$server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND wait_event_type = 'Lock'") }), 'the keeper waits');
		my $seconds = stop_seconds($server, 'fast');
		cmp_ok($seconds, '<', $shutdown_limit_s, 'seconds');
		figures('a fast shutdown with %s locked and no lease took %.2f s', $name, $seconds);
		$session->{run}->finish;
		start_server($server);
		$server->safe_psql('postgres', "ROLLBACK PREPARED 'lock'");
		is(scalar issue($server, 1000), 1000, 'ids flow once it is gone');
		is($repeated, 0, 'no id of before was seen again (G1)');
		$server->restart;
	};

	subtest "a fast shutdown while a prepared transaction locks $name and a lease is held" => sub {
		my $session = $server->background_psql('postgres', on_error_stop => 0);
		remember(grep { /\d/ } ask($session, 'SELECT snowflake_nextval()'));
		my ($worker) = status($server, 'worker');
		$server->safe_psql('postgres', "BEGIN; LOCK TABLE $tables; PREPARE TRANSACTION 'lock'");
		my @during = remember(split / /, (ask($session, "SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, 1000)"))[0]);
		is(scalar @during, 1000, 'ids flow: a call touches no table (G4)');
		$session->quit;
		my $seconds = stop_seconds($server, 'fast');
		cmp_ok($seconds, '<', $shutdown_limit_s, 'seconds');
		figures('a fast shutdown with %s locked and a lease held took %.2f s', $name, $seconds);
		start_server($server);
		$server->safe_psql('postgres', "ROLLBACK PREPARED 'lock'");
		is($server->safe_psql('postgres', "SELECT count(*) FROM snowflake_registry WHERE worker_id = $worker"), 1, 'the row goes by expiry');
		is(scalar issue($server, 1000), 1000, 'ids flow at once');
		isnt(status($server, 'worker'), $worker, 'with another worker id');
		is($repeated, 0, 'no id of before was seen again (G1)');
		$server->restart;
	};
}

subtest 'a lock that ends lets the waiting call through' => sub {
	$server->safe_psql('postgres', "BEGIN; LOCK TABLE snowflake_registry; PREPARE TRANSACTION 'lock'");
	my ($state, $error) = query_error($server, 'postgres', "SET snowflake.start_timeout = '100ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'SF001 until then');
	like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint');
	my $session = $server->background_psql('postgres', on_error_stop => 0);
	$session->{stdin} .= "SET snowflake.start_timeout = '60s';\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%id:%' AND wait_event IN ('Extension', 'SnowflakeLease') AND pid <> pg_backend_pid()") });
	$server->safe_psql('postgres', "ROLLBACK PREPARED 'lock'");
	$session->{run}->pump until $session->{stdout} =~ /id:(\d+)/ || $session->{stderr} =~ /ERROR/;
	like($session->{stdout}, qr/id:\d+/, 'an id');
	remember($session->{stdout} =~ /id:(\d+)/);
	$session->quit;
};

subtest 'no id of any life of this server was ever repeated (G1)' => sub {
	is($repeated, 0, 'among ' . keys %seen);
};
$server->stop;

# A synchronous standby that does not exist: the keeper's commits wait for ever.
my $alone = new_server('alone', streaming => 1, conf => q{
log_statement = none
snowflake.lease_duration = 6s
});
start_server($alone);
%seen = ();    # another registry
$alone->safe_psql('postgres', 'CREATE EXTENSION snowflake');

sub await_standby
{
	$alone->safe_psql('postgres', "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
	$alone->reload;
	wait_until('the setting', sub { $alone->safe_psql('postgres', 'SHOW synchronous_standby_names') eq 'nobody' });
	return;
}

# By hand: ALTER SYSTEM writes no WAL, but needs a server.
sub start_without_standby
{
	unlink $alone->data_dir . '/postgresql.auto.conf';
	append_to_file($alone->data_dir . '/postgresql.auto.conf', '');
	start_server($alone);
	return;
}

subtest 'a fast shutdown while the first lease waits for a synchronous standby' => sub {
	await_standby();
	my $session = $alone->background_psql('postgres', on_error_stop => 0);
	$session->{stdin} .= "SET snowflake.start_timeout = '1h';\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	ok(keeper_waits_for($alone, 'SyncRep'), 'the keeper waits');
	my ($state) = query_error($alone, 'postgres', "SET snowflake.start_timeout = '200ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'a lease that is not acknowledged issues nothing');
	my $seconds = stop_seconds($alone, 'fast');
	cmp_ok($seconds, '<', $shutdown_limit_s, 'seconds');
	figures('a fast shutdown with a first lease waiting for a standby took %.2f s', $seconds);
	$session->{run}->finish;
	unlike($session->{stdout}, qr/id:/, 'no id was issued');
	start_without_standby();
	is($alone->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), 0, 'no row: the release waits for no standby');
};

subtest 'a fast shutdown while the lease\'s next window waits for a synchronous standby' => sub {
	my @before = issue($alone, 1000);
	my $worker = status($alone, 'worker');
	await_standby();
	ok(keeper_waits_for($alone, 'SyncRep'), 'the keeper waits');
	my @during = issue($alone, 1000);
	is(scalar @during, 1000, 'ids flow while the window lasts');
	my $seconds = stop_seconds($alone, 'fast');
	cmp_ok($seconds, '<', $shutdown_limit_s, 'seconds');
	figures('a fast shutdown with a next window waiting for a standby took %.2f s', $seconds);
	start_without_standby();
	is($alone->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), 0, 'no row');
	is(watermarks($alone)->{$worker}, tick_of($during[-1]), 'the watermark is the last tick');
};

subtest 'a window that was never acknowledged is not used' => sub {
	issue($alone, 1);
	my $end = $alone->safe_psql('postgres', 'SELECT extract(epoch FROM window_end) FROM snowflake_status');
	await_standby();
	# What is issued, is issued before the end that the registry had acknowledged.
	my ($state, $highest) = ('00000', 0);
	wait_until('the window to end', sub {
		my ($rc, $out, $err) = $alone->psql('postgres', "\\set VERBOSITY verbose\nSET snowflake.start_timeout = '200ms'; SELECT snowflake_nextval()");
		$highest = $out if $out =~ /^\d+$/;
		($state) = $err =~ /ERROR:\s+(\w{5}):/ if $err;
		$end = $1 if keeper_pid($alone) ne '' && status($alone, "state, extract(epoch FROM window_end)") =~ /issuing\|(.*)/;
		return $state ne '00000';
	});
	is($state, 'SF001', 'then the call fails');
	cmp_ok((1735689600000 + tick_of($highest)) / 1000, '<', $end, 'and no id lies beyond the end');
	cmp_ok(stop_seconds($alone, 'fast'), '<', $shutdown_limit_s, 'seconds for the fast shutdown');
	start_without_standby();
	is(scalar issue($alone, 100), 100, 'ids flow again');
	is($repeated, 0, 'no id of before was seen again (G1)');
};
$alone->stop;

# Places for background workers: one in all, so that another database's keeper takes it.
my $narrow = new_server('narrow', conf => q{
log_statement = none
max_worker_processes = 1
max_logical_replication_workers = 0
max_parallel_workers_per_gather = 0
});
start_server($narrow);
$narrow->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$narrow->safe_psql('postgres', 'CREATE DATABASE other');
$narrow->safe_psql('other', 'CREATE EXTENSION snowflake');

subtest 'no place for a keeper: SF001 that names max_worker_processes' => sub {
	like($narrow->safe_psql('postgres', 'SELECT snowflake_nextval()'), qr/^\d+$/, 'the first database has the place');
	my ($state, $error) = query_error($narrow, 'other', "SET snowflake.start_timeout = '300ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'the second has none');
	like($error, qr/DETAIL:.*max_worker_processes.*HINT:.*max_worker_processes/s, 'and the error says why');
	like($narrow->safe_psql('postgres', 'SELECT snowflake_nextval()'), qr/^\d+$/, 'the first goes on');
};

subtest 'a refused keeper is asked for again until start_timeout' => sub {
	my $session = $narrow->background_psql('other', on_error_stop => 0);
	$session->{stdin} .= "SET snowflake.start_timeout = '60s';\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { $narrow->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE datname = 'other' AND wait_event IN ('Extension', 'SnowflakeLease')") });
	$narrow->safe_psql('postgres', 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	$session->{run}->pump until $session->{stdout} =~ /id:\d/ || $session->{stderr} =~ /ERROR/;
	like($session->{stdout}, qr/id:\d+/, 'it gets its keeper as soon as there is a place');
	$session->quit;
};

subtest 'no background workers at all: SF001 that names max_worker_processes' => sub {
	$narrow->append_conf('postgresql.conf', 'max_worker_processes = 0');
	$narrow->restart;
	my ($state, $error) = query_error($narrow, 'postgres', "SET snowflake.start_timeout = '300ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'the call fails');
	like($error, qr/max_worker_processes/, 'and the error says why');
};
$narrow->stop;

subtest 'how soon the first ids come' => sub {
	my (@after_start, @new_connection);
	my $median = sub { (sort { $a <=> $b } @_)[ @_ / 2 ] };
	for (1 .. 5)
	{
		start_server($server);
		my $timing = "\\timing on\nSELECT snowflake_nextval();\n";
		my $first = $server->safe_psql('postgres', $timing);
		push @after_start, $1 if $first =~ /Time: ([\d.]+) ms/;
		for (1 .. 5)
		{
			my $next = $server->safe_psql('postgres', $timing);
			push @new_connection, $1 if $next =~ /Time: ([\d.]+) ms/;
		}
		$server->stop('fast');
	}
	is(scalar @after_start, 5, 'first ids after a start');
	is(scalar @new_connection, 25, 'first ids of a connection');
	figures('the first id after a start took %.1f ms, the first of a new connection %.2f ms (medians, as the client sees it)',
		$median->(@after_start), $median->(@new_connection));
};

done_testing();
