# Where every worker id was used up to later than now, calls fail with SF002, and the keeper keeps the one lease that it drew
# until the clock has come to it, instead of drawing again and again (G1; section 6 of the design). There are two worker ids.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('pair', layout => [ $epoch_ms, 41, 1, 12 ]);

subtest 'even the lowest watermark lies ahead of the clock: SF002, and one lease' => sub {
	move_clock($server, 2 * $hour_s);
	# After a start it begins at a random place.
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
	is(status($server, 'leases_drawn'), 1, 'the keeper does not draw again and again');
	move_clock($server, 2 * $hour_s + 60);
	is(scalar issue($server, 100), 100, 'once the clock has come to the lease, ids flow');
	is(status($server, 'leases_drawn'), 1, 'under the same lease');

	# The same while it runs.
	move_clock($server, 0);
	for (1 .. 5)
	{
		my ($state) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
		is($state, 'SF002', 'stepped back while it runs, the call fails');
	}
	is(status($server, 'leases_drawn'), 2, 'one lease was drawn for it');
	move_clock($server, 2 * $hour_s + 120);
	is(scalar issue($server, 100), 100, 'forward again, ids flow');
	is(status($server, 'leases_drawn'), 2, 'under that lease');
	is(repeated(), 0, 'no duplicate (G1)');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
