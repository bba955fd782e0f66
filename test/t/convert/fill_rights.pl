# snowflake_fill() gives nobody more rights than its caller has: it fires no trigger, it writes only
# what the conversion's own trigger and check constraint demand, and code of the table runs with the
# rights of the table's owner and under ordinary settings. What it writes is whole: constraints,
# generated columns, indexes, large values and the log for replicas.
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = convert_server('fill_rights', conf => "wal_level = logical\nmax_wal_senders = 5\nmax_replication_slots = 5\n");

sub value { my ($sql) = @_; return $server->safe_psql('postgres', $sql); }

# Returns the SQLSTATE and the messages.
sub try_as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = psql_as($server, $role, $sql);
	my ($state) = $err =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err, $out);
}
sub fill { my ($role, $table) = @_; return try_as($role, "CALL snowflake_fill('$table')"); }

# In a schema of alice's.
sub anew
{
	my ($sql) = @_;
	value("SET client_min_messages = warning; DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; GRANT USAGE ON SCHEMA r TO PUBLIC; SET ROLE alice; $sql");
	return;
}

# What a conversion adds to a column.
sub begun
{
	my ($table, $old, $new) = @_;
	$new //= "snowflake_new_$old";
	return "ALTER TABLE $table ADD COLUMN $new bigint;
		CREATE TRIGGER \"~$new\" BEFORE INSERT OR UPDATE ON $table FOR EACH ROW EXECUTE FUNCTION snowflake_follow('$old', '$new');
		ALTER TABLE $table ENABLE ALWAYS TRIGGER \"~$new\";
		ALTER TABLE $table ADD CONSTRAINT same_$new CHECK ($new IS NOT DISTINCT FROM $old) NOT VALID;";
}
sub unfilled { my ($table, $old, $new) = @_; return value(sprintf 'SELECT count(*) FROM %s WHERE %s IS DISTINCT FROM %s', $table, $new // "snowflake_new_$old", $old); }

### A role that may only create temporary tables, and delete from a table of alice's

anew(q{
	CREATE TABLE r.victim (id int PRIMARY KEY);
	CREATE TABLE r.refers (id int REFERENCES r.victim);
	CREATE TABLE r.audit (what text);
	CREATE TABLE r.seen (what text, role text, setting text, path text);
	GRANT INSERT, SELECT ON r.seen TO PUBLIC;
	INSERT INTO r.victim VALUES (1), (2); INSERT INTO r.refers VALUES (1);
	CREATE FUNCTION r.audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$BEGIN INSERT INTO r.audit VALUES (OLD.id); RETURN OLD; END$$;
	CREATE TRIGGER audit AFTER DELETE ON r.victim FOR EACH ROW EXECUTE FUNCTION r.audit();
	GRANT SELECT, DELETE ON r.victim TO carol;});
my $plant = q{
	CREATE TEMP TABLE t (a int, n bigint); INSERT INTO t VALUES (7);
	CREATE FUNCTION pg_temp.attack(i int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN
		INSERT INTO r.seen VALUES ('attack', current_user, current_setting('session_replication_role'), current_setting('search_path'));
		DELETE FROM r.victim WHERE id = i;
		RETURN true;
	END$$;
	CREATE FUNCTION pg_temp.trigger() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_temp.attack(1); RETURN NEW; END$$;};
my $after = q{ SELECT 'n ' || coalesce(n::text, 'null') FROM t};
my ($state, $text, $out) = try_as('carol', qq{$plant
	CREATE TRIGGER "~n" BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.trigger('a', 'n');
	ALTER TABLE t ENABLE ALWAYS TRIGGER "~n"; CALL snowflake_fill('t'); $after});
is("$state $out", '00000 n null', 'a trigger of that name and its arguments make no conversion') or diag($text);
($state, $text, $out) = try_as('carol', qq{$plant
	CREATE TRIGGER "~n" BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.trigger('a', 'n');
	ALTER TABLE t ADD CHECK (pg_temp.attack(1) OR n IS NOT DISTINCT FROM a) NOT VALID; CALL snowflake_fill('t'); $after});
is("$state $out", '00000 n null', '... nor does a check constraint with it') or diag($text);
is(value('SELECT (SELECT count(*) FROM r.victim), (SELECT count(*) FROM r.audit), (SELECT count(*) FROM r.seen)'), '2|0|0', '... and nothing of it ran');
# The function is set up, and then attacks as soon as it is called.
my $check = 'ALTER TABLE t ADD CHECK (pg_temp.attack(%d)) NOT VALID;';
($state, $text) = try_as('carol', $plant . begun('t', 'a', 'n2') . sprintf($check, 1) . q{CALL snowflake_fill('t')});
is($state, '23503', 'a function of a check constraint cannot break a foreign key of another table') or diag($text);
($state, $text) = try_as('carol', $plant . begun('t', 'a', 'n2') . sprintf($check, 2) . q{CALL snowflake_fill('t')});
is($state, '00000', '... and what it may delete') or diag($text);
is(value('SELECT (SELECT array_agg(id) FROM r.victim), (SELECT array_agg(what) FROM r.audit)'), '{1}|{2}', '... its triggers see');
is(value('SELECT DISTINCT * FROM r.seen'), 'attack|carol|origin|pg_catalog, pg_temp', '... under ordinary settings');
# A horizon was reported, and a row may not get an id below it.
anew(q{CREATE TABLE r.claimed (a int, n bigint); INSERT INTO r.claimed VALUES (7);
	CREATE TRIGGER claim BEFORE INSERT OR UPDATE ON r.claimed FOR EACH ROW EXECUTE FUNCTION snowflake_claim('n');
	CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.n := 7; RETURN NEW; END';
	CREATE TRIGGER "~n" BEFORE UPDATE ON r.claimed FOR EACH ROW EXECUTE FUNCTION r.f('a', 'n'); ALTER TABLE r.claimed ENABLE ALWAYS TRIGGER "~n"});
ok(wait_until('a horizon', sub { value('SELECT snowflake_horizon() > 7') eq 't' }), 'a horizon is reported');
is((fill('alice', 'r.claimed'))[0], '00000', 'a table that claims ids');
is(value('SELECT n IS NULL FROM r.claimed'), 't', '... is not changed below it');

### Triggers do not fire, in no state, and neither do rules; policies hide no rows

anew(q{CREATE TABLE r.t (id int PRIMARY KEY, n smallint); INSERT INTO r.t SELECT g, g FROM generate_series(1, 500) g;
	CREATE TABLE r.fired (what text);
	CREATE FUNCTION r.fire() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO r.fired VALUES (TG_NAME); IF TG_WHEN = 'BEFORE' THEN RETURN NULL; END IF; RETURN NEW; END$$;
	CREATE TRIGGER a BEFORE UPDATE ON r.t FOR EACH ROW EXECUTE FUNCTION r.fire();
	CREATE TRIGGER b AFTER UPDATE ON r.t FOR EACH ROW EXECUTE FUNCTION r.fire();
	CREATE TRIGGER c BEFORE UPDATE ON r.t EXECUTE FUNCTION r.fire();
	CREATE TRIGGER d AFTER UPDATE ON r.t REFERENCING NEW TABLE AS x EXECUTE FUNCTION r.fire();
	CREATE CONSTRAINT TRIGGER e AFTER UPDATE ON r.t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION r.fire();
	ALTER TABLE r.t ENABLE ALWAYS TRIGGER a, ENABLE ALWAYS TRIGGER b, ENABLE ALWAYS TRIGGER c, ENABLE REPLICA TRIGGER d, ENABLE ALWAYS TRIGGER e;
	CREATE RULE no AS ON UPDATE TO r.t DO INSTEAD NOTHING;
	CREATE POLICY few ON r.t USING (id < 10) WITH CHECK (id < 10);
	ALTER TABLE r.t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;} . begun('r.t', 'id') . begun('r.t', 'n'));
($state, $text) = fill('alice', 'r.t');
is($state, '00000', 'a table with triggers, a rule and a policy') or diag($text);
is($text, '', '... without a notice');
is(unfilled('r.t', 'id') . unfilled('r.t', 'n'), '00', '... is filled');
is(value('SELECT count(*) FROM r.fired'), '0', '... and no trigger fired');

### Code of a hostile owner

value('CREATE ROLE mallory LOGIN; GRANT CREATE ON DATABASE postgres TO mallory');
($state, $text) = try_as('mallory', q{
	CREATE SCHEMA m;
	CREATE TABLE m.seen (what text, role text, setting text);
	CREATE FUNCTION m.spy(what text) RETURNS void LANGUAGE plpgsql AS $$BEGIN
		BEGIN EXECUTE 'SET ROLE postgres'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'RESET SESSION AUTHORIZATION'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
		INSERT INTO m.seen VALUES (what, current_user, current_setting('session_replication_role'));
	END$$;
	CREATE FUNCTION m.f(what text, n bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM m.spy(what); RETURN coalesce(n, 0); END$$;
	CREATE DOMAIN m.d AS bigint CHECK (m.f('domain', VALUE) IS NOT NULL);
	CREATE TABLE m.t (id int PRIMARY KEY);
	INSERT INTO m.t VALUES (1);} . begun('m.t', 'id') . q{
	ALTER TABLE m.t ADD g m.d GENERATED ALWAYS AS (m.f('generated', snowflake_new_id)::m.d) STORED,
		ADD CHECK (m.f('check', snowflake_new_id) IS NOT NULL) NOT VALID;
	CREATE INDEX ON m.t (m.f('index', snowflake_new_id), (m.f('constant', 1))) WHERE m.f('predicate', 2 * id) > 0;
	DELETE FROM m.seen});
is($state, '00000', 'mallory prepares her table') or diag($text);
is((fill('postgres', 'm.t'))[0], '42501', 'a superuser may not fill it');
is(value('SELECT count(*) FROM m.seen'), '0', '... and none of her code ran');
($state, $text) = fill('mallory', 'm.t');
is($state, '00000', 'she fills it') or diag($text);
is(value(q{SELECT string_agg(DISTINCT what, ' ' ORDER BY what) FROM m.seen}), 'check constant domain generated index predicate', '... and all of her code ran');
is(value('SELECT DISTINCT role, setting FROM m.seen'), 'mallory|origin', '... as herself, under ordinary settings');
is(value(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'}), 'f', '... and she is no superuser');
# As herself: the planner, too, evaluates constants in expressions of indexes.
is((try_as('mallory', 'SELECT id, snowflake_new_id, g FROM m.t'))[2], '1|1|1', '... and the row is filled');
# A deferred trigger would fire at commit, outside of the security context.
is((try_as('mallory', q{CREATE TABLE m.later (a int); CREATE FUNCTION m.later() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM m.spy('later'); RETURN NULL; END$$;
	CREATE CONSTRAINT TRIGGER later AFTER INSERT ON m.later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION m.later();
	CREATE FUNCTION m.insert() RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO m.later VALUES (1); RETURN true; END$$;
	CREATE TABLE m.u (id int); INSERT INTO m.u VALUES (1);} . begun('m.u', 'id') . 'ALTER TABLE m.u ADD CHECK (m.insert()) NOT VALID; DELETE FROM m.seen'))[0], '00000', 'she tries it at commit');
($state, $text) = fill('mallory', 'm.u');
like($text, qr/42501: cannot fire deferred trigger within security-restricted operation/, '... which fails');
is(value(q{SELECT count(*) FROM m.seen}), '0', '... and runs nothing');

# A superuser's own table, and replica as its own setting.
value(q{CREATE SCHEMA p; CREATE TABLE p.seen (setting text); CREATE TABLE p.t (id int); INSERT INTO p.t VALUES (1);
	CREATE FUNCTION p.see() RETURNS boolean LANGUAGE plpgsql AS $$BEGIN INSERT INTO p.seen VALUES (current_setting('session_replication_role')); RETURN true; END$$;} . begun('p.t', 'id') . 'ALTER TABLE p.t ADD CHECK (p.see()) NOT VALID; DELETE FROM p.seen');
($state, $text) = try_as('postgres', q{SET session_replication_role = replica; CALL snowflake_fill('p.t')});
is($state, '00000', 'a superuser with replica as its setting') or diag($text);
is(value('SELECT DISTINCT setting FROM p.seen'), 'origin', '... fills under ordinary settings');

### What is not as a conversion makes it is an error, and changes nothing

my @errors = (
	[ 'a column that is gone', '', 'ALTER TABLE r.t RENAME id TO other', qr/Trigger "~snowflake_new_id" does not name/ ],
	[ 'a column that became wide', '', 'ALTER TABLE r.t DISABLE TRIGGER USER; ALTER TABLE r.t DROP CONSTRAINT same_snowflake_new_id; ALTER TABLE r.t ALTER id TYPE bigint', qr/Trigger "~snowflake_new_id" does not name/ ],
	[ 'a generated column', '', 'ALTER TABLE r.t DROP snowflake_new_id; ALTER TABLE r.t ADD snowflake_new_id bigint GENERATED ALWAYS AS (id) STORED', qr/Trigger "~snowflake_new_id" does not name/ ],
	[ 'a missing check', '', 'ALTER TABLE r.t DROP CONSTRAINT same_snowflake_new_id', qr/No check constraint states that "snowflake_new_id" IS NOT DISTINCT FROM "id"/ ],
	[ 'another check of that name', '', 'ALTER TABLE r.t DROP CONSTRAINT same_snowflake_new_id; ALTER TABLE r.t ADD CONSTRAINT same_snowflake_new_id CHECK (snowflake_new_id IS NOT DISTINCT FROM n) NOT VALID', qr/No check constraint/ ],
	[ 'a foreign key', 'CREATE TABLE r.p (id bigint PRIMARY KEY);', 'ALTER TABLE r.t ADD CONSTRAINT up FOREIGN KEY (snowflake_new_id) REFERENCES r.p', qr/Foreign key "up"/ ],
	[ 'a foreign key to it', '', 'CREATE UNIQUE INDEX u ON r.t (snowflake_new_id); ALTER TABLE r.t ADD UNIQUE USING INDEX u; CREATE TABLE r.c (id bigint CONSTRAINT to_it REFERENCES r.t (snowflake_new_id))', qr/Foreign key "to_it"/ ],
	[ 'a foreign key that is not valid', 'CREATE TABLE r.p (id bigint PRIMARY KEY);', 'ALTER TABLE r.t ADD CONSTRAINT up FOREIGN KEY (snowflake_new_id) REFERENCES r.p NOT VALID', qr/Foreign key "up"/, 0, '23503' ],
	[ 'one of another owner that is not valid', '', 'ALTER TABLE r.t ADD g bigint GENERATED ALWAYS AS (coalesce(snowflake_new_id, -id)) STORED UNIQUE; GRANT REFERENCES ON r.t TO bob; RESET ROLE; CREATE TABLE r.c AS SELECT g FROM r.t;
		ALTER TABLE r.c OWNER TO bob; SET ROLE bob; ALTER TABLE r.c ADD CONSTRAINT to_it FOREIGN KEY (g) REFERENCES r.t (g) NOT VALID', qr/Foreign key "to_it"/, 0, '23503' ],
	[ 'a foreign key of a generated column', 'CREATE TABLE r.p (id bigint PRIMARY KEY);',
		'ALTER TABLE r.t ADD g bigint GENERATED ALWAYS AS (snowflake_new_id * 2) STORED; ALTER TABLE r.t ADD CONSTRAINT up FOREIGN KEY (g) REFERENCES r.p', qr/Foreign key "up"/ ],
	[ 'a foreign key of a partitioned table', 'CREATE TABLE r.p (id bigint PRIMARY KEY);', 'ALTER TABLE r.t ADD CONSTRAINT up FOREIGN KEY (snowflake_new_id) REFERENCES r.p', qr/Foreign key "up"/, 1 ],
	[ 'a foreign key to a partitioned table', '', 'ALTER TABLE r.t ADD UNIQUE (n, snowflake_new_id); CREATE TABLE r.c (n int, id bigint, CONSTRAINT to_it FOREIGN KEY (n, id) REFERENCES r.t (n, snowflake_new_id))', qr/Foreign key "(?:to_it|c_n_id_fkey)/, 1 ],
	[ 'a deferrable key', '', 'ALTER TABLE r.t ADD CONSTRAINT late UNIQUE (n, snowflake_new_id) DEFERRABLE', qr/index "late"/ ],
	[ 'a deferrable exclusion', '', 'ALTER TABLE r.t ADD CONSTRAINT apart EXCLUDE USING btree ((snowflake_new_id + 1) WITH =) DEFERRABLE INITIALLY DEFERRED', qr/index "apart"/ ]);
for my $case (@errors)
{
	my ($what, $before, $change, $detail, $partitioned, $update) = @$case;
	my $table = $partitioned ? 'CREATE TABLE r.t (id int, n int) PARTITION BY LIST (n); CREATE TABLE r.part PARTITION OF r.t DEFAULT' : 'CREATE TABLE r.t (id int, n int)';
	anew("$table; INSERT INTO r.t SELECT g, g FROM generate_series(1, 5) g; $before " . begun('r.t', 'id') . $change);
	my $was = value('SELECT array_agg(ctid ORDER BY ctid) FROM r.t');
	($state, $text) = fill('alice', 'r.t');
	is($state, '55000', $what);
	like($text, qr/cannot fill table \w+\n.*DETAIL:  (?:.*$detail)/s, '... is named');
	like($text, qr/HINT:.*abandon/, '... with a hint');
	is(value('SELECT array_agg(ctid ORDER BY ctid) FROM r.t'), $was, '... and nothing is written');
	is((try_as('alice', 'UPDATE r.t SET id = id'))[0], $update, '... as nothing by UPDATE') if $update;
}
anew('CREATE TABLE r.t (id int, n int); INSERT INTO r.t SELECT g, g FROM generate_series(1, 5) g; CREATE TABLE r.p (id bigint PRIMARY KEY); INSERT INTO r.p SELECT id FROM r.t;'
	  . begun('r.t', 'id') . 'ALTER TABLE r.t ADD UNIQUE (id, n) DEFERRABLE, ADD FOREIGN KEY (n) REFERENCES r.p');
is((fill('alice', 'r.t'))[0], '00000', 'constraints of other columns');
is(unfilled('r.t', 'id'), '0', '... are in nobody\'s way');
is((try_as('alice', 'ALTER TABLE r.t VALIDATE CONSTRAINT same_snowflake_new_id, ADD FOREIGN KEY (snowflake_new_id) REFERENCES r.p'))[0], '00000', 'what is filled gets a foreign key');
is((fill('alice', 'r.t'))[0], '00000', '... and there is nothing to fill');
for my $case (
	[ 'a row that violates a check', 'ALTER TABLE r.t ADD CHECK (n <> 3) NOT VALID', '23514' ],
	[ 'a function that changes the row', q{CREATE FUNCTION r.change(i int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF NOT pg_try_advisory_xact_lock(1) THEN RETURN true; END IF;
		UPDATE r.t SET n = n WHERE id = i + 1 AND current_query() LIKE '%fill%'; RETURN true; END$$; ALTER TABLE r.t ADD CHECK (r.change(id)) NOT VALID}, '55000' ],
	[ 'a published table without a replica identity', 'RESET ROLE; CREATE PUBLICATION p FOR TABLE r.t', '55000' ])
{
	my ($what, $change, $wanted) = @$case;
	# On a busy machine a batch may be over after its first row, and the next one sees what changed.
	ok(wait_until($what, sub {
		anew('CREATE TABLE r.t (id int, n int); INSERT INTO r.t SELECT g, g FROM generate_series(1, 5) g;' . begun('r.t', 'id') . $change);
		($state, $text) = try_as('alice', q{SET statement_timeout = '60s'; CALL snowflake_fill('r.t')});
		value('DROP PUBLICATION IF EXISTS p');
		return $state eq $wanted;
	}), "$what ends the call") or diag("$state $text");
}

### What it writes is whole

# A row of 4 kB is stored outside of the table.
anew(q{CREATE TABLE r.t (dropped text, id int PRIMARY KEY, n smallint, large text, k int UNIQUE) WITH (fillfactor = 50);
	ALTER TABLE r.t ALTER large SET STORAGE EXTERNAL;
	INSERT INTO r.t SELECT 'x', g, nullif(g % 7, 0), CASE WHEN g % 100 = 0 THEN repeat(md5(g::text), 128) ELSE 'small' END, g FROM generate_series(1, 2000) g;
	ALTER TABLE r.t DROP dropped; ALTER TABLE r.t ADD later text DEFAULT 'late';
	CREATE INDEX ON r.t (n, k); ALTER TABLE r.t REPLICA IDENTITY FULL;} . begun('r.t', 'id') . begun('r.t', 'n'));
my $rows = 'SELECT md5(string_agg((id, n, md5(large), k, later)::text, chr(10) ORDER BY id)) FROM r.t';
my ($was, $outside) = (value($rows), value(q{SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'r.t'::regclass}));
value(q{SELECT pg_stat_force_next_flush()});
is((fill('alice', 'r.t'))[0], '00000', 'a table with large values, a dropped column and one with a fast default');
is(unfilled('r.t', 'id') . unfilled('r.t', 'n'), '00', '... is filled');
is(value($rows), $was, '... all else is as before');
is(value(q{SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'r.t'::regclass}), $outside, '... large values were not written again');
ok(wait_until('statistics', sub { value(q{SELECT n_tup_upd FROM pg_stat_user_tables WHERE relid = 'r.t'::regclass}) eq '2000' }), '... each row once');
cmp_ok(value(q{SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'r.t'::regclass}), '>', 1000, '... mostly beside the old one, without index entries');
# Now with indexes on the new column and on what is generated from it, so that each row has new entries.
anew(q{CREATE TABLE r.t (id int PRIMARY KEY, n int); INSERT INTO r.t SELECT g, g FROM generate_series(1, 2000) g;} . begun('r.t', 'id') . q{
	ALTER TABLE r.t ADD twice bigint GENERATED ALWAYS AS (snowflake_new_id * 2) STORED;
	CREATE UNIQUE INDEX new_id ON r.t (snowflake_new_id); CREATE INDEX twice ON r.t (twice) WHERE twice > 100; CREATE INDEX sum ON r.t ((snowflake_new_id + n));
	ALTER TABLE r.t ADD CONSTRAINT apart EXCLUDE USING btree (twice WITH =)});
is((fill('alice', 'r.t'))[0], '00000', 'a table with indexes on new columns');
is(value('SELECT count(*) FROM r.t WHERE twice = 2 * id'), '2000', '... has right generated columns');
for my $condition ('snowflake_new_id = 1234', 'twice = 2468', 'snowflake_new_id + n = 2468')
{
	my @both = map { value("SET enable_seqscan = $_; SET enable_indexscan = " . ($_ eq 'on' ? 'off' : 'on') . "; SET enable_bitmapscan = off; SELECT id FROM r.t WHERE $condition") } 'off', 'on';
	is("@both", '1234 1234', "... and an index and the table agree on $condition");
}
if (value(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'}))
{
	value('CREATE EXTENSION amcheck');
	is(value(q{SELECT count(*) FROM (SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'r.t'::regclass) x}), '5', '... and amcheck finds no fault in 5 indexes');
	is(value(q{SELECT count(*) FROM verify_heapam('r.t')}), '0', '... nor in the table');
}

# Partitions with another order of columns, and children.
anew(q{CREATE TABLE r.t (id int, n int NOT NULL, note text) PARTITION BY LIST (n);
	CREATE TABLE r.one PARTITION OF r.t FOR VALUES IN (1);
	CREATE TABLE r.two (note text, x int, n int NOT NULL, id int); ALTER TABLE r.two DROP x; ALTER TABLE r.t ATTACH PARTITION r.two FOR VALUES IN (2);
	INSERT INTO r.t SELECT g, 1 + g % 2, g FROM generate_series(1, 300) g;
	CREATE TABLE r.p (id int); CREATE TABLE r.c (more text) INHERITS (r.p); CREATE TABLE r.cc () INHERITS (r.c);
	INSERT INTO r.p VALUES (1); INSERT INTO r.c VALUES (2, 'x'); INSERT INTO r.cc VALUES (3, 'y');}
	  . begun('r.t', 'id') . begun('r.p', 'id')
	  . join '', map { qq{CREATE TRIGGER "~snowflake_new_id" BEFORE INSERT OR UPDATE ON r.$_ FOR EACH ROW EXECUTE FUNCTION snowflake_follow('id', 'snowflake_new_id');} } 'c', 'cc');
is((fill('alice', "r.$_"))[0], '00000', "partitions and children: $_") for 't', 'p';
is(unfilled('r.t', 'id') . unfilled('r.p', 'id'), '00', '... are filled');
is(value(q{SELECT count(*), count(*) FILTER (WHERE note = id::text AND n = 1 + id % 2) FROM r.t}), '300|300', '... and nothing else has changed');

# Logical decoding.
anew(q{CREATE TABLE r.t (id int PRIMARY KEY, note text); INSERT INTO r.t VALUES (1, 'one'), (2, 'two');
	CREATE TABLE r.f (id int, note text); INSERT INTO r.f VALUES (3, 'three'); ALTER TABLE r.f REPLICA IDENTITY FULL;
	CREATE TABLE r.i (id int, note text NOT NULL); INSERT INTO r.i VALUES (4, 'four');} . begun('r.t', 'id') . begun('r.f', 'id') . begun('r.i', 'id')
	  . 'CREATE UNIQUE INDEX new_id ON r.i (note); ALTER TABLE r.i REPLICA IDENTITY USING INDEX new_id');
value(q{SELECT pg_create_logical_replication_slot('s', 'test_decoding')});
fill('alice', "r.$_") for 't', 'f', 'i';
is(value(q{SELECT data FROM pg_logical_slot_get_changes('s', NULL, NULL, 'include-xids', '0', 'skip-empty-xacts', '1') WHERE data LIKE 'table%' AND data LIKE '%UPDATE%'}),
	join("\n",
		q{table r.t: UPDATE: id[integer]:1 note[text]:'one' snowflake_new_id[bigint]:1},
		q{table r.t: UPDATE: id[integer]:2 note[text]:'two' snowflake_new_id[bigint]:2},
		q{table r.f: UPDATE: old-key: id[integer]:3 note[text]:'three' new-tuple: id[integer]:3 note[text]:'three' snowflake_new_id[bigint]:3},
		q{table r.i: UPDATE: id[integer]:4 note[text]:'four' snowflake_new_id[bigint]:4}),
	'replicas get the rows');
value(q{SELECT pg_drop_replication_slot('s')});

### Rows that others change meanwhile

anew('CREATE TABLE r.t (id int PRIMARY KEY, n int); INSERT INTO r.t SELECT g, g FROM generate_series(1, 300) g;' . begun('r.t', 'id'));
my $other = $server->background_psql('postgres', on_error_die => 1);
$other->query_safe('BEGIN; UPDATE r.t SET id = -id WHERE n = 5; DELETE FROM r.t WHERE n = 6; SELECT FROM r.t WHERE n = 7 FOR UPDATE');
my ($said, $errors) = ('', '');
my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr('postgres') . ' user=alice', '-c', q{CALL snowflake_fill('r.t')} ], '<', '/dev/null', '>', \$said, '2>', \$errors);
ok(wait_until('all other rows', sub { value('SELECT count(*) FROM r.t WHERE snowflake_new_id IS NULL') eq '3' }), 'rows that others change or lock are left');
$other->query_safe('COMMIT');
$other->quit;
$run->finish;
is($errors =~ s/^(NOTICE|DETAIL):.*\n//mgr, '', '... and the call ends when they are free');
is(unfilled('r.t', 'id'), '0', '... with all rows');
is(value(q{SELECT string_agg(id::text, ' ' ORDER BY n) FROM r.t WHERE n IN (5, 6, 7)}), '-5 7', '... as the others wrote them');

### What a call says while it lasts

# One waits for a row, another one for a session that waits for a lock on the table. Both tables have
# one row in a block. The check makes each row of the second take more than the shortest batch, so
# filling it lasts, without processor time.
anew(q{CREATE FUNCTION r.slow() RETURNS boolean LANGUAGE sql AS 'SELECT true FROM pg_sleep(0.003)';
	CREATE TABLE r.locked (id int, filler text); ALTER TABLE r.locked ALTER filler SET STORAGE PLAIN; CREATE TABLE r.wanted (LIKE r.locked INCLUDING STORAGE);
	INSERT INTO r.locked SELECT g, repeat('x', 5000) FROM generate_series(1, 20) g; INSERT INTO r.wanted SELECT g, repeat('x', 5000) FROM generate_series(1, 400) g;}
	  . begun('r.locked', 'id') . begun('r.wanted', 'id') . 'ALTER TABLE r.wanted ADD CHECK (r.slow()) NOT VALID');
my @sessions = map { $server->background_psql('postgres', on_error_die => 1) } 1 .. 2;
$sessions[0]->query_safe('BEGIN; SELECT FROM r.locked WHERE id = 7 FOR UPDATE; LOCK TABLE r.wanted IN SHARE UPDATE EXCLUSIVE MODE');
$sessions[1]->{stdin} .= "BEGIN; LOCK TABLE r.wanted IN SHARE UPDATE EXCLUSIVE MODE; COMMIT;\n";
$sessions[1]->{run}->pump_nb;
ok(wait_until('the waiting session', sub { value(q{SELECT count(*) FROM pg_locks WHERE relation = 'r.wanted'::regclass AND NOT granted}) eq '1' }), 'a session waits for a lock');
my %call = map { $_ => { said => '' } } qw(locked wanted);
for my $table (keys %call)
{
	$call{$table}{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr('postgres') . ' user=alice', '-c', "CALL snowflake_fill('r.$table')" ], '<', '/dev/null', '>&', \$call{$table}{said});
}
sub said { my ($table) = @_; $call{$table}{run}->pump_nb; return $call{$table}{said}; }
ok(wait_until('both to speak', sub { said('locked') =~ /DETAIL.*\n/ && said('wanted') =~ /DETAIL.*\n/ }), 'after ten seconds a call says how far it is');
like(said('locked'), qr/\ANOTICE:  filling table "locked": 20 of 20 blocks read, 19 rows filled\nDETAIL:  It waits for rows that other sessions have locked\.\n/,
	'... and that it waits for rows');
my ($read, $filled) = said('wanted') =~ /\ANOTICE:  filling table "wanted": (\d+) of 400 blocks read, (\d+) rows filled\nDETAIL:  It pauses because other sessions wait for locks on the table or its rows\.\n/
  or diag(said('wanted'));
ok($read && $filled, '... or that it pauses for others');
cmp_ok(abs($read - $filled), '<=', 1, '... with the right figures');
cmp_ok($filled, '<', 400, '... and has slowed down');
is(value(q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'CALL snowflake_fill%' AND state = 'active'}), '2', 'others see the calls');
$sessions[0]->query_safe('COMMIT');
$call{$_}{run}->finish for keys %call;
like($call{locked}{said}, qr/\nNOTICE:  filled 20 rows of table "locked"\n\z/, 'at the end it says how many rows it has filled');
like($call{wanted}{said}, qr/\nNOTICE:  filled 400 rows of table "wanted"\n\z/, '... when the others have what they need');
is(unfilled('r.locked', 'id') . unfilled('r.wanted', 'id'), '00', '... which are all');
$_->quit for @sessions;

### The lag of replicas that the caller may not see

my $folder = PostgreSQL::Test::Utils::tempdir();
my $receiver = IPC::Run::start([ 'pg_receivewal', '-n', '-D', $folder, '-d', $server->connstr('postgres') ], '<', '/dev/null', '>', \$said, '2>', \$errors);
ok(wait_until('a replica', sub { value(q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'}) eq '1' }), 'there is a replica');
for my $case ([ 'SELECT', qr/\A\S+ NOTICE:  00000: role "alice" cannot see how far replicas are behind\nDETAIL:.*\nHINT:.*pg_read_all_stats.*\nLOCATION:.*\n?\z/ ], [ 'GRANT pg_read_all_stats TO alice', qr/\A\z/ ])
{
	value($case->[0]);
	anew('CREATE TABLE r.t (id int, n int NOT NULL) PARTITION BY LIST (n); CREATE TABLE r.one PARTITION OF r.t FOR VALUES IN (1); CREATE TABLE r.two PARTITION OF r.t FOR VALUES IN (2);
		INSERT INTO r.t SELECT g, 1 + g % 2 FROM generate_series(1, 300) g;' . begun('r.t', 'id'));
	($state, $text) = fill('alice', 'r.t');
	is($state, '00000', "alice fills while there is a replica: $case->[0]");
	like($text, $case->[1], '... and is told once if its lag is not visible');
	is(unfilled('r.t', 'id'), '0', '... and all is filled');
}
$receiver->signal('INT');
$receiver->finish;

$server->stop('fast');
done_testing();
