# The parts of t/horizon/mixture: transactions that write into a table `outbox` in every way, and
# pollers with a cursor that read it.
package HorizonTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;

our @EXPORT = qw($in_workers $taken $end_prepared make_outbox transactions one_of poll many_scans $prepare_many_scans poller_script cursor_script consumer_script last_delivered load_delivered);

# The tables. Rows with a key are in partitions, and each partition calls snowflake_horizon() by
# itself. Other rows are written when a transaction of another table commits.
sub make_outbox
{
	my ($server) = @_;
	$server->safe_psql('postgres', q{
CREATE EXTENSION IF NOT EXISTS snowflake;
CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), how text, at timestamptz DEFAULT clock_timestamp()) PARTITION BY HASH (id);
DO $$ BEGIN FOR i IN 0 .. 2 LOOP EXECUTE format('CREATE TABLE outbox_%s PARTITION OF outbox FOR VALUES WITH (MODULUS 3, REMAINDER %s)', i, i); END LOOP; END $$;
CREATE TABLE numbers AS SELECT i FROM generate_series(1, 20) i;
ALTER TABLE numbers SET (parallel_workers = 2);
ANALYZE numbers;
CREATE TABLE orders (n int);
CREATE FUNCTION write_at_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO outbox (how) VALUES ('deferred');
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER write_at_commit AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION write_at_commit();
CREATE FUNCTION write_in_subtransactions(count int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. count LOOP
		BEGIN
			INSERT INTO outbox (how) VALUES ('subtransaction');
			IF i % 5 = 0 THEN RAISE division_by_zero; END IF;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
	END LOOP;
END $$;
CREATE PROCEDURE write_and_commit(turns int, pause float8) LANGUAGE plpgsql AS $$
DECLARE
	taken bigint;
BEGIN
	FOR i IN 1 .. turns LOOP
		taken := snowflake_nextval();
		PERFORM pg_sleep(pause);
		INSERT INTO outbox (how) VALUES ('procedure');
		INSERT INTO outbox (id, how) VALUES (taken, 'procedure, taken before');
		PERFORM pg_sleep(pause);
		IF i % 4 = 3 THEN ROLLBACK; ELSE COMMIT; END IF;
	END LOOP;
END $$;
CREATE TRIGGER claim BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
-- Ids that transactions took for others: an odd count takes the newest, an even one the oldest.
CREATE UNLOGGED TABLE pool (id bigint);
CREATE FUNCTION from_pool(count int) RETURNS SETOF bigint LANGUAGE sql AS $$
	DELETE FROM pool WHERE id = ANY (ARRAY(SELECT id FROM pool ORDER BY CASE WHEN count % 2 = 0 THEN id ELSE -id END LIMIT count FOR UPDATE SKIP LOCKED)) RETURNING id
$$;
-- Returns how many were accepted.
CREATE FUNCTION claim_from_pool(count int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	given bigint;
	accepted int := 0;
BEGIN
	FOR given IN SELECT from_pool(count) LOOP
		BEGIN
			INSERT INTO outbox (id, how) VALUES (given, 'claimed');
			accepted := accepted + 1;
		EXCEPTION WHEN SQLSTATE 'SF007' THEN
			INSERT INTO refused VALUES (given);
		END;
	END LOOP;
	RETURN accepted;
END $$;
CREATE TABLE refused (id bigint);
CREATE TABLE consumed (id bigint);
CREATE TABLE position (last bigint);
INSERT INTO position VALUES (0)});
	return;
}

# --------------------------------------------------------------------------------------------------
# Transactions that write, by the seed
# --------------------------------------------------------------------------------------------------

sub one { return $_[ rand @_ ]; }

# Nothing, or up to half a second. Some transactions are in a hurry.
my $longest = 0.5;
sub pause { return rand() < 0.4 || !$longest ? '' : sprintf "SELECT FROM pg_sleep(%.3f);\n", rand($longest); }

# An error in a transaction ends its session. Ids of other transactions are claimed; readers have
# passed most of them by then, unless the transaction that got them has just ended.
my @writes = (
	sub { sprintf "INSERT INTO pool SELECT snowflake_nextvals(%d);\n", 1 + rand(6) },
	sub { sprintf "SELECT claim_from_pool(%d);\n", 1 + rand(4) },
	sub { "INSERT INTO outbox (how) VALUES ('default');\n" },
	sub { "SELECT snowflake_nextval() AS id \\gset\n" . pause() . "INSERT INTO outbox (id, how) VALUES (:id, 'taken before');\n" },
	sub { "SELECT array_agg(id) AS ids FROM snowflake_nextvals(7) id \\gset\n" . pause() . "INSERT INTO outbox (id, how) SELECT unnest(:'ids'::bigint[]), 'several';\n" },
	sub { sprintf "INSERT INTO outbox (how) SELECT 'many' FROM generate_series(1, %d);\n", 1 + rand(300) },
	# Some arrive later than others.
	sub { sprintf "COPY outbox (how) FROM PROGRAM 'yes copied | head -n 5; sleep %.1f; yes copied | head -n 20';\n", rand($longest) },
	sub { sprintf "SELECT FROM write_in_subtransactions(%d);\n", one(3, 10, 80) },
	sub { "INSERT INTO orders VALUES (1);\n" },
	\&parallel, \&parallel, \&savepoint, \&savepoint);

