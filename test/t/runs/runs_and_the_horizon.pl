# A horizon that was reported ends the run: no session issues a smaller id, also within the same tick
# (G12). Ticks are a second long, so that many calls and horizons share one.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(remember repeated remembered session);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $server = new_server('seconds', patient => 1);
start_server($server);
$server->safe_psql('postgres', q{CREATE EXTENSION snowflake;
INSERT INTO snowflake_layout (definition)
	VALUES ('epoch=1735689600000 tick=1s time=31 worker=10 seq=22')});

my @sessions = map { session($server) } 1 .. 3;
my ($highest, $last, $below, $fell, $rose, $trials) = (0, 0, 0, 0, 0, 0);
my $check = sub {
	for my $id (remember(grep { /^\d+$/ } @_))
	{
		$below++ if $id < $highest;
		$fell++ if $id <= $last;
		$last = $id;
	}
	return;
};
$check->((ask($_, 'SELECT snowflake_nextval()'))[0]) for @sessions;
ask($sessions[0], 'BEGIN; SELECT snowflake_nextval()');
for (1 .. at_length(100, 1000))
{
	$check->((ask($_, 'SELECT snowflake_nextval()'))[0]) for @sessions;
	# The first session's transaction would hold the horizon back.
	my ($id) = ask($sessions[0], 'COMMIT; BEGIN; SELECT snowflake_nextval()');
	$check->($id);
	ask($sessions[0], 'COMMIT') if rand() < 0.5;
	sleep 0.011;    # a sample is taken after 10 ms
	my ($horizon) = ask($sessions[1], 'SELECT snowflake_horizon()');
	$rose++ if $horizon > $highest;
	$highest = $horizon if $horizon > $highest;
	$trials++;
}
is($below, 0, 'no id is below a horizon that was reported before');
is($fell, 0, 'ids rise in the order of calls');
cmp_ok($rose, '>', $trials / 4, 'the horizon rose often');
is(repeated(), 0, 'no duplicate');
figures('%d ids, %d horizons in %d trials', remembered(), $rose, $trials);
$_->quit for @sessions;
$server->stop;
done_testing();
