# The clock steps, leaps and stops at random, with restarts, under load. The seed decides the moves.
# No id appears twice (G1), ids fall only after a step back that the log reports (G2), no id is
# ahead of the clock (G3), and ids never stop for long (G5).
# Not in the default run: sessions issue for half a minute while the clock moves.

use strict;
use warnings;

use lib 'test/perl';
use ClockTest;
use IdsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seed = seed();

for my $policy (qw(new_worker error))
{
	my $moves = $policy eq 'new_worker' ? 40 : 20;
	subtest "$policy: $moves random moves of the clock under load" => sub {
		my $wild = new_clock_server("wild_$policy",
			conf => "snowflake.on_clock_step_back = '$policy'\nsnowflake.lease_duration = 2s\nsnowflake.start_timeout = 1s\n");
		my $clients = start_clients($wild, 2, <<'SQL' x 50);
COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;
SELECT snowflake_nextval();
SELECT id FROM snowflake_nextvals(20) AS id;
\! sleep 0.003
SQL
		my ($offset_s, $lowest_s, $highest_s, $silent, $restarts) = (0, 0, 0, 0, 0);
		my $step = sub {
			$offset_s += $_[0];
			$lowest_s = $offset_s if $offset_s < $lowest_s;
			$highest_s = $offset_s if $offset_s > $highest_s;
			move_clock($wild, $offset_s);
		};
		# A duration between the two limits, small and large ones with the same probability.
		my $span = sub { return $_[0] * ($_[1] / $_[0])**rand(); };
		my $restart = sub { $restarts++; $wild->stop($_[0]); $step->($_[1]); start_server($wild); };
		my @kinds = (
			sub { $step->(-$span->(0.001, 0.02)) },
			sub { $step->(-$span->(0.02, 2)) },
			sub { $step->(-$span->(2, 2 * $hour_s)) },
			sub { $step->($span->(0.001, 1)) },
			sub { $step->($span->(1, 2 * $hour_s)) },
			sub { $step->(-$offset_s) },
			sub { freeze_clock($wild); sleep($span->(0.01, 1)); run_clock($wild) },
			sub { $restart->('fast', $span->(0.001, $hour_s) * (rand() < 0.5 ? -1 : 1)) },
			sub { $restart->('immediate', $span->(0.001, $hour_s) * (rand() < 0.5 ? -1 : 1)) },
		);
		my $ids_flow = sub {
			my $size = client_bytes($clients);
			return wait_until('ids', sub { client_bytes($clients) > $size + 20_000 });
		};
		$ids_flow->();
		for my $move (1 .. $moves)
		{
			$kinds[ rand @kinds ]->();
			# With error the clients may have to wait for the clock, so it is moved forward.
			if ($policy eq 'error' && rand() < 0.5) { sleep($span->(0.01, 0.5)); $step->($highest_s - $offset_s + 1); }
			elsif ($policy eq 'error') { sleep($span->(0.01, 0.5)); next; }
			$silent++ unless $ids_flow->();
			sleep(rand(0.2));
		}
		$step->($highest_s - $offset_s + 1);
		$silent++ unless $ids_flow->();
		stop_clients($clients);
		is($silent, 0, 'times that no ids came (G5)');
		my ($ids, $duplicates, $lowest, $highest) = compare_ids(@{ $clients->{files} });
		is($duplicates, 0, "no duplicate among $ids (G1)");

		my $falls = falls_within(@{ $clients->{files} });
		my $steps = () = slurp_file($wild->logfile) =~ /because the clock stepped back/g;
		if ($policy eq 'error') { is($falls, 0, 'ids never fell within a process (G2)'); is($steps, 0, 'and no worker id was acquired for a step back'); }
		else { cmp_ok($falls, '<=', 2 * $steps, "ids fell within a process only after a step back that the log names (G2): $falls times, $steps steps"); }
		my $ended_s = time();
		cmp_ok(($epoch_ms + tick_of($lowest)) / 1000, '>=', $^T + $lowest_s - 1, 'none is older than the earliest clock');
		cmp_ok(($epoch_ms + tick_of($highest)) / 1000, '<=', $ended_s + $highest_s + $max_lead_ms / 1000, 'none leads the latest');
		figures('%s: %d trials (moves of the clock), %d restarts, %d ids, %d duplicates, %d steps back answered, seed %d',
			$policy, $moves, $restarts, $ids, $duplicates, $steps, $seed);
		$wild->stop;
	};
}

done_testing();
