# Transactions that hold back the horizon, and how the view shows them: an open transaction, by its
# process id; a prepared transaction, also over a restart and a crash; the leader of a parallel
# query, for its workers. Soon after such a transaction ends, the horizon moves on. Transactions of
# other databases, ended sessions and transactions that got no ids do not hold it back. The horizon
# does not fall over a restart.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('holders', patient => 1, conf => "max_prepared_transactions = 5\nautovacuum = off\nlog_statement = none\nrestart_after_crash = on\n");
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
sub horizon { return value('SELECT snowflake_horizon()'); }
my $outbox = 'CREATE EXTENSION snowflake; CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text)';
value($outbox);
$server->safe_psql('postgres', 'CREATE DATABASE other');
$server->safe_psql('other', $outbox);
my $insert = q{INSERT INTO outbox (payload) VALUES ('x') RETURNING id};
value($insert);

sub passes
{
	my ($what, $id) = @_;
	my $since = time();
	ok(wait_until("the horizon above $id", sub { horizon() > $id }), $what);
	return time() - $since;
}
passes('the horizon goes on', value($insert));

sub session { return $server->background_psql($_[0] // 'postgres', on_error_stop => 0); }
my @lags;
for my $way ('COMMIT', 'ROLLBACK', 'death')
{
	my $open = session();
	my $pid = $open->query_safe('SELECT pg_backend_pid()');
	my $id = $open->query_safe("BEGIN; SAVEPOINT s; $insert");
	$open->query_safe('RELEASE s');
	my $later = value($insert);
	sleep 1;
	cmp_ok(horizon(), '<=', $id, 'a transaction that is open holds the horizon');
	is(value("SELECT horizon_pid, horizon <= $id, now() - snowflake_timestamp(horizon) BETWEEN '1 s' AND '1 min', horizon_since = snowflake_timestamp($id), horizon_gid IS NULL FROM snowflake_status"),
		"$pid|t|t|t|t", '... which the view says');
	if ($way eq 'death') { value("SELECT pg_terminate_backend($pid)"); }
	else { $open->query_safe($way); }
	push @lags, passes("... until its end: $way", $later);
	is(value('SELECT horizon_pid IS NULL AND horizon_since IS NULL FROM snowflake_status'), 't', '... after which nobody does');
	$open->quit if $way ne 'death';
}
figures('the horizon was above the next id %s s after the end of what held it', join ', ', map { sprintf '%.2f', $_ } @lags);

# Other databases have their own horizon.
my $there = session('other');
$there->query_safe("BEGIN; $insert");
passes('a transaction of another database does not hold it', value($insert));
sub horizon_there { return $server->safe_psql('other', 'SELECT snowflake_horizon()'); }
ok(wait_until('the horizon', sub { horizon_there() > 0 }), 'they have a horizon');
my $first = horizon_there();
sleep 1;
is(horizon_there() - $first, 0, '... but that one\'s own');
$there->query_safe('COMMIT');
$there->quit;

# A transaction that gets no id does not hold back the horizon, even if it writes.
my $open = session();
$open->query_safe("BEGIN; INSERT INTO outbox VALUES (1, 'by hand')");
passes('a transaction that gets no id does not hold it', value($insert));
$open->query_safe('ROLLBACK');

# The leader has got no id itself.
my $parallel = value('SHOW server_version_num') >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
$open->query_safe("SET $parallel = on; SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off; BEGIN");
my $taken = $open->query_safe('SELECT min(snowflake_nextval()) FROM outbox');
like($open->query_safe('EXPLAIN SELECT min(snowflake_nextval()) FROM outbox'), qr/Gather/, 'parallel workers get ids');
passes_not($taken);
$open->query_safe('COMMIT');
passes('... until its end', $taken);

sub passes_not
{
	my ($id) = @_;
	value($insert);
	sleep 1;
	return cmp_ok(horizon(), '<=', $id, '... for a transaction that is open still, and holds the horizon');
}

# A prepared transaction, also over a restart and a crash. After these the view says that an earlier
# prepared transaction holds back the horizon.
my $prepared = $open->query_safe("BEGIN; $insert");
$open->query_safe(q{PREPARE TRANSACTION 'it''s kept'});
my $later = value($insert);
sleep 1;
cmp_ok(horizon(), '<=', $prepared, 'a prepared transaction holds the horizon');
is(value("SELECT horizon_pid IS NULL, horizon_gid, horizon_since = snowflake_timestamp($prepared) FROM snowflake_status"), "t|it's kept|t", '... which the view says');
$open->quit;
for my $mode ('fast', 'immediate')
{
	my $before = horizon();
	$server->stop($mode);
	$server->start;
	is(value('SELECT horizon, horizon_gid FROM snowflake_status'), "$before|it's kept", "after a restart, $mode, the view says it before anybody asks");
	my $after = horizon();
	cmp_ok($after, '>=', $before, '... it does not fall');
	value($insert);
	sleep 1;
	is(horizon(), $after, '... nor go on while the transaction of before is there');
	is(value(q{SELECT horizon_gid, horizon_pid IS NULL, horizon_since = (SELECT prepared FROM pg_prepared_xacts) FROM snowflake_status}), "it's kept|t|t", '... which the view says');
}
value(q{COMMIT PREPARED 'it''s kept'});
passes('... until its end', $later);
is(value('SELECT horizon_gid IS NULL FROM snowflake_status'), 't', '... after which nobody does');

# A restart without a prepared transaction: the box exists until the machine reboots.
my $before = horizon();
$server->restart;
cmp_ok(horizon(), '>=', $before, 'a restart in good order leaves the horizon');
$server->stop('immediate');
$server->start;
cmp_ok(horizon(), '>=', $before, '... and so does a crash');
$server->stop;
done_testing();
