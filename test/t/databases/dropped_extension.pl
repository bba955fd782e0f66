# If an extension is dropped and created again, in one transaction or in several, its ids are above
# all ids that its table contains. DROP removes defaults, but no rows (G1, G2; section 5 of the
# design).

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use SnowflakeTest;
use Test::More;

DatabaseTest::start('dropped');

create_database('d8');

# Dropped and created in one transaction, while the first extension has a lease.
ids_flow('d8', 'd8', 'd8');
my ($rc, $out, $err) = $server->psql('d8', q{
	BEGIN;
	DROP EXTENSION snowflake CASCADE;
	CREATE EXTENSION snowflake;
	SELECT snowflake_nextval();
	ROLLBACK;}, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  55000/, 'no ids in a transaction that dropped and created it again');
ids_flow('d8', 'd8', 'rolled back');
$server->safe_psql('d8', 'BEGIN; DROP EXTENSION snowflake; CREATE EXTENSION snowflake; COMMIT');
ids_flow('d8', 'd8', 'dropped and created in one transaction');

# A default depends on it: CASCADE drops the default, not the rows.
$server->safe_psql('d8', q{
	CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);
	INSERT INTO t (n) SELECT generate_series(1, 10)});
is((query_error($server, 'd8', 'DROP EXTENSION snowflake'))[0], '2BP01', 'a default keeps the extension');
$server->safe_psql('d8', 'DROP EXTENSION snowflake CASCADE');
is($server->safe_psql('d8', 'SELECT count(*) FROM t'), '10', 'CASCADE leaves the rows');
ok(keeper_is_gone('d8'), 'without the extension the keeper ends');
$server->safe_psql('d8', 'CREATE EXTENSION snowflake; ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval(); INSERT INTO t (n) VALUES (11)');
is($server->safe_psql('d8', 'SELECT n FROM t ORDER BY id DESC LIMIT 1'), '11', 'created again, ids go on above those there');
ids_flow('d8', 'd8', 'created again');

# Dropped while there is no keeper, and created again: its lease is no evidence of a loss.
ok($server->poll_query_until('d8', 'SELECT pg_terminate_backend(keeper_pid, 10000) FROM snowflake_status'), 'the keeper is terminated');
$server->safe_psql('d8', 'DROP EXTENSION snowflake CASCADE');
$server->safe_psql('d8', 'CREATE EXTENSION snowflake');
ids_flow('d8', 'd8', 'dropped without a keeper');
is($server->safe_psql('d8', 'SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... and the registry does not settle');

# A keeper that starts because another server's node calls acquires no lease. No session has
# requested an id from this extension, although one had requested an id from the previous extension,
# in vain.
$server->safe_psql('d8', 'DROP EXTENSION snowflake CASCADE');
ok(keeper_is_gone('d8'), 'dropped again');
$server->safe_psql('d8', 'CREATE EXTENSION snowflake');
my $locker = $server->background_psql('d8');
$locker->query_safe('BEGIN; LOCK TABLE snowflake_registry');
is((query_error($server, 'd8', q{SET snowflake.start_timeout = '300ms'; SELECT snowflake_nextval()}))[0], 'SF001', 'a call gets no lease');
is($server->safe_psql('d8', 'SELECT state FROM snowflake_status'), 'no lease', '... which the keeper goes on to ask for');
$locker->query_safe('DROP EXTENSION snowflake; COMMIT');
$locker->quit;
ok(keeper_is_gone('d8'), '... until the extension is dropped');
$server->safe_psql('d8', 'CREATE EXTENSION snowflake');
is($server->safe_psql('d8', 'SELECT state FROM snowflake_status'), 'idle', 'nobody has asked the next one');
$server->safe_psql('d8', q{
	SELECT snowflake_lease_acquire('n', 0, extract(epoch FROM clock_timestamp())::bigint * 1000 - 1735689600000, '1 min',
		sha256('a'), 0, NULL)});
ok($server->poll_query_until('d8', 'SELECT keeper_pid IS NOT NULL FROM snowflake_status'), 'the registry has a keeper');
$server->poll_query_until('d8', q{SELECT wait_event_type = 'Extension' FROM pg_stat_activity
	WHERE datname = 'd8' AND backend_type = 'snowflake keeper'});
is($server->safe_psql('d8', q{SELECT string_agg(node, ' ') FROM snowflake_registry}), 'n', '... and its database no lease');

finish();
