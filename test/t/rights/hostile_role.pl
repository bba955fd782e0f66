# A node's role is hostile (G1, G4). Whatever it calls of the registry's functions, two honest nodes
# of the same registry issue no equal ids, and are never long without ids.
#
# The fuzzer calls the functions a hundred thousand times with arguments that a seed generates:
# bounds, odd times, its own leases and secrets, secrets of others that it cannot know and, in one
# part, the role of the honest nodes. SNOWFLAKE_FUZZ_SECONDS sets how long it calls them instead.
# Not in the default run: a fuzzer, which needs a minute of processor time for its hundred thousand
# calls.

use strict;
use warnings;

use HonestNodes;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $seed = seed();
my $calls = $ENV{SNOWFLAKE_FUZZ_SECONDS} ? 'inf' : 100_000;
# After that time a role begins no more pieces: a slow machine makes fewer calls.
my $enough_s = $ENV{SNOWFLAKE_FUZZ_SECONDS} ? $ENV{SNOWFLAKE_FUZZ_SECONDS} / 2 : 60 * slowness();
HonestNodes::start();
my $tick = tick();

sub pick { return $_[ rand @_ ]; }

my @odd = ('0', '-1', '1', '9223372036854775807', '(-9223372036854775808)', '2147483648', '4611686018427387904', 'NULL');
sub when { return pick("$tick", "$tick", "$tick", "$tick + " . int(rand(30_000)), "$tick - " . int(rand(30_000)), "$tick + 9500", "$tick - 9500", pick(@odd)); }
sub duration { return pick(q{'1 s'}, q{'10 s'}, q{'10 s'}, q{'1 h'}, q{'1 d'}, q{'25 h'}, q{'0'}, q{'-1 s'}, q{'300000 years'}, 'NULL'); }
sub slot { return int(rand(6)); }
sub secret { my ($i) = @_; return pick(":'t$i'", ":'t$i'", ":'t$i'", "'\\x" . join('', map { sprintf '%x', rand 16 } 1 .. 32) . "'", 'NULL', q{''}); }
sub lease { my ($i) = @_; return pick(":l$i", ":l$i", ":l$i", ":l$i + 1", ":l$i - 1", ":l$i + " . int(rand(100)), pick(@odd)); }

sub random_call
{
	my $i = slot();
	my $kind = rand();
	my ($now, $for) = (when(), duration());
	if ($kind < 0.15)
	{
		return "SELECT uuid_send(gen_random_uuid()) AS t$i \\gset\nSELECT lease_id AS l$i, window_end AS e$i FROM ids.snowflake_lease_acquire("
		  . pick(q{'x'}, q{''}, 'NULL', q{repeat('y', 300)}) . ', ' . pick(0, 0, 0, 1, -1, 'NULL')
		  . ", $now, $for, sha256(:'t$i'), 0, NULL) WHERE lease_id IS NOT NULL \\gset\n";
	}
	if ($kind < 0.35)
	{
		my $seen = pick(0, 0, 0, lease($i), pick(@odd));
		my $own = pick(":'t$i'", q{uuid_send(gen_random_uuid())});
		return "SELECT lease_id AS l$i, window_end AS e$i FROM ids.snowflake_lease_acquire('x', 0, $now, $for, sha256($own), $seen, " . pick('NULL', 'NULL', $tick, when()) . ") WHERE lease_id IS NOT NULL \\gset\n";
	}
	my ($id, $secret) = (lease($i), secret($i));
	if ($kind < 0.7) { return "SELECT ids.snowflake_lease_extend($id, " . pick("sha256($secret)", "sha256($secret)", $secret) . ", $now, $for, " . pick(":e$i", 0, ":e$i + 1", when()) . ", 0, 0) \\g /dev/null\n"; }
	return "SELECT ids.snowflake_lease_release($id, $secret, " . pick(":e$i - 1", ":e$i - 10000", when()) . ', ' . pick(":e$i", 0, when()) . ") \\g /dev/null\n";
}

my $begin = join '', map { "\\set l$_ 1\n\\set e$_ 1\n\\set t$_ '\\\\x11111111111111111111111111111111'\n" } 0 .. 5;
my (%answers, $asked);
for my $role (qw(hostile honest))
{
	# In pieces, because one script with all calls would be too large for one run.
	my ($done, $started) = (0, time());
	while ($done < $calls / 2 && time() - $started < $enough_s)
	{
		my $count = $calls / 2 - $done < 5_000 ? $calls / 2 - $done : 5_000;
		my (undef, $stderr) = run_as($role, "\\set VERBOSITY sqlstate\n$begin" . join('', map { random_call() } 1 .. $count));
		$answers{$_}++ for $stderr =~ /(?:ERROR|FATAL):\s+(\w{5})/g;
		unlike($stderr, qr/server closed|PANIC|XX\d{3}/, "$role: $count calls, none of which the server was not ready for");
		$done += $count;
	}
	$asked += $done;
	figures('%s: %d calls in %.1f s', $role, $done, time() - $started);
}
figures('%s', join ', ', map { "$_ $answers{$_}" } sort keys %answers);
cmp_ok($answers{$_} // 0, '>', 50, "there was an answer $_ in plenty") for qw(22023 22004 SF002);

my ($ids, $duplicates) = honest_nodes_are_well();
diag("trials $asked calls, $ids ids, $duplicates duplicates, seed $seed");
done_testing();
