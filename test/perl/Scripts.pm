# What t/scripts/ shares: test/run, test/demo, test/soak and test/powercut run at the same time and
# are interrupted at chosen moments, and the tests check what they leave.
package Scripts;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(run_all folder_of processes_in);

# A compiler that reuses the object files of the library under test, so that a script's build takes
# a second.
chomp(my $built = `pwd`);
my $programs = File::Temp::tempdir('scripts_XXXX', TMPDIR => 1, CLEANUP => 1);
my $makefiles = dirname(qx("\${SNOWFLAKE_PG_CONFIG:-pg_config}" --pgxs));
my ($name) = slurp_file("$makefiles/../Makefile.global") =~ /^CXX\s*=\s*(\S+)/m;
my $compiler = qx(bash -c 'command -v $name') =~ s/\n//r;
append_to_file("$programs/$name", <<"END");
#!/bin/bash
for ((i = 1; i < \$#; i++)); do
  next=\$((i + 1))
  if [[ \${!i} = -o && \${!next} = src/*.o && -f $built/\${!next} ]]; then exec cp "$built/\${!next}" "\${!next}"; fi
done
# If the compiler is a wrapper that looks for another one, it must not find this program again.
PATH=\${PATH#$programs:} exec $compiler "\$@"
END
chmod 0755, "$programs/$name" or die "$!";

# The work folder that a script printed.
sub folder_of { my ($said) = @_; return $said =~ m{(/\S*/snowflake-(?:test|demo|soak|power)\.\w+)} ? $1 : undef; }

# Processes that run in a folder or have its name in their arguments, as lines.
sub processes_in
{
	my ($folder) = @_;
	my @found;
	for my $process (glob '/proc/[0-9]*')
	{
		next if $process eq "/proc/$$";
		my $place = readlink("$process/cwd") // '';
		my $arguments = do { local (@ARGV, $/) = "$process/cmdline"; no warnings; <> // '' } =~ tr/\0/ /r;
		push @found, "$process $place $arguments" if "$place/ $arguments" =~ m{\Q$folder\E/};
	}
	return join("\n", @found);
}

# run_all({ name, command => [...], until => sub { ... }, signal => ..., group => 1 }, ...): runs
# all of them at once. `until` gets a script's output so far. When it returns true, the signal is
# sent, to the script alone or, as a terminal does, to its group. bash runs a `command` of one
# string. Adds to each: said, errors, status, seconds (from the signal to the end).
sub run_all
{
	my @cases = @_;
	my $deadline = time() + 1000 * slowness();
	start($_) for @cases;
	while (my @running = grep { !defined $_->{status} } @cases)
	{
		for my $case (@running)
		{
			$case->{said} = slurp_file($case->{output});
			if (waitpid($case->{pid}, 1) > 0)
			{
				$case->{status} = $?;
				Test::More::note("$case->{name}: ended");
				$case->{seconds} = time() - ($case->{signalled} // $case->{started});
			}
			elsif (!$case->{signalled} && $case->{until} && $case->{until}->($case->{said}))
			{
				$case->{signalled} = time();
				kill $case->{signal}, $case->{group} ? -$case->{pid} : $case->{pid};
			}
			elsif (time() > $deadline)
			{
				kill 'KILL', -$case->{pid};
				fail("$case->{name} ends");
				diag($case->{said});
			}
		}
		sleep 0.05;
	}
	for my $case (@cases)
	{
		$case->{said} = slurp_file($case->{output});
		$case->{errors} = slurp_file("$case->{output}.errors");
	}
	return;
}

my $count = 0;

sub start
{
	my ($case) = @_;
	my @command = @{ $case->{command} };
	@command = ('bash', '-o', 'pipefail', '-c', @command) if @command == 1;
	$case->{output} = "$programs/output" . ++$count;
	append_to_file($_, '') for $case->{output}, "$case->{output}.errors";
	$case->{started} = time();
	$case->{pid} = fork() // die "fork: $!";
	return if $case->{pid};
	setpgrp;
	@SIG{qw(INT TERM HUP PIPE)} = ('DEFAULT') x 4;
	open STDIN, '<', '/dev/null' or die "$!";
	open STDOUT, '>', $case->{output} or die "$!";
	open STDERR, '>', "$case->{output}.errors" or die "$!";
	# A user does not have the environment that test/run sets for TAP tests.
	delete @ENV{ grep { /^(?:PG|TEST|SNOWFLAKE_(?!PG_CONFIG))/ } keys %ENV };
	$ENV{PG_CONFIG} = delete $ENV{SNOWFLAKE_PG_CONFIG};
	$ENV{PATH} = "$programs:$ENV{PATH}";
	exec { $command[0] } @command or die "$command[0]: $!";
}

1;
