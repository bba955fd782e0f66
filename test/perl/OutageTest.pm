# What the tests of outages share: a registry that listens on TCP, nodes that reach it through a
# relay each, and calls one after the other while the registry is unavailable.
package OutageTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use Relay;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(tcp_registry relayed_node connect_session call call_until_id ids_flow node_status count_in outage outages_over end_nodes);

# How long calls wait after their window has ended, in seconds.
my $start_timeout = 1;

# The limit for everything that must happen, in seconds: it takes a second or two, or never happens.
sub long { return 60 * slowness(); }

# A running registry, started by $options{start} if that is given.
sub tcp_registry
{
	my (%options) = @_;
	my $registry = new_server('registry', preload => 0);
	$registry->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\nlog_statement = none\n");
	append_to_file($registry->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
	$options{start} ? $options{start}->($registry) : $registry->start;
	$registry->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	return $registry;
}

# A node with this lease duration, and a session.
sub relayed_node
{
	my ($registry, $lease) = @_;
	my $relay = Relay->new($registry->port);
	my $user = $registry->safe_psql('postgres', 'SELECT current_user');
	my $server = new_server('node', conf => sprintf qq{
snowflake.registry = 'host=127.0.0.1 port=%d user=%s dbname=postgres'
snowflake.node_name = 'node'
snowflake.lease_duration = %s
snowflake.start_timeout = %ds
snowflake.max_clock_skew = 0
log_statement = none
}, $relay->port, $user, $lease, $start_timeout);
	start_server($server);
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	my $node = { server => $server, relay => $relay, ids_file => PostgreSQL::Test::Utils::tempdir() . '/ids', outages => 0 };
	connect_session($node);
	return $node;
}

sub connect_session
{
	my ($node) = @_;
	$node->{session} = $node->{server}->background_psql('postgres', on_error_stop => 0);
	ask($node->{session}, '\set VERBOSITY verbose');
	return;
}

# One call, with its time on the server.
sub call
{
	my ($node) = @_;
	my $since = time();
	my ($out, $error) = ask($node->{session}, 'SELECT id, extract(epoch FROM b - a), extract(epoch FROM snowflake_timestamp(id)) '
		  . 'FROM (SELECT clock_timestamp() AS a, snowflake_nextval() AS id, clock_timestamp() AS b) AS c');
	my ($id, $seconds, $time) = split /\|/, $out // '';
	append_to_file($node->{ids_file}, "$id\n") if $id;
	my ($state) = $error =~ /ERROR:\s+(\w{5}):/;
	my ($detail) = $error =~ /DETAIL:\s+(.*)/;
	return { id => $id, seconds => $seconds, time => $time, since => $since, at => time(), state => $state // '', detail => $detail // '' };
}

# Calls until an id is returned. Returns how long that took, or undef.
sub call_until_id
{
	my ($node) = @_;
	my $since = time();
	while (time() - $since < long())
	{
		return time() - $since if call($node)->{id};
		sleep(0.01);
	}
	return;
}

sub ids_flow { my ($node, $what) = @_; return ok(defined call_until_id($node), $what); }

sub node_status { my ($node, $what) = @_; return (ask($node->{session}, "SELECT $what FROM $node_views"))[0]; }

sub count_in { my ($text, $pattern) = @_; return scalar(() = $text =~ /$pattern/g); }

my $warning = qr/WARNING:  snowflake keeper: (?:cannot reach the registry|the registry refused)/;

# Keeps a fault until a call fails. No call may fail before the window's end, however long the fault
# has lasted by then, and no call may wait for the keeper before. Options: begin and end of the
# fault; reason: the detail of the last error; warnings: how many; before_end: what happens before
# the fault ends.
sub outage
{
	my ($node, $name, %o) = @_;
	subtest $name => sub {
		ids_flow($node, 'ids flow before it');
		# A window that a slow answer has extended may be nearly over.
		wait_until('no error', sub { node_status($node, "last_error IS NULL AND ids_flow_seconds > 2.5") eq 't' });
		my $log = -s $node->{server}->logfile;
		my $waits = node_status($node, 'lease_waits_total');
		$o{begin}->();
		my $began = time();
		my ($last, $call, $count, $slowest) = (undef, undef, 0, 0);
		while (time() - $began < long())
		{
			$call = call($node);
			last unless $call->{id};
			$last = $call;
			$count++;
			$slowest = $call->{seconds} if $call->{seconds} > $slowest;
			sleep(0.01);
		}
		my ($end, $waits_now) = split /\|/, node_status($node, 'extract(epoch FROM window_end), lease_waits_total');
		my ($failed, $waited) = ($call->{at}, $call->{at} - $call->{since});
		cmp_ok($count, '>', 0, 'ids flowed on');
		is($waits_now - $waits, 1, 'only the call that failed waited for the keeper');
		cmp_ok($waited, '>', $start_timeout - 0.1, 'which it did for as long as it may');
		cmp_ok($failed, '>', $end + $start_timeout - 0.2, 'and did not begin before the end of the window');
		cmp_ok($last->{time}, '<', $end, 'and no id is past it');
		wait_until('the reason', sub {
			return 1 if $call->{state} ne 'SF001' || $call->{detail} =~ $o{reason};
			$call = call($node);
			return 0;
		});
		is($call->{state}, 'SF001', 'it failed with SF001, while the fault lasted');
		like($call->{detail}, $o{reason}, 'and the reason');
		$o{before_end}->() if $o{before_end};
		$o{end}->();
		my $back = call_until_id($node);
		ok(defined $back, 'ids flow again');
		$node->{outages}++;
		figures('%s: %d calls, the slowest %.1f ms; one failed %.1f s after the end of the window; ids again after %.1f s',
			$name, $count, 1000 * $slowest, $failed - $end, $back // -1);
		wait_until('no error', sub { node_status($node, 'last_error IS NULL') eq 't' });
		my $since = slurp_file($node->{server}->logfile, $log);
		my $warned = count_in($since, $warning);
		my $expected = $o{warnings} // 1;
		like($warned, qr/^(?:$expected)$/, 'warnings in the log');
		is(count_in($since, qr/the registry answers again/), $warned, 'and how often it answers again');
		is(count_in($since, qr/acquired worker id/), 0, 'the lease was kept');
	};
	return;
}

# No id was issued twice, whatever happened.
sub outages_over
{
	my ($node) = @_;
	my ($ids, $duplicates) = compare_ids($node->{ids_file});
	is($duplicates, 0, "no duplicate among $ids ids, whatever happened");
	diag(sprintf 'trials %d outages, %d ids, %d duplicates', $node->{outages}, $ids, $duplicates);
	return end_nodes($node);
}

sub end_nodes
{
	for my $node (@_)
	{
		$node->{session}->quit;
		$node->{server}->stop('fast');
		$node->{relay}->finish;
	}
	return;
}

1;
