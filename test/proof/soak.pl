# What test/soak runs: three nodes, a registry with a standby, and faults of every kind, until there are so many ids and so many faults.
# Clients take ids, numbers of a segment and rows all the time, and a table is converted while it is written. Nothing may come twice,
# and no reader of the horizon may miss a row.
#
# The seed decides the schedule: which faults, in which order, how far apart, and every choice that a fault makes. What the servers are
# doing at that moment it does not decide. The file `stop` in the work folder ends the schedule early; all is checked even so.
use strict;
use warnings;

use lib 'test/perl';
use HorizonTest;
use IO::Handle;
use IPC::Open2;
use List::Util qw(max);
use Mixture;
use PostgreSQL::Test::Utils;
use Schedule;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my ($seed, $wanted_ids, $wanted_faults, $wanted_seconds) = @ENV{qw(SOAK_SEED SOAK_IDS SOAK_FAULTS SOAK_SECONDS)};
my ($programs, $stop_file) = @ENV{qw(SOAK_PROGRAMS SOAK_STOP)};

# ---------------------------------------------------------------------------------------------------------------------
# Faults
# ---------------------------------------------------------------------------------------------------------------------

# Ranges of one length: what a registry that lost commits leaves out is then enough, while few are allocated in a second.
my ($highest_number, $step) = (0, 50_000);

# What a registry's operator does before nodes reach a registry that was restored. Nodes still hold numbers above those in use.
sub raise_segment
{
	my ($restored) = @_;
	return $restored->safe_psql('postgres', sprintf q{SELECT snowflake_raise_segment('ticket', %d)}, $highest_number + 100 * $step);
}

sub database { return act("DROP DATABASE IF EXISTS scratch WITH (FORCE);\nCREATE DATABASE scratch TEMPLATE base;\n", on => $nodes[1]); }
sub copied { return copy_node(sub { $_[0]->safe_psql('postgres', 'TRUNCATE kept, counted') }); }

# A horizon that is an hour ahead refuses rows for an hour. One that a step back bridges does not, but then windows are longer, and the
# registry settles for longer.
sub clock_wrong { my $node = node(); return wrong_clock($node, $node == $nodes[0] ? 15 : undef); }
$settles = 40;

my %more = (
	'clock wrong' => \&clock_wrong,
	'session cancelled' => sub { signal_one(node(), 'INT', $backend) },
	'node evicted' => sub { evict(node()) },
	'node copied' => \&copied,
	'disk of a node full' => sub { fill_disk(node(), 2) },
	'disk of the registry full' => sub { fill_disk($registry, 2) },
	'database created again' => \&database,
	'registry switched over' => \&switch_over,
	'registry backed up' => \&back_up,
	'registry restored' => sub { restore(\&raise_segment) });
$briefly = 5;

# ---------------------------------------------------------------------------------------------------------------------
# The world
# ---------------------------------------------------------------------------------------------------------------------

my $began = time();
sub say_line { my ($format, @values) = @_; print { Test::More->builder->failure_output } sprintf("$format\n", @values); return; }
sub clock_face { my $s = int(time() - $began); return sprintf '%d:%02d:%02d', $s / 3600, $s / 60 % 60, $s % 60; }

make_world(10, standby => 1, disks => 1, conf => q{
max_wal_size = 256MB
max_connections = 80
max_prepared_transactions = 30
max_worker_processes = 16
max_parallel_workers = 4
synchronous_commit = on
log_min_messages = error
log_min_error_statement = panic
log_checkpoints = off
}, base => q{CREATE TABLE counted (number bigint DEFAULT snowflake_segment_nextval('ticket'))});
$registry->safe_psql('postgres', "SELECT snowflake_create_segment('ticket', step => $step, max_step => $step)");
for my $node (@nodes) { ok(wait_until('a first id', sub { issues($node) }), $node->name . ' issues'); }
my ($first, $second) = @nodes;

$second->safe_psql('postgres', 'CREATE DATABASE base TEMPLATE template0');
$second->safe_psql('base', q{CREATE EXTENSION snowflake; CREATE TABLE kept (id bigint DEFAULT snowflake_nextval());
	CREATE TABLE counted (number bigint DEFAULT snowflake_segment_nextval('ticket'))});
