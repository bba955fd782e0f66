# With the clock before the layout's epoch calls fail with SF002, while the server runs and from its start on, and nothing else
# happens: no crash, and ids as before once the clock is right (G1, G7).

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('epoch');

subtest 'the clock before the epoch: SF002, and nothing else happens' => sub {
	my $ready = ready_count($server);
	my $session = session($server);
	call($session);
	run_from($server, 1717200000000);    # June 2024
	is(call($session), 'SF002', 'while it runs');
	my ($state, $error) = query_error($server, 'postgres', 'SELECT snowflake_nextval()');
	is($state, 'SF002', 'in a new session');
	like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint');
	move_clock($server, 0);
	like(call($session), qr/^\d{6,}$/, 'back in the present, ids flow');
	follows_the_clock($server);
	$session->quit;
	$server->stop;
	run_from($server, 1717200000000);
	start_server($server);
	($state) = query_error($server, 'postgres', "SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()");
	is($state, 'SF002', 'from the start on');
	move_clock($server, 0);
	is(scalar issue($server, 1000), 1000, 'back in the present, ids flow');
	follows_the_clock($server);
	is(repeated(), 0, 'no duplicate (G1)');
	is(ready_count($server), $ready + 1, 'no crash');
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
