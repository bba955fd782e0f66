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
use List::Util qw(max min);
use Mixture;
use PostgreSQL::Test::Utils;
use Schedule;
use SnowflakeTest;
use SoakChecks;
use Test::More;
use Time::HiRes qw(time sleep);

my ($seed, $wanted_ids, $wanted_faults, $wanted_seconds) = @ENV{qw(SOAK_SEED SOAK_IDS SOAK_FAULTS SOAK_SECONDS)};
my ($programs, $stop_file) = @ENV{qw(SOAK_PROGRAMS SOAK_STOP)};

# ---------------------------------------------------------------------------------------------------------------------
# Faults
# ---------------------------------------------------------------------------------------------------------------------

# Ranges of one length: what a registry that lost commits leaves out is then enough, while few are allocated in a second.
my ($highest_number, $step) = (0, 50_000);

# Tells the clients when all ids of a node must rise, whichever worker id they have.
my $to_clients;
sub in_order { my ($node, $is) = @_; printf $to_clients "%s %s\n", $is ? 'ordered' : 'unordered', $node->name; return; }

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
sub started_wrong { my $node = node(); return start_wrong($node, $node == $nodes[0] ? 15 : undef); }
$settles = 40;

# Windows stay as short as the registry's settling allows, and ids as near to the clock as clients check.
my %values = (
	max_lead => [qw(0 1ms 100ms 1s)],
	max_bridge => [qw(0 1s 1min)],
	max_leap => [qw(100ms 1d)],
	on_clock_step_back => [qw(new_worker error)],
	lease_duration => [qw(1s 2s)],
	start_timeout => [qw(1s 3s)]);
my @settings = sort keys %values;
sub settings
{
	my %chosen = map { my $name = $settings[ rand @settings ]; ($name => $values{$name}[ rand @{ $values{$name} } ]) } 1 .. 2;
	return change_settings(node(), %chosen);
}

