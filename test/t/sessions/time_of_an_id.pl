# An id's time is between the clock before its call and the clock after it plus max_lead, while
# sessions issue ids as fast as they can (G3).

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('time');

subtest 'each id lies between the clock before the call and the clock after it plus max_lead (G3)' => sub {
	my $calls = $each * 2 / 5;
	my @scripts = map {
		"CREATE UNLOGGED TABLE timed_$_ AS SELECT clock_timestamp() AS before, snowflake_nextval() AS id, clock_timestamp() AS after"
		  . " FROM generate_series(1, $calls)"
	} 1 .. 4;
	ok(run_together($server, @scripts), 'all sessions end well');
	my $union = join ' UNION ALL ', map { "SELECT * FROM timed_$_" } 1 .. 4;
	is($server->safe_psql('postgres', "SELECT count(*) FROM ($union) t WHERE snowflake_timestamp(id) <= before - interval '1 ms'"),
		0, 'trails by less than a tick');
	is($server->safe_psql('postgres', "SELECT count(*) FROM ($union) t WHERE snowflake_timestamp(id) > after + interval '$max_lead_ms ms'"),
		0, 'leads by at most max_lead');
};

$server->stop;
done_testing();
