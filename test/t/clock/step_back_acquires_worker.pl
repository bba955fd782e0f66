# A step back of the clock by more than max_bridge costs a worker id but does not interrupt service
# (G5). With on_clock_step_back = new_worker ids continue at once under another worker id. They are
# lower than previous ids but never equal to one (G1, G2), and they follow the clock (G3). The log
# reports the step.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('steps');

# Moves the clock from its present time.
sub step { run_from($server, some_ms($server) + $_[0] * 1000); return; }

# Longer than the calls before and after it may take on a busy machine.
for my $case ([ '20 s', 20, '0' ], [ '61 s', 61 ], [ '1 h', $hour_s ], [ '30 days', 30 * 24 * $hour_s ])
{
	my ($name, $back_s, $max_bridge) = @$case;
	subtest "new_worker: back by $name, another worker id goes on" => sub {
		setting($server, 'snowflake.max_bridge', $max_bridge // '1min');
		my $session = session($server);
		my $before = call($session);
		my ($acquired, $steps) = split /\|/, status($server, 'leases_acquired_total, clock_steps_back_total');
		my $log = -s $server->logfile;
		step(-$back_s);
		my $after = call($session);
		like($after, qr/^\d{6,}$/, 'an id');
		cmp_ok($after, '<', $before, 'below the last one');
		isnt(worker_of($after), worker_of($before), 'with another worker id');
		is(status($server, 'leases_acquired_total, clock_steps_back_total'), ($acquired + 1) . '|' . ($steps + 1), 'one lease was acquired for it');
		ok(wait_until('the message', sub {
			slurp_file($server->logfile, $log) =~ /acquired worker id \d+ in place of \d+, because the clock stepped back by [\d.]+ s/;
		}), 'the log says so');
		is(worker_of(call($session)), worker_of($after), 'and ids go on with it');
		follows_the_clock($server);
		ok(wait_until('the release', sub {
			$server->safe_psql('postgres', 'SELECT count(*) FROM snowflake_registry WHERE worker_id = ' . worker_of($before)) eq '0';
		}), 'the old lease is released');
		is($server->safe_psql('postgres', 'SELECT last_tick FROM snowflake_watermark WHERE worker_id = ' . worker_of($before)), tick_of($before), 'with its last tick');
		is(repeated(), 0, 'no duplicate (G1)');
		$log = -s $server->logfile;
		step($back_s);
		my $forward = call($session);
		cmp_ok($forward, '>', $after, 'forward again, ids flow');
		cmp_ok($forward, '>', $before, '... of the time that was known before');
		ok(wait_until('the message', sub { slurp_file($server->logfile, $log) =~ /LOG:  snowflake keeper: the clock stepped forward by / }), 'the log says so');
		follows_the_clock($server);
		is(repeated(), 0, 'no duplicate (G1)');
		$session->quit;
	};
}

subtest 'forward by 1 h and back again' => sub {
	for my $round (1 .. 3)
	{
		step($hour_s);
		is(scalar issue($server, 2000), 2000, 'an hour ahead, ids flow');
		follows_the_clock($server);
		step(-$hour_s);
		is(scalar issue($server, 2000), 2000, 'back again, ids flow');
		follows_the_clock($server);
	}
	is(repeated(), 0, 'no duplicate (G1)');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
