# Three servers under load acquire leases from one registry, which preloads nothing. They have three
# worker ids and no equal ids (G1, sections 4 and 5 of the design), although clients roll back and
# connections are killed. Each server needs only one lease, for longer than a lease's duration.
#
# SNOWFLAKE_LOAD_SECONDS sets the duration of the load (5 by default, 15 in test/run --all).
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

seed();
my $load_seconds = $ENV{SNOWFLAKE_LOAD_SECONDS} // at_length(5, 15);
my $registry = registry_server();
new_registry($registry, 'fleet');
is(value($registry, 'SHOW shared_preload_libraries'), '', 'the registry preloads nothing');

my @nodes;
for my $i (1 .. 3)
{
	my $node = new_server("node_$i",
		conf => "snowflake.lease_duration = 6s\nsnowflake.start_timeout = 60s\nsnowflake.registry = '" . at($registry, 'fleet') . "'\nsnowflake.node_name = 'number $i'\n");
	start_server($node);
	value($node, 'CREATE EXTENSION snowflake');
	push @nodes, $node;
}
is(value($_, 'SELECT count(*) FROM snowflake_registry'), '0', 'no node leases from itself') for @nodes;
is(value($_, 'SELECT snowflake_nextval() > 0; SELECT count(*) FROM snowflake_layout'), "t\n1", 'but it keeps the layout') for @nodes;
my @first_end = map { status($_, 'window_end') } @nodes;

# Each connection gets ids, some of them in a transaction that is rolled back. Some connections are
# killed meanwhile.
my $script = q{
BEGIN;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 500)) TO STDOUT;
ROLLBACK;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 2000)) TO STDOUT;
SELECT snowflake_nextvals(200);
SELECT FROM pg_sleep(0.1);
} x 5;
my @loads = map { start_clients($_, 2, $script) } @nodes;
my $end = time() + $load_seconds;
my $killed = 0;
while (time() < $end || !$killed)
{
	sleep(0.3);
	$killed += value($_, q{SELECT count(pg_terminate_backend(pid)) FROM (
		SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
		ORDER BY random() LIMIT 1) victim}) for @nodes;
}
# However slow the machine is: 19 digits and a line end each.
my $enough = 10_000 * $load_seconds;
ok(wait_until('enough ids', sub { my $bytes = 0; $bytes += client_bytes($_) for @loads; $bytes > 1.1 * 20 * $enough }), 'ids flow on');
for my $i (0 .. 2)
{
	ok(wait_until('the first window to be over', sub { value($nodes[$i], "SELECT clock_timestamp() > '$first_end[$i]'") eq 't' }), '... for longer than the first window lasted');
}
my @workers = map { status($_, 'worker') } @nodes;
my %different = map { $_ => 1 } @workers;
is(scalar(keys %different), 3, "three nodes have three worker ids: @workers");
# A keeper that stands still for a moment is late.
my ($shown, $expected) = ('', join(', ', map { "$workers[$_ - 1] number $_ false false" } 1 .. 3));
wait_until('none to be late', sub {
	$shown = value($registry, "SELECT string_agg(worker || ' ' || node || ' ' || late || ' ' || expired, ', ' ORDER BY node) FROM $schema.snowflake_workers", 'fleet');
	return $shown eq $expected;
});
is($shown, $expected, 'snowflake_workers on the registry shows them');
stop_clients($_) for @loads;
for my $node (@nodes)
{
	my $error = q{leases_acquired_total || ' ' || coalesce(last_error, 'no error')};
	wait_until('no error', sub { status($node, $error) =~ /no error/ });
	is(status($node, $error), '1 no error', 'one lease was enough, for longer than it lasts');
}
my ($ids, $twice) = compare_ids(map { @{ $_->{files} } } @loads);
cmp_ok($ids, '>', $enough, "$ids ids");
is($twice, 0, 'none of them twice');
cmp_ok($killed, '>', 0, 'connections were killed meanwhile');
figures('%d ids of three nodes in %d s, %d connections killed, %d duplicates', $ids, $load_seconds, $killed, $twice);
$_->stop('fast') for @nodes;
$registry->stop('smart');
done_testing();
