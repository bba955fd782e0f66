# A migration is one transaction, and the server has just been restarted with the new library: no lease yet, and none to be had
# while that transaction has the registry's tables. A first id in it is refused at once and says what to do; right after it, ids
# flow, and rights are as their owner made them.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

fresh();

sub check_update_then_issue
{
	my ($version) = @_;
	create($version, 'cold');
	sql('cold', 'CREATE ROLE node', 'REVOKE EXECUTE ON FUNCTION snowflake_nextvals FROM PUBLIC',
		'GRANT EXECUTE ON FUNCTION snowflake_acquire, snowflake_extend, snowflake_release TO node');
	# At once: a call that waited for a lease would wait for an hour.
	my ($state, $error) = query_error($server, 'cold', q{SET snowflake.start_timeout = '1h'; SET statement_timeout = '60s';
		BEGIN; ALTER EXTENSION snowflake UPDATE; INSERT INTO item (n) VALUES (1)});
	is($state, '55000', "from $version: no first id in the transaction that updates");
	like($error, qr/transaction that updated the extension.*Commit first/s, "from $version: ... and what to do");
	like(sql('cold', 'ALTER EXTENSION snowflake UPDATE', 'INSERT INTO item (n) VALUES (1) RETURNING id'), qr/^\d+$/, "from $version: ... but right after it");
	is(sql('cold', q{SELECT has_function_privilege('node', oid, 'EXECUTE') FROM pg_proc WHERE proname = 'snowflake_acquire'}), 't',
		"from $version: rights that were granted stay");
	is(sql('cold', q{SELECT has_function_privilege('node', oid, 'EXECUTE') FROM pg_proc WHERE proname = 'snowflake_nextvals'}), 'f',
		"from $version: rights that were taken away do not come back");
	sql('postgres', 'DROP DATABASE cold', 'DROP ROLE node');
	is((query_error($server, 'fresh', 'BEGIN; DROP EXTENSION snowflake; '
		  . "CREATE EXTENSION snowflake SCHEMA ids VERSION '$version'; ALTER EXTENSION snowflake UPDATE; "
		  . 'SELECT ids.snowflake_nextval()'))[0], '55000', "created as $version and updated in one transaction: that is refused");
	return;
}

check_update_then_issue($_) for @released;

VersionsTest::stop();
done_testing();
