# The keeper works as usual whatever ALTER DATABASE sets, and it starts in a database that refuses
# connections (G2; section 5 of the design). The test sets what could break the keeper: time limits
# of 1 ms, read-only and serializable transactions, a hostile search_path.

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use SnowflakeTest;
use Test::More;

DatabaseTest::start('settings');

create_database('d5');
ids_flow('d5', 'd5', 'd5');
my $inside = $server->background_psql('d5');
$server->safe_psql('d5', q{
	CREATE SCHEMA evil;
	CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';
	CREATE TABLE evil.snowflake_registry (i int);
	CREATE TABLE evil.pg_extension (i int)});
$server->safe_psql('postgres', "ALTER DATABASE d5 $_") for (
	'SET default_transaction_read_only = on',
	q{SET default_transaction_isolation = 'serializable'},
	'SET default_transaction_deferrable = on',
	'SET search_path = evil, public, pg_catalog',
	q{SET statement_timeout = '1ms'},
	q{SET lock_timeout = '1ms'},
	q{SET idle_in_transaction_session_timeout = '1ms'},
	q{SET session_replication_role = 'replica'},
	'SET row_security = off',
	'SET synchronous_commit = off',
	q{SET lc_messages = 'C'},
	q{SET snowflake.lease_duration = '1s'});
my $keeper = keepers('d5');
$inside->query_safe("SELECT pg_terminate_backend($keeper)");
ok(wait_until('the keeper ends', sub { keepers('d5') ne $keeper }), 'a new keeper reads what ALTER DATABASE set');
$server->safe_psql('postgres', 'ALTER DATABASE d5 ALLOW_CONNECTIONS false');
like($inside->query_safe('SELECT snowflake_nextval()'), qr/^\d+$/, 'a session that was there before connections were refused gets ids');
isnt(keepers('d5'), '', '... from a new keeper');
ok(wait_until('the window moves', sub {
	$inside->query_safe('SELECT count(*) FROM snowflake_registry WHERE extended_at > acquired_at') eq '1';
}), '... which moves its window');
is($inside->query_safe('SELECT last_error IS NULL FROM snowflake_status'), 't', '... without errors');
$server->safe_psql('postgres', 'ALTER DATABASE d5 ALLOW_CONNECTIONS true');
ids_flow('d5', 'd5', 'where every transaction is serializable and read-only') for 1 .. 2;
$inside->quit;
$server->safe_psql('postgres', 'ALTER DATABASE d5 RESET ALL');

finish();
