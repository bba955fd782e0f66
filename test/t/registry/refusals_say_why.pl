# A node that gets no lease says why, in the words of the registry (section 5 of the design): a database without the extension, a
# host that is not there, and a ring of which every worker id is leased.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, 'filled');
value($registry, 'CREATE DATABASE bare');
my $many = base_server('many', conf => "snowflake.lease_duration = 6s\n");

new_node($many, 'without', at($registry, 'bare'));
ok(wait_until('the refusal', sub { (query_error($many, 'without', 'SELECT snowflake_nextval()'))[1] =~ /SF001.*no extension snowflake/s }),
	'a database without the extension: SF001, and why');
new_node($many, 'astray', 'host=/nowhere dbname=x user=node');
ok(wait_until('the refusal', sub { (query_error($many, 'astray', 'SELECT snowflake_nextval()'))[1] =~ m{SF001.*/nowhere}s }),
	'a registry that cannot be reached: SF001, and where');

my $taken = value($registry, qq{
	SELECT count(DISTINCT worker) FROM (SELECT ($schema.snowflake_acquire('n' || i, 0, $now_tick, '1 hour')).worker_id AS worker FROM generate_series(1, 1024) i) q}, 'filled');
is($taken, '1024', '1,024 leases have 1,024 worker ids');
new_node($many, 'one_too_many', at($registry, 'filled'));
my ($state, $text) = query_error($many, 'one_too_many', 'SELECT snowflake_nextval()');
is($state, 'SF004', 'the 1,025th node gets SF004');
like($text, qr/All 1024 worker ids are leased.*ends at 20/s, '... with when the next one will be free');
is(status($many, q{state || ' ' || last_error_code}, 'one_too_many'), 'no lease SF004', 'snowflake_status says so');
value($registry, "SELECT $schema.snowflake_release(lease_id, token, window_start) FROM $schema.snowflake_registry LIMIT 1", 'filled');
ok(flows($many, 'one_too_many'), 'with one given back, ids flow');
$many->stop('fast');
$registry->stop('smart');
done_testing();
