# If the library is not preloaded, the first session that needs the block of shared memory creates
# it. If there is no room for the block, the error says what needs room and how much. As soon as
# there is room, ids are issued.

use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;

need_boxes();
# The server's own files are shorter than a block for so many connections.
my $server = new_server('full', preload => 0, patient => 1, conf => "max_connections = 2000\nmin_wal_size = 2MB\nmax_wal_size = 3MB\n");
plan(skip_all => 'before 17 the library is preloaded') if $server->pg_version < 17;

start_within($server, 'ulimit -f 6144');
value($server, 'CREATE EXTENSION snowflake');
for my $try (1, 2)
{
	my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
	like($state, qr/^(53100|53200)$/, "try $try: no room");
	like($error, qr/HINT:  snowflake needs \d{4} kB of shared memory\. Make room/, '... for what, says the hint');
	figures('%s', $1) if $error =~ /needs (\d+ kB)/;
}
$server->stop('fast');
start_server($server);
like(value($server, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'with room there are ids');
$server->stop('fast');
done_testing();
