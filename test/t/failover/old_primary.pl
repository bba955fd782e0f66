# An old primary in the nodes' list of hosts comes back on its old timeline. Nodes refuse its
# answers and keep their present lease. They use the promoted registry as soon as it is available
# again.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $old = make_registry('old');
value($old, q{GRANT EXECUTE ON FUNCTION snowflake_segment_ranges TO node; SELECT snowflake_create_segment('ticket')});
my $new = standby_of($old, 'new');
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 12s\n");
my @nodes = map { begin_node($nodes, "node_$_", place($old, $new)) } 1 .. 3;
my $renewed = sub { value($new, "SELECT count(*) FROM snowflake_registry WHERE extended_at > '$_[0]'") };

$old->wait_for_catchup($new, 'replay', $old->lsn('flush'));
$old->stop('immediate');
$new->promote;
my $since = value($new, 'SELECT clock_timestamp()');
ok(wait_until('all to have moved over', sub { $renewed->($since) == 3 }), 'all nodes have followed to the promoted registry');
push @nodes, begin_node($nodes, 'node_4', place($old, $new));

# Windows that last while servers are started.
set_lease_duration($nodes, '30s');
ok(wait_until('long windows', sub { !grep { value($nodes, 'SELECT ids_flow_seconds > 20 FROM snowflake_metrics', $_->{name}) ne 't' } @nodes }), 'windows are long');

# Fencing fails: the promoted registry is down, and the old primary is up again, first in the list,
# and accepts writes.
$new->stop('immediate');
$old->start;
set_lease_duration($nodes, '31s');
my ($window, $advice) = ('', '');
for my $node (@nodes)
{
	ok(wait_until('it to ask there', sub {
		my ($refuses, $has, $said) = split /\|/, value($nodes, q{SELECT last_error ~ 'older timeline', window_end > clock_timestamp(), state || '|' || advice FROM snowflake_status}, $node->{name}), 3;
		($window, $advice) = ($has, $said) if $node == $nodes[0];
		return $refuses eq 't';
	}), "$node->{name} refuses what the old primary says");
}
is($window, 't', "... $nodes[0]{name} still has its window");
like($advice,
	qr/^issuing\|ids stop at .*, unless the lease is extended: the registry answers from an older timeline .*\. If an old primary of the registry has come back, stop it\./,
	'... and is advised while it issues ids');
# A node that has never seen the promoted registry cannot detect this, and neither can the old
# primary: nothing keeps that node's worker id different.
ok(wait_until('the windows to end', sub { value($nodes, 'SELECT window_end < clock_timestamp() FROM snowflake_status', 'node_4') eq 't' }), 'windows end');
my ($state, $error) = query_error($nodes, 'node_4', 'SELECT snowflake_nextval()');
is($state, 'SF001', '... and rather than a lease of the old primary nodes have none');
like($error, qr/older timeline/, '... and say why');
# A call may give up before the keeper's first answer.
wait_until('the answer', sub { ($state, $error) = query_error($nodes, 'node_4', q{SELECT snowflake_segment_nextval('ticket')}); return $state ne 'SF005' || $error =~ /older timeline/ });
is($state, 'SF005', 'nor do they use its numbers of segments');
like($error, qr/older timeline/, '... and say why');

$old->stop('immediate');
$new->start;
ok(ids_flow($_), "$_->{name} issues when the promoted one is back") for @nodes;
ok(wait_until('a number', sub { (query_error($nodes, 'node_4', q{SELECT snowflake_segment_nextval('ticket')}))[0] eq '00000' }), '... and has numbers of segments');
all_different('with the promoted one back', @nodes);
none_twice('nodes beside an old primary that came back', @nodes);
$_->stop('immediate') for $nodes, $new;
done_testing();
