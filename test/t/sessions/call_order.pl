# Ids are in the order of the calls (G2): an id that is requested after another call has returned is
# larger, whichever sessions call and however: directly, by a default, in rows of COPY, many at
# once, in parallel queries, in transactions that are prepared or rolled back. Eight sessions call
# as fast as they can, and record when each call began and ended.
#
# SNOWFLAKE_CALLS sets how many calls they make.

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('order');
my $recording = prepare_recording($server, 8);
calls_in_order($recording, $ENV{SNOWFLAKE_CALLS} || 400_000 / slowness(), 'in the default layout');
like($server->safe_psql('postgres', 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
		. ' SET parallel_leader_participation = off; EXPLAIN (ANALYZE, COSTS OFF) SELECT snowflake_nextval() FROM big'),
	qr/Gather.*Workers Launched: [1-9]/s, 'parallel workers call, too');
is($server->safe_psql('postgres', 'SELECT leases_acquired_total FROM snowflake_metrics'), 1, 'one worker id was enough');

$server->stop;
done_testing();
