# With the trigger snowflake_claim(), the horizon also covers rows whose ids were issued before
# their transaction or on another node. If a reader has a higher horizon, the insert fails with
# SF007 (G12). The test writes rows in every way, in every form of transaction, and over a restart.
# It also shows the limits that doc/horizon.md names: rows that appear without an insert, and
# triggers that are not fired.
# Not in the default run: it often waits to show that something does not happen.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $conf = "max_prepared_transactions = 10\nautovacuum = off\nlog_statement = none\nwal_level = logical\nmax_connections = 60\n";
my $server = new_server('server', streaming => 1, clock => 1, patient => 1, conf => $conf);
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }
sub state { my ($sql, $dbname) = @_; return (query_error($server, $dbname // 'postgres', $sql))[0]; }
sub horizon { return value('SELECT snowflake_horizon()'); }
sub nextval { return value('SELECT snowflake_nextval()'); }
sub session { return $server->background_psql($_[0] // 'postgres', on_error_stop => 0); }
my $outbox = q{CREATE TABLE %1$s (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text);
	CREATE TRIGGER claim BEFORE INSERT OR UPDATE ON %1$s FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');};
value('CREATE EXTENSION snowflake;' . sprintf $outbox, 'outbox');

# An id above every reader's horizon, or one below a reader's horizon.
sub passed { my $id = nextval(); wait_until('the horizon', sub { horizon() > $id }) or die; return $id; }
# Readers no longer read. Samples continue, because the keeper takes them for a minute.
my $samples = 'SELECT horizon FROM snowflake_status';
sub sampled { my ($id) = @_; return wait_until('a sample', sub { (value($samples) || 0) > $id }); }

### Before a horizon was reported

is(state(q{INSERT INTO outbox VALUES (7, 'older than all')}), '00000', 'before the first horizon any id is covered');
is(state('INSERT INTO outbox VALUES (0)'), '00000', '... 0, too');
is(state('INSERT INTO outbox VALUES (9223372036854775807)'), '00000', '... and the largest');
is(state('INSERT INTO outbox VALUES (-1)'), 'SF007', '... but none below 0');
is(state('INSERT INTO outbox VALUES (-9223372036854775808)'), 'SF007', '... and not the smallest');
is(state('INSERT INTO outbox VALUES (NULL)'), '23502', 'a null is the column\'s business');
value('TRUNCATE outbox');
my $open = session();
$open->query_safe(q{BEGIN; INSERT INTO outbox VALUES (5, 'x')});
horizon() for 1 .. 3;
sleep 1;
cmp_ok(horizon(), '<=', 5, 'a transaction with a claimed id holds the first horizon');
$open->query_safe('COMMIT');
my $id = passed();
is(state('INSERT INTO outbox VALUES (6)'), 'SF007', 'a reader has a horizon');
is(state('INSERT INTO outbox VALUES (-1)'), 'SF007', '... -1 is below it');
is(state('INSERT INTO outbox VALUES (0)'), 'SF007', '... and 0');
is(state('INSERT INTO outbox VALUES (9223372036854775807)'), '00000', '... the largest is not');
value('DELETE FROM outbox');

### The refusal

my (undef, $error) = query_error($server, 'postgres', "INSERT INTO outbox VALUES ($id)");
like($error, qr/ERROR:  SF007: id $id is below the horizon\nDETAIL:  snowflake_horizon\(\) has returned \d+, of [^\n]*\. Readers [^\n]* would miss this row\.\nHINT:  Let the transaction that inserts the row request its id[^\n]*\n.*TABLE NAME:  outbox\nCOLUMN NAME:  id\n/s,
	'the error names the id, the horizon, the table and the column');
my $highest = horizon();
is(state('INSERT INTO outbox VALUES (' . ($highest - 1) . ')'), 'SF007', 'an id just below the horizon is refused');
is(state("INSERT INTO outbox VALUES ($highest)"), '00000', '... and one at it is covered');
is(state("INSERT INTO outbox VALUES ($highest)"), '23505', '... once');
value('DELETE FROM outbox');

### A claim holds back the horizon, for every command that inserts, and drops samples that no reader
### has

value(q{CREATE TABLE source (id bigint, payload text);
	CREATE TABLE parted (id bigint DEFAULT snowflake_nextval(), payload text) PARTITION BY LIST (payload);
	CREATE TABLE parted_x PARTITION OF parted FOR VALUES IN ('x');
	CREATE TABLE parted_y PARTITION OF parted FOR VALUES IN ('y');
	CREATE TRIGGER claim BEFORE INSERT OR UPDATE ON parted FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
	CREATE VIEW seen AS SELECT * FROM outbox;
	CREATE FUNCTION insert_one(given bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		BEGIN INSERT INTO outbox VALUES (given, 'x'); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END;
		INSERT INTO outbox VALUES (given, 'x');
	END $$});
my @ways = (
	[ 'INSERT', q{INSERT INTO outbox VALUES (%s, 'x')} ],
	[ 'of many rows', q{INSERT INTO outbox SELECT %s + 4096 * i, 'x' FROM generate_series(5, 0, -1) i} ],
	[ 'after own ids', q{INSERT INTO outbox (payload) VALUES ('own'); INSERT INTO outbox VALUES (%s, 'x')} ],
	[ 'before own ids', q{INSERT INTO outbox VALUES (%s, 'x'); INSERT INTO outbox (payload) VALUES ('own')} ],
	[ 'ON CONFLICT', q{INSERT INTO outbox VALUES (%s, 'x') ON CONFLICT (id) DO UPDATE SET payload = 'x'} ],
	[ 'through a view', q{INSERT INTO seen VALUES (%s, 'x')} ],
	[ 'in a savepoint', q{SAVEPOINT s; INSERT INTO outbox VALUES (%s, 'x'); RELEASE s} ],
	[ 'rolled back to a savepoint, and again', q{SAVEPOINT s; INSERT INTO outbox VALUES (%1$s, 'x'); ROLLBACK TO s; INSERT INTO outbox VALUES (%1$s, 'x')} ],
	[ 'in a function', 'SELECT insert_one(%s)' ],
	[ 'COPY', "COPY outbox FROM PROGRAM 'echo %s,x' WITH (FORMAT csv)" ],
	[ 'into partitions', q{INSERT INTO parted VALUES (%s, 'x')}, 'parted' ],
	[ 'UPDATE', q{UPDATE outbox SET id = %s, payload = 'x' WHERE payload = 'to be changed'} ]);
push @ways, [ 'MERGE', q{MERGE INTO outbox USING (SELECT %s::bigint AS id) s ON outbox.id = s.id WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'x')} ];
my %ends = (COMMIT => 1, ROLLBACK => 0, "PREPARE TRANSACTION 'p'" => undef);
my ($held, $covered) = (0, 0);
for my $i (0 .. $#ways)
{
	my ($way, $sql, $table) = @{ $ways[$i] };
	$table //= 'outbox';
	my $end = (sort keys %ends)[ $i % 3 ];
	value(q{TRUNCATE outbox, parted; INSERT INTO outbox (payload) VALUES ('to be changed')});
	my $reported = horizon();
	my $early = nextval();
	sampled($early);
	# Two sessions at the same time, so that the transaction that one waits for has not ended.
	my ($errors) = (ask($open, 'BEGIN; ' . sprintf $sql, $early))[1];
	is($errors, '', "$way: an id of before is accepted");
	select undef, undef, undef, 0.3;
	my $now = horizon();
	cmp_ok($now, '<=', $early, '... and holds the horizon');
	cmp_ok($now, '>=', $reported, '... which does not fall');
	is(value("SELECT horizon_pid IS NOT NULL, horizon <= $early FROM snowflake_status"), 't|t', '... as the status says');
	my $last = nextval();
	$open->query_safe($end);
	if ($end =~ /PREPARE/)
	{
		select undef, undef, undef, 0.3;
		cmp_ok(horizon(), '<=', $early, '... prepared, too');
		is(value('SELECT horizon_gid FROM snowflake_status'), 'p', '... as the status says');
		value("COMMIT PREPARED 'p'");
	}
	ok(wait_until('the horizon', sub { horizon() > $last }), "... until $end");
	is(value("SELECT count(*) > 0 FROM $table WHERE id >= $early AND id < snowflake_horizon() AND payload = 'x'"), $end eq 'ROLLBACK' ? 'f' : 't', '... after which the row is below it');
	my $again = state("BEGIN;\n" . (sprintf $sql, $early) . ";\nROLLBACK");
	is($again, 'SF007', '... and the id is refused') unless $way eq 'UPDATE' || $way eq 'MERGE';
}

# The trigger ignores an id that does not change, and a row that does not move.
value('TRUNCATE outbox, parted');
value(q{INSERT INTO outbox (payload) VALUES ('x'); INSERT INTO parted (payload) VALUES ('x')});
passed();
is(state(q{UPDATE outbox SET payload = 'changed'}), '00000', 'an update of other columns is none of it');
is(state(q{UPDATE outbox SET id = id}), '00000', '... nor one to the same id');
is(state(q{UPDATE outbox SET id = id - 1}), 'SF007', 'an update to an id below the horizon is refused');
is(state(q{UPDATE parted SET payload = 'y'}), 'SF007', 'a row that moves to another partition is inserted there');
is(state(q{INSERT INTO outbox SELECT id, 'again' FROM outbox ON CONFLICT DO NOTHING}), 'SF007', 'a conflict is found after the trigger');
is(state(q{MERGE INTO outbox USING outbox o ON outbox.id = o.id WHEN MATCHED THEN UPDATE SET payload = 'merged'}), '00000', 'MERGE that updates other columns is none of it');

### Triggers: how they may be created

value(q{CREATE DOMAIN outbox_id AS bigint; CREATE DOMAIN public_id AS snowflake_id CHECK (VALUE > 0);
	CREATE TABLE kinds (a int, dropped int, public snowflake_id, domain outbox_id, domains public_id, "odd name" bigint, small int, text text, made bigint GENERATED ALWAYS AS (a::bigint) STORED);
	ALTER TABLE kinds DROP dropped});
sub trigger_state
{
	my ($create, $write) = @_;
	return state("BEGIN;\nCREATE TRIGGER t $create;\n$write;\nROLLBACK");
}
sub for_column { my ($column) = @_; return "BEFORE INSERT ON kinds FOR EACH ROW EXECUTE FUNCTION snowflake_claim('$column')"; }
is(trigger_state(for_column($_), qq{INSERT INTO kinds ("$_") VALUES (1)}), 'SF007', "a column $_") for 'public', 'domain', 'domains', 'odd name';
is(trigger_state(for_column($_), qq{INSERT INTO kinds ("$_") VALUES (snowflake_nextval())}), '00000', '... with an id of its own') for 'public', 'domain', 'domains', 'odd name';
is(trigger_state(for_column($_), 'INSERT INTO kinds (a) VALUES (1)'), '42804', "a column $_") for 'small', 'text', 'made';
is(trigger_state(for_column($_), 'INSERT INTO kinds (a) VALUES (1)'), '42703', "no column $_") for 'nothing', 'dropped', '........pg.dropped.2........', 'ctid', 'tableoid', '', 'PUBLIC';
is(trigger_state(q{BEFORE INSERT ON kinds FOR EACH ROW EXECUTE FUNCTION snowflake_claim()}, 'INSERT INTO kinds (a) VALUES (1)'), '39P01', 'without an argument');
is(trigger_state(q{BEFORE INSERT ON kinds FOR EACH ROW EXECUTE FUNCTION snowflake_claim('public', 'domain')}, 'INSERT INTO kinds (a) VALUES (1)'), '39P01', 'with two');
is(trigger_state(q{AFTER INSERT ON kinds FOR EACH ROW EXECUTE FUNCTION snowflake_claim('public')}, 'INSERT INTO kinds (a) VALUES (1)'), '39P01', 'after the row');
is(trigger_state(q{BEFORE INSERT ON kinds EXECUTE FUNCTION snowflake_claim('public')}, 'INSERT INTO kinds (a) VALUES (1)'), '39P01', 'for a statement');
is(trigger_state(q{BEFORE DELETE ON kinds FOR EACH ROW EXECUTE FUNCTION snowflake_claim('public')}, 'INSERT INTO kinds (a) VALUES (1); DELETE FROM kinds'), '39P01', 'for a delete');
is(trigger_state(q{BEFORE TRUNCATE ON kinds EXECUTE FUNCTION snowflake_claim('public')}, 'TRUNCATE kinds'), '39P01', 'for TRUNCATE');
is(state('SELECT snowflake_claim()'), '39P01', 'it cannot be called');
is(trigger_state(for_column('public'), 'INSERT INTO kinds (public) VALUES (NULL)'), '00000', 'a null passes');
# The later trigger decides.
value(q{CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := 1; RETURN NEW; END $$;
	CREATE TABLE ordered (id bigint); CREATE TRIGGER claim BEFORE INSERT ON ordered FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
	CREATE TRIGGER a BEFORE INSERT ON ordered FOR EACH ROW EXECUTE FUNCTION set_id()});
is(state('INSERT INTO ordered VALUES (snowflake_nextval())'), 'SF007', 'an id that an earlier trigger sets is judged');
value('ALTER TRIGGER a ON ordered RENAME TO z');
is(state('INSERT INTO ordered VALUES (snowflake_nextval())'), '00000', '... one that a later trigger sets is not');

### Transactions

# With an old snapshot: the reported horizon decides, not what the snapshot sees.
my $reader = session();
for my $level ('REPEATABLE READ', 'SERIALIZABLE')
{
	my $early = nextval();
	$reader->query_safe("BEGIN ISOLATION LEVEL $level; SELECT 1");
	$open->query_safe("BEGIN ISOLATION LEVEL $level; SELECT 1");
	is((ask($open, "INSERT INTO outbox VALUES ($early, 'x')"))[1], '', "$level: an id of before is accepted");
	cmp_ok($reader->query_safe('SELECT snowflake_horizon()'), '<=', $early, '... and covered');
	$open->query_safe('COMMIT');
	my $late = nextval();
	$open->query_safe("BEGIN ISOLATION LEVEL $level; SELECT 1");
	wait_until('the horizon', sub { horizon() > $late });
	like((ask($open, "INSERT INTO outbox VALUES ($late, 'x')"))[1], qr/is below the horizon/, '... but not if a reader has a higher horizon');
	ask($_, 'ROLLBACK') for $open, $reader;
}
# A snapshot from before the claim that is used after it: the sample is gone.
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $kept = nextval();
sampled($kept);
$reader->query_safe('ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
$open->query_safe("BEGIN; INSERT INTO outbox VALUES ($kept, 'x')");
cmp_ok($reader->query_safe('SELECT snowflake_horizon()'), '<=', $kept, 'a reader with an older snapshot does not get the sample that is gone');
$_->query_safe('COMMIT') for $open, $reader;

# Ids that parallel workers took belong to the transaction; others do not.
value('CREATE TABLE numbers AS SELECT i FROM generate_series(1, 20) i; ALTER TABLE numbers SET (parallel_workers = 2)');
$open->query_safe('SET parallel_leader_participation = off; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0');
my $takes = 'SELECT array_agg(id) AS ids FROM (SELECT snowflake_nextval() AS id FROM numbers) d';
like($open->query_safe("EXPLAIN $takes"), qr/Gather/, 'parallel workers take ids');
for my $end ('COMMIT', "PREPARE TRANSACTION 'p'")
{
	my $oldest = nextval();
	ask($open, "BEGIN;\n$takes \\gset");
	my $last = nextval();
	sleep 1;
	is((ask($open, "INSERT INTO outbox SELECT unnest(:'ids'::bigint[]), 'x'"))[1], '', 'they are its own, whatever readers have');
	ok(wait_until('the horizon', sub { horizon() > $oldest }), 'a reader has passed an older one');
	like((ask($open, "SAVEPOINT s;\nINSERT INTO outbox VALUES ($oldest, 'x');\nROLLBACK TO s"))[1], qr/is below the horizon/, '... which is refused');
	ask($open, $end);
	value(q{COMMIT PREPARED 'p'}) if $end =~ /PREPARE/;
	ok(wait_until('the horizon', sub { horizon() > $last }), "... until $end");
}
ask($open, "RESET $_") for 'parallel_leader_participation', 'parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size';

# Procedures: each of their transactions counts separately.
value(q{CREATE PROCEDURE writes(given bigint) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO outbox (payload) VALUES ('x'); COMMIT;
	FOR i IN 1 .. 1000 LOOP EXIT WHEN snowflake_horizon() > given; PERFORM pg_sleep(0.05); END LOOP;
	INSERT INTO outbox VALUES (given, 'x'); END $$});
my $clients = start_clients($server, 1, "SELECT snowflake_horizon() FROM pg_sleep(0.01);\n" x 50);
is(state('CALL writes(' . nextval() . ')'), 'SF007', 'ids of a procedure\'s earlier transaction are of an earlier transaction');
stop_clients($clients);

### Over a restart

# The horizon that was reported before the restart also holds after it, whatever is left of the box.
for my $mode ('fast', 'immediate')
{
	for my $box ('', 'out')
	{
		my $passed = passed();
		my $given = nextval();
		$server->stop($mode);
		lose_box($server) if $box;
		start_server($server);
		is(state("INSERT INTO outbox VALUES ($passed, 'x')"), 'SF007', "after a restart, $mode, with$box the black box, the id is refused before anybody asks again");
		is(state("INSERT INTO outbox VALUES ($given, 'x')"), 'SF007', '... and one that may have been passed') if $box;
		is(state(q{INSERT INTO outbox (payload) VALUES ('x')}), '00000', '... and an own one is not');
	}
}

# A prepared transaction with a claimed id, and the samples that it dropped.
for my $mode ('fast', 'immediate')
{
	for my $box (0, 1)
	{
		horizon();
		my $claimed = nextval();
		sampled($claimed);
		value("BEGIN; INSERT INTO outbox VALUES ($claimed, 'prepared'); PREPARE TRANSACTION 'claimed'");
		$server->stop($mode);
		lose_box($server) unless $box;
		start_server($server);
		my $first = horizon();
		sleep 1;
		cmp_ok($_, '<=', $claimed, "after a restart, $mode, with the black box or not ($box), a prepared transaction with a claimed id holds the horizon") for $first, horizon();
		value(q{COMMIT PREPARED 'claimed'});
		ok(wait_until('the horizon', sub { horizon() > $claimed }), '... until its end');
		is(value("SELECT payload FROM outbox WHERE id = $claimed AND id >= $first"), 'prepared', '... and its row is not below what was reported');
	}
}

### A step back of the clock, by more than is bridged: new ids are smaller

$server->append_conf('postgresql.conf', "snowflake.max_bridge = '1s'\nsnowflake.on_clock_step_back = new_worker\n");
# The limits are in force when the keeper has read them.
$server->reload;
wait_until('the limit', sub { value(q{SELECT current_setting('snowflake.max_bridge')}) eq '1s' });
keeper_looks($server);
my $before = passed();
move_clock($server, -40);
ok(wait_until('another worker id', sub { nextval() < $before }), 'after a large step back ids are smaller');
my (undef, $stepped) = query_error($server, 'postgres', q{INSERT INTO outbox (payload) VALUES ('x')});
like($stepped, qr/SF007: id \d+ is below the horizon.*HINT:  The clock stepped back/s, '... and the transaction\'s own id is refused, too: a reader would miss it');
value('ALTER TABLE outbox DISABLE TRIGGER claim');
is(state(q{INSERT INTO outbox (payload) VALUES ('x')}), '00000', '... unless the trigger is disabled');
value('ALTER TABLE outbox ENABLE TRIGGER claim');
move_clock($server, 5);
ok(wait_until('the clock', sub { state(q{INSERT INTO outbox (payload) VALUES ('x')}) eq '00000' }), '... until the clock has passed the horizon');

### Rows that appear without an insert

my $lost = passed();
value("CREATE TABLE other (LIKE outbox INCLUDING ALL); INSERT INTO other VALUES ($lost, 'x')");
value(q{CREATE TABLE ranged (id bigint DEFAULT snowflake_nextval(), payload text) PARTITION BY RANGE (id);
	CREATE TRIGGER claim BEFORE INSERT ON ranged FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id')});
is(state('ALTER TABLE ranged ATTACH PARTITION other DEFAULT'), '00000', 'ATTACH PARTITION fires no trigger');
is(value("SELECT count(*) FROM ranged WHERE id = $lost AND id < snowflake_horizon()"), '1', '... and the row is below the horizon');
is(state("INSERT INTO other VALUES (1, 'x')"), 'SF007', '... but the partition has the trigger from then on');
value('CREATE TABLE child (LIKE outbox); INSERT INTO child VALUES (' . ($lost + 1) . q{, 'x'); ALTER TABLE child INHERIT outbox});
is(value('SELECT count(*) FROM outbox WHERE id = ' . ($lost + 1)), '1', 'INHERIT fires none, either');
is(state("INSERT INTO child VALUES (2, 'x')"), '00000', '... and the child has no trigger');
is(state("SET session_replication_role = replica;\nINSERT INTO outbox VALUES (3, 'x')"), '00000', 'nor is it fired for session_replication_role = replica');
value('ALTER TABLE outbox ENABLE ALWAYS TRIGGER claim');
is(state("SET session_replication_role = replica;\nINSERT INTO outbox VALUES (4, 'x')"), 'SF007', '... unless it is ENABLE ALWAYS');
value('ALTER TABLE outbox ENABLE TRIGGER claim; ALTER TABLE child NO INHERIT outbox; DELETE FROM outbox');

# Dumps: rows are restored before triggers, unless the table exists already.
my $row = passed();
value("ALTER TABLE outbox DISABLE TRIGGER claim; INSERT INTO outbox VALUES ($row, 'dumped'); ALTER TABLE outbox ENABLE TRIGGER claim");
my $dump = $server->basedir . '/dump.sql';
$server->command_ok([ 'pg_dump', '-d', $server->connstr('postgres'), '-t', 'outbox', '-f', $dump ], 'a dump');
like(slurp_file($dump), qr/^CREATE TRIGGER claim BEFORE INSERT OR UPDATE ON public\.outbox FOR EACH ROW EXECUTE FUNCTION public\.snowflake_claim\('id'\);/m, '... has the trigger');
value('DROP VIEW seen; DROP TABLE outbox');
$server->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('postgres'), '-f', $dump ], 'it is restored');
is(value("SELECT count(*) FROM outbox WHERE id = $row AND id < snowflake_horizon()"), '1', '... and rows below the horizon with it');
is(state("INSERT INTO outbox VALUES (5, 'x')"), 'SF007', '... and the trigger');
$server->command_ok([ 'pg_dump', '-d', $server->connstr('postgres'), '-t', 'outbox', '--data-only', '-f', $dump ], 'a dump of the rows alone');
value('DELETE FROM outbox');
$server->command_fails_like([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('postgres'), '-f', $dump ], qr/is below the horizon/, '... is refused where the trigger is');

### Logical replication

value(sprintf($outbox, 'replicated') . 'CREATE PUBLICATION p FOR TABLE replicated');
my $subscriber = new_server('subscriber', streaming => 1, conf => $conf . "wal_retrieve_retry_interval = '200ms'\n");
start_server($subscriber);
sub there { return $subscriber->safe_psql('postgres', $_[0]); }
there('CREATE EXTENSION snowflake;' . sprintf $outbox, 'replicated');
there('SELECT snowflake_nextval()');
there('CREATE SUBSCRIPTION s CONNECTION $$' . $server->connstr('postgres') . '$$ PUBLICATION p WITH (streaming = off)');
$server->wait_for_catchup('s');
my $theirs = nextval();
wait_until('the horizon there', sub { there('SELECT snowflake_horizon()') > $theirs });
value("ALTER TABLE replicated DISABLE TRIGGER claim; INSERT INTO replicated VALUES ($theirs, 'x')");
ok(wait_until('the row', sub { there("SELECT count(*) FROM replicated WHERE id = $theirs") eq '1' }), 'apply workers do not fire it: rows arrive below the horizon');
there('ALTER TABLE replicated ENABLE ALWAYS TRIGGER claim');
my $offset = -s $subscriber->logfile;
value('INSERT INTO replicated VALUES (' . ($theirs + 1) . ", 'x')");
ok(wait_until('the error', sub { slurp_file($subscriber->logfile, $offset) =~ /ERROR:  id \d+ is below the horizon/ }), 'with ENABLE ALWAYS they do, and replication stops');
there('ALTER TABLE replicated ENABLE TRIGGER claim');
ok(wait_until('the row', sub { there("SELECT count(*) FROM replicated WHERE id = $theirs + 1") eq '1' }), '... until the trigger is as it was');

### Privileges

value(q{CREATE ROLE app; GRANT CREATE ON SCHEMA public TO app; SET ROLE app; CREATE TABLE of_app (id bigint);
	CREATE TRIGGER claim BEFORE INSERT ON of_app FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id')});
is(state("SET ROLE app;\nINSERT INTO of_app VALUES (1)"), 'SF007', 'any role may have the trigger');
is(state('DROP EXTENSION snowflake'), '2BP01', 'the extension cannot be dropped while it is there');

# Two databases have two horizons.
value('CREATE DATABASE elsewhere');
sub elsewhere { return $server->safe_psql('elsewhere', $_[0]); }
elsewhere('CREATE EXTENSION snowflake;' . sprintf $outbox, 'outbox');
my $old = elsewhere('SELECT snowflake_nextval()');
is(state("INSERT INTO outbox VALUES ($old, 'x')", 'elsewhere'), '00000', 'another database has another horizon');
wait_until('the horizon', sub { elsewhere('SELECT snowflake_horizon()') > $old });
is(state("INSERT INTO outbox VALUES ($old - 1, 'x')", 'elsewhere'), 'SF007', '... of its own');
elsewhere('DROP TABLE outbox; DROP EXTENSION snowflake; CREATE EXTENSION snowflake;' . sprintf $outbox, 'outbox');
is(state("INSERT INTO outbox VALUES ($old, 'x')", 'elsewhere'), '00000', 'a new extension begins anew');
$_->quit for $open, $reader;
$_->stop('immediate') for $subscriber, $server;
done_testing();
