# COPY, defaults, snowflake_nextvals() and snowflake_nextval() use the numbers of one run in turn,
# so ids rise across all of them (G2).

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(remember tick_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('all');
$server->safe_psql('postgres', 'CREATE TABLE t (n int, id bigint DEFAULT snowflake_nextval())');

subtest 'one run for all functions (G2)' => sub {
	my ($session, $tick, $last) = session_with_run();
	ask($session, 'TRUNCATE t');
	my ($taken, $runs) = columns('ids_taken, runs_taken');
	my $script = join "\n", map {
		("COPY t (n) FROM PROGRAM 'seq 2';", 'INSERT INTO t (n) VALUES (3) RETURNING id;', 'SELECT snowflake_nextvals(2);',
			'SELECT * FROM snowflake_nextvals(3);', 'SELECT snowflake_nextval();')
	} 1 .. 20;
	my @ids = remember(split /\n/, (ask($session, $script))[0]);
	is($ids[-1], $last + 180, 'COPY, INSERT, snowflake_nextvals() and snowflake_nextval() take the run\'s numbers in turn');
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, '... rising');
	is(join('|', columns('ids_taken, runs_taken')), "$taken|$runs", '... and none but the run\'s');
	is((ask($session, 'SELECT count(*), count(DISTINCT id), min(id), max(id) FROM t'))[0],
		join('|', 60, 60, $last + 1, $last + 174), 'those of the table among them');
	is((ask($session, 'SELECT snowflake_currval()'))[0], $ids[-1], 'snowflake_currval() is the last');
	@ids = remember(split /\n/, (ask($session, 'SELECT * FROM snowflake_nextvals(2); SELECT snowflake_currval()'))[0]);
	is("@ids", join(' ', $last + 181, $last + 182, $last + 182), '... also after snowflake_nextvals() in FROM');
	stand_at(++$next_tick);
	@ids = remember(split /\n/, (ask($session, 'SELECT * FROM snowflake_nextvals(10)'))[0]);
	is(join(' ', map { tick_of($_) } @ids), join(' ', ($next_tick) x 10), '... which leaves a run behind with its tick, too');
	$session->quit;
};

finish();
