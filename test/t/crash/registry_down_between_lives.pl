# The registry is unavailable while a node is shut down and started again. The node keeps the lease
# that it could not release: ids are issued with the first call, under the same lease, which
# continues when the registry is back. If the lease is gone by then, the node acquires another one.
# If the registry may have received the release, the lease ends, even if the answer was lost (G1).
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use lib 'test/perl';
use IdsTest qw(remember remembered repeated);
use KillTest;
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my ($registry, $relay, $place) = distant_registry();
my $node = new_node('node', place => $place, patient => 1, conf => "snowflake.lease_duration = 1min\n");
my $highest = 0;

# The first call after a start, and a thousand ids more: all above the previous ids.
sub go_on
{
	my ($what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $call = first_call($node);
	is($call->{error}, undef, "$what: the first call gets an id");
	return $call if $call->{error};
	my @ids = remember($call->{id}, split /\n/, value($node, 'SELECT snowflake_nextvals(1000)'));
	is(scalar(grep { $_ <= $highest } @ids), 0, '... above all before');
	$highest = $ids[-1];
	return $call;
}

# Longer than the following restarts without a registry.
sub window_of_20_s
{
	return wait_until('a window of 20 s', sub { lease_row($registry, 'window_end > ' . node_tick() . ' + 15000') eq 't' });
}

sub moves
{
	my ($what) = @_;
	my $end = lease_row($registry, 'window_end');
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return ok(wait_until('the window to move', sub { lease_row($registry, 'window_end') > $end }), $what);
}

my @faults = (
	[ 'a server that is gone', sub { $registry->stop('fast') }, sub { $registry->start } ],
	[ 'a network that is gone', sub { $relay->tell('drop') }, sub { $relay->tell('pass forgotten') } ],
	[ 'a host that hangs', sub { $relay->tell('stall') }, sub { $relay->tell('pass forgotten') } ],
);

go_on('at first');
for my $fault (@faults)
{
	my ($name, $begin, $end) = @$fault;
	subtest "$name between two lives" => sub {
		ok(window_of_20_s(), 'the window is long enough');
		my $lease = value($node, 'SELECT worker, lease_id FROM snowflake_status');
		my $row = lease_row($registry, 'worker_id, lease_id, acquired_at');
		$begin->();
		$node->stop('fast');
		$node->start;
		my $call = go_on('with no registry');
		is("$call->{worker}|$call->{lease}", $lease, '... under the same lease');
		is("$call->{waits}|$call->{acquired}", '0|0', '... which nobody waited for');
		is(value($node, 'SELECT since_registry_answer_seconds IS NULL, since_extension_seconds >= 0 FROM snowflake_metrics'), 't|t', '... nor extended since');
		$end->();
		is(lease_row($registry, 'worker_id, lease_id, acquired_at'), $row, 'the registry has the same row');
		moves('... and back again moves the window of the lease');
		is(lease_row($registry, 'worker_id, lease_id'), $lease, '... which is the only one');
		go_on('later');
		is(status($node, 'worker, lease_id, leases_acquired_total'), "$lease|0", '... under it still');
	};
}

subtest 'its lease is gone when the registry is back' => sub {
	ok(window_of_20_s(), 'the window is long enough');
	my $lease = value($node, 'SELECT lease_id FROM snowflake_status');
	$relay->tell('drop');
	$node->stop('fast');
	$node->start;
	is(go_on('with no registry')->{lease}, $lease, '... under the same lease');
	is(value($registry, 'DELETE FROM snowflake_registry RETURNING lease_id'), $lease, 'its owner deletes it');
	$relay->tell('pass forgotten');
	ok(wait_until('another lease', sub { value($node, 'SELECT leases_acquired_total FROM snowflake_metrics') eq '1' }), 'another lease is acquired');
	isnt(go_on('then')->{lease}, $lease, '... under another lease');
	is(lease_row($registry, 'worker_id, lease_id'), value($node, 'SELECT worker, lease_id FROM snowflake_status'), '... which is the only one');
};

for my $what (qw(hold cut))
{
	subtest "the answer to its release is lost: $what" => sub {
		my ($lease, $heard);
		# A slow keeper gives up before it has sent its request, and keeps the lease.
		for my $try (1 .. 5)
		{
			$lease = value($node, 'SELECT lease_id FROM snowflake_status');
			$relay->tell("$what lease_release(");
			$node->stop('fast');
			for (1 .. 30) { last if $heard = lease_row($registry, 'count(*)') eq '0'; sleep(0.1); }
			last if $heard;
			$relay->tell('pass forgotten');
			$node->start;
			go_on("after try $try");
		}
		ok($heard, 'the registry has the lease back');
		$relay->tell('drop');
		$node->start;
		my ($state, $error) = query_error($node, 'postgres', "SET snowflake.start_timeout = '3s'; SELECT snowflake_nextval()");
		is($state, 'SF001', 'with no registry there is no id');
		$relay->tell('pass forgotten');
		ok(wait_until('an id', sub { ($node->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'with the registry there is one, ...');
		isnt(go_on('then')->{lease}, $lease, '... under another lease');
		is(lease_row($registry, 'lease_id'), value($node, 'SELECT lease_id FROM snowflake_status'), '... which is the only one');
	};
}

is(repeated(), 0, 'of ' . remembered() . ' ids of all lives none was issued twice (G1)');
$node->stop('fast');
is(lease_row($registry, 'count(*)'), '0', 'a clean stop with the registry releases the lease');
$relay->finish;
$registry->stop('fast');
done_testing();
