# Whose code runs with whose rights in what a superuser calls of this extension: nobody's code gets more rights than he has. The
# protocol and the keeper: t/rights/security. Each trap below writes down who ran it, and tries to make its owner a superuser.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $server = new_server('rights', preload => 1);
start_server($server);

# alice, bob and carol are ordinary roles; each has a schema of that name. Traps write into traps.seen.
$server->safe_psql($db, q{
	CREATE EXTENSION snowflake;
	CREATE ROLE alice LOGIN;
	CREATE ROLE bob LOGIN;
	CREATE ROLE carol LOGIN IN ROLE alice, bob;
	CREATE SCHEMA alice AUTHORIZATION alice;
	CREATE SCHEMA bob AUTHORIZATION bob;
	GRANT USAGE ON SCHEMA alice, bob TO PUBLIC;
	GRANT CREATE ON DATABASE postgres TO alice;
	CREATE SCHEMA traps;
	GRANT USAGE ON SCHEMA traps TO PUBLIC;
	CREATE TABLE traps.seen (what text, who name, super boolean);
	GRANT SELECT, INSERT ON traps.seen TO PUBLIC;
});

sub sql { return $server->safe_psql($db, join(";\n", @_)); }

# Runs as a role; returns (SQLSTATE, output or error text).
sub as_role
{
	my ($role, $sql, $database) = @_;
	my ($rc, $out, $err) = $server->psql($database // $db, "\\set VERBOSITY verbose\n$sql", on_error_stop => 1,
		extra_params => [ '-U', $role ]);
	return ('00000', $out) if $rc == 0;
	return ($err =~ /(?:ERROR|FATAL):\s+(\w{5}):/ ? $1 : '?????', $err);
}

sub plant
{
	my ($role, $sql, $database) = @_;
	my ($state, $text) = as_role($role, $sql, $database);
	die "$role could not plant: $text" if $state ne '00000';
	return;
}

# The functions that the traps are made of, in the role's own schema. Those that claim to be immutable may stand anywhere; harmless()
# stands in checks until it is replaced.
sub springs
{
	my ($role) = @_;
	return qq{
		SET search_path = $role;
		CREATE FUNCTION note(what text) RETURNS void LANGUAGE sql AS
			'INSERT INTO traps.seen SELECT what, current_user, rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user
				AND NOT EXISTS (SELECT FROM traps.seen s WHERE s.what = note.what AND who = current_user)';
		CREATE FUNCTION spring(what text) RETURNS void LANGUAGE plpgsql AS \$\$
		BEGIN
			IF EXISTS (SELECT FROM traps.seen s WHERE s.what = spring.what AND who = current_user) THEN RETURN; END IF;
			PERFORM $role.note(what);
			BEGIN ALTER ROLE $role SUPERUSER; EXCEPTION WHEN OTHERS THEN NULL; END;
			BEGIN RESET SESSION AUTHORIZATION; ALTER ROLE $role SUPERUSER; EXCEPTION WHEN OTHERS THEN NULL; END;
			BEGIN RESET ROLE; ALTER ROLE $role SUPERUSER; EXCEPTION WHEN OTHERS THEN NULL; END;
		END\$\$;
		CREATE FUNCTION number(n bigint, what text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
			'BEGIN PERFORM $role.spring(what); RETURN n; END';
		CREATE FUNCTION yes(what text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM $role.spring(what); RETURN true; END';
		CREATE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
		CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN PERFORM $role.spring(TG_ARGV[0]); RETURN coalesce(NEW, OLD); END';
	};
}
plant($_, springs($_)) for 'alice', 'bob';

# The traps that went off since the last call, and whom they ran as: an attack that never runs proves nothing.
sub went_off
{
	return sql(q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', ' ORDER BY what || ' as ' || who), '') FROM traps.seen},
		'TRUNCATE traps.seen');
}

sub gained_nothing
{
	my ($name) = @_;
	is(sql(q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', '), 'nothing') FROM traps.seen WHERE super},
			q{SELECT coalesce(string_agg(rolname, ', '), 'nobody') FROM pg_roles WHERE rolsuper AND rolname IN ('alice', 'bob', 'carol')},
			'ALTER ROLE alice NOSUPERUSER', 'ALTER ROLE bob NOSUPERUSER'),
		"nothing\nnobody", "$name: nothing ran as a superuser, and nobody became one");
	return;
}

