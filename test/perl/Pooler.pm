# A connection pooler on 127.0.0.1 that, like some poolers, refuses unknown parameters of a start-up
# packet: here, options. It forwards everything else to the server. It runs in its own process and
# ends with the test.
package Pooler;

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use POSIX ();

sub new
{
	my ($class, $target, $refusal) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64, Proto => 'tcp') or die "listen: $@";
	my $pid = fork // die "fork: $!";
	if (!$pid)
	{
		$SIG{$_} = 'DEFAULT' for qw(INT TERM CHLD __DIE__ __WARN__);
		$SIG{CHLD} = 'IGNORE';
		my $parent = getppid;
		while (getppid == $parent)
		{
			next unless IO::Select->new($listener)->can_read(1);
			my $client = $listener->accept or next;
			next if fork;
			eval { serve($client, $target, $refusal) };
			POSIX::_exit(0);
		}
		POSIX::_exit(0);
	}
	return bless { port => $listener->sockport, pid => $pid }, $class;
}

sub port { return $_[0]->{port}; }

sub finish
{
	my ($self) = @_;
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	return;
}

sub serve
{
	my ($client, $target, $refusal) = @_;
	my $packet;
	for (;;)
	{
		sysread $client, $packet, 65536 or return;
		last if unpack('N', substr($packet, 4, 4)) == 196608;
		syswrite $client, 'N';    # neither TLS nor GSSAPI
	}
	if ($packet =~ /\0options\0/)
	{
		my $fields = "SFATAL\0VFATAL\0C08P01\0M$refusal\0\0";
		syswrite $client, 'E' . pack('N', length($fields) + 4) . $fields;
		return;
	}
	my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $target, Proto => 'tcp') or return;
	syswrite $server, $packet;
	for (;;)
	{
		for my $from (IO::Select->new($client, $server)->can_read)
		{
			sysread $from, my $data, 65536 or return;
			syswrite $from == $client ? $server : $client, $data;
		}
	}
	return;
}

1;
