# Runs: numbers that a backend has taken and hands out from its own memory. A clock that stands still holds one exactly where it
# could go wrong: at its tick's end (G3), after a step back (G5), across a change of the lease, of the layout or of the extension,
# beside parallel workers and new processes (G1), and between the functions that share it (G2).
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('runs', clock => 1, conf => "log_statement = none\nautovacuum = off\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE TABLE t (n int, id bigint DEFAULT snowflake_nextval())');
# The first lease writes the layout down, which ends every run.
$server->safe_psql('postgres', 'SELECT snowflake_nextval()');

my (%seen, $repeated);
sub remember { $repeated += grep { $seen{$_}++ } @_; return @_; }
sub tick_of { return $_[0] >> 22; }
sub worker_of { return $_[0] >> 12 & 1023; }
sub status { return split /\|/, $server->safe_psql('postgres', "SELECT $_[0] FROM snowflake_status"); }
sub session { return $server->background_psql('postgres', on_error_stop => 0); }
sub issue { return remember(split /\n/, (ask($_[0], "SELECT snowflake_nextval() FROM generate_series(1, $_[1])"))[0]); }

my $epoch_ms = 1735689600000;

# Lets the clock stand at a tick, so many microseconds into it.
sub stand_at
{
	my ($tick, $us) = @_;
	SnowflakeTest::write_clock($server, 0, ($epoch_ms + $tick) * 1_000_000 + ($us // 500) * 1000);
	return;
}

# A session that holds a run of which much is left, at a clock that stands. Returns the session, the tick and the last id.
my $next_tick = now_ms() - $epoch_ms;

sub session_with_run
{
	# Each time later than all before, so that no call waits for the clock.
	$next_tick += 1000;
	stand_at($next_tick);
	my $session = session();
	my ($taken) = status('coalesce(ids_taken, 0)');
	my $last = (issue($session, 300))[-1];
	is(tick_of($last), $next_tick, 'a session issues ids of the tick in which the clock stands');
	cmp_ok((status('ids_taken'))[0] - $taken, '>', 400, '... and much of its last run is left');
	return ($session, $next_tick, $last);
}

subtest 'a run does not outlive its tick (G3)' => sub {
	for my $later (1, 2, 5, 60_000)
	{
		my ($session, $tick, $last) = session_with_run();
		my ($runs) = status('runs_taken');
		stand_at($tick, $_) for 0, 999;
		my ($id) = issue($session, 1);
		is($id, $last + 1, 'in the last microsecond of the tick its next number is handed out');
		is((status('runs_taken'))[0], $runs, '... without another run');
		stand_at($tick + $later, 0);
		($id) = issue($session, 1);
		is(tick_of($id), $tick + $later, "$later ticks later, in the first microsecond, an id of that tick");
		$next_tick += $later;
		$session->quit;
	}
};

subtest 'a run does not survive a step back of the clock (G5)' => sub {
	for my $back (1, 4)
	{
		my ($session, $tick, $last) = session_with_run();
		my ($runs, $worker) = status('runs_taken, worker');
		stand_at($tick - $back);
		my ($id) = issue($session, 1);
		is($id, $last + 1, "$back ms back: what was left went back, and the next number");
		is(tick_of($id), $tick, '... of the last tick');
		is((status('runs_taken, worker'))[0], $runs + 1, '... is of another run');
		$session->quit;
	}
	{
		my ($session, $tick, $last) = session_with_run();
		my $other = session();
		my @theirs = issue($other, 10);
		cmp_ok($theirs[0], '>', $last + 100, 'another session\'s numbers lie above the run');
		stand_at($tick - 1);
		my ($id) = issue($session, 1);
		cmp_ok($id, '>', $theirs[-1], 'then nothing goes back, and the next number lies above them');
		$_->quit for $session, $other;
	}
	my ($session, $tick, $last) = session_with_run();
	my $log = -s $server->logfile;
	stand_at($tick - 3_600_000);
	my ($id) = issue($session, 1);
	is(tick_of($id), $tick - 3_600_000, 'an hour back: an id of the clock\'s tick');
	isnt(worker_of($id), worker_of($last), '... of another worker id');
	stand_at($tick);
	($id) = issue($session, 1);
	isnt($id, $last + 1, 'the clock returns: the old run is gone');
	is(tick_of($id), $tick, '... and ids are of its tick');
	$session->quit;
	is($repeated // 0, 0, 'no duplicate (G1)');
};

subtest 'a run and a change of the lease (G1)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my ($worker, $pid) = status('worker, keeper_pid');
	$server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	ok(wait_until('the lease to be given back', sub { $server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry') == 0 }),
		'the keeper gives the lease back');
	is($server->safe_psql('postgres', "SELECT last_tick FROM snowflake_watermark WHERE worker_id = $worker"), $tick,
		'with a last tick that is not below the run\'s');
	my $other = session();
	my @theirs = issue($other, 300);
	isnt(worker_of($theirs[0]) . ' ' . tick_of($theirs[0]), "$worker $tick", 'another session issues under another lease');
	my @ours = issue($session, 300);
	is($ours[0], $last + 1, 'the run goes on: its numbers were taken');
	isnt(worker_of($ours[-1]) . ' ' . tick_of($ours[-1]), "$worker $tick", '... and is followed by one of the new lease');
	is($repeated // 0, 0, 'no duplicate');
	$_->quit for $session, $other;
};

subtest 'a run and another extension of another layout (G1)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my $other = session();
	issue($other, 300);
	# All in the tick in which the runs were taken; the one session drops, the other is told.
	my (undef, $error) = ask($session, 'SET client_min_messages = warning; DROP EXTENSION snowflake CASCADE');
	is($error, '', 'DROP EXTENSION');
	(undef, $error) = ask($other, 'SELECT snowflake_nextval()');
	like($error, qr/does not exist/, 'nothing is issued without it');
	(undef, $error) = ask($session, q{CREATE EXTENSION snowflake;
INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)
	VALUES (1735689600000, 1000, 41, 0, 6, 16, true);
ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval()});
	is($error, '', 'CREATE EXTENSION, with another layout');
	my @ids = map { issue($_, 10) } $session, $other;
	my ($worker) = status('worker');
	is(scalar(grep { ($_ & 63) != $worker } @ids), 0, 'ids of both sessions are of the new layout');
	is(scalar(grep { $_ == $last + 1 } @ids), 0, '... and not of the old run');
	cmp_ok(tick_of($ids[0]), '>=', $tick, '... and not below the old ones');
	$_->quit for $session, $other;
	$server->safe_psql('postgres', 'SET client_min_messages = warning; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake;'
		. ' ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval()');
	$server->safe_psql('postgres', 'SELECT snowflake_nextval()');
};

subtest 'a run, parallel workers and new processes (G1)' => sub {
	%seen = ();
	$server->safe_psql('postgres', 'CREATE TABLE big AS SELECT i FROM generate_series(1, 3000) i; ALTER TABLE big SET (parallel_workers = 2);'
		. ' ANALYZE big');
	my ($session, $tick, $last) = session_with_run();
	my ($runs) = status('runs_taken');
	ask($session, 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;');
	for my $participation ('off', 'on')
	{
		ask($session, "SET parallel_leader_participation = $participation");
		my ($plan) = ask($session, 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF) SELECT snowflake_nextval() FROM big');
		like($plan, qr/Workers Launched: [12]/, 'workers are launched');
		my @ids = remember(split /\n/, (ask($session, 'SELECT snowflake_nextval() FROM big'))[0]);
		is(scalar @ids, 3000, 'ids of a parallel query');
		my ($id) = issue($session, 1);
		is($id, $last + 1, 'the leader\'s run goes on where it was') if $participation eq 'off';
		$last = $id;
	}
	for (1 .. 10)
	{
		my $new = session();
		issue($new, 5);
		$new->quit;
	}
	issue($session, 300);
	cmp_ok((status('runs_taken'))[0], '>', $runs + 10, 'new processes took runs of their own');
	is($repeated // 0, 0, 'no duplicate among ' . scalar(keys %seen) . ' ids');
	$session->quit;
};

subtest 'one run for all functions (G2)' => sub {
	my ($session, $tick, $last) = session_with_run();
	ask($session, 'TRUNCATE t');
	my ($taken, $runs) = status('ids_taken, runs_taken');
	my $script = join "\n", map {
		("COPY t (n) FROM PROGRAM 'seq 2';", 'INSERT INTO t (n) VALUES (3) RETURNING id;', 'SELECT snowflake_nextvals(2);',
			'SELECT * FROM snowflake_nextvals(3);', 'SELECT snowflake_nextval();')
	} 1 .. 20;
	my @ids = remember(split /\n/, (ask($session, $script))[0]);
	is($ids[-1], $last + 180, 'COPY, INSERT, snowflake_nextvals() and snowflake_nextval() take the run\'s numbers in turn');
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, '... rising');
	is(join('|', status('ids_taken, runs_taken')), "$taken|$runs", '... and none but the run\'s');
	is($server->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t'),
		join('|', 60, 60, $last + 1, $last + 174), 'those of the table among them');
	is((ask($session, 'SELECT snowflake_currval()'))[0], $ids[-1], 'snowflake_currval() is the last');
	@ids = remember(split /\n/, (ask($session, 'SELECT * FROM snowflake_nextvals(2); SELECT snowflake_currval()'))[0]);
	is("@ids", join(' ', $last + 181, $last + 182, $last + 182), '... also after snowflake_nextvals() in FROM');
	stand_at(++$next_tick);
	@ids = remember(split /\n/, (ask($session, 'SELECT * FROM snowflake_nextvals(10)'))[0]);
	is(join(' ', map { tick_of($_) } @ids), join(' ', ($next_tick) x 10), '... which leaves a run behind with its tick, too');
	$session->quit;
};

$server->stop('immediate');
figures('%d ids at a clock that stood', scalar keys %seen);
done_testing();
