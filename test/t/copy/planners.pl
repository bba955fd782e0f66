# Everything that plans expressions while a COPY runs, except for COPY's own defaults, gets
# snowflake_nextval() itself, because other extensions take expressions apart and evaluate the
# parts, or store them in a plan. test/c/planning.c does what such extensions do. The test also
# checks what copy.cpp relies on in PostgreSQL, so it fails on a version that does otherwise.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('planners');
value(q{CREATE FUNCTION looks(regclass, smallint) RETURNS text LANGUAGE c AS 'TEST_C/planning';
CREATE TABLE asked (id bigint DEFAULT snowflake_nextval(), two text DEFAULT snowflake_nextval() || '-' || same(new_id()),
	b boolean DEFAULT snowflake_nextval() > 0, paired text DEFAULT pair(snowflake_nextval()));

-- What is in a tree: which of the two functions, and what stands beside COPY's.
CREATE FUNCTION contents(tree text) RETURNS text LANGUAGE sql STABLE AS $$
SELECT concat_ws(' and ', CASE WHEN tree LIKE '%:funcid ' || 'snowflake_nextval()'::regprocedure::oid || ' %' THEN 'the function' END,
	CASE WHEN tree LIKE '%:funcid ' || 'snowflake_copy_nextval(internal)'::regprocedure::oid || ' %' THEN 'what COPY evaluates' END,
	CASE WHEN tree LIKE '%NEXTVALUEEXPR%' THEN 'what stands beside it' END) $$;

-- Plans a default in every way, and notes for a place what came out. By a setting: what folds constants may write nothing.
CREATE FUNCTION note(place text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	way text;
BEGIN
	FOREACH way IN ARRAY ARRAY['eval_const_expressions', 'eval_const_expressions, a list',
		'eval_const_expressions, of a query', 'estimate_expression_value', 'expression_planner', 'expression_planner_with_deps',
		'GetCachedExpression', 'ExecPrepareExpr', 'ExecPrepareExprList', 'ExecPrepareQual', 'ExecPrepareCheck']
	LOOP
		PERFORM set_config('noted.plans', concat(current_setting('noted.plans', true), place, ', ', way, ': ',
			contents(planned('asked', 3::smallint, way, false)), E'\n'), false);
	END LOOP;
	RETURN true;
END $$;
CREATE FUNCTION note_early(place text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN note(place); END';
CREATE FUNCTION note_fired() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM note(format('%s %s', TG_WHEN, TG_LEVEL)); RETURN NEW; END $$;
CREATE DOMAIN noting AS int CHECK (note('CHECK of a domain'));
CREATE TABLE noted (n int CHECK (note('CHECK')), id bigint DEFAULT snowflake_nextval(), a boolean DEFAULT note('default'),
	b boolean DEFAULT note_early('default, as it is planned'), d noting DEFAULT 1,
	g boolean GENERATED ALWAYS AS (note_early('generated column') AND n > 0) STORED)} =~ s/TEST_C/$ENV{SNOWFLAKE_TEST_C}/gr);
my @fired;
for my $when ('BEFORE', 'AFTER')
{
	for my $level ('STATEMENT', 'ROW')
	{
		push @fired, "$when $level";
		my $condition = $level eq 'ROW' ? "WHEN (note('WHEN of $when'))" : '';
		push @fired, "WHEN of $when" if $condition;
		value("CREATE TRIGGER note_$when$level $when INSERT ON noted FOR EACH $level $condition EXECUTE FUNCTION note_fired()");
	}
}

subtest 'others that plan get the function itself' => sub {
	my $out = value("COPY noted (n) FROM PROGRAM 'echo 1' WHERE note('WHERE') AND note_early('WHERE, as it is planned');"
		. " SELECT current_setting('noted.plans')");
	my %found;
	for my $line (grep { $_ ne '' } split /\n/, $out)
	{
		my ($what, $contents) = split /: /, $line, 2;
		my ($place, $way) = $what =~ /^(.*?), ((?:eval|estimate|expression|GetCached|ExecPrepare).*)$/;
		$found{$place}{$way} = $contents;
	}
	my @places = ('CHECK', 'CHECK of a domain', 'default', 'default, as it is planned', 'generated column', 'WHERE', 'WHERE, as it is planned', @fired);
	is(join(', ', sort keys %found), join(', ', sort @places), scalar(@places) . ' places');
	for my $place (@places)
	{
		my %ways = %{ $found{$place} // {} };
		is(join('; ', map { "$_: $ways{$_}" } grep { $ways{$_} ne 'the function' } sort keys %ways), '', "$place: each way gives it");
		is(scalar keys %ways, 11, '... of all ways');
	}
	is(value('SELECT count(*), count(id) FROM noted'), '1|1', 'the COPY');

	# A default that calls the C function directly, without another language.
	value(q{CREATE TABLE direct (n int, id bigint DEFAULT snowflake_nextval(), a text DEFAULT planned('asked', 1::smallint, 'eval_const_expressions', false),
	b text DEFAULT planned('asked', 2::smallint, 'expression_planner', false)); COPY direct (n) FROM PROGRAM 'echo 1'});
	is(value('SELECT contents(a), contents(b) FROM direct'), 'the function|the function', 'a default that is written in C');
};

subtest 'what COPY plans beside its defaults calls the function itself' => sub {
	value(q{CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE DOMAIN checked AS bigint CHECK (VALUE < snowflake_nextval())});
	# The table's further columns, what follows the COPY's file, and the number of calls in addition
	# to those for the id.
	my %cases = (
		'WHERE' => [ '', 'WHERE snowflake_nextval() > n', $rows, 0 ],
		'CHECK' => [ ', CHECK (snowflake_nextval() > n)', '', $rows, 0 ],
		'CHECK of a domain that is read' => [ ', d checked', '', $rows, 0 ],
		'CHECK of a domain with a default' => [ ', e checked DEFAULT 1', '', $rows, 0 ],
		'default and CHECK of a domain' => [ ', e checked DEFAULT snowflake_nextval()', '', $rows, $rows ],
		'WHEN' => [ '', '', $rows, 0, 'AFTER INSERT ON target FOR EACH ROW WHEN (snowflake_nextval() > 0) EXECUTE FUNCTION nothing()' ]);
	for my $name (sort keys %cases)
	{
		my ($columns, $condition, $nextval, $copy_nextval, $trigger) = @{ $cases{$name} };
		value("DROP TABLE IF EXISTS target; CREATE TABLE target (n int, id bigint DEFAULT snowflake_nextval()$columns)");
		value("CREATE TRIGGER t $trigger") if $trigger;
		my $read = $columns =~ /, d / ? "(n, d) FROM PROGRAM 'seq -f %g,1 $rows'" : "(n) FROM PROGRAM 'seq $rows'";
		is(calls("COPY target $read WITH (FORMAT csv) $condition"), "$nextval|" . ($rows + $copy_nextval), $name);
		ids_are_good('target', $rows, $name);
	}
};

subtest 'the way is open in a COPY FROM alone' => sub {
	value(q{CREATE TABLE opened (n int, open boolean DEFAULT way_is_open());
CREATE TABLE ways (n int, open boolean);
CREATE TABLE columns (n int);
INSERT INTO columns VALUES (1);
CREATE PROCEDURE call_it() LANGUAGE plpgsql AS 'BEGIN INSERT INTO ways VALUES (3, way_is_open()); END';
CREATE FUNCTION walk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO ways VALUES (1, way_is_open());
	EXECUTE 'DO $x$ BEGIN INSERT INTO ways VALUES (2, way_is_open()); END $x$';
	CALL call_it();
	EXECUTE 'PREPARE walking (boolean) AS INSERT INTO ways VALUES (4, $1)';
	EXECUTE 'EXECUTE walking (way_is_open())';
	ALTER TABLE columns ADD open boolean DEFAULT way_is_open();
	INSERT INTO ways SELECT 5, open FROM columns;
	EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF) INSERT INTO ways VALUES (6, way_is_open())';
	CREATE TABLE made AS SELECT way_is_open() AS open;
	INSERT INTO ways SELECT 7, open FROM made;
	EXECUTE format('COPY (SELECT 8, way_is_open()) TO %L', TG_ARGV[0]);
	EXECUTE format('COPY ways FROM %L', TG_ARGV[0]);
	INSERT INTO ways VALUES (9, way_is_open());
	RETURN NULL;
END $$} . '; CREATE TRIGGER walk AFTER INSERT ON opened FOR EACH STATEMENT EXECUTE FUNCTION walk(' . "'" . $server->basedir . "/ways')");
	is(value('SELECT way_is_open()'), 'f', 'not in a query');
	is(value('COPY (SELECT way_is_open()) TO STDOUT'), 'f', 'not in a COPY TO');
	is(value('INSERT INTO opened VALUES (1), (2) RETURNING open; SELECT DISTINCT open FROM ways; DROP TABLE made; ALTER TABLE columns DROP open; TRUNCATE ways, opened; DEALLOCATE walking'),
		"f\nf\nf", 'not in an INSERT and its triggers');
	is(value("COPY opened (n) FROM PROGRAM 'seq 3'; SELECT DISTINCT open FROM opened"), 't', 'in a COPY FROM');
	is(value('SELECT n, open FROM ways ORDER BY n'), join("\n", '1|t', (map { "$_|f" } 2 .. 8), '9|t'),
		'in a query of its trigger, not in the commands of it, and again after them');
};

subtest 'how it looks to who asks' => sub {
	# An SQL function that uses its argument twice is not inlined if the argument is volatile, so
	# the planner checks that.
	my @columns = map { "$_\::smallint" } 1 .. 4;
	my $looks = join ', ', map { "looks('asked', $_)" } @columns;
	value('CREATE TABLE looking (n int' . join('', map { ", c$_ text DEFAULT looks('asked', $columns[$_])" } 0 .. 3)
		. join('', map { ", t$_ text DEFAULT planned('asked', $columns[$_], 'expression_planner', true)" } 0 .. 3) . "); COPY looking (n) FROM PROGRAM 'echo 1'");
	is(value('SELECT c0, c1, c2, c3 FROM looking'), join('|', ('volatile, mutable, not volatile to COPY') x 3, 'volatile, mutable, volatile to COPY'),
		'in a COPY');
	is(value('SELECT contents(t0), contents(t1), contents(t2), contents(t3) FROM looking'), join('|', ('what COPY evaluates and what stands beside it') x 4),
		'... with both in the tree');
	is(value(q{CREATE TABLE queried (n int, t text DEFAULT planned('asked', 1::smallint, 'eval_const_expressions, of a query', true));
COPY queried (n) FROM PROGRAM 'echo 1'; SELECT contents(t) FROM queried}), 'the function', '... and of a query none');
	is(value("SELECT $looks"), join('|', ('volatile, mutable, volatile to COPY') x 4), 'elsewhere');
};

# If PostgreSQL does not do what copy.cpp relies on, the function itself is called, which only costs
# time.
subtest 'a memory context that only has the name of COPY\'s' => sub {
	value(q{CREATE FUNCTION planned_elsewhere(regclass, smallint) RETURNS text LANGUAGE c AS 'TEST_C/planning';
CREATE TABLE elsewhere (n int, t text DEFAULT planned_elsewhere('asked', 1::smallint))} =~ s/TEST_C/$ENV{SNOWFLAKE_TEST_C}/r);
	is(value("COPY elsewhere (n) FROM PROGRAM 'echo 1'; SELECT contents(t) FROM elsewhere"), 'the function', 'the function itself');
};

subtest 'a PostgreSQL that does not count who has a table open' => sub {
	value(q{CREATE FUNCTION count_no_openings() RETURNS void LANGUAGE c AS 'TEST_C/planning';
CREATE TABLE uncounted (n int, id bigint DEFAULT snowflake_nextval())} =~ s/TEST_C/$ENV{SNOWFLAKE_TEST_C}/r);
	my $copy = "COPY uncounted (n) FROM PROGRAM 'seq $rows'";
	is(calls($copy), "0|$rows", 'before');
	is(value("SELECT count_no_openings() \\g /dev/null\n" . count_calls("TRUNCATE uncounted; $copy")), "$rows|0", 'after');
	ids_are_good('uncounted', $rows, 'its ids');
};

subtest 'COPY TO' => sub {
	is(value('COPY (SELECT way_is_open()) TO STDOUT'), 'f', 'is not COPY FROM');
};

finish();
