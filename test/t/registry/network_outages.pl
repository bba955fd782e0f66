# Network faults between a node and its registry: packets are dropped, connections are reset,
# responses are late or missing, a host hangs or is replaced. As long as the window lasts, no call
# fails or waits (G4). Then calls fail with SF001 and the reason, after start_timeout. After the
# fault, ids are issued again, under the same lease, and no id appears twice (G1). Each fault lasts
# until a call fails.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use lib 'test/perl';
use OutageTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $registry = tcp_registry();
my $node = relayed_node($registry, '4s');
my $relay = $node->{relay};
ids_flow($node, 'a node has a lease');

my $pass = sub { $relay->tell('pass') };
my $dropped;

outage($node, 'dropped',
	begin => sub { $dropped = $relay->tell('drop'); $relay->tell('forget') },
	end => $pass, reason => qr/last error, .*could not connect to the registry in time/);
is($dropped, 'ok', 'no SYN was answered meanwhile');

outage($node, 'host hangs', begin => sub { $relay->tell('stall') }, end => $pass,
	reason => qr/last error, .*could not connect to the registry in time/);

# A host that completed the handshake and then was replaced, and tells nothing to clients that wait
# for it. The keeper waits 5 s for a response.
outage($node, 'host replaced', begin => sub { $relay->tell('stall') },
	end => sub { $relay->tell('pass forgotten') }, reason => qr/keeper had no answer from the registry within 1/);

# No exchange ends before its window does: nothing fails, but the window ends.
my $log = -s $node->{server}->logfile;
outage($node, 'slow answers', begin => sub { $relay->tell('delay 3') }, end => $pass, warnings => 0,
	reason => qr/keeper had no answer from the registry within 1/);

# On a busy machine an exchange of before may have been slow, too.
my $slow = qr/WARNING:  snowflake keeper: the registry took [\d.]+ s to answer/;
like(slurp_file($node->{server}->logfile), $slow, 'the log says that the registry is too slow');
cmp_ok(count_in(slurp_file($node->{server}->logfile, $log), $slow), '<=', 1, '... once');

outage($node, 'late answers', begin => sub { $relay->tell('hold snowflake_lease_extend(') }, end => $pass,
	before_end => sub { wait_until('the node to give up', sub { $relay->given_up }) },
	reason => qr/last error, .*the registry did not answer in time/);

outage($node, 'connections reset', begin => sub { $relay->tell('cut snowflake_lease_extend(') }, end => $pass,
	reason => qr/last error, .*lost the connection to the registry/);

outages_over($node);
$registry->stop('fast');
done_testing();
