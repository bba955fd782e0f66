# A registry that is unavailable, or far away. While it is down, a node continues until its two
# ranges are used up. Then calls fail with SF005, and the error names the segment, the registry's
# last error, and how long ago that error was. When the registry is back, the node continues by
# itself. If the registry takes 200 ms to respond, no call waits once ranges have grown: at 100,000
# numbers a second, from a cold start with ranges of 1,000.
# Not in the default run: it waits for windows to end many times.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use Relay;
use SegmentsTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $registry = segments_registry('registry', segments => { ticket => 'max_step => 1000', near => '', far => '' }, conf => "listen_addresses = '127.0.0.1'\n");
append_to_file($registry->data_dir . '/pg_hba.conf', "host all node 127.0.0.1/32 trust\n");
$registry->reload;
my $relay = Relay->new($registry->port);
my $node = segment_node('node', "host=127.0.0.1 port=$relay->{port} dbname=postgres user=node", conf => "snowflake.start_timeout = 1s\n");
my (%issued, $duplicates);
$duplicates = 0;

# A busy machine may need longer than a second for a range.
my $patiently = q{SET snowflake.start_timeout = '60s'};
sub take { my @numbers = split /\n/, value($node, "$patiently; SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, $_[0])"); $duplicates += grep { $issued{$_}++ } @numbers; return scalar @numbers; }
sub left { return shown($node, 'left_here'); }

sub away
{
	my ($name, $reason, $begin, $end) = @_;
	subtest $name => sub {
		# The next range is requested when a tenth of the present one is left.
		ok(wait_until('two ranges', sub { take(150); left() > 1000 }), 'the node has two ranges');
		$begin->();
		my $left = left();
		is(take($left), $left, "all $left numbers that it has are issued");
		my $error;
		ok(wait_until('an error', sub {
			(my $state, $error) = query_error($node, 'postgres', q{SELECT snowflake_segment_nextval('ticket')});
			return $state eq 'SF005' && $error =~ $reason;
		}), 'then there is none, SF005, which says why') or diag($error);
		like($error, qr/ERROR:  SF005: segment "ticket" has no numbers left on this node\n/, '... and of which segment');
		my ($ago) = $error =~ /DETAIL:  The keeper's last error, (\d+\.\d) s ago: \S/;
		ok(defined $ago && $ago < 30 * slowness(), '... and how long ago') or diag($error);
		like($error, qr/HINT: .*as soon as the registry allocates a range/, '... and what happens next');
		is((query_error($node, 'postgres', q{SET snowflake.start_timeout = 0; SELECT snowflake_segment_nextval('ticket')}))[0], 'SF005', 'a call that may not wait fails, too');
		# A call that waits gets a number when the registry is back.
		my $session = $node->background_psql('postgres', on_error_stop => 0);
		$session->{stdin} .= "SET snowflake.start_timeout = '120s'; SELECT snowflake_segment_nextval('ticket');\n";
		$session->{run}->pump_nb;
		ok(wait_until('it to wait', sub { value($node, q{SELECT count(*) FROM pg_stat_activity WHERE query ~ 'ticket' AND state = 'active' AND pid <> pg_backend_pid()}) eq '1' }), 'a call waits');
		my $back = time();
		$end->();
		ok(wait_until('numbers', sub { $session->{run}->pump_nb; $session->{stdout} =~ /^\d+$/m }), '... and is answered when the registry is back');
		figures('%s: the first number %.1f s after it was back', $name, time() - $back);
		$duplicates += grep { $issued{$_}++ } $session->{stdout} =~ /^(\d+)$/mg;
		$session->{stdin} .= "\\q\n";
		$session->{run}->finish;
		is(take(10), 10, 'numbers flow');
	};
	return;
}

away('stopped', qr/Connection refused|server closed the connection|could not connect|the database system is/, sub { $registry->stop('immediate') }, sub { $registry->start });
away('cut off', qr/time|closed/i, sub { $relay->tell('drop') }, sub { $relay->tell('pass forgotten') });
is($duplicates, 0, 'of ' . keys(%issued) . ' numbers none was issued twice');

# Makes calls one after the other at that rate, for so many seconds. Returns (numbers, the longest
# call in ms while ranges grow, for so many seconds, and afterwards, how many took more than 400 ms
# afterwards).
sub calls
{
	my ($segment, $seconds, $growing) = @_;
	return split /\|/, value($node, qq{
		CREATE TEMP TABLE result (numbers bigint, first float8, later float8, slow int);
		SET snowflake.start_timeout = '60s';
		DO \$\$
		DECLARE
			began timestamptz := clock_timestamp(); since timestamptz := began; now timestamptz; took float8;
			n bigint := 0; first float8 := 0; later float8 := 0; slow int := 0;
		BEGIN
			WHILE since < began + '$seconds s' LOOP
				PERFORM snowflake_segment_nextval('$segment');
				now := clock_timestamp();
				took := 1000 * extract(epoch FROM now - since);
				IF now < began + '$growing s' THEN first := greatest(first, took);
				ELSE
					later := greatest(later, took);
					slow := slow + (took > 400)::int;
				END IF;
				n := n + 1;
				-- Not faster than that.
				IF n % 1000 = 0 THEN PERFORM pg_sleep(n / 100000.0 - extract(epoch FROM now - began)); END IF;
				since := clock_timestamp();
			END LOOP;
			INSERT INTO result VALUES (n, first, later, slow);
		END \$\$;
		TABLE result});
}

subtest 'a registry that is far away' => sub {
	my ($numbers, $first, $later, $slow) = calls('near', 4, 2);
	figures('a registry that answers at once: %d numbers in 4 s, the longest call %.1f ms in the first 2 s, %.1f ms after', $numbers, $first, $later);
	$relay->tell('delay 0.2');
	# If something stood still, ranges may not have grown in that time.
	for (1 .. 5)
	{
		($numbers, $first, $later, $slow) = calls('far', 7, 5);
		last if value($registry, q{SELECT newest FROM snowflake_segment WHERE name = 'far'}) > 8000;
	}
	figures('a registry that answers in 200 ms: %d numbers in 7 s, the longest call %.1f ms in the first 5 s, %.1f ms after; %d after took more than 400 ms', $numbers, $first, $later, $slow);
	cmp_ok(value($registry, q{SELECT newest FROM snowflake_segment WHERE name = 'far'}), '>', 8000, 'ranges have grown');
	# An exchange takes some 0.8 s, and each range is at most eight times as long as what was used
	# before. A call that waited for each range would wait all the time. A busy machine may pause
	# occasionally.
	cmp_ok($slow, '<=', 3, 'and nobody waits for the next after the first seconds');
	$relay->tell('pass');
};

$node->stop('fast');
$registry->stop('fast');
$relay->finish;
done_testing();
