# An online conversion of published tables, and one on a server with a standby. The subscriber gets
# every row, including rows that are written during the conversion. snowflake_fill() waits for a
# standby that is behind, reports this, and continues when the standby has caught up. Meanwhile the
# table may be written anew.
# Not in the default run: conversions beside replicas under load.

use strict;
use warnings;

use IPC::Run;
use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $server = new_server('published', streaming => 1, patient => 1, conf => "wal_level = logical\n" . quiet());
start_server($server);
my $subscriber = new_server('subscriber', conf => quiet());
start_server($subscriber);

my $tables = q{
	CREATE TABLE orders (id serial PRIMARY KEY, note text);
	CREATE TABLE items (id bigserial PRIMARY KEY, order_id integer NOT NULL REFERENCES orders, n integer);
};
my $statements = q{SELECT snowflake_convert('orders', 'id', online => true)};
value($_, "CREATE EXTENSION snowflake_convert CASCADE; $tables") for $server, $subscriber;
value($server, q{
	INSERT INTO orders (note) SELECT 'order ' || n FROM generate_series(1, 20000) n;
	INSERT INTO items (order_id, n) SELECT id, 1 FROM orders;
	CREATE PUBLICATION shop FOR TABLE orders, items;
});
my $source = sprintf 'host=%s port=%s dbname=postgres', $server->host, $server->port;
$subscriber->safe_psql($db, "CREATE SUBSCRIPTION shop CONNECTION '$source' PUBLICATION shop");
ok(wait_until('the first copy', sub { value($subscriber, q{SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel}) eq 't' }),
	'the subscriber has the tables');

### As doc/converting.md says

value($subscriber, q{SELECT snowflake_convert('orders', 'id', target => 'bigint')});
value($subscriber, 'ALTER TABLE orders ADD snowflake_new_id bigint; ALTER TABLE items ADD snowflake_new_order_id bigint');

my $clients = start_clients($server, 2, q{
	BEGIN; INSERT INTO orders (note) VALUES ('new') RETURNING id AS order_id \gset
	INSERT INTO items (order_id, n) VALUES (:order_id, 2); COMMIT;
	UPDATE items SET n = n + 1 WHERE id = (SELECT 1 + (random() * 20000)::integer);
});

### A standby that replays nothing makes the fill wait

my $standby = standby_of($server, 'standby');
sub psql_says
{
	my ($from, $script) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'psql', '-XAtq', '-d', $from->connstr($db), '-f', '-' ], '<', \$script, '>', \$out, '2>', \$err);
	return join "\n", grep { /ERROR|FATAL/ } split /\n/, $err;
}
is(psql_says($server, "$statements LIMIT 2\n\\gexec\n"), '', 'the new columns are there');
value($standby, 'SELECT pg_wal_replay_pause()');
my ($out, $err) = ('', '');
my $filling = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr($db), '-c', q{CALL snowflake_fill('orders', max_lag => 500000)} ],
	'<', \undef, '>', \$out, '2>', \$err);
ok(wait_until('the fill to wait', sub { $filling->pump_nb; $err =~ /\n\z/ }), 'it waits for the standby, and says so');
my ($rows_filled) = $err =~ /\ANOTICE:  filling table "orders": \d+ of \d+ blocks read, (\d+) rows filled\nDETAIL:  It waits until no replica is more than 500000 bytes behind\.\n/
  or diag($err);
cmp_ok($rows_filled, '<', 20000, '... before it has filled all rows');
# From time to time it looks at the replicas.
my $wait_event = $server->pg_version >= 17 ? 'SnowflakeConvert' : 'Extension';
ok(wait_until('its wait event', sub { value($server, q{SELECT wait_event FROM pg_stat_activity WHERE query LIKE 'CALL snowflake_fill%'}) eq $wait_event }),
	'... in its wait event, too');
# It holds no lock meanwhile, so the table can be written anew, in another order. Rows that are not
# filled then come before the place that it has reached.
value($server, 'CREATE INDEX turned ON orders (id DESC); CLUSTER orders USING turned; DROP INDEX turned');
value($standby, 'SELECT pg_wal_replay_resume()');
$filling->finish;
like($err, qr/\nNOTICE:  filled \d+ rows of table "orders"\n\z/, 'it goes on when the standby does, and ends');
is(value($server, 'SELECT count(*) FROM orders WHERE snowflake_new_id IS DISTINCT FROM id'), '0', '... when every row is filled');

### The rest

is(psql_says($server, "\\set ON_ERROR_STOP on\n$statements\n\\gexec\n"), '', 'the conversion ends');
is(value($server, $statements), '', '... and nothing is left');
my $before = value($server, 'SELECT count(*) FROM orders');
ok(wait_until('new rows', sub { value($server, 'SELECT count(*) FROM orders WHERE id > 1000000000') > 20 }), 'new rows have snowflake ids');
stop_clients($clients);

my $lsn = $server->lsn('write');
$server->wait_for_catchup('shop', 'replay', $lsn);
my $rows = q{SELECT md5(string_agg(o.id || ' ' || o.note, ',' ORDER BY o.id)), count(*) FROM orders o};
my $others = q{SELECT md5(string_agg(i.id || ' ' || i.order_id || ' ' || i.n, ',' ORDER BY i.id)), count(*) FROM items i};
is(value($subscriber, $_), value($server, $_), 'the subscriber has the same rows') for $rows, $others;
value($subscriber, 'ALTER TABLE orders DROP snowflake_new_id; ALTER TABLE items DROP snowflake_new_order_id');
value($server, q{INSERT INTO orders (note) VALUES ('last')});
$server->wait_for_catchup('shop', 'replay', $server->lsn('write'));
is(value($subscriber, $rows), value($server, $rows), '... also without the columns of the conversion');
is(value($subscriber, subscription_errors()), '0', 'no change failed there');
$server->wait_for_catchup($standby, 'replay', $server->lsn('write'));
is(value($standby, $rows), value($server, $rows), 'the standby has the same rows');
figures('%d rows when the conversion ended, %s at the end', $before, value($server, 'SELECT count(*) FROM orders'));

$_->stop('fast') for $subscriber, $standby, $server;
done_testing();
