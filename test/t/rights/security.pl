# Who may do what, and what the keeper runs: section 10 of the design.
#
# The keeper is a superuser's process that reads and writes tables which may belong to somebody else. Whatever that owner
# plants on them (triggers, rules, policies, constraints, expressions, names that shadow) must never run with more rights
# than the owner's own. Each trap below writes down who ran it, and tries to make its owner a superuser.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my @tables = qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin);
my $acquire = q{snowflake_acquire('n', 0, 1000, '1 min')};

# Short leases: the keeper extends three times a second.
my $server = new_server('security', conf => "snowflake.lease_duration = 1s\nsnowflake.max_clock_skew = 0\nsnowflake.start_timeout = 2s\n");
start_server($server);
$server->safe_psql($db, q{
	CREATE EXTENSION snowflake;
	CREATE ROLE bob LOGIN;
	CREATE ROLE alice LOGIN;
	CREATE ROLE monitor LOGIN IN ROLE pg_read_all_stats;
	CREATE ROLE node LOGIN;
	GRANT CREATE ON SCHEMA public TO bob;
	GRANT CREATE ON DATABASE postgres TO bob, node;
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

sub state_is
{
	my ($role, $sql, $expected, $name) = @_;
	my ($state, $text) = as_role($role, $sql);
	return is($state, $expected, $name) || diag($text);
}

sub keeper
{
	my ($database) = @_;
	return $server->safe_psql($db, sprintf(
		q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = '%s'}, $database // $db));
}

# Lets the keeper release (if it can), acquire and extend. Returns whether ids flow and the window moved.
sub keeper_works
{
	my ($what) = @_;
	sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'postgres'});
	wait_until('the keeper ends', sub { keeper() eq '' }) or return 0;
	my ($state, $text) = query_error($server, $db, 'SELECT snowflake_nextval()');
	diag("$what: $text") if $state ne '00000';
	return $state eq '00000' && wait_until("$what: the window moves", sub {
		sql(q{SELECT count(*) FROM snowflake_registry WHERE renewed_at > acquired_at}) eq '1';
	});
}

# Nothing planted may have run as a superuser, and bob is still nobody.
sub bob_gained_nothing
{
	my ($name) = @_;
	is(sql(q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', '), 'nothing') FROM bob.seen WHERE super}),
		'nothing', "$name: nothing ran as a superuser");
	is(sql(q{SELECT rolsuper FROM pg_roles WHERE rolname = 'bob'}), 'f', "$name: bob is no superuser");
	sql('ALTER ROLE bob NOSUPERUSER', 'TRUNCATE bob.seen');
	return;
}

# The traps that went off, whoever ran them: an attack that never runs proves nothing.
sub went_off
{
	return sql(q{SELECT coalesce(string_agg(DISTINCT what, ' ' ORDER BY what), '') FROM bob.seen});
}

### What PUBLIC may do

is($server->safe_psql($db, 'SELECT snowflake_nextval() > 0', extra_params => [ '-U', 'alice' ]), 't', 'anybody gets ids');
state_is('alice', $_, '00000', "anybody: $_") for (
	'SELECT snowflake_nextvals(3)',
	'SELECT snowflake_nextval(), snowflake_currval()',
	'SELECT * FROM snowflake_decode(1)',
	'SELECT snowflake_timestamp(1)',
	'SELECT * FROM snowflake_status');
state_is('alice', "SELECT * FROM $_", '42501', "$_ is closed to others") for (@tables, 'snowflake_workers');
state_is('alice', "DELETE FROM $_", '42501', "$_ cannot be written by others") for @tables;
state_is('monitor', 'SELECT * FROM snowflake_workers', '00000', 'pg_read_all_stats reads snowflake_workers');
state_is('monitor', "SELECT * FROM $_", '42501', "pg_read_all_stats does not read $_") for @tables;
state_is('alice', "SELECT $_", '42501', "not for others: $_") for (
	$acquire,
	q{snowflake_extend(1, '00000000-0000-0000-0000-000000000000', 1, '1 min')},
	q{snowflake_release(1, '00000000-0000-0000-0000-000000000000', 1)});
# The layout's trigger takes the registry's lock, so nobody else may fire it from a table of his own.
state_is('alice', q{CREATE TEMP TABLE mine (i int);
	CREATE TRIGGER t AFTER INSERT ON mine FOR EACH STATEMENT EXECUTE FUNCTION snowflake_layout_changed()}, '42501',
	q{others cannot use the trigger function of the layout});