my %more = (
	'settings changed' => \&settings,
	'registry readdressed' => \&readdress_registry,
	'clock wrong' => \&clock_wrong,
	'clocks leapt together' => \&leap_together,
	'clocks stepped back together' => \&step_back_together,
	'node started with a wrong clock' => \&started_wrong,
	'clock days behind' => sub { clock_in_the_past(node()) },
	'node started in the past' => sub { start_in_the_past(node()) },
	'node restarted while ids are ahead' => sub { restart_ahead(node(), \&in_order) },
	'node upgraded' => sub { my $node = node(); return restart_ahead($node, \&in_order, sub { upgrade($node) }) },
	'registry clock days behind' => \&registry_in_the_past,
	'registry started in the past' => \&start_registry_in_the_past,
	'registry reverted with its memory' => \&revert_registry,
	'registry clock stepped' => \&registry_clock_steps,
	'registry clock wrong' => \&registry_clock_wrong,
	'registry failed over with a wrong clock' => \&fail_over_wrong,
	'registry failed over and crashing' => \&fail_over_crashing,
	# Nodes compare the times of such calls, so the operator makes none while the clock is wrong.
	'registry told to settle' => sub { return registry_is_right() && act(q{SELECT snowflake_settle('mixture')}) },
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

make_world(10, standby => 1, disks => 1, clocks => 1, conf => q{
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
my $clients_pid = open2(my $from_clients, $to_clients, "$programs/clients", $taken, $seed);
$to_clients->autoflush(1);
printf $to_clients "start %s 3 %s\n", $_->name, $_->connstr('postgres') for @nodes;
printf $to_clients "start scratch 1 %s\n", $second->connstr('scratch');

# Rows: those who write them, and readers whose cursor is in a file or in the database.
make_outbox($first);
my ($transactions, $kinds) = ($first->basedir . '/transactions', 300);
transactions($transactions, $kinds);
my $writers = start_clients($first, 4, join '', (one_of($transactions, $kinds) . "SELECT FROM pg_sleep(0.1);\n") x 20);
my $ending = start_clients($first, 1, join '', ($end_prepared . "SELECT FROM pg_sleep(0.3);\n") x 20);
my $pause = "SELECT FROM pg_sleep(0.1);\n";
my %readers = map { $_->[0] => start_clients($first, 1, $_->[1]) } (
	[ 'read committed', poller_script((poll('snowflake_horizon()') . $pause) x 40) ],
	[ 'with a cursor', poller_script((cursor_script($pause)) x 10) ]);
my $consumer = start_clients($first, 1, join '', (consumer_script() . $pause) x 40);
my $checking = start_clients($first, 1, join '', ($check_consumer . "SELECT FROM pg_sleep(3);\n") x 10);

# A serial key that becomes ids while others write, with what refers to it; then the next table. Whoever is interrupted goes on, or goes
# back. Every other table keeps its sequence.
my $tables = q{CREATE TABLE legacy (id serial PRIMARY KEY, token uuid);
		CREATE TABLE child (legacy_id int NOT NULL REFERENCES legacy, parent uuid, token uuid)};
$first->safe_psql('postgres', qq{
	CREATE EXTENSION snowflake_convert;
$tables;
CREATE SEQUENCE legacies;
CREATE FUNCTION next_legacy() RETURNS void LANGUAGE plpgsql AS \$\$
DECLARE
	number bigint;
BEGIN
	IF (SELECT atttypid = 'bigint'::regtype FROM pg_attribute WHERE attrelid = 'legacy'::regclass AND attname = 'id') THEN
		number := nextval('legacies');
		EXECUTE 'ALTER TABLE legacy RENAME TO legacy_' || number;
		EXECUTE 'ALTER TABLE child RENAME TO child_' || number;
		EXECUTE 'ALTER SEQUENCE IF EXISTS legacy_id_seq RENAME TO legacy_id_seq_' || number;
		$tables;
		INSERT INTO legacy (token) SELECT gen_random_uuid() FROM generate_series(1, 3000);
	END IF;
END \$\$});
my $converting = start_clients($first, 1, <<'SQL', rest => 0.5);
\set ON_ERROR_STOP on
SET statement_timeout = '30 s';
SELECT next_legacy();
SELECT snowflake_convert('legacy', 'id', online => true, abandon => random() < 0.2, keep_sequence => last_value % 2 = 0) FROM legacies
\gexec
SELECT FROM pg_sleep(1);
SQL
# A key by default; parent and child in one transaction, which counts when it has committed; a number of the session's own.
my @writing_legacy = map { start_clients($first, 1, "\\set ON_ERROR_STOP on\n" . ("$_\nSELECT FROM pg_sleep(0.1);\n" x 100)) } (
	'INSERT INTO legacy (token) VALUES (gen_random_uuid()) RETURNING token;', <<'SQL',
BEGIN;
INSERT INTO legacy (token) VALUES (gen_random_uuid()) RETURNING id, token AS parent \gset
INSERT INTO child VALUES (:id, :'parent', gen_random_uuid()) RETURNING token AS child \gset
COMMIT;
\echo :parent
\echo :child
SQL
	"SELECT nextval('legacy_id_seq') AS number \\gset\nINSERT INTO legacy VALUES (:number, gen_random_uuid()) RETURNING token;");

# ---------------------------------------------------------------------------------------------------------------------
# The run
# ---------------------------------------------------------------------------------------------------------------------

my %now = (ids => 0, numbers => 0, found => 0, late => 0, connections => 0, errors => 0, highest => 0, ordered => 0, megabytes => 0);
my ($left, $checks, $checked_rows, $wrong_rows, $checked_to) = ('', 0, 0, 0, 0);

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
		my ($passed, $wrong) = consumer_checked($line) or next;
		$checks++;
		$checked_rows += $passed;
		$wrong_rows += $wrong;
		say_line('%s  found: %d rows missed or twice among %d', clock_face(), $wrong, $passed) if $wrong;
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
$times{'registry reverted with its memory'} = $reverts if $reverts;
say_line('%s  all is healed, and checked again', clock_face());

# ---------------------------------------------------------------------------------------------------------------------
# All is well again
# ---------------------------------------------------------------------------------------------------------------------

heal();
# A node that was started with a clock ahead reports no higher horizon until its clock is confirmed.
$_->safe_psql('postgres', 'SELECT snowflake_confirm_clock()') for @nodes;
stop_clients($converting);
# No registry confirms a leap for ten minutes after its own clock stepped, as it does in heal(). A
# restart ends this wait, and its clock is in doubt again.
sub holds_leap
{
	my ($node) = @_;
	my ($rc, $out) = $node->psql('postgres', 'SELECT last_error FROM snowflake_status');
	return $rc == 0 && $out =~ /cannot confirm that the node's clock leapt/;
}
for my $node (@nodes)
{
	my $restarted = 0;
	my $goes_on = sub {
		return 1 if issues($node);
		return 0 if $restarted || !holds_leap($node);
		$restarted = 1;
		$node->stop('fast');
		start_server($node);
		$node->safe_psql('postgres', 'SELECT snowflake_confirm_clock()');
		return 0;
	};
	ok(wait_until('ids again', $goes_on), $node->name . ' issues again (G6)' . ($restarted ? ', after a restart that ended a leap' : ''));
}
print $to_clients "stop\n";
hear(1);
waitpid $clients_pid, 0;
is($?, 0, 'clients ended well');

stop_clients($_) for $writers, @writing_legacy;
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
is($now{late}, 0, '... nor was an id too late to be compared');

# What is in tables may never have reached a client.
for my $table (qw(kept counted))
{
	my @files = map { $_->basedir . "/$table" } @nodes;
	$nodes[$_]->safe_psql('postgres', "COPY $table TO '$files[$_]'") for 0 .. $#nodes;
	my ($count, $again) = compare_ids(@files);
	is($again, 0, "no row of a table $table has the same key as another one, among $count");
}

for my $name (sort keys %readers, 'in the database')
{
	my $differences = reader_differences($first, $readers{$name} && $readers{$name}{files}[0]);
	is($differences, '', "no row was missed, none came twice: $name (G12)");
	$wrong_rows++ if $differences;
}
my $rows = value('SELECT count(*) FROM outbox');

my $tokens = compare_tokens($first, map { @{ $_->{files} } } @writing_legacy);
is($tokens->{lost}, 0, "none of $tokens->{confirmed} rows was lost while $tokens->{converted} tables were converted");
is($tokens->{twice}, 0, '... none came twice');
is($tokens->{strayed}, 0, "... and none of $tokens->{children} children has another parent");

# ---------------------------------------------------------------------------------------------------------------------
# That there was something to check
# ---------------------------------------------------------------------------------------------------------------------

# A run that was stopped must have come to a hundredth of what it aimed at, not counting the first
# half minute: a slow machine does not keep the pace. The other limits are a small part of what a run
# has although servers are down for some of the time.
my $share = -e $stop_file ? min(1, max(0, $seconds - 30) / $wanted_seconds) / 100 : 1;
cmp_ok($ids, '>=', max(1, $share * $wanted_ids), 'ids');
cmp_ok($count, '>=', max(1, $share * $wanted_faults), 'faults');
cmp_ok($numbers, '>=', $ids / 1000, 'numbers');
cmp_ok($rows, '>=', $seconds, 'rows of the outbox');
cmp_ok($checks, '>=', $seconds / 30, 'checks of rows while it ran');
cmp_ok($checked_rows, '>=', $seconds, 'rows in these checks');
cmp_ok($tokens->{confirmed}, '>=', $seconds, 'rows written to the tables that were converted');
cmp_ok($tokens->{converted}, '>=', int($seconds / 120), 'tables converted');
cmp_ok($now{ordered}, '>=', $times{'node restarted while ids are ahead'} // 0, 'ids over restarts while they are ahead');

subtest 'no server noticed a fault of its own' => sub {
	for my $server (@registries, @nodes)
	{
		open(my $log, '<', $server->logfile) or next;
		my @wrong = grep { /TRAP:|\(PID \d+\) was terminated by signal (?!9\b|6\b)\d+/ || (/PANIC:/ && !/No space left on device/) } <$log>;
		is(join('', @wrong), '', $server->name);
	}
};

say_line('seed %d: %d faults of %d kinds in %d s, %d ids, %d numbers, %d rows', $seed, $count, scalar(keys %times), $seconds, $ids, $numbers, $rows);
say_line('while it ran: %d found among ids and numbers (%d too late to be compared), %d rows missed or twice in %d checks; memory %d MB',
	$now{found}, $now{late}, $wrong_rows, $checks, $now{megabytes});
say_line('sorted: %d ids again, %d numbers again', $equal_ids, $equal_numbers);
say_line('%d tables converted, %d rows written to them; %d connections lost, %d statements failed; %d servers were the registry',
	@$tokens{qw(converted confirmed)}, @now{qw(connections errors)}, scalar @registries);
say_line('%d ids were compared over restarts while they were ahead', $now{ordered});
say_line('%s', join(', ', map { "$_ $times{$_}" } sort keys %times));
end_world();
done_testing();
