# COPY into tables with a snowflake default: rows go in many at a time, as with a serial column, with ids that rise in the order
# of the file (G1, G2), whatever the format, the table and its neighbours; where that would not be right they go one by one.
# What only COPY may do is in 151, attacks on it in 152.
use strict;
use warnings;

use CopyTest;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

CopyTest::start('copy');

subtest 'how rows go in' => sub {
	value(q{CREATE FUNCTION guarded_id() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT snowflake_nextval()';
		CREATE DOMAIN id AS bigint CHECK (VALUE > 0); CREATE ROLE loader; GRANT pg_read_server_files TO loader});
	my $copy = "COPY way (n) FROM '$file'";
	my @many = (
		# a name, what follows n, an expression for the id
		[ 'serial', 'id bigserial' ],
		[ 'a snowflake default', 'id bigint DEFAULT snowflake_nextval()' ],
		[ '... of a primary key', 'id bigint PRIMARY KEY DEFAULT snowflake_nextval()' ],
		[ '... as text', 'id text DEFAULT snowflake_nextval()::text', 'id::bigint' ],
		[ '... in an expression', q{id text DEFAULT 'x' || snowflake_nextval()}, 'substr(id, 2)::bigint' ],
		[ '... twice', 'id bigint DEFAULT snowflake_nextval(), x bigint DEFAULT snowflake_nextval()', '(id + x) / 2' ],
		[ '... twice in one', q{id text DEFAULT snowflake_nextval() || '-' || snowflake_nextval()}, q{split_part(id, '-', 2)::bigint} ],
		[ '... in an SQL function that is inlined', 'id bigint DEFAULT new_id()' ],
		[ '... of a domain', 'id id DEFAULT snowflake_nextval()', 'id::bigint' ],
		[ '... with a CHECK that calls it', 'id bigint DEFAULT snowflake_nextval() CHECK (id < snowflake_nextval())' ],
		[ '... beside other columns', 'id bigint DEFAULT snowflake_nextval(), s serial, i int GENERATED ALWAYS AS IDENTITY,'
			. ' g text GENERATED ALWAYS AS (id::text) STORED, t timestamptz DEFAULT now(), k int DEFAULT 1, e text' ]);
	my @one = (
		[ 'random()', 'id bigint DEFAULT snowflake_nextval(), r float8 DEFAULT random()' ],
		[ 'clock_timestamp()', 'id bigint DEFAULT snowflake_nextval() + extract(epoch FROM clock_timestamp())::int * 0' ],
		[ 'a function that is not inlined', 'id bigint DEFAULT guarded_id()' ],
		[ 'a function that uses its argument twice', 'id bigint DEFAULT snowflake_nextval(), p text DEFAULT pair(snowflake_nextval())' ]);
	for my $case (@many, @one)
	{
		my ($name, $columns, $id) = @$case;
		value("DROP TABLE IF EXISTS way; CREATE TABLE way (n int, $columns)");
		if (grep { $case == $_ } @many) { goes_in_many($name, $copy, 'way'); }
		else { goes_in_one_by_one($name, $copy, $rows, 'way'); }
		ids_are_good('way', $rows, $name, $id);
	}
	value('ALTER TABLE way DROP p');
	goes_in_many('with a WHERE', "TRUNCATE way; $copy WHERE n % 2 = 0", 'way');
	ids_are_good('way', $rows / 2, 'with a WHERE');
	goes_in_one_by_one('the function in the WHERE', "TRUNCATE way; $copy WHERE snowflake_nextval() > n", $rows, 'way');
	ids_are_good('way', $rows, 'the function in the WHERE');
	# As if nothing were known of COPY: where the function got a setting of its own, and where COPY's may not be called.
	value('GRANT ALL ON way TO loader');
	for my $change ("ALTER FUNCTION snowflake_nextval() SET work_mem = '1MB'", 'ALTER FUNCTION snowflake_nextval() SECURITY DEFINER',
		'REVOKE ALL ON FUNCTION snowflake_copy_nextval(internal) FROM PUBLIC')
	{
		goes_in_one_by_one($change, "TRUNCATE way; $change; SET ROLE loader; $copy; RESET ROLE", $rows, 'way');
		ids_are_good('way', $rows, $change);
		value('ALTER FUNCTION snowflake_nextval() RESET ALL; ALTER FUNCTION snowflake_nextval() SECURITY INVOKER;'
			. ' GRANT EXECUTE ON FUNCTION snowflake_copy_nextval(internal) TO PUBLIC');
	}
	goes_in_many('and back', "TRUNCATE way; SET ROLE loader; $copy; RESET ROLE", 'way');
};