### A node's role on a registry: EXECUTE on the three functions, and nothing else

sql(
	'GRANT EXECUTE ON FUNCTION snowflake_acquire(text, integer, bigint, interval) TO node',
	'GRANT EXECUTE ON FUNCTION snowflake_extend(bigint, uuid, bigint, interval) TO node',
	'GRANT EXECUTE ON FUNCTION snowflake_release(bigint, uuid, bigint) TO node');
is($server->safe_psql($db, q{
		SELECT lease_id, token, window_start FROM snowflake_acquire('n', 0, 1000, '1 min') \gset
		SELECT snowflake_extend(:lease_id, :'token', 2000, '1 min') = 62000;
		SELECT snowflake_release(:lease_id, :'token', :window_start);
	}, extra_params => [ '-U', 'node' ]), "t\nt", 'a node acquires, extends and releases');
state_is('node', "SELECT * FROM $_", '42501', "a node cannot read $_") for (@tables, 'snowflake_workers');
state_is('node', "DELETE FROM $_", '42501', "a node cannot write $_") for @tables;

wait_until('the keeper holds a lease', sub {
	sql('SELECT snowflake_nextval()');
	sql(q{SELECT count(*) FROM snowflake_registry}) eq '1';
});
my $row = 'SELECT lease_id, worker_id, token, window_start FROM snowflake_registry';
my ($lease_id, $worker, $token, $start) = split /\|/, sql($row);
my ($state, $answer) = as_role('node', qq{
	SELECT coalesce(snowflake_extend($lease_id, gen_random_uuid(), 1 << 40, '1 day')::text, 'none');
	SELECT snowflake_release($lease_id, gen_random_uuid(), $start)});
is($answer, "none\nf", q{without its token another's lease can be neither moved nor released});
is(sql($row), "$lease_id|$worker|$token|$start", '... and stays as it was');

# What the caller puts in the way of the owner's SQL is not seen by it: names in his own schemas and in pg_temp.
sql(q{CREATE TABLE called (who name); GRANT INSERT ON called TO node});
($state, $answer) = as_role('node', q{
	CREATE SCHEMA traps;
	CREATE FUNCTION traps.trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN $1 < $2; END$$;
	CREATE OPERATOR traps.<= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = traps.trap);
	CREATE OPERATOR traps.>= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = traps.trap);
	CREATE OPERATOR traps.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = traps.trap);
	CREATE FUNCTION traps.nextval(regclass) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN 1; END$$;
	CREATE FUNCTION traps.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN now(); END$$;
	CREATE TEMP TABLE snowflake_registry (lease_id bigint, worker_id int);
	CREATE TEMP TABLE snowflake_origin (system_identifier bigint);
	CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS
		$$BEGIN INSERT INTO public.called VALUES (current_user); RETURN now(); END$$;
	SET search_path = pg_temp, traps, pg_catalog, public;
	SELECT lease_id, token, window_start FROM public.snowflake_acquire('n', 0, 1000, '1 min') \gset
	SELECT public.snowflake_extend(:lease_id, :'token', 2000, '1 min');
	SELECT public.snowflake_release(:lease_id, :'token', :window_start);
	SHOW search_path;
});
is($answer, "62000\nt\npg_temp, traps, pg_catalog, public", 'names that shadow do not get in the way')
  or diag($answer);
is(sql('SELECT count(*) FROM called'), '0', '... and are not called');

### An owner who is no superuser

# One table that has another owner: refused, in words that say why.
for my $table (@tables)
{
	sql("ALTER TABLE $table OWNER TO bob");
	my ($code, $text) = query_error($server, $db, "SELECT $acquire");
	is($code, '42501', "refused while $table alone has another owner");
	like($text, qr/several owners/, '... in these words');
	sql("ALTER TABLE $table OWNER TO CURRENT_USER");
}
sql('ALTER TABLE snowflake_origin OWNER TO bob');
ok(wait_until('the keeper notices', sub { sql('SELECT last_error_code FROM snowflake_status') eq '42501' }),
	'the keeper is refused too, and snowflake_status says with which code');
like(sql('SELECT last_error FROM snowflake_status'), qr/several owners/, '... and why');
sql(map { "ALTER TABLE $_ OWNER TO bob" } @tables);
ok(keeper_works('tables of bob'), 'with all four tables bob\'s, the keeper works');
is(sql(q{SELECT count(*) FROM pg_class WHERE relname LIKE 'snowflake\_%' AND relkind = 'r' AND relowner = 'bob'::regrole}),
	'4', 'the tables are bob\'s');

