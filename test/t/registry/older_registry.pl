# A node works with a registry of before version 1.2, whose functions are fewer, and with one that has granted the older functions
# alone; one without all of either refuses it, and the error says so.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server(conf => "log_statement = none\n");
my $many = base_server('many', conf => "log_statement = none\n");

new_registry($registry, 'older', version => '1.1', granted => $older, schema => 'public');
new_node($many, 'newer', at($registry, 'older'), 'snowflake.lease_duration' => '1s');
lives('objects of 1.1', $many, 'newer', $registry, 'older');
new_registry($registry, 'reluctant', granted => $older, schema => 'public');
new_node($many, 'newer', at($registry, 'reluctant'), 'snowflake.lease_duration' => '1s');
lives('only the older functions granted', $many, 'newer', $registry, 'reluctant');
new_registry($registry, 'partly', granted => 'snowflake_lease_acquire, snowflake_lease_extend', schema => 'public');
new_node($many, 'refused', at($registry, 'partly'));
my ($state, $text) = query_error($many, 'refused', 'SELECT snowflake_nextval()');
is($state, 'SF001', 'some of the newer ones granted');
like($text, qr/permission denied for function snowflake_acquire/, '... is none of either');
value($registry, 'DROP EXTENSION snowflake', 'older');
new_node($many, 'nowhere', at($registry, 'older'));
($state, $text) = query_error($many, 'nowhere', 'SELECT snowflake_nextval()');
like($text, qr/SF001.*no extension snowflake/s, 'no extension');

$many->stop('fast');
$registry->stop('fast');
done_testing();
