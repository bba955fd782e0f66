# A process that issues from a run without the lock may be stopped between any two instructions of
# its call, for as long as it takes: it returns an id as if it had called before whatever happened
# meanwhile, or after (G1, G2, G12). So no run needs to wait for its processes to end it.
#
# Backends are stopped before each instruction of snowflake_nextval(), several at once before
# different ones. Meanwhile the clock stands still, so no tick ends by itself, and one thing
# happens: others issue ids, use up the run, report a horizon, raise, renew, release or lose the
# lease, step the clock back, or create the extension again with another layout. Then the backends
# continue one after the other, and others issue ids in between. Which instruction takes the number,
# calls show during which nothing else happens. A call that stopped before this instruction has to
# return an id above all that were returned before it continued. A call that stopped behind it has to
# return an id below all that were requested since it stopped.
#
# The same is tried with calls that take the lock, stopped where they do not hold it. At length, each
# instruction without the lock is also tried alone.
#
# Not in the default run: it stops thousands of calls.
# Takes long: 110 s of processor time at length, for hundreds of changes of the lease, and for a million
# ids that use up runs.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(forget_ids remember repeated remembered session tick_of worker_of watermarks);
use List::Util qw(shuffle);
use RunsTest qw($server $next_tick columns stand_at step_to);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

# How many backends are stopped at once at most.
my $at_once = 24;

seed();
RunsTest::start('stopped');
# Short windows, so that the keeper soon hears of a lost lease.
$server->safe_psql('postgres', <<"SQL");
ALTER SYSTEM SET snowflake.lease_duration = '20s';
SELECT pg_reload_conf();
CREATE FUNCTION stop_in(regprocedure, int) RETURNS bigint LANGUAGE c AS '$ENV{SNOWFLAKE_TEST_C}/stop';
CREATE FUNCTION stopped_at() RETURNS text LANGUAGE c AS '$ENV{SNOWFLAKE_TEST_C}/stop';
CREATE FUNCTION instructions() RETURNS int LANGUAGE c AS '$ENV{SNOWFLAKE_TEST_C}/stop';
SQL

sub connected
{
	my ($session) = session($server);
	my ($pid) = ask($session, 'SELECT pg_backend_pid()');
	return { session => $session, pid => $pid };
}

my $other = session($server);
my @backends = map { connected() } 1 .. $at_once;
# A server whose processes are stopped does not end.
END { kill 'CONT', map { $_->{pid} } @backends; }
# address => whether the number is taken when a call stops there
my %taken_at;
# Of the present event; and of all.
my (%faults, $all_faults);
# All ids that are requested from now on are above. 0 after a change of the worker id (G5).
my $floor = 0;
# The first id that was requested when all had stopped.
my $first_after;
# Whether the stopped calls take the lock.
my $by_lock = 0;
# Instructions before which no call stopped without the lock, because the keeper had ended the run.
my @again;
my ($trials, $of_before) = (0, 0);
my $is_dropped = qr/does not exist|was dropped during the call/;

sub fault { my ($kind, $text) = @_; $all_faults++; diag("$kind: $text") if $faults{$kind}++ < 5; return; }
sub faults { return join ', ', map { "$_: $faults{$_}" } sort keys %faults; }

# Ids that were returned one after the other, to calls after all others had returned.
sub in_order
{
	for my $id (remember(@_))
	{
		fault('fell', "$id after $floor") if $id <= $floor;
		$floor = $id;
	}
	return @_;
}

# Ids for another session.
sub others
{
	my @ids = in_order(split /\n/, (ask($other, "SELECT snowflake_nextval() FROM generate_series(1, $_[0])"))[0]);
	$first_after //= $ids[0];
	return @ids;
}

# --------------------------------------------------------------------------------------------------
# A stopped call
# --------------------------------------------------------------------------------------------------

