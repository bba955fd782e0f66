# What the tests of many sessions share: a server for them, scripts that start at the same time, and
# sessions whose calls are recorded, to compare the order of calls with the order of ids.
package SessionsTest;

use strict;
use warnings;

use Exporter 'import';
use List::Util qw(sum0);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($each $max_lead_ms sessions_server run_together prepare_recording start_recording stop_recording recorded
  compare_calls calls_in_order);

our $max_lead_ms = 5;

# How many ids each of many sessions issues: 250,000 in the long form, and fewer if the server is
# slow. Other counts depend on it.
our $each = 5000 * (int(at_length(20, 50) / slowness()) || 1);

# With a table at which sessions wait, and a layout unless it is the default one. Options: as for
# new_server().
sub sessions_server
{
	my ($name, $layout, %options) = @_;
	my $server = new_server($name, patient => 1, %options, conf => q{
log_statement = none
max_connections = 60
max_worker_processes = 24
max_parallel_workers = 20
max_prepared_transactions = 20
shared_buffers = 256MB
work_mem = 128MB
autovacuum = off
} . ($options{conf} // ''));
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE TABLE gate ()');
	$server->safe_psql('postgres', "SELECT snowflake_set_layout('$layout')") if $layout;
	return $server;
}

# Starts one psql for each script, all at the same time, and waits for all. Each first waits at the
# gate.
sub run_together
{
	my ($server, @scripts) = @_;
	my $gate = $server->background_psql('postgres');
	$gate->query_safe('BEGIN; LOCK TABLE gate');
	my (@runs, @errors);
	for my $script (@scripts)
	{
		my $error = '';
		push @errors, \$error;
		push @runs,
		  IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('postgres'), '-c',
				'SELECT FROM gate', '-c', $script ],
			'<', '/dev/null', '>', \my $out, '2>', \$error);
	}
	my $waiting = scalar @scripts;
	wait_until('all sessions at the gate',
		sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE NOT granted") == $waiting });
	$gate->query_safe('COMMIT');
	$gate->quit;
	my $good = 0;
	for my $i (0 .. $#runs)
	{
		$good++ if $runs[$i]->finish;
		diag(${ $errors[$i] }) if ${ $errors[$i] } ne '';
	}
	return $good == @scripts;
}

# --------------------------------------------------------------------------------------------------
# Sessions whose calls are recorded, by test/c/order.c
# --------------------------------------------------------------------------------------------------

# Of a session's calls of record_calls(), some transactions are prepared in between.
my $recorded_script = q{
\set VERBOSITY verbose
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;
SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts WHERE gid = 'order_' || :'n' \gexec
} . q{
CALL record_calls(:'folder', :n, :calls / 4, :every);
BEGIN;
SELECT FROM record_some(:'folder', :n);
PREPARE TRANSACTION :'gid';
SELECT FROM record_some(:'folder', :n);
COMMIT PREPARED :'gid';
} x 4;

# Prepares a server for so many sessions: functions, tables and a folder for the records.
sub prepare_recording
{
	my ($server, $sessions) = @_;
	my $folder = $server->basedir . '/calls';
	mkdir $folder or die "$folder: $!";
	append_to_file("$folder/script.sql", $recorded_script);
	append_to_file("$folder/rows", join '', map { "$_\n" } 1 .. 20);
	my $file = "$ENV{SNOWFLAKE_TEST_C}/order";
	$server->safe_psql('postgres', qq{
CREATE PROCEDURE record_calls(folder text, session int, calls bigint, every_ms bigint) LANGUAGE c AS '$file';
CREATE FUNCTION record_some(folder text, session int) RETURNS void LANGUAGE c AS '$file';
CREATE TABLE big AS SELECT i FROM generate_series(1, 300) i;
ALTER TABLE big SET (parallel_workers = 2);
ANALYZE big} . join '', map { "; CREATE UNLOGGED TABLE $_ (id bigint DEFAULT snowflake_nextval(), n int)" } tables_of($sessions));
	my $recording = { server => $server, sessions => $sessions, folder => $folder, runs => [] };
	system('g++', '-std=gnu++17', '-O2', 'test/proof/order.cpp', '-o', "$folder/compare") == 0 or die "order.cpp does not build\n";
	return $recording;
}

sub tables_of { my ($sessions) = @_; return map { ("rows_$_", "copied_$_") } 1 .. $sessions; }

# The bits of an id that are the worker id, of the datacenter and in it.
sub worker_mask
{
	my ($server) = @_;
	return $server->safe_psql('postgres', q{SELECT ((1::bigint << datacenter_bits + worker_bits) - 1)
		<< CASE WHEN sequence_first THEN 0 ELSE sequence_bits END FROM snowflake_layouts WHERE name IS NULL});
}

# Starts the sessions, all at the same time. Each ends after so many calls, or goes on, in one
# connection after the other, until stop_recording(). Options: calls => of all sessions together;
# every_ms => between two turns.
sub start_recording
{
	my ($recording, %options) = @_;
	my ($server, $folder) = @$recording{qw(server folder)};
	my $calls = int(($options{calls} // 1e6) / $recording->{sessions});
	unlink glob "$folder/{stop,go}";
	for my $n (1 .. $recording->{sessions})
	{
		push @{ $recording->{runs} },
		  IPC::Run::start(
			[
				'bash', '-c', 'cd "$1" && exec {nothing}<> <(:) || exit; while kill -0 "$3" 2>/dev/null; do '
				  . 'psql -XAtq -v ON_ERROR_STOP=1 "${@:4}" -d "$2" -f script.sql >>out 2>>err </dev/null; '
				  . ($options{calls} ? 'break' : '[ ! -e stop ] || break; read -rt 0.1 -u "$nothing"') . '; done; true',
				'bash', $folder, $server->connstr('postgres'), $$, '-v', "folder=$folder", '-v', "n=$n", '-v', "gid=order_$n",
				'-v', "calls=$calls", '-v', 'every=' . ($options{every_ms} // 0)
			],
			'<', '/dev/null', '>', "$folder/bash.$n", '2>&1');
	}
	wait_until('all sessions', sub {
		$server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL record_calls%'}) == $recording->{sessions};
	});
	append_to_file("$folder/go", '');
	return;
}

# Waits for the end of all sessions. Returns their errors.
sub stop_recording
{
	my ($recording, %options) = @_;
	append_to_file("$recording->{folder}/stop", '') unless $options{wait};
	$_->finish for @{ $recording->{runs} };
	$recording->{runs} = [];
	return errors_of($recording);
}

sub errors_of
{
	my ($recording) = @_;
	my $file = "$recording->{folder}/err";
	return -e $file ? slurp_file($file) =~ /^(psql:.*(?:ERROR|FATAL|PANIC|error):? .*)$/mg : ();
}

# How many calls the sessions have recorded by now, or a few more.
sub recorded
{
	my ($recording) = @_;
	# The blocks that a file has are those that were written.
	return sum0(map { (stat)[12] * 512 / 32 } grep { !/\.ids$/ } glob "$recording->{folder}/[0-9]*");
}

# Compares what was recorded of one extension, by default the present one. Returns a hash: calls,
# ids, twice, fell, across, allowed, near, and how many calls of each kind there were.
sub compare_calls
{
	my ($recording, %options) = @_;
	my $server = $recording->{server};
	my $extension = $options{extension} // $server->safe_psql('postgres', q{SELECT 'snowflake_nextval()'::regprocedure::oid});
	my $mask = $options{mask} // worker_mask($server);
	my ($out, $error) = ('', '');
	my $run = IPC::Run::start([ 'bash', '-c', 'cd "$1" && exec ./compare "$2" steps "$3".*', 'bash', $recording->{folder}, $mask, $extension ],
		'<', '/dev/null', '>', \$out, '2>', \$error);
	$run->finish or die "compare: $error\n";
	my @lines = split /\n/, $out;
	my %found;
	(@found{qw(calls ids twice fell across allowed near)}, my @kinds) = split / /, pop @lines;
	$found{kinds} = { map { split /=/ } @kinds };
	diag($_) for @lines;
	return \%found;
}

# Records so many calls of all kinds, and checks that their ids are in the order of the calls.
# Returns what compare_calls() returns.
sub calls_in_order
{
	my ($recording, $calls, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	# On a busy machine it may take more of them until sessions have met often enough.
	my ($found, @errors);
	for (1 .. 10)
	{
		start_recording($recording, calls => $calls);
		@errors = stop_recording($recording, wait => 1);
		$found = compare_calls($recording);
		last if @errors || $found->{near} > $calls / 2000 / slowness() ** 2;
	}
	is(join("\n", @errors), '', "$what: no call fails");
	is($found->{fell} + $found->{across}, 0, "... of $found->{calls} calls none gets an id below that of a call that ended before it began (G2)");
	is($found->{twice}, 0, "... of $found->{ids} ids none is issued twice (G1)");
	is(scalar(keys %{ $found->{kinds} }), 11, '... in all ways to call');
	cmp_ok($found->{near}, '>', $calls / 2000 / slowness() ** 2, '... while other sessions call, too');
	figures('%s: %d calls, %d within 10 us of another session\'s; %d ids; %d calls out of order, %d ids twice',
		$what, @$found{qw(calls near ids)}, $found->{fell} + $found->{across}, $found->{twice});
	return $found;
}

1;