subtest 'formats and sources' => sub {
	my $folder = $server->basedir;
	my $table = 'CREATE %s TABLE %s (n int, id bigint PRIMARY KEY DEFAULT snowflake_nextval(), s text, x bigint DEFAULT snowflake_nextval())';
	value("CREATE TABLE source AS SELECT n, 'row ' || n AS s FROM generate_series(1, $rows) n; " . sprintf($table, '', 'target'));
	for my $format ('text', 'csv', 'binary')
	{
		value("COPY source TO '$folder/$format' WITH (FORMAT $format)");
		goes_in_many($format, "TRUNCATE target; COPY target (n, s) FROM '$folder/$format' WITH (FORMAT $format)", 'target');
		ids_are_good('target', $rows, $format);
		is(value(q{SELECT count(*) FROM target WHERE s = 'row ' || n AND x > id}), $rows, '... with the other columns');
	}
	value("COPY (SELECT s, n FROM source) TO '$folder/swapped' WITH (FORMAT csv, HEADER)");
	goes_in_many('columns in another order, FREEZE', 'BEGIN; TRUNCATE target;'
		. " COPY target (s, n) FROM '$folder/swapped' WITH (FORMAT csv, FREEZE, HEADER match); COMMIT", 'target');
	ids_are_good('target', $rows, 'FREEZE');
	is(value(q{SELECT count(*) FROM target WHERE s = 'row ' || n}), $rows, '... with the right columns');

	# An id in the file is what is stored, and none is issued for it.
	value("COPY (SELECT -n, -n, s, -n FROM source) TO '$folder/all'; TRUNCATE target");
	is(calls("COPY target FROM '$folder/all'"), '0|0', 'all columns in the file: no id is issued');
	is(value('SELECT count(*) FROM target WHERE id = n AND x = n'), $rows, '... and the file is what is stored');
	is(calls("COPY target (n, id) FROM PROGRAM 'echo 1,7; echo 2,8' WITH (FORMAT csv)"), '0|2', 'an id in the file: the other default only');

	for my $kind ('UNLOGGED', 'TEMP')
	{
		is(value(sprintf($table, $kind, 'kind') . "; COPY kind (n) FROM '$file'; SELECT count(*), count(DISTINCT id) FROM kind"),
			"$rows|$rows", "$kind table");
		copied_rows($rows);
		value('DROP TABLE IF EXISTS kind');
	}
	my %sources = (
		PROGRAM => "COPY target (n) FROM PROGRAM 'seq $rows'",
		STDIN => "COPY target (n) FROM STDIN;\n" . join('', map { "$_\n" } 1 .. $rows) . "\\.\n",
		'\copy' => "\n\\copy target (n) from '$file'\n");
	for my $name (sort keys %sources)
	{
		goes_in_many($name, "TRUNCATE target; $sources{$name}", 'target');
		ids_are_good('target', $rows, $name);
	}
	goes_in_many('more rows than are buffered', "TRUNCATE target; COPY target (n) FROM PROGRAM 'seq 25000'", 'target');
	ids_are_good('target', 25000, 'more rows than are buffered');
	SKIP: {
		skip 'COPY has no DEFAULT before PostgreSQL 16', 2 if $server->pg_version < 16;
		goes_in_many('DEFAULT in the file', "TRUNCATE target; COPY target (n, id) FROM PROGRAM 'seq -f %g,D $rows' WITH (FORMAT csv, DEFAULT 'D')", 'target');
		ids_are_good('target', $rows, 'DEFAULT in the file');
	}
};

