# What the tests of runs share, which are numbers that a backend has taken and hands out from its own memory: a server whose clock
# stands still, and sessions that hold a run, in a transaction.
package RunsTest;

use strict;
use warnings;

use Exporter 'import';
use IdsTest qw($epoch_ms remember remembered session tick_of worker_of status);
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($server $next_tick start columns numbers stand_at session_with_run finish);

our $server;
# Where the clock stands.
our $next_tick;

sub start
{
	my ($name) = @_;
	$server = new_server($name, clock => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\n");
	start_server($server);
	# The first lease writes the layout down, which ends every run.
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	$server->safe_psql('postgres', 'SELECT snowflake_nextval()');
	$next_tick = now_ms() - $epoch_ms;
	return;
}

# Of the status, as a list.
sub columns { return split /\|/, status($server, $_[0]); }

# As many ids as are wanted, by a session.
sub numbers { return remember(split /\n/, (ask($_[0], "SELECT snowflake_nextval() FROM generate_series(1, $_[1])"))[0]); }

# Lets both clocks stand, at a tick, so many microseconds into it. Between two such times the steady clock goes on by as much as the wall
# clock, but never back.
sub stand_at
{
	my ($tick, $us) = @_;
	SnowflakeTest::write_clock($server, 0, ($epoch_ms + $tick) * 1_000_000 + ($us // 500) * 1000);
	return;
}

# A session that holds a run of which much is left, at a clock that stands. Returns the session, the tick and the last id.
sub session_with_run
{
	# Each time later than all before, which the node's clock has not passed yet.
	$next_tick += 1000;
	stand_at($next_tick);
	my $session = session($server);
	my ($taken) = columns('coalesce(ids_taken, 0)');
	ask($session, 'BEGIN');
	my $last = (numbers($session, 300))[-1];
	is(tick_of($last), $next_tick, 'a session issues ids of the tick in which the clock stands');
	cmp_ok((columns('ids_taken'))[0] - $taken, '>', 400, '... and much of its last run is left');
	return ($session, $next_tick, $last);
}

sub finish
{
	$server->stop('immediate');
	figures('%d ids at a clock that stood', remembered());
	done_testing();
	return;
}

1;
