# After pg_upgrade, the old server runs beside the new one (G1). Nodes of other servers acquire
# leases from the old registry after the upgrade, and then continue with the new registry, which
# does not know these leases. Both servers issue ids at the same time, in one database as two nodes
# of a registry on another server, in another database each with its own registry, of which the new
# one settles. No id is issued twice under one registry. It needs 5 s of processor time for initdb and
# pg_upgrade.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old(patient => 1);
start_nodes();
my $copied = upgrade_target('copied', preload => 1, patient => 1);
make_databases(qw(branch fleet shop));
# One node's lease survives the upgrade, the other node's lease does not.
make_node('steady', '5min', place('fleet', $copied, $old));
make_node('hasty', '2s', place('fleet', $copied, $old));
flows($_, "$_, under a registry on the old server") for 'hasty', 'steady';
my $before = stopped_state('branch', 'shop');
pg_upgrade($copied);

### The old server runs on: the new server does not know the leases that the old one assigns now

start_server($old);
is_deeply(state_of($old, $_), $before->{$_}, "$_: pg_upgrade left the old server as it was") for sort keys %$before;
make_node('late', '60s', place('fleet', $copied, $old));
flows('late', 'a node acquired a lease from the old server after the upgrade');
flows($_, "$_, under the old server again") for 'steady', 'hasty';
take('fleet', $old, 'fleet', 'public', 300);
$old->stop('fast');

### The copy

my $leases = sql($nodes, 'steady', 'SELECT lease_id FROM snowflake_status');
start_server($copied);
check_upgraded($copied, $_, $before->{$_}, 'copied') for sort keys %$before;
flows($_, "$_, under the registry on the new server") for 'steady', 'hasty', 'late';
take('fleet', $copied, 'fleet', 'public', 300);
is(sql($nodes, 'steady', 'SELECT lease_id FROM snowflake_status'), $leases, 'a lease outlived the upgrade');
ok(wait_until('a worker id of its own', sub { sql($nodes, 'late', "SELECT last_error IS NULL AND worker <> $_ FROM snowflake_status") eq 't' }),
	"another node has another worker id than $_")
  for sql($nodes, 'steady', 'SELECT worker FROM snowflake_status'), sql($nodes, 'hasty', 'SELECT worker FROM snowflake_status'),
  sql($copied, 'fleet', 'SELECT worker FROM snowflake_status');

### Both at the same time: two nodes of one registry on another server; a registry on each, of which
### the new one settles

start_server($old);
for my $round (1 .. 10)
{
	take('branch', $_, 'branch', 'public', 500) for $old, $copied;
	take('shop', $old, 'shop', 'public', 100);
	take('shop', $copied, 'shop', 'public', 100);
}
is(duplicates('branch'), 0, 'the old server and the new one issue at once under one registry: no id of ' . @{ $issued{branch} } . ' twice');
is(duplicates('shop'), 0, 'under a registry each, while the new one settles: none of ' . @{ $issued{shop} });
isnt(sql($old, 'branch', 'SELECT worker FROM snowflake_status'), sql($copied, 'branch', 'SELECT worker FROM snowflake_status'), 'they have a worker id each');

stop_clients($_) for values %clients;
append_to_file("$folder/fleet", join("\n", @{ $issued{fleet} }, ''));
my ($ids, $twice) = compare_ids("$folder/fleet", map { @{ $_->{files} } } values %clients);
is($twice, 0, "none of $ids ids under the registry that was upgraded was given twice");
figures('%s: %d calls of nodes refused while pg_upgrade ran; %d ids under an upgraded registry, %d duplicates', $versions, refused_calls(), $ids, $twice);

unlike(slurp_file($_->logfile), qr/terminated by signal|PANIC|TRAP/, $_->name . ': nothing crashed') for $copied, $nodes;
$_->stop('fast') for $old, $copied, $nodes;
done_testing();
