# Two of eight worker ids are the reserve. Only these two are used while a promoted registry settles
# ("Settling", section 4 of the design). The others are held back, and the error (SF004) says so.
# After half of the settling time, neither earlier nor later, all worker ids are available again.

use strict;
use warnings;

use ProtocolTest qw(try_sql);
use ReplicationTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $db = 'postgres';
my $small = new_server('small', streaming => 1, late => 1, conf => "snowflake.lease_duration = 8s\nsnowflake.max_clock_skew = 0\nsnowflake.start_timeout = 60s\n");
start_server($small);
value($small, q{CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1ms time=41 worker=3 seq=12');
	SELECT snowflake_nextval()});
my $first = standby_of($small, 'first');
my $next = standby_of($first, 'next');
$small->wait_for_catchup($first, 'replay', $small->lsn('flush'));
$first->promote;
ok(wait_until('the cascaded standby follows', sub {
	value($next, q{SELECT received_tli = 2 FROM pg_stat_wal_receiver}) eq 't';
}), 'a standby of the promoted server follows it');
$first->stop('fast');
$next->promote;

my $tick = q{floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000};
my $session = $next->background_psql($db, on_error_stop => 0);
$session->query_safe('\set VERBOSITY verbose');
my (@tries, $detail);
for my $try (1 .. 3000)
{
	my $began = $session->query_safe('SELECT extract(epoch FROM clock_timestamp())');
	my ($state, $text) = try_sql($session,
		"SELECT extract(epoch FROM clock_timestamp())"
		  . " FROM snowflake_lease_acquire('n', 0, $tick, '8 s', sha256(uuid_send(gen_random_uuid())), 0, NULL)");
	# The registry read its clock in between.
	push @tries, [ $state, $state eq '00000' ? $text : $began ];
	($detail) = $text =~ /DETAIL:\s+(.*)/ if $state eq 'SF004' && !defined $detail;
	last if $state eq '00000' && $try > 3;
	sleep(0.02);
}
$session->quit;
my $half = value($next,
	'SELECT extract(epoch FROM settles_until - settling_us / 2 * interval $$1 us$$) FROM snowflake_origin');
# It is counted by another clock than settles_until.
my ($before, $after) = ($half - 0.01, $half + 0.01);
my %states = map { $_->[0] => 1 } @tries;
is(scalar(grep { $_->[0] eq '00000' && $_->[1] < $before } @tries), 2,
	'of 7 free worker ids two can be had');
is(join(' ', sort keys %states), '00000 SF004', '... and then all others are held back');
is(scalar(grep { $_->[0] eq 'SF004' && $_->[1] > $after } @tries), 0,
	'... not a moment longer than half of the time that it settles');
is(scalar(grep { $_->[0] eq '00000' && $_->[1] > $before } @tries), 1,
	'... and afterwards they are there again');
like($detail, qr/^Of 8 worker ids, 3 are leased, and 5 are held back until .* commits of the registry may have been lost/, '... which the error says');
my ($held_back, $settled) = $detail =~ /held back until (.*?), because .* has settled, at (.*)\./;
is(value($next, "SELECT abs(extract(epoch FROM '$held_back'::timestamptz) - $half) < 1, '$settled'::timestamptz > '$held_back'"), 't|t',
	'... with both times');
is(value($next, 'SELECT timeline FROM snowflake_origin'), '3', 'snowflake_origin has the timeline')
  or diag(join("\n", map { "@$_" } @tries));
like(value($next, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'ids flow');
is(value($next, 'SELECT count(*) FROM snowflake_registry'), value($next, 'SELECT count(DISTINCT worker_id) FROM snowflake_registry'),
	'each worker id is leased once');
$_->stop('fast') for $next, $small;
done_testing();
