# A standby that has not received any lease is promoted (G1). It uses no worker id of the old
# primary, which continues to run.

use strict;
use warnings;

use ProtocolTest qw(lease_function);
use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $young = new_server('young', streaming => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($young);
value($young, 'CREATE EXTENSION snowflake');
my $standby = standby_of($young, 'standby', conf => "primary_conninfo = ''\n");
ids($young, 1);
is(value($standby, 'SELECT count(*) FROM snowflake_registry'), '0', 'a standby that lacks the first lease');
$standby->promote;
ids($standby, 1);
my %acquired;
for my $server ($young, $standby)
{
	$acquired{$_}++ for split /\n/, value($server, lease_function() . q{
		SELECT worker FROM snowflake_status
		UNION ALL SELECT (pg_temp.lease('node ' || n, extract(epoch FROM now())::bigint * 1000 - 1735689600000, '1 min')).worker_id
		FROM generate_series(1, 200) n});
}
is(scalar(keys %acquired), 402, '... has no worker id in common with the old primary once it is promoted, among 201 of each');
$_->stop('fast') for $standby, $young;
done_testing();
