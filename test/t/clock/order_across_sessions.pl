# Across sessions, ids follow the order of calls that are more than a tick apart; with max_run = 1
# they follow the order of all calls (G2). The clock stands still: one session keeps the rest of a
# run in a tick ahead of the clock, while another session continues with the clock.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('order', layout => [ $epoch_ms, 41, 10, 6 ]);

subtest 'across sessions, ids of calls more than a tick apart follow call order, and with max_run = 1 those of all (G2)' => sub {
	my ($one, $other) = map { session($server) } 1 .. 2;
	my $issue_many = sub {
		my ($out) = ask($other, "SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, $_[0])");
		return (remember(split / /, $out))[-1];
	};
	call($_) for $one, $other;
	for my $max_run (1, 256)
	{
		my $default = $max_run == 1 ? 'max_run = 1' : 'by default';
		ask($_, "SET snowflake.max_run = $max_run") for $one, $other;
		my $now = some_ms($server) + 50 * $max_run;
		stand_at($server, $now);
		$issue_many->(260);    # four ticks ahead of the clock
		my $before = (map { call($one) } 1 .. 2)[-1];
		my $between = $issue_many->(10);
		cmp_ok($between, '>', $before, "$default, an id of a later call is above") if $max_run == 1;
		stand_at($server, $now + 2);
		$between = $issue_many->(150);
		stand_at($server, $now + 4);
		my $after = call($one);
		cmp_ok($after, '>', $between, "$default, an id of a call two ticks later is above");
		run_clock($server);
	}
	is(repeated(), 0, 'no duplicate (G1)');
	$_->quit for $one, $other;
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
