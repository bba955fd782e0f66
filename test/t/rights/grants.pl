# Privileges (section 10 of the design): every role issues and decodes ids, pg_read_all_stats reads
# snowflake_workers, and a node's role may execute the protocol's functions and nothing else. No
# other role reads or writes the extension's tables. A node cannot change a lease without its
# secret.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
my $acquire = acquire();
my @tables = tables();
Traps::start_keeper('security');
sql('CREATE ROLE monitor LOGIN IN ROLE pg_read_all_stats', 'CREATE ROLE node LOGIN');

### The privileges of PUBLIC

is($server->safe_psql($db, 'SELECT snowflake_nextval() > 0', extra_params => [ '-U', 'alice' ]), 't', 'anybody gets ids');
state_is('alice', $_, '00000', "anybody: $_") for (
	'SELECT snowflake_nextvals(3)',
	'SELECT snowflake_nextval(), snowflake_currval()',
	'SELECT * FROM snowflake_decode(1)',
	'SELECT snowflake_timestamp(1)',
	'SELECT * FROM snowflake_status');
state_is('alice', "SELECT * FROM $_", '42501', "$_ is closed to others") for (@tables, 'snowflake_workers');
state_is('alice', "DELETE FROM $_", '42501', "$_ cannot be written by others") for @tables;
state_is('monitor', 'SELECT * FROM snowflake_workers', '00000', 'pg_read_all_stats reads snowflake_workers');
state_is('monitor', "SELECT * FROM $_", '42501', "pg_read_all_stats does not read $_") for @tables;
state_is('alice', "SELECT $_", '42501', "not for others: $_") for (
	$acquire,
	q{snowflake_lease_extend(1, sha256('another'), 1, '1 min', 0, 0, 0)},
	q{snowflake_lease_release(1, '00000000-0000-0000-0000-000000000000', 1, 0)});
# The layout's trigger takes the registry's lock, so no other role may use it on its own table.
state_is('alice', q{CREATE TEMP TABLE mine (i int);
	CREATE TRIGGER t AFTER INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION snowflake_layout_changed()}, '42501',
	q{others cannot use the trigger function of the layout});

### A node's role in a registry: EXECUTE on the three functions, and nothing else

sql(
	'GRANT EXECUTE ON FUNCTION snowflake_lease_acquire(text, integer, bigint, interval, bytea, bigint, bigint, boolean) TO node',
	'GRANT EXECUTE ON FUNCTION snowflake_lease_extend(bigint, bytea, bigint, interval, bigint, integer, bigint, boolean) TO node',
	'GRANT EXECUTE ON FUNCTION snowflake_lease_release(bigint, bytea, bigint, bigint) TO node');
is($server->safe_psql($db, q{
		SELECT uuid_send(gen_random_uuid()) AS secret \gset
		SELECT lease_id, window_start FROM snowflake_lease_acquire('n', 0, 1000, '1 min', sha256(:'secret'), 0, NULL) \gset
		SELECT window_end = 62000 FROM snowflake_lease_extend(:lease_id, sha256(:'secret'), 2000, '1 min', 0, 0, 0);
		SELECT snowflake_lease_release(:lease_id, :'secret', :window_start, 0);
	}, extra_params => [ '-U', 'node' ]), "t\nt", 'a node acquires, extends and releases');
state_is('node', "SELECT * FROM $_", '42501', "a node cannot read $_") for (@tables, 'snowflake_workers');
state_is('node', "DELETE FROM $_", '42501', "a node cannot write $_") for @tables;

wait_until('the keeper holds a lease', sub {
	sql('SELECT snowflake_nextval()');
	sql(q{SELECT count(*) FROM snowflake_registry}) eq '1';
});
# From here on the keeper has no reason to change its lease.
set_lease_duration($server, '10min');
wait_until('a long window', sub { sql(q{SELECT window_end > now() + interval '1 min' FROM snowflake_status}) eq 't' });
my $row = 'SELECT lease_id, worker_id, secret_hash, window_start FROM snowflake_registry';
my ($lease_id, $worker, $hash, $start) = split /\|/, sql($row);
my ($state, $answer) = as_role('node', qq{
	SELECT coalesce(window_end::text, 'none') FROM snowflake_lease_extend($lease_id, sha256(uuid_send(gen_random_uuid())), 1 << 40, '1 day', 0, 0, 0);
	SELECT snowflake_lease_release($lease_id, uuid_send(gen_random_uuid()), $start, 0)});
is($answer, "none\nf", q{without its secret another's lease can be neither moved nor released});
is(sql($row), "$lease_id|$worker|$hash|$start", '... and stays as it was');

$server->stop('fast');
done_testing();
