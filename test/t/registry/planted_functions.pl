# A node calls the extension's own functions, whatever other functions of these names its registry's
# database contains. Other roles' functions that would match a call better are not called. If
# PostgreSQL cannot tell a function from the extension's, the node stops.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server(conf => "log_statement = none\n");
my $many = base_server('many', conf => "log_statement = none\n");
value($registry, 'CREATE ROLE mallory LOGIN');

new_registry($registry, 'hijacked', schema => 'public');
value($registry, 'GRANT CREATE ON SCHEMA public TO mallory; CREATE TABLE caught (who name); GRANT INSERT ON caught TO PUBLIC', 'hijacked');
my $body = q{RETURNS bigint LANGUAGE sql AS $$ INSERT INTO public.caught VALUES (current_user); SELECT 1::bigint $$};
my @planted = map { "CREATE FUNCTION public.snowflake_$_ $body" } (
	'lease_acquire(text, int, bigint, text)',
	'lease_acquire(text, int, bigint, text, text, bigint, bigint)',
	'lease_acquire(text, int, bigint, interval, uuid, bigint, text)',
	'lease_acquire(text, int, bigint, interval, bytea, bigint, bigint, boolean, VARIADIC int[])',
	'lease_acquire(text, int, bigint, interval, text, bigint, bigint, boolean, int DEFAULT 1)',
	'lease_acquire(text, VARIADIC anyarray)',
	'lease_extend(bigint, text, bigint, interval, bigint)',
	'lease_extend(bigint, uuid, bigint, interval, VARIADIC bigint[])',
	'lease_extend(bigint, bytea, bigint, interval, bigint, int, bigint, int)',
	'lease_extend(int, uuid, bigint, interval, bigint, int DEFAULT 1)',
	'lease_extend(anyelement, uuid, anyelement, interval, anyelement)',
	'lease_release(bigint, text, bigint, bigint)',
	'lease_release(bigint, uuid, bigint, VARIADIC bigint[])',
	'lease_release(bigint, uuid, bigint, text DEFAULT 1)',
	'get_layout(VARIADIC int[])');
is((query_error($registry, 'hijacked', "SET SESSION AUTHORIZATION mallory; $_"))[0], '00000', s/ RETURNS.*//sr) for @planted;
new_node($many, 'prey', at($registry, 'hijacked'), 'snowflake.lease_duration' => '1s');
lives('planted functions', $many, 'prey', $registry, 'hijacked');
is(value($registry, 'SELECT count(*) FROM caught', 'hijacked'), '0', 'none of them was called');

# PostgreSQL cannot tell these from the extension's functions, so it refuses the call: nobody gets
# the secret.
value($registry, "SET SESSION AUTHORIZATION mallory; CREATE FUNCTION
	public.snowflake_lease_acquire(text, int, bigint, interval, bytea, bigint, bigint, boolean, int DEFAULT 1) $body", 'hijacked');
new_node($many, 'stopped', at($registry, 'hijacked'));
my ($state, $text);
# A call may give up before the keeper's first answer.
wait_until('the answer', sub { ($state, $text) = query_error($many, 'stopped', 'SELECT snowflake_nextval()'); return $text =~ /is not unique/ });
is($state, 'SF001', 'one that is its prefix stops the node');
like($text, qr/function public\.snowflake_lease_acquire.* is not unique/, '... and the error says which');
is(value($registry, 'SELECT count(*) FROM caught', 'hijacked'), '0', '... and it is not called');
value($registry, 'DROP OWNED BY mallory', 'hijacked');
ok(flows($many, 'stopped'), 'without it ids flow');
value($many, 'DROP DATABASE stopped');

$many->stop('fast');
$registry->stop('fast');
done_testing();
