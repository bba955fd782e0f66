# What the tests of the open run share: a server whose clock stands still, and sessions that know
# its run. A run is the rest of a tick's numbers, which all sessions issue from without a lock.
package RunsTest;

use strict;
use warnings;

use Exporter 'import';
use IdsTest qw($epoch_ms remember remembered session tick_of worker_of);
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($server $next_tick start columns numbers stand_at step_to session_with_run finish);

our $server;
# The tick at which the clock stands.
our $next_tick;

sub start
{
	my ($name) = @_;
	$server = new_server($name, clock => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\n");
	start_server($server);
	# The first lease writes the layout, which ends every run.
	$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
	$server->safe_psql('postgres', 'SELECT snowflake_nextval()');
	# From here on it stands. If the machine was so slow that this time had passed, it stepped back.
	do
	{
		$next_tick = now_ms() - $epoch_ms + 1000;
		stand_at($next_tick);
	} until now_ms() - $epoch_ms < $next_tick;
	return;
}

# Columns of the status, as a list.
sub columns { return split /\|/, status($server, $_[0]); }

# So many ids, from a session.
sub numbers { return remember(split /\n/, (ask($_[0], "SELECT snowflake_nextval() FROM generate_series(1, $_[1])"))[0]); }

# Stops both clocks so many microseconds after the beginning of a tick. Between two such times the
# monotonic clock moves by as much as the wall clock, but never back.
sub stand_at
{
	my ($tick, $us) = @_;
	SnowflakeTest::write_clock($server, 0, ($epoch_ms + $tick) * 1_000_000 + ($us // 500) * 1000);
	return;
}

# Steps the wall clock to the beginning of a tick, while no time passes.
sub step_to
{
	my ($tick) = @_;
	$server->{snowflake_stands}{wall} = ($epoch_ms + $tick) * 1_000_000;
	return stand_at($tick, 0);
}

# A session in a transaction that issues from a run without a lock, while the clock stands still.
# Returns the session, the tick and the last id.
sub session_with_run
{
	# Each tick is later than all previous ticks, so the node's clock has not passed it yet.
	$next_tick += 1000;
	stand_at($next_tick);
	my $session = session($server);
	ask($session, 'BEGIN');
	my $last = (numbers($session, 300))[-1];
	is(tick_of($last), $next_tick, 'a session issues ids of the tick in which the clock stands');
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