# Everything below is planted by bob himself.
sub bob
{
	my ($sql) = @_;
	my ($code, $text) = as_role('bob', $sql);
	die "bob could not plant: $text" if $code ne '00000';
	return;
}

bob(q{
	CREATE SCHEMA bob;
	CREATE TABLE bob.seen (what text, who name, super boolean);
	CREATE FUNCTION bob.spring(what text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO bob.seen SELECT what, current_user, (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user);
		BEGIN
			ALTER ROLE bob SUPERUSER;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
		BEGIN
			RESET SESSION AUTHORIZATION;
			ALTER ROLE bob SUPERUSER;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
		BEGIN
			RESET ROLE;
			ALTER ROLE bob SUPERUSER;
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	END$$;
	CREATE FUNCTION bob.trigger_trap() RETURNS trigger LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring(TG_ARGV[0]); RETURN coalesce(NEW, OLD); END$$;
	CREATE FUNCTION bob.true_trap(what text) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring(what); RETURN true; END$$;
	CREATE FUNCTION bob.number_trap(what text, n bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
		$$BEGIN PERFORM bob.spring(what); RETURN n; END$$;
});

# Immediate triggers on everything that the protocol writes.
bob(q{
	CREATE TRIGGER trap_before BEFORE INSERT OR UPDATE OR DELETE ON snowflake_registry FOR EACH ROW
		EXECUTE FUNCTION bob.trigger_trap('before');
	CREATE TRIGGER trap_after AFTER INSERT OR UPDATE OR DELETE ON snowflake_registry FOR EACH ROW
		EXECUTE FUNCTION bob.trigger_trap('after');
	CREATE TRIGGER trap_statement AFTER INSERT OR UPDATE OR DELETE ON snowflake_registry FOR EACH STATEMENT
		EXECUTE FUNCTION bob.trigger_trap('statement');
	CREATE TRIGGER trap_watermark BEFORE INSERT OR UPDATE ON snowflake_watermark FOR EACH ROW
		EXECUTE FUNCTION bob.trigger_trap('watermark');
	ALTER TABLE snowflake_watermark ENABLE ALWAYS TRIGGER trap_watermark;
});
ok(keeper_works('triggers'), 'the keeper works beside triggers');
is(went_off(), 'after before statement watermark', '... which ran');
bob_gained_nothing('triggers');
bob(q{
	DROP TRIGGER trap_before ON snowflake_registry;
	DROP TRIGGER trap_after ON snowflake_registry;
	DROP TRIGGER trap_statement ON snowflake_registry;
	DROP TRIGGER trap_watermark ON snowflake_watermark;
});

# Constraint triggers that wait for the commit, when the protocol's function has returned long ago and the process is a
# superuser's again. They may not run at all: the keeper is refused until they are gone.
bob(q{
	CREATE CONSTRAINT TRIGGER trap_commit AFTER INSERT OR UPDATE OR DELETE ON snowflake_registry
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bob.trigger_trap('commit');
	CREATE CONSTRAINT TRIGGER trap_watermark_commit AFTER INSERT OR UPDATE ON snowflake_watermark
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION bob.trigger_trap('watermark commit');
});
ok(wait_until('the keeper meets a deferred trigger', sub {
	went_off() ne '' || sql('SELECT last_error FROM snowflake_status') =~ /cannot fire deferred trigger/;
}), 'the keeper meets a deferred trigger, and snowflake_status says so');
sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'postgres'});
wait_until('the keeper ends', sub { keeper() eq '' });
query_error($server, $db, 'SELECT snowflake_nextval()');
bob_gained_nothing('deferred triggers');
bob(q{
	DROP TRIGGER trap_commit ON snowflake_registry;
	DROP TRIGGER trap_watermark_commit ON snowflake_watermark;
});
ok(wait_until('ids flow', sub { (query_error($server, $db, 'SELECT snowflake_nextval()'))[0] eq '00000' }),
	'ids flow once they are gone');

