# A clock that steps back by no more than max_lead is not noticed, and by no more than max_wait costs a wait: ids go on rising
# under the same lease (G2, G5). A clock that stands makes the steps exact.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('small');

subtest 'back by up to max_lead: ids go on in the last tick' => sub {
	my $session = session($server);
	call($session);
	my $worker = status($server, 'worker');
	my $now = some_ms($server);
	stand_at($server, $now + 100);
	my $first = call($session);
	my $counters = status($server, 'clock_waits, lease_waits, leases_drawn');
	my $last = $first;
	for my $back (3, 5)
	{
		stand_at($server, $now + 100 - $back);
		my $id = call($session);
		cmp_ok($id, '>', $last, "back by $back ms, the id is above the last one");
		is(tick_of($id), tick_of($first), 'in the same tick');
		is(worker_of($id), $worker, 'with the same worker id');
		$last = $id;
	}
	is(status($server, 'clock_waits, lease_waits, leases_drawn'), $counters, 'nobody waited, no lease was drawn');
	run_clock($server);
	$session->quit;
};

subtest 'back by up to max_wait: the call waits' => sub {
	my $session = session($server);
	my $worker = status($server, 'worker');
	my ($waits, $drawn) = split /\|/, status($server, 'clock_waits, leases_drawn');
	my $tries = 0;
	# A call that comes late on a busy machine finds the clock where it was: then once more.
	ok(wait_until('a call that waits', sub {
		$tries++;
		my $now = some_ms($server) + 200;
		stand_at($server, $now);
		my $before = call($session);
		run_from($server, $now - 50);
		my ($out) = ask($session, 'SELECT snowflake_nextval(), extract(epoch FROM clock_timestamp()) * 1000');
		my ($id, $clock_ms) = split /\|/, $out;
		remember($id);
		my $waited = status($server, 'clock_waits') > $waits;
		return 0 unless $waited;
		cmp_ok($id, '>', $before, 'the id is above the last one');
		is(worker_of($id), $worker, 'with the same worker id');
		cmp_ok($clock_ms, '>=', int($now) - $max_lead_ms, 'when the call ended the clock had come back to the last tick less max_lead');
		return 1;
	}), "a call waited, in try $tries");
	is(status($server, 'leases_drawn'), $drawn, 'no lease was drawn');
	move_clock($server, 0);
	follows_the_clock($server);
	$session->quit;
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
