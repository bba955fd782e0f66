# What the tests of the registry protocol share: fresh registries, and the protocol's functions called by SQL as a keeper would.
#
# Ticks there are of any time, so clocks are not judged; whoever releases a lease by SQL may then have used all of its window,
# and that is what is kept.
package ProtocolTest;

use strict;
use warnings;

use Exporter 'import';
use SnowflakeTest;

our @EXPORT = qw($max_tick protocol_server registry try_sql state_of acquire extend release lease_acquire lease_extend registry_rows watermarks);

# The last tick of all layouts here.
our $max_tick = (1 << 41) - 1;

# A server that is started, for registries.
sub protocol_server
{
	my ($name) = @_;
	my $server = new_server($name, conf => "snowflake.max_clock_skew = 0\nsnowflake.max_lease_duration = 1d\n");
	start_server($server);
	return $server;
}

my $databases = 0;

# A fresh registry, with a layout of datacenter and worker bits unless it is the default. Returns a session, in a list with its database.
sub registry
{
	my ($server, $datacenter_bits, $worker_bits) = @_;
	my $dbname = 'ring_' . ++$databases;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	my $session = $server->background_psql($dbname, on_error_stop => 0);
	$session->set_query_timer_restart;
	$session->query_safe('\set VERBOSITY verbose');
	$session->query_safe('CREATE EXTENSION snowflake');
	my $sequence_bits = 22 - ($datacenter_bits // 0) - ($worker_bits // 10);
	$session->query_safe("INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, $datacenter_bits, $worker_bits, $sequence_bits, false)")
	  if defined $worker_bits;
	return wantarray ? ($session, $dbname) : $session;
}

# Returns (SQLSTATE, result or error text).
sub try_sql
{
	my ($session, $sql) = @_;
	my $out = $session->query($sql);
	my $err = $session->{stderr};
	$session->{stderr} = '';
	return ($err =~ /ERROR:\s+(\w{5}):/ ? ($1, $err) : ('00000', $out));
}

sub state_of { return (try_sql(@_))[0]; }

my $columns = 'lease_id, token, worker_id, window_start, window_end';

# Returns ($lease, SQLSTATE, error text): a lease is { id, token, worker, start, end }.
sub acquire
{
	my ($session, $now, $duration, $datacenter) = @_;
	my ($state, $text) = try_sql($session, sprintf(q{SELECT %s FROM snowflake_acquire('n', %d, %s, '%s')}, $columns,
		$datacenter // 0, $now, $duration // '1 min'));
	return (undef, $state, $text) if $state ne '00000';
	my %lease;
	@lease{qw(id token worker start end)} = split /\|/, $text;
	return (\%lease, $state, $text);
}

sub extend
{
	my ($session, $lease, $now, $duration) = @_;
	return try_sql($session, sprintf(q{SELECT snowflake_extend(%s, '%s', %s, '%s')}, $lease->{id}, $lease->{token}, $now, $duration // '1 min'));
}

sub release
{
	my ($session, $lease, $last) = @_;
	return try_sql($session, sprintf(q{SELECT snowflake_release(%s, '%s', %s)}, $lease->{id}, $lease->{token}, $last));
}

# The forms of version 1.2. Returns the lease as "lease_id|worker_id|window_start|window_end", or SQLSTATE.
sub lease_acquire
{
	my ($session, $now, $duration, $token, $seen, $before) = @_;
	my ($state, $text) = try_sql($session, sprintf(q{SELECT lease_id, worker_id, window_start, window_end FROM snowflake_lease_acquire('n', 0, %s, '%s', '%s', %s, %s)},
		$now, $duration, $token, $seen // 0, $before // 'NULL'));
	return $state eq '00000' ? $text : $state;
}

# Returns the window's end, or the error.
sub lease_extend
{
	my ($session, $id, $token, $now, $known_end) = @_;
	return (try_sql($session, "SELECT window_end FROM snowflake_lease_extend($id, '$token', $now, '1 min', $known_end)"))[1];
}

sub registry_rows
{
	return $_[0]->query_safe('SELECT lease_id, token, worker_id, window_start, window_end FROM snowflake_registry ORDER BY worker_id');
}

sub watermarks
{
	return $_[0]->query_safe('SELECT worker_id, last_tick FROM snowflake_watermark ORDER BY worker_id');
}

1;