# ---------------------------------------------------------------------------------------------------------------------
# snowflake_convert() beside tables of others
# ---------------------------------------------------------------------------------------------------------------------

# Refused for each of these callers, in a dry run, too; and nothing ran.
sub refused
{
	my ($name, $table, $other, $owner, @callers) = @_;
	for my $caller (@callers ? @callers : qw(postgres carol))
	{
		for my $dry_run ('true', 'false')
		{
			my ($state, $text) = as_role($caller, "SELECT public.snowflake_convert('$table', 'id', $dry_run)");
			is($state, '42501', "$name: refused for $caller, dry run $dry_run") or diag($text);
			like($text, qr/together with table $other\b.*belongs to $owner\b.*HINT:.*OWNER TO/s, "$name: ... says with which table and why");
		}
	}
	gained_nothing($name);
	is(went_off(), '', "$name: nothing ran at all");
	return;
}

plant('alice', q{
	CREATE TABLE orders (id serial PRIMARY KEY, n int);
	INSERT INTO orders (n) VALUES (1), (2);
	GRANT REFERENCES ON orders TO bob;
});

# Their columns would be widened: all that hangs on them would run.
plant('bob', q{
	CREATE TABLE items (order_id int REFERENCES alice.orders, CHECK (number(order_id, 'check') > 0));
	INSERT INTO items VALUES (1);
});
sql('TRUNCATE traps.seen');
refused('a narrow column refers', 'alice.orders', 'bob.items', 'bob');

# They are only read, where the foreign key is checked anew: the planner computes what is constant in their indexes.
plant('bob', q{
	DROP TABLE items;
	CREATE TABLE items (order_id bigint REFERENCES alice.orders);
	INSERT INTO items VALUES (1);
	CREATE INDEX ON items (number(1, 'index'));
	GRANT SELECT ON items TO PUBLIC;
});
sql('TRUNCATE traps.seen');
refused('a wide column refers', 'alice.orders', 'bob.items', 'bob');

# The same at the other end of another foreign key of what is widened.
plant('bob', q{
	DROP TABLE items;
	CREATE TABLE others (id int PRIMARY KEY);
	INSERT INTO others VALUES (1);
	CREATE INDEX ON others (number(1, 'index'));
	GRANT SELECT, REFERENCES ON others TO alice;
});
plant('alice', 'CREATE TABLE twice (id int REFERENCES orders REFERENCES bob.others); INSERT INTO twice VALUES (1)');
sql('TRUNCATE traps.seen');
refused('a widened column refers to it, too', 'alice.orders', 'bob.others', 'bob');
plant('alice', 'DROP TABLE twice');
plant('bob', 'DROP TABLE others');

# Children, partitions and the parents of what refers.
plant('alice', 'CREATE TABLE parent (id int)');
sql('CREATE TABLE bob.child (CHECK (bob.number(id, \'check\') > 0)) INHERITS (alice.parent)', 'ALTER TABLE bob.child OWNER TO bob',
	'INSERT INTO bob.child VALUES (1)', 'TRUNCATE traps.seen', 'ALTER ROLE bob NOSUPERUSER');
refused('a child', 'alice.parent', 'bob.child', 'bob');
sql('DROP TABLE bob.child');
plant('alice', 'CREATE TABLE parts (id int, n int) PARTITION BY LIST (n)');
sql('CREATE TABLE bob.part PARTITION OF alice.parts (CHECK (bob.number(id, \'check\') > 0)) FOR VALUES IN (1)',
	'ALTER TABLE bob.part OWNER TO bob', 'INSERT INTO bob.part VALUES (1, 1)', 'TRUNCATE traps.seen', 'ALTER ROLE bob NOSUPERUSER');
