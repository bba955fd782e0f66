# A prepared transaction holds back the horizon even if its session has never loaded the library,
# because its parallel workers got the ids. It still does after other transactions of that session
# get ids, in workers or by themselves, and after another session has taken the slot of its process.
# A prepared transaction that got no ids does not hold the horizon back.
#
# The library is not preloaded, so PostgreSQL 17 or later is needed.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('server', preload => 0, patient => 1, conf => "session_preload_libraries = ''\nmax_prepared_transactions = 5\nmax_connections = 20\nautovacuum = off\nlog_statement = none\n");
plan skip_all => 'before PostgreSQL 17 every session has the library' if $server->pg_version < 17;
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
value(q{
CREATE EXTENSION snowflake;
CREATE TABLE outbox (id bigint PRIMARY KEY, how text);
CREATE TABLE numbers AS SELECT i FROM generate_series(1, 20) i;
ALTER TABLE numbers SET (parallel_workers = 2);
CREATE FUNCTION taken() RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS 'BEGIN RETURN snowflake_nextval(); END'});
value('SELECT snowflake_nextval(), snowflake_horizon()');

my $parallel = 'SET parallel_leader_participation = off; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;';
my $takes = q{WITH d AS MATERIALIZED (SELECT taken() AS id FROM numbers) SELECT array_agg(id) AS ids, min(id) AS least FROM d};
sub unaware { my $session = $server->background_psql('postgres', on_error_stop => 0); $session->query_safe($parallel); return $session; }
# Whether the session has loaded the library: then the library's settings exist.
sub is_aware { return $_[0]->query_safe(q{SELECT count(*) FROM pg_settings WHERE name = 'snowflake.max_lead'}); }

# Prepares a transaction under this name, and returns its lowest id.
sub prepares
{
	my ($session, $name, $between) = @_;
	my ($least) = (split /\n/, $session->query_safe("BEGIN;\n$takes \\gset\nINSERT INTO outbox SELECT unnest(:'ids'::bigint[]), '$name';\nSELECT :least;"))[-1];
	$session->query_safe("PREPARE TRANSACTION '$name'");
	return $least;
}

# Checks that the horizon is not above this id after many samples.
sub holds
{
	my ($least, $gid, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	select undef, undef, undef, 0.3;
	value('SELECT snowflake_horizon()');
	select undef, undef, undef, 0.3;
	cmp_ok(value('SELECT snowflake_horizon()'), '<=', $least, $what);
	is(value("SELECT horizon_gid, horizon_since = snowflake_timestamp($least) FROM snowflake_status"), "$gid|t", '... which the view says');
	return;
}
sub passes
{
	my ($what) = @_;
	my $id = value('SELECT snowflake_nextval()');
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(wait_until('the horizon', sub { value('SELECT snowflake_horizon()') > $id }), $what);
}

my $session = unaware();
like($session->query_safe("EXPLAIN $takes"), qr/Gather/, 'parallel workers get ids');
my $first = prepares($session, 'first');
is(is_aware($session), '0', 'the session has not loaded the library');
holds($first, 'first', 'what it prepared holds the horizon');

my $second = prepares($session, 'second');
holds($first, 'first', '... when its workers have got ids for another transaction');
value(q{COMMIT PREPARED 'first'});
holds($second, 'second', '... which holds it, too');
# The session itself gets an id.
$session->query_safe('SELECT snowflake_nextval()');
is(is_aware($session), '1', 'the session loads the library');
holds($second, 'second', '... and gets ids by itself');
value(q{ROLLBACK PREPARED 'second'});
passes('at last the horizon goes on');
is(value(q{SELECT count(*) FROM outbox WHERE how = 'first' AND id < snowflake_horizon()}), '20', '... over all rows');

# Another session in the same slot: slots are reused in the order in which they became free.
my $third = prepares(my $other = unaware(), 'third');
my $place = $other->query_safe('SELECT pg_backend_pid()');
$_->quit for $session, $other;
ok(wait_until('it to leave', sub { value("SELECT count(*) FROM pg_stat_activity WHERE pid = $place") eq '0' }), 'the session has ended');
value('SELECT snowflake_nextval()') for 1 .. 25;
my @others = map { my $s = unaware(); $s->query_safe($takes); $s } 1 .. 10;
holds($third, 'third', 'other sessions have got ids');
$_->quit for @others;
value(q{COMMIT PREPARED 'third'});
passes('the horizon goes on');

# A prepared transaction without ids.
$session = unaware();
$session->query_safe(q{BEGIN; INSERT INTO outbox VALUES (1, 'by hand'); PREPARE TRANSACTION 'nothing'});
passes('what got no id holds nothing');
value(q{ROLLBACK PREPARED 'nothing'});

# Prepared before a restart: no process remembers the transaction.
$first = prepares($session, 'fourth');
$session->quit;
my $before = value('SELECT snowflake_horizon()');
$server->restart;
value('SELECT snowflake_nextval(), snowflake_horizon()');
select undef, undef, undef, 0.5;
cmp_ok(value('SELECT snowflake_horizon()'), '<=', $first, 'after a restart it holds the horizon still');
is(value('SELECT horizon_gid FROM snowflake_status'), 'fourth', '... which the view says');
value(q{COMMIT PREPARED 'fourth'});
passes('... until its end');
$server->stop;
done_testing();
