# Shared memory has slots for snowflake.max_databases databases. One database more gets an error
# that says so, and no ids. The slot of a dropped database is used again (section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('places', preload => 1, patient => 1, conf => "snowflake.max_databases = 2\n");
start_server($server);
for my $dbname ('a', 'b', 'c')
{
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	$server->safe_psql($dbname, 'CREATE EXTENSION snowflake');
}
$server->safe_psql($_, 'SELECT snowflake_nextval()') for 'a', 'b';

my ($code, $text) = query_error($server, 'c', q{SET snowflake.start_timeout = '5s'; SELECT snowflake_nextval()});
is($code, 'SF001', 'more databases than snowflake.max_databases');
like($text, qr/snowflake\.max_databases/, '... and why');
is($server->safe_psql('c', 'SELECT state FROM snowflake_status'), 'no lease', '... whose status can be read');
like($server->safe_psql('c', 'SELECT advice FROM snowflake_status'), qr/^no ids are issued: too many databases .*Raise snowflake\.max_databases/, '... with advice');

$server->safe_psql('postgres', 'DROP DATABASE b');
like($server->safe_psql('c', 'SELECT snowflake_nextval()'), qr/^\d+$/,
	'the place of a dropped database is used again');
$server->stop('fast');
done_testing();