refused('a partition', 'alice.parts', 'bob.part', 'bob');
sql('DROP TABLE bob.part');
plant('bob', q{CREATE TABLE above (order_id int, CHECK (number(order_id, 'check') > 0))});
sql('CREATE TABLE alice.below (FOREIGN KEY (order_id) REFERENCES alice.orders) INHERITS (bob.above)', 'ALTER TABLE alice.below OWNER TO alice',
	'INSERT INTO alice.below VALUES (1)', 'TRUNCATE traps.seen', 'ALTER ROLE bob NOSUPERUSER');
refused('what refers inherits', 'alice.orders', 'bob.above', 'bob');
sql('DROP TABLE alice.below');
# A superuser's table among those of an ordinary role: the table's owner would be the attacker.
plant('alice', q{CREATE TABLE mother (id int, CHECK (number(id, 'check') > 0))});
sql('CREATE TABLE alice.daughter () INHERITS (alice.mother)', 'INSERT INTO alice.daughter VALUES (1)', 'TRUNCATE traps.seen', 'ALTER ROLE alice NOSUPERUSER');
refused('a superuser\'s child', 'alice.mother', 'alice.daughter', 'postgres', 'postgres');
sql('ALTER TABLE alice.daughter OWNER TO alice');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.mother', 'id')}))[0], '00000', '... and not once both have one owner');
gained_nothing('one owner');
is(went_off(), 'check as alice', '... whose code runs as that owner');

# What changes no type reaches no table of another.
plant('alice', 'CREATE TABLE wide (id bigserial PRIMARY KEY); INSERT INTO wide VALUES (1); GRANT REFERENCES ON wide TO bob');
plant('bob', q{
	CREATE TABLE items (id bigint REFERENCES alice.wide, CHECK (number(id, 'check') > 0));
	CREATE INDEX ON items (number(1, 'index'));
	INSERT INTO items VALUES (1);
	GRANT SELECT ON items TO PUBLIC;
});
sql('TRUNCATE traps.seen');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.wide', 'id')}))[0], '00000', 'a table of bigint is converted whoever refers to it');
is(went_off(), '', '... and nothing of theirs runs');

# ---------------------------------------------------------------------------------------------------------------------
# snowflake_convert() on a table whose owner is the attacker
# ---------------------------------------------------------------------------------------------------------------------

plant('alice', q{
	SET client_min_messages = warning;
	-- GiST calls it with a page locked, which an exception block would unlock.
	CREATE FUNCTION distance(bigint, bigint) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN PERFORM alice.note(''range''); RETURN $2 - $1; END';
	CREATE TYPE measured AS RANGE (subtype = bigint, subtype_diff = distance);
	CREATE DOMAIN watched AS int CHECK (number(VALUE, 'domain') > 0);
	CREATE OPERATOR === (LEFTARG = bigint, RIGHTARG = text, FUNCTION = number);
	CREATE TABLE full_of_traps (id serial PRIMARY KEY, n int DEFAULT number(1, 'default'), d watched, r measured,
		g bigint GENERATED ALWAYS AS (number(n, 'generated')) STORED,
		CONSTRAINT c CHECK (number(id, 'check') > 0 AND id === 'operator' > 0),
		EXCLUDE USING gist (r WITH &&));
	CREATE TABLE refers (id int PRIMARY KEY REFERENCES full_of_traps, CHECK (number(id, 'referring check') > 0));
	INSERT INTO full_of_traps (d, r) SELECT i, measured(i * 10, i * 10 + 1) FROM generate_series(1, 500) i;
	INSERT INTO refers SELECT id FROM full_of_traps;
	CREATE INDEX ON full_of_traps (number(id, 'index'));
	CREATE INDEX ON full_of_traps (n) WHERE number(n, 'predicate') > 0;
	CREATE INDEX ON full_of_traps (number(1, 'constant'));
	CREATE STATISTICS s ON number(n, 'statistics'), n FROM full_of_traps;
	ANALYZE full_of_traps;
	CREATE TRIGGER row_trap BEFORE INSERT OR UPDATE OR DELETE ON full_of_traps FOR EACH ROW EXECUTE FUNCTION fire('trigger');
	CREATE TRIGGER statement_trap AFTER TRUNCATE ON full_of_traps FOR EACH STATEMENT EXECUTE FUNCTION fire('trigger');
	CREATE RULE rule_trap AS ON UPDATE TO full_of_traps DO ALSO SELECT spring('rule');
	CREATE POLICY policy_trap ON full_of_traps USING (yes('policy'));
	ALTER TABLE full_of_traps ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
});
sql('TRUNCATE traps.seen');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.full_of_traps', 'id', true)}))[0], '00000', 'a look');
gained_nothing('a look');
is(went_off(), 'constant as alice', '... runs what the planner computes');
my ($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('alice.full_of_traps', 'id')});
is($state, '00000', 'a superuser converts a table full of traps') or diag($text);
gained_nothing('a table full of traps');
is(went_off(), join(', ', map { "$_ as alice" } ('check', 'constant', 'index', 'operator', 'predicate', 'range', 'referring check')), '... which ran');
is(sql(q{SELECT string_agg(atttypid::regtype || coalesce(' ' || pg_get_expr(adbin, adrelid), ''), ', ' ORDER BY attrelid) FROM pg_attribute
	LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attname = 'id' AND attrelid IN ('alice.full_of_traps'::regclass, 'alice.refers'::regclass)}),
	'bigint snowflake_nextval(), bigint', '... and it is converted');
