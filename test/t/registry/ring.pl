# The registry protocol, called as a keeper would (section 4 of the design). Under attack is G1: windows of one worker id
# never overlap, whatever is acquired, extended, released or left to expire, in whatever order and with whatever clocks.
#
# Ticks here are of any time, so clocks are not judged; whoever releases a lease by SQL may then have used all of its window,
# and that is what is kept. What is kept where they are judged has a part of its own.
#
# The last part compares random operations with a model of the rules. SNOWFLAKE_SEED repeats a run.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $max_tick = (1 << 41) - 1;
my $server = new_server('ring', conf => "snowflake.max_clock_skew = 0\nsnowflake.max_lease_duration = 1d\n");
start_server($server);

my $databases = 0;

# A fresh registry, with a layout of datacenter and worker bits unless it is the default. Returns a session.
sub registry
{
	my ($datacenter_bits, $worker_bits) = @_;
	my $dbname = 'ring_' . ++$databases;
	$server->safe_psql('postgres', "CREATE DATABASE $dbname");
	my $session = $server->background_psql($dbname, on_error_stop => 0);
	$session->set_query_timer_restart;
	$session->query_safe('\set VERBOSITY verbose');
	$session->query_safe('CREATE EXTENSION snowflake');
	my $sequence_bits = 22 - ($datacenter_bits // 0) - ($worker_bits // 10);
	$session->query_safe("INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, $datacenter_bits, $worker_bits, $sequence_bits, false)")
	  if defined $worker_bits;
	return wantarray ? ($session, $dbname) : $session;
}

# Returns (SQLSTATE, result or error text).
sub try_sql
{
	my ($session, $sql) = @_;
	my $out = $session->query($sql);
	my $err = $session->{stderr};
	$session->{stderr} = '';
	return ($err =~ /ERROR:\s+(\w{5}):/ ? ($1, $err) : ('00000', $out));
}

sub state_of { return (try_sql(@_))[0]; }

my $columns = 'lease_id, token, worker_id, window_start, window_end';

# Returns ($lease, SQLSTATE, error text): a lease is { id, token, worker, start, end }.
sub acquire
{
	my ($session, $now, $duration, $datacenter) = @_;
	my ($state, $text) = try_sql($session, sprintf(q{SELECT %s FROM snowflake_acquire('n', %d, %s, '%s')}, $columns,
		$datacenter // 0, $now, $duration // '1 min'));
	return (undef, $state, $text) if $state ne '00000';
	my %lease;
	@lease{qw(id token worker start end)} = split /\|/, $text;
	return (\%lease, $state, $text);
}

sub extend
{
	my ($session, $lease, $now, $duration) = @_;
	return try_sql($session, sprintf(q{SELECT snowflake_extend(%s, '%s', %s, '%s')}, $lease->{id}, $lease->{token}, $now, $duration // '1 min'));
}

sub release
{
	my ($session, $lease, $last) = @_;
	return try_sql($session, sprintf(q{SELECT snowflake_release(%s, '%s', %s)}, $lease->{id}, $lease->{token}, $last));
}

sub registry_rows
{
	return $_[0]->query_safe('SELECT lease_id, token, worker_id, window_start, window_end FROM snowflake_registry ORDER BY worker_id');
}

sub watermarks
{
	return $_[0]->query_safe('SELECT worker_id, last_tick FROM snowflake_watermark ORDER BY worker_id');
}

### 1,030 leases in a row, live ones in between: round and round, and never a live one

{
	my $session = registry();
	my $now = 1_000_000_000;
	my (%live, %last_end, $previous, $first);
	my ($wraps, $wrong, $overlaps, $skipped) = (0, 0, 0, 0);
	for my $i (1 .. 1030)
	{
		my ($lease, $state, $text) = acquire($session, $now += 100, '1 s');
		die "lease $i: $text" unless $lease;
		my $worker = $lease->{worker};
		++$wrong if $live{$worker};
		# In the ring's order: from lease_id on, over those that live, or may have been used up to now.
		my $expected = $lease->{id} % 1024;
		while ($live{$expected} || ($last_end{$expected} // -1) >= $now) { $expected = ($expected + 1) % 1024; ++$skipped; }
		++$wrong if $worker != $expected;
		++$overlaps if exists $last_end{$worker} && $lease->{start} <= $last_end{$worker};
		++$wraps if defined $previous && $worker < $previous;
		$previous = $worker;
		# Every fifth lives on, to be released much later; the first of all to the end, so that the ring meets it again.
		$live{$worker} = $lease;
		$first //= $worker;
		my @give = $i % 5 != 1 ? ($lease) : keys %live > 150 ? $live{ (grep { $_ != $first } keys %live)[0] } : ();
		for my $gone (@give)
		{
			my $last = $gone->{start} + int(rand(10));
			my ($code, $answer) = release($session, $gone, $last);
			++$wrong if $code ne '00000' || $answer ne 't';
			$last_end{ $gone->{worker} } = $gone->{end} - 1;
			delete $live{ $gone->{worker} };
		}
	}
	is($wrong, 0, 'no lease got a live worker id, and each the next one of the ring');
	is($overlaps, 0, 'every window starts above its watermark');
	cmp_ok($wraps, '>=', 1, 'past 1023 the ring goes on at 0');
	cmp_ok($skipped, '>=', 1, 'live worker ids lay on the way');
	is($session->query_safe('SELECT string_agg(worker_id::text, chr(32) ORDER BY worker_id) FROM snowflake_registry'),
		join(' ', sort { $a <=> $b } keys %live), 'the registry holds just those that live');
	$session->quit;
}

### All worker ids leased

{
	my $session = registry(0, 3);
	my @leases = map { (acquire($session, 1000 + $_, '1 min'))[0] } 0 .. 7;
	is(join(' ', sort { $a <=> $b } map { $_->{worker} } @leases), '0 1 2 3 4 5 6 7', 'eight leases of eight');
	my $before = registry_rows($session);
	my (undef, $state, $text) = acquire($session, 2000);
	is($state, 'SF004', 'the ninth is refused');
	like($text, qr/DETAIL:.*All 8 worker ids.*2025-01-01/s, '... with the time when the first of them ends');
	# The first window ends at tick 61000.
	is($session->query_safe(q{SET timezone = 'UTC'}), '', 'UTC');
	like((acquire($session, 2000))[2], qr/2025-01-01 00:01:01\+00/, '... which is when the first window ends');
	is((acquire($session, 60999))[1], 'SF004', 'a lease lives until its window has ended');
	is(registry_rows($session), $before, '... and a refusal changes nothing');
	my ($lease) = acquire($session, 61000);
	is($lease->{worker}, $leases[0]{worker}, 'the first that ended is drawn again');
	is($lease->{start}, 61000, '... from its end on');
	is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $lease->{worker}"), '60999',
		'an expired lease leaves the last tick of its window as the watermark');
	is((extend($session, $leases[0], 62000))[1], '', q{the old holder's lease is gone});
	is((release($session, $leases[0], 1000))[1], 'f', '... which is no error when it gives it back');
	is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $lease->{worker}"), '60999', '... and changes no watermark');
	$session->quit;
}

### Watermarks

{
	my $session = registry(0, 2);
	my ($lease) = acquire($session, 5000, '1 min');
	is((release($session, $lease, $_))[0], '22023', "released at $_, outside 4999 .. 64999: refused")
	  for 4998, 65000, -1, '9223372036854775807', q{'-9223372036854775808'};
	is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '1', '... and still leased');
	is((release($session, $lease, 64999))[1], 't', 'released at its last tick');
	is(watermarks($session), "$lease->{worker}|64999", '... which is the watermark');

	# A later lease of that worker id that begins above it; an old clock cannot pull it down.
	my %ahead = ($lease->{worker} => 64999);
	for my $n (1 .. 3)
	{
		my ($other) = acquire($session, 5000, (55 + $n) . ' s');
		isnt($other->{worker}, $lease->{worker}, 'a worker id whose watermark lies ahead of the clock is skipped');
		release($session, $other, 5000);
		$ahead{ $other->{worker} } = 60_000 + $n * 1000 - 1;
	}
	my ($lowest) = sort { $ahead{$a} <=> $ahead{$b} } keys %ahead;
	my ($drawn) = acquire($session, 5000, '1 min');
	is($drawn->{worker}, $lowest, 'where all lie ahead, the lowest is taken');
	is($drawn->{start}, 61000, '... and its window starts above it');
	is($drawn->{end}, 121000, '... and lasts as long as any other');
	is((release($session, $drawn, 60999))[1], 't', 'a lease that used nothing is given back at the tick before its window');

	# Whatever stands there already stays, if it is higher.
	($drawn) = acquire($session, 5000);
	$session->query_safe("UPDATE snowflake_watermark SET last_tick = 700000 WHERE worker_id = $drawn->{worker}");
	release($session, $drawn, $drawn->{start});
	is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $drawn->{worker}"), '700000', 'a release never lowers a watermark');
	# The others never end, so the one that has ended is needed.
	($drawn) = acquire($session, 800000, '1 s');
	acquire($session, 800000, '1 day') for 1 .. 3;
	$session->query_safe("UPDATE snowflake_watermark SET last_tick = 900000 WHERE worker_id = $drawn->{worker}");
	is((acquire($session, 801000, '1 s'))[0]{start}, 900001, 'expired, it is drawn from its watermark on');
	is($session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $drawn->{worker}"), '900000', 'nor does expiry');
	$session->quit;
}

### extend

{
	my $session = registry();
	my ($lease) = acquire($session, 1000, '1 min');
	is((extend($session, $lease, 2000, '1 min'))[1], '62000', 'extend moves the end');
	is((extend($session, $lease, 1000, '1 s'))[1], '62000', '... never back, for a shorter duration');
	is((extend($session, $lease, q{'-9223372036854775808'}, '1 s'))[1], '62000', '... nor for an old clock');
	is((extend($session, $lease, 500000, '1 min'))[1], '560000', 'a window that has ended, still in the registry, is moved too');
	my $rows = registry_rows($session);
	my %wrong = (%$lease, token => '00000000-0000-0000-0000-000000000000');
	is((extend($session, \%wrong, 900000))[1], '', 'with a wrong token: null');
	is((release($session, \%wrong, 1000))[1], 'f', '... and false');
	is((release($session, \%wrong, -5))[1], 'f', '... before anything is said of the ticks');
	%wrong = (%$lease, id => $lease->{id} + 1);
	is((extend($session, \%wrong, 900000))[1], '', 'with a wrong lease id: null');
	is(registry_rows($session), $rows, '... and nothing has changed');
	is((extend($session, $lease, '9223372036854775807', '1 day'))[1], $max_tick + 1, 'the end stops where the layout does');
	is((release($session, $lease, $max_tick))[1], 't', '... and its last tick can be given back');
	is((release($session, $lease, $max_tick))[1], 'f', '... once');
	is((extend($session, $lease, 900000))[1], '', '... and is gone then');
	$session->quit;
}

### Arguments

{
	my $session = registry();
	my @bad = ('0', '0.5 s', '999999 us', '-1 s', '1 day 1 us', '24 h 1 us', '1 mon', '1 year', '-1 mon', '178000000 years', '-178000000 years');
	my ($lease) = acquire($session, 1000);
	is((acquire($session, 1000, $_))[1], '22023', "acquire for $_") for @bad;
	is((extend($session, $lease, 1000, $_))[0], '22023', "extend by $_") for @bad;
	for my $good ('1 s', '1 day', '24 h', '1 mon -29 days', '2 days -24 h')
	{
		my ($drawn, $state, $text) = acquire($session, 1000, $good);
		is($state, '00000', "acquire for $good") or diag($text);
		is($drawn->{end} - $drawn->{start}, $good eq '1 s' ? 1000 : 86400000, '... is what the window is');
	}
	my %arguments = (
		snowflake_acquire => [ q{'n'}, 0, 1000, q{'1 min'} ],
		snowflake_extend => [ $lease->{id}, "'$lease->{token}'", 1000, q{'1 min'} ],
		snowflake_release => [ $lease->{id}, "'$lease->{token}'", 1000 ]);
	for my $function (sort keys %arguments)
	{
		for my $i (0 .. $#{ $arguments{$function} })
		{
			my @list = @{ $arguments{$function} };
			$list[$i] = 'NULL';
			is(state_of($session, "SELECT $function(" . join(', ', @list) . ')'), '22004', "$function: argument " . ($i + 1) . ' null');
		}
		my $call = "SELECT $function(" . join(', ', @{ $arguments{$function} }) . ')';
		for my $level ('REPEATABLE READ', 'SERIALIZABLE')
		{
			my ($state, $text) = try_sql($session, "BEGIN ISOLATION LEVEL $level\\; $call\\; COMMIT");
			is($state, '55000', "$function at $level");
			like($text, qr/read committed/, '... in words');
			$session->query('ROLLBACK');
			$session->{stderr} = '';
		}
		is(state_of($session, "BEGIN READ ONLY\\; $call\\; COMMIT"), '25006', "$function in a read-only transaction");
		$session->query('ROLLBACK');
		$session->{stderr} = '';
	}
	is((acquire($session, 1000, '1 min', $_))[1], '22023', "datacenter $_, of none") for -1, 1, 2147483647, -2147483648;

	for my $now (q{'-9223372036854775808'}, -1, 0)
	{
		my ($drawn) = acquire($session, $now, '1 min');
		is("$drawn->{start} $drawn->{end}", '0 60000', "now_tick $now: a window from 0 on");
	}
	my ($drawn) = acquire($session, $max_tick, '1 min');
	is("$drawn->{start} $drawn->{end}", "$max_tick " . ($max_tick + 1), 'the last tick of all: a window of one');
	for my $now ($max_tick + 1, '9223372036854775807')
	{
		my (undef, $state, $text) = acquire($session, $now);
		is($state, 'SF003', "now_tick $now: the layout's time is used up");
		like($text, qr/DETAIL:.*HINT:/s, '... with detail and hint');
	}
	# Every worker id's last tick used: nothing is left, and nothing wraps.
	$session->query_safe("ALTER TABLE $_ DISABLE TRIGGER snowflake_guard_truncate") for 'snowflake_registry', 'snowflake_watermark';
	$session->query_safe("TRUNCATE snowflake_registry, snowflake_watermark");
	$session->query_safe("ALTER TABLE $_ ENABLE ALWAYS TRIGGER snowflake_guard_truncate") for 'snowflake_registry', 'snowflake_watermark';
	$session->query_safe("INSERT INTO snowflake_watermark SELECT n, $max_tick FROM generate_series(0, 1023) n");
	is((acquire($session, $max_tick))[1], 'SF003', 'all watermarks at the last tick: used up');
	is((acquire($session, 5))[1], 'SF003', '... whatever the clock shows');
	$session->quit;
}

### Datacenters

{
	my $session = registry(5, 5);
	my %drawn;
	for my $datacenter (0, 1, 17, 31)
	{
		for my $i (1 .. 32)
		{
			my ($lease, $state, $text) = acquire($session, 1000 + $i, '1 min', $datacenter);
			die "datacenter $datacenter, $i: $text" unless $lease;
			++$drawn{$datacenter}{ $lease->{worker} };
		}
		is(join(' ', sort { $a <=> $b } keys %{ $drawn{$datacenter} }), join(' ', map { $datacenter * 32 + $_ } 0 .. 31),
			"datacenter $datacenter draws all of its own, and no other's");
		is((acquire($session, 1000, '1 min', $datacenter))[1], 'SF004', '... and no more');
	}
	is((acquire($session, 1000, '1 min', 16))[1], '00000', 'another datacenter has its own left');
	is((acquire($session, 1000, '1 min', $_))[1], '22023', "datacenter $_ is out of range") for -1, 32, 2147483647;
	$session->quit;
}

### Two at once

{
	my ($one, $dbname) = registry(0, 3);
	my $two = $server->background_psql($dbname, on_error_stop => 0);
	my $pid = $two->query_safe('SELECT pg_backend_pid()');
	for my $end ('COMMIT', 'ROLLBACK')
	{
		$one->query_safe('BEGIN');
		my ($first) = acquire($one, 1000);
		$two->{stdin} .= "SELECT worker_id, lease_id FROM snowflake_acquire('second', 0, 1000, '1 min');\n\\echo done\n";
		$two->{run}->pump_nb;
		ok(wait_until('the second waits', sub {
			$server->safe_psql($dbname, "SELECT cardinality(pg_blocking_pids($pid))") eq '1';
		}), 'a second acquire waits for the first to end');
		$one->query_safe($end);
		my $out = $two->query_until(qr/done\n/, '');
		my ($worker, $lease_id) = $out =~ /^(\d+)\|(\d+)/;
		isnt($worker, $first->{worker}, "after $end it draws another worker id") if $end eq 'COMMIT';
		cmp_ok($lease_id, '>', $first->{id}, '... and another lease id');
		my $rows = $server->safe_psql($dbname, 'SELECT count(*) FROM snowflake_registry');
		is($rows, $end eq 'COMMIT' ? 2 : 3, "... and the first is there if it was committed: $end");
	}
	# extend and release of other leases do not wait for an acquire.
	my ($mine) = acquire($one, 1000);
	$two->query_safe('BEGIN');
	$two->query_safe(q{SELECT snowflake_acquire('open', 0, 1000, '1 min')});
	is((extend($one, $mine, 3000))[1], '63000', 'extend does not wait for an acquire that is under way');
	is((release($one, $mine, 3000))[1], 't', 'nor does release');
	$two->query_safe('ROLLBACK');
	$_->quit for $one, $two;
}

### Expiry needs a need

{
	my $session = registry(0, 3);
	my @leases = map { (acquire($session, 1000 + $_, '1 s'))[0] } 0 .. 5;
	my ($seventh) = acquire($session, 500_000, '1 min');
	is(join(' ', map { $_->{worker} } @leases), $session->query_safe('SELECT string_agg(worker_id::text, chr(32) ORDER BY lease_id) FROM snowflake_registry'
		. " WHERE lease_id <> $seventh->{id}"), 'while a worker id is free no lease expires, though all have ended');
	acquire($session, 500_000, '1 min');
	for my $n (0 .. 2)
	{
		my ($next) = acquire($session, 500_001 + $n, '1 min');
		is($next->{worker}, $leases[$n]{worker}, 'then one goes with each that is drawn, the one that ended first');
		is((extend($session, $leases[$n], 600_000))[1], '', '... and is gone');
	}
	is((extend($session, $leases[3], 600_000, '1 min'))[1], '660000', 'the next still lives, and moves on');

	# By the earlier clock: a node whose clock is a day ahead ends nobody's.
	my $now = $session->query_safe(q{SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000});
	($session) = registry(0, 2);
	@leases = map { (acquire($session, $now, '1 min'))[0] } 1 .. 4;
	is((acquire($session, $now + 86_400_000, '1 min'))[1], 'SF004', 'a clock that is a day ahead of the registry ends no lease');
	is((extend($session, $_, $now + 1000))[1], $now + 61_000, '... each of which goes on') for @leases;
	$session->quit;
}

### What a release keeps where clocks are judged

{
	my $session = registry();
	my $ms = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
	my $now = sub { $session->query_safe("SELECT $ms") };
	my $mark = sub { $session->query_safe("SELECT last_tick FROM snowflake_watermark WHERE worker_id = $_[0]") };
	$session->query_safe(q{SET snowflake.max_clock_skew = '10s'});
	my ($lease) = acquire($session, $now->(), '1 min');
	my $before = $now->();
	is((release($session, $lease, $lease->{start}))[1], 't', 'a lease given back at once');
	my $kept = $mark->($lease->{worker});
	# 10 s and one tick, and 5 ms.
	ok($kept >= $before + 10_006 && $kept <= $now->() + 10_006, '... keeps what a node whose clock is ahead may have used: the registry\'s clock, max_clock_skew and max_lead');
	($lease) = acquire($session, $now->(), '2 s');
	release($session, $lease, $lease->{start});
	is($mark->($lease->{worker}), $lease->{end} - 1, '... but no more than the window had');
	($lease) = acquire($session, $now->(), '1 min');
	is((release($session, $lease, $lease->{start} + 30_000))[0], 'SF002', 'a last tick that is yet to come is refused');
	is((acquire($session, $now->() + 11_000, '1 min'))[1], 'SF002', 'so is a clock that is ahead');
	$session->quit;
}

### The forms of version 1.2

{
	my $session = registry(0, 3);
	my $token = '11111111-1111-1111-1111-111111111111';
	my $drawn = sub
	{
		my ($now, $duration, $token, $seen, $before) = @_;
		my ($state, $text) = try_sql($session, sprintf(q{SELECT lease_id, worker_id, window_start, window_end FROM snowflake_lease_acquire('n', 0, %s, '%s', '%s', %s, %s)},
			$now, $duration, $token, $seen // 0, $before // 'NULL'));
		return $state eq '00000' ? $text : $state;
	};
	my $first = $drawn->(1000, '1 min', $token);
	like($first, qr/\|1000\|11000$/, 'a first window is 10 s long');
	is($drawn->(1000, '1 min', $token), $first, 'the same token again: the same lease');
	is($drawn->(5000, '1 min', $token), $first =~ s/11000$/15000/r, '... its window moved as far as a first one goes');
	is($drawn->(1000, '2 s', $token), $first =~ s/11000$/15000/r, '... and not back');
	like($drawn->(1000, '2 s', '22222222-2222-2222-2222-222222222222'), qr/\|1000\|3000$/, 'nor is it longer than what was asked for');
	is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '2', '... two leases of two tokens');
	is($drawn->(1000, '1 min', '00000000-0000-0000-0000-000000000000'), '22023', 'a token of zeros is none');
	my ($id, $worker) = split /\|/, $first;
	my $extended = sub { return (try_sql($session, "SELECT window_end FROM snowflake_lease_extend($id, '$token', $_[0], '1 min', $_[1])"))[1]; };
	is($extended->(2000, 15000), '62000', 'an extend moves the end as before');
	is($session->query_safe('SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... and nothing settles');

	# Of another lease in place of one only an earlier beginning helps.
	is($drawn->(70_000, '1 min', '33333333-3333-3333-3333-333333333333', 0, 70_000), '|||', 'no window begins before the clock');
	is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '2', '... and nothing is drawn');
	like($drawn->(70_000, '1 min', '33333333-3333-3333-3333-333333333333', 0, 70_001), qr/\|70000\|80000$/, '... but when one tick later will do');
	is(state_of($session, "BEGIN\\; SELECT snowflake_lease_extend($id, '$token', 2000, '1 min', 0)\\; COMMIT"), '25001', 'not in a transaction block');
	$session->query('ROLLBACK');
	$session->{stderr} = '';

	# Evidence: a lease that is not known, or an end.
	is($extended->(3000, 90_000), '90000', 'a window that the node knows to be longer is as long');
	is($session->query_safe('SELECT settles_until > clock_timestamp() AND NOT settling_soft FROM snowflake_origin'), 't', '... and the registry settles');
	my $until = $session->query_safe('SELECT settles_until, settling_cuts FROM snowflake_origin');
	is($extended->(3000, 95_000), '95000', 'what tells of the same loss again');
	is($session->query_safe('SELECT settles_until, settling_cuts FROM snowflake_origin'), $until, '... changes nothing');
	is($session->query_safe('SELECT snowflake_settled()'), 't', 'the operator ends it');
	is($session->query_safe('SELECT settles_until IS NULL FROM snowflake_origin'), 't', '... at once');
	is($session->query_safe('SELECT snowflake_settled()'), 'f', '... and there is nothing left to end');

	my $far = $id + 1_000_000;
	(undef, my $answer) = try_sql($session, "SELECT window_end FROM snowflake_lease_extend($far, '$token', 3000, '1 min', 0)");
	is($answer, '', 'a lease above the last one is gone');
	is($session->query_safe('SELECT last_lease_id > ' . $far . ', settles_until > clock_timestamp() FROM snowflake_origin'), 't|t', '... and the registry goes on above it, and settles');
	my $cuts = $session->query_safe('SELECT settling_cuts FROM snowflake_origin');
	(undef, $answer) = try_sql($session, 'SELECT window_end FROM snowflake_lease_extend(' . ($far + 50) . ", '$token', 3000, '1 min', 0)");
	is($session->query_safe('SELECT settling_cuts FROM snowflake_origin'), $cuts, 'another one of that loss changes nothing');
	my ($next) = split /\|/, $drawn->(3000, '1 min', '44444444-4444-4444-4444-444444444444', $far + 20_000_000);
	cmp_ok($next, '>', $far + 20_000_000, 'an acquire that has seen a higher one: on above that');
	is($session->query_safe('SELECT settling_cuts FROM snowflake_origin'), $cuts, '... and what is held back is held back already');

	# A sequence that was set back.
	$session->query_safe(q{SELECT setval(pg_get_serial_sequence('snowflake_registry', 'lease_id'), 5)});
	my ($later) = split /\|/, $drawn->(3000, '1 min', '55555555-5555-5555-5555-555555555555');
	cmp_ok($later, '>', $next, 'lease ids never go back');
	$session->quit;
}

### What is held back while it settles: half of what lost commits can have drawn, in the ring's order

{
	my $ms = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
	my $cut = sub
	{
		my ($age, $marks, $last_tick) = @_;
		my $session = registry(0, 3);
		my ($lease) = acquire($session, 1000, '1 min');
		$session->query_safe("UPDATE snowflake_registry SET renewed_at = clock_timestamp() - interval '$age'");
		$session->query_safe("INSERT INTO snowflake_watermark SELECT ($lease->{id} + n) % 8, $last_tick FROM generate_series(1, $marks) n");
		$session->query_safe(q{SELECT snowflake_settle('test')});
		my $cut = $session->query_safe('SELECT settling_cuts[1] FROM snowflake_origin');
		$session->quit;
		return $cut;
	};
	is($cut->('0 s', 0, 0), 4, 'of seven free worker ids the nearer four');
	is($cut->('0 s', 4, 1000), 4, '... also where they were used before');
	is($cut->('0 s', 4, "$ms + 60000"), 6, 'what is ruled out does not count: two of the other three');
	is($cut->('1 h', 4, "$ms - 60000"), 6, '... nor what was ruled out when the newest commit was made');
	is($cut->('1 h', 4, "$ms - 4000000"), 4, '... but for what was not any more');
}

### Random operations against a model

# The rules once more, in Perl: leases by worker id, watermarks by worker id, nothing else.
my %model;

sub model_reset
{
	my ($ring, $datacenters) = @_;
	%model = (ring => $ring, datacenters => $datacenters, live => {}, mark => {});
	return;
}

# What acquire must answer for a lease id: (worker, start, end), or SQLSTATE alone.
sub model_acquire
{
	my ($lease_id, $now, $ticks, $datacenter) = @_;
	$now = 0 if $now < 0;
	return 'SF003' if $now > $max_tick;
	my %live = %{ $model{live} };
	my %mark = %{ $model{mark} };
	my @ring = map { $datacenter * $model{ring} + ($lease_id + $_) % $model{ring} } 0 .. $model{ring} - 1;
	my @free = grep { !$live{$_} } @ring;
	my ($worker) = grep { ($mark{$_} // -1) < $now } @free;
	# Of the leases that have ended by both clocks the first, and only where no other worker id will do.
	my $clock = now_ms() - 1_735_689_600_000;
	my $ended = $now < $clock ? $now : $clock;
	if (!defined $worker)
	{
		($worker) = sort { $live{$a}{end} <=> $live{$b}{end} || $live{$a}{id} <=> $live{$b}{id} } grep { $live{$_} && $live{$_}{end} <= $ended } @ring;
		if (defined $worker)
		{
			my $end = (delete $live{$worker})->{end};
			$mark{$worker} = $end - 1 if !exists $mark{$worker} || $mark{$worker} < $end - 1;
		}
	}
	($worker) = sort { $mark{$a} <=> $mark{$b} } @free unless defined $worker;
	return 'SF004' unless defined $worker;
	my $watermark = $mark{$worker} // -1;
	my $start = $now > $watermark ? $now : $watermark + 1;
	return 'SF003' if $start > $max_tick;
	my $end = $start + $ticks > $max_tick + 1 ? $max_tick + 1 : $start + $ticks;
	$model{live} = \%live;
	$model{mark} = \%mark;
	return ($worker, $start, $end);
}

sub model_rows
{
	my $live = $model{live};
	return join("\n", map { join('|', $live->{$_}{id}, $live->{$_}{token}, $_, $live->{$_}{start}, $live->{$_}{end}) } sort { $a <=> $b } keys %$live);
}

sub model_watermarks
{
	my $mark = $model{mark};
	return join("\n", map { "$_|$mark->{$_}" } sort { $a <=> $b } keys %$mark);
}

# Perl's sort is stable, so that of equal watermarks the first on the ring wins, as it must.
use sort 'stable';

my $trials = 0;
my %kinds;
PLAN: for my $plan ([ 0, 3, 1500 ], [ 1, 2, 1000 ], [ 0, 1, 500 ], [ 0, 6, 1500 ])
{
	my ($datacenter_bits, $worker_bits, $operations) = @$plan;
	my $session = registry($datacenter_bits, $worker_bits);
	model_reset(1 << $worker_bits, 1 << $datacenter_bits);
	my $clock = 1_000_000;
	my (@history, @windows, $last_id);
	my $failed = 0;
	for my $n (1 .. $operations)
	{
		# The clock drifts on, and now and then it is wrong: back, forward, at the edges.
		$clock += int(rand(4000));
		$clock -= int(rand(100_000)) if rand() < 0.05;
		$clock += int(rand(200_000)) if rand() < 0.05;
		my $now = $clock;
		$now = (-1, 0, $max_tick - int(rand(3000)), $max_tick + 1)[ int(rand(4)) ] if rand() < 0.02;
		my $seconds = 1 + int(rand(rand() < 0.8 ? 20 : 300));
		my $lease = @history ? $history[ int(rand(@history)) ] : undef;
		# The younger ones more often: they are still leased.
		$lease = $history[ -1 - int(rand(@history > 8 ? 8 : @history)) ] if @history && rand() < 0.8;
		my ($what, $got, $expected) = ('acquire');
		if (!$lease || rand() < 0.45)
		{
			my $datacenter = int(rand($model{datacenters}));
			my ($drawn, $state) = acquire($session, $now, "$seconds s", $datacenter);
			my @answer = model_acquire($drawn ? $drawn->{id} : 0, $now, $seconds * 1000, $datacenter);
			$expected = join(' ', @answer);
			$got = $drawn ? "$drawn->{worker} $drawn->{start} $drawn->{end}" : $state;
			$what .= " $now for $seconds s in $datacenter";
			++$kinds{ $drawn ? 'acquired' : $state };
			if ($drawn && @answer == 3)
			{
				$model{live}{ $drawn->{worker} } = $drawn;
				push @history, $drawn;
				$got .= ' not rising' if defined $last_id && $drawn->{id} <= $last_id;
				$last_id = $drawn->{id};
			}
		}
		else
		{
			my $live = $model{live}{ $lease->{worker} };
			undef $live unless $live && $live->{id} == $lease->{id};
			my %shown = %$lease;
			my $wrong = rand() < 0.1;
			$shown{token} =~ tr/0123456789abcdef/123456789abcdef0/ if $wrong;
			undef $live if $wrong;
			if (rand() < 0.5)
			{
				$what = "extend $lease->{id} at $now by $seconds s";
				(undef, $got) = extend($session, \%shown, $now, "$seconds s");
				$expected = '';
				if ($live)
				{
					my $from = $now > 0 ? $now : 0;
					my $end = $from + $seconds * 1000 > $max_tick + 1 ? $max_tick + 1 : $from + $seconds * 1000;
					$live->{end} = $end if $end > $live->{end};
					$expected = $live->{end};
				}
				++$kinds{ $live ? 'extended' : 'extend refused' };
			}
			else
			{
				my $at = $live // $lease;
				my $last = $at->{start} - 1 + int(rand($at->{end} - $at->{start} + 1));
				$last = (($at->{start} - 2, $at->{end})[ int(rand(2)) ]) if rand() < 0.15;
				$what = "release $lease->{id} at $last";
				my ($state, $text) = release($session, \%shown, $last);
				$got = $state eq '00000' ? $text : $state;
				$expected = !$live ? 'f' : $last < $live->{start} - 1 || $last >= $live->{end} ? '22023' : 't';
				if ($expected eq 't')
				{
					my $worker = $lease->{worker};
					delete $model{live}{$worker};
					my $used = $live->{end} - 1;
					$model{mark}{$worker} = $used if !exists $model{mark}{$worker} || $model{mark}{$worker} < $used;
				}
				++$kinds{"release $expected"};
			}
		}
		++$trials;
		my $rows = registry_rows($session);
		my $marks = watermarks($session);
		next if $got eq $expected && $rows eq model_rows() && $marks eq model_watermarks();
		fail("seed $seed, plan @$plan, operation $n: $what");
		diag("answer: $got, expected: $expected\nregistry:\n$rows\nexpected:\n" . model_rows()
			  . "\nwatermarks:\n$marks\nexpected:\n" . model_watermarks());
		last PLAN;
	}
	pass("$operations random operations with $datacenter_bits datacenter and $worker_bits worker bits");
	$session->quit;
}
diag("$trials trials: " . join(', ', map { "$kinds{$_} $_" } sort keys %kinds));
ok($kinds{$_}, "among them: $_") for 'acquired', 'SF004', 'extended', 'extend refused', 'release t', 'release f', 'release 22023';

$server->stop('fast');
done_testing();