subtest 'partitions' => sub {
	value(q{
CREATE TABLE root (n int, id bigint DEFAULT snowflake_nextval(), s text DEFAULT 'root') PARTITION BY RANGE (n);
CREATE TABLE low PARTITION OF root FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE middle PARTITION OF root FOR VALUES FROM (100) TO (200) PARTITION BY HASH (id);
CREATE TABLE middle_0 PARTITION OF middle FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE middle_1 PARTITION OF middle FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE high PARTITION OF root FOR VALUES FROM (200) TO (MAXVALUE);
ALTER TABLE low ALTER id SET DEFAULT -1, ALTER s SET DEFAULT random()::text;
ALTER TABLE high ALTER id DROP DEFAULT});
	goes_in_many('into the root', "COPY root (n) FROM '$file'", qw(low middle_0 middle_1 high));
	ids_are_good('root', $rows, 'into the root');
	is(value(q{SELECT count(*) FROM root WHERE s = 'root'}), $rows, 'with the defaults of the root');
	value(q{TRUNCATE root; COPY low (n) FROM PROGRAM 'seq 10'; COPY high (n) FROM PROGRAM 'seq 200 210'});
	is(value('SELECT min(id), max(id), count(id) FROM root'), '-1|-1|10', 'into a partition: with its own');
	value('TRUNCATE root; ALTER TABLE root ALTER id DROP DEFAULT; ALTER TABLE high ALTER id SET DEFAULT snowflake_nextval()');
	is(calls("COPY root (n) FROM '$file' WHERE n NOT BETWEEN 100 AND 199"), '0|0', 'a default that only a partition has is not used');
	goes_in_many('into a partition with the default', "TRUNCATE root; COPY high (n) FROM '$file' WHERE n >= 200", 'high');
	ids_are_good('high', $rows - 199, 'into a partition with the default');

	my $now = value('SELECT snowflake_nextval()');
	value("CREATE TABLE by_id (n int, id bigint PRIMARY KEY DEFAULT snowflake_nextval()) PARTITION BY RANGE (id);"
		. " CREATE TABLE past PARTITION OF by_id FOR VALUES FROM (MINVALUE) TO ($now);"
		. " CREATE TABLE present PARTITION OF by_id FOR VALUES FROM ($now) TO (MAXVALUE)");
	goes_in_many('the id decides the partition', "COPY by_id (n) FROM '$file'", 'present');
	ids_are_good('present', $rows, 'the id decides the partition');

	# A row trigger before the insert makes its partition, and that one alone, go one by one.
	value(q{CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.s := NEW.id; RETURN NEW; END';
CREATE TRIGGER change BEFORE INSERT ON low FOR EACH ROW EXECUTE FUNCTION change();
ALTER TABLE root ALTER id SET DEFAULT snowflake_nextval()});
	goes_in_one_by_one('a partition with a row trigger', "TRUNCATE root; COPY root (n) FROM '$file'", 99, 'low');
	is(value('SELECT count(*) FROM low WHERE s = id::text'), 99, '... which saw the id');
	goes_in_many('the others', "TRUNCATE root; COPY root (n) FROM '$file'", 'high');
	ids_are_good('root', $rows, 'a row trigger on a partition');
};

