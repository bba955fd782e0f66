# Makes safe_psql(), psql() and poll_query_until() cheap. PostgreSQL's own methods stay as they are:
# they start psql by IPC::Run::run(), and this replaces that function, for psql with input and
# output in strings alone. One psql serves all calls of a program. Each call is a session of its
# own, which psql has closed before the call returns.
#
# psql closes a session only to connect elsewhere. Between calls it is therefore connected to this
# program, which speaks as much of PostgreSQL's protocol as that takes.
package PsqlDriver;

use strict;
use warnings;

use IO::Socket::UNIX;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Utils;
use Socket;

# The psql of the process `owner`, with that environment. It reads from `commands`, connects to
# `listener` between calls, and has its files in `folder`. `busy` is true during a call.
my %psql = (owner => 0);

sub start
{
	my ($environment) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	# The one before ends: nobody can send it commands any more.
	%psql = (owner => $$, environment => $environment, folder => $folder);
	$psql{listener} = IO::Socket::UNIX->new(Local => "$folder/.s.PGSQL.1", Listen => 1) or die "listen: $!";
	($psql{commands}, my $input) = IO::Socket->socketpair(AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die "socketpair: $!";
	my @output = map { open(my $file, '>>', "$folder/$_") or die "$_: $!"; $file } qw(out err);
	# An error ends a file, not psql.
	append_to_file("$folder/call", "\\i '<stdin>'\n\\set status 0\n");
	$psql{pid} = fork() // die "fork: $!";
	if (!$psql{pid})
	{
		my $number = 0;
		POSIX::dup2(fileno $_, $number++) for $input, @output;
		{ no warnings 'exec'; chdir $folder and exec 'psql', '-XAtqn', '-d', "host=$folder port=1"; }
		POSIX::_exit(127);
	}
	close $input;
	let_in() or die "psql does not start\n";
	return;
}

# Waits until psql connects to this program, and lets it in. False if it ends instead.
sub let_in
{
	my ($both, $ready, $size) = ('');
	vec($both, fileno $_, 1) = 1 for @psql{qw(listener commands)};
	1 until select($ready = $both, undef, undef, undef) > 0;
	return 0 unless vec $ready, fileno $psql{listener}, 1;
	$psql{client} = $psql{listener}->accept or die "accept: $!";
	read $psql{client}, $size, 4;
	read $psql{client}, my $options, unpack('N', $size) - 4;
	# It is authenticated, and the server is ready.
	return print { $psql{client} } pack 'a N N a N a', 'R', 8, 0, 'Z', 5, 'I';
}

# Sets $? and what the references lead to, as IPC::Run does.
sub run_psql
{
	my ($connection, $stop, $in, @to) = @_;
	my $environment = join "\0", map { "$_=$ENV{$_}" } grep { !/^PG(HOST|PORT)$/ } sort keys %ENV;
	start($environment)
	  if $psql{owner} != $$ || $psql{busy} || $psql{environment} ne $environment || waitpid $psql{pid}, POSIX::WNOHANG();
	$psql{busy} = 1;
	open(my $file, '>', "$psql{folder}/<stdin>") or die "stdin: $!";
	print $file $$in // '';
	close $file or die "stdin: $!";
	local $SIG{PIPE} = 'IGNORE';
	print { $psql{commands} } <<"END";
\\connect "$connection"
\\set VERBOSITY default
\\set status 3
\\set ON_ERROR_STOP $stop \\i call
\\set ON_ERROR_STOP 0
\\connect "host=$psql{folder} port=1"
:status;
END
	my ($status, $query);
	# psql sends the status as a query, after it has closed the session.
	if (let_in() && read $psql{client}, $query, 7)
	{
		$status = unpack('x5 a', $query) << 8;
		print { $psql{client} } pack 'a N a N a', 'I', 4, 'Z', 5, 'I';
		$psql{busy} = 0;
	}
	else
	{
		waitpid $psql{pid}, 0;
		$status = $?;
	}
	for my $name (qw(out err))
	{
		my $to = shift @to;
		my $text = slurp_file("$psql{folder}/$name") =~ s/^\\connect: /psql: error: /r;
		truncate "$psql{folder}/$name", 0;
		if ($to) { $$to = $text; }
		else { print $text; }
	}
	$? = $status;
	return !$status;
}

# How PostgreSQL's methods start psql: 15 to 17 with short options, later ones with long ones.
my $options = qr/^psql(?:\0-XAtq?|\0--(?:no-psqlrc|no-align|tuples-only|quiet))+
	\0(?:-d|--dbname)\0(port=\d+\ host=[^\0]*)(?:\0(?:-f|--file)\0-)?(\0(?:-v|--set|--variable)\0ON_ERROR_STOP=1)?
	(?:\0(?:-U|--username)\0([^\0]*))?$/x;

my $original = \&IPC::Run::run;

sub run
{
	my ($command, $less, $in, %to) = @_;
	return $original->(@_) if @_ % 2 == 0 || ref $command ne 'ARRAY' || $less ne '<' || ref $in ne 'SCALAR';
	return $original->(@_) if grep { !/^2?>$/ || ref $to{$_} ne 'SCALAR' } keys %to;
	# psql would keep what most of its own commands change.
	return $original->(@_) if ($$in // '') =~ /\\(?!set VERBOSITY \w+$|echo |x[0-9a-f])[a-z!]/m;
	my ($connection, $stop, $user) = join("\0", @$command) =~ $options or return $original->(@_);
	$connection .= " user='" . $user =~ s/([\\'])/\\$1/gr . "'" if defined $user;
	return run_psql($connection =~ s/"/""/gr, $stop ? 1 : 0, $in, @to{ '>', '2>' });
}

{ no warnings 'redefine'; *IPC::Run::run = \&run; }

1;
