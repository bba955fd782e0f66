# A registry responds late, sometimes after the node has given up. The node uses only one worker id,
# because each request contains its lease secret, so a repeated request gets the same lease.
use strict;
use warnings;

use lib 'test/perl';
use Relay;
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $registry = make_registry('registry', conf => "listen_addresses = '127.0.0.1'\n");
open(my $hba, '>>', $registry->data_dir . '/pg_hba.conf') or die "pg_hba.conf: $!";
print $hba "host all node 127.0.0.1/32 trust\n";
close $hba;
$registry->reload;
my $relay = Relay->new($registry->port);
my $place = "host=127.0.0.1 port=$relay->{port} dbname=postgres user=node";
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 60s\n");

# A node that starts while responses are late.
sub begin_late
{
	my ($name, $command) = @_;
	$relay->tell($command);
	value($nodes, "CREATE DATABASE $name TEMPLATE base");
	value($nodes, "ALTER DATABASE $name SET snowflake.registry = '$place'");
	my ($state) = query_error($nodes, $name, q{SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()});
	is($state, 'SF001', "$name: no answer comes in time");
	return;
}

{
	# Only the response to the acquire itself comes later than the node waits.
	begin_late('late', 'hold lease_acquire(');
	ok(wait_until('a lease to be acquired', sub { value($registry, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/late'}) eq '1' }), 'a lease is acquired');
	ok(wait_until('the node to give up', sub { $relay->given_up > 0 }), '... and the node gives up waiting for the answer');
	my $unknown = value($registry, q{SELECT max(lease_id) FROM snowflake_registry WHERE node LIKE '%/late'});
	$relay->tell('pass');
	like($nodes->safe_psql('late', q{SET snowflake.start_timeout = '30s'; SELECT snowflake_nextval()}), qr/^\d+$/, '... asks again, and issues');
	is(value($registry, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/late'}), '1', '... under the one lease');
	is(value($registry, 'SELECT count(*) FROM snowflake_watermark'), '0', '... and none was released');
	is(value($nodes, 'SELECT leases_acquired_total FROM snowflake_metrics', 'late'), '1', '... which counts once');
	is(value($nodes, 'SELECT lease_id FROM snowflake_status', 'late'), $unknown, '... and is the one that nobody knew of');
	is(value($nodes, 'SELECT worker FROM snowflake_status', 'late'), value($registry, q{SELECT worker_id FROM snowflake_registry WHERE node LIKE '%/late'}), '... which is the one it has');
}
{
	begin_late('slow', 'delay 6');
	query_error($nodes, 'slow', q{SET snowflake.start_timeout = '15s'; SELECT snowflake_nextval()});
	cmp_ok(value($registry, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/slow'}), '<=', 1, '6 s for each answer: at most one lease');
	$relay->tell('pass');
	like($nodes->safe_psql('slow', q{SET snowflake.start_timeout = '30s'; SELECT snowflake_nextval()}), qr/^\d+$/, '... and ids when answers come in time');
	is(value($registry, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/slow'}), '1', '... under one lease');
	is(value($registry, 'SELECT count(*) FROM snowflake_watermark'), '0', '... and none was released');
}
is(value($registry, 'SELECT max(lease_id) - min(lease_id) FROM snowflake_registry'), '1', 'two leases were acquired in all');
$nodes->stop('immediate');
$relay->finish;
$registry->stop('immediate');
done_testing();
