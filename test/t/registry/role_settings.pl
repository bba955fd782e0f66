# A node's calls run under the node's own settings, whatever its role's settings are in the
# registry's database: timeouts of a millisecond, read-only and serializable transactions, a
# search_path with operators that fail, plans that look dear and are compiled. Options in the
# connection string also apply.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server(conf => "log_statement = none\n");
my $many = base_server('many', conf => "log_statement = none\n");

new_registry($registry, 'tight', schema => 'public');
value($registry, q{
	CREATE SCHEMA evil;
	GRANT USAGE ON SCHEMA evil TO PUBLIC;
	CREATE FUNCTION evil.equal(oid, oid) RETURNS boolean LANGUAGE sql AS 'SELECT (1 / 0) = 1';
	CREATE FUNCTION evil.equal(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT (1 / 0) = 1';
	CREATE FUNCTION evil.equal(oidvector, oidvector) RETURNS boolean LANGUAGE sql AS 'SELECT (1 / 0) = 1';
	CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = oid, RIGHTARG = oid);
	CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = name, RIGHTARG = text);
	CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = oidvector, RIGHTARG = oidvector);
}, 'tight');
my %settings = (
	statement_timeout => '1ms', lock_timeout => '1ms', idle_session_timeout => '1ms', idle_in_transaction_session_timeout => '1ms',
	default_transaction_isolation => 'serializable', default_transaction_read_only => 'on', default_transaction_deferrable => 'on',
	client_min_messages => 'error', search_path => 'evil, pg_catalog', intervalstyle => 'sql_standard', datestyle => 'German',
	jit => 'on', jit_above_cost => '0', enable_seqscan => 'off', enable_hashjoin => 'off');
$settings{transaction_timeout} = '1ms' if $registry->pg_version >= 17;
for my $target ('ROLE node IN DATABASE tight', 'DATABASE tight')
{
	my $alter = join('', map { my $quoted = $_ eq 'search_path' ? $settings{$_} : "'$settings{$_}'"; "ALTER $target SET $_ = $quoted;" } sort keys %settings);
	value($registry, $alter);
	new_node($many, 'constrained', at($registry, 'tight'), 'snowflake.lease_duration' => '1s');
	ok(flows($many, 'constrained'), "$target: ids flow") or diag(last_error($many, 'constrained'));
	ok(moves($many, 'constrained'), '... and the window moves');
	value($many, 'DROP DATABASE constrained');
	value($registry, "ALTER $target RESET ALL");
	ok(wait_until('the lease to go', sub { leases($registry, 'tight') eq '0' }), '... and the lease goes back');
}
value($registry, 'ALTER DATABASE tight SET jit = on; ALTER DATABASE tight SET enable_seqscan = off');
new_node($many, 'optional', at($registry, 'tight') . " options=''-c work_mem=1234kB''", 'snowflake.lease_duration' => '1s');
value($registry, q{
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.noted VALUES (current_setting('work_mem'), current_setting('statement_timeout'), current_setting('jit'), current_setting('enable_seqscan')); RETURN NULL; END $$;
	CREATE TABLE noted (work_mem text, statement_timeout text, jit text, enable_seqscan text);
	CREATE TRIGGER note AFTER INSERT ON snowflake_registry EXECUTE FUNCTION note()}, 'tight');
ok(flows($many, 'optional'), 'options of the connection string');
is(value($registry, 'SELECT DISTINCT * FROM noted', 'tight'), '1234kB|5s|off|on', '... stand beside the node\'s own, which are not the database\'s');
value($many, 'DROP DATABASE optional');

$many->stop('fast');
$registry->stop('fast');
done_testing();
