# COPY FROM is refused if policies apply, as it is without ids. A call in a policy calls the
# function itself.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('policies');

subtest 'row-level security' => sub {
	value(q{CREATE TABLE secret (n int, id bigint DEFAULT snowflake_nextval()); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_new ON secret USING (true) WITH CHECK (id < snowflake_nextval()); CREATE ROLE guest; GRANT ALL ON secret TO guest});
	is((query_error($server, $db, "SET ROLE guest; COPY secret (n) FROM STDIN;\n1\n\\.\n"))[0], '0A000',
		'COPY FROM is refused where policies apply, as without ids');
	is(calls("COPY secret (n) FROM '$file'; SET ROLE guest; INSERT INTO secret (n) VALUES (0); RESET ROLE"), "2|$rows",
		'a policy calls the function, not COPY\'s');
	ids_are_good('secret WHERE n > 0', $rows, 'a COPY by the owner');
};

finish();
