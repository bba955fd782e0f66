# A server that never issued ids loses nothing with its black box, so it does not say after a crash
# that the box is missing: neither a server that only preloads the library, nor a registry of other
# nodes, nor a standby, although a standby has its primary's files. A server that issued ids says it.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
my $primary = new_server('primary', streaming => 1, preload => 1, patient => 1);
start_server($primary);

# How often the server says that its box is missing, when it starts after a crash that took the box,
# as the loss of power does.
sub says_after_loss
{
	my ($server) = @_;
	kill_server($server, children => 1) or die 'processes of ' . $server->name . " are left\n";
	lose_box($server);
	my $log = -s $server->logfile;
	start_server($server);
	return scalar(() = log_since($server, $log) =~ /$gone/g);
}
sub says { my ($server) = @_; return scalar(() = slurp_file($server->logfile) =~ /$gone/g); }

is(says_after_loss($primary), 0, 'a server that only preloads the library says nothing');
value($primary, 'CREATE EXTENSION snowflake');
value($primary, "SELECT FROM snowflake_lease_acquire('node', 0, $now_tick, '10 s', sha256('node'), 0, NULL)");
ok(wait_until('the keeper', sub { status($primary, 'keeper_pid IS NOT NULL') eq 't' }), 'a registry has a keeper');
is(says_after_loss($primary), 0, '... and says nothing');

take($primary, 10);
my $standby = standby_of($primary, 'standby');
is(says($standby), 0, 'a new standby of a node says nothing');
is(says_after_loss($standby), 0, '... nor an older one');
is(says_after_loss($primary), 1, 'the node says it once');
$primary->stop('immediate');
$standby->promote;
take($standby, 10);
is(says_after_loss($standby), 1, '... and so does the standby that was promoted');
take($standby, 10);
is(taken_twice(), 0, 'no id was issued twice');
$standby->stop('fast');
done_testing();
