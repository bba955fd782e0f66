# A registry whose server issues no ids has a keeper as soon as a node calls it. So planned
# switchovers lose nothing and hold nothing back: ten in a row, with 32 worker ids and nodes that
# acquire some of them in between. On PostgreSQL 15 and 16 the server must preload the library for
# this. Otherwise the registry settles, and segments skip numbers.
# Not in the default run: it starts some 300 processes.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $keepers = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'};
my $primary = make_registry('one', preload => undef, conf => "wal_keep_size = 256MB\n");
my $standby = standby_of($primary, 'two');
is(value($primary, $keepers), '0', 'a registry that nobody has asked has no keeper');

my (%held, $refused);
for my $n (1 .. 10)
{
	# Several of its sessions call at the same time: only one keeper starts.
	my @acquired = eval { acquire_leases($primary, 3) };
	$refused = $@, last if @acquired != 3;
	$held{$_}++ for @acquired;
	ok(wait_until('the keeper', sub { value($primary, $keepers) eq '1' }), "$n: the registry that was asked has a keeper");
	$primary->stop('fast');
	$standby->promote;
	is(value($standby, 'SELECT clean_at IS NOT NULL FROM snowflake_origin'), 't', '... which leaves the mark of a clean shutdown');
	($primary, $standby) = ($standby, $primary);
	ok(follow($standby, $primary), '... and the old primary follows');
}
is($refused, undef, 'worker ids can be had after each');
is(scalar(keys %held), 30, '... and all are different');
unlike(PostgreSQL::Test::Utils::slurp_file($_->logfile), qr/SF004|held back/, 'nothing was ever held back on ' . $_->name) for $primary, $standby;

# A failover before the first call of a node. The clean shutdown after it does not hide the
# failover.

acquire_leases($primary, 1);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
$primary->stop('immediate');
$standby->promote;
# A call that is rolled back starts the keeper and records nothing.
my $acquire = q{snowflake_lease_acquire('n', 0, } . node_tick() . q{, '10 s', sha256('n'), 0, NULL)};
is((query_error($standby, 'postgres', "SELECT 1 / ($acquire IS NULL)::integer"))[0], '22012', 'after a failover the first call is rolled back');
ok(wait_until('the keeper', sub { value($standby, $keepers) eq '1' }), '... and brings the keeper');
$standby->stop('fast');
start_server($standby);
is(value($standby, 'SELECT clean_at IS NOT NULL FROM snowflake_origin'), 't', '... which marks the clean shutdown');
acquire_leases($standby, 1);
is(value($standby, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', '... and yet the registry settles');
$standby->stop('fast');

# Without a state block there is no keeper, and no mark.

if ($primary->pg_version < 17)
{
	my $bare = make_registry('bare', conf => "wal_keep_size = 256MB\n");
	value($bare, q{SELECT snowflake_create_segment('ticket', step => 10, max_step => 10)});
	my $range = q{SELECT range_last[1] FROM snowflake_segment_ranges('n', '{ticket}', '{0}', '{0}', '{0}', '{10}', ARRAY[sha256('n')])};
	my $next = standby_of($bare, 'next');
	acquire_leases($bare, 1);
	is(value($bare, $range), '10', 'a registry without a state block serves nodes');
	is(value($bare, $keepers), '0', '... without a keeper');
	$bare->stop('fast');
	$next->promote;
	is(value($next, 'SELECT clean_at IS NULL FROM snowflake_origin'), 't', '... so a clean shutdown leaves no mark');
	acquire_leases($next, 1);
	is(value($next, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', '... and the registry settles after a planned switchover');
	cmp_ok(value($next, $range), '>', 20, '... and leaves numbers of segments out');
	$next->stop('fast');
}
done_testing();
