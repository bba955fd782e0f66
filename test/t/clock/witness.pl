# A registry on another server shows which clock of a node is right: the node's clock, which its ids
# use, or the wall clock. A node sends the node's clock in its requests. If the registry refuses the
# request because this clock differs too much from the registry's clock (max_clock_skew), the node
# sends the wall clock. So the window moves while the node bridges a step back, if the registry's
# clock made the same step. A leap that is held is followed as soon as the registry confirms it, whose
# own clock has not stepped for ten minutes; not if the registry's clock leapt, too. If
# the registry confirms neither clock, SF002 reports this. Ids are in order and have one worker id
# all the time (G9).
# Not in the default run: it waits for windows to end many times.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use RegistryTest qw(make_registry place value);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $registry = make_registry('registry', clock => 1, conf => "snowflake.max_clock_skew = 10s\n");
my ($ids, $trials) = (0, 0);

# A node with windows of 6 s, in a layout with 5 bits of worker id, at a registry whose clock is right.
sub witnessed
{
	my ($name, $code, $conf) = @_;
	my $node = new_clock_server($name, layout => [ $epoch_ms, 41, 5, 12 ], conf => "snowflake.registry = '" . place($registry) . "'\n"
		  . "snowflake.lease_duration = 6s\nsnowflake.start_timeout = " . 30 * slowness() . "s\n" . ($conf // ''));
	move_clock($_, 0) for $registry, $node;
	my $session = session($node);
	my ($last, $worker, $falls) = (0, undef, 0);
	my $one = sub {
		my $id = call($session);
		return $id if $id !~ /^\d{6,}$/;
		$worker //= $id >> 12 & 31;
		$falls++ if $id <= $last || ($id >> 12 & 31) != $worker;
		$last = $id;
		$ids++;
		return sprintf('%.1f', ($id >> 17) / 1000 + $epoch_ms / 1000 - time());    # relative to this program's time, in s
	};
	# Gets ids for so many seconds, and returns the error, if any.
	my $flow = sub {
		my $end = time() + $_[0];
		while (time() < $end) { my $id = $one->(); return $id if $id !~ /^-?[\d.]+$/; sleep(0.02); }
		return '';
	};
	$one->();
	subtest $name => sub {
		$code->($node, $one, $flow);
		is($falls, 0, 'no id is below one before it, or of another worker id (G9)');
		is(status($node, 'leases_acquired_total'), 1, 'one lease was acquired');
	};
	$trials++;
	$session->quit;
	$node->stop('fast');
	return;
}

# The window has moved, and the keeper reports no error.
sub moves
{
	my ($node, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $end = status($node, 'window_end');
	ok(wait_until('the window to move', sub { status($node, "window_end > '$end' AND last_error IS NULL") eq 't' }), $what);
	return;
}

witnessed('back_by_59_s_as_the_registry', sub {
	my ($node, $one, $flow) = @_;
	move_clock($_, -59) for $registry, $node;
	is($flow->(8), '', 'ids flow for longer than a window lasts');
	cmp_ok($one->(), '>', -25, '... and lead the wall clock');
	moves($node, '... the window moves, asked for with the wall clock');
	my $lead_s = status($node, 'clock_lead_seconds');
	cmp_ok($lead_s, '>', 30, '... the clock of ids leads, ...');
	cmp_ok($lead_s, '<', 56, '... by less and less');
	is(status($node, 'clock_bridged_total'), 1, '... which is one step');
	# Until the clock has caught up.
	for (1 .. 30) { let_pass($_, 4) for $registry, $node; $one->(); }
	is(status($node, "state, clock_lead_seconds < 0.001, last_error IS NULL"), 'issuing|t|t', 'then they are one clock again');
	moves($node, '... and the window moves');
});

witnessed('back_by_59_s_alone', sub {
	my ($node, $one, $flow) = @_;
	move_clock($node, -59);
	is($flow->(8), '', 'ids flow for longer than a window lasts');
	moves($node, '... the window moves, asked for with the clock of ids');
	move_clock($node, 0);
	is($flow->(3), '', 'put right, ids flow');
	is(status($node, "clock_lead_seconds < 0.001, clock_bridged_total"), 't|1', '... by the wall clock');
	moves($node, '... and the window moves');
});

# As of a virtual machine that stood still for an hour, with its monotonic clock.
witnessed('a_leap_that_was_right', sub {
	my ($node, $one, $flow) = @_;
	let_pass($registry, $hour_s);
	move_clock($node, $hour_s);
	my $answers = sub { return value($node, 'SELECT registry_answers_total FROM snowflake_metrics'); };
	my ($began, $before) = (time(), $answers->());
	cmp_ok($one->(), '<', 10, 'an hour ahead, the leap is held');
	ok(wait_until('the registry to bear it out', sub { $one->() > $hour_s - 10 }), '... until the registry is asked');
	my $took = time() - $began;
	figures('a leap that the registry bore out was believed after %.1f s', $took);
	# The machine may have been busy.
	ok($took < 8 * slowness() || $answers->() - $before <= 2, '... which is with the next exchange, or the one after');
	is($flow->(3), '', '... then ids flow');
	is(status($node, "state, clock_lead_seconds < 0.001, last_error IS NULL"), 'issuing|t|t', '... by the wall clock');
	moves($node, '... and the window moves');
}, "snowflake.max_leap = 1min\n");

witnessed('a_leap_of_both', sub {
	my ($node, $one, $flow) = @_;
	move_clock($_, $hour_s) for $registry, $node;
	is($flow->(8), '', 'ids flow for longer than a window lasts');
	cmp_ok($one->(), '<', 10, '... and are held');
	moves($node, '... the window moves, asked for with the time of before');
	let_pass($_, 601) for $registry, $node;
	ok(wait_until('the leap to be followed', sub { $one->() > $hour_s }), 'after ten minutes the leap is followed');
	is($flow->(3), '', '... ids flow');
	moves($node, '... and the window moves');
}, "snowflake.max_leap = 1min\n");

witnessed('wrong_by_an_hour', sub {
	my ($node, $one, $flow) = @_;
	my $off = sub {
		my ($sign) = @_;
		my ($state, $error) = query_error($node, 'postgres', 'SELECT snowflake_nextval()');
		like($error, qr/the node's clock is off by $sign\d+\.\d{3} s/, '... and says that it is the clock');
		return $state;
	};
	move_clock($node, $hour_s);
	is($off->(''), 'SF002', 'ahead by an hour, a call fails');
	move_clock($node, 0);
	ok(wait_until('ids', sub { $one->() =~ /^-?[\d.]+$/ }), 'put right, ids flow');
	is($flow->(3), '', '... and go on');

	move_clock($node, -$hour_s);
	is($flow->(8), '', 'back by an hour, ids flow as long as the registry bears their clock out');
	# At half speed the lead does not last for ever.
	my $id = '';
	for (1 .. 20) { let_pass($_, 4) for $registry, $node; $id = $one->(); last if $id !~ /^-?[\d.]+$/; }
	is($id, 'SF002', '... and then a call fails');
	is($off->('-'), 'SF002', '... in a new session, too');
	my $now_s = $registry->{snowflake_offset_ns} / 1e9;
	move_clock($node, $now_s);
	ok(wait_until('ids', sub { $one->() =~ /^-?[\d.]+$/ }), 'put right, ids flow');
	is($flow->(3), '', '... and go on');
	is(status($node, "clock_lead_seconds < 0.001"), 't', '... by the wall clock');
}, 'snowflake.start_timeout = ' . 5 * slowness() . "s\n");

figures('%d trials (nodes), %d ids', $trials, $ids);
$registry->stop('fast');
done_testing();
