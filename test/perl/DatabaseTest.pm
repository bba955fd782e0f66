# What the tests of databases share: a server with slots for many databases, ids that are remembered
# for each registry, and commands that need a database for themselves.
package DatabaseTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($server create_database ids_flow keepers keeper_is_gone end_keeper leases succeeds finish);

our $server;
# All ids of a registry: name => { id => 1 }.
my %seen;

# Starts the server. finish() checks its log.
sub start
{
	my ($name) = @_;
	$server = new_server($name, patient => 1, conf => "snowflake.max_databases = 40\nmax_worker_processes = 40\nlog_min_messages = warning\n");
	start_server($server);
	return;
}

sub create_database
{
	my ($dbname) = @_;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->safe_psql($dbname, 'CREATE EXTENSION snowflake');
	return;
}

# Gets ids, and checks that they are above all earlier ids of the same registry and repeat none of
# them.
sub ids_flow
{
	my ($dbname, $registry, $name) = @_;
	# The first statement overrides the settings of the database.
	local $ENV{PGOPTIONS} = '-c statement_timeout=0';
	my ($rc, $out, $err) = $server->psql($dbname, 'SELECT snowflake_nextvals(3); SELECT snowflake_nextval(); SELECT snowflake_nextval()');
	my @ids = split /\n/, $out;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(scalar(@ids), 5, "$name: ids flow") or diag($err);
	my $known = $seen{$registry} //= {};
	my ($highest) = sort { $b <=> $a } keys %$known;
	is(scalar(grep { $known->{$_}++ } @ids), 0, "$name: no id is issued twice");
	ok(@ids && $ids[0] > $highest, "$name: ids rise") if defined $highest;
	return;
}

sub keepers
{
	my ($dbname) = @_;
	return $server->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = '$dbname'");
}

sub keeper_is_gone
{
	my ($dbname) = @_;
	return wait_until('the keeper to end', sub { keepers($dbname) eq '' });
}

sub end_keeper
{
	my ($dbname) = @_;
	my $pid = keepers($dbname);
	$server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
	return keeper_is_gone($dbname);
}

sub leases
{
	my ($dbname) = @_;
	return $server->safe_psql($dbname, 'SELECT count(*) FROM snowflake_registry');
}

# Runs a command that needs a database for itself. PostgreSQL gives up if other processes do not
# leave the database within 5 s, so success is the test.
sub succeeds
{
	my ($dbname, $sql, $wanted) = @_;
	my $before = join ', ', split(/\n/, keepers($wanted)) or die "$wanted has no keeper\n";
	my ($rc, $out, $err) = $server->psql($dbname, $sql, on_error_stop => 1);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($rc, 0, $sql) or diag($err);
	is($server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid IN ($before) AND backend_type = 'snowflake keeper'"),
		'0', '... for which the keeper left');
	return;
}

sub finish
{
	$server->stop('fast');
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	unlike(slurp_file($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
	done_testing();
	return;
}

1;
