# A node with on_clock_step_back = error, whose window has not begun, acquires another worker id as
# soon as one would help (section 6 of the design). Otherwise, if the clock steps back and no other
# worker id would help, the node continues with its present worker id, in order (G9).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use ProtocolTest qw(lease_function);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('future', clock => 1, patient => 1, conf => "snowflake.max_clock_skew = 1s\nsnowflake.on_clock_step_back = error\n");
start_server($server);
# Two worker ids.
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
$server->safe_psql('postgres', q{SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=1 seq=12')});
my $now_tick = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
my $window_start = '(SELECT snowflake_tick_timestamp(r.window_start) FROM snowflake_registry r WHERE r.lease_id = snowflake_status.lease_id)';
sub next_id { return (query_error($server, 'postgres', 'SELECT snowflake_nextval()'))[0]; }

# Another node has one of them (max_clock_skew is 1 s). This node has the other, while its clock is
# an hour ahead for some time.
my ($lease, $secret, $start) = split /\|/, $server->safe_psql('postgres',
	lease_function() . "SELECT lease_id, secret, window_start FROM pg_temp.lease('other', $now_tick, '1 day')");
move_clock($server, 3600);
is(next_id(), '00000', 'with the clock an hour ahead ids flow');
my $worker = status($server, 'worker');
my $keeper = status($server, 'keeper_pid');
$server->safe_psql('postgres', "SELECT pg_terminate_backend($keeper)");
ok(wait_until('the keeper to end', sub { !-e "/proc/$keeper" }), 'the worker id goes back');
move_clock($server, 0);

is(next_id(), 'SF002', 'with the clock put right the only free worker id was used up to later');
is(status($server, 'worker'), $worker, '... it is the same one');
is(status($server, "$window_start > now() + interval '50 min'"), 't', '... whose window begins in an hour');
my $acquired = status($server, 'leases_acquired_total');
my $first = $server->safe_psql('postgres', q{SELECT last_value FROM snowflake_registry_lease_id_seq});

# Meanwhile the keeper asks the registry. If no lease would be better, it acquires none and logs
# nothing.
ok(wait_until('the keeper to ask', sub { $server->safe_psql('postgres', q{SELECT last_value FROM snowflake_registry_lease_id_seq}) > $first }),
	'the keeper asks whether another one helps');
is(next_id(), 'SF002', '... none does');
is(status($server, 'leases_acquired_total'), $acquired, '... so none was acquired');
is(status($server, 'last_error IS NULL'), 't', '... which is no error');
is($server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry'), '2', '... or left behind');

$server->safe_psql('postgres', "SELECT snowflake_lease_release($lease, '$secret', $start, 0)");
my $began = time();
ok(wait_until('ids', sub { next_id() eq '00000' }), 'the other node releases its worker id, and ids flow');
my $took = time() - $began;
figures('ids flowed %.1f s after a worker id that helps was free', $took);
is(status($server, "$window_start <= clock_timestamp()"), 't', '... not by the lease of the future');
isnt(status($server, 'worker'), $worker, '... under that worker id');
ok(wait_until('the release', sub {
	$server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry') eq '1' }), 'the lease of the future goes back');
is(status($server, 'last_error IS NULL'), 't', 'nothing is wrong');

# A step back to a time before the other worker id's watermark, and then a step back while that
# worker id is leased.
$server->safe_psql('postgres', 'ALTER SYSTEM SET snowflake.on_clock_step_back = new_worker');
$server->reload;
wait_until('the setting', sub { $server->safe_psql('postgres', 'SHOW snowflake.on_clock_step_back') eq 'new_worker' });
$worker = status($server, 'worker');
for my $why ('the other worker id was used up to later', 'every worker id is leased')
{
	$server->safe_psql('postgres', lease_function() . "SELECT pg_temp.lease('other', $now_tick, '1 day')") if $why =~ /leased/;
	move_clock($server, 0);
	my $before = $server->safe_psql('postgres', 'SELECT snowflake_nextval()');
	my $counters = status($server, 'leases_acquired_total, clock_steps_back_total, clock_waits_total');
	move_clock($server, -90);
	for my $which ('the first id', 'the next')
	{
		my $after = $server->safe_psql('postgres', 'SELECT snowflake_nextval()');
		cmp_ok($after, '>', $before, "stepped back, and $why: $which is above the last");
		$before = $after;
	}
	is(status($server, q{state, worker, clock_lead_seconds BETWEEN 60 AND 91}), "issuing|$worker|t", '... of the same worker id, and leads the clock');
	is(status($server, 'leases_acquired_total, clock_steps_back_total, clock_waits_total'), $counters, '... no worker id was acquired, and nobody waited for the clock');
}
move_clock($server, 0);
is(next_id(), '00000', 'the clock put right, ids flow');
is(status($server, 'clock_lead_seconds'), 0, '... and lead it no more');
$server->stop('fast');
done_testing();
