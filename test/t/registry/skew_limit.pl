# The registry's server sets how far a node's clock may differ (section 10 of the design): in
# postgresql.conf, for a database or for a role. A node's role cannot change the limit: not by SET,
# before or after the library is loaded, not by ALTER ROLE, and not by an option of its connection.
#
# A connection that takes longer than the limit is no clock that is off.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use Relay;
use SnowflakeTest;
use Test::More;

my $registry = registry_server(conf => "listen_addresses = '127.0.0.1'\n");
append_to_file($registry->data_dir . '/pg_hba.conf', "host all node 127.0.0.1/32 trust\n");
new_registry($registry, 'skews');
my $ask = sub {
	my ($seconds, $first) = @_;
	my ($code, $error) = as_role($registry, 'skews', 'node', ($first // '')
		  . "; SELECT $schema.snowflake_lease_acquire('n', 0, $now_tick + $seconds * 1000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL)");
	return $code . ($error =~ /max_clock_skew is (\d+) ms/ ? " $1" : '');
};
is($ask->(9), '00000', '9 s pass the default');
is($ask->(12), 'SF002 10000', '12 s do not');
for my $call ("acquire('n', 0, $now_tick + 12000, '1 min', sha256('s'), 0, NULL)",
	"extend(1, sha256('s'), $now_tick + 12000, '1 min', 0, 0, 0)", "release(1, uuid_send(gen_random_uuid()), $now_tick + 12000, 0)")
{
	my ($code, $error) = as_role($registry, 'skews', 'node', "SELECT $schema.snowflake_lease_$call");
	like("$code $error", qr/^SF002 .*HINT:  Set the clock right on the server where it is wrong\./s, '... nor in ' . $call =~ s/\(.*//r);
}
setting($registry, q{snowflake.max_clock_skew = '3s'});
ok(wait_until('the setting', sub { $ask->(9) eq 'SF002 3000' }), 'the limit from postgresql.conf');
value($registry, q{ALTER DATABASE skews SET snowflake.max_clock_skew = '4s'});
is($ask->(9), 'SF002 4000', '... from ALTER DATABASE');
value($registry, q{ALTER ROLE node SET snowflake.max_clock_skew = '5s'});
is($ask->(9), 'SF002 5000', '... from ALTER ROLE');
is($ask->(9, 'SET snowflake.max_clock_skew = 0'), 'SF002 5000', 'a node cannot lift it by SET');
is($ask->(9, "SELECT $schema.snowflake_get_layout(); SET snowflake.max_clock_skew = 0"), '42501', '... before or after the library is loaded');
is((as_role($registry, 'skews', 'node', 'ALTER ROLE node SET snowflake.max_clock_skew = 0'))[0], '42501', '... nor by ALTER ROLE');
{
	local $ENV{PGOPTIONS} = '-c snowflake.max_clock_skew=0';
	like($ask->(12), qr/^SF002/, '... nor by an option of its connection');
	local $TODO = 'an option of the connection that is refused when the library is loaded brings back the default of 10 s';
	is($ask->(9), 'SF002 5000', '... which leaves the limit as it was set');
}
value($registry, q{ALTER ROLE node SET snowflake.max_clock_skew = 0});
is($ask->(3600), '00000', '0: not judged at all');

# Each answer comes after 2 s: an acquire is sent after 6 s, and an extend after 4 s.
value($registry, q{ALTER ROLE node SET snowflake.max_clock_skew = '3s'});
my $relay = Relay->new($registry->port);
my $nodes = base_server('nodes', conf => "snowflake.start_timeout = 60s\nsnowflake.lease_duration = 20s\n");
new_node($nodes, 'far', "host=127.0.0.1 port=$relay->{port} dbname=skews user=node sslmode=disable gssencmode=disable");
$relay->tell('delay 2');
like(value($nodes, 'SELECT snowflake_nextval()', 'far'), qr/^\d+$/, 'a node with a slow connection has a lease');
ok(moves($nodes, 'far'), '... whose window moves');
# An exchange may fail for want of time, if the machine stands still for seconds.
unlike(slurp_file($nodes->logfile), qr/the registry refused|clock is off/, '... and nothing was refused');
$nodes->stop('fast');
$relay->finish;
$registry->stop('fast');
done_testing();
