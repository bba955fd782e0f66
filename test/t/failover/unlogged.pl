# The tables of a registry were SET UNLOGGED and are empty after a crash, while nodes still use the
# leases that the tables contained. After SET LOGGED the registry notices the loss by itself and
# settles, before a node names its lease. No worker id of a running node is acquired.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $registry = make_registry('registry');
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 1min\n");
my @nodes = map { begin_node($nodes, "node_$_", place($registry)) } 1 .. 4;
value($registry, 'ALTER TABLE snowflake_registry SET UNLOGGED; ALTER TABLE snowflake_watermark SET UNLOGGED');
$registry->stop('immediate');
# No node calls the registry before the tables are logged again and others have acquired leases.
my $rules = "local all node reject\n" . PostgreSQL::Test::Utils::slurp_file($registry->data_dir . '/pg_hba.conf');
my $hba = sub { open(my $file, '>', $registry->data_dir . '/pg_hba.conf') or die; print $file $_[0]; close $file or die; };
$hba->($rules);
$registry->start;
value($registry, 'ALTER TABLE snowflake_registry SET LOGGED; ALTER TABLE snowflake_watermark SET LOGGED');
is(value($registry, 'SELECT count(*) FROM snowflake_registry'), '0', 'the leases are gone');
my %held = map { $_ => 1 } map { value($nodes, 'SELECT worker FROM snowflake_status', $_->{name}) } @nodes;
value($registry, 'CREATE ROLE other LOGIN; GRANT node TO other');
my @acquired = acquire_leases($registry, 8, role => 'other');
is(scalar(@acquired), 8, 'others acquire');
is(scalar(grep { $held{$_} } @acquired), 0, "... no worker id of a live node: @acquired");
is(value($registry, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', 'the registry settles');
$hba->($rules =~ s/^local all node reject\n//r);
$registry->reload;
ok(ids_flow($_), "$_->{name} issues") for @nodes;
all_different('after the crash', @nodes);
none_twice('nodes of a registry whose tables were emptied', @nodes);
$_->stop('immediate') for $nodes, $registry;
done_testing();
