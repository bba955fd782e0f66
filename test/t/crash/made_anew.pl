# The keeper looks after the black box: an object that was removed, replaced or truncated while the server runs is made anew and
# filled, and every process goes on with the new one. So the next crash costs nothing. The log says once that it was made anew.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('made_anew', patient => 1, preload => 1, conf => "restart_after_crash = on\n");
start_server($server);
for my $db (qw(postgres second))
{
	value($server, 'CREATE DATABASE second') if $db eq 'second';
	value($server, 'CREATE EXTENSION snowflake', $db);
}
my %life = map { $_ => life($server, $_) } qw(postgres second);
my $box = box_of($server);
my $told = qr/LOG:  snowflake keeper: created a new black box/;

sub inode { return (stat $box)[1] // 0; }

# Does it to the object; true when there is another one that says whose it is.
sub is_made_anew
{
	my ($name, $happen) = @_;
	my $log = -s $server->logfile;
	my $ready = ready_count($server);
	my $before = inode();
	$happen->();
	ok(wait_until('another object', sub { inode() && inode() != $before && (boxes_of($server))[0] }), "$name: it is made anew");
	ok(wait_until('the log', sub { log_since($server, $log) =~ $told }), '... as the log says');
	is(scalar(() = log_since($server, $log) =~ /$told/g), 1, '... once');
	is(ready_count($server), $ready, '... and nothing crashed');
	return;
}

# Ids in a session of before and in new ones, of both databases; then a crash, and the same leases.
sub goes_on
{
	my ($name, $crash) = @_;
	my @sessions = map { $server->background_psql($_, on_error_stop => 0) } qw(postgres second);
	return sub {
		for my $session (@sessions)
		{
			taken(split /\n/, (ask($session, 'SELECT snowflake_nextvals(100)'))[0]);
			taken((ask($session, 'SELECT snowflake_nextval()'))[0]) for 1 .. 20;
		}
		take($server, 100, $_) for qw(postgres second);
		$crash->($server);
		$_->{run}->kill_kill for @sessions;
		is(life($server, $_), $life{$_}, "$name: the lease goes on after a crash, in $_") for qw(postgres second);
	};
}

my %removed = (
	'removed' => sub { unlink $box or die "$box: $!" },
	'replaced' => sub { plant($box, sub { open(my $file, '>:raw', $_[0]) or die $!; print $file 'x' x 16384; }) },
	'truncated' => sub { truncate($box, 0) or die "$box: $!" },
	'cut off' => sub { truncate($box, 4096) or die "$box: $!" },
	'overwritten' => sub { open(my $file, '+<:raw', $box) or die "$box: $!"; print $file "\0" x 8; });
my @crashes = ([ 'a session is killed', \&kill_backend ], [ 'all processes are', \&die_and_start ]);
for my $name ('removed', 'removed', 'replaced', 'truncated', 'cut off', 'overwritten')
{
	my $crash = shift @crashes;
	push @crashes, $crash;
	my $then = goes_on("$name, $crash->[0]", $crash->[1]);
	is_made_anew($name, $removed{$name});
	$then->();
}
is(taken_twice(), 0, 'no id was issued twice');

### Twice in a row, and once more just before the crash: the postmaster's own memory is that of before, which nobody may go on with

my $then = goes_on('removed twice', \&kill_backend);
is_made_anew('removed', $removed{removed}) for 1 .. 2;
$then->();
is_made_anew('removed', $removed{removed});
take($server, 1000);
kill 'STOP', my $keeper = value($server, 'SELECT keeper_pid FROM snowflake_status');
kill 'STOP', my $second = value($server, 'SELECT keeper_pid FROM snowflake_status', 'second');
$removed{removed}->();
# PostgreSQL 19 waits for a minute for who does not answer.
kill 'KILL', $second;
ok(kill_and_wait($server, $keeper), 'removed again, it is missed by nobody before a crash');
isnt(life($server), $life{postgres}, '... after which another lease is drawn');
is(taken_twice(), 0, 'no id was issued twice');

### Truncated just before a crash: the postmaster, too, must not touch what lies behind the end

my $life = life($server);
life($server, 'second');
($second, $keeper) = map { my $pid = value($server, 'SELECT keeper_pid FROM snowflake_status', $_); kill 'STOP', $pid; $pid } qw(second postgres);
truncate(box_of($server), 0);
kill 'KILL', $second;
ok(kill_and_wait($server, $keeper), 'truncated, and the keeper is killed: PostgreSQL starts again');
isnt(life($server), $life, '... with another lease');
is(taken_twice(), 0, 'no id was issued twice');
$server->stop('fast');
ok(!-e $box, 'a clean shutdown leaves no object behind');
done_testing();
