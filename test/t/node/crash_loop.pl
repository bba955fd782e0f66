# A crash loop does not use up the ring of 8 worker ids. A process is killed as soon as the server
# is up, many times. If the machine does not reboot, the node keeps its worker id across all crashes
# (G10). If each crash is followed by a reboot, it costs a worker id for the length of a first
# window, 10 s.
# Not in the default run: many restarts of a server under load.
use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

# Any process would do, and the checkpointer always exists.
sub crash
{
	my ($server) = @_;
	return kill_and_wait($server, value($server, q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'}));
}

# At most 7 while one window lasts.
sub reboot
{
	my ($server, $began) = @_;
	my $left = $began + 1.5 - time();
	sleep($left) if $left > 0;
	$server->stop('immediate');
	lose_box($server);
	$server->start;
	return;
}

for my $loop ([ 'crash', 40, \&crash, 1 ], [ 'reboot', 16, \&reboot, 8 ])
{
	my ($name, $crashes, $happen, $most_workers) = @$loop;
	my $server = new_server($name, conf => "snowflake.start_timeout = 30s\nrestart_after_crash = on\nautovacuum = off\nfsync = off\n");
	start_server($server);
	value($server, q{CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1ms time=41 worker=3 seq=12')});

	my (%seen, @refused, %workers);
	my ($ids, $twice, $longest, $began) = (0, 0, 0, time());
	for my $n (1 .. $crashes + 1)
	{
		my $round = time();
		my ($rc, $out, $err);
		# At the first call the server may not be up yet.
		ok(0, 'the server is back') unless wait_until('the server', sub {
			($rc, $out, $err) = $server->psql('postgres', "\\set VERBOSITY verbose\nSELECT snowflake_nextvals(300); SELECT worker FROM snowflake_status");
			return $rc == 0 || ($err // '') =~ /ERROR: /;
		});
		push @refused, "$n: $err" if $rc != 0;
		my @lines = split /\n/, $out // '';
		my $worker = pop @lines;
		$workers{$worker}++ if $rc == 0;
		++$ids, $twice += $seen{$_}++ ? 1 : 0 for @lines;
		$longest = time() - $round if time() - $round > $longest;
		$happen->($server, $round) if $n <= $crashes;
	}
	is(join("\n", @refused), '', "$name: ids after each of $crashes");
	is($twice, 0, "... none of $ids ids was issued twice");
	cmp_ok(scalar(keys %workers), '<=', $most_workers, '... worker ids: ' . keys %workers);
	is(scalar(() = slurp_file($server->logfile) =~ /every worker id is leased/g), 0, '... the ring was never used up');
	figures('%d trials (%s) in %.0f s, %d ids under %d worker ids, the longest wait %.1f s, %d duplicates', $crashes, $name, time() - $began, $ids,
		scalar(keys %workers), $longest, $twice);
	$server->stop('immediate');
}
done_testing();