subtest 'triggers of the table' => sub {
	value(q{
CREATE TABLE triggered (n int, id bigint DEFAULT snowflake_nextval());
CREATE TABLE seen (n int, id bigint, what text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_LEVEL = 'ROW' THEN INSERT INTO seen VALUES (NEW.n, NEW.id, TG_WHEN); RETURN NEW; END IF;
	INSERT INTO seen SELECT n, id, 'TABLE' FROM fresh;
	RETURN NULL;
END $$;
CREATE TRIGGER see AFTER INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION see();
CREATE TRIGGER see_all AFTER INSERT ON triggered REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION see()});
	my $who_saw = 'SELECT what, count(*) FROM triggered JOIN seen USING (n, id) GROUP BY what ORDER BY what';
	goes_in_many('AFTER triggers and a transition table', "COPY triggered (n) FROM '$file'", 'triggered');
	ids_are_good('triggered', $rows, 'AFTER triggers');
	is(value($who_saw), "AFTER|$rows\nTABLE|$rows", '... which saw the ids');
	value(q{TRUNCATE triggered, seen;
CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := snowflake_nextval(); RETURN NEW; END';
CREATE TRIGGER a BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION set_id();
CREATE TRIGGER b BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION see()});
	is(calls("COPY triggered (n) FROM '$file'"), "$rows|$rows", 'a BEFORE trigger that sets the id: one id by default, and one by the trigger');
	ids_are_good('triggered', $rows, 'a BEFORE trigger that sets the id');
	is(value($who_saw), "AFTER|$rows\nBEFORE|$rows\nTABLE|$rows", '... and all others saw it');

	value(q{TRUNCATE seen; CREATE VIEW over AS SELECT n, id FROM triggered; ALTER VIEW over ALTER id SET DEFAULT snowflake_nextval();
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (NEW.n, NEW.id); RETURN NEW; END $$;
CREATE TRIGGER instead INSTEAD OF INSERT ON over FOR EACH ROW EXECUTE FUNCTION instead()});
	is(calls("COPY over (n) FROM '$file'"), "0|$rows", 'into a view');
	ids_are_good('seen', $rows, 'into a view');
};

subtest 'row-level security' => sub {
	value(q{CREATE TABLE secret (n int, id bigint DEFAULT snowflake_nextval()); ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_new ON secret USING (true) WITH CHECK (id < snowflake_nextval()); CREATE ROLE guest; GRANT ALL ON secret TO guest});
	is((query_error($server, $db, "SET ROLE guest; COPY secret (n) FROM STDIN;\n1\n\\.\n"))[0], '0A000',
		'COPY FROM is refused where policies apply, as without ids');
	is(calls("COPY secret (n) FROM '$file'; SET ROLE guest; INSERT INTO secret (n) VALUES (0); RESET ROLE"), "2|$rows",
		'a policy calls the function, not COPY\'s');
	ids_are_good('secret WHERE n > 0', $rows, 'a COPY by the owner');
};

subtest 'foreign tables' => sub {
	if (value(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) == 0)
	{
		diag('postgres_fdw is missing: foreign tables are NOT tested');
		plan skip_all => 'postgres_fdw is missing';
	}
	my ($host, $port) = ($server->host, $server->port);
	value("CREATE EXTENSION postgres_fdw; CREATE SERVER me FOREIGN DATA WRAPPER postgres_fdw"
		. " OPTIONS (host '$host', port '$port', dbname '$db', batch_size '1');"
		. q{CREATE USER MAPPING FOR CURRENT_USER SERVER me;
CREATE TABLE far (n int, id bigint DEFAULT -1, s text DEFAULT 'far');
CREATE FOREIGN TABLE near (n int, id bigint DEFAULT snowflake_nextval()) SERVER me OPTIONS (table_name 'far');
CREATE TABLE mixed (n int, id bigint DEFAULT snowflake_nextval()) PARTITION BY RANGE (n);
CREATE TABLE mixed_local PARTITION OF mixed FOR VALUES FROM (MINVALUE) TO (100);
CREATE FOREIGN TABLE mixed_far PARTITION OF mixed FOR VALUES FROM (100) TO (MAXVALUE) SERVER me OPTIONS (table_name 'far')});
	for my $batch (1, 50)
	{
		value("TRUNCATE far; ALTER SERVER me OPTIONS (SET batch_size '$batch')");
		is(calls("COPY near (n) FROM '$file'"), "0|$rows", "batches of $batch: the default is evaluated here");
		ids_are_good('far', $rows, 'a foreign table');
	}
	value("TRUNCATE far; COPY mixed (n) FROM '$file'");
	ids_are_good('mixed', $rows, 'a foreign partition');
	is(value(q{SELECT count(*), min(s) FROM far}), ($rows - 99) . '|far', '... has its part');
	goes_in_many('the local partition beside it', "TRUNCATE far, mixed_local; COPY mixed (n) FROM '$file'", 'mixed_local');
};

subtest 'rights, schemas, DROP and CREATE EXTENSION in one session' => sub {
	value('CREATE DATABASE moving');
	my $moving = sub { return $server->safe_psql('moving', $_[0]); };
	my $copy = "COPY t (n) FROM '$file'";
	my $count = 'SELECT count(*), count(DISTINCT id) FROM public.t';
	$moving->(q{CREATE SCHEMA "some where"; CREATE EXTENSION snowflake SCHEMA "some where";
CREATE TABLE t (n int, id bigint DEFAULT "some where".snowflake_nextval());
CREATE VIEW calls AS SELECT coalesce(sum(calls) FILTER (WHERE funcname = 'snowflake_nextval'), 0) AS nextval,
	coalesce(sum(calls) FILTER (WHERE funcname <> 'snowflake_nextval'), 0) AS copy_nextval FROM pg_stat_xact_user_functions});
	is($moving->("SET search_path = ''; COPY public.t (n) FROM '$file'; $count"), "$rows|$rows", 'a search_path without its schema');
	is($moving->(count_calls($copy) . 'CREATE SCHEMA other; ALTER EXTENSION snowflake SET SCHEMA other;' . count_calls($copy)
			. 'ALTER SCHEMA other RENAME TO again;' . count_calls($copy)
			. 'ALTER FUNCTION again.snowflake_copy_nextval(internal) RENAME TO renamed;' . count_calls($copy)),
		join("\n", ("0|$rows") x 4), 'schemas and names change between COPYs of one session');
	is($moving->("TRUNCATE t; $copy; DROP EXTENSION snowflake CASCADE; $copy; CREATE EXTENSION snowflake;"
			. " ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval(); $copy; SELECT count(*), count(id), count(DISTINCT id) FROM t"),
		3 * $rows . '|' . 2 * $rows . '|' . 2 * $rows, 'DROP and CREATE EXTENSION in one session');
	is((query_error($server, 'moving', "BEGIN; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake;"
				. " ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval(); $copy"))[0], '55000', 'a COPY in the transaction that created the extension');
	is($moving->('ALTER EXTENSION snowflake DROP FUNCTION snowflake_copy_nextval(internal);' . count_calls($copy)
			. 'ALTER EXTENSION snowflake ADD FUNCTION snowflake_copy_nextval(internal);' . count_calls($copy)),
		"$rows|0\n0|$rows", 'a function that is not the extension\'s is not taken');
	$moving->('CREATE ROLE nobody; REVOKE ALL ON FUNCTION snowflake_nextval() FROM PUBLIC; GRANT ALL ON t TO nobody');
	for my $input ('', "1\n")
	{
		my ($state, $text) = query_error($server, 'moving', "SET ROLE nobody; COPY t (n) FROM STDIN;\n$input\\.\n");
		is($state, '42501', 'a role without EXECUTE cannot COPY through the default');
		like($text, qr/permission denied for function snowflake_nextval$/m, '... and is told which right is missing');
	}
	is($moving->("GRANT EXECUTE ON FUNCTION snowflake_nextval() TO nobody; TRUNCATE t; SET ROLE nobody; COPY t (n) FROM STDIN;\n1\n2\n\\.\n$count"),
		'2|2', '... with it can');
};

# Copies of the server, which is quicker than new ones.
value('CREATE TABLE half (n int, id bigint DEFAULT snowflake_nextval(), s text)');
$server->backup('copy');

subtest 'a standby' => sub {
	my $standby = new_server('standby', from => [ $server, 'copy', has_streaming => 1 ]);
	start_server($standby);
	is((query_error($standby, $db, "COPY target (n) FROM '$file'"))[0], '25006', 'refuses COPY FROM');
	is($standby->safe_psql($db, 'COPY (SELECT count(*) FROM target) TO STDOUT'), value('SELECT count(*) FROM target'), '... and lets COPY TO read');
	$standby->stop('immediate');
};

my $clocked = new_server('clocked', from => [ $server, 'copy' ], clock => 1,
	conf => "snowflake.lease_duration = 1s\nsnowflake.start_timeout = 300ms\n");
start_server($clocked);
$clocked->safe_psql($db, 'SELECT snowflake_nextval()');
my $go = $clocked->basedir . '/go';
my $half = 20_000;

# Starts a COPY of two halves, calls `$between` when rows of the first have been read, and returns what the COPY said.
sub copy_in_halves
{
	my ($between) = @_;
	unlink $go;
	my $error = '';
	my $program = "seq $half; while ! test -e $go; do sleep 0.05; done; seq " . ($half + 1) . ' ' . 2 * $half;
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $clocked->connstr($db),
			'-c', "COPY half (n) FROM PROGRAM '$program'" ], '<', '/dev/null', '>', \my $out, '2>', \$error);
	my $read = wait_until('rows of the first half',
		sub { $clocked->safe_psql($db, 'SELECT coalesce(max(tuples_processed), 0) FROM pg_stat_progress_copy') > 1000 });
	$between->();
	append_to_file($go, '');
	$run->finish;
	return $read ? $error : "nothing was read: $error";
}