sub state_of
{
	my ($pid) = @_;
	open(my $stat, '<', "/proc/$pid/stat") or return '';
	return (<$stat> // '') =~ /^\d+ \(.*\) (\S)/ ? $1 : '';
}

# Lets a backend call, and stop before that instruction. False if it returns an id instead.
sub stop_at
{
	my ($backend, $instruction) = @_;
	@$backend{qw(instruction above)} = ($instruction, $floor);
	my $output = $backend->{session}->query_until(qr/calls\n/, "\\echo calls\nSELECT 'id', stop_in('snowflake_nextval()', $instruction);\n");
	# The id may be there already.
	$backend->{session}{stdout} = $output =~ s/^.*calls\n//sr;
	my $returned = sub {
		$backend->{session}{run}->pump_nb;
		return $backend->{session}{stdout} =~ /^id\|/m || $backend->{session}{stderr} =~ /ERROR/;
	};
	for (my $pause = 0.0002;; $pause *= 1.2)
	{
		return 1 if state_of($backend->{pid}) eq 'T';
		return 0 if $returned->();
		die "backend $backend->{pid} does not stop" if $pause > 20;
		sleep $pause;
	}
}

# Its call returns: (id, error, where it had stopped).
sub go_on
{
	my ($backend) = @_;
	kill 'CONT', $backend->{pid};
	my ($out, $error) = ask($backend->{session}, '');
	my ($id) = $out =~ /^id\|(\d+)$/m;
	ask($backend->{session}, 'ROLLBACK; BEGIN') unless defined $id;
	my ($address) = ask($backend->{session}, 'SELECT stopped_at()');
	return ($id, $error, $address);
}

# Begins a transaction that issues from a run without the lock. Returns its first id.
sub begin { return (in_order((ask($_[0]{session}, 'BEGIN; SELECT snowflake_nextval()'))[0]))[0]; }

# Judges what a stopped call returned when it went on, by what happened meanwhile (see below), and
# lets others issue ids.
sub judge
{
	my ($backend, $event, %seen) = @_;
	my ($id, $error, $address) = go_on($backend);
	my $where = "$event, instruction $backend->{instruction} at $address";
	my $taken = $by_lock ? undef : $taken_at{$address};
	$trials++;
	push @again, $backend->{instruction} unless $by_lock || defined $taken;
	if (!defined $id)
	{
		fault('an error', "$where: $error") unless $seen{dropped} && $error =~ $is_dropped;
		fault('no id, although its number was taken', $where) if $taken;
		others(1);
		return;
	}
	# If it stopped elsewhere than the first calls, its id says which.
	$taken //= $seen{changed} ? $id > $backend->{above} && $id < $first_after : $id < $floor;
	if ($taken)
	{
		$of_before++;
		fault('below ids that were returned before', "$id, after $backend->{above}, $where") if $id <= $backend->{above};
		fault('above ids that were requested later', "$id, before $first_after, $where") if $id >= $first_after;
		fault('above the watermark', "$id, $seen{watermark}, $where") if defined $seen{watermark} && tick_of($id) > $seen{watermark};
	}
	else
	{
		fault('taken from a run that had ended', "$id after $floor, $where") if $id <= $floor;
		fault('of what is gone', "$id, $where") if $seen{is_new} && !$seen{is_new}->($id);
	}
	fault('below the horizon', "$id, $seen{horizon}, $where") if defined $seen{horizon} && $id < $seen{horizon};
	if ($taken && $seen{dropped}) { fault('twice', "$id, $where") if $seen{dropped}{$id}++; }
	else { remember($id); }
	$floor = $id if $id > $floor && !($taken && $seen{changed});
	others(1);
	(my $next, $error) = ask($backend->{session}, 'SELECT snowflake_nextval()');
	# Its statement may still find the function that is gone.
	if ($next eq '' && $seen{dropped} && $error =~ $is_dropped) { ask($backend->{session}, 'ROLLBACK; BEGIN'); }
	else { in_order($next); }
	return;
}

# --------------------------------------------------------------------------------------------------
# What happens meanwhile. Each begins with ids of others. They return what judge() has to know:
#
#     horizon      which was reported
#     watermark    of the worker id that was released
#     is_new       whether an id can be of a call that is made now
#     changed      true if ids before and after it have no order: another worker id, another registry
#     dropped      the ids that were returned under the registry that is gone
# --------------------------------------------------------------------------------------------------

# Whether an id is of another worker id than that.
sub is_not_of { my ($worker) = @_; return sub { worker_of($_[0]) != $worker }; }

my $created = 0;
# Under registries that are gone.
my ($twice, $ids) = (0, 0);

sub create_again
{
	my ($other_layout) = @_;
	my $rows = $other_layout ? q{INSERT INTO snowflake_layout (definition)
		VALUES ('epoch=1735689600000 tick=1ms time=41 seq=16 worker=6');} : '';
	my $between = rand() < 0.5 ? '' : 'COMMIT; BEGIN;';
	my (undef, $error) = ask($other, "SET client_min_messages = warning; BEGIN; DROP EXTENSION snowflake CASCADE; $between CREATE EXTENSION snowflake; $rows COMMIT");
	die $error if $error;
	# Ids are unique and in order within a registry.
	$twice += repeated();
	$ids += remembered();
	forget_ids();
	$floor = 0;
	return;
}

# The latest tick before the clock stepped back.
my $latest_tick = 0;
# Each: its name, what happens, and what has to be done afterwards.
my @events = (
	[ 'the run goes on', sub { others(20); return; } ],
	[ 'time passes', sub {
		others(3);
		stand_at($next_tick += 1 + int(rand(3)));
		others(20);
		return;
	} ],
	[ 'the status is read', sub {
		others(3) if rand() < 0.5;
		ask($other, 'TABLE snowflake_status');
		others(20);
		return;
	} ],
	[ 'the run is used up', sub {
		my ($first) = others(1);
		others(5000);
		fault('vacuous', 'the run was not used up') if tick_of($floor) == tick_of($first);
		return;
	} ],
	[ 'a horizon is reported', sub {
		others(3);
		ask($other, 'SELECT snowflake_horizon()');
		my ($horizon) = columns('horizon');
		others(20);
		return (horizon => $horizon);
	} ],
	[ 'ids are raised', sub {
		others(3);
		# What they are raised to has to be of the past, and the run's tick must not be over.
		my $raised = ($next_tick + 3 << 22) - 1;
		step_to($next_tick += 4);
		my (undef, $error) = ask($other, "SELECT snowflake_raise($raised)");
		fault('not raised', $error) if $error;
		$floor = $raised;
		others(20);
		return;
	} ],
	[ 'the lease is renewed', sub {
		my ($worker) = columns('worker');
		others(3);
		ask($other, 'SELECT snowflake_renew()');
		others(20);
		return (is_new => is_not_of($worker));
	} ],
	[ 'the lease is released', sub {
		my ($worker, $lease, $pid) = columns('worker, lease_id, keeper_pid');
		others(3);
		$server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
		wait_until('its release', sub { !(ask($other, "SELECT count(*) FROM snowflake_registry WHERE worker_id = $worker"))[0] }) or die;
		my $watermark = watermarks($server)->{$worker};
		others(20);
		fault('vacuous', "lease $lease goes on") if (columns('lease_id'))[0] == $lease;
		# The next lease may have the same worker id, above its watermark.
		my $is_new = sub { my ($id) = @_; return worker_of($id) != $worker || tick_of($id) > $watermark };
		return (is_new => $is_new, watermark => $watermark);
	} ],
	[ 'the lease is lost', sub {
		my ($worker, $lease) = columns('worker, lease_id');
		others(3);
		$server->safe_psql('postgres', "DELETE FROM snowflake_registry WHERE worker_id = $worker");
		# The keeper hears of it when it extends the lease. By the steady clock no time passes.
		wait_until('another lease', sub {
			step_to($next_tick += 2000);
			others(20);
			return (columns('lease_id'))[0] != $lease;
		}) or die;
		others(20);
		return (is_new => is_not_of($worker));
	} ],
	[ 'the clock steps back', sub {
		others(3);
		stand_at($next_tick - 4);
		others(20);
		# The node's clock continues at half speed.
		stand_at($next_tick - 2) if rand() < 0.5;
		others(20);
		return;
	} ],
	[ 'the extension is created again', sub {
		others(3);
		my $other_layout = $created++ % 2 == 0;
		create_again($other_layout);
		others(20);
		my ($worker) = columns('worker');
		return (changed => 1, dropped => {}, is_new => sub { ($other_layout ? $_[0] & 63 : worker_of($_[0])) == $worker });
	}, sub {
		# The others have the layout of IdsTest.
		create_again(0);
	} ],
	[ 'the clock steps back by more than may be bridged', sub {
		my ($worker) = columns('worker');
		others(3);
		# The next trial goes on from there: a leap that is taken back would be no step.
		stand_at($next_tick -= 90_000);
		# The keeper may have another worker id already, if it was the first to see the step.
		my $before = $floor;
		$floor = 0;
		my ($id) = others(20);
		fault('fell', "$id after $before") if worker_of($id) == $worker && $id <= $before;
		# By now the run is over, and the node needs another worker id.
		stand_at($next_tick += 2);
		$floor = 0;
		others(20);
		fault('vacuous', "no other worker id than $worker") if worker_of($floor) == $worker;
		return (changed => 1, is_new => is_not_of($worker));
	}, sub { $next_tick = $latest_tick; } ]);

# Lets backends call and stop before these instructions, lets it happen, and lets them go on.
sub trial
{
	my ($event, $happen, @instructions) = @_;
	# Soon after the last one, so that the keeper rarely extends the lease, which ends a run.
	stand_at($next_tick += 10);
	my @used = @backends[0 .. $#instructions];
	my $first;
	if ($by_lock)
	{
		# None of them waits for the lease: a process that waits takes a spinlock.
		others(1);
		# The first of them opens a run, or joins that of others.
		ask($other, 'TABLE snowflake_status') if rand() < 0.5;
		ask($_->{session}, 'BEGIN') for @used;
	}
	else { $first = (map { begin($_) } @used)[0]; }
	my @stopped;
	for my $backend (@used)
	{
		my $instruction = shift @instructions;
		if (stop_at($backend, $instruction)) { push @stopped, $backend; }
		else
		{
			push @again, $instruction unless $by_lock;
			in_order((go_on($backend))[0]);
		}
	}
	@stopped = shuffle(@stopped);
	undef $first_after;
	my %seen = $happen->();
	fault('vacuous', "horizon $seen{horizon}, first id $first") if defined $first && defined $seen{horizon} && $seen{horizon} != $first;
	judge($_, $event, %seen) for @stopped;
	ask($_->{session}, 'COMMIT') for @used;
	return;
}

# --------------------------------------------------------------------------------------------------

# How many instructions a call has, when nobody stops it.
sub instructions
{
	my ($backend) = @_;
	in_order((ask($backend->{session}, q{SELECT stop_in('snowflake_nextval()', 1000000000)}))[0]);
	my ($instructions) = ask($backend->{session}, 'SELECT instructions()');
	ask($backend->{session}, 'COMMIT');
	return $instructions;
}

# While a call is stopped before that instruction, others take one number.
sub calibrate
{
	my ($backend, $instruction) = @_;
	stand_at($next_tick += 10);
	my $before = begin($backend);
	my $stopped = stop_at($backend, $instruction);
	my ($theirs) = others(1);
	my ($id, undef, $address) = go_on($backend);
	ask($backend->{session}, 'COMMIT');
	remember($id);
	$floor = $id if $id > $floor;
	return 0 unless $stopped;
	my $taken = $id < $theirs ? 1 : 0;
	fault('not the next two numbers', "$before, $theirs, $id") if $id + $theirs != 2 * $before + 3;
	fault('before and behind', "instruction $instruction at $address") if $taken != ($taken_at{$address} //= $taken);
	return 1;
}

# So much later that leases of earlier trials are over, and a step back does not take back a leap.
# The keeper extends the lease and reports, which ends runs, and then not for a while.
sub let_keeper_extend
{
	$latest_tick = $next_tick += 700_000;
	stand_at($next_tick);
	others(1);
	sleep 0.5;
	return;
}

# The shortest of several, because the first one binds symbols, and reading the clock may take more.
my $length;
for (1 .. 5)
{
	stand_at($next_tick += 1000);
	begin($backends[0]);
	my $instructions = instructions($backends[0]);
	$length = $instructions unless defined $length && $length < $instructions;
}
if (!$length)
{
	print { Test::More->builder->failure_output } "# skipped: the instructions of a call cannot be counted on this processor\n";
	$server->stop('immediate');
	plan skip_all => 'the instructions of a call cannot be counted';
}
stand_at($next_tick += 1000);
ask($backends[0]{session}, 'BEGIN');
my $length_by_lock = instructions($backends[0]);

subtest 'the instruction that takes the number' => sub {
	my $stops = 0;
	let_keeper_extend();
	for my $instruction (0 .. $length - 1)
	{
		# If the clock is read again, because it changed meanwhile, earlier instructions come again.
		my ($known, $stopped) = (scalar keys %taken_at, 0);
		for (1 .. 5) { $stopped = 1 if calibrate($backends[0], $instruction); last if keys %taken_at > $known; }
		$stops += $stopped;
	}
	is($stops, $length, 'a call stops before each of its instructions');
	for my $side (0, 1)
	{
		cmp_ok(scalar(grep { /^snowflake/ && $taken_at{$_} == $side } keys %taken_at), '>', 2, ($side ? 'behind' : 'before') . ' it are some');
	}
	is(faults(), '', 'each is before or behind it');
};

# So many of them at once.
sub stop_before_each
{
	my ($at_once, @instructions) = @_;
	for (@events)
	{
		my ($event, $happen, $afterwards) = @$_;
		let_keeper_extend();
		my $before = $trials;
		($of_before, %faults) = (0);
		my @left = shuffle(@instructions);
		for (my $rounds = 0; @left && $rounds < 3 * @instructions; $rounds++)
		{
			@again = ();
			trial($event, $happen, splice(@left, 0, $at_once));
			push @left, @again;
		}
		is(scalar @left, 0, "$event: calls stop before each instruction");
		$afterwards->() if $afterwards;
		is(faults(), '', sprintf('... %d calls are before or after it', $trials - $before));
		next if $by_lock;
		cmp_ok($of_before, '>', 2, '... some before');
		cmp_ok($of_before, '<', ($trials - $before) / 2, '... more after');
	}
	return;
}

subtest 'several calls stop, without the lock' => sub { stop_before_each($at_once, 0 .. $length - 1) };
subtest 'one call stops, without the lock' => sub { stop_before_each(1, 0 .. $length - 1) } if at_length(0, 1);
$by_lock = 1;
subtest 'several calls stop, with the lock' => sub { stop_before_each($at_once, (shuffle(0 .. $length_by_lock - 1))[0 .. at_length(23, 399)]) };
is($twice + repeated(), 0, 'no duplicate');
figures('%d instructions without the lock, %d with it: %d ids in %d trials, twice %d, other faults %d',
	$length, $length_by_lock, $ids + remembered(), $trials, $twice + repeated(), $all_faults // 0);
$_->quit for $other, map { $_->{session} } @backends;
$server->stop('immediate');
done_testing();
