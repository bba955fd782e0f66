# A false registry on 127.0.0.1: it speaks PostgreSQL's protocol and sends any answers. It runs in
# its own process and ends with the test.
#
# The call determines the answer: lookup, layout, acquire, extend, release, ranges. Each answer is a
# hash:
#
#   columns, rows    the row description and the rows; undef is a null. NOW is the node's clock in
#                    ticks, and END is 5 s later
#   first            messages that come before them
#   last             messages that come after the end of the rows, before the server is ready again
#   without_end      rows again and again, until nobody listens
#
# `authentication` => { asks => 3 } first requests the password in clear text. The number is that of
# the protocol's message; 5 requests an MD5 hash. passwords() returns what the registry received.
package FakeRegistry;

use strict;
use warnings;

use Data::Dumper;
use Exporter 'import';
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use PostgreSQL::Test::Utils;

our @EXPORT = qw(message error notice);

my $layout = 'epoch=1735689600000 tick=1ms time=41 worker=10 seq=12';
my @good = (
	lookup => { columns => [ 'nspname', 'ours', 'f1' .. 'f5', 'denied', 'started', 'database', 'extension', 'role' ], rows => [ [ 'public', 1, ('public') x 5, undef, '', 5, 6, 7 ] ] },
	layout => { columns => ['answer'], rows => [ [$layout] ] },
	acquire => { columns => [ 'lease_id', 'worker_id', 'window_start', 'window_end', 'layout', 'system_identifier', 'timeline', 'raised_tick', 'settle_called_us', 'workers_free' ],
		rows => [ [ 7, 3, 'NOW', 'END', $layout, 1, 1, -1, 1000 ] ] },
	extend => { columns => [ 'window_end', 'system_identifier', 'timeline', 'raised_tick', 'settle_called_us' ], rows => [ [ 'END', 1, 1, -1, 0 ] ] },
	release => { columns => ['answer'], rows => [ ['t'] ] },
	authentication => {},
	ranges => { columns => [ 'segment_id', 'last', 'numbers', 'role', 'system_identifier', 'timeline', 'settle_called_us', 'known' ], rows => [ [ 5, 10, 10, '', 1, 1, 0, '' ] ] });

sub new
{
	my ($class) = @_;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64, Proto => 'tcp') or die "listen: $@";
	my $self = bless { port => $listener->sockport, file => PostgreSQL::Test::Utils::tempdir() . '/answers' }, $class;
	$self->answer;
	$self->{pid} = fork // die "fork: $!";
	if (!$self->{pid})
	{
		$SIG{$_} = 'DEFAULT' for qw(INT TERM __DIE__ __WARN__);
		$SIG{PIPE} = 'IGNORE';
		my $parent = getppid;
		while (getppid == $parent)
		{
			next unless IO::Select->new($listener)->can_read(1);
			my $node = $listener->accept or next;
			eval { $self->serve($node); 1 } or ($@ eq "gone\n" or print STDERR "fake registry: $@");
		}
		POSIX::_exit(0);
	}
	return $self;
}

sub port { return $_[0]->{port}; }
sub passwords { my ($self) = @_; return -e "$self->{file}.passwords" ? slurp_file("$self->{file}.passwords") : ''; }

# Sends correct answers from now on, except for the given differences: name => what differs.
sub answer
{
	my ($self, %other) = @_;
	my %answers = @good;
	$answers{$_} = { %{ $answers{$_} }, %{ $other{$_} } } for keys %other;
	open(my $file, '>', "$self->{file}.new") or die $!;
	print $file Data::Dumper->new([ \%answers ])->Terse(1)->Useqq(1)->Dump;
	close $file;
	rename "$self->{file}.new", $self->{file} or die $!;
	return;
}

sub finish
{
	my ($self) = @_;
	kill 'TERM', $self->{pid};
	waitpid $self->{pid}, 0;
	return;
}

sub message { my ($type, $body) = @_; return $type . pack('N', length($body) + 4) . $body; }

sub fields { my (%fields) = @_; return join('', map { "$_$fields{$_}\0" } sort keys %fields) . "\0"; }
sub error { return message('E', fields(S => 'ERROR', V => 'ERROR', C => 'XX000', M => 'boo', @_)); }
sub notice { return message('N', fields(S => 'WARNING', V => 'WARNING', C => '01000', M => 'boo', @_)); }

sub take
{
	my ($node, $count) = @_;
	my $data = '';
	while (length($data) < $count) { sysread $node, $data, $count - length($data), length($data) or die "gone\n"; }
	return $data;
}

sub give
{
	my ($node, $data) = @_;
	while (length $data) { my $sent = syswrite $node, $data or die "gone\n"; substr($data, 0, $sent) = ''; }
	return;
}

sub serve
{
	my ($self, $node) = @_;
	for (;;)
	{
		my $packet = take($node, unpack('N', take($node, 4)) - 4);
		last if unpack('N', $packet) == 196608;
		give($node, 'N');    # neither TLS nor GSSAPI
	}
	# The answers do not change during an exchange: half of the previous answers would make a
	# correct exchange.
	my $answers = do $self->{file};
	if (my $asks = $answers->{authentication}{asks})
	{
		give($node, message('R', pack('N', $asks) . ($asks == 5 ? 'salt' : '')));
		take($node, 1);
		append_to_file("$self->{file}.passwords", take($node, unpack('N', take($node, 4)) - 4) . "\n");
	}
	give($node, message('R', pack('N', 0)) . message('S', "server_version\x0015.0\0") . message('S', "server_encoding\0UTF8\0")
		  . message('K', pack('NN', 1, 1)) . message('Z', 'I'));
	my ($called, $now) = ('', 0);
	for (;;)
	{
		my $type = take($node, 1);
		my $body = take($node, unpack('N', take($node, 4)) - 4);
		return if $type eq 'X';
		($called) = $body =~ /(pg_extension|get_layout|segment_ranges\(|lease_(?:acquire|extend|release)\()/ if $type eq 'P';
		$now = $1 if $type eq 'B' && $body =~ /\0\0\0[\x0b\x0c](\d{11,12})/;
		next unless $type eq 'S';
		my %names = (pg_extension => 'lookup', get_layout => 'layout', 'segment_ranges(' => 'ranges', map { ("lease_$_(" => $_) } qw(acquire extend release));
		reply($node, $answers->{ $names{$called} }, $now);
	}
	return;
}

sub reply
{
	my ($node, $answer, $now) = @_;
	my @columns = @{ $answer->{columns} };
	my $text = message('1', '') . message('2', '') . ($answer->{first} // '')
	  . message('T', pack('n', scalar @columns) . join('', map { "$_\0" . pack('NnNnNn', 0, 0, 25, 65535, 0, 0) } @columns));
	my $rows = '';
	for my $row (@{ $answer->{rows} })
	{
		# A row without the time of a snowflake_settle() call gets null.
		my ($settle_call) = grep { $columns[$_] eq 'settle_called_us' } 0 .. $#columns;
		my @row = @$row;
		splice @row, $settle_call, 0, 0 if defined $settle_call && @row == $#columns;
		my @values = map { defined $_ ? $_ eq 'NOW' ? $now : $_ eq 'END' ? $now + 5000 : $_ : undef } @row;
		$rows .= message('D', pack('n', scalar @values) . join('', map { defined $_ ? pack('N', length $_) . $_ : pack('N', 0xffffffff) } @values));
	}
	give($node, $text . $rows);
	while ($answer->{without_end}) { give($node, $rows x 1000); }
	give($node, message('C', "SELECT 1\0") . ($answer->{last} // '') . message('Z', 'I'));
	return;
}

1;
