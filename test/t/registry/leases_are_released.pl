# A node releases a lease that it no longer needs at once, so the lease does not have to expire
# (G8). It does so when its extension is dropped, and when its server shuts down cleanly, in every
# registry. A watermark remains. It is no lower than the last id, and no further ahead than a clock
# may be.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $registry = registry_server(conf => "snowflake.max_clock_skew = 10s\n");
new_registry($registry, $_) for qw(fleet other);
my $many = base_server('many', conf => "snowflake.lease_duration = 60s\n");
new_node($many, $_, at($registry, 'fleet')) for qw(dropped stopped);
new_node($many, 'stopped_too', at($registry, 'other'));

ok(flows($many, $_), "$_: ids flow") for qw(dropped stopped stopped_too);
take($many, 10, $_) for qw(dropped stopped stopped_too);
my $lease_id = status($many, 'lease_id', 'dropped');
value($many, 'DROP EXTENSION snowflake', 'dropped');
ok(wait_until('the lease to be released', sub { value($registry, "SELECT count(*) FROM $schema.snowflake_registry WHERE lease_id = $lease_id", 'fleet') eq '0' }),
	'a node whose extension is dropped releases its lease');
ok(wait_until('the log', sub { slurp_file($many->logfile) =~ /released worker id \d+, lease $lease_id\n/ }), '... itself, and not by expiry');

my $held = leases($registry, 'fleet');
my ($worker, $last) = split /\|/, value($many, 'SELECT worker, snowflake_nextval() FROM snowflake_status', 'stopped');
my $log = -s $many->logfile;
my $since = time();
$many->stop('fast');
my $took = time() - $since;
cmp_ok($took, '<', 30 * slowness(), 'a clean shutdown waits for nothing');
figures('a clean shutdown of two nodes: %.1f s', $took);
cmp_ok(leases($registry, 'fleet'), '<', $held, '... and deletes the row');
is(value($registry, "SELECT count(*) FROM $schema.snowflake_workers WHERE NOT expired", 'fleet'), '0', '... all of them');
is(leases($registry, $_), '0', "nothing is leased from $_") for 'fleet', 'other';
is(value($registry, "SELECT $schema.snowflake_tick_timestamp(last_tick) >= $schema.snowflake_timestamp($last) AND "
		  . "$schema.snowflake_tick_timestamp(last_tick) < clock_timestamp() + '10.1 s' FROM $schema.snowflake_watermark WHERE worker_id = $worker", 'fleet'),
	't', 'the watermark is no less, and no more than a clock may be off');
like(slurp_file($many->logfile, $log), qr/released worker id $worker/, 'the log says so');
$registry->stop('smart');
done_testing();