# Rules.
bob(q{
	CREATE RULE trap_insert AS ON INSERT TO snowflake_registry DO ALSO SELECT bob.spring('insert rule');
	CREATE RULE trap_update AS ON UPDATE TO snowflake_origin DO ALSO SELECT bob.spring('update rule');
});
is((query_error($server, $db, "SELECT $acquire"))[0], '55000', 'the protocol refuses tables with rules');
is(went_off(), '', '... and these do not run');
bob_gained_nothing('rules');
bob(q{
	DROP RULE trap_insert ON snowflake_registry;
	DROP RULE trap_update ON snowflake_origin;
	CREATE RULE trap_swallow AS ON INSERT TO snowflake_registry DO INSTEAD NOTHING;
});
is((query_error($server, $db, "SELECT $acquire"))[0], '55000', 'a rule that swallows the lease is noticed');
bob('DROP RULE trap_swallow ON snowflake_registry');

# Policies: an owner who forces them on himself.
bob(q{
	CREATE POLICY trap ON snowflake_registry USING (bob.true_trap('policy')) WITH CHECK (bob.true_trap('policy check'));
	ALTER TABLE snowflake_registry ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
});
is((query_error($server, $db, "SELECT $acquire"))[0], '55000', 'the protocol refuses tables with policies');
is(went_off(), '', '... and these do not run');
bob_gained_nothing('policies');
bob(q{
	ALTER TABLE snowflake_registry DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;
	DROP POLICY trap ON snowflake_registry;
});

# Expressions: defaults, generated columns, checks, domains, indexes.
bob(q{
	CREATE FUNCTION bob.check_trap(n int) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('domain'); RETURN true; END$$;
	CREATE DOMAIN bob.watched AS int CHECK (bob.check_trap(VALUE));
	ALTER TABLE snowflake_registry ADD COLUMN extra boolean DEFAULT bob.true_trap('default');
	ALTER TABLE snowflake_registry ADD COLUMN twice bigint GENERATED ALWAYS AS (bob.number_trap('generated', lease_id)) STORED;
	ALTER TABLE snowflake_registry ADD COLUMN domained bob.watched DEFAULT 1;
	ALTER TABLE snowflake_registry ADD CONSTRAINT trap CHECK (bob.true_trap('check'));
	CREATE INDEX trap_index ON snowflake_registry (bob.number_trap('index', window_end));
	CREATE INDEX trap_partial ON snowflake_watermark (last_tick) WHERE bob.number_trap('partial index', last_tick) > 0;
	TRUNCATE bob.seen;
});
ok(keeper_works('expressions'), 'the keeper works beside expressions');
is(went_off(), 'check default domain generated index partial index', '... which ran');
bob_gained_nothing('expressions');
bob(q{
	DROP INDEX trap_index, trap_partial;
	ALTER TABLE snowflake_registry DROP CONSTRAINT trap;
	ALTER TABLE snowflake_registry DROP COLUMN extra, DROP COLUMN twice, DROP COLUMN domained;
	-- The keeper may have moved its lease's window before they were gone.
	TRUNCATE bob.seen;
});

# Overloads and operators beside the extension's own, and a search_path that finds them first. What is missing in
# pg_catalog cannot be shadowed, so here nothing at all may run.
bob(q{
	CREATE FUNCTION public.snowflake_extend(bigint, uuid, bigint, interval, VARIADIC int[]) RETURNS bigint LANGUAGE sql AS
		$$SELECT bob.spring('overload'); SELECT 1::bigint$$;
	CREATE FUNCTION public.snowflake_acquire(node varchar, datacenter integer, now_tick bigint, duration interval) RETURNS bigint
		LANGUAGE sql AS $$SELECT bob.spring('overload'); SELECT 1::bigint$$;
	CREATE FUNCTION bob.operator_trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('operator'); RETURN $1 = $2; END$$;
	CREATE OPERATOR bob.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = bob.operator_trap);
	CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = bob.operator_trap);
	CREATE FUNCTION bob.snowflake_extend(bigint, uuid, bigint, interval) RETURNS bigint LANGUAGE sql AS
		$$SELECT bob.spring('search_path'); SELECT 1::bigint$$;
	CREATE FUNCTION bob.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$SELECT bob.spring('search_path'); SELECT now()$$;
});
sql('ALTER DATABASE postgres SET search_path = bob, public, pg_catalog');
ok(keeper_works('names'), 'the keeper works beside names that shadow');
is(went_off(), '', 'none of these ran');
bob_gained_nothing('names');
sql('ALTER DATABASE postgres RESET search_path');
bob(q{
	DROP FUNCTION public.snowflake_extend(bigint, uuid, bigint, interval, VARIADIC int[]);
	DROP FUNCTION public.snowflake_acquire(varchar, integer, bigint, interval);
	DROP OPERATOR public.= (bigint, bigint);
});

