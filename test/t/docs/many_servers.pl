# Runs the recipe of doc/many-servers.md from the file, with a registry and two servers that use it.
# Their ids are different, and the registry shows both.

use strict;
use warnings;

use Pages;
use SnowflakeTest;
use Test::More;

my $page = 'doc/many-servers.md';
my $quiet = "log_statement = none\nautovacuum = off\n";
my $registry = new_server('registry', preload => 0, conf => $quiet);
start_server($registry);
$registry->safe_psql('postgres', 'CREATE DATABASE ids');
$registry->safe_psql('ids', block_of($page, 'CREATE ROLE snowflake_node'));

# The page's host names do not exist here.
my $tell = block_of($page, 'ALTER SYSTEM SET snowflake\.registry');
my $place = sprintf 'host=%s port=%d', $registry->host, $registry->port;
$tell =~ s/host=registry1,registry2/$place/ or die "$page: no hosts to be others\n";
my @nodes = map { new_server($_, preload => 1, patient => 1, conf => "${quiet}cluster_name = $_\n") } 'berlin', 'paris';
my %ids;
for my $node (@nodes)
{
	start_server($node);
	$node->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n integer)');
	# ALTER SYSTEM cannot run in a transaction block.
	my ($status, undef, $err) = $node->psql('postgres', $tell, on_error_stop => 1);
	is($err, '', $node->name . ' is told where its registry is');
	ok(wait_until('the setting', sub { $node->safe_psql('postgres', 'SHOW snowflake.registry') =~ /dbname=ids/ }), '... and reads it');
	$node->safe_psql('postgres', 'INSERT INTO item (n) SELECT generate_series(1, 10000)');
	++$ids{$_} for split /\n/, $node->safe_psql('postgres', 'SELECT id FROM item');
	my ($id, $seen) = split /\n/, $node->safe_psql('postgres', block_of($page, 'SELECT state, worker, last_error'));
	like($seen, qr/^issuing\|\d+\|$/, '... it issues');
	like($id, qr/^\d{18,}$/, '... ids');
	is($node->safe_psql('postgres', 'SELECT advice FROM snowflake_status'), '', '... and has no advice');
}
is(scalar(keys %ids), 20000, '20000 ids of two servers, all different');
my @shown;
# A keeper that stands still for a moment is late.
wait_until('none to be late', sub { @shown = split /\n/, $registry->safe_psql('ids', block_of($page, 'FROM snowflake_workers')); return 2 == grep { /\|f\|f$/ } @shown });
is(scalar(@shown), 2, 'the registry shows both');
like(join("\n", sort @shown), qr/^\d+\|\S*$_\S*\|snowflake_node\|f\|f$/m, "... $_ among them") for 'berlin', 'paris';
isnt((split /\|/, $shown[0])[0], (split /\|/, $shown[1])[0], '... with different worker ids');
$_->stop('fast') for @nodes, $registry;
done_testing();
