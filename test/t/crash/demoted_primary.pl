# A primary with its own registry crashes, becomes a standby of the server that was promoted in its
# place, and is promoted again. It issues no ids from its black box while it is a standby (25006),
# and afterwards none that the other server has issued meanwhile (G1).
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
# The window outlasts the whole test, so the previous lease could still be used.
my $first = new_server('first', streaming => 1, patient => 1, conf => quiet() . "wal_log_hints = on\n");
start_server($first);
value($first, 'CREATE EXTENSION snowflake');
my $second = standby_of($first, 'second');
my $on_first = load($first);
ok(ids_flow($on_first), 'the primary issues');
ok(wait_until('a long window', sub { value($first, q{SELECT snowflake_tick_timestamp(window_end) > now() + '30 s' FROM snowflake_registry}) eq 't' }), '... for half a minute at least');
my $lease = value($first, 'SELECT worker, lease_id FROM snowflake_status');
$first->stop('immediate');
stop_clients($on_first);

$second->promote;
my $on_second = load($second);
ok(ids_flow($on_second), 'the promoted standby issues');
ok(rewind($first, $second), 'the old primary follows it');
is((query_error($first, $db, "SELECT $_"))[0], '25006', "$_ on a standby") for 'snowflake_nextval()', 'snowflake_nextvals(2)';
like(slurp_file($first->logfile), qr/continues with its previous lease/, '... and has found the lease of before');
is(value($first, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '0', 'no keeper runs there');

# Tries a session that was refused before the promotion, and other sessions.
my $session = $first->background_psql($db, on_error_stop => 0);
is((ask($session, 'SELECT snowflake_nextval()'))[0], '', 'a session is refused');
stop_clients($on_second);
$second->wait_for_catchup($first, 'replay', $second->lsn('flush'));
$second->stop('immediate');
$first->promote;
like((ask($session, 'SELECT snowflake_nextval()'))[0], qr/^\d+$/, 'promoted again, it issues, to that session, too');
$session->quit;
$on_first = load($first);
ok(ids_flow($on_first), '... and to others');
isnt(value($first, 'SELECT lease_id FROM snowflake_status'), (split /\|/, $lease)[1], '... under another lease: others had the registry meanwhile');
ok(wait_until('its own row', sub { value($first, q{SELECT count(*) FROM snowflake_registry r, snowflake_status s
	WHERE r.lease_id = s.lease_id AND r.worker_id = s.worker AND r.extended_at > now() - interval '1 min'}) eq '1' }), '... under a lease that its registry knows');
ok(ids_flow($on_first), '... and goes on');
stop_clients($on_first);
none_twice('a primary that crashed and its promoted standby');
$first->stop('fast');
done_testing();
