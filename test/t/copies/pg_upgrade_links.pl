# pg_upgrade --link: the new server uses the old server's files, and everything is unchanged
# (section 4 of the design). t/copies/pg_upgrade tests, with copies, what no table's file contains:
# layouts and schemas. A node on another server, whose registry is upgraded, keeps its lease (G1).
# Not in the default run: pg_upgrade of many databases.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old();
start_nodes();
my $linked = upgrade_target('linked', preload => 0);
my @names = qw(branch crashed shop);
make_databases(@names, 'far');
make_node('distant', '5min', place('far', $linked, $old));
flows('distant', 'distant, under the old server');
my $distant = sql($nodes, 'distant', 'SELECT lease_id FROM snowflake_status');
my $before = stopped_state(@names);
my $link_ms = pg_upgrade($linked, '--link');
$linked->append_conf('postgresql.conf', preloading());
start_server($linked);
flows('distant', 'distant, under the new server');
is(sql($nodes, 'distant', 'SELECT lease_id FROM snowflake_status'), $distant, 'a lease outlived an upgrade by links');
check_upgraded($linked, $_, $before->{$_}, 'linked') for @names;
check_shop($linked, 'linked');

stop_clients($clients{distant});
my ($ids, $twice) = compare_ids(@{ $clients{distant}{files} });
is($twice, 0, "none of $ids ids under the registry that was upgraded was given twice");
figures('%s: %d databases; pg_upgrade by links %.1f s, %d calls of nodes refused meanwhile; %d ids, %d duplicates',
	$versions, @names + 1, $link_ms / 1e3, refused_calls(), $ids, $twice);
unlike(slurp_file($_->logfile), qr/terminated by signal|PANIC|TRAP/, $_->name . ': nothing crashed') for $linked, $nodes;
$_->stop('fast') for $linked, $nodes;
done_testing();
