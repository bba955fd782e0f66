# What a node asks of a registry on another server: the extension's own functions, whatever else is called so there; under settings of
# its own, whatever the role's are; and without showing its token to anybody.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $uuid = qr/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/;

# What the server's tests log is not what a server logs by itself.
my $registry = new_server('registry', preload => 0, conf => "log_statement = none\n");
start_server($registry);
my $many = new_server('many', conf => "log_statement = none\nsnowflake.start_timeout = 2s\nmax_worker_processes = 24\n");
start_server($many);

sub value { my ($server, $db, $sql) = @_; return $server->safe_psql($db, $sql); }
sub place { return 'host=' . $registry->host . ' port=' . $registry->port . " dbname=$_[0] user=node"; }

# Options: version, of the extension's objects; granted => functions that the node's role may execute.
sub new_registry
{
	my ($db, %options) = @_;
	my $version = $options{version} ? "VERSION '$options{version}'" : '';
	my $granted = $options{granted} // 'snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release';
	value($registry, 'postgres', "CREATE DATABASE $db");
	value($registry, $db, "CREATE EXTENSION snowflake $version; GRANT EXECUTE ON FUNCTION $granted TO node");
	return;
}

sub new_node
{
	my ($db, $place, %settings) = @_;
	value($many, 'postgres', "CREATE DATABASE $db TEMPLATE base");
	value($many, 'postgres', "ALTER DATABASE $db SET snowflake.registry = '$place'");
	value($many, 'postgres', "ALTER DATABASE $db SET $_ = '$settings{$_}'") for keys %settings;
	return;
}

sub flows
{
	my ($db) = @_;
	return wait_until('ids to flow', sub { ($many->psql($db, 'SELECT snowflake_nextval()'))[0] == 0 });
}

sub last_error { return value($many, $_[0], q{SELECT coalesce(last_error, '') FROM snowflake_status}); }
sub leases { return value($registry, $_[0], 'SELECT count(*) FROM snowflake_registry'); }

# A lease that is drawn, moved and given back.
sub lives
{
	my ($name, $db, $at) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok(flows($db), "$name: ids flow") or diag(last_error($db));
	my $end = value($many, $db, 'SELECT window_end FROM snowflake_status');
	ok(wait_until('the window to move', sub { value($many, $db, "SELECT window_end > '$end' FROM snowflake_status") eq 't' }),
		"$name: the window moves") or diag(last_error($db));
	is(leases($at), '1', "$name: there is a lease");
	value($many, 'postgres', "DROP DATABASE $db");
	ok(wait_until('the lease to go', sub { leases($at) eq '0' }), "$name: it is given back");
	return;
}

value($registry, 'postgres', 'CREATE ROLE node LOGIN; CREATE ROLE mallory LOGIN');
value($many, 'postgres', 'CREATE DATABASE base');
value($many, 'base', 'CREATE EXTENSION snowflake');
my $short = 'snowflake.lease_duration';