$second->safe_psql('postgres', 'CREATE DATABASE scratch TEMPLATE base');

# Ids and numbers.
my $taken = "$programs/taken";
mkdir $taken or die "$taken: $!";
my $clients_pid = open2(my $from_clients, my $to_clients, "$programs/clients", $taken, $seed);
$to_clients->autoflush(1);
printf $to_clients "start %s 3 %s\n", $_->name, $_->connstr('postgres') for @nodes;
printf $to_clients "start scratch 1 %s\n", $second->connstr('scratch');

# Rows: those who write them, and readers whose cursor is in a file or in the database.
make_outbox($first);
transactions($first->basedir . '/transactions', 300);
my $writers = start_clients($first, 4, (one_of($first->basedir . '/transactions') . "SELECT FROM pg_sleep(0.1);\n") x 20);
my $ending = start_clients($first, 1, ($end_prepared . "SELECT FROM pg_sleep(0.3);\n") x 20);
my $pause = "SELECT FROM pg_sleep(0.1);\n";
my %readers = map { $_->[0] => start_clients($first, 1, $_->[1]) } (
	[ 'read committed', poller_script((poll('snowflake_horizon()') . $pause) x 40) ],
	[ 'with a cursor', poller_script((cursor_script($pause)) x 10) ]);
my $consumer = start_clients($first, 1, (consumer_script() . $pause) x 40);
# Rows of the last minutes that a reader has passed, against those that it has: those that it missed, and those that it has twice.
my $checking = start_clients($first, 1, <<'SQL' x 10);
SELECT 'passed ' || count(*) || ' wrong ' || count(*) FILTER (WHERE o.id IS NULL OR c.times IS DISTINCT FROM 1)
FROM (SELECT id FROM outbox WHERE id > snowflake_id_at(now() - interval '3 min') AND id <= (SELECT last FROM position)) o
	FULL JOIN (SELECT id, count(*) AS times FROM consumed WHERE id > snowflake_id_at(now() - interval '3 min') GROUP BY id) c USING (id);
SELECT FROM pg_sleep(3);
SQL

# A serial key that becomes ids while others write; then the next table. Whoever is interrupted goes on, or goes back.
$first->safe_psql('postgres', q{
CREATE TABLE legacy (id serial PRIMARY KEY, token uuid);
CREATE SEQUENCE legacies;
CREATE FUNCTION next_legacy() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF (SELECT atttypid = 'bigint'::regtype FROM pg_attribute WHERE attrelid = 'legacy'::regclass AND attname = 'id') THEN
		EXECUTE 'ALTER TABLE legacy RENAME TO legacy_' || nextval('legacies');
		CREATE TABLE legacy (id serial PRIMARY KEY, token uuid);
		INSERT INTO legacy (token) SELECT gen_random_uuid() FROM generate_series(1, 3000);
	END IF;
END $$});
my $converting = start_clients($first, 1, <<'SQL', rest => 0.5);
\set ON_ERROR_STOP on
SET statement_timeout = '30 s';
SELECT next_legacy();
SELECT snowflake_convert('legacy', 'id', online => true, abandon => random() < 0.2)
\gexec
SELECT FROM pg_sleep(1);
SQL
my $writing_legacy = start_clients($first, 2, "INSERT INTO legacy (token) VALUES (gen_random_uuid()) RETURNING token;\nSELECT FROM pg_sleep(0.1);\n" x 100);

# ---------------------------------------------------------------------------------------------------------------------
# The run
# ---------------------------------------------------------------------------------------------------------------------

my %now = (ids => 0, numbers => 0, found => 0, late => 0, connections => 0, errors => 0, highest => 0, megabytes => 0);
my ($left, $wrong_rows, $passed_rows, $checked_to) = ('', 0, 0, 0);

