# What COPY does with snowflake_nextval() only COPY does. While one runs, after it, and after one that failed: ADD COLUMN gives
# each row its own id, queries and cached plans call the function itself, and nothing that is stored knows of anything else.
use strict;
use warnings;

use CopyTest;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $trials = 0;

CopyTest::start('alone');
value('CREATE TABLE other AS SELECT i FROM generate_series(1, 50) i; CREATE ROLE guest; GRANT pg_execute_server_program TO guest');

subtest 'COPY TO' => sub {
	is(value('COPY (SELECT way_is_open()) TO STDOUT'), 'f', 'is not COPY FROM');
};

# The ways in which ADD COLUMN can come to run.
my %forms = (
	direct => 'ALTER TABLE other ADD COLUMN %s bigint DEFAULT snowflake_nextval()',
	do_block => 'DO $x$ BEGIN ALTER TABLE other ADD COLUMN %s bigint DEFAULT snowflake_nextval(); END $x$',
	plpgsql => q{SELECT add_plpgsql('%s')},
	sql => 'SELECT add_%s()',
	expression => q{ALTER TABLE other ADD COLUMN %s text DEFAULT 'x' || snowflake_nextval()},
	converted => 'DO $x$ BEGIN ALTER TABLE other ADD COLUMN %1$s int;'
	  . ' ALTER TABLE other ALTER %1$s TYPE bigint USING snowflake_nextval(); END $x$',
	domain => 'ALTER TABLE other ADD COLUMN %s checked_id DEFAULT snowflake_nextval()');

subtest 'ADD COLUMN gives each row its own id, whoever fires it during a COPY' => sub {
	value(q{CREATE FUNCTION add_plpgsql(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN EXECUTE format('ALTER TABLE other ADD COLUMN %I bigint DEFAULT snowflake_nextval()', name); END $$});
	my (@columns, @expected, $sql);
	for my $timing ('BEFORE STATEMENT', 'AFTER STATEMENT', 'BEFORE ROW', 'AFTER ROW', 'DEFERRED')
	{
		for my $form (sort keys %forms)
		{
			my $column = lc "${form}_$timing" =~ s/ /_/r;
			push @columns, $column;
			# The function is called for each row of the other table, and by a domain's CHECK; COPY's for those of the file.
			push @expected, ($form eq 'domain' ? 100 : 50) . '|3|3';
			my ($when, $level) = split / /, $timing;
			my $trigger = $timing eq 'DEFERRED'
			  ? 'CONSTRAINT TRIGGER fire AFTER INSERT ON firing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW'
			  : "TRIGGER fire $when INSERT ON firing FOR EACH $level";
			my $command = sprintf $forms{$form}, $column;
			$sql .= qq{
CREATE FUNCTION add_$column() RETURNS void LANGUAGE sql AS 'ALTER TABLE other ADD COLUMN $column bigint DEFAULT snowflake_nextval()';
DROP TABLE IF EXISTS firing;
CREATE TABLE firing (n int, id bigint DEFAULT snowflake_nextval());
CREATE $trigger EXECUTE FUNCTION run(\$run\$$command\$run\$);
SELECT pg_stat_force_next_flush() \\gset
BEGIN;
COPY firing (n) FROM PROGRAM 'seq 3';
SET CONSTRAINTS ALL IMMEDIATE;
SELECT calls.*, count(DISTINCT id) FROM calls, firing GROUP BY 1, 2;
COMMIT;
};
		}
	}
	is(value($sql), join("\n", @expected), 'the calls of each COPY') or return;
	# By an event trigger, within a COPY that a block runs; before, between and after COPYs of the session.
	value(q{CREATE FUNCTION event() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN IF tg_tag = 'CREATE TABLE' THEN ALTER TABLE other ADD COLUMN event bigint DEFAULT snowflake_nextval(); END IF; END $$;
CREATE EVENT TRIGGER event ON ddl_command_end EXECUTE FUNCTION event();
DROP TRIGGER fire ON firing;
CREATE TRIGGER fire AFTER INSERT ON firing FOR EACH ROW EXECUTE FUNCTION run('CREATE TABLE made ()');
ALTER TABLE other ADD COLUMN before bigint DEFAULT snowflake_nextval();
DO $$ BEGIN COPY firing (n) FROM PROGRAM 'seq 3'; END $$;
DROP EVENT TRIGGER event;
ALTER TABLE other ADD COLUMN between_ bigint DEFAULT snowflake_nextval();
BEGIN;
COPY firing (n) FROM PROGRAM 'seq 4 9';
ALTER TABLE other ADD COLUMN after bigint DEFAULT snowflake_nextval();
COMMIT});
	push @columns, qw(event before between_ after);
	my $distinct = join ' || ', map { "count(DISTINCT $_) || ' '" } @columns;
	is(value("SELECT $distinct FROM other"), '50 ' x @columns, scalar(@columns) . ' columns of 50 different ids');
	is(value(q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'other'::regclass AND atthasmissing}), 0, 'none is one value for all rows');
	$trials += @columns;
};

