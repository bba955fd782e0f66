# An old leader becomes the registry again, on its old timeline. Nodes refuse it, and the error says
# that only an operator can change this, and how. After snowflake_settle() was called there, they
# accept it and continue, each with different ids.
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use lib 'test/perl';
use RegistryTest;
use SnowflakeTest;
use Test::More;

# It settles for longer than the test needs.
my $old = make_registry('old', conf => "snowflake.lease_duration = 2min\n");
my $new = standby_of($old, 'new');
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 6s\n");
my @nodes = map { begin_node($nodes, "node_$_", place($old, $new)) } 1 .. 2;
$old->wait_for_catchup($new, 'replay', $old->lsn('flush'));
$old->stop('immediate');
$new->promote;
push @nodes, begin_node($nodes, 'node_3', place($old, $new));
ok(wait_until("all to have moved over", sub { value($new, q{SELECT count(*) FROM snowflake_registry WHERE extended_at > (SELECT max(acquired_at) FROM snowflake_registry)}) >= 2 }),
	'all nodes have followed to the promoted registry');

$new->stop('immediate');
$old->start;
# While it starts, a window may end because nothing answers.
ok(wait_until('the windows to end', sub { (query_error($nodes, 'node_3', 'SELECT snowflake_nextval()'))[1] =~ /SF001.*older timeline/s }), 'nodes refuse the old leader for as long as it takes');
like((query_error($nodes, 'node_3', 'SELECT snowflake_nextval()'))[1], qr/older timeline.*only after a call of snowflake_settle\(\) in the registry's database/s, '... and say who can end that, and how');
value($old, q{SELECT snowflake_settle('it is the leader again')});
ok(ids_flow($_), "after the operator's call $_->{name} issues") for @nodes;
is(value($old, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', '... while the registry settles');
all_different('with the old leader', @nodes);
none_twice('nodes whose old leader won back', @nodes);
$_->stop('immediate') for $nodes, $old;
done_testing();
