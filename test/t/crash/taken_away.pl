# The shared memory object is removed while the server runs, as systemd does with what it calls a logged-out user's (RemoveIPC), and
# the server crashes before its keeper has seen that. Ids go on. A crash that the postmaster survives costs nothing, because it has
# the memory; it makes a new object. A crash of the postmaster then costs a lease. The log says each.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('taken_away', patient => 1, preload => 1, conf => "restart_after_crash = on\n");
begin($server);
my $life = life($server);
my $box = box_of($server);

# It sees nothing from here on until it is killed, and the postmaster starts all processes again.
sub stop_keeper { my $pid = value($server, 'SELECT keeper_pid FROM snowflake_status'); kill 'STOP', $pid; return $pid; }
my $keeper = stop_keeper();

my $session = $server->background_psql('postgres', on_error_stop => 0);
my ($before) = ask($session, 'SELECT snowflake_nextval()');
unlink $box or die "$box: $!";
cmp_ok((ask($session, 'SELECT snowflake_nextval()'))[0], '>', $before, 'ids go on in a session of before');
$session->quit;
is(life($server), $life, '... and in a new one, under the same lease');
ok(!-e $box, 'nobody has missed the object yet');

my $log = -s $server->logfile;
ok(kill_and_wait($server, $keeper), 'after SIGKILL of the keeper PostgreSQL restarts itself');
is(life($server), $life, 'the same lease goes on');
like(log_since($server, $log), $taken_away, 'the log says that the object was taken away');
unlike(log_since($server, $log), $unusable, '... and nothing else of it');
is(box_of($server), $box, 'there is one of its name again');

# The new one is as good as the first.
$log = -s $server->logfile;
die_and_start($server);
is(life($server), $life, 'after SIGKILL of all processes the same lease goes on, from the new object');
unlike(log_since($server, $log), qr/snowflake: .*(?:lost|missing)/, '... of which there is nothing to say');
ok(kill_backend($server), 'a session is killed');
is(life($server), $life, '... and the lease goes on');

# Another object, with the bytes of before, is not what the server wrote to.
my $bytes = read_box($box);
take($server, 1000);
$keeper = stop_keeper();
plant($box, sub { open(my $file, '>:raw', $_[0]) or die $!; chmod 0600, $_[0]; print $file 'x' . substr($bytes, 1); });
$log = -s $server->logfile;
ok(kill_and_wait($server, $keeper), 'where another object was put in its place, the keeper is killed');
is(life($server), $life, '... and the lease goes on, out of what the server has');
like(log_since($server, $log), $taken_away, '... as the log says');

stop_keeper();
unlink $box or die "$box: $!";
$log = -s $server->logfile;
die_and_start($server);
my ($lease, $worker) = first_call($server);
isnt("$lease|$worker", $life, 'after SIGKILL of all processes, without the object, another lease is drawn');
is(scalar(() = log_since($server, $log) =~ /$gone/g), 1, 'the log says once that there was none');
like(log_since($server, $log), qr/HINT:  .*RemoveIPC/, '... and what may have taken it');

die_and_start($server);
is(life($server), "$lease|$worker", 'that lease has a box again');
is(taken_twice(), 0, 'no id was issued twice');
$server->stop('fast');
ok(!-e $box, 'a clean shutdown leaves no object behind');
done_testing();
