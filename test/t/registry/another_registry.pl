# A node changes its registry while it runs, without a restart and without equal ids (G1): to
# another registry, back to its own tables, and to the first one again. Each time it acquires a
# lease from the new registry and releases the one of the old registry, while a client gets ids.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, $_) for qw(fleet second);
my $node = new_server('node', conf => "snowflake.lease_duration = 6s\nsnowflake.start_timeout = 2s\nsnowflake.registry = '" . at($registry, 'fleet') . "'\n");
start_server($node);
value($node, 'CREATE EXTENSION snowflake');

my $moving = start_clients($node, 1, 'COPY (SELECT snowflake_nextval() FROM generate_series(1, 200)) TO STDOUT;' . "\nSELECT pg_sleep(0.02);\n" x 20);
my $before = client_bytes($moving);
ok(wait_until('the load to run', sub { client_bytes($moving) > $before + 1000 }), 'a client takes ids throughout');
is(leases($registry, 'fleet'), '1', 'there is a lease at the first place');
setting($node, "snowflake.registry = '" . at($registry, 'second') . "'");
ok(wait_until('a lease at the new place', sub { leases($registry, 'second') == 1 }), 'a changed setting acquires a lease at the new place');
is(leases($registry, 'fleet'), '0', '... and releases the one at the old place');
ok(wait_until('the new lease in use', sub { status($node, 'lease_id') eq value($registry, "SELECT lease_id FROM $schema.snowflake_registry", 'second') }),
	'... which the node uses');
setting($node, "snowflake.registry = ''");
ok(wait_until('a local lease', sub { value($node, 'SELECT count(*) FROM snowflake_registry') eq '1' }), 'emptied, it acquires from itself');
is(leases($registry, 'second'), '0', '... and the other lease is back');
$before = client_bytes($moving);
ok(wait_until('the load to go on', sub { client_bytes($moving) > $before + 1000 }), 'ids went on');
setting($node, "snowflake.registry = '" . at($registry, 'fleet') . "'");
ok(wait_until('a lease at the first place', sub { leases($registry, 'fleet') == 1 }), 'and back to the first');
is(value($node, 'SELECT count(*) FROM snowflake_registry'), '0', '... with the local lease released');
$before = client_bytes($moving);
wait_until('the load to go on', sub { client_bytes($moving) > $before + 1000 });
stop_clients($moving);
my ($ids, $twice) = compare_ids(@{ $moving->{files} });
is($twice, 0, "of $ids ids of the moving node none was issued twice");
$node->stop('fast');
is(leases($registry, $_), '0', "nothing is leased from $_") for 'fleet', 'second';
$registry->stop('smart');
done_testing();
