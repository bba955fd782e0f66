# If the library is not preloaded, each session opens the black box by itself (PostgreSQL 17 and
# later), and a crash costs nothing, either. If the black box was removed and a session cannot open
# it, ids continue, and the next crash costs a lease.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('by_itself', patient => 1, preload => 0, conf => "restart_after_crash = on\n");
start_server($server);
plan(skip_all => 'before 17 nothing is issued without preloading') if value($server, 'SHOW server_version_num') < 170000;
value($server, 'CREATE EXTENSION snowflake');
my $life = life($server);
my $box = box_of($server);

die_and_start($server);
is(life($server), $life, 'after SIGKILL of all processes the same lease goes on');
ok(kill_backend($server), 'after SIGKILL of a session PostgreSQL restarts itself');
is(life($server), $life, '... and the lease goes on');
$server->stop('immediate');
start_server($server);
is(life($server), $life, '... as it does after an immediate stop');

my $session = $server->background_psql('postgres', on_error_stop => 0);
my ($before) = ask($session, 'SELECT snowflake_nextval()');
unlink $box or die "$box: $!";
my $log = -s $server->logfile;
my $errors = '';
for my $new (1 .. 3)
{
	my ($rc, $out, $err) = $server->psql('postgres', 'SELECT lease_id, worker FROM snowflake_status WHERE snowflake_nextval() > 0');
	is($out, $life, "the object was removed: new session $new goes on");
	$errors .= $err;
}
is($errors, '', 'no client hears of it');
is(scalar(() = log_since($server, $log) =~ /there is no black box any more/g), 1, '... and the log says it once');
cmp_ok((ask($session, 'SELECT snowflake_nextval()'))[0], '>', $before, 'a session of before goes on');
$session->quit;
die_and_start($server);
my $next = life($server);
isnt($next, $life, 'the next crash costs a lease');
is(life($server), $next, '... which has a box again');
ok(-e $box, '... of the same name');
die_and_start($server);
is(life($server), $next, '... so that it costs nothing');

ok(wait_until('a keeper', sub { value($server, 'SELECT keeper_pid IS NOT NULL FROM snowflake_status') eq 't' }), 'a keeper knows of it');
$server->stop('fast');
start_server($server);
isnt(life($server), $next, 'a lease that a clean shutdown released is not used again');
is(taken_twice(), 0, 'no id was issued twice');
$server->stop('fast');
done_testing();
