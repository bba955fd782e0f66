# If the library's file is removed before the extension is dropped, doc/installing.md says what
# fails, how a session begins in spite of a setting that names the file, and how the extension is
# dropped without the file.

use strict;
use warnings;

use lib 'test/perl';
use Installation;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $home = own_installation();
my $server = new_server('lost', home => $home, preload => 0);
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE EXTENSION snowflake_convert; CREATE SCHEMA shop;
	CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval()); INSERT INTO item VALUES (7)');
$server->safe_psql('postgres', q{CREATE DATABASE locked; CREATE ROLE "a role" SUPERUSER LOGIN; ALTER DATABASE locked SET session_preload_libraries = 'snowflake';
	ALTER ROLE "a role" SET session_preload_libraries = 'auto_explain, snowflake'; ALTER ROLE "a role" IN DATABASE locked SET snowflake.start_timeout = '1s';
	ALTER ROLE ALL SET snowflake.start_timeout = '2s'; ALTER ROLE ALL IN DATABASE postgres SET work_mem = '8MB'});
for my $library (map { installed($home, 'pkglibdir') . "/$_.so" } qw(snowflake snowflake_convert))
{
	unlink $library or die "$library: $!";
}
sub fails
{
	my ($sql, $library) = @_;
	my ($state, $text) = query_error($server, 'postgres', $sql);
	is($state, '58P01', "$sql fails");
	like($text, qr/could not access file "(?:\$libdir\/)?\Q$library\E"/, '... and names the file');
	return;
}
fails($_, 'snowflake') for 'DROP SCHEMA shop', 'DROP OWNED BY CURRENT_USER', 'DROP EXTENSION plpgsql', 'DROP EXTENSION snowflake CASCADE';
fails($_, 'snowflake_convert') for 'CREATE TABLE none ()', 'CREATE SCHEMA none';

my @settings = ([ locked => 'postgres' ], [ postgres => 'a role' ]);
# A session that does not begin reads no standard input.
sub enter { my ($dbname, $role) = @_; local $ENV{PGUSER} = $role; return system_log('psql', '-X', '-d', $server->connstr($dbname), '-c', 'SELECT 1'); }
isnt(enter(@$_), 0, "no session begins: @$_") for @settings;
{
	my ($option) = slurp_file('doc/installing.md') =~ /`PGOPTIONS='([^']+)' psql`/ or die "no options\n";
	local $ENV{PGOPTIONS} = $option;
	is(enter(@$_), 0, "... but with the page's options: @$_") for @settings;
	my @statements = map { (split /\|/)[1] } split /\n/, $server->safe_psql('locked', block_of('doc/installing.md', 'pg_db_role_setting'));
	is(scalar(@statements), 4, 'the page finds the settings');
	$server->safe_psql('locked', join '', @statements);
}
is(enter(@$_), 0, "... and without them: @$_") for @settings;
is($server->safe_psql('postgres', 'SELECT unnest(setconfig) FROM pg_db_role_setting'), 'work_mem=8MB', '... and nothing else is removed');

$server->safe_psql('postgres', block_of('doc/installing.md', '_snowflake_guard_drop DISABLE'));
is($server->safe_psql('postgres', "SELECT extname FROM pg_extension WHERE extname LIKE 'snowflake%'"), '', 'the extensions are dropped without the file');
is($server->safe_psql('postgres', 'CREATE TABLE made (); DROP SCHEMA shop; SELECT id FROM item'), '7', '... rows stay, and commands work again');
$server->stop('fast');
done_testing();