subtest 'the token is seen by nobody' => sub {
	new_registry('quiet');
	new_node('secret', place('quiet'), $short => '3s');
	my $seen = sub { value($registry, 'postgres', q{SELECT string_agg(query, ' ') FROM pg_stat_activity WHERE usename = 'node'}) };

	# A call that waits can be looked at.
	my $holder = $registry->background_psql('quiet');
	$holder->query_safe('BEGIN; LOCK TABLE snowflake_origin IN ACCESS EXCLUSIVE MODE');
	my ($state) = query_error($many, 'secret', q{SET snowflake.start_timeout = '100 ms'; SELECT snowflake_nextval()});
	is($state, 'SF001', 'the registry is held up');
	my $query = '';
	ok(wait_until('the acquire', sub { ($query = $seen->()) =~ /snowflake_lease_acquire\(/ }), 'an acquire waits');
	like($query, qr/snowflake_lease_acquire\(\$1/, '... with parameters');
	unlike($query, $uuid, '... and no token in its text');
	ok(wait_until('the acquire to fail', sub { last_error('secret') =~ /lock timeout/ }), '... until it fails');
	$holder->query_safe('ROLLBACK');
	ok(flows('secret'), 'ids flow');

	my $token = value($registry, 'quiet', 'SELECT token FROM snowflake_registry');
	like($token, $uuid, 'there is a token');
	$holder->query_safe('BEGIN; SELECT FROM snowflake_registry FOR UPDATE');
	ok(wait_until('the extend', sub { ($query = $seen->()) =~ /snowflake_lease_extend\(/ }), 'an extend waits');
	unlike($query, $uuid, '... and no token in its text');
	ok(wait_until('the extend to fail', sub { last_error('secret') =~ /lock timeout/ }), '... until it fails');
	$holder->query_safe('ROLLBACK');
	$holder->quit;
	ok(flows('secret'), 'ids flow');
	value($many, 'postgres', 'DROP DATABASE secret');
	my $log = slurp_file($registry->logfile);
	like($log, qr/STATEMENT: .*snowflake_lease_acquire\(\$1.*STATEMENT: .*snowflake_lease_extend\(\$1/s, 'the log has the statements that failed');
	unlike($log, $uuid, '... and no token');
};

subtest 'functions that match better' => sub {
	new_registry('hijacked');
	value($registry, 'hijacked', 'GRANT CREATE ON SCHEMA public TO mallory; CREATE TABLE caught (who name); GRANT INSERT ON caught TO PUBLIC');
	my $body = q{RETURNS bigint LANGUAGE sql AS $$ INSERT INTO public.caught VALUES (current_user); SELECT 1::bigint $$};
	my @planted = map { "CREATE FUNCTION public.snowflake_$_ $body" } (
		'lease_acquire(text, int, bigint, text)',
		'lease_acquire(text, int, bigint, text, text, bigint, bigint)',
		'lease_acquire(text, int, bigint, interval, uuid, bigint, text)',
		'lease_acquire(text, int, bigint, interval, uuid, bigint, bigint, VARIADIC int[])',
		'lease_acquire(text, int, bigint, interval, text, bigint, bigint, int DEFAULT 1)',
		'lease_acquire(text, VARIADIC anyarray)',
		'lease_extend(bigint, text, bigint, interval, bigint)',
		'lease_extend(bigint, uuid, bigint, interval, VARIADIC bigint[])',
		'lease_extend(int, uuid, bigint, interval, bigint, int DEFAULT 1)',
		'lease_extend(anyelement, uuid, anyelement, interval, anyelement)',
		'lease_release(bigint, text, bigint, bigint)',
		'lease_release(bigint, uuid, bigint, VARIADIC bigint[])',
		'lease_release(bigint, uuid, bigint, text DEFAULT 1)',
		'get_layout(VARIADIC int[])');
	is((query_error($registry, 'hijacked', "SET SESSION AUTHORIZATION mallory; $_"))[0], '00000', s/ RETURNS.*//sr) for @planted;
	new_node('prey', place('hijacked'), $short => '1s');
	lives('planted functions', 'prey', 'hijacked');
	is(value($registry, 'hijacked', 'SELECT count(*) FROM caught'), '0', 'none of them was called');

	# PostgreSQL cannot tell these from the extension's, so it refuses: nobody gets the token.
	value($registry, 'hijacked', "SET SESSION AUTHORIZATION mallory; CREATE FUNCTION
		public.snowflake_lease_acquire(text, int, bigint, interval, uuid, bigint, bigint, int DEFAULT 1) $body");
	new_node('stopped', place('hijacked'));
	my ($state, $text) = query_error($many, 'stopped', 'SELECT snowflake_nextval()');
	is($state, 'SF001', 'one that is its prefix stops the node');
	like($text, qr/function public\.snowflake_lease_acquire.* is not unique/, '... and the error says which');
	is(value($registry, 'hijacked', 'SELECT count(*) FROM caught'), '0', '... and it is not called');
	value($registry, 'hijacked', 'DROP OWNED BY mallory');
	ok(flows('stopped'), 'without it ids flow');
	value($many, 'postgres', 'DROP DATABASE stopped');
};

subtest 'settings of the role' => sub {
	new_registry('tight');
	value($registry, 'tight', q{
		CREATE SCHEMA evil;
		GRANT USAGE ON SCHEMA evil TO PUBLIC;
		CREATE FUNCTION evil.equal(oid, oid) RETURNS boolean LANGUAGE sql AS 'SELECT (1 / 0) = 1';
		CREATE FUNCTION evil.equal(name, text) RETURNS boolean LANGUAGE sql AS 'SELECT (1 / 0) = 1';
		CREATE FUNCTION evil.equal(oidvector, oidvector) RETURNS boolean LANGUAGE sql AS 'SELECT (1 / 0) = 1';
		CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = oid, RIGHTARG = oid);
		CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = name, RIGHTARG = text);
		CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = oidvector, RIGHTARG = oidvector);
	});
	my %settings = (
		statement_timeout => '1ms', lock_timeout => '1ms', idle_session_timeout => '1ms', idle_in_transaction_session_timeout => '1ms',
		default_transaction_isolation => 'serializable', default_transaction_read_only => 'on', default_transaction_deferrable => 'on',
		client_min_messages => 'error', search_path => 'evil, pg_catalog', intervalstyle => 'sql_standard', datestyle => 'German');
	$settings{transaction_timeout} = '1ms' if $registry->pg_version >= 17;
	for my $target ('ROLE node IN DATABASE tight', 'DATABASE tight')
	{
		my $alter = join('', map { my $quoted = $_ eq 'search_path' ? $settings{$_} : "'$settings{$_}'"; "ALTER $target SET $_ = $quoted;" } sort keys %settings);
		value($registry, 'postgres', $alter);
		new_node('constrained', place('tight'), $short => '1s');
		ok(flows('constrained'), "$target: ids flow") or diag(last_error('constrained'));
		my $end = value($many, 'constrained', 'SELECT window_end FROM snowflake_status');
		ok(wait_until('the window to move', sub { value($many, 'constrained', "SELECT window_end > '$end' FROM snowflake_status") eq 't' }), '... and the window moves');
		value($many, 'postgres', 'DROP DATABASE constrained');
		value($registry, 'postgres', "ALTER $target RESET ALL");
		ok(wait_until('the lease to go', sub { leases('tight') eq '0' }), '... and the lease goes back');
	}
	new_node('optional', place('tight') . " options=''-c work_mem=1234kB''", $short => '1s');
	value($registry, 'tight', q{
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.noted VALUES (current_setting('work_mem'), current_setting('statement_timeout')); RETURN NULL; END $$;
		CREATE TABLE noted (work_mem text, statement_timeout text);
		CREATE TRIGGER note AFTER INSERT ON snowflake_registry EXECUTE FUNCTION note()});
	ok(flows('optional'), 'options of the connection string');
	is(value($registry, 'tight', 'SELECT DISTINCT * FROM noted'), '1234kB|5s', '... stand beside the node\'s own');
	value($many, 'postgres', 'DROP DATABASE optional');
};

subtest 'a registry of before' => sub {
	my $before = 'snowflake_acquire, snowflake_extend, snowflake_release';
	new_registry('older', version => '1.1', granted => $before);
	new_node('newer', place('older'), $short => '1s');
	lives('objects of 1.1', 'newer', 'older');
	new_registry('reluctant', granted => $before);
	new_node('newer', place('reluctant'), $short => '1s');
	lives('only the older functions granted', 'newer', 'reluctant');
	new_registry('partly', granted => 'snowflake_lease_acquire, snowflake_lease_extend');
	new_node('refused', place('partly'));
	my ($state, $text) = query_error($many, 'refused', 'SELECT snowflake_nextval()');
	is($state, 'SF001', 'some of the newer ones granted');
	like($text, qr/permission denied for function snowflake_acquire/, '... is none of either');
	value($registry, 'older', 'DROP EXTENSION snowflake');
	new_node('nowhere', place('older'));
	($state, $text) = query_error($many, 'nowhere', 'SELECT snowflake_nextval()');
	like($text, qr/SF001.*no extension snowflake/s, 'no extension');
};

$many->stop('fast');
$registry->stop('fast');
done_testing();
