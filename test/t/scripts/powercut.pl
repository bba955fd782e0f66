# test/powercut finds nothing on a disk that keeps what was flushed. It finds leases that were
# acknowledged and lost on one that lies, or if the server does not flush, and rows that were missed
# if a node forgets its horizon. Interrupted, it checks what there is, and leaves nothing.
# Not in the default run: it starts virtual machines without hardware support.
# Takes long: it needs six to 25 minutes of processor time for them.
# SNOWFLAKE_SEED repeats a run.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use Scripts;
use SnowflakeTest;
use Test::More;

plan skip_all => 'the script does not depend on the server' if slowness() > 1;
plan skip_all => 'it needs x86-64 and a kernel of Debian' unless `uname -m` eq "x86_64\n" && slurp_file('/etc/os-release') =~ /^ID=debian$/m;

my $seed = seed();
my @cases = my @waiting = (
	{ name => 'no fault', command => [ 'test/powercut', '--cuts', 1, '--standby', 1, '--seed', $seed ] },
	(map { { name => "fault: $_", command => [ 'test/powercut', '--seed', $seed, '--fault', $_ ] } } qw(fsync disk)),
	{ name => 'fault: horizon', command => [ 'test/powercut', '--cuts', 3, '--seed', $seed, '--fault', 'horizon' ] },
	{ name => 'early', command => [ 'test/powercut', '--seed', $seed ], until => sub { $_[0] =~ /working in/ }, signal => 'INT', group => 1 },
	{ name => 'under way', command => [ 'test/powercut', '--cuts', 1000, '--seed', $seed ], until => sub { $_[0] =~ /1 cuts/ }, signal => 'INT', group => 1 });
# One for each of two processors.
run_all(splice @waiting, 0, 2) while @waiting;

for my $case (@cases)
{
	my ($name, $said) = @$case{qw(name said)};
	if ($name eq 'early') { isnt($case->{status}, 0, 'interrupted before its first cut, it fails'); }
	else { is($case->{status}, 0, "$name: passes") or diag("$said$case->{errors}"); }
	my $place = folder_of($said);
	ok($place && !-e $place, "$name: no folder stays");
	is($place && processes_in($place), '', "$name: no process stays");
	figures('%s: %s', $name, $_) for $said =~ /^(seed .*|\d+ ids .*|longest.*)$/mg;
}
like($cases[0]{said}, qr/^seed $seed: 3 cuts .* 0 lost$/m, 'all cuts, and nothing lost');
like($cases[$_]{said}, qr/^cut \d+: \w+: worker id \d+ up to -?\d+ instead of \d+$/m, "$cases[$_]{name}: it says what is lost") for 1, 2;
like($cases[5]{said}, qr/^stopping: .*^\d+ passed, 0 failed$/ms, 'interrupted under way, it has checked what there is');
done_testing();
