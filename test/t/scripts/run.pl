# If test/run is interrupted by a signal or a closed pipe, it ends what it has started, removes its
# folder, counts nothing as failed, and does not report that all tests passed. With --keep it keeps
# the folder. If a test reaches its time limit, the message says so, and how to raise the limit.
# After --minutes nothing begins that is not in the default run, and it is named.
# Not in the default run: it starts whole runs of the scripts.

use strict;
use warnings;

use lib 'test/perl';
use Scripts;
use SnowflakeTest;
use Test::More;

plan skip_all => 'a library with sanitizers needs a server that is watched' if $ENV{SNOWFLAKE_WATCHED};

sub stands_in { my ($said, $place) = @_; my $folder = folder_of($said); return $folder && processes_in("$folder/$place") ne ''; }
my @cases = (
	{ name => 'building', signal => 'TERM', arguments => 'unit/Text', until => sub { stands_in($_[0], 'unit') } },
	{ name => 'kept', signal => 'INT', group => 1, arguments => '--keep isolation',
		until => sub { my $folder = folder_of($_[0]); $folder && -d "$folder/regress/output_iso/results" && stands_in($_[0], 'main/data') } },
	{ name => 'servers of tests', signal => 'HUP', arguments => 't/ids/ t/runs/one',
		until => sub { stands_in($_[0], 'tap/ids') && stands_in($_[0], 'tap/runs') } },
	{ name => 'closed pipe', arguments => 'meta source build | head -n 2', until => sub { 0 } });
for my $case (@cases)
{
	$case->{command} = $case->{arguments} =~ /\|/ ? ["test/run $case->{arguments}"] : [ 'test/run', split / /, $case->{arguments} ];
}
my %limited = (name => 'limit', command => ['TEST_TIMEOUT=1 test/run unit/Text']);
my %in_time = (name => 'minutes', command => [ 'test/run', '--all', '--minutes', '0', 'meta', 't/lifecycle/first_ids', 't/clock/fleet_leaps' ]);
run_all(@cases, \%limited, \%in_time);
# If the machine stood still for a second, that was silence.
for my $try (1 .. 2)
{
	last if $limited{said} !~ /of silence/;
	system('rm', '-rf', folder_of($limited{said}));
	%limited = map { ($_ => $limited{$_}) } qw(name command);
	run_all(\%limited);
}

for my $case (@cases)
{
	my $folder = folder_of($case->{said}) or die "$case->{name} named no folder: $case->{said} $case->{errors}\n";
	isnt($case->{status}, 0, "$case->{name}: the exit status of an interrupted run is not 0");
	my ($last) = "$case->{said}$case->{errors}" =~ /([^\n]*)\n\z/;
	like($last, qr/^interrupted, so not every test was run: of those that were, \d+ passed and 0 failed$/, '... its last line says so')
	  or diag("$case->{said}\n$case->{errors}");
	unlike($case->{said}, qr/^FAILED/m, '... and nothing is called failed') or diag($case->{said});
	is(processes_in($folder), '', '... no process is left');
	if ($case->{name} eq 'kept')
	{
		ok(-s "$folder/logs/build.log", '... --keep keeps the folder');
		system('rm', '-rf', $folder);
	}
	else
	{
		ok(!-e $folder, '... and no folder');
	}
	unlike($case->{said}, qr/minutes on two/, '... a selection is not told how long all tests take');
}

isnt($limited{status}, 0, 'a build that reaches its limit is a failure');
like($limited{said}, qr/^FAILED unit \(ended after 8 s of processor time, its limit; TEST_TIMEOUT=2 test\/run unit\) \[1\/1\]$/m, '... which says so, and how to raise it');
like($limited{said}, qr/^failed: unit\n\d+ passed, 1 failed$/m, '... and is named at the end');
system('rm', '-rf', folder_of($limited{said}));
is($in_time{status}, 0, 'a run without time for more than the default run succeeds') or diag("$in_time{said}$in_time{errors}");
like($in_time{said}, qr/^# not begun after 0 min: 1, t\/clock\/fleet_leaps\n.*^ok t\/lifecycle\/first_ids .*^2 passed, 0 failed\n\z/ms, '... and names what it has left out');
figures(join ', ', map { sprintf '%s %.1f s', $_->{name}, $_->{seconds} } @cases);

done_testing();
