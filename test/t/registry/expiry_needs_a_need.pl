# A lease expires only if no other worker id is free. Leases expire one at a time, and by the
# earlier of two clocks. An acquire with a clock that is a day ahead takes only the one worker id
# that it needs.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $day_ms = 86_400_000;
sub leases { return value($_[0], 'SELECT count(*) FROM snowflake_registry'); }

### A registry that does not compare clocks

{
	my $registry = make_registry('registry', conf => "snowflake.max_clock_skew = 0\n");
	my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 30s\n");
	my @nodes = map { begin_node($nodes, "node_$_", place($registry)) } 1 .. 6;
	# All nodes but the last have ended since.
	is(scalar(acquire_leases($registry, 25, duration => '1 s')), 25, '31 of 32 worker ids are out');
	my $rows = value($registry, q{SELECT string_agg(worker_id::text, ' ' ORDER BY worker_id) FROM snowflake_registry WHERE node LIKE '%/node%'});
	is(scalar(acquire_leases($registry, 1, ahead => $day_ms)), 1, 'a node a day ahead acquires the last one');
	is(leases($registry), '32', '... and no lease expires');
	is(value($registry, q{SELECT string_agg(worker_id::text, ' ' ORDER BY worker_id) FROM snowflake_registry WHERE node LIKE '%/node%'}), $rows, '... of a node');
	ok(wait_until('one of those to end', sub { value($registry, 'SELECT count(*) >= 1 FROM snowflake_registry WHERE window_end <= ' . node_tick()) eq 't' }), 'windows end');
	is(scalar(acquire_leases($registry, 1, ahead => $day_ms)), 1, 'another one acquires that of a lease that has ended');
	is(leases($registry), '32', '... which it needs, and no more');
	is(value($registry, q{SELECT string_agg(worker_id::text, ' ' ORDER BY worker_id) FROM snowflake_registry WHERE node LIKE '%/node%'}), $rows, '... those of nodes are theirs');
	ok(wait_until('all of those to end', sub { value($registry, 'SELECT count(*) FROM snowflake_registry WHERE window_end <= ' . node_tick()) eq '24' }), 'the other windows end');
	acquire_leases($registry, 24, ahead => $day_ms);
	is(value($registry, q{SELECT count(*) FROM snowflake_registry WHERE window_end > } . node_tick()), '32', 'when nothing that has ended is left');
	is(scalar(acquire_leases($registry, 1, ahead => 2 * $day_ms)), 0, '... nobody acquires any, whatever the clock');
	ok(ids_flow($_), "$_->{name} goes on") for @nodes;
	all_different('a clock ahead', @nodes);
	none_twice('nodes beside one with a clock a day ahead', @nodes);
	$_->stop('immediate') for $nodes, $registry;
}

### A registry in the node's own database, so both have the same clock

{
	my $server = new_server('own', clock => 1, conf => "snowflake.lease_duration = 1min\nsnowflake.start_timeout = 10s\n");
	start_server($server);
	value($server, 'CREATE EXTENSION snowflake; ' . small_layout() . '; SELECT snowflake_nextval()');
	value($server, 'CREATE ROLE node LOGIN; GRANT EXECUTE ON FUNCTION snowflake_lease_acquire TO node');
	acquire_leases($server, 20, duration => '1 min');
	my $before = value($server, q{SELECT string_agg(lease_id || ':' || worker_id, ' ' ORDER BY lease_id) FROM snowflake_registry WHERE node = 'acquired'});
	move_clock($server, 86_400);
	# After a reboot it acquires a new lease.
	$server->stop('immediate');
	lose_box($server);
	start_server($server);
	like(value($server, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'with the clock a day ahead the node acquires again');
	is(value($server, q{SELECT string_agg(lease_id || ':' || worker_id, ' ' ORDER BY lease_id) FROM snowflake_registry WHERE node = 'acquired'}), $before,
		'... and nobody else has lost anything: worker ids were free');
	move_clock($server, 0);
	$server->stop('immediate');
}
done_testing();
