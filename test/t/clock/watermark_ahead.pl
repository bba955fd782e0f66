# If the watermarks of all worker ids are in the future, the keeper acquires one lease and keeps it
# until the clock reaches its window. It does not acquire leases again and again (G1; section 6 of
# the design). Until then calls fail with SF002 if on_clock_step_back is error; otherwise ids
# continue from the window's start, ahead of the clock (G5). There are two worker ids.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('pair', layout => [ $epoch_ms, 41, 1, 12 ]);

subtest 'error: even the lowest watermark lies ahead of the clock: SF002, and one lease' => sub {
	setting($server, 'snowflake.on_clock_step_back', 'error');
	move_clock($server, 2 * $hour_s);
	# After a start the registry begins at a random slot.
	my %workers;
	for (1 .. 30)
	{
		issue($server, 100);
		$workers{ status($server, 'worker') }++;
		$server->stop('fast');
		last if keys %workers == 2;
		start_server($server);
	}
	is(join(' ', sort keys %workers), '0 1', 'both worker ids are used up to two hours from now');
	move_clock($server, 0);
	start_server($server);
	for (1 .. 5)
	{
		my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'the call fails');
		like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint') if $_ == 1;
	}
	is(status($server, 'leases_acquired_total'), 1, 'the keeper does not acquire leases again and again');
	move_clock($server, 2 * $hour_s + 60);
	is(scalar issue($server, 100), 100, 'once the clock has come to the lease, ids flow');
	is(status($server, 'leases_acquired_total'), 1, 'under the same lease');

	# The same while the server runs.
	move_clock($server, 0);
	for (1 .. 5)
	{
		my ($state) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'stepped back while it runs, the call fails');
	}
	is(status($server, 'leases_acquired_total'), 1, 'no lease was acquired for it');
	move_clock($server, 2 * $hour_s + 120);
	is(scalar issue($server, 100), 100, 'forward again, ids flow');
	is(status($server, 'leases_acquired_total'), 1, 'under the same lease');
	is(repeated(), 0, 'no duplicate (G1)');
};

subtest 'new_worker: even the lowest watermark lies ahead of the clock: ids go on from there, under one lease' => sub {
	setting($server, 'snowflake.on_clock_step_back', 'new_worker');
	$server->stop('fast');
	move_clock($server, 0);
	start_server($server);
	my @ids = map { issue($server, 100) } 1 .. 3;
	is(scalar @ids, 300, 'ids flow');
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, 'in order');
	is(status($server, q{(SELECT min(snowflake_tick_timestamp(window_start)) FROM snowflake_registry) > clock_timestamp() + interval '1 h', clock_lead_seconds BETWEEN 3600 AND 10800, state, leases_acquired_total, clock_waits_total}),
		't|t|issuing|1|0', 'from where the lease begins, and nobody waits for the clock');
	move_clock($server, 2 * $hour_s + 240);
	push @ids, issue($server, 100);
	follows_the_clock($server, 'once the clock has come to the lease, ids follow it');
	is(status($server, 'leases_acquired_total, clock_lead_seconds'), '1|0', 'under the same lease');

	# The same while the server runs. The other worker id of the two was used until some minutes
	# ago.
	move_clock($server, 0);
	push @ids, map { issue($server, 100) } 1 .. 3;
	is(status($server, q{leases_acquired_total, clock_steps_back_total, clock_lead_seconds BETWEEN 3600 AND 10800, state}), '1|0|t|issuing', 'stepped back while it runs, none helps, and ids go on under the same lease');
	is(scalar @ids, 700, 'ids flow');
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, 'in order');
	move_clock($server, 2 * $hour_s + 300);
	follows_the_clock($server, 'forward again, ids follow the clock');
	is(status($server, 'leases_acquired_total'), 1, 'under the same lease');
	is(repeated(), 0, 'no duplicate (G1)');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