subtest 'a window that ends in the middle of a COPY' => sub {
	my $lock = $clocked->background_psql($db);
	my $error = copy_in_halves(sub {
		$lock->query_safe('BEGIN; LOCK TABLE snowflake_registry');
		wait_until('the window\'s end', sub { $clocked->safe_psql($db, 'SELECT window_end < clock_timestamp() FROM snowflake_status') eq 't' });
	});
	like($error, qr/ERROR:\s+SF001:.*CONTEXT: +COPY half, line \d{4}/s, 'SF001 ends it in the middle');
	is($clocked->safe_psql($db, 'SELECT count(*) FROM half'), 0, 'none of its rows is there');
	$lock->query_safe('COMMIT');
	$lock->quit;
	is(copy_in_halves(sub { }), '', 'afterwards the same COPY works');
	is($clocked->safe_psql($db, 'SELECT count(*), count(DISTINCT id) FROM half'), 2 * $half . '|' . 2 * $half, 'with different ids');
	copied_rows(2 * $half);
};

subtest 'the clock steps back in the middle of a COPY' => sub {
	$clocked->safe_psql($db, 'TRUNCATE half');
	my $log = -s $clocked->logfile;
	is(copy_in_halves(sub { move_clock($clocked, -3600) }), '', 'another worker id goes on (G5)');
	is($clocked->safe_psql($db, 'SELECT count(*), count(DISTINCT id) FROM half'), 2 * $half . '|' . 2 * $half, 'all ids differ (G1)');
	is($clocked->safe_psql($db, 'SELECT count(*) FROM (SELECT id < lag(id) OVER (ORDER BY n) AS fall FROM half) s WHERE fall'), 1, 'they fall once');
	like(slurp_file($clocked->logfile, $log), qr/because the clock stepped back/, '... and the log says why (G2)');
	$clocked->safe_psql($db, q{TRUNCATE half; ALTER SYSTEM SET snowflake.on_clock_step_back = 'error'; SELECT pg_reload_conf()});
	wait_until('the setting', sub { $clocked->safe_psql($db, 'SHOW snowflake.on_clock_step_back') eq 'error' });
	like(copy_in_halves(sub { move_clock($clocked, -7200) }), qr/ERROR:\s+SF002:/, 'with on_clock_step_back = error: SF002');
	is($clocked->safe_psql($db, 'SELECT count(*) FROM half'), 0, 'none of its rows is there');
	copied_rows(2 * $half);
};
$clocked->stop('immediate');