# The leader gets none of these ids, or some.
our $in_workers = 'SET LOCAL parallel_leader_participation = off; SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; '
  . 'SET LOCAL min_parallel_table_scan_size = 0;';
our $taken = 'SELECT array_agg(id) AS ids FROM (SELECT snowflake_nextval() AS id FROM numbers) d';
sub parallel
{
	my $setting = one($in_workers, "$in_workers SET LOCAL parallel_leader_participation = on;",
		q{SELECT FROM pg_settings, set_config(name, 'on', true) WHERE name IN ('force_parallel_mode', 'debug_parallel_query');});
	return "$setting\n$taken \\gset\n"
	  . pause() . "INSERT INTO outbox (id, how) SELECT unnest(:'ids'::bigint[]), 'parallel';\n";
}

sub savepoint
{
	return "SAVEPOINT s;\n" . writes(1) . pause() . one("RELEASE s;\n", "ROLLBACK TO s;\n");
}

sub writes { my ($most) = @_; return join '', map { one(@writes)->() . pause() } 1 .. 1 + rand($most); }

sub transaction
{
	my $level = one('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE');
	my $body = "BEGIN ISOLATION LEVEL $level;\n" . pause() . writes(3);
	my $end = rand();
	return "${body}COMMIT;\n" if $end < 0.65;
	return "${body}ROLLBACK;\n" if $end < 0.8;
	# Another session may end it, or the session writes more before it ends it.
	my $prepared = "SELECT 'p' || pg_backend_pid() || extract(epoch FROM clock_timestamp()) AS gid \\gset\n${body}PREPARE TRANSACTION :'gid';\n";
	return $prepared if $end < 0.85;
	my $between = one('', pause(), transaction_of("INSERT INTO outbox (how) VALUES ('while one is prepared');\n" . pause()));
	return $prepared . $between . one("COMMIT", "COMMIT", "ROLLBACK") . " PREPARED :'gid';\n";
}

# Ids for another transaction, which follows at once or a little later.
sub claimed
{
	my $later = transaction_of(one('', "INSERT INTO outbox (how) VALUES ('before a claim');\n") . "SELECT claim_from_pool(5);\n" . pause());
	$later =~ s/COMMIT;\n$/one("COMMIT;\n", "COMMIT;\n", "ROLLBACK;\n", "PREPARE TRANSACTION :'gid';\n")/e;
	return "SELECT 'c' || pg_backend_pid() || extract(epoch FROM clock_timestamp()) AS gid \\gset\n"
	  . "INSERT INTO pool SELECT snowflake_nextvals(5);\n" . one('', '', sprintf("SELECT FROM pg_sleep(%.3f);\n", rand(0.15))) . $later;
}

sub transaction_of { my ($body) = @_; return "BEGIN;\n${body}COMMIT;\n"; }

# The session continues after a cancelled statement.
sub cancelled
{
	my $insert = "INSERT INTO outbox (how) VALUES ('before a limit');\n";
	return sprintf "\\set ON_ERROR_STOP off\nSET statement_timeout = '%d ms';\n%sRESET statement_timeout;\n", 10 + rand(300), transaction_of($insert . pause() . $insert);
}

# Prepared transactions hold the horizon back, so other sessions end those whose session has left
# them, and some before that.
our $end_prepared = q{SELECT format('%s PREPARED %L', (ARRAY['COMMIT', 'COMMIT', 'ROLLBACK'])[ceil(random() * 3)], gid) FROM pg_prepared_xacts
WHERE random() < 0.4 \gexec
};

# Files with a transaction each, for one_of().
sub transactions
{
	my ($folder, $count) = @_;
	mkdir $folder or die "$folder: $!";
	for my $i (1 .. $count)
	{
		my $kind = rand();
		$longest = one(0, 0.02, 0.2, 0.5);
		my $text = $kind < 0.6 ? transaction()
		  : $kind < 0.8 ? claimed()
		  : $kind < 0.87 ? sprintf("CALL write_and_commit(%d, %.3f);\n", 1 + rand(6), rand($longest))
		  : $kind < 0.93 ? cancelled()
		  : one("INSERT INTO outbox (how) VALUES ('alone');\n", "INSERT INTO outbox (how) SELECT 'alone' FROM numbers, pg_sleep(0.1);\n");
		append_to_file("$folder/$i.sql", "\\set ON_ERROR_STOP on\n$text");
	}
	return;
}