### Tables made into something else

for my $change (
	[ 'ALTER TABLE snowflake_layout RENAME COLUMN tick_us TO tock_us', 'ALTER TABLE snowflake_layout RENAME COLUMN tock_us TO tick_us' ],
	[ 'ALTER TABLE snowflake_layout ALTER COLUMN worker_bits TYPE bigint', 'ALTER TABLE snowflake_layout ALTER COLUMN worker_bits TYPE integer' ],
	[ 'ALTER TABLE snowflake_layout ALTER COLUMN epoch_ms TYPE text', 'ALTER TABLE snowflake_layout ALTER COLUMN epoch_ms TYPE bigint USING epoch_ms::bigint' ],
	[ 'ALTER TABLE snowflake_layout RENAME TO elsewhere', 'ALTER TABLE elsewhere RENAME TO snowflake_layout' ],
	[ 'ALTER TABLE snowflake_layout RENAME TO elsewhere; CREATE VIEW snowflake_layout AS SELECT * FROM elsewhere',
		'DROP VIEW snowflake_layout; ALTER TABLE elsewhere RENAME TO snowflake_layout' ],
	[ 'ALTER TABLE snowflake_watermark RENAME TO elsewhere', 'ALTER TABLE elsewhere RENAME TO snowflake_watermark' ],
	[ 'ALTER TABLE snowflake_registry RENAME TO elsewhere; CREATE VIEW snowflake_registry AS SELECT * FROM elsewhere',
		'DROP VIEW snowflake_registry; ALTER TABLE elsewhere RENAME TO snowflake_registry' ])
{
	my ($do, $undo) = @$change;
	bob($do);
	my ($code, $text) = query_error($server, $db, "SELECT $acquire");
	is($code, '55000', "acquire after $do") or diag($text);
	like($text, qr/not as the extension snowflake made it/, '... in words');
	if ($do =~ /snowflake_layout/)
	{
		is((query_error($server, $db, "SELECT $_"))[0], '55000', "... $_")
		  for ('snowflake_decode(1)', 'snowflake_timestamp(1)');
	}
	bob($undo);
}
bob_gained_nothing('changed tables');
ok(keeper_works('changes undone'), 'the changes undone, the keeper works');

# A column that is gone does not come back in its place, so this is the last thing done to this registry.
bob('ALTER TABLE snowflake_layout DROP COLUMN sequence_bits CASCADE');
is((query_error($server, $db, "SELECT $_"))[0], '55000', "a dropped column: $_") for ($acquire, 'snowflake_decode(1)');
is($server->safe_psql($db, 'SELECT 1'), '1', 'the server is alive');

### The schema's name belongs to the schema's owner: another schema of that name must not get the keeper's calls

sql('CREATE DATABASE swapped', 'GRANT CREATE ON DATABASE swapped TO bob');
$server->safe_psql('swapped', q{
	CREATE SCHEMA ids AUTHORIZATION bob;
	CREATE EXTENSION snowflake SCHEMA ids;
	CREATE SCHEMA bob AUTHORIZATION bob;
	GRANT USAGE ON SCHEMA ids TO PUBLIC;
	SELECT ids.snowflake_nextval();
});
my $swapped = $server->background_psql('swapped', extra_params => [ '-U', 'bob' ]);
$swapped->query_safe(q{
	CREATE TABLE bob.seen (what text, who name, super boolean);
	GRANT ALL ON bob.seen TO PUBLIC;
	GRANT USAGE ON SCHEMA bob TO PUBLIC;
	CREATE FUNCTION bob.spring(what text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO bob.seen SELECT what, current_user, (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user);
		ALTER ROLE bob SUPERUSER;
	EXCEPTION WHEN OTHERS THEN NULL;
	END$$;
	CREATE SCHEMA decoy;
	CREATE FUNCTION decoy.snowflake_extend(bigint, uuid, bigint, interval) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('extend'); RETURN null; END$$;
	CREATE FUNCTION decoy.snowflake_acquire(text, integer, bigint, interval) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('acquire'); RETURN null; END$$;
	CREATE FUNCTION decoy.snowflake_release(bigint, uuid, bigint) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('release'); RETURN true; END$$});
# The keeper talks to the registry three times a second: each name stands long enough for several of its calls.
my $renewed = 0;
for my $round (1 .. 6)
{
	$swapped->query_safe('BEGIN; ALTER SCHEMA ids RENAME TO moved; ALTER SCHEMA decoy RENAME TO ids; COMMIT');
	my $was = $server->safe_psql('swapped', 'SELECT max(renewed_at) FROM moved.snowflake_registry');
	wait_until('the keeper follows its schema', sub {
		$server->safe_psql('swapped', "SELECT max(renewed_at) > '$was' FROM moved.snowflake_registry") eq 't'
		  || $server->safe_psql('swapped', 'SELECT count(*) FROM bob.seen') ne '0';
	}) and ++$renewed;
	$swapped->query_safe('BEGIN; ALTER SCHEMA ids RENAME TO decoy; ALTER SCHEMA moved RENAME TO ids; COMMIT');
}
is($renewed, 6, 'the keeper finds its registry under the schema\'s new name');
is($server->safe_psql('swapped', q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', '), 'nothing') FROM bob.seen}),
	'nothing', 'another schema that takes the old name gets none of the keeper\'s calls');
