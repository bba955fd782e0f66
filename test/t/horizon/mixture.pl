# A reader that reads a table by its key below snowflake_horizon() misses no row and reads no row
# twice, whatever the writers do (G12). Writers get ids and wait, claim ids that others got, roll
# back, use savepoints and parallel workers, commit in procedures, run COPY, prepare transactions,
# and are cancelled, terminated and killed. Meanwhile the clock steps back, and the keeper and the
# server are killed and restarted. In the same run, a reader that uses a time as its limit, or no
# limit, misses rows. The horizon never falls, and is only a little behind while transactions are
# short.
#
# The test compares the rows that each poller got with the table's rows in logical decoding. The
# seed decides the transactions and the faults, their order and their moments, but not what the
# server is doing at those moments. SNOWFLAKE_MIXTURE_SECONDS sets the duration (5 by default, 30
# in test/run --all). HorizonTest.pm has the transactions and the pollers. It needs 8 s of processor
# time for six writers and nine readers, 40 s at length for 16 writers.
use strict;
use warnings;

use lib 'test/perl';
use HorizonTest;
use Mixture qw(@nodes $keeper $backend bring_about faults_happened run_pending signal_one pause_one stop_for kill_for);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = $ENV{SNOWFLAKE_MIXTURE_SECONDS} || at_length(5, 30);
my $writing = at_length(6, 16);
my $seed = seed();

my $server = new_server('node', clock => 1, conf => q{
log_statement = none
wal_level = logical
restart_after_crash = on
max_connections = 60
max_prepared_transactions = 60
max_worker_processes = 24
max_parallel_workers = 16
snowflake.start_timeout = 2s
});
start_server($server);
make_outbox($server);
@nodes = ($server);

sub value { my ($sql) = @_; return $server->safe_psql('postgres', $sql); }

value(q{SELECT pg_create_logical_replication_slot('written', 'test_decoding')});
# The first lease, which a busy keeper may acquire late.
like(value("SET snowflake.start_timeout = '60s'; BEGIN; $in_workers EXPLAIN (ANALYZE, VERBOSE) $taken"), qr/Workers Launched: [12].*snowflake_nextval\(\).*Worker 0:/s, 'parallel workers take ids');

# ---------------------------------------------------------------------------------------------------------------------
# Pollers, and checks of the horizon
# ---------------------------------------------------------------------------------------------------------------------

my $horizon = 'snowflake_horizon()';
sub pause_ms { my ($ms) = @_; return sprintf "SELECT FROM pg_sleep(%.3f);\n", $ms / 1000; }
sub repeatable
{
	return 'BEGIN ISOLATION LEVEL REPEATABLE READ;' . "\nSELECT;\n" . join('', map { pause_ms(rand 150) . poll($horizon, 1 + int rand 200) } 1 .. 4)
	  . pause_ms(rand 150) . poll($horizon) . "COMMIT;\n";
}

my %scripts = (
	'read committed' => poller_script((poll($horizon) . pause_ms(30)) x 40),
	'with a limit' => poller_script(map { poll($horizon, 1 + int rand 60) . pause_ms(30) } 1 .. 40),
	'repeatable read' => poller_script(map { repeatable() } 1 .. 3),
	'in many scans' => poller_script($prepare_many_scans, map { many_scans($_) . pause_ms(30) } 1 .. 40),
	'with a cursor' => poller_script(map { cursor_script(pause_ms(rand 100)) } 1 .. 5));
my %naive = (
	'below now() - 100 ms' => poller_script((poll("snowflake_id_at(now() - interval '100 ms')") . pause_ms(40)) x 40),
	'without a bound' => poller_script((poll() . pause_ms(40)) x 40));
