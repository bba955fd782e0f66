# What the tests of many sessions share: a server for them, scripts that start at the same time, and
# calls whose order is known.
package SessionsTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($each $max_lead_ms sessions_server run_together call_order tick_order counted_calls);

our $max_lead_ms = 5;

# How many ids each of many sessions issues: 250,000 in the long form, and fewer if the server is
# slow. Other counts depend on it.
our $each = 5000 * (int(at_length(20, 50) / slowness()) || 1);

# With a table at which sessions wait, and a layout unless it is the default one.
sub sessions_server
{
	my ($name, $layout) = @_;
	my $server = new_server($name, patient => 1, conf => q{
log_statement = none
max_connections = 60
max_worker_processes = 24
max_parallel_workers = 20
shared_buffers = 256MB
work_mem = 128MB
autovacuum = off
});
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE TABLE gate ()');
	$server->safe_psql('postgres', 'INSERT INTO snowflake_layout (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits,'
		. " sequence_bits, sequence_first) VALUES ($layout)") if $layout;
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

# From [start, end, id] of many calls: how many have an id that is not above the id of every call
# that ended before they began, and by how many ticks the worst of them is below.
sub order_broken
{
	my ($calls, $timestamp_shift) = @_;
	my @events = sort { $a->[0] <=> $b->[0] || $a->[1] <=> $b->[1] }
	  map { ([ $_->[0], 0, $_ ], [ $_->[1], 1, $_ ]) } @$calls;
	my ($highest, $broken, $worst_ticks, %floor) = (-1, 0, 0);
	for my $event (@events)
	{
		my $id = $event->[2][2];
		if (!$event->[1]) { $floor{$id} = $highest; next; }
		my $floor = delete $floor{$id};
		if ($id <= $floor)
		{
			$broken++;
			my $ticks = ($floor >> $timestamp_shift) - ($id >> $timestamp_shift);
			$worst_ticks = $ticks if $ticks > $worst_ticks;
		}
		$highest = $id if $id > $highest;
	}
	return ($broken, $worst_ticks);
}

# By the counter, which gives the exact order of the calls.
sub call_order { my ($calls, $shift) = @_; return order_broken([ map { [ @$_[ 0, 4, 2 ] ] } @$calls ], $shift); }

# By the clock, which gives the order of calls that are more than a tick of 1 ms apart.
sub tick_order { my ($calls, $shift) = @_; return order_broken([ map { [ $_->[1] - 1000, $_->[3], $_->[2] ] } @$calls ], $shift); }

# Sessions that record a shared counter and the clock before and after each call: [counter, us, id,
# us, counter].
sub counted_calls
{
	my ($server, $sessions, $calls, $settings) = @_;
	$server->safe_psql('postgres', 'DROP SEQUENCE IF EXISTS counter; CREATE SEQUENCE counter');
	my $clock = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
	my @scripts;
	for my $i (1 .. $sessions)
	{
		$server->safe_psql('postgres', "DROP TABLE IF EXISTS counted_$i; CREATE UNLOGGED TABLE counted_$i (s int, b bigint, id bigint, a bigint, e int)");
		push @scripts, "$settings; INSERT INTO counted_$i SELECT nextval('counter'), $clock, snowflake_nextval(), $clock, nextval('counter')"
		  . " FROM generate_series(1, $calls)";
	}
	ok(run_together($server, @scripts), 'all sessions end well');
	my $union = join ' UNION ALL ', map { "SELECT * FROM counted_$_" } 1 .. $sessions;
	return [ map { [ split /\|/ ] } split /\n/, $server->safe_psql('postgres', $union) ];
}

1;
