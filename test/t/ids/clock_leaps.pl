# The log says when the wall clock leapt, once for each leap and with both times (G5).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('leaps', clock => 1);
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
my $keeper = $server->safe_psql('postgres', 'SELECT keeper_pid FROM snowflake_status');

sub leaps { return scalar(() = slurp_file($server->logfile) =~ /LOG:  snowflake keeper: the clock (?:leapt|stepped)/g); }
sub switches { return slurp_file("/proc/$keeper/status") =~ /^voluntary_ctxt_switches:\s*(\d+)/m ? $1 : die 'no keeper' }
sub looks
{
	my $before = switches();
	return wait_until('the keeper to look', sub { switches() > $before + 1 });
}

looks();
is(leaps(), 0, 'a clock that goes its way is not worth a word');
my $at = qr/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\S+/;
my $expected = 0;
for my $step ([ 3600, 'leapt forward by 3(?:600|599)\.\d{3} s' ], [ 0, 'stepped back by 3(?:600|599)\.\d{3} s' ],
	[ -5, 'stepped back by (?:5\.0|4\.9)\d\d s' ])
{
	my ($to, $message) = @$step;
	my $offset = -s $server->logfile;
	move_clock($server, $to);
	$expected++;
	ok(wait_until('the message', sub { leaps() >= $expected }), "the clock at $to s: the log says so");
	like(substr(slurp_file($server->logfile), $offset), qr/keeper: the clock $message\n.*DETAIL:  It showed $at, and \d\.\d{3} s later $at\.\n/, '... with both times');
	looks();
	is(leaps(), $expected, '... once');
}
move_clock($server, -5.5);
looks();
is(leaps(), $expected, 'half a second is not');
$server->stop('fast');
done_testing();
