# The horizon that a snapshot gets: an old snapshot gets an old horizon, from just before the
# snapshot was taken, and always the same one. While no transaction writes, the horizon continues to
# rise with the clock, without WAL and without transactions. A minute after the last call it is no
# longer sampled.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('snapshots', patient => 1, conf => "autovacuum = off\nlog_statement = none\ncheckpoint_timeout = 1h\nmax_connections = 1000\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
value('CREATE EXTENSION snowflake; CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text)');
my $insert = q{INSERT INTO outbox (payload) VALUES ('x') RETURNING id};
value($insert);
my $session = $server->background_psql('postgres');

# Samples that no caller took. Between the request and the snapshot are seconds, and what is written
# after the snapshot makes later samples useless for it.
my $keeper = value('SELECT keeper_pid FROM snowflake_status');
my $asked = value('SELECT snowflake_horizon()');
my $slept = sleeps_of($keeper);
sleep 3;
wait_until('samples of the keeper', sub { sleeps_of($keeper) > $slept + 10 });
my $at = $session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT extract(epoch FROM clock_timestamp())');
my $own = value($insert);
sleep 2;
value($insert);
my $old = $session->query_safe('SELECT snowflake_horizon()');
my $behind = $at - value("SELECT extract(epoch FROM snowflake_timestamp($old))");
cmp_ok($old, '>', $asked, 'a snapshot gets a horizon of after the last question');
cmp_ok($old, '<', $own, '... and of before it was taken');
figures('an old snapshot got a horizon of %.3f s before it was taken', $behind > 0 ? $behind : 0);
ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $own }), 'others get a newer one');
# Hundreds of samples later.
for (1 .. 300) { value('SELECT snowflake_horizon()') if $_ % 30 == 0; value($insert) if $_ % 30 == 0; select undef, undef, undef, 0.02; }
is($session->query_safe('SELECT snowflake_horizon()'), $old, 'the old snapshot has the same one as before');
$session->query_safe('COMMIT');

# A cursor's horizon is that of its opening, even if it is read later.
$session->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT id, snowflake_horizon() FROM outbox ORDER BY id');
my $written = value($insert);
ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $written }), 'the horizon goes on');
my @rows = split /\n/, $session->query_safe('FETCH ALL FROM c');
is(scalar(grep { (split /\|/)[1] > $written } @rows), 0, 'a cursor has a horizon of before what it does not see');
is(scalar(grep { (split /\|/)[0] >= $written } @rows), 0, '... and does not see it');
$session->query_safe('COMMIT');

# No transaction writes, and no session calls snowflake_horizon().
my $quiet = q{SELECT pg_current_wal_insert_lsn(), (SELECT pg_snapshot_xmax(pg_current_snapshot()))};
value('CHECKPOINT');
value('SELECT snowflake_horizon()');
my $count = q{SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'};
value($count) for 1 .. 2;
sleep 2;
# Again if a session reported its transactions late, or it took much longer than 4 s.
ok(wait_until('few transactions', sub { my $transactions = value($count); sleep 4; return value($count) - $transactions <= 3; }),
	'the keeper takes samples without transactions');
# The keeper writes when it moves the window: every few seconds at first, and then less and less
# often.
ok(wait_until('a time without WAL', sub { my $before = value($quiet); sleep 4; return value($quiet) eq $before; }), '... and without WAL');
my ($newest, $now) = split /\|/, value('SELECT snowflake_timestamp(snowflake_horizon()), now()');
is(value("SELECT timestamptz '$now' - timestamptz '$newest' < interval '5 s'"), 't', 'the horizon went on with the clock');

# There is a slot for every possible connection.
is(value('SELECT count(*) FROM generate_series(1, 1000) WHERE snowflake_horizon() > 0'), '1000', 'with a thousand connections');
$session->quit;
$server->stop;
done_testing();
