# A node that gets no lease, or cannot extend or release its lease, reports the reason in the
# registry's own words (section 5 of the design): the database lacks the extension, the host does
# not exist, its role may not execute a function, or every worker id of the ring is leased.
# Not in the default run: it causes each advice.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use ProtocolTest qw(lease_function);
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, 'filled');
value($registry, 'CREATE DATABASE bare');
my $many = base_server('many', conf => "snowflake.lease_duration = 6s\n");

new_node($many, 'without', at($registry, 'bare'));
ok(wait_until('the refusal', sub { (query_error($many, 'without', 'SELECT snowflake_nextval()'))[1] =~ /SF001.*no extension snowflake/s }),
	'a database without the extension: SF001, and why');
new_node($many, 'astray', 'host=/nowhere dbname=x user=node');
ok(wait_until('the refusal', sub { (query_error($many, 'astray', 'SELECT snowflake_nextval()'))[1] =~ m{SF001.*/nowhere}s }),
	'a registry that cannot be reached: SF001, and where');

# A missing grant, for each of the three functions.
my @functions = map { "snowflake_lease_$_" } qw(acquire extend release);
for my $forgotten (@functions)
{
	my $granted = join(', ', grep { $_ ne $forgotten } @functions);
	new_registry($registry, $forgotten, granted => $granted);
	new_node($many, "node_$forgotten", at($registry, $forgotten));
}
# A call may give up before the keeper's first answer.
my ($state, $text);
sub says
{
	my ($db, $pattern) = @_;
	return wait_until('the answer', sub { ($state, $text) = query_error($many, $db, 'SELECT snowflake_nextval()'); return $text =~ $pattern });
}
says('node_snowflake_lease_acquire', qr/permission denied/);
is($state, 'SF001', 'a role that may not acquire: SF001');
like($text, qr/permission denied for function snowflake_lease_acquire/, '... and why');
ok(flows($many, 'node_snowflake_lease_extend'), 'one that may not extend has a lease');
my $end = status($many, 'window_end', 'node_snowflake_lease_extend');
ok(wait_until('the refusal', sub {
	last_error($many, 'node_snowflake_lease_extend') =~ /permission denied for function snowflake_lease_extend/
}), '... whose window cannot be moved, and why');
ok(flows($many, 'node_snowflake_lease_release'), 'one that may not release has one');
my $log = -s $many->logfile;
value($many, 'DROP DATABASE node_snowflake_lease_release');
ok(wait_until('the refusal', sub {
	slurp_file($many->logfile, $log) =~ /permission denied for function snowflake_lease_release/
}), '... which cannot be released, and why');
is(leases($registry, 'snowflake_lease_release'), '1', '... and stays');

my @acquire = map { "SELECT worker_id, lease_id, secret, window_start FROM pg_temp.lease('n$_', $now_tick, '1 hour');" } 1 .. 1024;
my @taken = map { [ split /\|/ ] } split /\n/, value($registry, join("\n", lease_function($schema), @acquire), 'filled');
my %different = map { $_->[0] => 1 } @taken;
is(scalar(keys %different), 1024, '1,024 leases have 1,024 worker ids');
new_node($many, 'one_too_many', at($registry, 'filled'));
says('one_too_many', qr/worker ids are leased/);
is($state, 'SF004', 'the 1,025th node gets SF004');
like($text, qr/All 1024 worker ids are leased.*ends at 20/s, '... with when the next one will be free');
value($registry, 'CREATE ROLE limited LOGIN; ALTER ROLE limited SET snowflake.max_leases_per_role = 1');
value($many, 'CREATE ROLE nobody LOGIN');
new_registry($registry, 'limits', roles => 'limited');
new_node($many, 'first', at($registry, 'limits', 'limited'));
ok(flows($many, 'first'), 'a role that may have one lease has it');
new_node($many, 'second', at($registry, 'limits', 'limited'));
says('second', qr/too many leases/);
like($text, qr/too many leases for role "limited"/, '... and the next node is told why it gets none');
my (undef, $told) = as_role($many, 'second', 'nobody', 'SELECT snowflake_nextval()');
like($told, qr/SF001.*the registry refused$/ms, '... but a role without rights is not told the name of the role');
is((as_role($many, 'second', 'nobody', 'SELECT last_error FROM snowflake_status'))[2], 'the registry refused', '... nor by the view');
is(status($many, q{state || ' ' || last_error_code}, 'one_too_many'), 'no lease SF004', 'snowflake_status says so');
my (undef, $lease, $secret, $start) = @{ $taken[0] };
value($registry, "SELECT $schema.snowflake_lease_release($lease, '$secret', $start, 0)", 'filled');
ok(flows($many, 'one_too_many'), 'with one released, ids flow');
ok(wait_until('SF001', sub {
	(query_error($many, 'node_snowflake_lease_extend', 'SELECT snowflake_nextval()'))[0] eq 'SF001'
}), 'without a right to extend ids end with the window');
is(status($many, 'window_end', 'node_snowflake_lease_extend'), $end, '... which has not moved');
$many->stop('fast');
$registry->stop('smart');
done_testing();
