# test/demo leaves a server that `test/demo stop` stops and removes. If it is interrupted, by a
# signal or a closed pipe, it leaves nothing. `stop` removes nothing else, and nothing while the
# server runs.
# Not in the default run: it starts whole runs of the scripts.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use Scripts;
use SnowflakeTest;
use Test::More;

plan skip_all => 'a library with sanitizers needs a server that is watched' if $ENV{SNOWFLAKE_WATCHED};

my %whole = (name => 'whole', command => ['test/demo']);
my @interrupted = (
	{ name => 'building', signal => 'INT', group => 1, until => sub { $_[0] =~ /^== Building/m && glob folder_of($_[0]) . '/src/src/core/*.o' } },
	{ name => 'starting', signal => 'HUP', until => sub { $_[0] =~ /^== Starting/m } },
	{ name => 'running', signal => 'TERM', until => sub { $_[0] =~ /^== Running/m } },
	{ name => 'closed pipe', command => ['test/demo | head -n 4'], until => sub { 0 } });
$_->{command} //= ['test/demo'] for @interrupted;
run_all(\%whole, @interrupted);

for my $case (@interrupted)
{
	my $folder = folder_of($case->{said}) or die "$case->{name} named no folder: $case->{said} $case->{errors}\n";
	isnt($case->{status}, 0, "$case->{name}: interrupted, which its exit status says");
	ok(!-e $folder, '... its folder is gone');
	is(processes_in($folder), '', '... and so is every process');
	like($case->{errors}, qr/interrupted; nothing runs on, and \Q$folder\E is removed$/, '... as it says');
	unlike($case->{said} . $case->{errors}, qr/demo stop/, '... and it names nothing to stop');
}

is($whole{status}, 0, 'a whole demo') or diag($whole{said}, $whole{errors});
like($whole{said}, qr/^This takes half a minute/, 'says how long it takes');
figures(sprintf('%d lines and %.0f s beside four others', scalar(() = $whole{said} =~ /\n/g), $whole{seconds}));
my $folder = folder_of($whole{said});
my ($stop) = $whole{said} =~ /^  stop it and remove everything:  (.*)$/m;
like($stop, qr{^/.*/test/demo stop \Q$folder\E$}, 'says how it is stopped') or $stop = "test/demo stop $folder";
isnt(processes_in("$folder/demo/data"), '', 'its server runs');

# A server that is stopped (SIGSTOP) and then told to shut down.
my $postmaster = (split /\n/, slurp_file("$folder/demo/data/postmaster.pid"))[0];
kill 'STOP', $postmaster;
my %stuck = (name => 'stop', command => ["PGCTLTIMEOUT=1 $stop"]);
run_all(\%stuck);
isnt($stuck{status}, 0, 'stop fails where the server does not stop');
like($stuck{errors}, qr/does not stop \(process \d+\), and nothing was removed/, '... says so');
ok(-d "$folder/demo/data" && kill(0, $postmaster), '... and has removed nothing');
kill 'CONT', $postmaster;
my %stopped = (name => 'stop', command => [$stop]);
run_all(\%stopped);
is($stopped{status}, 0, 'with the server running again, stop stops it') or diag($stopped{errors});
like($stopped{said}, qr/^stopped, and \Q$folder\E removed$/m, '... as it says');
ok(!-e $folder, '... the folder is gone');
is(processes_in($folder), '', '... and so is the server');

my $other = PostgreSQL::Test::Utils::tempdir();
command_fails_like([ 'test/demo', 'stop', $other ], qr/is not a folder that test\/demo made/, 'stop takes no other folder');
ok(-d $other, '... and removes none');
command_fails_like([ 'test/demo', 'stop', "$other/none" ], qr/^there is no folder \Q$other\E\/none$/m, 'says that there is none');
command_fails_like([ 'test/demo', 'stop', '' ], qr/^usage: test\/demo stop FOLDER$/m, '... or that it needs one');
if ($> != 0)
{
	chmod 0600, $other;
	command_fails_like([ 'test/demo', 'stop', $other ], qr/belongs to \S+: please run this as \S+, or as root$/m, '... or whose it is');
	chmod 0700, $other;
}

done_testing();
