# A segment that was not used for 10 s frees its slot for others, even if its database has no keeper
# to notice this, because all of max_worker_processes are in use. It has numbers again when there is
# a keeper.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $server = own_node('narrow', clock => 1, conf => q{
max_worker_processes = 1
max_logical_replication_workers = 0
max_parallel_workers_per_gather = 0
snowflake.max_segments = 1
snowflake.start_timeout = 300ms
});
value($server, q{SET snowflake.start_timeout = '60s'; SELECT snowflake_nextval()});
value($server, 'CREATE DATABASE other');
value($server, q{CREATE EXTENSION snowflake; SELECT snowflake_create_segment('theirs')}, 'other');
value($server, q{SELECT snowflake_create_segment('ours')});

sub attempt { my ($segment, $dbname) = @_; return (query_error($server, $dbname, "SELECT snowflake_segment_nextval('$segment')"))[0]; }
# No time passes between two uses, however slow the machine is.
freeze_clock($server);
is(attempt('theirs', 'other'), 'SF005', 'a segment of a database without a keeper has no numbers');
is(attempt('ours', 'postgres'), '53400', 'it was used a moment ago, so it does not make room');
let_pass($server, 11);
is(value($server, q{SET snowflake.start_timeout = '60s'; SELECT snowflake_segment_nextval('ours')}), 1, 'when it is idle it does');

value($server, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
ok(wait_until('room', sub { let_pass($server, 11); attempt('theirs', 'other') eq '00000' }), 'a keeper gets it numbers');
$server->stop('fast');
done_testing();