# For a client: one of $count of them, at random.
sub one_of { my ($folder, $count) = @_; return "SELECT '$folder/' || 1 + floor($count * random()) || '.sql' AS part \\gset\n\\i :part\n"; }

# --------------------------------------------------------------------------------------------------
# Pollers: each is the only client of its pgbench, and stores its rows in the file 1.out
# --------------------------------------------------------------------------------------------------

my $cursor = "\\set last `exec awk '/^[1-9]/ { last = \$0 } END { print last + 0 ? last : 0 }' 1.out`\n";

# The columns that a poll delivers.
my $delivers = "SELECT coalesce(string_agg(id::text, E'\\n' ORDER BY id), '') AS ids, coalesce(max(id), %s) AS last FROM";
sub deliver { my ($rows) = @_; return sprintf($delivers, ':last') . " ($rows) new \\gset\n\\echo :ids\n"; }

# One poll: rows above the cursor, and below the bound if there is one.
sub poll
{
	my ($bound, $limit) = @_;
	my $below = $bound ? "AND id < $bound" : '';
	my $first = $limit ? "LIMIT $limit" : '';
	return deliver("SELECT id FROM outbox WHERE id > :last $below ORDER BY id $first");
}

# Polls whose scans call snowflake_horizon() one after the other, some time apart.
my $new = 'id > :last AND id < snowflake_horizon()';
my @many_scans = (
	deliver("SELECT id FROM outbox WHERE id % 2 = 0 AND $new UNION ALL SELECT id FROM outbox WHERE id % 2 = 1 AND (SELECT pg_sleep(0.011)) IS NOT NULL AND $new"),
	deliver("SELECT id FROM (SELECT i, pg_sleep(0.011) FROM generate_series(0, 2) i OFFSET 0) s, LATERAL (SELECT id FROM outbox WHERE id % 3 = i AND $new OFFSET 0) o"),
	"BEGIN; $in_workers\n" . deliver("SELECT id FROM (SELECT id FROM outbox WHERE id > :last OFFSET 0) o WHERE id < snowflake_horizon()") . "COMMIT;\n",
	"EXECUTE polled(:last) \\gset\n\\echo :ids\n");
sub many_scans { return $many_scans[ $_[0] % @many_scans ]; }
our $prepare_many_scans = 'PREPARE polled(bigint) AS ' . sprintf($delivers, '$1')
  . " (SELECT id FROM outbox WHERE id > \$1 AND id < snowflake_horizon() ORDER BY id LIMIT 300) new;\nSET plan_cache_mode = force_generic_plan;\n";

sub poller_script { my (@turns) = @_; return "\\set ON_ERROR_STOP on\n$cursor" . join '', @turns; }

# A cursor also evaluates the horizon after it took its snapshot: when the first rows are fetched.
sub cursor_script
{
	my ($pause) = @_;
	return "BEGIN;\n${cursor}DECLARE c CURSOR FOR SELECT id FROM outbox WHERE id > :last AND id < snowflake_horizon() ORDER BY id;\n"
	  . $pause . "FETCH 50 FROM c;\n${pause}FETCH 200 FROM c;\n${pause}FETCH ALL FROM c;\nCOMMIT;\n";
}

# The database stores the cursor and the delivered rows, and one transaction writes both.
sub consumer_script
{
	return q{WITH new AS (SELECT id FROM outbox WHERE id > (SELECT last FROM position) AND id < snowflake_horizon() ORDER BY id LIMIT 300),
	moved AS (UPDATE position SET last = greatest(last, (SELECT max(id) FROM new)))
INSERT INTO consumed SELECT id FROM new;
};
}

# The cursor of such a poller.
sub last_delivered
{
	my ($clients) = @_;
	my $last = 0;
	return $last unless -e $clients->{files}[0];
	open(my $file, '<', $clients->{files}[0]) or die "$clients->{files}[0]: $!";
	while (my $line = <$file>) { $last = $1 if $line =~ /^([1-9]\d*)$/; }
	return $last;
}

# Into a table (poller, id).
sub load_delivered
{
	my ($server, $name, $clients) = @_;
	$server->safe_psql('postgres', qq{
CREATE TEMP TABLE answered (id bigint);
COPY answered FROM PROGRAM \$\$grep '^[1-9]' $clients->{files}[0]\$\$;
INSERT INTO delivered SELECT '$name', id FROM answered});
	return;
}

1;