subtest 'without preloading' => sub {
	my $bare = new_server('bare', from => [ $server, 'copy' ], preload => 0, conf => "shared_preload_libraries = ''\nsession_preload_libraries = ''\n");
	start_server($bare);
	my $session = $bare->background_psql($db, on_error_stop => 0);
	ask($session, '\set VERBOSITY verbose');
	my $copy = "COPY half (n) FROM '$file'";
	for my $try ('the first of a session, which loads the library', 'the second', 'the third')
	{
		if ($bare->pg_version < 17)
		{
			like((ask($session, $copy))[1], qr/55000: +snowflake is not preloaded.*HINT: .*shared_preload_libraries/s, "a COPY: $try");
			next;
		}
		is((ask($session, count_calls("TRUNCATE half; $copy")))[0], $try =~ /first/ ? "$rows|0" : "0|$rows", "a COPY: $try");
		local $CopyTest::server = $bare;
		ids_are_good('half', $rows, $try);
	}
	ask($session, 'TRUNCATE half');
	is((ask($session, 'ALTER TABLE half ADD COLUMN x bigint DEFAULT snowflake_nextval()'))[1], '', 'ADD COLUMN to a table without rows');
	is((ask($session, "COPY half (n) FROM PROGRAM 'true'"))[1], '', 'a COPY without rows');
	is((ask($session, "COPY half (n, id, x) FROM PROGRAM 'echo 1,2,3' WITH (FORMAT csv)"))[1], '', 'a COPY that brings the ids');
	is((ask($session, 'SELECT n, id, x FROM half'))[0], '1|2|3', '... stores them');
	$session->quit;
	$bare->stop('immediate');
};

$server->stop('immediate');
figures('%d rows copied with ids', copied_rows());
done_testing();
