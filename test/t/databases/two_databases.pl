# Two databases issue ids at the same time and do not affect each other. Each is a separate node,
# with its own keeper and its own registry (G1).

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use Test::More;

DatabaseTest::start('two');

my @names = ('two_a', 'two_b');
create_database($_) for @names;
my @sessions = map { $server->background_psql($_) } @names;
$sessions[$_]->{stdin} .= "SELECT snowflake_nextvals(20000);\n\\echo done\n" for 0, 1;
$_->{run}->pump_nb for @sessions;
for my $i (0, 1)
{
	my @got = grep { /^\d+$/ } split /\n/, $sessions[$i]->query_until(qr/done\n/, '');
	is(scalar(@got), 20000, "$names[$i] issues");
	my %own = map { $_ => 1 } @got;
	is(scalar(keys %own), 20000, '... without a repetition');
}
$_->quit for @sessions;
isnt(keepers('two_a'), keepers('two_b'), 'each has a keeper of its own');
is($server->safe_psql($_, 'SELECT count(*), min(node) = (SELECT node FROM snowflake_status) FROM snowflake_registry'),
	'1|t', "$_ is a node of its own") for @names;
like($server->safe_psql($_, 'SELECT node FROM snowflake_registry'), qr{/$_$}, '... with its own name') for @names;

finish();
