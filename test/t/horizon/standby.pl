# A standby does not report a horizon, and the error says why. A horizon that the primary reported
# also holds on the standby, once the standby has replayed what had been written by then. After its
# promotion the standby has its own horizon, which a transaction that the primary prepared holds
# back. Rows that logical replication brings are another node's: they do not hold the horizon back,
# and more of them can appear below the horizon of the subscriber.
use strict;
use warnings;

use SnowflakeTest;
use Test::More;

my $conf = "autovacuum = off\nlog_statement = none\nwal_level = logical\nmax_prepared_transactions = 5\n";
my $primary = new_server('primary', streaming => 1, patient => 1, conf => $conf);
start_server($primary);
sub value { return $_[0]->safe_psql('postgres', $_[1]); }
value($primary, 'CREATE EXTENSION snowflake; CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text)');
my $insert = q{INSERT INTO outbox (payload) VALUES ('x') RETURNING id};
value($primary, $insert);
my $standby = standby_of($primary, 'standby');

my ($state, $error) = query_error($standby, 'postgres', 'SELECT snowflake_horizon()');
is($state, '25006', 'a standby does not tell the horizon');
like($error, qr/cannot report the horizon of ids during recovery\nDETAIL: .*Only the server that issues ids can determine.*\nHINT: .*the primary/, '... and says why');
is(value($standby, 'SELECT horizon IS NULL AND horizon_pid IS NULL FROM snowflake_status'), 't', '... nor does the view');

my $id = value($primary, $insert);
ok(wait_until('the horizon', sub { value($primary, 'SELECT snowflake_horizon()') > $id }), 'the primary tells it');
my $horizon = value($primary, 'SELECT snowflake_horizon()');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
my $read = "SELECT string_agg(id::text, ' ' ORDER BY id) FROM outbox WHERE id < $horizon";
is(value($standby, $read), value($primary, $read), 'the standby has all below it, once it has replayed as far');

my $prepared = value($primary, "BEGIN; $insert; PREPARE TRANSACTION 'of the primary'");
my $shown = value($primary, 'SELECT snowflake_horizon()');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$primary->stop('immediate');
$standby->promote;
ok(wait_until('ids', sub { (query_error($standby, 'postgres', $insert))[0] eq '00000' }), 'it is promoted, and issues ids');
value($standby, 'SELECT snowflake_horizon()');
is(value($standby, 'SELECT horizon_gid FROM snowflake_status'), 'of the primary', 'what the primary prepared holds its horizon');
cmp_ok(value($standby, 'SELECT snowflake_horizon()'), '<=', $prepared, '... below its ids');
value($standby, "COMMIT PREPARED 'of the primary'");
my $last = value($standby, $insert);
ok(wait_until('the horizon', sub { value($standby, 'SELECT snowflake_horizon()') > $last }), '... until it ends');

# Rows of another node, by logical replication.
my $publisher = new_server('publisher', streaming => 1, patient => 1, conf => $conf);
start_server($publisher);
value($publisher, 'CREATE EXTENSION snowflake; CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text); CREATE PUBLICATION p FOR TABLE outbox');
value($standby, 'CREATE SUBSCRIPTION s CONNECTION $$' . $publisher->connstr('postgres') . '$$ PUBLICATION p WITH (streaming = off)');
$publisher->wait_for_catchup('s');
my $open = $publisher->background_psql('postgres');
my $theirs = $open->query_safe("BEGIN; $insert");
my $ours = value($standby, $insert);
ok(wait_until('the horizon', sub { value($standby, 'SELECT snowflake_horizon()') > $ours }), 'an open transaction of another node does not hold it');
my $passed = value($standby, 'SELECT snowflake_horizon()');
$open->query_safe('COMMIT');
ok(wait_until('the row', sub { value($standby, "SELECT count(*) FROM outbox WHERE id = $theirs") eq '1' }), 'its row comes');
cmp_ok($theirs, '<', $passed, '... below the horizon, which is of the ids that this server issues');
$ours = value($standby, $insert);
ok(wait_until('the horizon', sub { value($standby, 'SELECT snowflake_horizon()') > $ours }), '... which goes on');
$open->quit;
$_->stop for $standby, $publisher;
done_testing();
