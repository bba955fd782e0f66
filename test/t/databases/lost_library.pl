# If the library's file is removed before the extension is dropped, doc/installing.md says what
# fails, and how the extension is dropped without the file.

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
$server->safe_psql('postgres', block_of('doc/installing.md', '_snowflake_guard_drop DISABLE'));
is($server->safe_psql('postgres', "SELECT extname FROM pg_extension WHERE extname LIKE 'snowflake%'"), '', 'the extensions are dropped without the file');
is($server->safe_psql('postgres', 'CREATE TABLE made (); DROP SCHEMA shop; SELECT id FROM item'), '7', '... rows stay, and commands work again');
$server->stop('fast');
done_testing();
