# What the tests of versions share: a server, the versions of the extension that were released, and databases that have one of them.
package VersionsTest;

use strict;
use warnings;

use Exporter 'import';
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($server $newest @released sql objects fresh create is_renewed stop);

our ($server, $newest, @released);

sub start
{
	$server = new_server('versions', conf => "max_worker_processes = 40\nsnowflake.max_databases = 40\nsnowflake.lease_duration = '3s'\n");
	start_server($server);
	$newest = sql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'snowflake'});
	@released = split /\n/, sql('postgres',
		qq{SELECT version FROM pg_available_extension_versions WHERE name = 'snowflake' AND version <> '$newest' ORDER BY version});
	return;
}

sub sql { my ($dbname, @statements) = @_; return $server->safe_psql($dbname, join(";\n", @statements)); }

sub objects { return object_facts($server, @_); }

# What CREATE EXTENSION makes today, in a database "fresh".
sub fresh
{
	sql('postgres', 'CREATE DATABASE fresh');
	sql('fresh', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids');
	return objects('fresh');
}

# Databases that have it.
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
	my $renewed = sql($dbname, 'SELECT max(renewed_at) FROM ids.snowflake_registry');
	return ok(wait_until('the window to be moved', sub {
		sql($dbname, "SELECT max(renewed_at) > '$renewed' FROM ids.snowflake_registry") eq 't'
	}), "$name: the keeper moves the window");
}

# Looks at the log at the end.
sub stop
{
	unlike(PostgreSQL::Test::Utils::slurp_file($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
	$server->stop('fast');
	return;
}

1;
