# test/run and test/demo copy the folder that they are in, even while an editor or another build
# writes to it. If the folder cannot be copied, they fail.
# Not in the default run: it starts whole runs of the scripts.

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

# A tar that runs the following code when it has made an archive.
sub tar_that
{
	my ($name, $then) = @_;
	mkdir "$folder/$name" or die "$!";
	append_to_file("$folder/$name/tar", "#!/bin/sh\n/usr/bin/env PATH=/usr/bin:/bin tar \"\$@\"\nstatus=\$?\ncase \"\$*\" in *-cf*) $then ;; esac\nexit \$status\n");
	chmod 0755, "$folder/$name/tar" or die "$!";
	return "PATH=$folder/$name:\$PATH";
}

my %whole;
my $command = tar_that('says', "echo \$status >>$folder/statuses") . " $folder/source/test/run meta";
# The writer may stand still while tar reads.
for my $try (1 .. 3)
{
	%whole = (name => 'written into', command => [$command]);
	run_all(\%whole);
	last if $whole{status} != 0 || slurp_file("$folder/statuses") =~ /^1$/m;
}
is($whole{status}, 0, 'test/run runs while something is written into its folder') or diag($whole{said});
like(slurp_file("$folder/statuses"), qr/^1$/m, '... which tar has noticed');
unlike($whole{errors}, qr/tar:/, '... and the user need not');
like($whole{said}, qr/^1 passed, 0 failed$/m, '... and the test has run');

# A file is missing from the archive.
my %broken = (name => 'broken', command => [ tar_that('fails', 'exit 2') . " $folder/source/test/run meta" ]);
run_all(\%broken);
isnt($broken{status}, 0, 'test/run fails where its folder cannot be copied');
unlike($broken{said}, qr/^ok/m, '... and runs no test');
kill 'KILL', $writer;
waitpid $writer, 0;

done_testing();
