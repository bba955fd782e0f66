# A lowered limit is no step of the clock, although ids or the clock are ahead by more than it
# allows. Ids go on in order, under the same worker id and without an error, and none is below a
# horizon that was reported (G2, G9, G12; section 6 of the design). This holds for a reload, and for
# a limit that is lowered while the server is down.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my @high = (max_lead => '10s', max_bridge => '1min', on_clock_step_back => 'new_worker');
my @low = (max_lead => 0, max_bridge => 0, on_clock_step_back => 'error');

# A tick has 16 ids, so that a session soon leads.
my $server = new_clock_server('lowered', layout => [ 1735689600000, 41, 10, 4 ]);
my ($session, $last, $horizon) = (session($server), 0, 0);

# Into the file, also if the server is down.
sub set
{
	my (%values) = @_;
	$server->append_conf('postgresql.auto.conf', join '', map { "snowflake.$_ = '$values{$_}'\n" } sort keys %values);
	return;
}

# Gets so many ids in the session. Each must be above all before, and above the horizon.
sub goes_on
{
	my ($count, $when) = @_;
	my ($out, $error) = ask($session, "SELECT min(id), max(id), count(*) FILTER (WHERE id <= before), snowflake_horizon()
		FROM (SELECT id, lag(id) OVER () AS before FROM (SELECT snowflake_nextval() AS id FROM generate_series(1, $count) OFFSET 0) i) j");
	my ($first, $highest, $falls, $next) = split /\|/, $out;
	my $good = $error eq '' && $first > $last && $first >= $horizon && $falls == 0 && $next >= $horizon;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($good, "$when: ids go on, in order") or diag("$out\n$error\nafter $last, horizon $horizon");
	($last, $horizon) = ($highest, $next) if $error eq '';
	return;
}

# The keeper reads the file when it has time, and the session before each statement.
sub goes_on_for_a_while
{
	my ($when, $worker) = @_;
	my $end = time() + 0.5;
	for (my $i = 1; time() < $end; ++$i) { goes_on($i % 3 == 0 ? 100 : 1, $when); sleep(0.03); }
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(status($server, 'state, clock_steps_back_total, worker'), "issuing|0|$worker", '... under the same worker id');
	return;
}

# Lets ids be ahead by seconds. The horizon follows up to the limit in the data directory, 4 s ahead.
sub lead
{
	set(@high);
	$server->reload;
	my $ahead_s = sub { ($epoch_ms + ($horizon >> 14)) / 1000 - time() };
	ok(wait_until('a lead', sub { goes_on(30000, 'at full speed'); status($server, "lead_seconds > 6") eq 't' && $ahead_s->() > 3 }), 'ids are ahead');
	return;
}

sub restart
{
	my ($mode) = @_;
	$session->quit;
	$server->stop($mode);
	set(@low);
	start_server($server);
	$session = session($server);
	return;
}

goes_on(1, 'at first');
my $worker = status($server, 'worker');

lead();
set(@low);
$server->reload;
goes_on_for_a_while('lowered by a reload', $worker);
is(status($server, 'leases_acquired_total, clock_lead_seconds'), '1|0', '... and the clock is right');

lead();
restart('immediate');
goes_on_for_a_while('lowered during a crash', $worker);
is(status($server, 'leases_acquired_total'), 0, '... under the same lease');

# The next lease begins above the horizon, and not above the ids that other sessions got. However
# long the restart takes, no time passes.
lead();
freeze_clock($server);
restart('fast');
$last = 0;
goes_on(1, 'lowered during a stop');
run_clock($server);
$worker = status($server, 'worker');
goes_on_for_a_while('and later', $worker);

set(@high);
$server->reload;
ok(wait_until('no lead', sub { status($server, "clock_lead_seconds < 1") eq 't' }), 'the lead shrinks');
my $stepped = time();
move_clock($server, -20);
goes_on(1, 'after a step back');
# The lead shrinks meanwhile.
is(status($server, 'clock_lead_seconds > 15 - ' . (time() - $stepped)), 't', 'the clock bridges it');
set(@low);
$server->reload;
goes_on_for_a_while('lowered during a bridge', $worker);

$session->quit;
$server->stop;
done_testing();
