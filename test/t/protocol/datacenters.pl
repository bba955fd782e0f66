# Each datacenter has its own part of the worker ids. A datacenter acquires all of its own worker
# ids, in any order, and never another datacenter's.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use Test::More;

my $server = protocol_server('datacenters');
my $session = registry($server, 5, 5);
my %acquired;
for my $datacenter (0, 1, 17, 31)
{
	for my $i (1 .. 32)
	{
		my ($lease, $state, $text) = acquire($session, 1000 + $i, '1 min', $datacenter);
		die "datacenter $datacenter, $i: $text" unless $lease;
		++$acquired{$datacenter}{ $lease->{worker} };
	}
	is(join(' ', sort { $a <=> $b } keys %{ $acquired{$datacenter} }), join(' ', map { $datacenter * 32 + $_ } 0 .. 31),
		"datacenter $datacenter acquires all of its own, and no other's");
	is((acquire($session, 1000, '1 min', $datacenter))[1], 'SF004', '... and no more');
}
is((acquire($session, 1000, '1 min', 16))[1], '00000', 'another datacenter has its own left');
is((acquire($session, 1000, '1 min', $_))[1], '22023', "datacenter $_ is out of range") for -1, 32, 2147483647;
$session->quit;

$server->stop('fast');
done_testing();
