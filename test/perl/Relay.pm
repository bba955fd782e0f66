# A TCP relay on 127.0.0.1, in its own process, between a node and its registry. It does to
# connections what a network can do, without root. It ends with the test.
#
#   pass             forwards; held answers are sent at once
#   pass forgotten   forwards, but connections that were queued or in progress during a stall get
#                    nothing any more
#   delay SECONDS    each answer is sent that much later
#   hold TEXT        holds answers on connections on which TEXT was sent
#   cut TEXT         resets connections on which TEXT was sent when the answer arrives
#   drop             a network that is gone: forwards nothing, closes nothing, answers no SYN
#   stall            a host that hangs: as drop, but its kernel still completes the handshake of TCP
#   target PORT      new connections go to this port, present connections are reset
#   forget           present connections get nothing any more, not even when they are closed
package Relay;

use strict;
use warnings;

use Exporter ();
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Socket qw(AF_UNIX SOCK_STREAM PF_UNSPEC SOL_SOCKET SO_LINGER);
use Time::HiRes qw(time sleep);

sub new
{
	my ($class, $target) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64, Proto => 'tcp') or die "listen: $@";
	socketpair(my $ours, my $theirs, AF_UNIX, SOCK_STREAM, PF_UNSPEC) or die "socketpair: $!";
	my $pid = fork // die "fork: $!";
	if (!$pid)
	{
		close $ours;
		$SIG{PIPE} = 'IGNORE';
		$SIG{$_} = 'DEFAULT' for qw(INT TERM __DIE__ __WARN__);
		eval { run({ listener => $listener, control => $theirs, target => $target, mode => 'pass', all => [] }); 1 }
		  or print STDERR "relay: $@";
		POSIX::_exit(0);
	}
	close $theirs;
	return bless { port => $listener->sockport, pid => $pid, control => $ours }, $class;
}

sub port { return $_[0]->{port}; }

# Sends a command; returns the relay's answer.
sub tell
{
	my ($self, $command) = @_;
	syswrite $self->{control}, "$command\n" or die "relay: $!";
	my $answer = readline $self->{control};
	die "the relay is gone\n" unless defined $answer;
	chomp $answer;
	return $answer;
}

# How many connections have a held answer; how many of these the node has closed meanwhile.
sub held { return $_[0]->tell('held'); }
sub given_up { return $_[0]->tell('given_up'); }

sub finish
{
	my ($self) = @_;
	# Closing would not be enough: a relay that was started later has a copy of the socket.
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	close $self->{control};
	return;
}

# --------------------------------------------------------------------------------------------------
# The relay's own process
# --------------------------------------------------------------------------------------------------

sub run
{
	my ($relay) = @_;
	for (;;)
	{
		my $open = $relay->{mode} !~ /^(?:drop|stall)$/;
		my $select = IO::Select->new($relay->{control});
		if ($open)
		{
			$select->add($relay->{listener});
			for my $pair (grep { !$_->{forgotten} } @{ $relay->{all} })
			{
				$select->add($pair->{node}) unless $pair->{node_done};
				$select->add($pair->{registry}) unless $pair->{registry_done};
			}
		}
		my %ready = map { fileno($_) => 1 } $select->can_read(0.01);
		if ($ready{ fileno $relay->{control} })
		{
			my $command = readline $relay->{control};
			return unless defined $command;
			chomp $command;
			syswrite $relay->{control}, obey($relay, $command) . "\n";
			next;
		}
		next unless $open;
		admit($relay) if $ready{ fileno $relay->{listener} };
		for my $pair (grep { !$_->{forgotten} } @{ $relay->{all} })
		{
			take($relay, $pair, \%ready);
			give($relay, $pair);
		}
		$relay->{all} = [ grep { !$_->{over} } @{ $relay->{all} } ];
	}
	return;
}

