# A registry in the database that uses it (G1). The primary fails over but runs on for a moment, and
# assigns leases that the promoted standby does not know. Then pg_rewind rewinds the primary, which
# becomes a standby and is promoted again. The test compares every id that reached a client of
# either server.
# Not in the default run: it starts some 100 processes.

use strict;
use warnings;

use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $first = new_server('first', streaming => 1, patient => 1, conf => quiet() . "wal_log_hints = on\n");
start_server($first);
value($first, 'CREATE EXTENSION snowflake; CREATE TABLE kept (id bigint PRIMARY KEY DEFAULT snowflake_nextval())');
my $second = standby_of($first, 'second');
my $on_first = load($first, script() . 'INSERT INTO kept SELECT FROM generate_series(1, 10) RETURNING id;');
ok(ids_flow($on_first), 'the primary issues');

# Both run at the same time, as if the old primary were not fenced off yet.
$second->promote;
my $on_second = load($second, script() . 'INSERT INTO kept SELECT FROM generate_series(1, 10) RETURNING id;');
ok(ids_flow($on_second), 'the promoted standby issues');
ok(ids_flow($on_first), '... while the old primary still does');
# Leases of the old primary that the new primary does not know.
value($first, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'});
ok(ids_flow($on_first), '... and acquires another worker id');
stop_clients($on_first);
my $lost = worker($first);
isnt($lost, worker($second), "... $lost, which the promoted one has not");
$first->stop('fast');

ok(rewind($first, $second), 'the old primary follows the promoted one');
is((query_error($first, $db, 'SELECT snowflake_nextval()'))[0], '25006', '... and issues nothing as its standby');
ok(ids_flow($on_second), '... which goes on');
stop_clients($on_second);
$second->wait_for_catchup($first, 'replay', $second->lsn('flush'));
is(value($first, "SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM kept"), value($second, "SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM kept"),
	'... with the same rows');
$second->stop('immediate');
$first->promote;
$on_first = load($first);
ok(ids_flow($on_first), 'promoted again, it issues');
stop_clients($on_first);
is(value($first, 'SELECT timeline FROM snowflake_origin'), '3', '... as a registry on its third timeline');
none_twice('a primary, its promoted standby and the rewound primary');
$first->stop('fast');

done_testing();
