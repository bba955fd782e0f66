# The shared memory object is truncated while the server runs, so the truncated part can no longer
# be written to. A keeper gives up the box for all processes, and nothing crashes. From then on no
# process writes to the object. So no start of the server may accept it, even if it gets its former
# length and name again: the node acquires another lease, and no id appears twice.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('truncated', patient => 1, preload => 1, conf => "restart_after_crash = on\n");
begin($server);
value($server, 'CREATE DATABASE second');
value($server, 'CREATE EXTENSION snowflake', 'second');
my @databases = qw(postgres second);

# Another name of the object, by which it can be found after it has lost its own.
my $kept = "/dev/shm/kept.$$";
END { unlink $kept if defined $kept; }
sub keep { my ($box) = @_; unlink $kept; link $box, $kept or die "$kept: $!"; return -s $kept; }

# The rest is the header and the first slots, which both databases have, or nothing.
my %left = ('all but the first page' => 4096, 'all of it' => 0);
my %crashes = ('a session is killed' => \&kill_backend, 'all processes are killed' => \&die_and_start);
for my $cut (sort keys %left)
{
	for my $crash (sort keys %crashes)
	{
		my %life = map { $_ => life($server, $_) } @databases;
		my $box = box_of($server);
		my $size = keep($box);
		my ($log, $ready) = (-s $server->logfile, ready_count($server));
		my $session = $server->background_psql('postgres', on_error_stop => 0);
		my ($before) = ask($session, 'SELECT snowflake_nextval()');
		truncate $kept, $left{$cut} or die "$kept: $!";
		ok(wait_until('the views', sub { value($server, 'SELECT black_box FROM snowflake_metrics') eq '0' }), "$cut is cut off: there is no black box");
		my @said;
		# The keeper says it a moment later.
		wait_until('the message', sub { @said = log_since($server, $log) =~ /WARNING:  snowflake keeper: the shared memory object "[^"]*" was lost while the server ran\n.*DETAIL:  (.*)/g; });
		is("@said", 'It was truncated.', '... as the log says, once');
		ok(!-e $box, '... nor an object of its name');
		cmp_ok((ask($session, 'SELECT snowflake_nextval()'))[0], '>', $before, '... ids go on in a session of before');
		$session->quit;
		is(life($server, $_), $life{$_}, "... and in a new one of $_") for @databases;

		truncate $kept, $size or die "$kept: $!";
		take($server, 1000, $_) for @databases;
		is(ready_count($server), $ready, '... and nothing crashed');
		# It gets its name back before the server starts.
		rename $kept, $box or die "$box: $!";
		$crashes{$crash}->($server);
		isnt(life($server, $_), $life{$_}, "made as long as it was, it is not believed after $crash, in $_") for @databases;
		is(taken_twice(), 0, '... and no id was issued twice');
		is(value($server, 'SELECT black_box FROM snowflake_metrics'), 1, '... and there is a black box again');
	}
}

# Just before a crash, so that no keeper notices it: the postmaster, too, must not touch the memory
# behind the end. An object that has its former length again by then is either correct or refused.
for my $grown (0, 1)
{
	my %life = map { $_ => life($server, $_) } @databases;
	kill 'STOP', my @keepers = map { value($server, 'SELECT keeper_pid FROM snowflake_status', $_) } @databases;
	my $size = keep(my $box = box_of($server));
	truncate $kept, 4096 or die "$kept: $!";
	truncate $kept, $size or die "$kept: $!" if $grown;
	take($server, 1000);
	# PostgreSQL 19 waits for a minute for a process that does not respond.
	kill 'KILL', $keepers[1];
	ok(kill_and_wait($server, $keepers[0]), 'truncated, ' . ($grown ? 'made as long as before, ' : '') . 'and the keeper is killed: PostgreSQL starts again');
	isnt(life($server, $_), $life{$_}, '... with another lease') for $grown ? () : @databases;
	life($server, $_) for @databases;
	is(taken_twice(), 0, '... and no id was issued twice');
}
stop_with_keepers($server, scalar @databases);
is(scalar(boxes_of($server)), 0, 'a clean shutdown leaves no object behind');
done_testing();
