# What the tests of versions share: a server, the released versions of the extension, and databases
# with one of them.
package VersionsTest;

use strict;
use warnings;

use Exporter 'import';
use Installation;
use PostgreSQL::Test::Utils;
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($server $newest @released sql objects fresh create is_renewed stop);

our ($server, $newest, @released);

# The server has its own installation. While only one version exists, the next version is invented,
# so that upgrades are tested before there is one.
sub start
{
	my $home = own_installation();
	my $scripts = installed($home, 'sharedir') . '/extension';
	my @upgrades = glob "$scripts/snowflake--*--*.sql";
	make_next($scripts) if !@upgrades;
	$server = new_server('versions', patient => 1, home => $home,
		conf => "max_worker_processes = 40\nsnowflake.max_databases = 40\nsnowflake.lease_duration = '3s'\n");
	start_server($server);
	$newest = sql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'snowflake'});
	@released = split /\n/, sql('postgres',
		qq{SELECT version FROM pg_available_extension_versions WHERE name = 'snowflake' AND version <> '$newest' ORDER BY version});
	return;
}

# The content of an upgrade script: first the commands that may wait for readers, then the
# registry's tables.
sub make_next
{
	my ($scripts) = @_;
	my $control = "$scripts/snowflake.control";
	my ($version) = slurp_file($control) =~ /^default_version = '(.*)'$/m;
	append_to_file("$scripts/snowflake--$version--next.sql", q{
		SET LOCAL lock_timeout = '10s';
		CREATE FUNCTION snowflake_next() RETURNS bigint AS 'MODULE_PATHNAME', 'snowflake_currval' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
		COMMENT ON FUNCTION snowflake_next() IS 'something new';
		CREATE OR REPLACE VIEW snowflake_layouts AS SELECT *, name AS next FROM snowflake_get_layouts();
		ALTER TABLE snowflake_segment ADD COLUMN next bigint NOT NULL DEFAULT 0;
		ALTER TABLE snowflake_registry ADD COLUMN next bigint NOT NULL DEFAULT 0;
		SELECT snowflake_make_guards();});
	append_to_file($control, "default_version = 'next'\n");
	return;
}

sub sql { my ($dbname, @statements) = @_; return $server->safe_psql($dbname, join(";\n", @statements)); }

sub objects { return object_facts($server, @_); }

# What CREATE EXTENSION creates now, in a database "fresh".
sub fresh
{
	sql('postgres', 'CREATE DATABASE fresh');
	sql('fresh', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids');
	return objects('fresh');
}

# Databases that have this version.
sub create
{
	my ($version, @dbnames) = @_;
	for my $dbname (@dbnames)
	{
		sql('postgres', "CREATE DATABASE $dbname");
		sql($dbname, 'CREATE SCHEMA ids', "CREATE EXTENSION snowflake SCHEMA ids VERSION '$version'",
			"ALTER DATABASE $dbname SET search_path = ids, public",
			'CREATE TABLE public.item (id bigint PRIMARY KEY DEFAULT ids.snowflake_nextval(), n int)');
		is(sql($dbname, q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake'}), $version, "$dbname has version $version");
	}
	return;
}

sub is_renewed
{
	my ($dbname, $name) = @_;
	my $renewed = sql($dbname, 'SELECT max(extended_at) FROM ids.snowflake_registry');
	return ok(wait_until('the window to be moved', sub {
		sql($dbname, "SELECT max(extended_at) > '$renewed' FROM ids.snowflake_registry") eq 't'
	}), "$name: the keeper moves the window");
}

# Checks the log at the end.
sub stop
{
	unlike(slurp_file($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
	$server->stop('fast');
	return;
}

1;