# While the server is down, clients that try to connect all the time would only use up the processor.
my @rest = (rest => 0.1);
my %pollers = map { $_->[0] => start_clients($server, 1, $_->[1], @rest) } map { [ $_, $scripts{$_} // $naive{$_} ] } sort keys %scripts, keys %naive;
my $consumer = start_clients($server, 1, (consumer_script() . pause_ms(40)) x 40, @rest);

# Sessions that call snowflake_horizon() one after the other.
my $asked = start_clients($server, 1, ("SELECT $horizon;\n" x 20 . pause_ms(100)) x 50, @rest);

subtest 'while transactions are short the horizon is not far behind' => sub {
	my $writers = start_clients($server, $writing, ("INSERT INTO outbox (how) VALUES ('short');\n" . pause_ms(5)) x 100);
	# A first call may return 0.
	ok(wait_until('a horizon', sub { value("SELECT $horizon > 0") eq 't' }), 'there is one');
	my $age = "SELECT extract(epoch FROM clock_timestamp() - snowflake_timestamp($horizon));\n" . pause_ms(20);
	my ($rc, $out) = $server->psql('postgres', $age x 50);
	stop_clients($writers);
	my @ages = sort { $a <=> $b } $out =~ /^(-?[\d.]+)$/mg;
	is(scalar @ages, 50, 'ages were read');
	my $median = $ages[ @ages / 2 ];
	figures('age of the horizon under %d writers: median %.0f ms, largest %.0f ms', $writing, 1000 * $median, 1000 * $ages[-1]);
	# Usually some 10 ms, but other load of the machine adds to it.
	cmp_ok($median, '<', 2 * slowness(), 'in the median');
};

# ---------------------------------------------------------------------------------------------------------------------
# The mixture
# ---------------------------------------------------------------------------------------------------------------------

my ($folder, $transactions) = ($server->basedir . '/transactions', 300);
transactions($folder, $transactions);
my $writers = start_clients($server, $writing, one_of($folder, $transactions) x 30, @rest);

my $ending = start_clients($server, 1, ($end_prepared . pause_ms(200)) x 20, @rest);

# By less than max_bridge in total.
my $behind = 0;
sub step_back
{
	my ($by) = @_;
	$behind = 0 if $behind > 30;
	$behind += $by;
	move_clock($server, -$behind);
	return 1;
}
sub catch_up { return 0 if !$behind; $behind = 0; move_clock($server, 0); return 1; }

# By more than the restart takes, and than pollers lag. The keeper has released its lease.
sub restart_behind { return signal_one($server, 0, $keeper) && stop_for($server, 'fast', 0) && step_back(3 + rand 7); }

my $crashes = 0;
sub crash { my ($happened) = @_; $crashes++ if $happened; return $happened; }

# These faults are rare, because each waits until the server is up.
sub once_up
{
	my ($fault) = @_;
	my $end = time() + 3;
	while (time() < $end)
	{
		run_pending();
		return 1 if $fault->();
		sleep(0.05);
	}
	return 0;
}

my %kinds = (
	'session cancelled' => sub { signal_one($server, 'INT', $backend) },
	'session cancelled again' => sub { signal_one($server, 'INT', $backend) },
	'session terminated' => sub { signal_one($server, 'TERM', $backend) },
	'session terminated again' => sub { signal_one($server, 'TERM', $backend) },
	'session killed' => sub { crash(once_up(sub { signal_one($server, 'KILL', $backend) })) },
	'session paused' => sub { pause_one($server, $backend, 1) },
	'keeper terminated' => sub { signal_one($server, 'TERM', $keeper) },
	'keeper killed' => sub { crash(once_up(sub { signal_one($server, 'KILL', $keeper) })) },
	'keeper paused' => sub { pause_one($server, $keeper, 2) },
	'server restarted' => sub { once_up(sub { stop_for($server, 'fast', 0) }) },
	'server restarted as the clock steps back' => sub { once_up(\&restart_behind) },
	'server restarted as the clock steps back again' => sub { once_up(\&restart_behind) },
	'server stopped' => sub { crash(once_up(sub { stop_for($server, 'immediate', 0.5) })) },
	'server killed' => sub { crash(once_up(sub { kill_for($server, 0.5) })) },
	'clock stepped back' => sub { step_back(rand 0.8) },
	'clock caught up' => \&catch_up,
	(map { ("left alone $_" => sub { run_pending(1); sleep(rand(3)); 1 }) } 1 .. 2));
my ($count, %times) = bring_about($seconds, %kinds);
run_pending(1);
stop_clients($writers);
# Rows that pollers got only after the load show nothing.
my %under_way = map { $_ => last_delivered($pollers{$_}) } keys %pollers;

subtest 'faults of all kinds happened' => sub { faults_happened($seconds, \%kinds, $count, \%times) };

my $highest;
subtest 'when all is quiet, every poller comes to the end' => sub {
	ok(wait_until('the last prepared transactions', sub { value('SELECT count(*) FROM pg_prepared_xacts') == 0 }), 'none is prepared');
	stop_clients($ending);
	$highest = value('SELECT max(id) FROM outbox');
	ok(wait_until('the horizon above all ids', sub { value("SELECT $horizon > $highest") eq 't' }), 'the horizon is above all ids');
	for my $name (sort keys %pollers)
	{
		ok(wait_until('the last id', sub { last_delivered($pollers{$name}) == $highest }), $name);
	}
	ok(wait_until('the last id', sub { value('SELECT last FROM position') == $highest }), 'with a cursor in the database');
};
stop_clients($_) for values %pollers, $consumer, $asked;

# ---------------------------------------------------------------------------------------------------------------------
# What the pollers got
# ---------------------------------------------------------------------------------------------------------------------

value('CREATE TABLE delivered (poller text, id bigint)');
load_delivered($server, $_, $pollers{$_}) for sort keys %pollers;
value(q{INSERT INTO delivered SELECT 'in the database', id FROM consumed; ANALYZE delivered});
value(q{CREATE TABLE decoded AS SELECT substring(data FROM 'id\[bigint\]:(\d+)')::bigint AS id
	FROM pg_logical_slot_get_changes('written', NULL, NULL) WHERE data LIKE 'table public.outbox\_%: INSERT:%'});
is(value('SELECT count(*), count(DISTINCT id), count(o.id) FROM decoded d FULL JOIN outbox o USING (id)'), value('SELECT count(*), count(*), count(*) FROM outbox'),
	'logical decoding has the rows of the table');
my ($rows, $distinct_ways) = split /\|/, value('SELECT count(*), count(DISTINCT how) FROM outbox');

# Returns (missed, received again, received but not in the table).
sub faults_of
{
	my ($name) = @_;
	return split /\|/, value(qq{
SELECT count(*) FILTER (WHERE d.id IS NULL), coalesce(sum(d.times - 1), 0), count(*) FILTER (WHERE o.id IS NULL)
FROM decoded o FULL JOIN (SELECT id, count(*) AS times FROM delivered WHERE poller = '$name' GROUP BY id) d USING (id)});
}

my ($wrong, %missed) = (0);
subtest 'no row below the horizon was missed, none was delivered twice (G12)' => sub {
	for my $name ((sort keys %scripts), 'in the database')
	{
		my ($missed, $again, $gone) = faults_of($name);
		is("$missed missed, $again again, $gone of no row", '0 missed, 0 again, 0 of no row', $name)
		  or diag(value(qq{SELECT id, xmin, how, at, snowflake_timestamp(id) FROM outbox o
			WHERE NOT EXISTS (SELECT FROM delivered d WHERE d.id = o.id AND poller = '$name') ORDER BY id LIMIT 20}));
		$wrong += $missed + $again + $gone;
		next unless $under_way{$name};
		my $early = value("SELECT count(*) FROM outbox WHERE id <= $under_way{$name}");
		cmp_ok($early, '>', $rows / 4, "... and it followed: $early of $rows while they were written");
	}
};

subtest 'without it, rows were missed' => sub {
	for my $name (sort keys %naive)
	{
		($missed{$name}) = faults_of($name);
		cmp_ok($missed{$name}, '>', 0, $name);
	}
};

subtest 'the horizon never fell, not over a restart either' => sub {
	my ($answers, $falls, $last) = (0, 0, 0);
	open(my $file, '<', $asked->{files}[0]) or die $!;
	while (my $line = <$file>)
	{
		next unless $line =~ /^(\d+)$/;
		$answers++;
		if ($1 < $last) { diag("$1 after $last") if $falls++ < 5; }
		$last = $1;
	}
	is($falls, 0, "of $answers answers none is below the one before");
	cmp_ok($answers, '>', 10 * $seconds, 'there were many');
};

subtest 'the server noticed no fault of its own' => sub {
	my @wrong = slurp_file($server->logfile) =~ /(PANIC:.*|TRAP:.*|\(PID \d+\) was terminated by signal (?!9\b)\d+.*)/g;
	is(join("\n", @wrong), '', 'in its log');
};

my ($claimed, $refused) = (value(q{SELECT count(*) FROM outbox WHERE how = 'claimed'}), value('SELECT count(*) FROM refused'));
cmp_ok($_, '>', 0, 'ids that others took were claimed, or refused') for $claimed, $refused;
figures('%d rows with claimed ids, %d ids refused', $claimed, $refused);
figures('%d rows written in %d ways, %d crashes; missed: %d below the horizon, %s', $rows, $distinct_ways, $crashes, $wrong,
	join(', ', map { "$missed{$_} $_" } sort keys %missed));
diag("trials $count faults, $rows rows, $wrong missed or twice, seed $seed");
$server->stop;
done_testing();
