# A registry whose last lease has ended has lost nothing: after a restart or a crash, with and
# without preloading, it assigns both of its two worker ids at once, although both are held back
# while it settles. If leases or watermarks are gone without having ended, because their table was
# SET UNLOGGED, the registry settles ("Settling", section 4 of the design), although the postmaster
# outlives the crash; t/failover/unlogged stops it.
use strict;
use warnings;

use lib 'test/perl';
use ProtocolTest;
use SnowflakeTest;
use Test::More;

my $now = 0;
my $settles = sub { $_[0]->query_safe('SELECT settles_until IS NOT NULL FROM snowflake_origin') };
my %ends = (
	'a release' => sub { my ($session, $lease) = @_; return (release($session, $lease, $lease->{start}))[1] },
	'an expiry' => sub {
		my ($session) = @_;
		# The role's lease makes room, and then nothing is acquired.
		return $session->query_safe('SET snowflake.max_leases_per_role = 1') . lease_acquire($session, $now += 100_000, '1 min', new_secret(), 0, 0)
		  . $session->query_safe('RESET snowflake.max_leases_per_role');
	},
	'a DELETE' => sub { my ($session) = @_; return $session->query_safe('DELETE FROM snowflake_registry') },
	'an evict' => sub { my ($session) = @_; return $session->query_safe('SELECT snowflake_evict(worker_id, now()) FROM snowflake_registry') });

for my $preload (1, 0)
{
	my $server = new_server("preload_$preload", preload => $preload, conf => "snowflake.max_clock_skew = 0\n");
	start_server($server);
	my %databases;
	for my $end (sort keys %ends)
	{
		my ($session, $dbname) = registry($server, 0, 1);
		$session->quit;
		$databases{$end} = $dbname;
	}
	my $open = sub {
		my $session = $server->background_psql($_[0], on_error_stop => 0);
		$session->query_safe('\set VERBOSITY verbose');
		return $session;
	};
	for my $stop ('fast', 'immediate', 'fast')
	{
		for my $end (sort keys %ends)
		{
			my $session = $open->($databases{$end});
			my ($first) = acquire($session, $now += 100_000);
			ok(defined $first && $first->{id}, "before $end");
			$ends{$end}->($session, $first);
			is($session->query_safe('SELECT count(*) FROM snowflake_registry'), '0', '... there is no lease after it');
			$session->quit;
		}
		$server->stop($stop);
		start_server($server);
		for my $end (sort keys %ends)
		{
			my $session = $open->($databases{$end});
			my @leases = map { (acquire($session, $now += 100_000))[0] } 1, 2;
			is(join(' ', sort map { $_->{worker} // 'none' } @leases), '0 1', "after $end and a stop that was $stop, both worker ids are assigned");
			is($settles->($session), 'f', '... and the registry does not settle');
			$session->query_safe('DELETE FROM snowflake_registry');
			$session->quit;
		}
	}
	$server->stop('fast');
}

### What is lost

my $server = protocol_server('unlogged', conf => "restart_after_crash = on\n");
my %unlogged = (
	'live leases' => [ 1, 'snowflake_registry' ],
	'watermarks' => [ 1, 'snowflake_watermark' ],
	'live leases and watermarks' => [ 1, 'snowflake_registry', 'snowflake_watermark' ],
	'nothing but watermarks' => [ 0, 'snowflake_watermark' ],
	'nothing' => [ 0, 'snowflake_registry' ]);
my %dbnames;
for my $lost (sort keys %unlogged)
{
	my ($live, @tables) = @{ $unlogged{$lost} };
	my ($session, $dbname) = registry($server, 0, 1);
	my ($ended) = acquire($session, $now);
	acquire($session, $now) if $live;
	is((release($session, $ended, $now))[1], 't', "$lost: a lease has ended");
	$session->query_safe("ALTER TABLE $_ SET UNLOGGED") for @tables;
	$session->quit;
	$dbnames{$lost} = $dbname;
}
ok(kill_and_wait($server, $server->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'})), 'a crash');
for my $lost (sort keys %unlogged)
{
	my ($live, @tables) = @{ $unlogged{$lost} };
	my $session = $server->background_psql($dbnames{$lost}, on_error_stop => 0);
	$session->query_safe('\set VERBOSITY verbose');
	$session->query_safe("ALTER TABLE $_ SET LOGGED") for @tables;
	# The first call records the loss, although none of the two worker ids is in the upper third.
	my @answers = map { lease_acquire($session, $now += 100_000, '1 min', new_secret()) } 1, 2;
	is($settles->($session), $lost eq 'nothing' ? 'f' : 't', "lost: $lost. Whether the registry settles");
	like("@answers", $lost eq 'nothing' ? qr/^\d\S+ \d\S+$/ : qr/^\|\|\| SF004$/, '... and holds worker ids back');
	is($session->query_safe('SELECT snowflake_settled()'), $lost eq 'nothing' ? 'f' : 't', '... until the operator ends it');
	$session->quit;
}
$server->restart;
for my $lost (sort keys %unlogged)
{
	my $session = $server->background_psql($dbnames{$lost}, on_error_stop => 0);
	acquire($session, $now += 100_000);
	is($settles->($session), 'f', "$lost: a loss counts once");
	$session->quit;
}
$server->stop('fast');
done_testing();
