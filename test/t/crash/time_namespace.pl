# A server that crashes and is started again in another time namespace, as in a new container with
# the /dev/shm of the old one, has another monotonic clock. Whether that is ahead or behind, by seconds
# or by days, ids go on in order under the previous lease, and are of the present (G3, G10).

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

sub unshare { my ($ahead_s) = @_; return (qw(unshare --user --map-current-user --time --boottime), $ahead_s); }
plan skip_all => 'unshare cannot make time namespaces here' if system(join(' ', unshare(1), 'true 2>/dev/null')) != 0;

my $server = new_server('moved', patient => 1);
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

# How far an id is ahead of the true time, in s.
sub ahead_s { my ($id) = @_; return ($epoch_ms + tick_of($id)) / 1000 - time(); }

my @before = issue($server, 2000);
my $lease = status($server, 'worker, lease_id');
# By how much each life's monotonic clock is ahead of the machine's.
my $earlier = 0;
for my $now (100000, 99990, 100020, 5, 3 * 86400, 0)
{
	my $name = sprintf 'a monotonic clock that is %s by %d s', $now < $earlier ? 'behind' : 'ahead', abs($now - $earlier);
	$earlier = $now;
	$server->stop('immediate');
	my $log_end = -s $server->logfile;
	is(system(unshare($now), 'pg_ctl', '-w', '-D', $server->data_dir, '-l', $server->logfile, 'start'), 0, "$name: the server starts");
	$server->_update_pid(1);
	my @after = issue($server, 2000);
	cmp_ok($after[0], '>', $before[-1], '... ids go on, in order');
	is(status($server, 'worker, lease_id'), $lease, '... under the same lease');
	cmp_ok(ahead_s($after[-1]), '<', 1, '... and are of the present');
	is(status($server, "clock_lead_seconds < 1, clock_bridged_total"), 't|0', '... by a clock that bridges nothing');
	unlike(slurp_file($server->logfile, $log_end), qr/the clock stepped back|black box, and acquires/, '... nor does the log speak of a step, or of a box that is not used');
	@before = @after;
}
is(repeated(), 0, 'no id was repeated (G1)');

$server->stop;
done_testing();
