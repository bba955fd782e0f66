# All sessions issue from one run, whatever they call, whether their transactions go on or end, and
# so do parallel workers. While the clock stands, each takes the number after the last one that
# anybody took, so ids rise in the order of calls (G2), and no number is wasted. What the status and
# the horizon read ends a run, and the next one goes on with the next number.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(remember remembered repeated session tick_of);
use RunsTest;
use SnowflakeTest;
use Test::More;

RunsTest::start('all');
$server->safe_psql('postgres', 'CREATE TABLE t (n int, id bigint DEFAULT snowflake_nextval());'
	. ' CREATE TABLE big AS SELECT i FROM generate_series(1, 2000) i; ALTER TABLE big SET (parallel_workers = 2); ANALYZE big');

sub ids { return remember(grep { /^\d+$/ } split /\n/, (ask(@_))[0]); }

# How many ids do not follow the one before.
sub gaps { my ($last, @ids) = @_; return scalar grep { my $gap = $_ != $last + 1; $last = $_; $gap } @ids; }

subtest 'one run for all sessions and calls (G2)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my ($other, $third) = map { session($server) } 1 .. 2;
	ask($other, 'BEGIN');
	my ($taken) = columns('ids_taken_total');
	my @ids;
	for my $round (1 .. 8)
	{
		push @ids, ids($session, 'SELECT snowflake_nextval()');
		push @ids, ids($other, 'INSERT INTO t (n) VALUES (3) RETURNING id');
		push @ids, ids($third, 'SELECT snowflake_nextvals(2)');
		push @ids, ids($other, 'SELECT * FROM snowflake_nextvals(3)');
		push @ids, ids($session, 'SELECT snowflake_nextval()');
	}
	is(gaps($last, @ids), 0, 'three sessions take turns, and each takes the next numbers');
	is((columns('ids_taken_total'))[0], $taken + @ids, '... which are counted');
	$last = $ids[-1];
	ask($third, "COPY t (n) FROM PROGRAM 'seq 5'");
	is((ask($third, 'SELECT count(*), min(id), max(id) FROM t WHERE id > ' . $last))[0], join('|', 5, $last + 1, $last + 5), 'COPY does, too');
	$last += 5;
	for my $end ('COMMIT', 'ROLLBACK', 'SAVEPOINT s; ROLLBACK TO s; COMMIT AND CHAIN', q{ROLLBACK; DO 'BEGIN COMMIT; END'})
	{
		ask($session, $end);
		my @next = map { ids($_, 'SELECT snowflake_nextval()') } $session, $other;
		is(gaps($last, @next), 0, "after $end");
		$last = $next[-1];
		ask($session, 'BEGIN');
	}
	ask($session, 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0');
	like((ask($session, 'EXPLAIN SELECT snowflake_nextval() FROM big'))[0], qr/Workers Planned: 2/, 'parallel workers');
	my @sorted = sort { $a <=> $b } ids($session, 'SELECT snowflake_nextval() FROM big');
	is(gaps($last, @sorted), 0, '... take the next numbers, too');
	$last = $sorted[-1];
	for (1 .. 5)
	{
		my $new = session($server);
		my @next = ids($new, 'SELECT snowflake_nextvals(5)');
		is(gaps($last, @next), 0, 'so does a new session');
		$last = $next[-1];
		$new->quit;
	}
	is(tick_of($last), $tick, 'all are of the tick in which the clock stands');
	is((ask($session, 'SELECT * FROM snowflake_nextvals(2); SELECT snowflake_currval()'))[0], join("\n", $last + 1, $last + 2, $last + 2),
		'snowflake_currval() is the last id of the session');
	$_->quit for $session, $other, $third;
};

subtest 'reading ends a run, and wastes nothing (G12)' => sub {
	my ($session, $tick, $last) = session_with_run();
	my $other = session($server);
	for my $read ('SELECT snowflake_horizon()', 'TABLE snowflake_status', 'TABLE snowflake_metrics')
	{
		is((ask($_, 'SELECT snowflake_nextval()'))[0], ++$last, 'the next number') for $session, $other;
		ask($other, $read);
		is((ask($_, 'SELECT snowflake_nextval()'))[0], ++$last, "... and after $read") for $session, $other;
	}
	is((ask($other, 'SELECT last_id FROM snowflake_status'))[0], $last, 'the status shows the last id');
	ask($session, 'COMMIT');
	$server->safe_psql('postgres', 'SELECT snowflake_horizon()');
	my ($horizon) = columns('horizon');
	is($horizon, $last + 1, 'the horizon is the next number');
	is((ask($other, 'SELECT snowflake_nextval()'))[0], $last + 1, '... which is issued next');
	for my $end ('COMMIT', 'ROLLBACK')
	{
		# The session knows the open run from the transaction before.
		ids($other, 'SELECT snowflake_nextval()');
		ask($other, 'BEGIN');
		my ($id) = ids($other, 'SELECT snowflake_nextval()');
		ids($session, 'SELECT snowflake_nextval()');
		is((columns('horizon'))[0], $id, 'the horizon waits for a transaction that has joined a run');
		ask($other, $end);
		cmp_ok((columns('horizon'))[0], '>', $id, "... until $end");
	}
	$_->quit for $session, $other;
};

is(repeated(), 0, 'no duplicate among ' . remembered() . ' ids');
finish();
