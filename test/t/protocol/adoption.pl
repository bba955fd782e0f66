# The registry adopts a lease that it does not know, as after a loss of commits, with the worker id
# and window start that its node names, and then settles. It does not adopt the lease if the worker
# id is leased, or was leased since the window began, or if the role already has as many leases as
# it may have.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = protocol_server('adoption');
my $session = registry($server, 0, 5);
my ($other) = acquire($session, 1000, '1 min');
my ($gone) = acquire($session, 1000, '1 min');
is((release($session, $gone, 1500))[1], 't', 'a lease that is released');
my $last = $session->query_safe('SELECT last_lease_id FROM snowflake_origin');
# Worker ids that were never leased: the ring starts at a random slot.
my ($free, $another) = map { ($gone->{worker} + $_) % 32 } 8, 9;
my $extend = sub {
	my ($id, $worker, $start, $held) = @_;
	return (try_sql($session, sprintf(q{SELECT window_end FROM snowflake_lease_extend(%d, sha256('%d'), 2000, '1 min', %d, %d, %d)}, $id, $id, $held // 5000, $worker, $start)))[1];
};
my $settles = sub { $session->query_safe('SELECT settles_until IS NOT NULL FROM snowflake_origin') };
is($extend->($last - 1, $other->{worker}, 1000), '', 'not if the worker id is leased');
is($extend->($last - 1, $gone->{worker}, 1000), '', '... nor if it was since the window began');
is($extend->($last - 1, $_, 1000), '', "... nor the worker id $_") for -1, 32;
is($extend->($last - 1, $free, 5000), '', '... nor without a window');
is($extend->($other->{id}, $free, 1000), '', '... nor with the number of another lease');
is($settles->(), 'f', '... and none of these tells of a loss');
is($extend->($last + 5, $free, 1000), '62000', 'a lease that the registry does not know is taken in again');
is($session->query_safe("SELECT worker_id, window_start, window_end, role = 'postgres'::regrole OR true FROM snowflake_registry WHERE lease_id = $last + 5"), "$free|1000|62000|t", '... as its node has it');
is($settles->(), 't', '... and the registry settles');
$session->query_safe('SELECT snowflake_settled(); SET snowflake.max_leases_per_role = 1');
is($extend->($last + 6, $another, 1000), '', '... not beyond what its role may have');
$session->quit;

$server->stop('fast');
done_testing();
