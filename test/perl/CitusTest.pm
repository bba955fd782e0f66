# What the tests with Citus share: a coordinator and workers on loopback, each with a database `app`
# for Citus, and commands for all of them. test/run builds Citus from the source that
# SNOWFLAKE_CITUS_SOURCE names.
package CitusTest;

use strict;
use warnings;

use Exporter 'import';
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($db $coordinator @workers value everywhere start_node add_node load_of stop_loads rows_and_ids reader_of_outbox finish);

our $db = 'app';
our ($coordinator, @workers);

sub value { my ($server, $sql) = @_; return $server->safe_psql($db, $sql); }

# The reader of an outbox on the coordinator: that of doc/horizon.md, with the condition of doc/citus.md.
sub reader_of_outbox
{
	my ($condition) = PostgreSQL::Test::Utils::slurp_file('doc/citus.md') =~ /The \[reader\][^`]*`(id < [^`]*)`/ or die "doc/citus.md has no condition of the reader\n";
	my $reader = block_of('doc/horizon.md', 'one batch, as often');
	$reader =~ s/id < snowflake_horizon\(\)/$condition/ or die "doc/horizon.md: the reader has no horizon\n";
	return $reader;
}

# Runs SQL on each node, over Citus's own connections; returns the result of each.
sub everywhere
{
	my ($sql) = @_;
	return split /\n/, value($coordinator, "SELECT result FROM run_command_on_all_nodes(\$everywhere\$$sql\$everywhere\$)");
}

# A running server with a database for Citus. Citus must be the first library. Options: conf;
# streaming => 1; citus => 0: the extension citus is not created.
sub start_node
{
	my ($name, %options) = @_;
	my $preload = preloading() =~ s/^shared_preload_libraries = 'snowflake'/shared_preload_libraries = 'citus,snowflake'/r;
	$preload = "shared_preload_libraries = 'citus'\n$preload" unless $preload =~ /^shared/;
	my $node = new_server($name, preload => 0, streaming => $options{streaming}, conf => <<"CONF" . ($options{conf} // ''));
listen_addresses = '127.0.0.1'
$preload
wal_level = logical
max_worker_processes = 32
log_statement = none
autovacuum = off
citus.enable_statistics_collection = off
CONF
	start_server($node);
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	value($node, 'CREATE EXTENSION citus') if $options{citus} // 1;
	return $node;
}

sub add_node
{
	my ($node) = @_;
	value($coordinator, sprintf q{SELECT citus_add_node('127.0.0.1', %d)}, $node->port);
	return;
}

# Two workers. Options: conf.
sub add_workers
{
	my (%options) = @_;
	@workers = map { start_node("worker_$_", conf => $options{conf}) } 1 .. 2;
	value($coordinator, sprintf q{SELECT citus_set_coordinator_host('127.0.0.1', %d)}, $coordinator->port);
	add_node($_) for @workers;
	return;
}

# The cluster. Options: registry => 0: each node keeps its own registry; layout => a call that each
# node makes before its first id; conf => for all nodes; streaming => 1: the coordinator may have a
# standby.
sub start
{
	my (%options) = @_;
	my $conf = $options{conf} // '';
	$coordinator = start_node('coordinator', streaming => $options{streaming}, conf => "citus.shard_count = 8\n$conf");
	add_workers(conf => $conf);
	value($coordinator, 'CREATE EXTENSION snowflake; CREATE EXTENSION snowflake_convert');
	everywhere("SELECT $options{layout}") if $options{layout};
	share_registry() if $options{registry} // 1;
	return;
}

# Sets the registry's address, as doc/citus.md does.
sub place { return sprintf 'host=127.0.0.1 port=%d dbname=%s user=snowflake_node', $coordinator->port, $db; }

sub share_registry
{
	value($coordinator, q{CREATE ROLE snowflake_node LOGIN;
		GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release TO snowflake_node});
	value($coordinator, sprintf q{ALTER DATABASE %s SET snowflake.registry = '%s'}, $db, place());
	return;
}

# Clients of a node that run the script again and again, until they are stopped.
sub load_of { my ($node, $count, $script) = @_; return start_clients($node, $count, $script, dbname => $db); }

sub stop_loads { my (@loads) = @_; stop_clients($_) for @loads; return; }

# Of a table: the number of rows, the number of distinct ids, and the worker ids in these.
sub rows_and_ids
{
	my ($table) = @_;
	return split /\|/, value($coordinator, "SELECT count(*), count(DISTINCT id), count(DISTINCT (snowflake_decode(id)).worker) FROM $table");
}

sub finish
{
	$_->stop('immediate') for @workers, $coordinator;
	done_testing();
	return;
}

1;
