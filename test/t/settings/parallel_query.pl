# If a session first uses the library in a parallel query, its settings still apply, in the leader
# and in the workers, wherever they were set. So a node whose registry is on another server keeps its
# lease (section 5 of the design, G10).

use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
plan(skip_all => 'before 17 the library is preloaded') if $registry->pg_version < 17;
new_registry($registry, 'ids');
my $node = new_server('node', preload => 0, conf => "restart_after_crash = on\nsnowflake.node_name = 'file'\nsnowflake.max_lead = 4ms\n");
start_server($node);
value($node, q{
	CREATE EXTENSION snowflake;
	CREATE ROLE app LOGIN;
	ALTER DATABASE postgres SET snowflake.lease_duration = '30s';
	ALTER ROLE app SET snowflake.start_timeout = '90s';
	GRANT SET ON PARAMETER snowflake.node_name TO app;
	CREATE TABLE big AS SELECT generate_series(1, 2000) i;
	ALTER TABLE big SET (parallel_workers = 2);
	GRANT SELECT ON big TO app;
	ANALYZE big;
	CREATE FUNCTION look() RETURNS text LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN
		RETURN concat_ws('|', pg_backend_pid(), snowflake_nextval() > 0, current_setting('snowflake.node_name'),
			current_setting('snowflake.max_lead'), current_setting('snowflake.lease_duration'),
			current_setting('snowflake.start_timeout'));
	END $$});

# Returns what each process saw, the leader first, then what a later statement of the session sees,
# and all messages that the client got.
sub first_use
{
	my ($leader, $set) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', qq{
		$set;
		SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
		SET parallel_leader_participation = $leader;
		SELECT seen FROM (SELECT DISTINCT look() AS seen FROM big) s
			ORDER BY seen NOT LIKE pg_backend_pid() || '|%';
		SELECT 'then|' || look()}, on_error_stop => 1, extra_params => [ '-U', 'app' ]);
	return ($out, $err);
}

my $expected = 't|mine|4ms|30s|90s';
for my $leader ('on', 'off')
{
	my ($processes, $wrong, $told) = (0, '', '');
	for my $trial (1 .. 10)
	{
		my ($out, $err) = first_use($leader, q{SET snowflake.node_name = 'mine'});
		my @lines = split /\n/, $out;
		$processes += @lines - 1;
		$wrong .= "$_\n" for grep { !/^(then\|)?\d+\|\Q$expected\E$/ } @lines;
		$told .= $err;
	}
	cmp_ok($processes, '>', $leader eq 'on' ? 10 : 0, "leader participates $leader: others than the leader issued ids");
	is($wrong, '', '... each under the settings of the file, the database, the role and the session');
	is($told, '', '... of which the client hears nothing');
}

# A lease of a registry on another server survives a crash, whichever process makes the first call.
value($node, 'ALTER DATABASE postgres SET snowflake.registry = ' . "'" . at($registry, 'ids') . "'");
value($node, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'});
ok(wait_until('a lease of the other registry', sub {
	$node->psql('postgres', 'SELECT snowflake_nextval()');
	return leases($registry, 'ids') eq '1';
}), 'there is a lease of another registry');
# So long that it outlasts the crash on a busy machine, too.
ok(wait_until('a window', sub { status($node, q{window_end > now() + interval '27 s'}) eq 't' }), 'its window is long');
my $lease = status($node, 'worker, lease_id');
$registry->stop('fast');
$node->stop('immediate');
start_server($node);
my ($out, $err) = first_use('off', '');
is($err, '', 'after a crash, without the registry, the first call is in a parallel query');
like($out, qr/^\d+\|t\|/, '... and gets an id');
is(status($node, 'worker, lease_id'), $lease, '... under the same lease');
start_server($registry);
ok(moves($node), '... which is extended as soon as the registry is back');
is(status($node, 'worker, lease_id'), $lease, '... and stays');

$node->stop('fast');
$registry->stop('fast');
done_testing();
