# What the tests of rights share: a server with ordinary roles, and the traps that they plant, which
# are functions that record the role that ran them, and try to make their owner a superuser. For the
# keeper, a registry whose tables belong to bob.
package Traps;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($server sql as_role state_is plant prepare went_off gained_nothing
  keeper_works give_tables_to_bob tables acquire new_keeper);

our $server;
my $db = 'postgres';

# Starts the server with the extension and the ordinary roles alice, bob and carol. Options: as for
# new_server.
sub start
{
	my ($name, %options) = @_;
	$server = new_server($name, %options);
	start_server($server);
	sql(q{
		CREATE EXTENSION snowflake;
		CREATE EXTENSION snowflake_convert;
		CREATE ROLE alice LOGIN;
		CREATE ROLE bob LOGIN;
		CREATE ROLE carol LOGIN IN ROLE alice, bob});
	prepare($db, 'alice', 'bob');
	return;
}

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
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is($state, $expected, $name) || diag($text);
}

sub plant
{
	my ($role, $sql, $database) = @_;
	my ($state, $text) = as_role($role, $sql, $database);
	die "$role could not plant: $text" if $state ne '00000';
	return;
}

# Creates a schema for each of the roles, with its name and the functions for traps. Traps write
# into traps.seen. Traps that are declared immutable can be used anywhere; checks use harmless()
# until it is replaced.
sub prepare
{
	my ($database, @roles) = @_;
	$server->safe_psql($database, join("\n", (map { "CREATE SCHEMA $_ AUTHORIZATION $_; GRANT USAGE ON SCHEMA $_ TO PUBLIC;" } @roles), q{
		CREATE SCHEMA traps;
		GRANT USAGE ON SCHEMA traps TO PUBLIC;
		CREATE TABLE traps.seen (what text, who name, super boolean);
		GRANT SELECT, INSERT ON traps.seen TO PUBLIC}));
	plant($_, springs($_), $database) for @roles;
	return;
}

sub springs
{
	my ($role) = @_;
	return qq{
		SET search_path = $role;
		CREATE FUNCTION note(what text) RETURNS void LANGUAGE sql AS
			'INSERT INTO traps.seen SELECT what, current_user, rolsuper FROM pg_catalog.pg_roles r
				WHERE rolname OPERATOR(pg_catalog.=) current_user AND NOT EXISTS (
					SELECT FROM traps.seen s WHERE s.what OPERATOR(pg_catalog.=) note.what
						AND who OPERATOR(pg_catalog.=) current_user AND super OPERATOR(pg_catalog.=) rolsuper)';
		CREATE FUNCTION spring(what text) RETURNS void LANGUAGE plpgsql AS \$\$
		BEGIN
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

# The traps that ran since the last call, and the roles that they ran as: an attack that never runs
# proves nothing.
sub went_off
{
	my ($database) = @_;
	return $server->safe_psql($database // $db, q{
		SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', ' ORDER BY what || ' as ' || who), '') FROM traps.seen;
		TRUNCATE traps.seen});
}

# Must be called before went_off(), which empties traps.seen.
sub gained_nothing
{
	my ($name, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($server->safe_psql($database // $db, q{SELECT coalesce(string_agg(DISTINCT what || ' as ' || who, ', '), 'nothing') FROM traps.seen WHERE super}),
		'nothing', "$name: nothing ran as a superuser");
	is(sql(q{SELECT coalesce(string_agg(rolname, ', '), 'nobody') FROM pg_roles WHERE rolsuper AND rolname IN ('alice', 'bob', 'carol')},
			map { "ALTER ROLE $_ NOSUPERUSER" } 'alice', 'bob', 'carol'), 'nobody', "$name: and nobody became one");
	return;
}

# --------------------------------------------------------------------------------------------------
# A registry whose tables belong to bob, and its keeper
# --------------------------------------------------------------------------------------------------

sub tables { return qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick); }
sub acquire
{
	return q{snowflake_lease_acquire('n', 0, 1000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL)};
}

# Short leases: the keeper extends three times a second. Bob may create in the registry's schema.
sub start_keeper
{
	my ($name) = @_;
	start($name, patient => 1, conf => "snowflake.lease_duration = 1s\nsnowflake.max_clock_skew = 0\n");
	sql('GRANT CREATE ON SCHEMA public TO bob', 'GRANT CREATE ON DATABASE postgres TO bob');
	return;
}

sub give_tables_to_bob { sql(map { "ALTER TABLE $_ OWNER TO bob" } tables()); return; }

# Ends the keeper, which releases its lease if it can. The next call starts another one.
sub new_keeper
{
	my $keeper = q{FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'postgres'};
	sql("SELECT pg_terminate_backend(pid) $keeper");
	return wait_until('the keeper ends', sub { sql("SELECT count(*) $keeper") eq '0' });
}

# Lets the keeper release (if it can), acquire and extend. Returns whether ids were issued and the
# window was extended.
sub keeper_works
{
	my ($what) = @_;
	new_keeper() or return 0;
	my ($state, $text) = query_error($server, $db, 'SELECT snowflake_nextval()');
	diag("$what: $text") if $state ne '00000';
	return $state eq '00000' && wait_until("$what: the window moves", sub {
		sql(q{SELECT count(*) FROM snowflake_registry WHERE extended_at > acquired_at}) >= 1;
	});
}

1;
