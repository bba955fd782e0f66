# What the tests of crashes share: a node whose registry is on another server and can be cut off,
# and the ways in which a server dies while the machine runs on.
package KillTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use RegistryTest;
use Relay;
use SnowflakeTest;

our @EXPORT = qw(%crashes distant_registry new_node first_call lease_row);

# A registry that nodes reach through a relay. Returns the registry, the relay, and the registry's
# address for nodes. Options: as for new_server.
sub distant_registry
{
	my (%options) = @_;
	my $registry = make_registry('registry', %options, conf => "listen_addresses = '127.0.0.1'\n" . ($options{conf} // ''));
	append_to_file($registry->data_dir . '/pg_hba.conf', "host all node 127.0.0.1/32 trust\n");
	$registry->reload;
	my $relay = Relay->new($registry->port);
	return ($registry, $relay, "host=127.0.0.1 port=$relay->{port} dbname=postgres user=node");
}

# A running server that is a node of such a registry, or of its own registry. Options: place, and as
# for new_server.
sub new_node
{
	my ($name, %options) = @_;
	my $node = new_server($name, %options, conf => "log_statement = none\nautovacuum = off\nfsync = off\nrestart_after_crash = on\n"
		  . ($options{place} ? "snowflake.registry = '$options{place}'\n" : '') . ($options{conf} // ''));
	start_server($node);
	value($node, 'CREATE EXTENSION snowflake; ' . small_layout());
	return $node;
}

# The first call after a start, which must not fail: its id, the worker id and the lease, and how
# often calls waited for a lease and leases were acquired.
sub first_call
{
	my ($node) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT snowflake_nextval(); SELECT worker, lease_id, lease_waits_total, leases_acquired_total FROM $node_views");
	return { error => $err || "status $rc" } if $rc != 0;
	my %call;
	@call{qw(id worker lease waits acquired)} = split /[\n|]/, $out;
	return \%call;
}

# Columns of a node in its registry.
sub lease_row { my ($registry, $what) = @_; return value($registry, "SELECT $what FROM snowflake_registry"); }

# --------------------------------------------------------------------------------------------------
# Ways to die, by name. Each returns when the server is ready again, and returns false if nothing
# died.
# --------------------------------------------------------------------------------------------------

sub start_again { start_server($_[0]); return 1; }

our %crashes = (
	'SIGKILL of a backend' => sub {
		my @pids = split /\n/, value($_[0], q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()});
		kill_and_wait($_[0], $pids[ rand @pids ]);
	},
	'SIGKILL of the keeper' => sub { kill_and_wait($_[0], value($_[0], 'SELECT keeper_pid FROM snowflake_status')); },
	'SIGKILL of the checkpointer' => sub { kill_and_wait($_[0], value($_[0], q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'})); },
	'SIGKILL of the postmaster' => sub { kill_server($_[0]) && start_again($_[0]); },
	'SIGKILL of all processes' => sub { kill_server($_[0], children => 1) && start_again($_[0]); },
	'immediate stop' => sub { $_[0]->stop('immediate'); start_again($_[0]); },
);

1;
