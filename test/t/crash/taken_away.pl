# The shared memory object is removed while the server runs, as systemd does after a logout
# (RemoveIPC). The server reports this once, in its log and its views, and every process continues
# to write to the memory. If the postmaster survives a crash, the crash costs nothing, and the
# server makes a new object. If the postmaster crashes, the node needs another lease.
# Not in the default run: it starts some 200 processes.
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
value($server, 'CREATE DATABASE second');
value($server, 'CREATE EXTENSION snowflake', 'second');
my %life = map { $_ => life($server, $_) } qw(postgres second);
my $box = box_of($server);
my $lost = qr/WARNING:  snowflake keeper: the shared memory object "[^"]*" was lost while the server ran\n.*DETAIL:  (.*)/;

# What the views of both databases report.
sub shown { return join ' ', map { value($server, 'SELECT black_box, advice FROM snowflake_metrics', $_) } qw(postgres second); }
ok(wait_until('the views', sub { shown() eq '1|0 1|0' }), 'there is a black box');

my $looked = 0;

# Removes the object, and waits until one keeper has noticed it, and the other one had time to.
sub take_away
{
	my ($how, $away) = @_;
	my $log = -s $server->logfile;
	my $ready = ready_count($server);
	$away->();
	ok(wait_until('the views', sub { shown() eq '0|1 0|1' }), "$how: the views say that there is no black box");
	like(value($server, 'SELECT advice FROM snowflake_status'), qr/restart the server/, '... and what to do');
	sleep 3 unless $looked++;
	my @details;
	wait_until('the message', sub { @details = log_since($server, $log) =~ /$lost/g; });
	is("@details", $how eq 'removed' ? 'It was removed.' : 'Another object has its name.', '... and the log once, of both keepers');
	is(ready_count($server), $ready, '... and nothing crashed');
	return;
}

my $session = $server->background_psql('postgres', on_error_stop => 0);
my ($before) = ask($session, 'SELECT snowflake_nextval()');
take_away('removed', sub { unlink $box or die "$box: $!" });
cmp_ok((ask($session, 'SELECT snowflake_nextval()'))[0], '>', $before, 'ids go on in a session of before');
$session->quit;
is(life($server, $_), $life{$_}, "... and in a new one of $_, under the same lease") for qw(postgres second);

my $log = -s $server->logfile;
ok(kill_backend($server), 'after SIGKILL of a session PostgreSQL restarts itself');
is(life($server, $_), $life{$_}, "the same lease goes on in $_") for qw(postgres second);
like(log_since($server, $log), $taken_away, 'the log says that the object was taken away');
unlike(log_since($server, $log), $unusable, '... and nothing else of it');
is(box_of($server), $box, 'there is one of its name again');
ok(wait_until('the views', sub { shown() eq '1|0 1|0' }), '... as the views say');

# The new object works like the first one.
$log = -s $server->logfile;
die_and_start($server);
is(life($server), $life{postgres}, 'after SIGKILL of all processes the same lease goes on, from the new object');
unlike(log_since($server, $log), qr/snowflake: .*(?:lost|missing)/, '... of which there is nothing to say');
ok(kill_backend($server), 'a session is killed');
is(life($server), $life{postgres}, '... and the lease goes on');

# The server does not write to another object with the previous bytes.
my $bytes = read_box($box);
take($server, 1000);
take_away('replaced', sub { plant($box, sub { open(my $file, '>:raw', $_[0]) or die $!; chmod 0600, $_[0]; print $file 'x' . substr($bytes, 1); }) });
take($server, 1000);
$log = -s $server->logfile;
ok(kill_backend($server), 'where another object was put in its place, a session is killed');
is(life($server), $life{postgres}, '... and the lease goes on, out of what the server has');
like(log_since($server, $log), $taken_away, '... as the log says');

take_away('removed', sub { unlink $box or die "$box: $!" });
$log = -s $server->logfile;
die_and_start($server);
my ($lease, $worker) = first_call($server);
isnt("$lease|$worker", $life{postgres}, 'after SIGKILL of all processes, without the object, another lease is acquired');
is(scalar(() = log_since($server, $log) =~ /$gone/g), 1, 'the log says once that there was none');
like(log_since($server, $log), qr/HINT:  .*RemoveIPC/, '... and what may have taken it');

die_and_start($server);
is(life($server), "$lease|$worker", 'that lease has a box again');

# The crash comes before a keeper has checked.
my $second = life($server, 'second');
kill 'STOP', my @keepers = map { value($server, 'SELECT keeper_pid FROM snowflake_status', $_) } qw(postgres second);
unlink $box or die "$box: $!";
take($server, 1000);
# PostgreSQL 19 waits for a minute for a process that does not respond.
kill 'KILL', $keepers[1];
ok(kill_and_wait($server, $keepers[0]), 'removed just before a crash');
is(life($server), "$lease|$worker", '... the lease goes on');
is(life($server, 'second'), $second, '... in both databases');
is(taken_twice(), 0, 'no id was issued twice');
stop_with_keepers($server, 2);
ok(!-e $box, 'a clean shutdown leaves no object behind');
done_testing();
