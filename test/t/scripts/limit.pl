# test/limit.c, which ends tests: it counts silence and processor time, also of orphans, and neither
# a busy machine nor a program that prints reaches its limit.
# Not in the default run: it tests test/run alone, and uses up processor time to reach a limit.

use strict;
use warnings;

use lib 'test/perl';
use File::Temp ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $folder = File::Temp::tempdir('limit_XXXX', TMPDIR => 1, CLEANUP => 1);
system('gcc', '-O2', 'test/limit.c', '-o', "$folder/limit") == 0 or die "limit does not build\n";

# Returns (exit status, processor seconds, reason, how many processes are left).
sub limited
{
	my ($seconds, $script) = @_;
	unlink "$folder/used";
	system("'$folder/limit' $seconds '$folder/used' bash -c '$script' >'$folder/out' 2>&1");
	my ($processor, $left, $reason) = slurp_file("$folder/used") =~ /^(\S+) (\d+) (.*)$/ or die "no result of $script\n";
	return ($? >> 8, $processor, $reason, $left);
}

# Where a machine that stands still for seconds makes another result, one of three tries is enough.
sub one_is
{
	my ($fields, $expected, $what, @call) = @_;
	my $result;
	for my $try (1 .. 3)
	{
		$result = [ (limited(@call))[@$fields] ];
		last if "@$result" eq "@$expected";
	}
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is_deeply($result, $expected, $what);
}

is_deeply([ (limited(60, 'exit 3'))[ 0, 2 ] ], [ 3, '' ], 'the exit status is the command\'s');
one_is([ 0, 3 ], [ 3, 0 ], '... although a process ends a moment later', 9, '(sleep 0.3 &); exit 3');
is_deeply([ (limited(60, '(sleep 30 &); exit 3'))[ 0, 3 ] ], [ 3, 1 ], 'what is left is counted');
is((limited(60, 'kill -9 $$'))[0], 137, '... or says which signal ended it');
is_deeply([ (limited(2, 'sleep 60'))[ 0, 2 ] ], [ 124, 'ended after 2 s of silence' ], 'silence has a limit');
one_is([ 0, 2 ], [ 124, 'ended after 8 s of processor time' ], 'processor time has one, and that of a child counts',
	1, "(echo \$BASHPID >$folder/orphan; while :; do :; done) & disown; exec sleep 1000");
my $orphan = slurp_file("$folder/orphan");
ok(wait_until('the orphan to end', sub { !kill(0, $orphan) }), '... which is ended, too');
one_is([0], [0], 'what prints is not silent', 3, 'for i in 1 2 3 4 5 6; do echo $i; sleep 1; done');
is((limited(2, 'kill -STOP $$'))[2], 'ended after 2 s of silence', 'what stands still is silent');
is((limited(2, "trap \"\" TERM; while :; do sleep 1; done"))[0], 124, 'what ignores a signal is ended');

# An orphan that ended before the command: only who waits for it knows its time.
my ($status, $processor) = limited(30, "(setsid bash -c \"for ((i = 0; i < 1000000; i++)); do :; done; touch $folder/ended\" &);"
	  . " until [ -e $folder/ended ]; do sleep 0.1; done");
is($status, 0, 'an orphan ends');
cmp_ok($processor, '>', 0.3, '... and its time counts');

done_testing();
