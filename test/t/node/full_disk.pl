# The disk of a node is full, and its registry is on another server. Calls return ids and the lease
# is extended, because neither writes anything. A statement that writes rows fails, as without the
# extension, and the server ends. When there is room again, ids continue under the same lease.
use strict;
use warnings;

use lib 'test/perl';
use FullDisk;
use NodesTest;
use SnowflakeTest;
use Test::More;

my $disk = FullDisk->new or plan skip_all => 'no compiler for the shim that fills the disk';
my $registry = registry_server();
new_registry($registry, 'fleet');
my $node = new_server('node', preload => 1, patient => 1, conf => sprintf("log_statement = none\nautovacuum = off\nwal_level = minimal\nmax_wal_senders = 0\nsnowflake.registry = '%s'\nsnowflake.lease_duration = %ds\n", at($registry, 'fleet'), 6 * slowness()));
$node->{snowflake_disk} = $disk;
start_server($node);
value($node, 'CREATE EXTENSION snowflake; CREATE TABLE kept (id bigint DEFAULT snowflake_nextval(), n int)');
ok(flows($node), 'ids flow');
my $lease = status($node, 'lease_id');
my ($before) = take($node, 1);

# Otherwise reading prunes pages, or marks them as visible to all, which the WAL writer writes.
value($node, 'VACUUM FREEZE');
value($node, 'CHECKPOINT');
$disk->fill;
my @during = take($node, 1000);
cmp_ok($during[0], '>', $before, 'ids flow with a full disk');
ok(moves($node), '... and the lease is extended');
is(status($node, q{state, coalesce(last_error, 'no error')}), 'issuing|no error', '... without an error');
isnt((query_error($node, 'postgres', 'INSERT INTO kept (n) SELECT generate_series(1, 100000)'))[0], '00000', 'rows cannot be written');

ok(wait_until('its end', sub { !-e $node->data_dir . '/postmaster.pid' }), '... and the server ends');
$node->_update_pid(0);
$disk->empty;
start_server($node);
ok(flows($node), 'ids flow when there is room again');
my ($after) = take($node, 1);
cmp_ok($after, '>', $during[-1], '... in order');
is(status($node, 'lease_id'), $lease, '... under the same lease');
is(taken_twice(), 0, 'no id was issued twice');

$node->stop('fast');
$registry->stop('fast');
done_testing();
