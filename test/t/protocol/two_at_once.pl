# Acquires run one after the other. The second waits until the first is committed or rolled back,
# sees the result, and acquires another worker id (G1). An extend or a release of another lease
# waits for neither.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $server = protocol_server('two_at_once');
my ($one, $dbname) = registry($server, 0, 4);
# The common part of the ring. Whatever their lease ids are, all later acquires find the same place free first.
acquire($one, 1000) for 1 .. 11;
my $two = $server->background_psql($dbname, on_error_stop => 0);
$two->query_safe('\set VERBOSITY verbose');
my $pid = $two->query_safe('SELECT pg_backend_pid()');
my $settles = $server->background_psql($dbname);
for my $end ('COMMIT', 'ROLLBACK')
{
	$settles->query_safe('SELECT pg_advisory_lock(1)');
	my $first = begin_acquire($one, 1000, fails => $end eq 'ROLLBACK');
	$two->{stdin} .= "SELECT worker_id, lease_id FROM snowflake_lease_acquire('second', 0, 1000, '1 min', sha256('" . new_secret() . "'), 0, NULL);\n\\echo done\n";
	$two->{run}->pump_nb;
	ok(wait_until('the second waits', sub {
		$server->safe_psql($dbname, "SELECT cardinality(pg_blocking_pids($pid))") eq '1';
	}), 'a second acquire waits for the first to end');
	$settles->query_safe('SELECT pg_advisory_unlock(1)');
	is(end_acquire($one), $end eq 'COMMIT' ? '00000' : 'P0001', "$end of the first");
	my $out = $two->query_until(qr/done\n/, '');
	my ($worker, $lease_id) = $out =~ /^(\d+)\|(\d+)/;
	isnt($worker, $first->{worker}, "after $end it acquires another worker id") if $end eq 'COMMIT';
	cmp_ok($lease_id, '>', $first->{id}, '... and another lease id');
	my $rows = $server->safe_psql($dbname, 'SELECT count(*) FROM snowflake_registry');
	is($rows, $end eq 'COMMIT' ? 13 : 14, "... and the first is there if it was committed: $end");
}
# extend and release of other leases do not wait for an acquire.
my ($mine) = acquire($one, 1000);
$settles->query_safe('SELECT pg_advisory_lock(1)');
begin_acquire($two, 1000, fails => 1);
is((extend($one, $mine, 3000))[1], '63000', 'extend does not wait for an acquire that is under way');
is((release($one, $mine, 3000))[1], 't', 'nor does release');
$settles->query_safe('SELECT pg_advisory_unlock(1)');
is(end_acquire($two), 'P0001', 'it is rolled back');
$_->quit for $one, $two, $settles;

$server->stop('fast');
done_testing();
