# What the tests of segments share: a registry; nodes that use it with a role that may only acquire
# ranges; clients that get numbers in every way; and comparisons of numbers.
package SegmentsTest;

use strict;
use warnings;

use Exporter 'import';
use RegistryTest qw(value place);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(value place fetching_role segments_registry create_segment segment_node own_node numbers number shown allocated_up_to use_up numbers_in_every_way gather);

# The function that a node calls, for the role "node".
sub fetching_role { return 'CREATE ROLE node LOGIN; GRANT EXECUTE ON FUNCTION snowflake_segment_ranges TO node'; }

# A running registry, by default with the segment "ticket". Options: segments => { name => arguments
# of snowflake_create_segment() after the name }, and as for new_server.
sub segments_registry
{
	my ($name, %options) = @_;
	my $segments = delete $options{segments} // { ticket => '' };
	my $quiet = "log_statement = none\nwal_retrieve_retry_interval = 100ms\nautovacuum = off\n";
	my $registry = new_server($name, streaming => 1, preload => 0, %options, conf => $quiet . ($options{conf} // ''));
	start_server($registry);
	value($registry, 'CREATE EXTENSION snowflake; ' . fetching_role());
	create_segment($registry, $_, $segments->{$_}) for sort keys %$segments;
	return $registry;
}

sub create_segment
{
	my ($registry, $name, $arguments, $dbname) = @_;
	return value($registry, "SELECT snowflake_create_segment('$name'" . ($arguments ? ", $arguments" : '') . ')', $dbname);
}

# A running server that is a node of a registry. Options: as for new_server.
sub segment_node
{
	my ($name, $place, %options) = @_;
	my $node = new_server($name, %options, conf => "log_statement = none\nautovacuum = off\nsnowflake.node_name = '$name'\n"
		  . ($place ? "snowflake.registry = '$place'\n" : '') . ($options{conf} // ''));
	start_server($node);
	value($node, 'CREATE EXTENSION snowflake') unless $options{from};
	return $node;
}

# A running server that is registry and node. Options: as for segments_registry.
sub own_node { my ($name, %options) = @_; return segments_registry($name, preload => 1, %options); }

# So many numbers, in the order of the calls.
sub numbers
{
	my ($node, $count, $segment, $dbname) = @_;
	$segment //= 'ticket';
	return split /\n/, value($node, "SELECT snowflake_segment_nextval('$segment') FROM generate_series(1, $count)", $dbname);
}

sub number { my ($node, $segment, $dbname) = @_; return (numbers($node, 1, $segment, $dbname))[0]; }

# Columns of the view for one segment.
sub shown
{
	my ($server, $what, $segment, $dbname) = @_;
	$segment //= 'ticket';
	return value($server, "SELECT $what FROM snowflake_segments WHERE name = '$segment'", $dbname);
}

# The last number that the registry allocated.
sub allocated_up_to { my ($registry, $segment) = @_; return shown($registry, 'next_value', $segment) - 1; }

# Gets all numbers that a node has, while no other client gets any; returns the highest.
sub use_up
{
	my ($node, $segment) = @_;
	my ($highest) = (sort { $b <=> $a } numbers($node, shown($node, 'left_here', $segment), $segment))[0];
	return $highest;
}

# A script for clients that gets numbers of the segment "ticket" in every way, and rolls some back.
# The numbers go into the tables `kept`, whose keys are returned to the clients, and `copied`, whose
# keys are not. It runs `times` turns, each with a pause in s.
sub numbers_in_every_way
{
	my (%load) = @_;
	my $lines = "1\n" x $load{copied};
	return <<"SQL" x $load{times};
COPY (SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, $load{at_once})) TO STDOUT;
BEGIN;
INSERT INTO kept SELECT FROM generate_series(1, $load{rolled_back}) RETURNING id;
ROLLBACK;
SELECT snowflake_segment_nextval('ticket');
INSERT INTO kept SELECT FROM generate_series(1, $load{kept}) RETURNING id;
COPY copied (n) FROM STDIN;
$lines\\.
SELECT FROM pg_sleep($load{pause});
SQL
}

push @EXPORT, 'tables_of_tickets';
sub tables_of_tickets
{
	return q{CREATE TABLE kept (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('ticket'));
		CREATE TABLE copied (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('ticket'), n int)};
}

# Copies the keys of a table of all nodes to files; returns their names.
sub gather
{
	my ($table, @nodes) = @_;
	my @files;
	for my $node (@nodes)
	{
		push @files, $node->basedir . "/$table";
		value($node, "COPY (SELECT id FROM $table) TO '$files[-1]'");
	}
	return @files;
}

1;
