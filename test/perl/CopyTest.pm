# What the tests of COPY share: a server; how often a statement called snowflake_nextval(), or the
# function that COPY evaluates in its place; and how a COPY wrote its rows, which the WAL shows.
package CopyTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($db $server $file $rows value calls count_calls ids_are_good written goes_in_many goes_in_one_by_one copied_rows finish);

our $db = 'postgres';
our $server;
# A file of that many numbers, each on a line.
our $rows = 300;
our $file;
my $copied_rows = 0;

# Starts the server, with the extension and the objects that the functions below use. If the library
# is not preloaded, each session loads it when it begins; otherwise its first COPY would insert rows
# one by one. Options: those of new_server.
sub start
{
	my ($name, %options) = @_;
	$server = new_server($name, streaming => 1, patient => 1, %options, conf => q{
log_statement = none
autovacuum = off
track_functions = all
session_preload_libraries = snowflake
max_worker_processes = 16
} . ($options{conf} // ''));
	start_server($server);
	$file = $server->basedir . '/rows';
	append_to_file($file, join('', map { "$_\n" } 1 .. $rows));
	die "SNOWFLAKE_TEST_C is not set\n" unless $ENV{SNOWFLAKE_TEST_C};
	value(q{
CREATE EXTENSION snowflake;
CREATE VIEW calls AS SELECT coalesce(sum(calls) FILTER (WHERE funcname = 'snowflake_nextval'), 0) AS nextval,
	coalesce(sum(calls) FILTER (WHERE funcname = 'snowflake_copy_nextval'), 0) AS copy_nextval
	FROM pg_stat_xact_user_functions;
CREATE TABLE probe (n int, id bigint DEFAULT snowflake_nextval());
CREATE FUNCTION planned(regclass, smallint, way text, like_copy boolean) RETURNS text LANGUAGE c AS 'TEST_C/planning';
-- Whether a default that is planned now, and as COPY plans them, would get what COPY evaluates.
CREATE FUNCTION way_is_open() RETURNS boolean LANGUAGE sql
	AS $$ SELECT planned('probe', 2::smallint, 'expression_planner', true) ~ 'NEXTVALUEEXPR' $$;
CREATE FUNCTION same(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION pair(bigint) RETURNS text LANGUAGE sql AS $$ SELECT $1 || '-' || $1 $$;
CREATE FUNCTION new_id() RETURNS bigint LANGUAGE sql AS 'SELECT snowflake_nextval()';
CREATE DOMAIN checked_id AS bigint CHECK (VALUE < snowflake_nextval());
-- Runs a command: in a statement's trigger, and in a row's for row 2.
CREATE FUNCTION run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_LEVEL = 'STATEMENT' OR NEW.n = 2 THEN EXECUTE TG_ARGV[0]; END IF;
	RETURN CASE TG_LEVEL WHEN 'ROW' THEN NEW END;
END $$} =~ s/TEST_C/$ENV{SNOWFLAKE_TEST_C}/r);
	return;
}

sub value { return $server->safe_psql($db, $_[0]); }

# SQL that runs `$sql` in one transaction and prints how often it called the function and COPY's
# function: "1|0".
sub count_calls
{
	my ($sql) = @_;
	return "SELECT pg_stat_force_next_flush() \\gset\nBEGIN;\n$sql;\nSELECT nextval, copy_nextval FROM calls;\nCOMMIT;\n";
}

sub calls { return value(count_calls($_[0])); }

# The number of rows copied and checked.
sub copied_rows { return $copied_rows += $_[0] // 0; }

# Checks that a table has so many rows and different ids, which rise with n. `$id` is an expression
# for the ids.
sub ids_are_good
{
	my ($table, $count, $name, $id) = @_;
	$id //= 'id';
	copied_rows($count);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(value("SELECT count(*), count(DISTINCT $id), count(*) FILTER (WHERE fall)"
				. " FROM (SELECT *, $id <= lag($id) OVER (ORDER BY n) AS fall FROM $table) t"),
		"$count|$count|0", "$name: $count rows, as many ids, rising in the order of the file");
}

# Runs SQL; returns how many WAL records inserted many rows into the tables, and how many inserted
# one.
sub written
{
	my ($sql, @tables) = @_;
	my $paths = join ', ', map {
		"(SELECT coalesce(nullif(reltablespace, 0), dattablespace) || '/' || d.oid || '/' || pg_relation_filenode(c.oid)"
		  . " FROM pg_class c, pg_database d WHERE c.oid = '$_'::regclass AND datname = current_database())"
	} @tables;
	# psql loses a line after a semicolon that follows the data of a COPY.
	my $end_of_sql = $sql =~ /\n\z/ ? '' : ";\n";
	my @out = split /\n/, value("SELECT pg_current_wal_insert_lsn();\n$sql${end_of_sql}SELECT pg_current_wal_flush_lsn(), $paths");
	my ($end, @files) = split /\|/, $out[-1];
	my ($many, $one) = (0, 0);
	for my $relation (@files)
	{
		my ($dump, $error) = run_command([ 'pg_waldump', '-p', $server->data_dir . '/pg_wal',
			'--start', $out[0], '--end', $end, '--relation', $relation ]);
		die "pg_waldump: $error" if $error ne '';
		$many += () = $dump =~ /rmgr: Heap2 .*desc: MULTI_INSERT/g;
		$one += () = $dump =~ /rmgr: Heap .*desc: INSERT/g;
	}
	return ($many, $one);
}

sub goes_in_many
{
	my ($name, $sql, @tables) = @_;
	my ($many, $one) = written($sql, @tables);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($many > 0 && $one == 0, "$name: many rows at a time") || diag("$many records of many rows, $one of one");
}

sub goes_in_one_by_one
{
	my ($name, $sql, $count, @tables) = @_;
	my ($many, $one) = written($sql, @tables);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok($many == 0 && $one == $count, "$name: one by one") || diag("$many records of many rows, $one of one");
}

sub finish
{
	$server->stop('immediate');
	figures('%d rows copied with ids', copied_rows()) if copied_rows();
	done_testing();
	return;
}

1;
