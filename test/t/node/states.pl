# snowflake_status shows the node's true state, and snowflake_metrics shows the same in numbers:
# what a call would return now, and for how long ids can be issued. Only roles that may see all
# settings see a registry's address.
# Not in the default run: it starts some 250 processes.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $db = 'postgres';
my $issue = "SET snowflake.start_timeout = '300ms'; SELECT snowflake_nextval()";

sub metrics { return split /\|/, $_[0]->safe_psql($db, "SELECT $_[1] FROM snowflake_metrics"); }

# The view shows each failure: the state, that no ids are issued, and the SQLSTATE of a call.
sub fails_as
{
	my ($server, $state, $flow, $code) = @_;
	is(status($server, "state || ' ' || coalesce(ids_flow_seconds::text, 'null')"), "$state $flow", "state $state");
	my ($got, $text) = query_error($server, $db, $issue);
	is($got, $code, "... and a call gets $code");
	return $text;
}

### The clock

subtest 'idle, issuing, and a clock that is behind' => sub {
	my $server = new_server('clock', clock => 1, patient => 1, conf => "snowflake.on_clock_step_back = error\nsnowflake.max_bridge = 0\n");
	start_server($server);
	$server->safe_psql($db, 'CREATE EXTENSION snowflake');
	is(status($server, 'state, ids_flow_seconds, worker, last_error, advice'), 'idle||||', 'before the first call it is idle');
	$server->safe_psql($db, 'SELECT snowflake_nextval()');
	is(status($server, q{state, ids_flow_seconds > 1, lead_seconds < 1, advice}), 'issuing|t|t|', 'then it issues');

	# No further extension in this test.
	set_lease_duration($server, '30min');
	ok(wait_until('a long window', sub { status($server, 'ids_flow_seconds > 1000') eq 't' }), 'its window is long');
	ok(wait_until('half a second', sub { join('|', metrics($server, 'since_extension_seconds BETWEEN 0.5 AND 600')) eq 't' }), '... and was extended some time ago');
	$server->safe_psql($db, q{SELECT snowflake_create_segment('ticket'); SELECT snowflake_segment_nextval('ticket')});
	ok(wait_until('a range', sub { join('|', metrics($server, 'since_extension_seconds > since_registry_answer_seconds + 0.4')) eq 't' }), '... longer than a range');

	move_clock($server, -3600);
	my $text = fails_as($server, 'clock behind', '0', 'SF002');
	like($text, qr/behind the last id.*DETAIL:  The clock shows .*; ids may have been issued up to/s, 'with the times');
	is(status($server, q{lead_seconds BETWEEN 3540 AND 3660, last_error}), 't|', 'lead says by how much');
	like(status($server, 'advice'),
		qr/^no ids are issued: the clock is behind the last id or the lease\. Set the clock right on the server where it is wrong\.\nthe clock shows .*, but by what this server knows it is /,
		'... and advice why');
	move_clock($server, 0);
	$server->safe_psql($db, 'SELECT snowflake_nextval()');
	is(status($server, 'state'), 'issuing', 'right again');

	$server->safe_psql($db, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	ok(wait_until('idle', sub { status($server, 'state') eq 'idle' }), 'a keeper that was told to leave leaves an idle node');

	# The clock starts in the past, so no free worker id may be used then, although it did not step
	# back.
	$server->stop('fast');
	move_clock($server, 0);
	start_server($server);
	$server->safe_psql($db, 'BEGIN; SELECT snowflake_raise(snowflake_id_at(now())); COMMIT');
	$server->stop('fast');
	move_clock($server, -600);
	start_server($server);
	# A call may give up before the keeper has the lease.
	wait_until('the lease', sub { query_error($server, $db, $issue); status($server, 'state') eq 'clock behind' });
	$text = fails_as($server, 'clock behind', '0', 'SF002');
	like($text, qr/behind the lease\nDETAIL:  .*The lease begins at .*, because no worker id that was free when it was acquired may be used earlier/,
		'a lease that begins in the future says why');
	is(status($server, q{last_id, lead_seconds BETWEEN 540 AND 660}), '|t', 'nothing was issued under it');
	$server->stop('fast');
};

### A registry that is down, and what other roles may see of it

subtest 'the window ends while the registry is down' => sub {
	my $registry = new_server('registry');
	start_server($registry);
	$registry->safe_psql($db, 'CREATE EXTENSION snowflake');
	my $address = sprintf 'host=%s port=%d dbname=%s', $registry->host, $registry->port, $db;
	my $node = new_server('node', patient => 1, conf => "snowflake.registry = '$address'\nsnowflake.lease_duration = 1s\n");
	start_server($node);
	$node->safe_psql($db, 'CREATE EXTENSION snowflake; CREATE ROLE nobody; CREATE ROLE watcher IN ROLE pg_read_all_settings;'
		  . ' SELECT snowflake_nextval()');
	ok(wait_until('a window', sub { status($node, 'state') eq 'issuing' }), 'issues');
	$registry->stop('immediate');
	ok(wait_until('the end of the window', sub { status($node, 'state, last_error IS NOT NULL') eq 'window ended|t' }), 'the state says that the window has ended');
	my $counted = 'failed_calls_total, registry_answers_total, registry_failures_total';
	my ($failed, $answers, $failures) = metrics($node, $counted);
	is(join('|', metrics($node, 'issuing, idle, keeper_running, registry_here, ids_flow_seconds, registry_failing, ranges_failing')), '0|0|1|0|0|1|0',
		'so do the numbers');
	is(join('|', metrics($node, 'since_registry_answer_seconds > 0.3, since_extension_seconds > 0.3, registry_answer_seconds < 60')), 't|t|t', '... with times');
	my $text = fails_as($node, 'window ended', '0', 'SF001');
	like($text, qr/HINT:  Check that the registry's server runs, can be reached from here, and accepts/, 'with a hint');

	is((metrics($node, $counted))[0], $failed + 1, 'the call that failed is counted');
	is((query_error($node, $db, "SET statement_timeout = '50ms'; $issue"))[0], '57014', 'one that is cancelled while it waits');
	is((metrics($node, $counted))[0], $failed + 2, '... is, too');
	ok(wait_until('another try', sub { (metrics($node, $counted))[2] > $failures }), '... and so are the keeper\'s tries');
	is((metrics($node, $counted))[1], $answers, '... which had no answer');

	my $where = $registry->host;
	like(status($node, 'last_error'), qr/\Q$where\E/, 'a superuser reads where the registry is');
	like($text, qr/\Q$where\E/, '... also in the error of a call');
	for my $case ([ 'nobody', 0 ], [ 'watcher', 1 ])
	{
		my ($role, $may) = @$case;
		my $seen = $node->safe_psql($db, "SET ROLE $role; SELECT last_error || ' ' || last_error_code FROM snowflake_status");
		my $error = (query_error($node, $db, "SET ROLE $role; $issue"))[1];
		if ($may)
		{
			like($_, qr/\Q$where\E/, "$role reads it, too") for $seen, $error;
			next;
		}
		is($seen, 'the registry does not answer 08006', "$role reads that the registry does not answer");
		like($error, qr/s ago: the registry does not answer$/m, '... also in the error of a call');
		unlike("$seen $error", qr/\Q$where\E|port \d|@{[ $registry->port ]}/, '... and nothing of where it is');
	}

	start_server($registry);
	ok(wait_until('ids', sub { status($node, 'state, last_error') eq 'issuing|' }), 'it answers: ids flow');
	cmp_ok((metrics($node, $counted))[1], '>', $answers, '... and that is counted');
	ok(wait_until('a window', sub { join('|', metrics($node, 'issuing, registry_failing')) eq '1|0' }), '... and the numbers say so');

	# Refused for a reason that contains a role of the registry.
	$registry->safe_psql($db, 'ALTER TABLE snowflake_origin OWNER TO pg_monitor');
	ok(wait_until('a refusal', sub { status($node, 'last_error_code') eq '42501' }), 'refused');
	is($node->safe_psql($db, 'SET ROLE nobody; SELECT last_error FROM snowflake_status'), 'the registry refused', 'others read that it refused');
	like($node->safe_psql($db, 'SET ROLE watcher; SELECT last_error FROM snowflake_status'), qr/several owners/, 'others who may see all settings read why');
	wait_until('the end of the window', sub { status($node, 'state') eq 'window ended' });
	$text = fails_as($node, 'window ended', '0', 'SF001');
	like($text, qr/HINT:  In the registry's database, .* need one owner/, 'it had answered, and the hint knows');
	$_->stop('immediate') for $node, $registry;
};

### The state is idle if no id was requested, whatever the registry does

subtest 'a registry that was never reached' => sub {
	my $registry = new_server('away');
	my $address = sprintf 'host=%s port=%d dbname=%s', $registry->host, $registry->port, $db;
	my $node = new_server('asked', patient => 1, conf => "snowflake.registry = '$address'\n");
	start_server($node);
	$node->safe_psql($db, 'CREATE EXTENSION snowflake');
	is(status($node, 'state, last_error'), 'idle|', 'nobody has asked');
	is(join('|', metrics($node, 'issuing, idle, failed_calls_total, registry_failures_total')), '0|1|0|0', '... so nothing has failed');
	is($node->safe_psql($db, 'SELECT count(*) FROM snowflake_registry_metrics'), '0', 'where the registry is elsewhere, so are its numbers');
	is((query_error($node, $db, $issue))[0], 'SF001', 'who asks ...');
	is(status($node, 'state'), 'no lease', '... finds that there is no lease');
	# The keeper may be slower than the call.
	wait_until('a try', sub { (metrics($node, 'registry_failing'))[0] eq '1' });
	is(join('|', metrics($node, 'issuing, idle, failed_calls_total, registry_failing')), '0|0|1|1', '... in the numbers, too');
	$node->safe_psql($db, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	ok(wait_until('the keeper to leave', sub { status($node, 'keeper_pid') eq '' }), 'a keeper that is gone ...');
	is(status($node, 'state'), 'no lease', '... takes nothing back');
	is(join('|', metrics($node, 'issuing, idle, keeper_running')), '0|0|0', '... in the numbers either');
	$node->restart;
	is(status($node, 'state, last_error'), 'idle|', 'in a new life nobody has asked yet');

	# A call for numbers of a segment does not request an id.
	is((query_error($node, $db, q{SET snowflake.start_timeout = '300ms'; SELECT snowflake_segment_nextval('ticket')}))[0], 'SF005', 'a segment has no numbers');
	wait_until('a try', sub { (metrics($node, 'ranges_failing'))[0] eq '1' });
	is(join('|', metrics($node, 'state, idle, failed_calls_total, failed_segment_calls_total, registry_failing, ranges_failing')), 'idle|1|0|1|0|1',
		'... which says nothing of ids');
	is((query_error($node, $db, $issue))[0], 'SF001', 'nor is there an id');
	start_server($registry);
	$registry->safe_psql($db, q{CREATE EXTENSION snowflake; SELECT snowflake_create_segment('ticket')});
	ok(wait_until('ids', sub { status($node, 'state') eq 'issuing' }), 'the registry comes: the keeper has gone on trying');
	$node->safe_psql($db, q{SELECT snowflake_segment_nextval('ticket')});
	is(join('|', metrics($node, 'issuing, idle, registry_failing, ranges_failing')), '1|0|0|0', '... and all is well');
	is($registry->safe_psql($db, 'SELECT workers, workers_held, leases FROM snowflake_registry_metrics'), '1024|1|1', '... in the registry, too');
	is($registry->safe_psql($db, 'SELECT state, idle FROM snowflake_metrics'), 'idle|1', '... which itself is idle');
	$_->stop('immediate') for $node, $registry;
};

### Held back

subtest 'held back after a promotion' => sub {
	my $primary = new_server('primary', streaming => 1, patient => 1, conf => "snowflake.max_clock_skew = 0\n");
	start_server($primary);
	$primary->safe_psql($db, q{CREATE EXTENSION snowflake; CREATE ROLE nobody;
		SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=1 seq=12')});
	$primary->safe_psql($db, 'SELECT snowflake_nextval()');
	my $standby = standby_of($primary, 'standby');
	is(status($standby, 'state'), 'standby', 'a standby says what it is');
	is((query_error($standby, $db, $issue))[0], '25006', 'it cannot issue');
	is(status($standby, 'state'), 'standby', '... which is no failure of the node');
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
	$standby->promote;
	query_error($standby, $db, $issue);
	ok(wait_until('the answer', sub { status($standby, 'state') eq 'held back' }), 'the state says so');
	my $text = fails_as($standby, 'held back', 'null', 'SF004');
	like($text, qr/are held back until .*HINT:  If nothing was lost, call snowflake_settled\(\) in the registry's database/s, 'and the hint what to do');
	is($standby->safe_psql($db, q{SET ROLE nobody; SELECT last_error ~ 'held back' FROM snowflake_status}), 't', 'which everybody may read');
	is($standby->safe_psql($db, 'SELECT snowflake_settled()'), 't', 'nothing was lost');
	ok(wait_until('an id', sub { $standby->psql($db, $issue) == 0 }), 'ids flow');
	is(status($standby, 'state, last_error'), 'issuing|', 'and the state says so');
	# A node on another server that uses this registry reports this, too.
	my $node = new_server('elsewhere', conf => sprintf("snowflake.registry = 'host=%s port=%d dbname=%s'\n", $standby->host, $standby->port, $db));
	start_server($node);
	$node->safe_psql($db, q{CREATE EXTENSION snowflake; SELECT snowflake_set_layout('epoch=2025-01-01 time=41 worker=1 seq=12')});
	$standby->safe_psql($db, q{SELECT snowflake_settle('a test')});
	query_error($node, $db, $issue);
	ok(wait_until('the answer', sub { status($node, 'state') eq 'held back' }), 'a node of that registry says so, too');
	like(fails_as($node, 'held back', 'null', 'SF004'), qr/HINT:  If nothing was lost/, 'with the hint');
	$_->stop('immediate') for $node, $standby, $primary;
};

done_testing();
