# How snowflake_workers shows nodes that no longer extend their leases: first as late, then as
# expired when their windows have ended. It shows a running node as neither. After the end of its
# window a node issues nothing (G1). One node's keeper is stopped, and another node's server is
# killed.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, 'fleet');
my $conf = "snowflake.lease_duration = 6s\nsnowflake.start_timeout = 2s\n";
my $many = base_server('many', conf => $conf);
new_node($many, 'halted', at($registry, 'fleet'));
new_node($many, 'living', at($registry, 'fleet'));
my $killed = new_server('killed', conf => $conf . "snowflake.registry = '" . at($registry, 'fleet') . "'\nsnowflake.node_name = 'killed'\n");
start_server($killed);
value($killed, 'CREATE EXTENSION snowflake');
ok(flows($many, $_), "$_: ids flow") for qw(halted living);
ok(flows($killed), 'killed: ids flow');
take($many, 1000, $_) for qw(halted living);
take($killed, 1000);
my $worker = status($killed, 'worker');

my $keeper;
my $seen = sub {
	my ($name, $what) = @_;
	return value($registry, "SELECT $what FROM $schema.snowflake_workers WHERE node LIKE '%$name'", 'fleet') eq 't';
};
# Both at once: neither node is shown as late for long. If the test stands still meanwhile, again.
my $both = 0;
for my $try (1 .. 5)
{
	if ($try > 1)
	{
		kill 'CONT', $keeper;
		start_server($killed);
		flows(@$_) && moves(@$_) for [ $many, 'halted' ], [$killed];
	}
	$keeper = status($many, 'keeper_pid', 'halted');
	kill 'STOP', $keeper;
	kill_server($killed, children => 1);
	my %late;
	$both = wait_until('both to be late', sub {
		$late{$_} ||= $seen->($_, 'late') for 'halted', 'killed';
		return $late{halted} && $late{killed};
	}, sub { $seen->('halted', 'expired') && $seen->('killed', 'expired') }) and last;
}
ok($both, 'a node whose keeper stands still and one that was killed are late');
ok(wait_until("$_ to expire", sub { $seen->($_, 'expired AND NOT late') }), "... and then $_ is expired") for 'halted', 'killed';
ok(wait_until('a look at a moment when it is not late', sub { $seen->('living', 'NOT late AND NOT expired') }), '... but not the one that lives');
is((query_error($many, 'halted', 'SELECT snowflake_nextval()'))[0], 'SF001', 'beyond the window nothing is issued');
kill 'CONT', $keeper;
ok(flows($many, 'halted'), 'ids flow when the keeper runs again');
start_server($killed);
ok(flows($killed), '... and when the killed server does');
take($many, 1000, $_) for qw(halted living);
take($killed, 1000);
is(status($killed, 'worker'), $worker, 'a killed server goes on under the worker id that nobody took');
is(taken_twice(), 0, 'and no id of any of them is another\'s');
$_->stop('fast') for $many, $killed;
$registry->stop('smart');
done_testing();
