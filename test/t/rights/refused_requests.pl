# A hostile node's role (G1, G4) requests from the registry what it may not have: transactions that
# stay open, clocks that are ahead, leases of a day, its own bounds, the operator's functions, the
# tables. Each request is refused with its own SQLSTATE, and the role has no more leases than it
# may. Two honest nodes of the same registry continue.

use strict;
use warnings;

use HonestNodes;
use Pipeline;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

HonestNodes::start();
my $tick = tick();

my $secret = q{'\x11111111111111111111111111111111'};
for my $case (
	[ 'a transaction block', "BEGIN; SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', sha256($secret), 0, NULL); COMMIT;", '25001' ],
	[ 'two statements at once', "SELECT 1 \\; SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', sha256($secret), 0, NULL);", '25001' ],
	[ 'a clock an hour ahead', "SELECT ids.snowflake_lease_acquire('x', 0, $tick + 3600000, '10 s', sha256($secret), 0, NULL);", 'SF002' ],
	[ 'a name of 250 MB', "SELECT ids.snowflake_lease_acquire(repeat('x', 250000000), 0, $tick, '10 s', sha256($secret), 0, NULL);", '22023' ],
	[ 'the secret instead of its hash', "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', $secret, 0, NULL);", '22023' ],
	[ 'more than a day', "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '25 h', sha256($secret), 0, NULL);", '22023' ],
	[ 'setting aside', 'SELECT ids.snowflake_set_aside(5);', '42501' ],
	[ 'evicting others', 'SELECT ids.snowflake_evict(1, now());', '42501' ],
	[ 'settling', q{SELECT ids.snowflake_settle('x');}, '42501' ],
	[ 'settled', 'SELECT ids.snowflake_settled();', '42501' ],
	[ 'reading leases', 'TABLE ids.snowflake_registry;', '42501' ],
	[ 'deleting leases', 'DELETE FROM ids.snowflake_registry;', '42501' ],
	[ 'raising its own bound', 'SELECT ids.snowflake_get_layout(); SET snowflake.max_leases_per_role = 0;', '42501' ])
{
	my ($what, $text, $wanted) = @$case;
	my (undef, $stderr) = run_as('hostile', "\\set VERBOSITY verbose\n$text");
	my ($state) = $stderr =~ /ERROR:\s+(\w{5}):/;
	is($state // 'none', $wanted, $what) or diag(substr($stderr, 0, 500));
}
# The statement after a call can still put the call's transaction into a transaction block.
my $call = "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', sha256($secret), 0, NULL)";
my $prepare = q{PREPARE TRANSACTION 'p'};
my $state_of = sub { return pipeline($registry, 'postgres', 'hostile', @_) };
is($state_of->('SELECT 1', 'BEGIN', $prepare), '00000', 'a transaction is prepared');
sql(q{ROLLBACK PREPARED 'p'});
is($state_of->($call, 'BEGIN', $prepare), '0A000', '... but not if it has acquired a lease');
is(sql('SELECT count(*) FROM pg_prepared_xacts'), '0', '... and there is none');
is($state_of->('BEGIN', $call, 'COMMIT'), '25001', 'statements sent at once are no way round, either');

# Before the library is loaded, every role can set everything.
my ($bounds) = run_as('hostile', "SET snowflake.max_leases_per_role = 0;\nSET snowflake.max_lease_duration = '1 d';\nSET snowflake.max_clock_skew = 0;\n"
	  . "SELECT ids.snowflake_get_layout() \\g /dev/null\nSHOW snowflake.max_leases_per_role;\nSHOW snowflake.max_lease_duration;\nSHOW snowflake.max_clock_skew;");
is($bounds, "16\n1h\n10s\n", 'bounds that it sets for itself are of no effect');
my ($window) = run_as('hostile', "SELECT window_end - window_start FROM ids.snowflake_lease_acquire('x', 0, $tick, '24 h', sha256($secret), 0, NULL);");
is($window, "10000\n", 'a day that was asked for begins with ten seconds');
($window) = run_as('hostile', 'SELECT e.window_end - a.window_start'
	  . " FROM ids.snowflake_lease_acquire('x', 0, $tick, '24 h', sha256($secret), 0, NULL) a,"
	  . " LATERAL ids.snowflake_lease_extend(a.lease_id, sha256($secret), a.window_start, '24 h', 0, 0, 0) e;");
is($window, "3600000\n", '... and is an hour at most');
# Of a lease in use, an extend is accepted although its clock is ahead.
($window) = run_as('hostile', join '', map {
	'SELECT e.window_end - (' . tick() . ') <= 3600000 + 10000 + 1'
	  . " FROM ids.snowflake_lease_acquire('x', 0, $tick, '1 h', sha256($secret), 0, NULL) a,"
	  . " LATERAL ids.snowflake_lease_extend(a.lease_id, sha256($secret), a.window_end - $_, '1 h', 0, 0, 0) e;\n"
} 120000, 60000, 20000);
is($window, "t\nt\nt\n", '... also by a clock that is an hour ahead');
my ($out) = run_as('hostile', "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '1 s', sha256(uuid_send(gen_random_uuid())), 0, NULL) \\g /dev/null\n" x 30);
is(sql(q{SELECT count(*) FROM ids.snowflake_registry r JOIN pg_roles o ON o.oid = r.role WHERE o.rolname = 'hostile'}), '16', 'and no role has more leases than it may');

honest_nodes_are_well();
done_testing();
