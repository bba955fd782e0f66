# The bytes of a black box change while the server is down. The server either refuses the box or
# uses correct content. Ids are issued with the first call. If the lease continues, they are above
# all its previous ids. Otherwise they are issued under a lease that no node had before. No id
# appears twice.
#
# The seed decides the changes. Half of the changes are where the box has content, the others
# anywhere.
# Not in the default run: 60 restarts.
use strict;
use warnings;

use lib 'test/perl';
use BoxTest;
use List::Util qw(max shuffle);
use NodesTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $trials = $ENV{SNOWFLAKE_TRIALS} // 60;

need_boxes();
my $seed = seed();
my $registry = registry_server();
new_registry($registry, 'fleet');
my $server = new_server('changed', patient => 1, preload => 1,
	conf => "log_checkpoints = off\nsnowflake.max_databases = 6\nsnowflake.registry = '" . at($registry, 'fleet') . "'\n");
my (%node, %had);
start_server($server);
value($server, 'CREATE DATABASE other');
value($server, 'CREATE EXTENSION snowflake', $_) for qw(postgres other);

# The result of the first call after a start, and its lease.
sub look
{
	my ($db) = @_;
	my ($lease, $worker, $ids) = first_call($server, $db);
	$had{$lease}++;
	return { lease => $lease, worker => $worker, first => $ids->[0], last => max(@$ids) };
}
$node{$_} = look($_) for qw(postgres other);

# Two slots are in use.
my $box = box_of($server);
my ($size, $slot) = (-s $box, slot_size(read_box($box)));
my $used = $slots_from + 2 * $slot;
cmp_ok($used, '<', $size, "$used of $size bytes are in use: a header and two slots of $slot bytes");

# Each of these changes the given bytes, anywhere in the first $in of them.
sub range { my ($in, $most) = @_; my $from = int rand $in; my $length = 1 + int rand $most; return ($from, $from + $length > $in ? $in - $from : $length); }
my %changes = (
	'random bytes' => sub { my ($bytes, $in) = @_; substr($$bytes, int rand $in, 1) = chr int rand 256 for 1 .. 1 + int rand 64; },
	'one bit' => sub { my ($bytes, $in) = @_; my $at = int rand $in; substr($$bytes, $at, 1) ^= chr(1 << int rand 8); },
	'a range of zeros' => sub { my ($bytes, $in) = @_; my ($from, $length) = range($in, 512); substr($$bytes, $from, $length) = "\0" x $length; },
	'a range over another' => sub {
		my ($bytes, $in) = @_;
		my ($from, $length) = range($in, 512);
		substr($$bytes, int rand($in - $length), $length) = substr($$bytes, $from, $length);
	},
	'a slot over the other' => sub {
		my ($bytes) = @_;
		my $from = int rand 2;
		substr($$bytes, $slots_from + (1 - $from) * $slot, $slot) = substr($$bytes, $slots_from + $from * $slot, $slot);
	},
	'an end that is missing' => sub { my ($bytes, $in) = @_; substr($$bytes, int rand $in) = ''; },
	'an end that is too long' => sub { my ($bytes) = @_; $$bytes .= chr(int rand 256) x (rand() < 0.5 ? $size : 1 + int rand $size); },
);

my @names = sort keys %changes;
my @plan = shuffle(map { $names[ $_ % @names ] } 0 .. $trials - 1);
my (@wrong, @silent, %count);
my $began = time();
for my $i (0 .. $#plan)
{
	rand() < 0.2 ? kill_server($server, children => 1) : $server->stop('immediate');
	my $before = read_box($box);
	my $after = $before;
	$changes{ $plan[$i] }->(\$after, rand() < 0.5 ? $used : $size);
	write_box($box, $after);
	my $log = -s $server->logfile;
	start_server($server);
	for my $db (sort keys %node)
	{
		my $now = look($db);
		my $is_same = $now->{lease} == $node{$db}{lease};
		push @wrong, "trial $i, $plan[$i], $db: lease $now->{lease}, worker id $now->{worker}, after lease $node{$db}{lease}"
		  if $is_same ? $now->{first} <= $node{$db}{last} || $now->{worker} != $node{$db}{worker} : $had{ $now->{lease} } > 1;
		$count{ $is_same ? 'right' : 'refused' }++;
		$node{$db} = $now;
	}
	# An object that is not this server's box: everything except the path, which is for people, and
	# the box's identity.
	my $is_unusable =
	  length $after != $size || substr($after, $directory_from, 88) ne substr($before, $directory_from, 88) || substr($after, 0, 8) eq "\0" x 8;
	my $said = scalar(() = log_since($server, $log) =~ /$unusable/g);
	push @silent, "trial $i, $plan[$i]: said $said times" if $is_unusable != $said && (length $after != $size || substr($after, 8, 8) eq substr($before, 8, 8));
	$count{'unusable'} += $is_unusable;
}
diag("trials $trials, seed $seed");
figures('%d leases went on, %d were refused, %d objects could not be used; a trial took %.2f s', $count{right} // 0, $count{refused} // 0,
	$count{unusable}, (time() - $began) / $trials);

is("@wrong", '', 'what the box said was right, or refused');
is("@silent", '', 'the log says it, once, where an object cannot be used');
is(taken_twice(), 0, 'no id was issued twice');
SKIP:
{
	skip 'few trials', 2 if $trials < 30;
	cmp_ok($count{$_} // 0, '>', 0, "some were $_") for qw(right refused);
}
stop_with_keepers($server, scalar keys %node);
ok(!-e $box, 'a clean shutdown leaves no object behind');
$registry->stop('smart');
done_testing();
