# When the layout's time field is full, calls fail with SF003 from then on, and ids never wrap
# around (G7). This holds under load, in new sessions, a day later and after a start. If the clock
# was ahead, ids continue once it is set right.
# Not in the default run: it starts some 450 processes.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

# 22 bits of milliseconds last 70 minutes; an epoch an hour ago leaves ten.
my $epoch = now_ms() - $hour_s * 1000;
my $end = $epoch + 2**22;
my $server = new_clock_server('short', layout => [ $epoch, 22, 10, 12 ]);

subtest 'the layout\'s end: SF003, and ids never wrap (G7)' => sub {
	cmp_ok($server->safe_psql('postgres', "SELECT abs((extract(epoch FROM clock_timestamp()) + end_of_life_seconds) * 1000 - $end) FROM snowflake_metrics"), '<', 1000,
		'the end is known from the first day');
	my $session = session($server);
	like(call($session), qr/^\d+$/, 'ids flow');
	my $clients = start_clients($server, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 200)) TO STDOUT;\n\\! sleep 0.005\n" x 100);
	# The clock stands still until the clients have got ids of the last second.
	stand_at($server, $end - 1000);
	ok(wait_until('ids of the last second', sub { ((compare_ids(@{ $clients->{files} }))[3] // 0) >> 22 >= 2**22 - 1000 }), 'up to the end ids flow');
	run_from($server, $end - 1000);
	my $state;
	wait_until('the end', sub { $state = call($session); return $state !~ /^\d{6,}$/; });
	is($state, 'SF003', 'SF003 at the end');
	stop_clients($clients);
	my ($code, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
	is($code, 'SF003', 'in a new session too');
	like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint');
	my ($ids, $duplicates, $lowest, $highest) = compare_ids(@{ $clients->{files} });
	is($duplicates, 0, "no duplicate among $ids");
	cmp_ok($lowest, '>', 0, 'none was negative or 0');
	cmp_ok($highest, '<', 2**44, 'none was beyond the layout');
	cmp_ok($highest >> 22, '>', 2**22 - 1500, 'and the last seconds were used');
	move_clock($server, 24 * $hour_s);
	is(call($session), 'SF003', 'a day later: SF003');
	$session->quit;
	$server->stop;
	start_server($server);
	# SF001 while the keeper has not asked.
	wait_until('an answer', sub {
		($code) = query_error($server, 'postgres', "SET snowflake.start_timeout = '500ms'; SELECT snowflake_nextval()");
		return $code ne 'SF001';
	});
	is($code, 'SF003', 'after a start beyond the end: SF003');
	move_clock($server, 0);
	my ($again) = issue($server, 1);
	cmp_ok($again, '>', 0, 'a clock that was set right brings ids back');
};

$server->stop;
done_testing();
