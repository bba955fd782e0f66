# Other libraries are preloaded before this library or after it. pg_stat_statements and auto_explain
# see what they see without it, COPY inserts many rows at once, and all three libraries set up
# shared memory again after a crash.
# Not in the default run: it is about other software.

use strict;
use warnings;

use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
left_out_unless(is_available('pg_stat_statements'), 'pg_stat_statements', 'install PostgreSQL\'s contrib modules');

for my $order ('pg_stat_statements, auto_explain, snowflake', 'snowflake, pg_stat_statements, auto_explain')
{
	subtest "shared_preload_libraries = $order" => sub {
		my $busy = new_server($order =~ /^snowflake/ ? 'first_of_three' : 'last_of_three', preload => 0, patient => 1, conf => quiet() . qq{
shared_preload_libraries = '$order'
pg_stat_statements.track = all
pg_stat_statements.track_utility = on
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_nested_statements = on
restart_after_crash = on
});
		start_server($busy);
		value($busy, q{
			CREATE EXTENSION pg_stat_statements;
			CREATE EXTENSION snowflake;
			CREATE TABLE copied (id bigint DEFAULT snowflake_nextval(), n int);
			CREATE TABLE slow (id bigint DEFAULT (random() * 1e15)::bigint, n int)});
		my @ids = split /\n/, value($busy, 'SELECT snowflake_nextvals(100); INSERT INTO copied (n) SELECT generate_series(1, 100) RETURNING id');
		is(scalar(keys %{ { map { $_ => 1 } @ids } }), 200, 'ids flow');
		is(value($busy, q{SELECT calls || ' ' || rows FROM pg_stat_statements WHERE query = 'SELECT snowflake_nextvals($1)'}), '1 100', '... and pg_stat_statements counts them');
		is(value($busy, q{SELECT count(*) FROM pg_stat_statements WHERE query ~ 'snowflake_registry.*VALUES|INSERT INTO .*snowflake_registry'}), '1', '... the keeper\'s statements, too');
		like(slurp_file($busy->logfile), qr/Query Text: INSERT INTO copied .*?Insert on/s, '... and auto_explain shows plans');

		my $rows = join("\n", 1 .. 2000);
		value($busy, "COPY $_ (n) FROM stdin;\n$rows\n\\.\n") for qw(copied slow);
		my %wal = map { split /\|/ } split /\n/, value($busy, q{SELECT split_part(query, ' ', 2), wal_records FROM pg_stat_statements WHERE query LIKE 'COPY %'});
		cmp_ok($wal{copied}, '<', 200, "COPY inserts many rows at once: $wal{copied} WAL records");
		cmp_ok($wal{slow}, '>=', 2000, "... and row by row where another volatile function is the default: $wal{slow}");
		is(value($busy, 'SELECT count(DISTINCT id) FROM copied'), '2100', '... with an id for each row');
		isnt($busy->psql($db, "COPY copied (n) FROM stdin;\nno number\n\\.\n"), 0, 'a COPY that fails');
		is(value($busy, 'ALTER TABLE slow ADD COLUMN later bigint DEFAULT snowflake_nextval(); SELECT count(DISTINCT later) FROM slow'), '2000',
			'a column that is added has an id for each row');

		# Shared memory is set up again after a crash, by all three.
		my $checkpointer = value($busy, q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});
		ok(kill_and_wait($busy, $checkpointer), 'the server comes back after a crash');
		my $id;
		ok(wait_until('an id', sub { ($busy->psql($db, 'SELECT snowflake_nextval()', stdout => \$id))[0] == 0 }), '... and issues');
		cmp_ok($id, '>', $ids[-1], '... a larger id');
		is(value($busy, q{SELECT count(*) > 0 FROM pg_stat_statements}), 't', '... and counts statements');
		$busy->stop('fast');
		unlike(slurp_file($busy->logfile), qr/was not checked|PANIC|TRAP/, 'nothing wrong in the log');
	};
}

done_testing();
