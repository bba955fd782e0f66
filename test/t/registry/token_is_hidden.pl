# A node does not show its token to anybody: who looks at the registry's sessions while a call waits, or reads its log when one
# fails, finds the call and its parameters' places, and no token.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;
# What the server's tests log is not what a server logs by itself.
my $registry = registry_server(conf => "log_statement = none\n");
my $many = base_server('many', conf => "log_statement = none\n");

new_registry($registry, 'quiet', schema => 'public');
new_node($many, 'secret', at($registry, 'quiet'), 'snowflake.lease_duration' => '3s');
my $seen = sub { value($registry, q{SELECT string_agg(query, ' ') FROM pg_stat_activity WHERE usename = 'node'}) };

# A call that waits can be looked at.
my $holder = $registry->background_psql('quiet');
$holder->query_safe('BEGIN; LOCK TABLE snowflake_origin IN ACCESS EXCLUSIVE MODE');
my ($state) = query_error($many, 'secret', q{SET snowflake.start_timeout = '100 ms'; SELECT snowflake_nextval()});
is($state, 'SF001', 'the registry is held up');
my $query = '';
ok(wait_until('the acquire', sub { ($query = $seen->()) =~ /snowflake_lease_acquire\(/ }), 'an acquire waits');
like($query, qr/snowflake_lease_acquire\(\$1/, '... with parameters');
unlike($query, $uuid, '... and no token in its text');
ok(wait_until('the acquire to fail', sub { last_error($many, 'secret') =~ /lock timeout/ }), '... until it fails');
$holder->query_safe('ROLLBACK');
ok(flows($many, 'secret'), 'ids flow');

my $token = value($registry, 'SELECT token FROM snowflake_registry', 'quiet');
like($token, $uuid, 'there is a token');
$holder->query_safe('BEGIN; SELECT FROM snowflake_registry FOR UPDATE');
ok(wait_until('the extend', sub { ($query = $seen->()) =~ /snowflake_lease_extend\(/ }), 'an extend waits');
unlike($query, $uuid, '... and no token in its text');
ok(wait_until('the extend to fail', sub { last_error($many, 'secret') =~ /lock timeout/ }), '... until it fails');
$holder->query_safe('ROLLBACK');
$holder->quit;
ok(flows($many, 'secret'), 'ids flow');
value($many, 'DROP DATABASE secret');
my $log = slurp_file($registry->logfile);
like($log, qr/STATEMENT: .*snowflake_lease_acquire\(\$1.*STATEMENT: .*snowflake_lease_extend\(\$1/s, 'the log has the statements that failed');
unlike($log, $uuid, '... and no token');

$many->stop('fast');
$registry->stop('fast');
done_testing();