sub obey
{
	my ($relay, $command) = @_;
	my ($mode, $argument) = split / /, $command, 2;
	my @held = grep { $_->{marked} && @{ $_->{answers} } } @{ $relay->{all} };
	return scalar @held if $mode eq 'held';
	return scalar grep { $_->{node_done} } @held if $mode eq 'given_up';
	if ($mode eq 'target')
	{
		$relay->{target} = $argument;
		for my $pair (grep { $_->{registry} } @{ $relay->{all} })
		{
			reset_connection($pair->{node});
			close $pair->{registry};
		}
		$relay->{all} = [];
		return 'ok';
	}
	if ($mode eq 'forget')
	{
		$_->{forgotten} = 1 for @{ $relay->{all} };
		return 'ok';
	}
	$relay->{mode} = $mode;
	$relay->{argument} = $argument;
	if ($mode eq 'drop')
	{
		# When its queue of connections is full, the kernel answers no SYN.
		listen $relay->{listener}, 0;
		for (1 .. 3)
		{
			my $filler = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $relay->{listener}->sockport, Blocking => 0);
			push @{ $relay->{fillers} }, $filler if $filler;
		}
		sleep(0.05);
		return (grep { !$_->connected } @{ $relay->{fillers} }) ? 'ok' : 'answered';
	}
	if ($mode eq 'pass' && $argument)
	{
		$_->{forgotten} = 1 for @{ $relay->{all} };
		while (IO::Select->new($relay->{listener})->can_read(0))
		{
			my $node = $relay->{listener}->accept or last;
			push @{ $relay->{all} }, { node => $node, forgotten => 1, answers => [] };
		}
	}
	if ($relay->{fillers})
	{
		$relay->{filler_ports}{ $_->sockport } = 1 for @{ $relay->{fillers} };
		delete $relay->{fillers};
		listen $relay->{listener}, 64;
	}
	return 'ok';
}

sub admit
{
	my ($relay) = @_;
	my $node = $relay->{listener}->accept or return;
	return if $relay->{filler_ports}{ $node->peerport // 0 };
	my $registry = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $relay->{target}, Proto => 'tcp');
	if (!$registry)
	{
		reset_connection($node);
		return;
	}
	push @{ $relay->{all} }, { node => $node, registry => $registry, answers => [], sent => '' };
	return;
}

sub take
{
	my ($relay, $pair, $ready) = @_;
	my $data;
	if (!$pair->{node_done} && $ready->{ fileno $pair->{node} })
	{
		if (sysread $pair->{node}, $data, 65536)
		{
			$pair->{sent} .= $data;
			$pair->{marked} = 1
			  if $relay->{mode} =~ /^(?:hold|cut)$/ && index($pair->{sent}, $relay->{argument}) >= 0;
			syswrite $pair->{registry}, $data;
		}
		else
		{
			$pair->{node_done} = 1;
			shutdown $pair->{registry}, 1;
		}
	}
	if (!$pair->{registry_done} && $ready->{ fileno $pair->{registry} })
	{
		if (sysread $pair->{registry}, $data, 65536)
		{
			push @{ $pair->{answers} }, { at => time(), data => $data };
		}
		else
		{
			$pair->{registry_done} = 1;
		}
	}
	return;
}

sub give
{
	my ($relay, $pair) = @_;
	my $mode = $relay->{mode};
	return if $mode eq 'hold' && $pair->{marked};
	if ($mode eq 'cut' && $pair->{marked} && @{ $pair->{answers} })
	{
		reset_connection($pair->{node});
		close $pair->{registry};
		$pair->{over} = 1;
		return;
	}
	while (my $answer = $pair->{answers}[0])
	{
		last if $mode eq 'delay' && $answer->{at} + $relay->{argument} > time();
		syswrite $pair->{node}, $answer->{data};
		shift @{ $pair->{answers} };
	}
	return if @{ $pair->{answers} } && !$pair->{node_done};
	return unless $pair->{node_done} || $pair->{registry_done};
	close $pair->{node};
	close $pair->{registry};
	$pair->{over} = 1;
	return;
}

# RST instead of FIN.
sub reset_connection
{
	my ($socket) = @_;
	setsockopt $socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0);
	close $socket;
	return;
}

1;
