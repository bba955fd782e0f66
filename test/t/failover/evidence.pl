# What nodes know is evidence of lost commits, whatever the timeline says. A registry's files of an earlier moment are put back, and the
# nodes extend first, or others acquire first.
#
# The second part counts, without nodes: the registry's tables are set back again and again to what they were, as if its server had been
# started with older files; those who hold leases that were lost ask at some time, and others draw. While no more than half of the worker
# ids that were free was lost, and no more than the other half is drawn, no worker id is drawn that a live node has. SNOWFLAKE_SEED
# repeats a run.
use strict;
use warnings;

use lib 'test/perl';
use List::Util qw(shuffle);
use PostgreSQL::Test::Utils;
use RegistryTest;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $nodes = make_nodes('nodes', conf => "snowflake.lease_duration = 9s\nsnowflake.start_timeout = 5s\n");
roll_back($nodes, how => 'files', word => 0, first => 'extends');
roll_back($nodes, how => 'files', word => 0, first => 'acquires');
$nodes->stop('immediate');

### Counted

my $server = new_server('counted', preload => 0, conf => "log_statement = none\nfsync = off\nautovacuum = off\nlog_min_messages = fatal\nsnowflake.max_clock_skew = 0\n");
start_server($server);
value($server, 'CREATE EXTENSION snowflake; ' . small_layout());
my $session = $server->background_psql('postgres', on_error_stop => 0);
$session->set_query_timer_restart;
my @tables = map { "snowflake_$_" } qw(registry watermark origin);

sub run { my ($sql) = @_; $session->{stderr} = ''; return $session->query($sql); }

my $now = node_tick();
sub acquire { return [ split /\|/, run(qq{SELECT lease_id, worker_id, token FROM (SELECT gen_random_uuid() AS token) t,
	snowflake_lease_acquire('n', 0, $now, '10 min', token, $_[0], NULL) WHERE lease_id IS NOT NULL}) ]; }

# Whether the lease is still known.
sub extend { return run("SELECT window_end FROM snowflake_lease_extend($_[0][0], '$_[0][2]', $now, '10 min', 0)") ne ''; }

# Without the guards, as a superuser can.
sub unguarded
{
	run("ALTER TABLE $_ DISABLE TRIGGER ALL") for @tables;
	run($_) for @_;
	run("ALTER TABLE $_ ENABLE TRIGGER ALL; ALTER TABLE $_ ENABLE ALWAYS TRIGGER snowflake_guard; ALTER TABLE $_ ENABLE ALWAYS TRIGGER snowflake_guard_truncate") for @tables;
	run("ALTER TABLE $_ ENABLE ALWAYS TRIGGER snowflake_guard_after") for @tables[ 0, 1 ];
	return;
}

# Draws $known leases, and $lost more that are then forgotten; $drawn others ask, and those whose leases were lost somewhere in between,
# in any order. Returns how many drew a worker id that a node had which had not asked yet, and how many got none. With $restarted, what is
# lost was drawn just after a start with the same files.
sub trial
{
	my ($known, $lost, $drawn, $word, $restarted) = @_;
	unguarded(map({ "TRUNCATE $_" } @tables), q{SELECT setval(pg_get_serial_sequence('snowflake_registry', 'lease_id'), 1000 + floor(random() * 1000)::bigint)});
	run(q{SELECT snowflake_settled()}) if acquire(0);
	my @held = map { acquire(0) } 1 .. 31;
	# What is free lies anywhere on the ring.
	my @gone = (shuffle(@held))[ 0 .. 31 - $known ];
	unguarded('TRUNCATE snowflake_watermark', 'DELETE FROM snowflake_registry WHERE worker_id IN (' . join(', ', map { $_->[1] } grep { defined } @gone) . ')',
		'TRUNCATE snowflake_watermark', 'UPDATE snowflake_origin SET settles_until = NULL, settling_lease_id = NULL, settling_cuts = NULL');
	unguarded(q{UPDATE snowflake_origin SET started_at = '2001-01-01'}) if $restarted;
	run("CREATE TEMP TABLE was_$_ AS SELECT * FROM $_") for @tables;
	my $sequence = run(q{SELECT pg_sequence_last_value(pg_get_serial_sequence('snowflake_registry', 'lease_id'))});
	my @lost = map { acquire(0) } 1 .. $lost;
	unguarded(map({ ("TRUNCATE $_", "INSERT INTO $_ OVERRIDING SYSTEM VALUE SELECT * FROM was_$_", "DROP TABLE was_$_") } @tables),
		"SELECT setval(pg_get_serial_sequence('snowflake_registry', 'lease_id'), $sequence)", q{UPDATE snowflake_origin SET started_at = '2001-01-01'});
	run(q{SELECT snowflake_settle('restored')}) if $word;
	my %live = map { $_->[1] => 1 } @lost;
	my ($twice, $refused) = (0, 0);
	for my $who (shuffle(map({ $_ } @lost), map({ undef } 1 .. $drawn)))
	{
		if ($who)
		{
			extend($who);
			delete $live{ $who->[1] };
			next;
		}
		my $got = acquire(0);
		$got = acquire(0) unless @$got;
		++$refused unless @$got;
		++$twice if @$got && $live{ $got->[1] };
	}
	return ($twice, $refused);
}

sub trials
{
	my ($count, $what, $pick) = @_;
	my ($trials, $twice, $refused, $drawn) = (0, 0, 0, 0);
	for my $n (1 .. $count)
	{
		my @case = $pick->();
		my ($t, $r) = trial(@case);
		++$trials;
		$twice += $t > 0;
		$refused += $r;
		$drawn += $case[2];
		diag("seed $seed: @case") if $t && $what =~ /half/;
	}
	figures('%s: in %d of %d trials a node drew the worker id of a live one; %d of %d were refused', $what, $twice, $trials, $refused, $drawn);
	return $twice;
}

for my $word (0, 1)
{
	my $name = $word ? "with the operator's word" : 'without a word';
	is(trials($ENV{SNOWFLAKE_TRIALS} // 15, "up to half lost, up to half drawn, $name", sub {
		my $known = 4 + int(rand(20));
		my $free = 32 - $known;
		return ($known, 1 + int(rand(int(($free + 1) / 2))), 1 + int(rand(int($free / 2))), $word);
	}), 0, "no worker id of a live node is drawn: up to half lost, $name");
}
# Beyond that nobody promises anything; how often it goes wrong is told.
if ($ENV{SNOWFLAKE_TRIALS})
{
	for my $case ([ 8, 20 ], [ 20, 10 ], [ 24, 8 ])
	{
		trials($ENV{SNOWFLAKE_TRIALS}, "$case->[0] known, $case->[1] lost, 2 drawn, without a word", sub { return (@$case, 2, 0) });
		trials($ENV{SNOWFLAKE_TRIALS}, "$case->[0] known, $case->[1] lost, 2 drawn, with the word", sub { return (@$case, 2, 1) });
	}
	for my $lost (1, 4)
	{
		trials($ENV{SNOWFLAKE_TRIALS}, "8 known, $lost lost that were drawn after a start with the same files, 2 drawn, without a word",
			sub { return (8, $lost, 2, 0, 1) });
	}
}
$session->quit;
$server->stop('immediate');
done_testing();
