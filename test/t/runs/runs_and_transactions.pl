# A run ends with its transaction. The rest of the run is returned and allocated next, unless a
# horizon was reported meanwhile. Nothing new appears below a horizon (G12), so the rest is then
# lost.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(repeated session tick_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('transactions');

for my $end ('COMMIT', 'ROLLBACK', 'SAVEPOINT s; ROLLBACK TO s; COMMIT AND CHAIN', q{ROLLBACK; DO 'BEGIN COMMIT; END'})
{
	subtest "what a run has left at the end of its transaction: $end" => sub {
		my ($session, $tick, $last) = session_with_run();
		my ($runs) = columns('runs_taken');
		ask($session, $end);
		is((numbers($session, 1))[0], $last + 1, 'the next transaction goes on with it');
		is((columns('runs_taken'))[0], $runs + 1, '... in a run of its own');
		$session->quit;
	};
}

subtest 'the same once the horizon was told (G12)' => sub {
	my ($session, $tick, $last) = session_with_run();
	ask($session, 'COMMIT');
	$server->safe_psql('postgres', 'SELECT snowflake_horizon()');
	my ($horizon) = columns('horizon');
	cmp_ok($horizon, '>', $last + 1, 'the horizon is above what the transaction left');
	my ($id) = numbers($session, 1);
	cmp_ok($id, '>=', $horizon, '... and what comes next is not below it');
	is(tick_of($id), $tick, '... though it is of the same tick');
	$session->quit;
};
is(repeated(), 0, 'no duplicate');

finish();
