# snowflake_renew() is for a machine that was copied with its memory. The node never uses its
# previous leases and ranges again, neither after a crash nor in a session that has a run of
# numbers. It does not release them either, because the other machine still uses them.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

need_boxes();
my $registry = registry_server(streaming => 1);
# Ticks of half a second, so a session's numbers last as long.
new_registry($registry, 'fleet', layout => q{(true, 'epoch=1735689600000 tick=500ms time=38 worker=10 seq=15')});
my $server = new_server('renewed', streaming => 1, preload => 1,
	conf => "snowflake.start_timeout = 20s\nsnowflake.lease_duration = 10s\nsnowflake.registry = '" . at($registry, 'fleet') . "'\n");
start_server($server);
value($server, 'CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, $$epoch=1735689600000 tick=500ms time=38 worker=10 seq=15$$)');

sub row_of { my ($lease) = @_; return value($registry, "SELECT worker_id, window_end FROM $schema.snowflake_registry WHERE lease_id = $lease", 'fleet'); }
sub workers { my (@ids) = @_; return value($server, 'SELECT string_agg(DISTINCT (snowflake_decode(id)).worker::text, \' \') FROM unnest(ARRAY[' . join(',', @ids) . ']::bigint[]) id'); }

# Before the first lease, the call does nothing.
value($server, 'SELECT snowflake_renew()');
is(leases($registry, 'fleet'), '0', 'before any lease it acquires none');
value($server, 'CREATE ROLE nobody LOGIN');
is((as_role($server, 'postgres', 'nobody', 'SELECT snowflake_renew()'))[0], '42501', 'it is not for PUBLIC');

# A request that had no response is not repeated, because a copy may repeat it, too.
$registry->stop('fast');
value($server, q{ALTER SYSTEM SET snowflake.start_timeout = '100ms'});
$server->reload;
is((query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF001', 'a lease is asked for, in vain');
my $asked = read_box(box_of($server));
value($server, 'SELECT snowflake_renew()');
is((query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF001', '... and so it is later');
isnt(read_box(box_of($server)), $asked, '... by another question');
value($server, q{ALTER SYSTEM RESET snowflake.start_timeout});
$server->reload;
$registry->start;
ok(flows($server), 'ids flow');

my ($lease, $worker) = first_call($server);
my $session = $server->background_psql('postgres', on_error_stop => 0);
is(workers((ask($session, 'SELECT snowflake_nextval()'))[0]), $worker, 'a session issues under the first lease');
my $row = row_of($lease);
my $began = time();
value($server, 'SELECT snowflake_renew()');
figures('snowflake_renew() took %.2f s', time() - $began);
isnt(workers((ask($session, 'SELECT snowflake_nextval()'))[0]), $worker, '... and not once the node is renewed');
my @later = (take($server, 1000), (ask($session, 'SELECT string_agg(snowflake_nextval()::text, \',\') FROM generate_series(1, 1000)'))[0]);
my ($next, $its_worker) = split /\|/, status($server, 'lease_id, worker');
isnt($next, $lease, 'it has another lease');
isnt($its_worker, $worker, '... and worker id');
is(workers(@later), $its_worker, '... under which all is issued');
is(row_of($lease), $row, 'the row of before is in the registry, as it was');
$session->quit;

die_and_start($server);
is(life($server), "$next|$its_worker", 'after a crash the second lease goes on');

# The registry is down, so only the box is left.
$registry->stop('fast');
value($server, 'SELECT snowflake_renew()');
value($server, q{ALTER SYSTEM SET snowflake.start_timeout = '1s'});
$server->reload;
is((query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF001', 'while there is no registry nothing is issued');
die_and_start($server);
is((query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF001', '... nor after a crash');
$server->stop('fast');
start_server($server);
is((query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0], 'SF001', '... nor after a clean shutdown');
$registry->start;
value($server, q{ALTER SYSTEM RESET snowflake.start_timeout});
$server->reload;
ok(flows($server), 'with the registry ids flow');
my ($third) = first_call($server);
ok($third != $lease && $third != $next, '... under a third lease');
isnt(row_of($_), '', "lease $_ is in the registry") for $lease, $next;

# Several more times.
my %had = map { $_ => 1 } $lease, $next, $third;
value($registry, "SELECT $schema.snowflake_create_segment('numbers', step => 100); GRANT EXECUTE ON FUNCTION $schema.snowflake_segment_ranges TO node", 'fleet');
sub number { return value($server, "SELECT snowflake_segment_nextval('numbers')"); }
for my $time (1 .. 3)
{
	my $range = int((number() - 1) / 100);
	value($server, 'SELECT snowflake_renew()');
	cmp_ok(int((number() - 1) / 100), '>', $range, 'no number of a range that a copy may have');
	my ($its_lease) = first_call($server);
	ok(!$had{$its_lease}++, 'each time it is a lease that was not there before');
}

# A standby is a separate node.
my $standby = standby_of($server, 'standby');
my ($standby_lease) = first_call($standby);
my $primary_lease = status($server, 'lease_id');
ok(!$had{$standby_lease}++, 'a standby has a lease');
value($standby, 'SELECT snowflake_renew()');
ok(!$had{ (first_call($standby))[0] }++, '... and another once it is renewed');
is((first_call($server))[0], $primary_lease, '... and its primary goes on');
$standby->stop('fast');

$server->stop('fast');
# All but the last lease of each, which alone was released.
isnt(row_of($_), '', "lease $_ did not come back") for $lease, $next, $third, $standby_lease;
is(row_of($primary_lease), '', 'the last one did');
is(taken_twice(), 0, 'no id was issued twice');
$registry->stop('smart');
done_testing();
