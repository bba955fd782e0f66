# While a client is connected, a command that needs the database for itself fails as it would
# without a keeper. The keeper stays and keeps its lease, so a command that cannot succeed
# interrupts no ids (section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use SnowflakeTest;
use Test::More;

DatabaseTest::start('connected');

create_database('d3');
my $client = $server->background_psql('d3');
$client->query_safe('SELECT snowflake_nextval()');
my $keeper = keepers('d3');
isnt($keeper, '', 'd3 has a keeper');
for my $sql ('DROP DATABASE d3', 'ALTER DATABASE d3 RENAME TO d4', 'CREATE DATABASE d4 TEMPLATE d3')
{
	is((query_error($server, 'postgres', $sql))[0], '55006', "with a client connected: $sql fails");
	is(keepers('d3'), $keeper, '... the keeper stays');
	like($client->query_safe('SELECT snowflake_nextval()'), qr/^\d+$/, '... and ids flow on');
}
is(leases('d3'), '1', 'it is still the one lease');
is($server->safe_psql('d3', 'SELECT leases_acquired_total FROM snowflake_metrics'), '1', '... the first');
$client->quit;
succeeds('postgres', 'DROP DATABASE d3', 'd3');

finish();
