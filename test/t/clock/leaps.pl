# The log reports each leap and each step back of the wall clock once, with both times and the
# effect on ids (G5, G9).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('leaps', clock => 1, patient => 1);
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');

sub leaps { return scalar(() = slurp_file($server->logfile) =~ /(?:LOG|WARNING):  snowflake keeper: the clock (?:leapt|stepped)/g); }

my $session = $server->background_psql('postgres');
keeper_looks($server);
is(leaps(), 0, 'a clock that goes its way is not worth a word');
my $at = qr/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\S+/;
my $expected = 0;
for my $step (
	[ 3600, 'stepped forward by 3(?:600|599)\.\d{3} s' ],
	[ 0, 'stepped back by 3(?:600|599)\.\d{3} s' ],
	[ -5, 'stepped back by (?:5\.0|4\.9)\d\d s, and ids go on', ' Ids are ahead of it until it has caught up\.' ],
	[ -5.5, 'stepped back by 0\.(?:50|49)\d s, and ids go on', ' Ids are ahead of it until it has caught up\.' ],
	[ 3 * 86_400, 'leapt forward by 2592\d\d s, which is not followed yet', ' Ids go on from the former time\. They follow the leap in 10 minutes if it lasts\.' ])
{
	my ($to, $message, $ids) = (@$step, '');
	my $offset = -s $server->logfile;
	# The calls read the clock, so the time since the last reading is too short to hide a small
	# step. Connecting may take too long. The second call comes when the tick of the first is over.
	$session->query_safe('SELECT snowflake_nextval()');
	move_clock($server, $to);
	select undef, undef, undef, 0.01;
	$session->query_safe('SELECT snowflake_nextval()');
	$expected++;
	ok(wait_until('the message', sub { leaps() >= $expected }), "the clock at $to s: the log says so");
	like(substr(slurp_file($server->logfile), $offset),
		qr/keeper: the clock $message\n.*DETAIL:  It showed $at, and \d\.\d{3} s later $at\.$ids\n/, '... with both times');
	keeper_looks($server);
	is(leaps(), $expected, '... once');
}
like(slurp_file($server->logfile), qr/WARNING:.*not followed yet\n.*\n.*HINT:  Set the clock right if it is wrong\. Steps of up to snowflake\.max_leap are followed at once/,
	'what is not believed is a warning, with a hint');
my $offset = -s $server->logfile;
let_pass($server, 600);
ok(wait_until('the message', sub {
	substr(slurp_file($server->logfile), $offset) =~ /LOG:  snowflake keeper: the clock leapt forward and stayed there, so ids follow\n.*DETAIL:  It shows $at\./;
}), 'ten minutes later the log says that ids follow');
$expected++;
move_clock($server, 3 * 86_400 + 600.5);
keeper_looks($server);
is(leaps(), $expected, 'half a second forward is not worth a word');
$session->quit;
$server->stop('fast');
done_testing();
