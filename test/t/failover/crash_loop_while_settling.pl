# A registry that crashes every few seconds while it settles has settled when it has run for as long
# as settling lasts, no sooner and not much later. Then its worker ids are used again.
#
# Time passes on the server's clocks at once, so each life lasts for at least three seconds.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my ($lease_s, $skew_s, $life_s) = (15, 2, 3);
my $settling_s = $lease_s + 2 * $skew_s;
my $registry = make_registry('registry', clock => 1, conf => "snowflake.max_clock_skew = ${skew_s}s\nsnowflake.lease_duration = ${lease_s}s\n");

sub settles { return value($registry, 'SELECT settling_left_us > 0 FROM snowflake_origin') eq 't'; }

# One node extends its lease, and others acquire one, as long as there are any.
sub call
{
	my $extended = value($registry, sprintf(q{SELECT e.window_end FROM snowflake_registry r, snowflake_lease_extend(r.lease_id, r.secret_hash, %s, '%d s',
		r.window_end, r.worker_id, r.window_start) e WHERE node = 'steady'}, node_tick(), $lease_s));
	my ($code, $error) = query_error($registry, 'postgres', sprintf(q{SELECT snowflake_lease_acquire('other', 0, %s, '%d s', sha256(uuid_send(gen_random_uuid())), 0, NULL)},
		node_tick(), $lease_s));
	die $error if $code ne '00000' && $code ne 'SF004';
	return $extended ne '';
}

value($registry, sprintf(q{SELECT snowflake_lease_acquire('steady', 0, %s, '%d s', sha256('steady'), 0, NULL)}, node_tick(), $lease_s));
my $began = time();
value($registry, q{SELECT snowflake_settle('restored')});
is(value($registry, 'SELECT settling_us FROM snowflake_origin'), $settling_s * 1_000_000, 'the registry settles for a lease and twice what clocks may differ by');

my ($lives, $ran_s, $extended) = (0, 0, 1);
while (settles() && $lives < 3 * $settling_s / $life_s)
{
	$lives++;
	$extended &&= call();
	let_pass($registry, $life_s);
	$extended &&= call();
	$ran_s += $life_s + time() - $began;
	$registry->stop('immediate');
	# What passes until the next start does not count.
	let_pass($registry, 60);
	$began = time();
	start_server($registry);
}
ok(!settles(), 'a registry that crashes while it settles has settled at last');
cmp_ok($ran_s, '>=', $settling_s, '... not before it has run for that long');
# Each life counts for at least what has passed between its calls.
cmp_ok($lives, '<=', $settling_s / $life_s + 1, "... and after $lives lives of $life_s s or more");
ok($extended, '... in which a node could always extend its lease');
let_pass($registry, $lease_s);
is(scalar(acquire_leases($registry, 32)), 32, '... and all worker ids can be had again');
figures('%d crashes while the registry settled for %d s, after which it had run for %.1f s', $lives, $settling_s, $ran_s);
$registry->stop('immediate');
done_testing();
