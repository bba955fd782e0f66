# Across sessions, ids follow the order of calls (G2), also if ids are ahead of the clock: no session
# goes on in a tick that another session has left.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_clock_server('order', layout => [ $epoch_ms, 41, 10, 6 ]);

subtest 'across sessions, ids follow the order of calls (G2)' => sub {
	my ($one, $other) = map { session($server) } 1 .. 2;
	my $issue_many = sub {
		my ($out) = ask($other, "SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, $_[0])");
		return remember(split / /, $out);
	};
	call($_) for $one, $other;
	my $now = stand_ahead($server);
	my @ids = $issue_many->(260);    # four ticks ahead of the clock
	push @ids, map { call($one) } 1 .. 2;
	push @ids, $issue_many->(10);
	stand_at($server, $now + 2);
	push @ids, call($one);
	push @ids, $issue_many->(150);
	stand_at($server, $now + 4);
	push @ids, call($one);
	is(scalar(grep { $ids[$_] <= $ids[ $_ - 1 ] } 1 .. $#ids), 0, 'each id is above the one before');
	run_clock($server);
	$_->quit for $one, $other;
};

is(repeated(), 0, 'no id of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
