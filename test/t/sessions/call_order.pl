# Across sessions, ids follow the order of calls: with max_run = 1 exactly, by default for calls
# that are more than a tick apart (G2). A shared counter and the clock, read before and after each
# call, show the order.

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('order');

subtest 'with max_run = 1 ids follow call order across sessions exactly (G2)' => sub {
	my $rows = counted_calls($server, 4, $each * 4 / 25, 'SET snowflake.max_run = 1');
	my ($broken) = call_order($rows, 22);
	is($broken, 0, 'calls out of order among ' . @$rows);
};

subtest 'two sessions that take turns with max_run = 1 issue rising ids (G2)' => sub {
	my @pair = map { my $s = $server->background_psql('postgres'); ask($s, 'SET snowflake.max_run = 1'); $s } 1 .. 2;
	my @ids = map { ask($pair[ $_ % 2 ], 'SELECT snowflake_nextval()') } 1 .. 200;
	@ids = grep { /\d/ } @ids;
	is(scalar @ids, 200, 'ids');
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, 'that did not rise');
	$_->quit for @pair;
};

subtest 'by default ids of calls more than a tick apart follow call order across sessions (G2)' => sub {
	my $rows = counted_calls($server, 4, $each * 4 / 25, 'RESET snowflake.max_run');
	is((tick_order($rows, 22))[0], 0, 'calls out of order');
	my ($broken, $ticks) = call_order($rows, 22);
	figures('by default %d of %d calls were out of their exact order, by %d ticks at most', $broken, scalar @$rows, $ticks);
};

$server->stop;
done_testing();
