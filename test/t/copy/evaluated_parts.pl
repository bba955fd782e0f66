# If an extension with its own planner takes the expression of a default apart while a COPY runs,
# and evaluates the parts, each evaluation gets its own id (G1). test/c/planning.c does what such
# extensions do.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('parts');

value(q{CREATE FUNCTION evaluated_in_parts(regclass, smallint) RETURNS bigint LANGUAGE c AS 'TEST_C/planning';
CREATE TABLE asked (id bigint DEFAULT snowflake_nextval())} =~ s/TEST_C/$ENV{SNOWFLAKE_TEST_C}/r);

subtest 'who evaluates the parts gets ids' => sub {
	value(q{CREATE TABLE taken (n int, id bigint);
CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO taken VALUES (CASE TG_LEVEL WHEN 'ROW' THEN NEW.n ELSE 0 END, evaluated_in_parts('asked', 1::smallint));
	RETURN NEW;
END $$;
CREATE FUNCTION taken_apart() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN evaluated_in_parts(''asked'', 1::smallint); END';
CREATE TABLE source (n int, id bigint DEFAULT snowflake_nextval())});
	my $copy = "COPY source (n) FROM '$file'";
	for my $trigger ('BEFORE INSERT ON source FOR EACH STATEMENT', 'AFTER INSERT ON source FOR EACH STATEMENT',
		'BEFORE INSERT ON source FOR EACH ROW', 'AFTER INSERT ON source FOR EACH ROW')
	{
		value("DROP TRIGGER IF EXISTS take ON source; CREATE TRIGGER take $trigger EXECUTE FUNCTION take()");
		my $count = $trigger =~ /ROW/ ? $rows : 1;
		is(calls("TRUNCATE source, taken; $copy"), "$count|$rows", "$trigger: the calls");
		is(value('SELECT count(DISTINCT id) FROM (SELECT id FROM source UNION ALL SELECT id FROM taken) t'), $rows + $count, '... and as many ids');
		if ($trigger =~ /BEFORE.*ROW/) { goes_in_one_by_one($trigger, "TRUNCATE source; $copy", $rows, 'source'); }
		else { goes_in_many($trigger, "TRUNCATE source; $copy", 'source'); }
		ids_are_good('source', $rows, $trigger);
	}
	value('ALTER TABLE source ADD other bigint DEFAULT taken_apart(); DROP TRIGGER take ON source; TRUNCATE source');
	is(calls($copy), "$rows|$rows", 'a default\'s function: the calls');
	is(value('SELECT count(DISTINCT id) FROM (SELECT id FROM source UNION ALL SELECT other FROM source) t'), 2 * $rows, '... and as many ids');
};

finish();
