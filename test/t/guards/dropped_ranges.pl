# Dropping the extension in a registry is refused while other nodes hold ranges of segments (G11),
# because a new registry would allocate the same numbers. This holds however the extension is
# dropped, until the nodes have returned the ranges or the operator has deleted the rows of a node
# that is gone. Ranges of this database's own node do not count.
use strict;
use warnings;

use lib 'test/perl';
use Pages;
use PostgreSQL::Test::Utils;
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $registry = own_node('registry', segments => { ticket => '' });
numbers($registry, 10);
is((query_error($registry, 'postgres', 'BEGIN; DROP EXTENSION snowflake; ROLLBACK'))[0], '00000', 'the own node holds a range, which does not count');

my @nodes = map { segment_node("node$_", place($registry)) } 1 .. 2;
numbers($_, 10) for @nodes;
value($registry, 'CREATE ROLE owner SUPERUSER');
for my $drop ('DROP EXTENSION snowflake', 'DROP EXTENSION snowflake CASCADE', 'DROP SCHEMA public CASCADE', 'SET session_replication_role = replica; DROP EXTENSION snowflake')
{
	my ($state, $error) = query_error($registry, 'postgres', $drop);
	is($state, '55000', $drop);
	like($error, qr/cannot drop the registry of snowflake while nodes hold ranges of segments\nDETAIL:  \d ranges are held: node "node.*" of segment "ticket" up to \d+.*\nHINT:  .*snowflake_segment_range/, '... with the figures');
}
my $dump = $registry->basedir . '/dump';
$registry->run_log([ 'pg_dump', '-Fc', '-f', $dump, '-d', $registry->connstr('postgres') ]);
my ($out, $error) = ('', '');
IPC::Run::run([ 'pg_restore', '--clean', '-d', $registry->connstr('postgres'), $dump ], '>', \$out, '2>', \$error);
like($error, qr/cannot drop the registry of snowflake while nodes hold ranges of segments/, 'pg_restore --clean is refused as well');

$nodes[0]->stop('fast');
my ($state) = query_error($registry, 'postgres', 'DROP EXTENSION snowflake');
is($state, '55000', 'one node is stopped, and returns its numbers: the other one counts');
kill_server($nodes[1]);
is((query_error($registry, 'postgres', 'DROP EXTENSION snowflake'))[0], '55000', '... also after a crash');
# Its lease may be in use, too.
is((query_error($registry, 'postgres', block_of('doc/many-servers.md', 'DROP EXTENSION snowflake')))[0], '00000', '... until its rows are deleted, as the page says');

$registry->stop('fast');
done_testing();
