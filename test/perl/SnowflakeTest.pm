# What the TAP tests share: servers with the library preloaded, a clock that can be moved, and ids compared.
package SnowflakeTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(new_server start_server move_clock freeze_clock run_clock now_ms seed wait_until
  query_error);

# A server of its own, initialised, not started. Options: conf => lines for postgresql.conf, clock => 1 for a clock
# that can be moved, streaming => 1, preload => 0 to leave the library out, dbname => database with the extension.
sub new_server
{
	my ($name, %options) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name);
	$server->init(allows_streaming => $options{streaming} ? 1 : 0);
	my $preload = ($options{preload} // 1) ? "shared_preload_libraries = 'snowflake'" : '';
	$server->append_conf('postgresql.conf', "$preload\nlog_min_messages = log\n" . ($options{conf} // ''));
	if ($options{clock})
	{
		die "SNOWFLAKE_CLOCK_SHIM is not set\n" unless $ENV{SNOWFLAKE_CLOCK_SHIM};
		$server->{snowflake_clock} = $server->basedir . '/clock';
		write_clock($server, 0, 0);
	}
	return $server;
}

# Like $server->start, under the server's own clock if it has one. A server that is restarted after a crash keeps it.
sub start_server
{
	my ($server) = @_;
	return $server->start unless $server->{snowflake_clock};
	local $ENV{LD_PRELOAD} = $ENV{SNOWFLAKE_CLOCK_SHIM};
	local $ENV{SNOWFLAKE_CLOCK_FILE} = $server->{snowflake_clock};
	return $server->start;
}

sub write_clock
{
	my ($server, $offset_ns, $frozen_ns) = @_;
	# Written in place: the servers have the file mapped.
	my $mode = -e $server->{snowflake_clock} ? '+<:raw' : '>:raw';
	open(my $file, $mode, $server->{snowflake_clock}) or die "clock: $!";
	syswrite $file, pack('q<q<', $offset_ns, $frozen_ns) or die "clock: $!";
	close $file;
	$server->{snowflake_offset_ns} = $offset_ns;
	return;
}

# Sets the server's clock to the real time plus so many seconds.
sub move_clock
{
	my ($server, $seconds) = @_;
	write_clock($server, int($seconds * 1e9), 0);
	return;
}

# Stops the server's clock at what it shows now.
sub freeze_clock
{
	my ($server) = @_;
	write_clock($server, $server->{snowflake_offset_ns}, int(time() * 1e9) + $server->{snowflake_offset_ns});
	return;
}

# Lets a frozen clock jump to the real time plus the offset and run again.
sub run_clock
{
	my ($server) = @_;
	write_clock($server, $server->{snowflake_offset_ns}, 0);
	return;
}

sub now_ms { return int(time() * 1000); }

# The seed of this run: SNOWFLAKE_SEED, or a new one. It is printed, so that a failure can be repeated.
sub seed
{
	my $seed = $ENV{SNOWFLAKE_SEED} // int(rand(2**31));
	srand($seed);
	Test::More::diag("seed $seed");
	return $seed;
}

# Polls a condition for up to 60 s.
sub wait_until
{
	my ($what, $condition) = @_;
	my $deadline = time() + 60;
	while (time() < $deadline)
	{
		return 1 if $condition->();
		sleep(0.02);
	}
	Test::More::diag("gave up waiting: $what");
	return 0;
}

# Runs SQL that must fail; returns (SQLSTATE, whole error text with detail and hint).
sub query_error
{
	my ($server, $dbname, $sql) = @_;
	my ($rc, $out, $err) = $server->psql($dbname, "\\set VERBOSITY verbose\n$sql", on_error_stop => 1);
	my ($state) = ($err // '') =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err);
}

1;