# Whether COPY's way is shut outside of a COPY.
sub way_is_shut
{
	my ($session, $name) = @_;
	my ($out, $error) = ask($session, 'SELECT way_is_open()');
	return is("$out$error", 'f', $name);
}

subtest 'a COPY that fails leaves nothing behind' => sub {
	my ($host, $port) = ($server->host, $server->port);
	value(q{CREATE TABLE failing (n int CHECK (n < 100000), id bigint DEFAULT snowflake_nextval());
CREATE TABLE bad_default (n int, id int DEFAULT snowflake_nextval());
CREATE TABLE refusing (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON refusing FOR EACH ROW WHEN (NEW.n = 3) EXECUTE FUNCTION refuse()});
	my $session = $server->background_psql($db, on_error_stop => 0);
	my ($pid) = ask($session, "\\set VERBOSITY verbose\nSELECT pg_backend_pid()");
	my $cancel = "PGHOST=$host PGPORT=$port psql -XAtq -d $db -c \"SELECT pg_cancel_backend($pid)\"";
	my %failures = (
		'a line that is no number' => [ q{COPY failing (n) FROM PROGRAM 'seq 5; echo x'}, '22P02' ],
		'a line that breaks a CHECK' => [ q{COPY failing (n) FROM PROGRAM 'seq 5; echo 100000'}, '23514' ],
		'a default that does not fit' => [ q{COPY bad_default (n) FROM PROGRAM 'seq 5'}, '22003' ],
		'an error in a trigger' => [ q{COPY refusing (n) FROM PROGRAM 'seq 5'}, 'P0001' ],
		'a program that fails' => [ q{COPY failing (n) FROM PROGRAM 'seq 5; false'}, '38000' ],
		'a file that is missing' => [ q{COPY failing (n) FROM '/missing'}, '58P01' ],
		'a table that is missing' => [ q{COPY missing (n) FROM PROGRAM 'seq 5'}, '42P01' ],
		'a column that is missing' => [ q{COPY failing (missing) FROM PROGRAM 'seq 5'}, '42703' ],
		'a right that is missing' => [ q{SET ROLE guest; COPY failing (n) FROM PROGRAM 'seq 5'}, '42501' ],
		'a statement timeout' => [ q{SET statement_timeout = 200; COPY failing (n) FROM PROGRAM 'seq 20000; sleep 60'}, '57014' ],
		'a cancellation' => [ "COPY failing (n) FROM PROGRAM 'seq 5; $cancel; sleep 0.1; seq 5'", '57014' ]);
	for my $name (sort keys %failures)
	{
		my ($sql, $state) = @{ $failures{$name} };
		my ($out, $error) = ask($session, $sql);
		like($error, qr/ERROR:\s+$state:/, "$name: $state");
		ask($session, 'RESET ROLE; RESET statement_timeout');
		way_is_shut($session, '... and nothing is left of it');
		($out, $error) = ask($session, "BEGIN;\nINSERT INTO failing (n) VALUES (1);\nSAVEPOINT a;\n$sql;\nROLLBACK TO a;");
		like($error, qr/ERROR:\s+$state:/, '... in a subtransaction too');
		($out, $error) = ask($session, "SELECT count(*) FROM failing;\nALTER TABLE other ADD COLUMN tried bigint DEFAULT snowflake_nextval();\n"
			. "SELECT count(DISTINCT tried) FROM other;\nROLLBACK;\nRESET ROLE;\nRESET statement_timeout;");
		is("$out$error", "1\n50", '... whose transaction goes on, with an ADD COLUMN');
		way_is_shut($session, '... and nothing is left of it');
		$trials += 2;
	}
	my (undef, $error) = ask($session, q{DO $$
BEGIN
	BEGIN COPY failing (n) FROM PROGRAM 'seq 5; echo x'; EXCEPTION WHEN OTHERS THEN NULL; END;
	INSERT INTO probe VALUES (1);
	ALTER TABLE other ADD COLUMN caught bigint DEFAULT snowflake_nextval();
	COPY failing (n) FROM PROGRAM 'seq 5';
END $$});
	is($error, '', 'an error that a block catches');
	way_is_shut($session, '... leaves nothing');
	is(value('SELECT count(DISTINCT caught) FROM other'), 50, '... and ADD COLUMN gives each row its own id');
	ids_are_good('failing', 5, 'the COPY that did not fail');
	$session->quit;
};

subtest 'a COPY within a COPY' => sub {
	value(join '', map { "CREATE TABLE $_ (n int, id bigint DEFAULT snowflake_nextval());" } qw(outer_ inner_ deep));
	my %nested = (
		'BEFORE INSERT ON outer_ FOR EACH STATEMENT' => 'many', 'AFTER INSERT ON outer_ FOR EACH STATEMENT' => 'many',
		'AFTER INSERT ON outer_ FOR EACH ROW' => 'many', 'BEFORE INSERT ON outer_ FOR EACH ROW' => 'one');
	my $inner = "COPY inner_ (n) FROM '$file'";
	my $caught = q{DO $$ BEGIN COPY inner_ (n) FROM PROGRAM 'seq 5; echo x'; EXCEPTION WHEN OTHERS THEN NULL; END $$};
	my $copy = "COPY outer_ (n) FROM '$file'";
	for my $trigger (sort keys %nested)
	{
		for my $command ($inner, $caught)
		{
			value("TRUNCATE outer_, inner_; DROP TRIGGER IF EXISTS nest ON outer_;"
				. " CREATE TRIGGER nest $trigger EXECUTE FUNCTION run(\$run\$$command\$run\$)");
			if ($nested{$trigger} eq 'many') { goes_in_many($trigger, $copy, 'outer_'); }
			else { goes_in_one_by_one($trigger, $copy, $rows, 'outer_'); }
			ids_are_good('outer_', $rows, 'the outer one');
			ids_are_good('inner_', $command eq $inner ? $rows : 0, 'the inner one');
			is(value('SELECT count(*) = count(DISTINCT id) FROM (TABLE outer_ UNION ALL TABLE inner_) t'), 't', 'no id is in both');
			$trials++;
		}
	}
	# After the inner one, and after any other command, the outer COPY goes on as before.
	value('TRUNCATE outer_; ALTER TABLE outer_ ADD CHECK (way_is_open())');
	for my $command ($inner, $caught, 'CREATE TEMP TABLE x ON COMMIT DROP AS SELECT 1', 'SET LOCAL work_mem = 1024', q{DO 'BEGIN END'})
	{
		value("DROP TRIGGER nest ON outer_; CREATE TRIGGER nest BEFORE INSERT ON outer_ FOR EACH STATEMENT EXECUTE FUNCTION run(\$run\$$command\$run\$)");
		is(calls("COPY outer_ (n) FROM PROGRAM 'seq 10'"), '0|' . ($command eq $inner ? $rows + 10 : $command eq $caught ? 15 : 10),
			"after $command: the outer COPY");
	}
	# Three deep; the innermost fires ADD COLUMN.
	value(qq{TRUNCATE outer_, inner_; DROP TRIGGER nest ON outer_;
CREATE TRIGGER nest AFTER INSERT ON outer_ FOR EACH ROW EXECUTE FUNCTION run(\$\$$inner\$\$);
CREATE TRIGGER nest AFTER INSERT ON inner_ FOR EACH ROW EXECUTE FUNCTION run(\$\$COPY deep (n) FROM '$file'\$\$);
CREATE TRIGGER nest AFTER INSERT ON deep FOR EACH ROW EXECUTE FUNCTION run('ALTER TABLE other ADD COLUMN deep bigint DEFAULT snowflake_nextval()')});
	goes_in_many('three deep', $copy, qw(outer_ inner_ deep));
	is(value('SELECT count(*), count(DISTINCT id) FROM (TABLE outer_ UNION ALL TABLE inner_ UNION ALL TABLE deep) t'),
		3 * $rows . '|' . 3 * $rows, 'all ids differ');
	is(value('SELECT count(DISTINCT deep) FROM other'), 50, 'ADD COLUMN in the innermost gave each row its own');
};

subtest 'queries in triggers call the function itself' => sub {
	value(q{CREATE TABLE log (what text, result text);
CREATE TABLE indexed AS SELECT snowflake_nextval() AS id FROM generate_series(1, 1000);
CREATE INDEX ON indexed (id);
ANALYZE indexed;
CREATE TABLE queried (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION query() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	a bigint; b bigint; last bigint := snowflake_nextval();
BEGIN
	INSERT INTO log SELECT 'subquery', count(*) || ' ' || count(DISTINCT x) || ' ' || count(*) FILTER (WHERE x = y)
		FROM (SELECT x, x AS y FROM (SELECT snowflake_nextval() AS x FROM generate_series(1, 100)) s) t;
	INSERT INTO log SELECT 'function', count(DISTINCT p) || ' ' || count(*) FILTER (WHERE p ~ '^(\d+)-\1$')
		FROM (SELECT pair(snowflake_nextval()) AS p FROM generate_series(1, 100)) s;
	INSERT INTO log SELECT 'values', count(DISTINCT x)
		FROM (VALUES (snowflake_nextval()), (snowflake_nextval()), (same(snowflake_nextval()))) v (x);
	INSERT INTO log SELECT 'limit', count(*) FROM (SELECT 1 FROM generate_series(1, 10) LIMIT snowflake_nextval()) s;
	-- A volatile condition is evaluated for each row.
	INSERT INTO log SELECT 'filter', count(*) FROM indexed WHERE id = snowflake_nextval() OR id < snowflake_nextval();
	PERFORM FROM indexed WHERE id = snowflake_nextval();
	PERFORM FROM indexed WHERE id >= same(snowflake_nextval());
	PERFORM FROM indexed WHERE pair(snowflake_nextval()) = 'x';
	CREATE TEMP TABLE made ON COMMIT DROP AS SELECT snowflake_nextval() AS x FROM generate_series(1, 100);
	INSERT INTO made SELECT snowflake_nextval() FROM generate_series(1, 100);
	INSERT INTO log SELECT 'made', count(DISTINCT x) FROM made;
	CREATE TEMP TABLE defaulted (n int, id bigint DEFAULT snowflake_nextval()) ON COMMIT DROP;
	INSERT INTO defaulted VALUES (1), (2), (3);
	INSERT INTO defaulted SELECT generate_series(4, 10);
	UPDATE defaulted SET id = DEFAULT WHERE n % 2 = 0;
	INSERT INTO log SELECT 'defaults', count(DISTINCT id) FROM defaulted;
	SELECT snowflake_nextval(), snowflake_nextval() INTO a, b;
	INSERT INTO log VALUES ('into', a < b);
	FOR i IN 1..100 LOOP
		a := snowflake_nextval();
		IF a <= last THEN RAISE '% after %', a, last; END IF;
		last := a;
	END LOOP;
	EXECUTE 'SELECT snowflake_nextval() - $1' INTO b USING snowflake_nextval();
	INSERT INTO log VALUES ('using', b > 0), ('currval', snowflake_currval() - b > a);
	RETURN NULL;
END $$;
CREATE TRIGGER query AFTER INSERT ON queried FOR EACH STATEMENT EXECUTE FUNCTION query()});
	my $expected = "currval|true\ndefaults|10\nfilter|1000\nfunction|100 100\ninto|true\nlimit|10\nmade|200\nsubquery|100 100 100\nusing|true\nvalues|3";
	my $look = 'SELECT what, result FROM log ORDER BY 1';
	my $insert = 'INSERT INTO queried (n) VALUES (1)';
	my $copy = "COPY queried (n) FROM '$file'";
	is(value("$insert; $look"), $expected, 'an INSERT');
	is(value("TRUNCATE log; $copy; $look"), $expected, 'a COPY');
	is(value("$copy; TRUNCATE log; $insert; $look"), $expected, 'an INSERT with plans that a COPY made');
	is(value("SET plan_cache_mode = force_generic_plan; $copy; TRUNCATE log; $copy; $look"), $expected, 'a COPY with plans that a COPY made');
	my ($nextval) = split /\|/, calls($insert);
	is(calls($copy), $nextval - 1 . "|$rows", 'a COPY\'s trigger calls the function as often as an INSERT\'s, and COPY\'s not once');

	# How the trigger's queries were planned while the COPY ran.
	my ($rc, $out, $plans) = $server->psql($db, "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;"
		. ' SET auto_explain.log_nested_statements = on; SET auto_explain.log_verbose = on; SET auto_explain.log_level = notice;'
		. " SET enable_seqscan = off; $copy");
	is($rc, 0, 'a COPY with auto_explain');
	my $count = () = $plans =~ /snowflake_nextval\(\)/g;
	cmp_ok($count, '>', 20, 'the plans show the function');
	is(scalar(() = $plans =~ /snowflake_copy_nextval|nextval\('/g), 0, '... and never COPY\'s');
	ok($plans =~ /Filter: \(indexed\.id = snowflake_nextval\(\)\)/, 'a volatile condition is a filter');
	is(scalar(() = $plans =~ /Index Cond: .*snowflake_nextval/g), 0, '... and no condition of an index');
};

subtest 'what was made during a COPY and is used after it' => sub {
	value(q{CREATE TABLE making (n int, id bigint DEFAULT snowflake_nextval());
CREATE TABLE base (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION cached() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE a bigint := snowflake_nextval(); BEGIN RETURN (SELECT snowflake_nextval()) - a; END $$;
CREATE FUNCTION cast_() RETURNS text LANGUAGE plpgsql AS $$
DECLARE a text := snowflake_nextval(); d checked_id := snowflake_nextval(); BEGIN RETURN a; END $$;
CREATE FUNCTION make() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'PREPARE p AS SELECT snowflake_nextval() AS id, pair(snowflake_nextval())';
	EXECUTE 'PREPARE q (int) AS INSERT INTO base (n) VALUES ($1) RETURNING id';
	EXECUTE 'EXECUTE p'; EXECUTE 'EXECUTE p'; EXECUTE 'EXECUTE q (0)';
	PERFORM cached(); PERFORM cast_();
	CREATE VIEW made_view AS SELECT snowflake_nextval() AS id, pair(snowflake_nextval()) FROM generate_series(1, 10);
	CREATE MATERIALIZED VIEW made_matview AS SELECT snowflake_nextval() AS id FROM generate_series(1, 10);
	CREATE TABLE made_table (n int, id bigint DEFAULT snowflake_nextval() CHECK (id < snowflake_nextval()),
		d checked_id DEFAULT snowflake_nextval());
	CREATE RULE made_rule AS ON INSERT TO base WHERE NEW.n > 100
		DO ALSO INSERT INTO made_table SELECT NEW.n, snowflake_nextval() FROM generate_series(1, 10);
	CREATE FUNCTION made_function() RETURNS bigint LANGUAGE sql RETURN snowflake_nextval();
	CREATE FUNCTION made_default(a bigint DEFAULT snowflake_nextval()) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
	CREATE DOMAIN made_domain AS bigint DEFAULT snowflake_nextval() CHECK (VALUE < snowflake_nextval());
	CREATE TRIGGER made_trigger AFTER INSERT ON made_table FOR EACH ROW WHEN (NEW.id < snowflake_nextval())
		EXECUTE FUNCTION run('SELECT 1');
	CREATE POLICY made_policy ON base USING (id < snowflake_nextval());
	CREATE STATISTICS made_statistics ON n, (id > 0) FROM base;
	RETURN NULL;
END $$;
CREATE TRIGGER make AFTER INSERT ON making FOR EACH STATEMENT EXECUTE FUNCTION make()});
	my $session = $server->background_psql($db, on_error_stop => 0);
	my ($out, $error) = ask($session, "COPY making (n) FROM '$file'");
	is($error, '', 'the COPY');
	for my $query ('EXECUTE p', 'EXECUTE q (1)', 'SELECT * FROM made_view', 'INSERT INTO base (n) VALUES (101)',
		'SELECT made_function(), made_default()', 'INSERT INTO made_table (n) VALUES (1)')
	{
		($out, $error) = ask($session, "EXPLAIN (VERBOSE, COSTS OFF) $query");
		is($error, '', "EXPLAIN $query");
		like($out, qr/snowflake_nextval\(\)/, '... shows the function');
		unlike($out, qr/snowflake_copy_nextval|nextval\('/, '... and not COPY\'s');
	}
	($out, $error) = ask($session, join "\n", 'SELECT pg_stat_force_next_flush() \gset', 'BEGIN;', 'EXECUTE p \gset', 'EXECUTE q (2) \gset',
		'SELECT count(*) FROM made_view \gset', 'INSERT INTO base (n) VALUES (102);', 'SELECT made_function() < made_default() AS rises \gset',
		'SELECT cached() > 0 AS c \gset', 'REFRESH MATERIALIZED VIEW made_matview;',
		'INSERT INTO made_table (n) SELECT generate_series(1, 5);', 'SELECT 1::made_domain \gset', 'SELECT copy_nextval FROM calls;', 'COMMIT;');
	is("$out$error", 0, 'nothing of it calls COPY\'s function');
	is(value('SELECT count(*) = count(DISTINCT id), count(*) FROM made_table'), 't|15', 'ids of the table, the rule\'s among them');
	is(value('SELECT count(DISTINCT id) FROM made_matview'), 10, 'ids of the materialized view');
	($out, $error) = ask($session, q{DO $$
BEGIN FOR i IN 1..100 LOOP IF cached() <= 0 OR cast_() = cast_() THEN RAISE 'the same id'; END IF; END LOOP; END $$;
EXECUTE p \gset a_
EXECUTE p \gset b_
SELECT :a_id < :b_id, split_part(:'b_pair', '-', 1) = split_part(:'b_pair', '-', 2)});
	is("$out$error", 't|t', 'cached plans and simple expressions give an id each time');
	$session->quit;
	is(value(q{SELECT count(*) FROM (SELECT adbin::text FROM pg_attrdef UNION ALL SELECT conbin::text FROM pg_constraint
	UNION ALL SELECT ev_action::text FROM pg_rewrite UNION ALL SELECT prosqlbody::text FROM pg_proc
	UNION ALL SELECT proargdefaults::text FROM pg_proc UNION ALL SELECT tgqual::text FROM pg_trigger
	UNION ALL SELECT typdefaultbin::text FROM pg_type UNION ALL SELECT polqual::text FROM pg_policy
	UNION ALL SELECT stxexprs::text FROM pg_statistic_ext) t (tree)
WHERE tree ~ (':funcid ' || 'snowflake_copy_nextval(internal)'::regprocedure::oid || ' ')}), 0, 'no stored expression calls COPY\'s function');
	is(value(q{SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_proc'::regclass
		AND refobjid = 'snowflake_copy_nextval(internal)'::regprocedure}), 0, '... and nothing depends on it');
};

subtest 'a parallel query in a COPY\'s trigger' => sub {
	value(q{CREATE TABLE big AS SELECT i FROM generate_series(1, 50000) i;
ALTER TABLE big SET (parallel_workers = 2);
ANALYZE big;
CREATE TABLE parallel (n int, id bigint DEFAULT snowflake_nextval());
CREATE TABLE gathered (id bigint);
CREATE FUNCTION gather() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	line text; plan text := ''; ids bigint[];
BEGIN
	SELECT array_agg(id) INTO ids FROM (SELECT snowflake_nextval() AS id FROM big) s;
	INSERT INTO gathered SELECT unnest(ids);
	FOR line IN EXPLAIN (ANALYZE, VERBOSE, TIMING OFF) SELECT snowflake_nextval() FROM big LOOP plan := plan || line; END LOOP;
	INSERT INTO log VALUES ('parallel', plan);
	RETURN NULL;
END $$;
CREATE TRIGGER gather AFTER INSERT ON parallel FOR EACH STATEMENT EXECUTE FUNCTION gather()});
	value('TRUNCATE log; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
		. " COPY parallel (n) FROM PROGRAM 'seq 10000'");
	my $plan = value('SELECT result FROM log');
	like($plan, qr/Workers Launched: [12].*snowflake_nextval\(\)/, 'workers called the function');
	unlike($plan, qr/snowflake_copy_nextval/, '... and not COPY\'s');
	is(value('SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM gathered UNION ALL SELECT id FROM parallel) t'), '60000|60000', 'all ids differ (G1)');
	ids_are_good('parallel', 10000, 'the COPY');
};

$server->stop('immediate');
figures('%d rows copied with ids', copied_rows());
diag("$trials trials of ADD COLUMN, failures and nested COPYs");
done_testing();
