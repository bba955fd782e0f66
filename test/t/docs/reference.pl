# doc/reference.md is what test/reference prints, wherever the extension is and whoever owns it. If
# it is not, the test shows the difference and the command that corrects the page.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $page = 'doc/reference.md';
my $server = new_server('server', preload => 0);
start_server($server);
$server->safe_psql('postgres', q{
	CREATE ROLE owner SUPERUSER; SET ROLE owner;
	CREATE SCHEMA "Other schema"; CREATE EXTENSION snowflake SCHEMA "Other schema"; CREATE EXTENSION snowflake_convert SCHEMA "Other schema"});

# What test/reference prints for the database's present state, and its errors.
sub printed
{
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ 'test/reference', $server->connstr('postgres') ], '>', \$out, '2>', \$err);
	return ($ok ? $out : undef, $err);
}

my ($new, $err) = printed();
is($err, '', 'test/reference prints a page');
my $file = "$PostgreSQL::Test::Utils::tmp_check/reference.md";
append_to_file($file, $new // '');
my $differences = '';
IPC::Run::run([ 'diff', '-u', $page, $file ], '>', \$differences);
ok($differences eq '', "$page is what it prints") or diag("$differences\ncp $file $page\n");

my @long = grep { length > 100 && !/^\|/ } split /\n/, $new // '';
is(join("\n", @long), '', 'outside of tables no line has more than 100 characters');

$server->safe_psql('postgres', q{
	CREATE FUNCTION "Other schema".snowflake_new() RETURNS integer LANGUAGE sql AS 'SELECT 1';
	COMMENT ON FUNCTION "Other schema".snowflake_new() IS 'Returns 1.';
	ALTER EXTENSION snowflake ADD FUNCTION "Other schema".snowflake_new()});
is((printed())[1], "test/reference has no section for snowflake_new()\n", 'a function without a place on the page is an error');

$server->stop('fast');
done_testing();
