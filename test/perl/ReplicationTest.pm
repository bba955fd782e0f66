# What the tests of servers that are copies of each other share: clients that get ids from any
# server all the time, the comparison of all these ids, and pg_rewind.
package ReplicationTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(quiet script value ids worker load ids_flow none_twice rewind start_registry);

my $db = 'postgres';
my @files;    # what clients of any server received

sub quiet { return "log_statement = none\nwal_retrieve_retry_interval = 100ms\nautovacuum = off\nwal_keep_size = 256MB\n"; }

sub script
{
	return <<'SQL' x 10;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 100)) TO STDOUT;
SELECT snowflake_nextval();
SELECT snowflake_nextvals(20);
SELECT FROM pg_sleep(0.04);
SQL
}

sub value { my ($server, $sql) = @_; return $server->safe_psql($db, $sql); }
sub ids { return split /\n/, value($_[0], "SELECT snowflake_nextvals($_[1])"); }
sub worker { return value($_[0], 'SELECT worker FROM snowflake_status'); }

sub load
{
	my ($server, $what) = @_;
	my $clients = start_clients($server, 2, $what // script());
	push @files, @{ $clients->{files} };
	return $clients;
}

# Checks that more ids arrive.
sub ids_flow
{
	my ($clients) = @_;
	my $before = client_bytes($clients);
	# A line "connection" contains no id.
	return wait_until('ids', sub { client_bytes($clients) > $before + 20_000 });
}

sub none_twice
{
	my ($what) = @_;
	my ($ids, $twice) = compare_ids(@files);
	cmp_ok($ids, '>', 10_000, "ids of $what: $ids");
	is($twice, 0, '... none of them twice');
	figures('%d ids of %s, %d duplicates', $ids, $what, $twice);
	@files = ();
	return;
}

# Makes the old primary, which has been stopped, a standby of the new one.
sub rewind
{
	my ($old, $new) = @_;
	# pg_rewind compares what was written since a promotion with the source's checkpoint.
	value($new, 'CHECKPOINT');
	my $conf = slurp_file($old->data_dir . '/postgresql.conf');
	ok(run_log([ 'pg_rewind', '--no-sync', '--target-pgdata', $old->data_dir, '--source-server', $new->connstr($db) ]), 'pg_rewind of the old primary') or die "the old primary is no standby";
	# pg_rewind has copied the other server's settings.
	unlink $old->data_dir . '/postgresql.conf';
	append_to_file($old->data_dir . '/postgresql.conf', $conf);
	return follow($old, $new);
}

# A registry on a separate server. Returns it, and the nodes' setting for it.
sub start_registry
{
	my $registry = new_server('registry', preload => 0, conf => quiet());
	start_server($registry);
	value($registry, 'CREATE EXTENSION snowflake');
	return ($registry, sprintf('host=%s port=%s dbname=postgres', $registry->host, $registry->port));
}

1;
