# COPY into a table with a snowflake default inserts many rows at a time, as with a serial column,
# whatever the default's expression. Ids rise in the order of the file (G1, G2). If this would be
# incorrect, COPY inserts the rows one by one.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('many');

subtest 'how rows go in' => sub {
	value(q{CREATE FUNCTION guarded_id() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT snowflake_nextval()';
		CREATE DOMAIN id AS bigint CHECK (VALUE > 0); CREATE ROLE loader; GRANT pg_read_server_files TO loader});
	my $copy = "COPY way (n) FROM '$file'";
	my @many = (
		# a name, what follows n, an expression for the id
		[ 'serial', 'id bigserial' ],
		[ 'a snowflake default', 'id bigint DEFAULT snowflake_nextval()' ],
		[ '... of a primary key', 'id bigint PRIMARY KEY DEFAULT snowflake_nextval()' ],
		[ '... as text', 'id text DEFAULT snowflake_nextval()::text', 'id::bigint' ],
		[ '... in an expression', q{id text DEFAULT 'x' || snowflake_nextval()}, 'substr(id, 2)::bigint' ],
		[ '... twice', 'id bigint DEFAULT snowflake_nextval(), x bigint DEFAULT snowflake_nextval()', '(id + x) / 2' ],
		[ '... twice in one', q{id text DEFAULT snowflake_nextval() || '-' || snowflake_nextval()}, q{split_part(id, '-', 2)::bigint} ],
		[ '... in an SQL function that is inlined', 'id bigint DEFAULT new_id()' ],
		[ '... of a domain', 'id id DEFAULT snowflake_nextval()', 'id::bigint' ],
		[ '... with a CHECK that calls it', 'id bigint DEFAULT snowflake_nextval() CHECK (id < snowflake_nextval())' ],
		[ '... beside other columns', 'id bigint DEFAULT snowflake_nextval(), s serial, i int GENERATED ALWAYS AS IDENTITY,'
			. ' g text GENERATED ALWAYS AS (id::text) STORED, t timestamptz DEFAULT now(), k int DEFAULT 1, e text' ]);
	my @one = (
		[ 'random()', 'id bigint DEFAULT snowflake_nextval(), r float8 DEFAULT random()' ],
		[ 'clock_timestamp()', 'id bigint DEFAULT snowflake_nextval() + extract(epoch FROM clock_timestamp())::int * 0' ],
		[ 'a function that is not inlined', 'id bigint DEFAULT guarded_id()' ],
		[ 'a function that uses its argument twice', 'id bigint DEFAULT snowflake_nextval(), p text DEFAULT pair(snowflake_nextval())' ]);
	for my $case (@many, @one)
	{
		my ($name, $columns, $id) = @$case;
		value("DROP TABLE IF EXISTS way; CREATE TABLE way (n int, $columns)");
		if (grep { $case == $_ } @many) { goes_in_many($name, $copy, 'way'); }
		else { goes_in_one_by_one($name, $copy, $rows, 'way'); }
		ids_are_good('way', $rows, $name, $id);
	}
	value('ALTER TABLE way DROP p');
	goes_in_many('with a WHERE', "TRUNCATE way; $copy WHERE n % 2 = 0", 'way');
	ids_are_good('way', $rows / 2, 'with a WHERE');
	goes_in_one_by_one('the function in the WHERE', "TRUNCATE way; $copy WHERE snowflake_nextval() > n", $rows, 'way');
	ids_are_good('way', $rows, 'the function in the WHERE');
	# Rows go one by one if the function has its own setting, or if the role may not call COPY's
	# function.
	value('GRANT ALL ON way TO loader');
	for my $change ("ALTER FUNCTION snowflake_nextval() SET work_mem = '1MB'", 'ALTER FUNCTION snowflake_nextval() SECURITY DEFINER',
		'REVOKE ALL ON FUNCTION snowflake_copy_nextval(internal) FROM PUBLIC')
	{
		goes_in_one_by_one($change, "TRUNCATE way; $change; SET ROLE loader; $copy; RESET ROLE", $rows, 'way');
		ids_are_good('way', $rows, $change);
		value('ALTER FUNCTION snowflake_nextval() RESET ALL; ALTER FUNCTION snowflake_nextval() SECURITY INVOKER;'
			. ' GRANT EXECUTE ON FUNCTION snowflake_copy_nextval(internal) TO PUBLIC');
	}
	goes_in_many('and back', "TRUNCATE way; SET ROLE loader; $copy; RESET ROLE", 'way');
};

finish();
