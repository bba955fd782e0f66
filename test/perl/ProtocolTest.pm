# What the tests of the registry's protocol share: new registries, and calls of the protocol's
# functions by SQL, as a keeper calls them.
#
# Ticks are of any time, so clocks are not judged. A node that releases a lease by SQL may then have
# used its whole window, so the watermark is the window's end.
package ProtocolTest;

use strict;
use warnings;

use Digest::SHA 'sha256_hex';
use Exporter 'import';
use SnowflakeTest;

our @EXPORT = qw($max_tick protocol_server registry try_sql state_of new_secret hash_of acquire extend release
  lease_acquire lease_extend registry_rows watermarks lease_function begin_acquire end_acquire);

# The last tick of all layouts here.
our $max_tick = (1 << 41) - 1;

# A running server for registries. Options: conf.
sub protocol_server
{
	my ($name, %options) = @_;
	my $server = new_server($name, conf => "snowflake.max_clock_skew = 0\nsnowflake.max_lease_duration = 1d\n" . ($options{conf} // ''));
	start_server($server);
	return $server;
}

my ($databases, $secrets) = (0, 0);

# A new registry, with a layout of datacenter and worker bits, or the default layout. Returns a
# session, in a list with its database.
sub registry
{
	my ($server, $datacenter_bits, $worker_bits) = @_;
	my $dbname = 'ring_' . ++$databases;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	my $session = $server->background_psql($dbname, on_error_stop => 0);
	$session->set_query_timer_restart;
	$session->query_safe('\set VERBOSITY verbose');
	$session->query_safe('CREATE EXTENSION snowflake');
	if (defined $worker_bits)
	{
		my $sequence_bits = 22 - $datacenter_bits - $worker_bits;
		my $datacenter = $datacenter_bits ? "datacenter=$datacenter_bits " : '';
		$session->query_safe("SELECT snowflake_set_layout('epoch=2025-01-01 time=41 ${datacenter}worker=$worker_bits seq=$sequence_bits')");
	}
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

# A lease secret that no other lease has, and the hash of a secret, in hexadecimal digits.
sub new_secret { return sprintf('\x%08x%024x', $$, ++$secrets); }
sub hash_of { return sha256_hex(pack('H*', substr($_[0], 2))); }

# A lease whose window has the whole duration at once: the first window is shorter, and an extend
# follows. Returns ($lease, SQLSTATE, error text): a lease is { id, secret, worker, start, end }.
sub acquire
{
	my ($session, $now, $duration, $datacenter) = @_;
	my $secret = new_secret();
	$duration //= '1 min';
	$datacenter //= 0;
	my ($state, $text) = try_sql($session, qq{
		SELECT a.lease_id, a.worker_id, a.window_start, e.window_end
		FROM snowflake_lease_acquire('n', $datacenter, $now, '$duration', sha256('$secret'), 0, NULL) a,
			LATERAL snowflake_lease_extend(a.lease_id, sha256('$secret'), a.window_start, '$duration', 0, a.worker_id, a.window_start) e});
	return (undef, $state, $text) if $state ne '00000';
	my %lease = (secret => $secret);
	@lease{qw(id worker start end)} = split /\|/, $text;
	return (\%lease, $state, $text);
}

# Returns (SQLSTATE, the window's end or the error text).
sub extend
{
	my ($session, $lease, $now, $duration) = @_;
	$duration //= '1 min';
	return try_sql($session,
		"SELECT window_end FROM snowflake_lease_extend($lease->{id}, sha256('$lease->{secret}'), $now, '$duration', 0, $lease->{worker}, $lease->{start})");
}

# Returns (SQLSTATE, whether it was there or the error text).
sub release
{
	my ($session, $lease, $last) = @_;
	return try_sql($session, "SELECT snowflake_lease_release($lease->{id}, '$lease->{secret}', $last, 0)");
}

# An acquire as a node calls it. Returns "lease_id|worker_id|window_start|window_end", or SQLSTATE.
sub lease_acquire
{
	my ($session, $now, $duration, $secret, $seen, $before) = @_;
	my ($state, $text) = try_sql($session, sprintf(q{SELECT lease_id, worker_id, window_start, window_end FROM snowflake_lease_acquire('n', 0, %s, '%s', sha256('%s'), %s, %s)},
		$now, $duration, $secret, $seen // 0, $before // 'NULL'));
	return $state eq '00000' ? $text : $state;
}

# SQL that creates pg_temp.lease(node, now_tick, duration), for statements that acquire leases: the
# window ends when the duration has passed. The argument is the schema of the registry's extension.
sub lease_function
{
	my ($schema) = @_;
	$schema //= 'public';
	return qq{CREATE FUNCTION pg_temp.lease(node text, now_tick bigint, duration interval,
			OUT lease_id bigint, OUT secret bytea, OUT worker_id integer,
			OUT window_start bigint, OUT window_end bigint)
		LANGUAGE plpgsql AS \$\$
		BEGIN
			secret := uuid_send(gen_random_uuid());
			SELECT a.lease_id, a.worker_id, a.window_start, e.window_end
				INTO lease_id, worker_id, window_start, window_end
				FROM $schema.snowflake_lease_acquire(node, 0, now_tick, duration, sha256(secret), 0, NULL) a,
					LATERAL $schema.snowflake_lease_extend(a.lease_id, sha256(secret), now_tick, duration, 0, a.worker_id, a.window_start) e;
		END \$\$;
	};
}

# An acquire whose transaction stays open until it gets the advisory lock 1. Then it commits, or
# with fails => 1 it is rolled back. Returns the lease while the transaction is open. Option:
# schema, of the extension.
sub begin_acquire
{
	my ($session, $now, %options) = @_;
	my $secret = new_secret();
	my $end = $options{fails} ? q{RAISE 'rolled back';} : '';
	my $schema = $options{schema} // 'public';
	$session->{stderr} = '';
	$session->{stdin} .= qq{DO \$\$
		DECLARE lease record;
		BEGIN
			SELECT * INTO lease
				FROM $schema.snowflake_lease_acquire('n', 0, $now, '1 min', sha256('$secret'), 0, NULL);
			RAISE WARNING 'acquired %,%,%,%',
				lease.lease_id, lease.worker_id, lease.window_start, lease.window_end;
			PERFORM pg_advisory_xact_lock(1);
			$end
		END \$\$;\n};
	$session->{run}->pump until $session->{stderr} =~ /acquired (\d+),(\d+),(\d+),(\d+)\n|ERROR/;
	die $session->{stderr} if !defined $1;
	my %lease = (secret => $secret);
	@lease{qw(id worker start end)} = ($1, $2, $3, $4);
	return \%lease;
}

# Waits until the transaction has ended. Returns SQLSTATE.
sub end_acquire { return state_of($_[0], 'SELECT 1'); }

# Returns the window's end, or the error.
sub lease_extend
{
	my ($session, $id, $secret, $now, $known_end) = @_;
	return (try_sql($session, "SELECT window_end FROM snowflake_lease_extend($id, sha256('$secret'), $now, '1 min', $known_end, 0, 0)"))[1];
}

sub registry_rows
{
	return $_[0]->query_safe(q{SELECT lease_id, encode(secret_hash, 'hex'), worker_id, window_start, window_end FROM snowflake_registry ORDER BY worker_id});
}

sub watermarks
{
	return $_[0]->query_safe('SELECT worker_id, last_tick FROM snowflake_watermark ORDER BY worker_id');
}

1;
