# Makes the psql of safe_psql(), psql() and poll_query_until() cheap. PostgreSQL's own methods stay
# as they are: they start psql by IPC::Run::run(), and this replaces that function, for psql with
# input and output in strings alone. Each call remains a process and a session of its own. A psql
# that forks (test/psql/fork_psql.c) saves it the dynamic linker, and files save it IPC::Run's
# pipes.
package ForkedPsql;

use strict;
use warnings;

use Cwd qw(getcwd);
use Fcntl qw(F_SETFD);
use File::Temp;
use IPC::Run;
use POSIX ();

# The psql that forks, of the process $owner: what goes to it and what comes from it. `busy` is true
# from a request to its answer.
my %server = (owner => 0);
my @files;

sub start_server
{
	my ($library) = @_;
	pipe(my $requests, my $to) && pipe(my $from, my $answers) or die "pipe: $!";
	my $pid = fork() // die "fork: $!";
	if (!$pid)
	{
		fcntl($_, F_SETFD, 0) for $requests, $answers;
		@ENV{qw(LD_PRELOAD LD_BIND_NOW FORK_PSQL)} = ($library, 1, fileno($requests) . ' ' . fileno($answers));
		{ no warnings 'exec'; exec 'psql'; }
		POSIX::_exit(127);
	}
	%server = (owner => $$, to => $to, from => $from);
	my $folder = File::Temp::tempdir('psql_XXXX', TMPDIR => 1, CLEANUP => 1);
	@files = map { "$folder/$_" } qw(in out err);
	return;
}

sub write_file
{
	my ($name, $text) = @_;
	open(my $file, '>', $name) or die "$name: $!";
	print $file $text;
	close $file or die "$name: $!";
	return;
}

sub read_file
{
	my ($name) = @_;
	open(my $file, '<', $name) or die "$name: $!";
	local $/;
	return <$file> // '';
}

# Sets $? and what the references lead to, as IPC::Run does. An undefined one is for this program's
# own output.
sub run_psql
{
	my ($command, $in, $out, $err) = @_;
	my $library = $ENV{SNOWFLAKE_FORK_PSQL};
	start_server($library) if $server{owner} != $$ || $server{busy};
	$server{busy} = 1;
	write_file($files[0], $$in);
	write_file($_, '') for @files[ 1, 2 ];
	my $request = join '', map { "$_\0" } getcwd(), $files[0], $out ? $files[1] : '', $err ? $files[2] : '',
	  scalar(@$command), @$command, map { "$_=$ENV{$_}" } keys %ENV;
	$request = pack('L', length $request) . $request;
	my $answer = '';
	while (length $request)
	{
		my $written = syswrite($server{to}, $request);
		next if !defined $written && $!{EINTR};
		die "psql: $!" unless $written;
		substr($request, 0, $written, '');
	}
	while (length $answer < 4)
	{
		my $read = sysread($server{from}, $answer, 4 - length $answer, length $answer);
		next if !defined $read && $!{EINTR};
		die 'psql: the one that forks has ended' unless $read;
	}
	$server{busy} = 0;
	$$out = read_file($files[1]) if $out;
	$$err = read_file($files[2]) if $err;
	$? = unpack 'l', $answer;
	return !$?;
}

# Whether these arguments of IPC::Run::run() are psql with strings: ([psql ...], '<', \in [, '>',
# \out] [, '2>', \err]).
sub is_simple
{
	return 0 if @_ % 2 == 0;
	my ($command, $less, $in, %to) = @_;
	return
		 ref $command eq 'ARRAY'
	  && $command->[0] eq 'psql'
	  && ($less // '') eq '<'
	  && ref $in eq 'SCALAR'
	  && !grep({ !/^2?>$/ || ref $to{$_} ne 'SCALAR' } keys %to)
	  && ($to{'>'} // '') ne ($to{'2>'} // 0)
	  && !grep({ /^LD_/ } keys %ENV);
}

sub install
{
	return unless $ENV{SNOWFLAKE_FORK_PSQL};
	no warnings 'redefine';
	my $original = \&IPC::Run::run;
	*IPC::Run::run = sub {
		return $original->(@_) unless is_simple(@_);
		my ($command, $less, $in, %to) = @_;
		return run_psql($command, $in, @to{ '>', '2>' });
	};
	return;
}

1;
