# Wrong clocks: stepped back and forward while the server runs and while it does not, frozen, before the epoch, beyond the
# layout's end. Tries to break G1 (no duplicate), G2 (ids fall within a process only after a step back that the log names),
# G3 (an id leads the clock by at most max_lead), G5 (clock faults do not stop service) and G7 (ids never wrap).
#
# A frozen clock makes the small steps exact: nothing depends on how fast the machine is.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $epoch_ms = 1735689600000;
my $max_lead_ms = 5;
my $hour_s = 3600;

my $conf = q{
log_statement = none
autovacuum = off
restart_after_crash = on
};

my (%seen, $repeated);    # every id that a client of the server at hand ever got

sub new_clock_server
{
	my ($name, $more) = @_;
	my $server = new_server($name, clock => 1, conf => $conf . ($more // ''));
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	%seen = ();
	$repeated = 0;
	return $server;
}

sub remember { $repeated += grep { $seen{$_}++ } @_; return @_; }

sub issue
{
	my ($server, $count) = @_;
	return remember(split / /, $server->safe_psql('postgres',
			"SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, $count)"));
}

sub status { return $_[0]->safe_psql('postgres', "SELECT $_[1] FROM snowflake_status"); }
sub tick_of { return $_[0] >> 22; }
sub worker_of { return $_[0] >> 12 & 1023; }

sub session { return $_[0]->background_psql('postgres', on_error_stop => 0); }

# One id in a session, or the SQLSTATE that it failed with.
sub call
{
	my ($session) = @_;
	my ($out, $error) = ask($session, "\\set VERBOSITY verbose\nSELECT snowflake_nextval()");
	return (remember($out))[0] if $out =~ /^\d+$/;
	return $error =~ /ERROR:\s+(\w{5}):/ ? $1 : "?$error";
}

# Lets the server's clock stand at this time.
sub stand_at
{
	my ($server, $unix_ms) = @_;
	SnowflakeTest::write_clock($server, $server->{snowflake_offset_ns}, int($unix_ms * 1e6));
	return;
}

# Lets it run from this time on.
sub run_from
{
	my ($server, $unix_ms) = @_;
	move_clock($server, $unix_ms / 1000 - time());
	return;
}

# In the middle of a millisecond, so that whole milliseconds are whole ticks.
sub some_ms { return int(time() * 1000 + ($_[0]->{snowflake_offset_ns} / 1e6)) + 0.5; }

sub setting
{
	my ($server, $name, $value) = @_;
	$server->safe_psql('postgres', "ALTER SYSTEM SET $name = '$value'");
	$server->reload;
	# The keeper and the sessions read the file when they come to it.
	wait_until("$name = $value", sub { $server->safe_psql('postgres', "SELECT current_setting('$name')") eq $value });
	return;
}

# Whether ids lie between the clock before their calls and the clock after them plus max_lead (G3).
sub follows_the_clock
{
	my ($server, $what) = @_;
	my $wrong = $server->safe_psql('postgres', qq{
SELECT count(*) FILTER (WHERE snowflake_timestamp(id) <= before - interval '1 ms' OR snowflake_timestamp(id) > after + interval '$max_lead_ms ms')
  || ' ' || string_agg(id::text, ' ')
FROM (SELECT clock_timestamp() AS before, snowflake_nextval() AS id, clock_timestamp() AS after FROM generate_series(1, 1000) OFFSET 0) t});
	my ($count, @ids) = split / /, $wrong;
	remember(@ids);
	return is($count, 0, $what // 'ids follow the clock (G3)');
}

my $server = new_clock_server('clock');

subtest 'back by up to max_lead: ids go on in the last tick' => sub {
	my $session = session($server);
	call($session);
	my $worker = status($server, 'worker');
	my $now = some_ms($server);
	stand_at($server, $now + 100);
	my $first = call($session);
	my $counters = status($server, 'clock_waits, lease_waits, leases_drawn');
	my $last = $first;
	for my $back (3, 5)
	{
		stand_at($server, $now + 100 - $back);
		my $id = call($session);
		cmp_ok($id, '>', $last, "back by $back ms, the id is above the last one");
		is(tick_of($id), tick_of($first), 'in the same tick');
		is(worker_of($id), $worker, 'with the same worker id');
		$last = $id;
	}
	is(status($server, 'clock_waits, lease_waits, leases_drawn'), $counters, 'nobody waited, no lease was drawn');
	run_clock($server);
	$session->quit;
};

subtest 'back by up to max_wait: the call waits' => sub {
	my $session = session($server);
	my $worker = status($server, 'worker');
	my ($waits, $drawn) = split /\|/, status($server, 'clock_waits, leases_drawn');
	my $tries = 0;
	# A call that comes late on a busy machine finds the clock where it was: then once more.
	ok(wait_until('a call that waits', sub {
		$tries++;
		my $now = some_ms($server) + 200;
		stand_at($server, $now);
		my $before = call($session);
		run_from($server, $now - 50);
		my ($out) = ask($session, 'SELECT snowflake_nextval(), extract(epoch FROM clock_timestamp()) * 1000');
		my ($id, $clock_ms) = split /\|/, $out;
		remember($id);
		my $waited = status($server, 'clock_waits') > $waits;
		return 0 unless $waited;
		cmp_ok($id, '>', $before, 'the id is above the last one');
		is(worker_of($id), $worker, 'with the same worker id');
		cmp_ok($clock_ms, '>=', int($now) - $max_lead_ms, 'when the call ended the clock had come back to the last tick less max_lead');
		return 1;
	}), "a call waited, in try $tries");
	is(status($server, 'leases_drawn'), $drawn, 'no lease was drawn');
	move_clock($server, 0);
	follows_the_clock($server);
	$session->quit;
};

for my $case ([ '1 s', 1 ], [ '1 h', $hour_s ], [ '30 days', 30 * 24 * $hour_s ])
{
	my ($name, $back_s) = @$case;
	subtest "new_worker: back by $name, another worker id goes on" => sub {
		my $session = session($server);
		my $before = call($session);
		my ($drawn, $steps) = split /\|/, status($server, 'leases_drawn, clock_steps_back');
		my $log = -s $server->logfile;
		move_clock($server, -$back_s);
		my $after = call($session);
		like($after, qr/^\d{6,}$/, 'an id');
		cmp_ok($after, '<', $before, 'below the last one');
		isnt(worker_of($after), worker_of($before), 'with another worker id');
		is(status($server, 'leases_drawn, clock_steps_back'), ($drawn + 1) . '|' . ($steps + 1), 'one lease was drawn for it');
		like(slurp_file($server->logfile, $log), qr/drew worker id \d+ in place of \d+, because the clock stepped back by [\d.]+ s/, 'the log says so');
		is(worker_of(call($session)), worker_of($after), 'and ids go on with it');
		follows_the_clock($server);
		is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry WHERE worker_id = ' . worker_of($before)), 0, 'the old lease is given back');
		is($server->safe_psql('postgres', 'SELECT last_tick FROM snowflake_watermark WHERE worker_id = ' . worker_of($before)), tick_of($before), 'with its last tick');
		is($repeated, 0, 'no duplicate (G1)');
		move_clock($server, 0);
		like(call($session), qr/^\d{6,}$/, 'forward again, ids flow');
		follows_the_clock($server);
		is($repeated, 0, 'no duplicate (G1)');
		$session->quit;
	};
}

subtest 'forward by 1 h and back again' => sub {
	for my $round (1 .. 3)
	{
		move_clock($server, $hour_s);
		is(scalar issue($server, 2000), 2000, 'an hour ahead, ids flow');
		follows_the_clock($server);
		move_clock($server, 0);
		is(scalar issue($server, 2000), 2000, 'back again, ids flow');
		follows_the_clock($server);
	}
	is($repeated, 0, 'no duplicate (G1)');
};

subtest 'error: back by more than max_wait, SF002 until the clock has caught up' => sub {
	setting($server, 'snowflake.on_clock_step_back', 'error');
	for my $back_s (1, $hour_s)
	{
		my $session = session($server);
		my $before = call($session);
		my $drawn = status($server, 'leases_drawn');
		my $now = some_ms($server);
		move_clock($server, -$back_s);
		is(call($session), 'SF002', "back by $back_s s, the call fails");
		my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'in a new session too');
		like($error, qr/DETAIL:.*HINT:.*on_clock_step_back/s, 'with detail and hint');
		is(status($server, 'leases_drawn'), $drawn, 'no lease was drawn');
		move_clock($server, 0) if $back_s > 1;
		my $after;
		ok(wait_until('ids', sub { $after = call($session); return $after =~ /^\d{6,}$/; }), 'ids flow once the clock has caught up');
		cmp_ok($after, '>', $before, 'above the last one');
		is(worker_of($after), worker_of($before), 'with the same worker id');
		is($repeated, 0, 'no duplicate (G1)');
		move_clock($server, 0);
		$session->quit;
	}
};

for my $policy (qw(new_worker error))
{
	for my $how ([ 'a shutdown', 'fast' ], [ 'a crash', 'immediate' ])
	{
		my ($name, $mode) = @$how;
		subtest "$policy: back by 1 h between $name and a start" => sub {
			setting($server, 'snowflake.on_clock_step_back', $policy);
			my @before = issue($server, 2000);
			$server->stop($mode);
			move_clock($server, -$hour_s);
			start_server($server);
			my @after = issue($server, 2000);
			is(scalar @after, 2000, 'ids flow');
			isnt(worker_of($after[0]), worker_of($before[0]), 'with another worker id');
			is(status($server, 'leases_drawn, clock_waits'), '1|0', 'at once');
			follows_the_clock($server);
			is($repeated, 0, 'no duplicate (G1)');
			$server->stop($mode);
			move_clock($server, 0);
			start_server($server);
			is(scalar issue($server, 2000), 2000, 'forward again between two lives, ids flow');
			follows_the_clock($server);
			is($repeated, 0, 'no duplicate (G1)');
		};
	}
}
setting($server, 'snowflake.on_clock_step_back', 'new_worker');

subtest 'a clock that stands for 2 s: ids go on up to max_lead, then wait, then go on' => sub {
	my $session = session($server);
	call($session);
	my ($waits, $drawn) = split /\|/, status($server, 'clock_waits, leases_drawn');
	my $started = time();
	my $now = some_ms($server) + 20;
	stand_at($server, $now);
	# More than the 6 ticks hold that may be used now.
	$session->{stdin} .= "SELECT 'ids:' || string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, 60000);\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { status($server, 'clock_waits') > $waits });
	is(status($server, 'last_id >> 22'), int($now) - $epoch_ms + $max_lead_ms, 'every tick up to max_lead is used');
	sleep($started + 2 - time()) if time() < $started + 2;
	is(status($server, 'last_id >> 22'), int($now) - $epoch_ms + $max_lead_ms, 'and none beyond');
	run_clock($server);
	$session->{run}->pump until $session->{stdout} =~ /ids:.*\n/ || $session->{stderr} =~ /ERROR/;
	my @ids = split / /, $session->{stdout} =~ /ids:(.*)\n/ ? $1 : '';
	is(scalar remember(@ids), 60000, 'the clock runs, and the call ends');
	is(status($server, 'leases_drawn'), $drawn, 'under the same lease');
	is($repeated, 0, 'no duplicate (G1)');
	$session->quit;
};

subtest 'a clock that stands for longer than start_timeout: SF002' => sub {
	my $now = some_ms($server) + 20;
	stand_at($server, $now);
	my ($state, $error) = query_error($server, 'postgres',
		"SET snowflake.start_timeout = '1s'; SELECT count(snowflake_nextval()) FROM generate_series(1, 60000)");
	is($state, 'SF002', 'the call fails');
	like($error, qr/clock does not move.*DETAIL:.*HINT:/s, 'and says why, with detail and hint');
	run_clock($server);
	follows_the_clock($server, 'then ids follow the clock');
};

subtest 'a call that waits for the clock can be cancelled' => sub {
	setting($server, 'snowflake.max_wait', '1min');
	my $session = session($server);
	call($session);
	my $drawn = status($server, 'leases_drawn');
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	my $started = time();
	move_clock($server, -30);
	my ($state) = query_error($server, 'postgres', "SET statement_timeout = '200ms'; SELECT snowflake_nextval()");
	is($state, '57014', 'by statement_timeout');
	my $waits = status($server, 'clock_waits');
	$session->{stderr} = '';
	$session->{stdin} .= "\\set VERBOSITY verbose\nSELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { status($server, 'clock_waits') > $waits });
	$server->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$session->{run}->pump until $session->{stdout} =~ /id:/ || $session->{stderr} =~ /ERROR:.*\n/;
	like($session->{stderr}, qr/57014/, 'by pg_cancel_backend');
	is(status($server, 'leases_drawn'), $drawn, 'and no lease was drawn');
	move_clock($server, 0);
	$session->{stdout} = '';
	like(call($session), qr/^\d{6,}$/, 'the session goes on');
	setting($server, 'snowflake.max_wait', '100ms');
	$session->quit;
};

subtest 'the clock before the epoch: SF002, and nothing else happens' => sub {
	my $ready = ready_count($server);
	my $session = session($server);
	call($session);
	run_from($server, 1717200000000);    # June 2024
	is(call($session), 'SF002', 'while it runs');
	my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
	is($state, 'SF002', 'in a new session');
	like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint');
	move_clock($server, 0);
	like(call($session), qr/^\d{6,}$/, 'back in the present, ids flow');
	follows_the_clock($server);
	$session->quit;
	$server->stop;
	run_from($server, 1717200000000);
	start_server($server);
	($state) = query_error($server, 'postgres', "SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()");
	is($state, 'SF002', 'from the start on');
	move_clock($server, 0);
	is(scalar issue($server, 1000), 1000, 'back in the present, ids flow');
	follows_the_clock($server);
	is($repeated, 0, 'no duplicate (G1)');
	is(ready_count($server), $ready + 1, 'no crash');
};

subtest 'no id of this server was ever repeated (G1)' => sub {
	is($repeated, 0, 'among ' . keys %seen);
};
$server->stop;

# One worker bit: two worker ids in all, so that a step back soon finds none whose watermark lies in the past.
subtest 'even the lowest watermark lies ahead of the clock: SF002, and one lease' => sub {
	my $pair = new_clock_server('pair', "snowflake.start_timeout = '2s'\n");
	$pair->safe_psql('postgres', "INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)"
		. " VALUES ($epoch_ms, 1000, 41, 0, 1, 12, false)");
	move_clock($pair, 2 * $hour_s);
	# After a start it begins at a random place.
	my %workers;
	for (1 .. 30)
	{
		issue($pair, 100);
		$workers{ status($pair, 'worker') }++;
		$pair->stop('fast');
		last if keys %workers == 2;
		start_server($pair);
	}
	is(join(' ', sort keys %workers), '0 1', 'both worker ids are used up to two hours from now');
	move_clock($pair, 0);
	start_server($pair);
	for (1 .. 5)
	{
		my ($state, $error) = query_error($pair, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'the call fails');
		like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint') if $_ == 1;
	}
	is(status($pair, 'leases_drawn'), 1, 'the keeper does not draw again and again');
	move_clock($pair, 2 * $hour_s + 60);
	is(scalar issue($pair, 100), 100, 'once the clock has come to the lease, ids flow');
	is(status($pair, 'leases_drawn'), 1, 'under the same lease');

	# The same while it runs.
	move_clock($pair, 0);
	for (1 .. 5)
	{
		my ($state) = query_error($pair, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'stepped back while it runs, the call fails');
	}
	is(status($pair, 'leases_drawn'), 2, 'one lease was drawn for it');
	move_clock($pair, 2 * $hour_s + 120);
	is(scalar issue($pair, 100), 100, 'forward again, ids flow');
	is(status($pair, 'leases_drawn'), 2, 'under that lease');
	is($repeated, 0, 'no duplicate (G1)');
	$pair->stop;
};

# 22 bits of milliseconds last 70 minutes; an epoch an hour ago leaves ten.
subtest 'the layout\'s end: SF003, and ids never wrap (G7)' => sub {
	my $short = new_clock_server('short');
	my $epoch = now_ms() - $hour_s * 1000;
	my $end = $epoch + 2**22;
	$short->safe_psql('postgres', "INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)"
		. " VALUES ($epoch, 1000, 22, 0, 10, 12, false)");
	is(status($short, 'round(extract(epoch FROM end_of_life) * 1000)'), $end, 'the status shows the end from the first day');
	my $session = session($short);
	like(call($session), qr/^\d+$/, 'ids flow');
	my $clients = start_clients($short, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 200)) TO STDOUT;\n\\! sleep 0.005\n" x 100);
	run_from($short, $end - 1500);
	my $state;
	wait_until('the end', sub { $state = call($session); return $state !~ /^\d{6,}$/; });
	is($state, 'SF003', 'SF003 at the end');
	stop_clients($clients);
	my ($code, $error) = query_error($short, 'postgres', 'SELECT snowflake_nextval()');
	is($code, 'SF003', 'in a new session too');
	like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint');
	my ($ids, $duplicates, $lowest, $highest) = compare_ids(@{ $clients->{files} });
	is($duplicates, 0, "no duplicate among $ids");
	cmp_ok($lowest, '>', 0, 'none was negative or 0');
	cmp_ok($highest, '<', 2**44, 'none was beyond the layout');
	cmp_ok($highest >> 22, '>', 2**22 - 1500, 'and the last seconds were used');
	move_clock($short, 24 * $hour_s);
	is(call($session), 'SF003', 'a day later: SF003');
	$session->quit;
	$short->stop;
	start_server($short);
	($code) = query_error($short, 'postgres', "SET snowflake.start_timeout = '500ms'; SELECT snowflake_nextval()");
	is($code, 'SF003', 'after a start beyond the end: SF003');
	move_clock($short, 0);
	my ($again) = issue($short, 1);
	cmp_ok($again, '>', 0, 'a clock that was set right brings ids back');
	$short->stop;
};

# Two sessions, one of which keeps the rest of a run in a tick that leads the clock, while the other goes on with the clock.
subtest 'across sessions, ids of calls more than a tick apart follow call order, and with max_run = 1 those of all (G2)' => sub {
	my $narrow = new_clock_server('narrow');
	$narrow->safe_psql('postgres', "INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)"
		. " VALUES ($epoch_ms, 1000, 41, 0, 10, 6, false)");
	my ($one, $other) = map { session($narrow) } 1 .. 2;
	my $issue_many = sub {
		my ($out) = ask($other, "SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, $_[0])");
		return (remember(split / /, $out))[-1];
	};
	call($_) for $one, $other;
	for my $max_run (1, 256)
	{
		my $default = $max_run == 1 ? 'max_run = 1' : 'by default';
		ask($_, "SET snowflake.max_run = $max_run") for $one, $other;
		my $now = some_ms($narrow) + 50 * $max_run;
		stand_at($narrow, $now);
		$issue_many->(260);    # four ticks ahead of the clock
		my $before = (map { call($one) } 1 .. 2)[-1];
		my $between = $issue_many->(10);
		cmp_ok($between, '>', $before, "$default, an id of a later call is above") if $max_run == 1;
		stand_at($narrow, $now + 2);
		$between = $issue_many->(150);
		stand_at($narrow, $now + 4);
		my $after = call($one);
		cmp_ok($after, '>', $between, "$default, an id of a call two ticks later is above");
		run_clock($narrow);
	}
	is($repeated, 0, 'no duplicate (G1)');
	$_->quit for $one, $other;
	$narrow->stop;
};

# Everything at once, by seed.
for my $policy (qw(new_worker error))
{
	my $moves = $policy eq 'new_worker' ? 40 : 20;
	subtest "$policy: $moves random moves of the clock under load" => sub {
		my $seed = $ENV{SNOWFLAKE_SEED} // int(rand(2**31));
		srand($seed);
		my $wild = new_clock_server("wild_$policy", "snowflake.on_clock_step_back = '$policy'\nsnowflake.lease_duration = 2s\nsnowflake.start_timeout = 1s\n");
		my $clients = start_clients($wild, 2, <<'SQL' x 50);
COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;
SELECT snowflake_nextval();
SELECT id FROM snowflake_nextvals(20) AS id;
\! sleep 0.003
SQL
		my ($offset_s, $lowest_s, $highest_s, $silent, $restarts) = (0, 0, 0, 0, 0);
		my $step = sub {
			$offset_s += $_[0];
			$lowest_s = $offset_s if $offset_s < $lowest_s;
			$highest_s = $offset_s if $offset_s > $highest_s;
			move_clock($wild, $offset_s);
		};
		# A span between the two, as often small as large.
		my $span = sub { return $_[0] * ($_[1] / $_[0])**rand(); };
		my $restart = sub { $restarts++; $wild->stop($_[0]); $step->($_[1]); start_server($wild); };
		my @kinds = (
			sub { $step->(-$span->(0.001, 0.02)) },
			sub { $step->(-$span->(0.02, 2)) },
			sub { $step->(-$span->(2, 2 * $hour_s)) },
			sub { $step->($span->(0.001, 1)) },
			sub { $step->($span->(1, 2 * $hour_s)) },
			sub { $step->(-$offset_s) },
			sub { freeze_clock($wild); sleep($span->(0.01, 1)); run_clock($wild) },
			sub { $restart->('fast', $span->(0.001, $hour_s) * (rand() < 0.5 ? -1 : 1)) },
			sub { $restart->('immediate', $span->(0.001, $hour_s) * (rand() < 0.5 ? -1 : 1)) },
		);
		my $ids_flow = sub {
			my $size = client_bytes($clients);
			return wait_until('ids', sub { client_bytes($clients) > $size + 20_000 });
		};
		$ids_flow->();
		for my $move (1 .. $moves)
		{
			$kinds[ rand @kinds ]->();
			# With error the clients may have to wait for the clock, so it is brought forward.
			if ($policy eq 'error' && rand() < 0.5) { sleep($span->(0.01, 0.5)); $step->($highest_s - $offset_s + 1); }
			elsif ($policy eq 'error') { sleep($span->(0.01, 0.5)); next; }
			$silent++ unless $ids_flow->();
			sleep(rand(0.2));
		}
		$step->($highest_s - $offset_s + 1);
		$silent++ unless $ids_flow->();
		stop_clients($clients);
		is($silent, 0, 'times that no ids came (G5)');
		my ($ids, $duplicates, $lowest, $highest) = compare_ids(@{ $clients->{files} });
		is($duplicates, 0, "no duplicate among $ids (G1)");

		my $falls = 0;
		for my $name (@{ $clients->{files} })
		{
			my $last = -1;
			open(my $file, '<', $name) or die "$name: $!";
			while (my $line = <$file>)
			{
				if ($line =~ /^\d+$/) { $falls++ if $line <= $last; $last = $line + 0; }
				else { $last = -1; }
			}
		}
		my $steps = () = slurp_file($wild->logfile) =~ /because the clock stepped back/g;
		if ($policy eq 'error') { is($falls, 0, 'ids never fell within a process (G2)'); is($steps, 0, 'and no worker id was drawn for a step back'); }
		else { cmp_ok($falls, '<=', 2 * $steps, "ids fell within a process only after a step back that the log names (G2): $falls times, $steps steps"); }
		my $ended_s = time();
		cmp_ok(($epoch_ms + tick_of($lowest)) / 1000, '>=', $^T + $lowest_s - 1, 'none is older than the earliest clock');
		cmp_ok(($epoch_ms + tick_of($highest)) / 1000, '<=', $ended_s + $highest_s + $max_lead_ms / 1000, 'none leads the latest');
		figures('%s: %d trials (moves of the clock), %d restarts, %d ids, %d duplicates, %d steps back answered, seed %d',
			$policy, $moves, $restarts, $ids, $duplicates, $steps, $seed);
		$wild->stop;
	};
}

done_testing();
