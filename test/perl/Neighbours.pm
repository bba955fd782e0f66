# What the tests with other software share: a test is skipped if the software is not installed; and
# a different extension named snowflake.
package Neighbours;

use strict;
use warnings;

use Exporter 'import';
use Installation;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(value left_out_unless program_of is_available quiet write_theirs create_theirs is_another);

sub quiet { return "log_statement = none\nautovacuum = off\n"; }

sub value { my ($server, $sql, $dbname) = @_; return $server->safe_psql($dbname // 'postgres', $sql); }

# Ends the test if its software is not installed.
sub left_out_unless
{
	my ($there, $what, $how) = @_;
	return if $there;
	print { Test::More->builder->failure_output } "# skipped: $what, which is not installed; $how\n";
	plan skip_all => $what;
	return;
}

# The path of a program of one of Debian's packages, which is installed, or unpacked by test/run with
# the libraries that it needs. Ends the test without it.
sub program_of
{
	my ($package, $program) = @_;
	my $unpacked = $ENV{SNOWFLAKE_NEIGHBOURS} // '/nowhere';
	my ($path) = grep { -x } map { "$_/$program" } split(/:/, $ENV{PATH}), '/usr/sbin', "$unpacked/usr/bin", "$unpacked/usr/sbin";
	left_out_unless($path, $program, "apt-get install $package");
	$ENV{LD_LIBRARY_PATH} = join ':', glob("$unpacked/usr/lib/*-linux-gnu"), $ENV{LD_LIBRARY_PATH} // ();
	return $path;
}

# Whether an extension can be created, without asking a server.
sub is_available
{
	my ($extension) = @_;
	my ($sharedir) = run_command([ 'pg_config', '--sharedir' ]);
	return -e "$sharedir/extension/$extension.control";
}

# --------------------------------------------------------------------------------------------------
# pgEdge's snowflake has a library with the same file name, and two of its symbols have the names of
# two of ours. The following creates objects like its own, as they are after our library was
# installed over it.
# --------------------------------------------------------------------------------------------------

# Writes its script. With `missing`, like its own script: functions whose symbols our library lacks.
sub write_theirs
{
	my ($home, $missing) = @_;
	my $script = installed($home, 'sharedir') . '/extension/snowflake--2.4.sql';
	my $late = $missing ? '' : q{UPDATE pg_proc SET prosrc = 'snowflake_get_node' WHERE oid = 'snowflake.get_node(int8)'::regprocedure;};
	my $symbol = $missing ? 'snowflake_get_node' : 'snowflake_currval';
	unlink $script;
	append_to_file($script, <<"SQL");
CREATE SEQUENCE snowflake.id_seq;
CREATE FUNCTION snowflake.nextval(regclass DEFAULT 'snowflake.id_seq') RETURNS bigint AS 'MODULE_PATHNAME', 'snowflake_nextval' LANGUAGE C;
CREATE FUNCTION snowflake.currval(regclass DEFAULT 'snowflake.id_seq') RETURNS bigint AS 'MODULE_PATHNAME', 'snowflake_currval' LANGUAGE C;
CREATE FUNCTION snowflake.get_node(bigint) RETURNS integer AS 'MODULE_PATHNAME', '$symbol' LANGUAGE C;
$late
SQL
	return;
}

sub create_theirs { return q{CREATE SCHEMA IF NOT EXISTS snowflake; CREATE EXTENSION snowflake SCHEMA snowflake VERSION '2.4'}; }

# What our library says about it.
sub is_another
{
	return qr/this database has a different extension named snowflake.*DETAIL: .*schema "snowflake".*pgEdge.*HINT: .*DROP EXTENSION/s;
}

1;