# What the clients have said meanwhile.
sub hear
{
	my ($end) = @_;
	for (;;)
	{
		my $ready = '';
		vec($ready, fileno $from_clients, 1) = 1;
		last unless select($ready, undef, undef, $end ? undef : 0);
		last unless sysread $from_clients, $left, 65536, length $left;
		while ($left =~ s/^(.*)\n//)
		{
			my $line = $1;
			if ($line =~ /^(?:taken|ended) (.*)/) { %now = split / /, $1; }
			else { say_line('%s  %s', clock_face(), $line); }
		}
	}
	$highest_number = $now{highest};
	return;
}

# What the check of rows has said.
sub hear_of_rows
{
	open(my $file, '<', $checking->{files}[0]) or return;
	seek $file, $checked_to, 0;
	while (my $line = <$file>)
	{
		last unless $line =~ /\n\z/;
		$checked_to += length $line;
		next unless $line =~ /^passed (\d+) wrong (\d+)/;
		$passed_rows++;
		$wrong_rows += $2;
		say_line('%s  found: %d rows missed or twice among %d', clock_face(), $2, $1) if $2;
	}
	return;
}

my %faults = (faults(), %more);
my @unknown = grep { !$faults{$_} } Schedule::kinds();
die "no such faults: @unknown\n" if @unknown;
# Twice as many as are wanted, because some find their server down.
my $schedule = Schedule->new($seed, $wanted_seconds / $wanted_faults / 2);
my ($count, %times) = (0);
my ($next, $progress, $paced) = (time(), time(), time());
my ($pause_before, $kind, $choices) = $schedule->next;
my $started = time();
while (($now{ids} < $wanted_ids || $count < $wanted_faults) && !-e $stop_file)
{
	run_pending();
	if (time() >= $next && $count < $wanted_faults)
	{
		srand($choices);
		if ($faults{$kind}->()) { $count++; $times{$kind}++; }
		($pause_before, $kind, $choices) = $schedule->next;
		$next = max($next + $pause_before, time() - 1);
	}
	else { sleep(0.002); }
	next if time() < $paced + 1;
	$paced = time();
	hear();
	# The share of ids that belongs to this share of the time, or of the faults.
	my $share = max((time() - $started + 5) / $wanted_seconds, $count / $wanted_faults);
	printf $to_clients "pace %d\n", $wanted_ids * $share / (time() - $started);
	next if time() < $progress + 10;
	$progress = time();
	act($guard);
	hear_of_rows();
	say_line('%s  %d faults, %d ids, %d numbers; found: %d, rows: %d; %d late, %d MB', clock_face(), $count, @now{qw(ids numbers found)}, $wrong_rows,
		@now{qw(late megabytes)});
}
my $seconds = time() - $started;
say_line('%s  all is healed, and checked again', clock_face());

# ---------------------------------------------------------------------------------------------------------------------
# All is well again
# ---------------------------------------------------------------------------------------------------------------------

heal();
stop_clients($converting);
for my $node (@nodes) { ok(wait_until('ids again', sub { issues($node) }), $node->name . ' issues again (G6)'); }
print $to_clients "stop\n";
hear(1);
waitpid $clients_pid, 0;
is($?, 0, 'clients ended well');

stop_clients($_) for $writers, $writing_legacy;
sub value { my ($sql) = @_; return $first->safe_psql('postgres', $sql); }
ok(wait_until('the last prepared transactions', sub { value('SELECT count(*) FROM pg_prepared_xacts') == 0 }), 'none is prepared');
stop_clients($ending);
my $last_row = value('SELECT max(id) FROM outbox');
for my $name (sort keys %readers)
{
	ok(wait_until('the last row', sub { last_delivered($readers{$name}) == $last_row }), "$name: came to the end");
}
ok(wait_until('the last row', sub { value('SELECT last FROM position') == $last_row }), 'in the database: came to the end');
stop_clients($_) for values %readers, $consumer, $checking;
hear_of_rows();

# ---------------------------------------------------------------------------------------------------------------------
# By sorting what was written
# ---------------------------------------------------------------------------------------------------------------------

sub sorted
{
	my (@files) = @_;
	my @lines = split /\n/, `$programs/sorted $programs @files`;
	die "sorted failed\n" if $? || !@lines;
	say_line('%s', $_) for @lines[ 0 .. $#lines - 1 ];
	return split / /, $lines[-1];
}
my ($ids, $equal_ids) = sorted(glob "$taken/*.ids");
my ($numbers, $equal_numbers) = sorted(glob "$taken/*.numbers");
is("$ids ids, $equal_ids again", "$now{ids} ids, 0 again", 'no id was issued twice (G1)');
is("$numbers numbers, $equal_numbers again", "$now{numbers} numbers, 0 again", 'no number was issued twice (G11)');
is("$now{found} found, $wrong_rows rows", '0 found, 0 rows', 'and none was found while it ran');

# What is in tables may never have reached a client.
for my $table (qw(kept counted))
{
	my @files = map { $_->basedir . "/$table" } @nodes;
	$nodes[$_]->safe_psql('postgres', "COPY $table TO '$files[$_]'") for 0 .. $#nodes;
	my ($count, $again) = compare_ids(@files);
	is($again, 0, "no row of a table $table has the same key as another one, among $count");
}

# Lines of a file that are ids, sorted as text of one width.
sub lines_of
{
	my ($name, $command) = @_;
	my $file = "$programs/$name.sorted";
	system('bash', '-c', "set -o pipefail; $command | { grep -E '^[0-9]+\$' || true; } | LC_ALL=C sort >$file") == 0 or die "$name: $command\n";
	return $file;
}
sub table { my ($name, $sql) = @_; return lines_of($name, sprintf q{psql -XAtq -d '%s' -c "%s"}, $first->connstr('postgres'), $sql); }
my $outbox = table('outbox', 'COPY (SELECT id FROM outbox) TO STDOUT');
my ($rows) = `wc -l <$outbox` =~ /(\d+)/;
for my $name (sort keys %readers, 'in the database')
{
	my $read = $readers{$name} ? lines_of('read', "cat $readers{$name}{files}[0]") : table('read', 'COPY (SELECT id FROM consumed) TO STDOUT');
	my $differences = `LC_ALL=C comm -3 $outbox $read | head -n 20`;
	is($differences, '', "no row was missed, none came twice: $name (G12)");
	$wrong_rows++ if $differences;
}

my @legacy = split /\n/, value(q{SELECT oid::regclass FROM pg_class WHERE relname ~ '^legacy(_[0-9]+)?$' AND relkind = 'r'});
my $all_legacy = join ' UNION ALL ', map { "SELECT id, token FROM $_" } @legacy;
my $tokens = "$programs/tokens";
$first->safe_psql('postgres', "CREATE TABLE all_legacy AS $all_legacy");
system('bash', '-c', sprintf q{psql -XAtq -d '%s' -c 'SELECT token FROM all_legacy' | LC_ALL=C sort >%s}, $first->connstr('postgres'), $tokens) == 0 or die 'tokens';
my $lost_rows = `cat @{ $writing_legacy->{files} } | grep -E '^[0-9a-f]{8}-' | LC_ALL=C sort | LC_ALL=C comm -23 - $tokens | wc -l`;
is($lost_rows + 0, 0, 'no row was lost of ' . @legacy . ' tables that were converted');
is(value('SELECT count(*) - count(DISTINCT token) FROM all_legacy'), '0', '... and none came twice');

subtest 'no server noticed a fault of its own' => sub {
	for my $server (@registries, @nodes)
	{
		open(my $log, '<', $server->logfile) or next;
		my @wrong = grep { /TRAP:|was terminated by signal (?!9\b|6\b)\d+/ || (/PANIC:/ && !/No space left on device/) } <$log>;
		is(join('', @wrong), '', $server->name);
	}
};

say_line('seed %d: %d faults of %d kinds in %d s, %d ids, %d numbers, %d rows', $seed, $count, scalar(keys %times), $seconds, $ids, $numbers, $rows);
say_line('while it ran: %d found among ids and numbers (%d too late to be compared), %d rows missed or twice in %d checks; memory %d MB',
	$now{found}, $now{late}, $wrong_rows, $passed_rows, $now{megabytes});
say_line('sorted: %d ids again, %d numbers again', $equal_ids, $equal_numbers);
say_line('%d tables converted; %d connections lost, %d statements failed; %d servers were the registry', $#legacy, @now{qw(connections errors)}, scalar @registries);
say_line('%s', join(', ', map { "$_ $times{$_}" } sort keys %times));
end_world();
done_testing();
