# No message of the protocol, neither a function call nor Parse, Bind and Execute, can call the
# function that COPY evaluates, whatever argument it passes.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use IO::Socket::UNIX;
use Test::More;

CopyTest::start('messages');

my $trials = 0;

# Sends messages in a separate connection. Returns the SQLSTATEs of errors, and `value` for each
# value that was returned.
sub answers
{
	my (@messages) = @_;
	my $socket = IO::Socket::UNIX->new(Peer => $server->host . '/.s.PGSQL.' . $server->port) or die "socket: $!";
	my $start = pack('N', 196608) . "user\0" . value('SELECT current_user') . "\0database\0$db\0\0";
	my @answers;
	for my $message ([ '', $start ], @messages)
	{
		my ($type, $body) = @$message;
		print $socket $type . pack('N', 4 + length $body) . $body;
		$socket->flush;
		# The answers to Sync, to a function call and to the start end with ReadyForQuery.
		next unless $type =~ /^[SF]?$/;
		my $kind = '';
		while ($kind ne 'Z')
		{
			my ($head, $answer) = ('', '');
			read($socket, $head, 5) == 5 or die 'the server hung up';
			($kind, my $length) = unpack('a N', $head);
			read($socket, $answer, $length - 4);
			push @answers, $answer =~ /\0C(\w{5})\0/ if $kind eq 'E';
			push @answers, 'value' if $kind eq 'D' || $kind eq 'V' && unpack('l>', $answer) != -1;
		}
	}
	close $socket;
	return join ' ', @answers;
}

subtest 'no message of the protocol calls COPY\'s function' => sub {
	my ($function, $nextval) = split /\|/,
	  value(q{SELECT 'snowflake_copy_nextval(internal)'::regprocedure::oid, 'snowflake_nextval()'::regprocedure::oid});
	my $internal = 2281;
	is(answers([ 'F', pack('N n n n', $nextval, 0, 0, 0) ]), 'value', 'a function call of snowflake_nextval() is answered with an id');
	my %arguments = (null => pack('l>', -1), empty => pack('N', 0), zero => pack('N Q', 8, 0), digit => pack('N a', 1, '1'));
	for my $format (0, 1)
	{
		for my $name (sort keys %arguments)
		{
			my $argument = $arguments{$name};
			like(answers([ 'F', pack('N n n n', $function, 1, $format, 1) . $argument . pack('n', 0) ]), qr/^(?:\w{5})?$/,
				"a function call, argument $name, format $format: no value");
			like(answers([ 'P', "\0SELECT snowflake_copy_nextval(\$1)\0" . pack('n N', 1, $internal) ],
					[ 'B', "\0\0" . pack('n n n', 1, $format, 1) . $argument . pack('n', 0) ], [ 'E', "\0" . pack('N', 0) ], [ 'S', '' ]),
				qr/^\w{5}$/, '... Parse, Bind and Execute: an error');
			$trials += 2;
		}
	}
	is(calls('INSERT INTO probe VALUES (1)'), '1|0', 'the server is well');
};

diag("$trials trials");

finish();
