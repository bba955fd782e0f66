# The use of ids that are unique across servers: three nodes fill their own tables by a DEFAULT, and
# one server collects these tables. This server has the registry, preloads no library, and issues
# none of these ids.
package Gathering;

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Exporter 'import';
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($central @nodes @names $rows fill fill_first all_rows);

our $rows = 20_000;    # of each node, each time that it is filled
our @names = qw(north east south);
our ($central, @nodes);

sub start
{
	$central = new_server('central', preload => 0, patient => 1, conf => "log_statement = none\nmax_worker_processes = 16\n"
		  . "max_logical_replication_workers = 10\nmax_sync_workers_per_subscription = 3\n");
	start_server($central);
	$central->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	my $conninfo = sprintf 'host=%s port=%s dbname=postgres', $central->host, $central->port;

	for my $name (@names)
	{
		my $node = new_server($name, patient => 1, conf => qq{
log_statement = none
snowflake.registry = '$conninfo'
snowflake.node_name = '$name'
wal_level = logical
max_wal_senders = 8
max_replication_slots = 8
});
		start_server($node);
		$node->safe_psql('postgres', qq{
			CREATE EXTENSION snowflake;
			CREATE TABLE orders (
				id bigint DEFAULT snowflake_nextval(),
				region text NOT NULL DEFAULT '$name' CHECK (region = '$name'),
				amount integer NOT NULL,
				PRIMARY KEY (id, region));
			CREATE PUBLICATION orders FOR TABLE orders;
		});
		push @nodes, $node;
	}
	return;
}

# Several sessions of every node at once, so that the nodes' ticks meet.
sub fill
{
	my @runs;
	for my $node (@nodes)
	{
		for my $part (1 .. 4)
		{
			my $each = $rows / 8;
			my $sql = "INSERT INTO orders (amount) SELECT n FROM generate_series(1, $each) n; "
			  . "INSERT INTO orders (amount) VALUES (1), (2); INSERT INTO orders (amount) SELECT n FROM generate_series(1, $each - 2) n";
			push @runs, IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', $sql ],
				'<', '/dev/null', '>&', \my $output);
		}
	}
	my $failed = 0;
	for my $run (@runs) { $run->finish or $failed++; }
	return $failed;
}

sub fill_first
{
	is(fill(), 0, 'sessions that failed');
	my %workers = map { $_->safe_psql('postgres', 'SELECT worker FROM snowflake_status') => 1 } @nodes;
	is(scalar keys %workers, 3, 'worker ids of the one registry');
	is($central->safe_psql('postgres', q{SELECT string_agg(node, ' ' ORDER BY node) FROM snowflake_workers}), join(' ', sort @names), 'who holds them');
	is($_->safe_psql('postgres', 'SELECT count(*) FROM orders'), $rows, 'rows of ' . $_->name) for @nodes;
	return;
}

# The nodes' rows, as a number and a digest; with $table, the same for a table in a database of the
# central server.
sub all_rows
{
	my ($dbname, $table) = @_;
	my $what = q{SELECT id || ' ' || region || ' ' || amount FROM };
	my @all = map { split /\n/ } $table ? $central->safe_psql($dbname, $what . $table) : map { $_->safe_psql('postgres', $what . 'orders') } @nodes;
	return @all . ' ' . md5_hex(join("\n", sort @all));
}

1;
