# A background worker of another extension, pg_prewarm, has the last slot. A call's error says so. A
# waiting call gets its id when the other worker ends. With one more slot both workers run at the
# same time.
# Not in the default run: it is about other software.

use strict;
use warnings;

use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
left_out_unless(is_available('pg_prewarm'), 'pg_prewarm', 'install PostgreSQL\'s contrib modules');

my $narrow = new_server('narrow', preload => 0, conf => quiet() . q{
shared_preload_libraries = 'pg_prewarm, snowflake'
max_worker_processes = 1
max_logical_replication_workers = 0
snowflake.start_timeout = 500ms
});
start_server($narrow);
value($narrow, 'CREATE EXTENSION snowflake');
# The worker is not connected to a database, so pg_stat_activity does not show it.
my $leader = sub {
	my ($pid) = grep { -e "/proc/$_/cmdline" && slurp_file("/proc/$_/cmdline") =~ /autoprewarm leader/ } server_processes($narrow);
	return $pid;
};
ok(wait_until('the other worker', $leader), 'it runs');
my ($state, $text) = query_error($narrow, $db, 'SELECT snowflake_nextval()');
is($state, 'SF001', 'no id');
like($text, qr/All 1 background workers \(max_worker_processes\).*HINT: .*max_worker_processes/s, '... and why');
# A call that is waiting gets its id when the other worker ends.
my $waiting = $narrow->background_psql($db, on_error_stop => 1);
$waiting->query_safe(q{SET snowflake.start_timeout = '120s'});
$waiting->query_until(qr/begun/, "\\echo begun\nSELECT snowflake_nextval() > 0 AS issued \\gset\n\\echo issued :issued\n");
ok(wait_until('the call to wait', sub { value($narrow, q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT snowflake_nextval%' AND wait_event_type = 'Extension'}) eq '1' }), 'a call waits');
kill 'TERM', $leader->();
like($waiting->query_until(qr/issued t/, ''), qr/issued t/, '... and has its id when the other worker has ended');
$waiting->quit;
$narrow->append_conf('postgresql.conf', 'max_worker_processes = 2');
$narrow->restart;
like(value($narrow, q{SET snowflake.start_timeout = '60s'; SELECT snowflake_nextval()}), qr/^\d+$/, 'with a slot more both run');
ok(wait_until('the other worker', $leader), '... beside each other');
$narrow->stop('fast');

done_testing();