is(sql(q{SELECT count(*) FROM pg_class WHERE relname ~ 'full_of_traps|refers' AND relowner <> 'alice'::regrole}), '0', '... with all that it has still alice\'s');
is(sql(q{SELECT stxowner::regrole FROM pg_statistic_ext WHERE stxname = 's'}), 'alice', '... statistics, too');

# Who is a member of the owner's role converts with the owner's rights, not with more of his own.
plant('alice', q{CREATE TABLE member (id int, CHECK (number(id, 'check') > 0)); INSERT INTO member VALUES (1)});
sql('TRUNCATE traps.seen');
is((as_role('carol', q{SELECT public.snowflake_convert('alice.member', 'id')}))[0], '00000', 'a member of the owner converts');
is(went_off(), 'check as alice', '... and the owner\'s code runs with the owner\'s rights');

# What a statement's code does to the session: settings are as before when the next statement is run, or looked up.
plant('alice', q{
	CREATE FUNCTION not_equal(oid, oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM alice.spring(''shadow''); RETURN $1 OPERATOR(pg_catalog.=) $2; END';
	CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = oid, FUNCTION = not_equal);
	CREATE FUNCTION format(text, VARIADIC name[]) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM alice.spring(''shadow''); RETURN ''''; END';
	CREATE TABLE settings (id serial PRIMARY KEY, CHECK (harmless(id)));
	CREATE TABLE settings_too (id int REFERENCES settings, CHECK (harmless(id)));
	INSERT INTO settings VALUES (1);
	INSERT INTO settings_too VALUES (1);
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM alice.spring('settings');
		PERFORM set_config('search_path', 'alice, pg_catalog', false), set_config('search_path', 'alice, pg_catalog', true),
			set_config('row_security', 'on', false), set_config('default_transaction_read_only', 'on', false);
		RETURN true;
	END$$;
});
sql('TRUNCATE traps.seen');
is(sql(q{SET search_path = public; SELECT count(*) FROM snowflake_convert('alice.settings', 'id'); SHOW search_path; SHOW row_security;
	SHOW default_transaction_read_only}), "3\npublic\non\noff", 'settings that a check changes are as before');
gained_nothing('settings');
is(went_off(), 'settings as alice', '... and names that it puts in front are not called');

# What waits for the end of the transaction would run as the caller, before PostgreSQL 18: it cannot wait.
plant('alice', q{
	CREATE TABLE later (n int);
	CREATE CONSTRAINT TRIGGER later AFTER INSERT ON later DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fire('later');
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
	CREATE TABLE waits (id int, CHECK (harmless(id)));
	INSERT INTO waits VALUES (1);
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM alice.spring('waits');
		BEGIN INSERT INTO alice.later VALUES (1); EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		BEGIN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT alice.spring(''cursor'')'; EXCEPTION WHEN OTHERS THEN NULL; END;
		BEGIN EXECUTE 'CREATE TEMP TABLE pg_class (oid oid)'; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
		RETURN true;
	END$$;
});
is((query_error($server, $db, q{SELECT snowflake_convert('alice.waits', 'id')}))[0], '00000', 'a check that leaves something to be done is converted');
gained_nothing('deferred');
is(went_off(), 'waits as alice', '... and nothing of it was left');
is(sql('SELECT count(*) FROM alice.later'), '0', '... nor could it be');

# Names that change between two statements: the later one meets what is another's, in a schema of alice's own. She might drop it
# by hand; here it is noticed.
plant('alice', q{
	CREATE SCHEMA app;
	CREATE SCHEMA decoy;
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
	CREATE TABLE app.t (id serial, CHECK (harmless(id)));
	INSERT INTO app.t VALUES (1);
	CREATE OR REPLACE FUNCTION harmless(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		ALTER SCHEMA app RENAME TO away;
		ALTER SCHEMA decoy RENAME TO app;
		RETURN true;
	END$$;
});
sql('CREATE SEQUENCE decoy.t_id_seq');
($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('app.t', 'id')});
is($state, '55000', 'a statement that meets another\'s sequence is undone') or diag($text);
is(sql(q{SELECT relowner::regrole FROM pg_class WHERE oid = 'decoy.t_id_seq'::regclass}), 'postgres', '... and all is as it was');
gained_nothing('names');

# An event trigger is a superuser's, and runs with the rights that the statement has.
sql(q{CREATE FUNCTION traps.note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO traps.seen VALUES (tg_tag, current_user, false); END'},
	'CREATE EVENT TRIGGER note ON ddl_command_end EXECUTE FUNCTION traps.note()');
plant('alice', 'CREATE TABLE noted (id serial)');
sql('TRUNCATE traps.seen', q{SELECT snowflake_convert('alice.noted', 'id')});
is(went_off(), 'ALTER TABLE as alice, DROP SEQUENCE as alice', 'event triggers run as by the owner\'s own hand');
sql('DROP EVENT TRIGGER note');

# Rights that the owner lacks are not lent to him, and policies hide nothing from who passes over them.
plant('alice', 'CREATE TABLE hidden (id bigint); INSERT INTO hidden VALUES (9223372036854775807);
	ALTER TABLE hidden ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY');
is((as_role($_, q{SELECT public.snowflake_convert('alice.hidden', 'id')}))[0], $_ eq 'postgres' ? '55000' : '42501',
	"$_ and a forced policy") for qw(postgres alice carol);
sql('CREATE SCHEMA closed', 'CREATE TABLE closed.t (id int)', 'ALTER TABLE closed.t OWNER TO alice');
($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('closed.t', 'id')});
is($state, '42501', 'an owner who may not use the schema');
like($text, qr/permission denied for schema closed/, '... in these words');

# ---------------------------------------------------------------------------------------------------------------------
# CREATE EXTENSION in a schema in which bob may create
# ---------------------------------------------------------------------------------------------------------------------

# A database in which the traps are bob's alone.
sub new_database
{
	my ($name, $planted) = @_;
	sql("CREATE DATABASE $name");
	$server->safe_psql($name, q{
		CREATE SCHEMA bob AUTHORIZATION bob;
		CREATE SCHEMA traps;
		GRANT USAGE ON SCHEMA bob, traps TO PUBLIC;
		CREATE TABLE traps.seen (what text, who name, super boolean);
		GRANT SELECT, INSERT ON traps.seen TO PUBLIC;
	});
	plant('bob', springs('bob') . $planted, $name);
	$server->safe_psql($name, 'TRUNCATE traps.seen');
	return;
}

sub ran_in
{
	my ($database) = @_;
	return $server->safe_psql($database, q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', ' ORDER BY what || ' as ' || who), '')
		FROM traps.seen; TRUNCATE traps.seen});
}

# What fits a call of the scripts better than PostgreSQL's own: for each, the function that must be named.
my %better = (
	'bob.setval(pg_catalog.text,bigint)' => q{CREATE FUNCTION setval(text, bigint) RETURNS bigint LANGUAGE plpgsql AS
		'BEGIN PERFORM bob.spring(''setval''); RETURN 1; END'},
	'bob.times(double precision,integer)' => q{CREATE FUNCTION times(float8, int) RETURNS float8 LANGUAGE plpgsql AS
		'BEGIN PERFORM bob.spring(''times''); RETURN 1; END';
		CREATE OPERATOR * (LEFTARG = float8, RIGHTARG = int, FUNCTION = times)},
	'bob.pg_extension_config_dump(pg_catalog.text,pg_catalog.text)' => q{CREATE FUNCTION pg_extension_config_dump(text, text) RETURNS void
		LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''config''); END'},
);
my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
append_to_file("$sharedir/extension/needs_snowflake.control", "default_version = '1'\nrequires = 'snowflake'\n");
append_to_file("$sharedir/extension/needs_snowflake--1.sql", 'SELECT 1;');
my $count = 0;
for my $function (sort keys %better)
{
	my $database = 'better' . ++$count;
	new_database($database, $better{$function});
	my ($code, $error) = query_error($server, $database, 'CREATE EXTENSION snowflake SCHEMA bob');
	is($code, '55000', "planted $function: refused");
	like($error, qr/would call \Q$function\E/, '... by its name');
	is(ran_in($database), '', '... and it did not run');
	($code, $error) = query_error($server, $database, 'CREATE EXTENSION needs_snowflake SCHEMA bob CASCADE');
	is($code, '55000', '... nor for an extension that requires this one') or diag($error);
	is(ran_in($database), '', '... and it did not run');
	sql("DROP DATABASE $database");
}

# What fits as well, or less well, or what a later call might take instead. An event trigger of the superuser's own, whose function
# calls what it likes, is nobody's trap.
new_database('beside', q{
	CREATE FUNCTION pg_get_serial_sequence(varchar, varchar) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''varchar''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(name, name) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''name''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(anyelement, anyelement) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''any''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''variadic''); RETURN NULL; END';
	CREATE FUNCTION pg_get_serial_sequence(text, text, int DEFAULT 1) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''default''); RETURN NULL; END';
	CREATE FUNCTION random(int DEFAULT 1) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''random''); RETURN 0; END';
	CREATE FUNCTION floor(float8) RETURNS float8 LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''floor''); RETURN 0; END';
	CREATE FUNCTION floor(numeric) RETURNS numeric LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''floor''); RETURN 0; END';
	CREATE FUNCTION clock_timestamp(int DEFAULT 1) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''clock''); RETURN now(); END';
	CREATE FUNCTION snowflake_tick_timestamp(numeric) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''tick''); RETURN now(); END';
	CREATE FUNCTION add(timestamptz, interval) RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''add''); RETURN $1; END';
	CREATE OPERATOR + (LEFTARG = timestamptz, RIGHTARG = interval, FUNCTION = add);
	CREATE FUNCTION divide(interval, int) RETURNS interval LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''divide''); RETURN $1; END';
	CREATE OPERATOR / (LEFTARG = interval, RIGHTARG = int, FUNCTION = divide);
	CREATE FUNCTION divide(interval, float8) RETURNS interval LANGUAGE plpgsql AS 'BEGIN PERFORM bob.spring(''divide''); RETURN $1; END';
	CREATE OPERATOR / (LEFTARG = interval, RIGHTARG = float8, FUNCTION = divide);
	CREATE DOMAIN bob.timestamptz AS text;
	CREATE DOMAIN bob.text AS pg_catalog.int4;
});
$server->safe_psql('beside', q{
	CREATE FUNCTION traps.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';
	CREATE FUNCTION traps.note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM traps.mine(); END';
	CREATE EVENT TRIGGER first ON ddl_command_start EXECUTE FUNCTION traps.note();
	CREATE EVENT TRIGGER last ON ddl_command_end EXECUTE FUNCTION traps.note();
});
($state, $text) = query_error($server, 'beside', 'CREATE EXTENSION snowflake SCHEMA bob');
is($state, '00000', 'an extension is created beside names that only look like what it calls') or diag($text);
is(ran_in('beside'), '', '... and none of them is called');
$server->safe_psql('beside', 'SELECT bob.snowflake_nextval(); SELECT * FROM bob.snowflake_workers; SELECT * FROM bob.snowflake_status; SELECT * FROM bob.snowflake_layouts');
is(ran_in('beside'), '', '... nor do views call them');

# Version 1.0 left room in its view: who updates it is rid of that.
$server->safe_psql('beside', q{DROP EXTENSION snowflake; CREATE EXTENSION snowflake SCHEMA bob VERSION '1.0'; SELECT bob.snowflake_nextval();
	SELECT * FROM bob.snowflake_workers});
is(ran_in('beside'), 'divide as postgres', 'a view of version 1.0 calls a planted operator');
sql('ALTER ROLE bob NOSUPERUSER');
$server->safe_psql('beside', 'ALTER EXTENSION snowflake UPDATE; SELECT * FROM bob.snowflake_workers');
is(ran_in('beside'), '', '... and no longer, once it is updated');
sql('DROP DATABASE beside WITH (FORCE)');

# ---------------------------------------------------------------------------------------------------------------------
# Tables that were given to bob: what a superuser calls, and the update of the extension
# ---------------------------------------------------------------------------------------------------------------------

new_database('given', '');
$server->safe_psql('given', q{
	CREATE EXTENSION snowflake VERSION '1.0';
	ALTER TABLE snowflake_registry OWNER TO bob;
	ALTER TABLE snowflake_watermark OWNER TO bob;
	ALTER TABLE snowflake_layout OWNER TO bob;
	ALTER TABLE snowflake_origin OWNER TO bob;
	GRANT CREATE ON SCHEMA public TO bob;
});
plant('bob', q{
	CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON public.snowflake_origin FOR EACH ROW EXECUTE FUNCTION fire('origin');
	CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON public.snowflake_layout FOR EACH ROW EXECUTE FUNCTION fire('layout');
	ALTER TABLE public.snowflake_origin ADD CHECK (number(last_lease_id, 'origin check') > 0);
	ALTER TABLE public.snowflake_layout ADD CHECK (number(tick_us, 'layout check') > 0);
	CREATE INDEX ON public.snowflake_origin (number(1, 'origin index'));
	CREATE INDEX ON public.snowflake_layout (number(1, 'layout index'));
}, 'given');
$server->safe_psql('given', 'TRUNCATE traps.seen');
($state, $text) = query_error($server, 'given', 'ALTER EXTENSION snowflake UPDATE');
is($state, '00000', 'an update beside traps') or diag($text);
is(ran_in('given'), 'origin as bob, origin check as bob, origin index as bob', '... which run as their owner');
is((as_role('bob', 'SELECT count(*) FROM public.snowflake_origin', 'given'))[1], '1', '... and the origin is written down');
ran_in('given');
$server->safe_psql('given', q{SELECT snowflake_set_layout('snowflake')});
is(ran_in('given'), 'layout as bob, layout check as bob, layout index as bob', 'snowflake_set_layout() runs them as their owner');
$server->safe_psql('given', 'SELECT * FROM snowflake_get_layout(); SELECT * FROM snowflake_status; SELECT * FROM snowflake_layouts;
	SELECT snowflake_timestamp(1), snowflake_id_at(now())');
is(ran_in('given'), '', 'what reads the layout runs nothing');
gained_nothing('tables of bob');

# ---------------------------------------------------------------------------------------------------------------------
# The planner's support function
# ---------------------------------------------------------------------------------------------------------------------

is((as_role('bob', $_))[0], '42501', "not for others: $_") for
	'CREATE FUNCTION bob.mine() RETURNS bigint LANGUAGE sql SUPPORT public.snowflake_nextval_support AS \'SELECT 1::bigint\'',
	'ALTER FUNCTION bob.harmless(bigint) SUPPORT public.snowflake_nextval_support';
# Who plans it is not asked for it: the right to call is the one of who copies.
sql('REVOKE EXECUTE ON FUNCTION snowflake_nextval() FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION snowflake_nextval() TO bob',
	'CREATE TABLE copied (id bigint DEFAULT snowflake_nextval(), n int)', 'GRANT INSERT ON copied TO alice, bob');
is((as_role($_, "COPY public.copied (n) FROM STDIN;\n1\n2\n\\.\n"))[0], $_ eq 'bob' ? '00000' : '42501', "$_ copies") for 'alice', 'bob';

unlink glob("$sharedir/extension/needs_snowflake*");
$server->stop('fast');
done_testing();
