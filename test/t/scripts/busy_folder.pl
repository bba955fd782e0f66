# test/run and test/demo copy the folder that they are in, also while an editor or another build
# writes into it. If it cannot be copied they fail.

use strict;
use warnings;

use lib 'test/perl';
use POSIX ();
use PostgreSQL::Test::Utils;
use Scripts;
use SnowflakeTest;
use Test::More;

plan skip_all => 'what is copied does not depend on the server' if $ENV{SNOWFLAKE_WATCHED};

my $folder = PostgreSQL::Test::Utils::tempdir();
PostgreSQL::Test::Utils::system_or_bail('cp', '-a', '.', "$folder/source");
my $writer = fork() // die "fork: $!";
while (!$writer)
{
	append_to_file("$folder/source/written", '');
	unlink "$folder/source/written";
	POSIX::_exit(0) if getppid() == 1;
}

my %whole = (name => 'written into', command => ["$folder/source/test/run meta"]);
run_all(\%whole);
is($whole{status}, 0, 'test/run runs while something is written into its folder') or diag($whole{said});
like($whole{errors}, qr/file changed as we read it/, '... which tar has noticed');
like($whole{said}, qr/^1 passed, 0 failed$/m, '... and the test has run');

# A tar that makes an archive, and then says that something is missing from it.
mkdir "$folder/programs" or die "$!";
append_to_file("$folder/programs/tar", "#!/bin/sh\n/usr/bin/env PATH=/usr/bin:/bin tar \"\$@\"\ncase \"\$*\" in *-cf*) exit 2 ;; esac\n");
chmod 0755, "$folder/programs/tar" or die "$!";
my %broken = (name => 'broken', command => ["PATH=$folder/programs:\$PATH $folder/source/test/run meta"]);
run_all(\%broken);
isnt($broken{status}, 0, 'test/run fails where its folder cannot be copied');
unlike($broken{said}, qr/^ok/m, '... and runs no test');
kill 'KILL', $writer;
waitpid $writer, 0;

done_testing();
