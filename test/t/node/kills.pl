# Kills at random moments under load. The test tries to break G1: whatever is killed, and whenever,
# no id that ever reached a client is issued again, not even an id whose transaction was rolled back
# or whose session died right afterwards. After each kill ids are issued again: after a shutdown
# under another lease, after a crash under the same lease (t/crash/random_kills tests only crashes).
#
# The seed decides the kinds of kill and their moments, but not what the server is doing at those
# moments.
# Not in the default run: kills at random moments.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $trials = 30;
my $clients_count = 3;

my $seed = seed();
my $server = new_server('kills', conf => q{
log_statement = none
restart_after_crash = on
# So that an extend is nearly always in progress.
snowflake.lease_duration = 1s
});
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE TABLE kept (id bigint DEFAULT snowflake_nextval())');

# Runs that are long enough for kills to hit them, pauses, single calls, and transactions that are
# rolled back. The pauses limit the number of ids, which the test must compare.
my $script = ids_in_every_way(times => 200, copied => 400, rolled_back => 20, kept => 5, at_once => 50, pause => 0.004);
my $clients = start_clients($server, $clients_count, $script);

sub backend
{
	my @pids = split /\n/, $server->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
	return $pids[ rand @pids ];
}

sub keeper { return $server->safe_psql('postgres', 'SELECT keeper_pid FROM snowflake_status'); }

sub crash { return kill_and_wait($server, $_[0]); }

my %kinds = (
	'SIGKILL of a backend' => sub { crash(backend()) },
	'SIGKILL of the keeper' => sub { crash(keeper()) },
	'immediate shutdown' => sub { $server->stop('immediate'); start_server($server); 1 },
	'fast shutdown' => sub { $server->stop('fast'); start_server($server); 1 },
	'SIGKILL of all processes' => sub { my $gone = kill_server($server, children => 1); start_server($server); $gone },
	'SIGKILL of the postmaster' => sub { my $gone = kill_server($server); start_server($server); $gone },
	'keeper terminated' => sub {
		my $pid = keeper();
		return $pid && $server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)") eq 't';
	},
	'backend terminated' => sub {
		my $pid = backend();
		return $pid && $server->safe_psql('postgres', "SELECT pg_terminate_backend($pid)") eq 't';
	},
);

# Each kind at least twice, and in random order.
my @names = sort keys %kinds;
my @plan = (@names, @names);
push @plan, $names[ rand @names ] while @plan < $trials;
for my $i (reverse 1 .. $#plan)
{
	my $j = int rand($i + 1);
	@plan[ $i, $j ] = @plan[ $j, $i ];
}

# Ids arrive although clients are killed all the time.
sub ids_flow
{
	my $size = client_bytes($clients);
	return wait_until('ids', sub { client_bytes($clients) > $size + 80_000 });
}

my ($kills, $silent, @lives) = (0, 0);
for my $name (@plan)
{
	$silent++ unless ids_flow();
	push @lives, (split /\|/, $server->safe_psql('postgres', 'SELECT s.worker, extract(epoch FROM snowflake_tick_timestamp(window_start)) FROM snowflake_status s LEFT JOIN snowflake_registry USING (lease_id)'))[ 0, 1 ];
	# At a random moment after that, so chance decides what the kill hits.
	sleep(rand(0.6));
	my $happened = $kinds{$name}->();
	for (1 .. 20)
	{
		last if $happened;
		$happened = $kinds{$name}->();
	}
	$kills++ if $happened;
	diag("$name did not happen") unless $happened;
}
$silent++ unless ids_flow();
stop_clients($clients);

subtest 'at least 20 kills happened' => sub {
	cmp_ok($kills, '>=', 20, 'kills');
	is($kills, scalar @plan, 'all that were planned');
};

subtest 'ids flowed after each of them (G6, G10)' => sub {
	is($silent, 0, 'times that none came');
};

my ($ids, $duplicates, $lowest, $highest) = compare_ids(@{ $clients->{files} });

subtest 'no id was issued twice (G1)' => sub {
	is($duplicates, 0, "duplicates among $ids");
	cmp_ok($ids, '>', 100_000, 'ids were compared');
};

subtest 'ids rose within each connection (G2)' => sub {
	is(falls_within(@{ $clients->{files} }), 0, 'ids that did not');
};

subtest 'no id is twice in the table that transactions kept' => sub {
	is($server->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT id) FROM kept'), 0, 'ids that are');
};

subtest 'every id decodes to a time within the test' => sub {
	my ($first, $last) = split /\|/, $server->safe_psql('postgres', "SELECT extract(epoch FROM snowflake_timestamp($lowest)), extract(epoch FROM snowflake_timestamp($highest))");
	cmp_ok($first, '>', $^T - 1, 'not before it began');
	cmp_ok($last, '<=', time() + 0.005, 'and not after it ended');
};

subtest 'no worker id was leased twice for overlapping windows' => sub {
	# The lease after each start, as the status showed it: the same worker id appears again only
	# with a later window.
	my (%start, $overlaps);
	$overlaps = 0;
	while (my ($worker, $window_start) = splice @lives, 0, 2)
	{
		$overlaps++ if exists $start{$worker} && $window_start < $start{$worker};
		$start{$worker} = $window_start;
	}
	is($overlaps, 0, 'windows that went back');
	figures('%d kills, %d worker ids', $kills, scalar keys %start);
};

diag("trials $kills kills, $ids ids, $duplicates duplicates, seed $seed");
$server->stop;
done_testing();
