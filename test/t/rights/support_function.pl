# No role can use the planner's support function, neither for its own function nor to avoid a
# privilege check: the role that runs the COPY needs the right to call snowflake_nextval(), not the
# role that plans it.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

Traps::start('rights', preload => 1, patient => 1);

is((as_role('bob', $_))[0], '42501', "not for others: $_") for
	'CREATE FUNCTION bob.mine() RETURNS bigint LANGUAGE sql SUPPORT public.snowflake_nextval_support AS \'SELECT 1::bigint\'',
	'ALTER FUNCTION bob.harmless(bigint) SUPPORT public.snowflake_nextval_support';
# The planning role needs no right to call the function; the role that runs the COPY does.
sql('REVOKE EXECUTE ON FUNCTION snowflake_nextval() FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION snowflake_nextval() TO bob',
	'CREATE TABLE copied (id bigint DEFAULT snowflake_nextval(), n int)', 'GRANT INSERT ON copied TO alice, bob');
is((as_role($_, "COPY public.copied (n) FROM STDIN;\n1\n2\n\\.\n"))[0], $_ eq 'bob' ? '00000' : '42501', "$_ copies") for 'alice', 'bob';

$server->stop('fast');
done_testing();
