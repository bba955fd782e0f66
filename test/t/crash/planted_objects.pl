# The server never trusts an object that somebody else put in place of the black box. Ids are issued
# under a new lease, and the log names the object once. If the server could replace the object, it
# has its own black box again, and the next crash costs nothing. If not, each crash costs a lease.
# Not in the default run: it starts some 300 processes.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use NodesTest;
use POSIX qw(mkfifo);
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

need_boxes();
my $server = new_server('planted', patient => 1, preload => 1);
my $other = new_server('other', patient => 1, preload => 1);
begin($other);
value($other, 'SELECT snowflake_nextval()');
begin($server);
my ($lease) = first_call($server);
my $box = box_of($server);
my $others = read_box(box_of($other));
my $target = $server->basedir . '/target';

sub write_file
{
	my ($file, $bytes, $mode) = @_;
	append_to_file($file, $bytes);
	chmod $mode // 0600, $file or die "$file: $!";
	return;
}

# Crashes the server, calls $make to put another object in place of its box, whose bytes $make gets,
# and starts the server.
sub starts_with
{
	my ($what, $make, $start) = @_;
	$server->stop('immediate');
	my $bytes = -f $box ? read_box($box) : '';
	my $log = -s $server->logfile;
	plant($box, sub { $make->($_[0], $bytes) });
	$start ? $start->() : start_server($server);
	my ($its_lease) = first_call($server);
	cmp_ok($its_lease, '>', $lease, "with $what in the place of the box ids flow under a new lease");
	$lease = $its_lease;
	my @named = log_since($server, $log) =~ /$unusable/g;
	is("@named", substr($box, length '/dev/shm'), '... and the log names the object, once');
	return log_since($server, $log);
}

my @replaced = (
	[ 'a FIFO', sub { mkfifo($_[0], 0600) or die "mkfifo: $!" } ],
	[ 'a symbolic link to the box itself', sub { write_file($target, $_[1]); symlink $target, $_[0] or die "symlink: $!" } ],
	[ 'the box, of mode 0666', sub { write_file(@_, 0666) } ],
	[ 'the box, of mode 0644', sub { write_file(@_, 0644) } ],
	[ 'a copy of the box', sub { write_file(@_) } ],
	[ 'an empty file', sub { write_file($_[0], '') } ],
	[ 'the box and a byte more', sub { write_file($_[0], "$_[1]\0") } ],
	[ 'the box, twice as long', sub { write_file($_[0], $_[1] x 2) } ],
	[ 'the first half of the box', sub { write_file($_[0], substr($_[1], 0, length($_[1]) / 2)) } ],
	[ 'the box but for its header', sub { write_file($_[0], "\0" x $slots_from . substr($_[1], $slots_from)) } ],
	[ 'another server\'s box', sub { write_file($_[0], $others) } ],
);
for my $case (@replaced)
{
	my ($what, $make) = @$case;
	unlike(starts_with($what, $make), $none, '... which could be replaced');
	$server->stop('immediate');
	start_server($server);
	is((first_call($server))[0], $lease, '... so that the next crash costs nothing');
}
is((stat $target)[2] & 07777, 0600, 'what the link led to has its mode');
ok(says_path($server, read_box($target)), '... and its content');

# Twice, because the object is not replaced.
for my $time ('a directory', 'the same directory')
{
	like(starts_with($time, sub { mkdir $_[0], 0700 or die "mkdir: $!" if !-d $_[0] }), $none, '... which cannot be replaced, as the log says');
}
rmdir $box or die "$box: $!";

SKIP:
{
	if (!can_unshare())
	{
		diag('skipped: an object of another user: this user may not create name spaces, or the test runs in /dev/shm');
		skip 'no name spaces', 1;
	}
	# An object of root, which this user can neither open nor remove.
	for my $time ('an object of another user', 'the same object')
	{
		my $log = starts_with($time, sub { write_file($_[0], $_[1]) },
			sub { start_within($server, "mount -t tmpfs none /dev/shm\ntouch $box\nmount --bind /etc/passwd $box", mounts => 1) });
		like($log, $none, '... which cannot be replaced, as the log says');
	}
}
is(taken_twice(), 0, 'no id was issued twice');
$_->stop('fast') for $server, $other;
done_testing();