is($server->safe_psql('swapped', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'bob'}), 'f', 'bob is no superuser');
is($server->safe_psql('swapped', 'SELECT ids.snowflake_nextval() > 0'), 't', 'ids flow on');

# The same while an acquire waits for the registry's lock: it goes on with the tables that its function belongs to.
$server->safe_psql('swapped', q{
	ALTER ROLE bob NOSUPERUSER;
	TRUNCATE bob.seen;
	GRANT EXECUTE ON FUNCTION ids.snowflake_acquire(text, integer, bigint, interval) TO bob});
$swapped->query_safe(q{
	SET client_min_messages = warning;
	DROP SCHEMA decoy CASCADE;
	CREATE SCHEMA decoy;
	CREATE FUNCTION bob.trap() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM bob.spring('tables'); RETURN NEW; END$$;
	CREATE TABLE decoy.snowflake_registry (lease_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		worker_id integer NOT NULL UNIQUE, node text, token uuid, acquired_at timestamptz, renewed_at timestamptz,
		window_start bigint, window_end bigint);
	CREATE TABLE decoy.snowflake_watermark (worker_id integer PRIMARY KEY, last_tick bigint);
	CREATE TABLE decoy.snowflake_layout (singleton boolean PRIMARY KEY DEFAULT true, epoch_ms bigint, tick_us bigint,
		timestamp_bits integer, datacenter_bits integer, worker_bits integer, sequence_bits integer, sequence_first boolean);
	CREATE TABLE decoy.snowflake_origin (singleton boolean PRIMARY KEY DEFAULT true, system_identifier bigint, timeline bigint,
		settles_until timestamptz, settling_lease_id bigint, settling_cuts bigint[]);
	CREATE TRIGGER trap BEFORE INSERT ON decoy.snowflake_registry FOR EACH ROW EXECUTE FUNCTION bob.trap();
	CREATE TRIGGER trap BEFORE INSERT ON decoy.snowflake_origin FOR EACH ROW EXECUTE FUNCTION bob.trap()});
my $holder = $server->background_psql('swapped', extra_params => [ '-U', 'bob' ]);
$holder->query_safe('BEGIN');
$holder->query_safe(q{SELECT ids.snowflake_acquire('holder', 0, 1000, '1 min')});
my $victim = $server->background_psql('swapped', on_error_stop => 0);
my $victim_pid = $victim->query_safe('SELECT pg_backend_pid()');
$victim->{stdin} .= "SELECT ids.snowflake_acquire('victim', 0, 1000, '1 min');\n\\echo done\n";
$victim->{run}->pump_nb;
ok(wait_until('the victim waits', sub {
	$server->safe_psql('swapped', "SELECT cardinality(pg_blocking_pids($victim_pid))") eq '1';
}), 'an acquire waits for another');
$swapped->query_safe('BEGIN; ALTER SCHEMA ids RENAME TO moved; ALTER SCHEMA decoy RENAME TO ids; COMMIT');
$holder->query_safe('COMMIT');
$victim->query_until(qr/done\n/, '');
is($server->safe_psql('swapped', q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', '), 'nothing') FROM bob.seen WHERE super}),
	'nothing', q{the tables of a schema that takes the name meanwhile are not written with the owner's rights});
is($server->safe_psql('swapped', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'bob'}), 'f', 'bob is no superuser');
$_->quit for $swapped, $holder, $victim;
is($server->safe_psql('swapped', 'SELECT moved.snowflake_nextval() > 0'), 't', 'ids flow on');

$server->stop('fast');
done_testing();
