# No id is smaller than an earlier one over a restart while ids are ahead of the clock, because they
# bridge a step back or are borrowed from max_lead (G2, G9): after clean and immediate shutdowns, a
# reboot after a clean one, and on a standby that is promoted after it. So in layouts with ticks of
# 1 ms, 10 ms and 1 s, and if the registry is on another server, can be reached or not; and over
# shutdowns of a standby. The last tick is stored even if the database is read-only by default, and
# its commit waits for no standby. Neither that of another database nor the time of a refused clock
# is gone on from.
# SNOWFLAKE_RESTARTS: how many restarts. The short form is in the default run.

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

seed();
my $count = $ENV{SNOWFLAKE_RESTARTS} // at_length(5, 15);
my $conf = "log_statement = none\nautovacuum = off\nsnowflake.max_lead = 10s\nmax_wal_senders = 5\n";

# Bridged clocks fall behind on a slow machine.
my $elsewhere = new_server('elsewhere', conf => "snowflake.max_clock_skew = 10min\n");
start_server($elsewhere);
$elsewhere->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my $server = new_server('node_0', clock => 1, patient => 1, streaming => 1, conf => $conf);
start_server($server);
my $of_seconds = q{'epoch=2024-01-01 tick=1s time=32 worker=10 seq=12'};
my %layout = (milliseconds => undef, tens => q{'epoch=2024-01-01 tick=10ms time=39 worker=10 seq=12'}, seconds => $of_seconds, remote => undef);
# That of the registry elsewhere, too; SNOWFLAKE_SEED decides.
$layout{remote} = $layout{ (qw(milliseconds tens seconds))[ rand 3 ] };
my @nodes = sort keys %layout;
for my $node (@nodes)
{
	$server->safe_psql('postgres', "CREATE DATABASE $node");
	$server->safe_psql('postgres', sprintf("ALTER DATABASE $node SET snowflake.registry = 'host=%s port=%s dbname=postgres user=postgres'", $elsewhere->host, $elsewhere->port))
	  if $node eq 'remote';
	$server->safe_psql($node, 'CREATE EXTENSION snowflake');
	next unless $layout{$node};
	$_->[0]->safe_psql($_->[1], "SELECT snowflake_set_layout($layout{$node})") for [ $server, $node ], $node eq 'remote' ? [ $elsewhere, 'postgres' ] : ();
}
$server->safe_psql('postgres', 'ALTER DATABASE tens SET default_transaction_read_only = on');

# The last id of each node, its worker id, and how many times that was another one.
my (%last, %worker, %workers, %fell);
my ($ids, $longest_ms) = (0, 0);

sub issue
{
	my ($first, $all) = @_;
	for my $node (@nodes)
	{
		my $began = now_ms();
		# The first id alone, then as many as come to be ahead of the clock.
		my ($lowest) = split /\n/, $server->safe_psql($node, 'SELECT snowflake_nextval()');
		my $took = now_ms() - $began;
		$longest_ms = $took if $first && $took > $longest_ms;
		# 50,000 ids are 12 s in ticks of a second, which is more than max_lead.
		my $many = $layout{$node} && $layout{$node} eq $of_seconds && !$all ? 3000 : 50000;
		my ($min, $max, $n, $worker) = split /\|/, $server->safe_psql($node, "WITH i AS (SELECT snowflake_nextval() AS id FROM generate_series(1, $many))"
			  . ' SELECT min(id), max(id), count(*), (SELECT worker FROM snowflake_status) FROM i');
		$fell{$node}++ if $lowest <= ($last{$node} // 0) || $min <= $lowest;
		$workers{$node}++ if $worker != ($worker{$node} // -1);
		($last{$node}, $worker{$node}) = ($max, $worker);
		$ids += $n + 1;
	}
	return;
}

# One way of each kind at least; $server is another one after a promotion.
my $standbys = 0;
my %way = (
	fast => sub { $server->stop('fast'); start_server($server); },
	smart => sub { $server->stop('smart'); start_server($server); },
	immediate => sub { $server->stop('immediate'); start_server($server); },
	reboot => sub { $server->stop('fast'); unlink boxes_of($server); start_server($server); },
	promoted => sub {
		my $name = 'node_' . ++$standbys;
		$server->backup("for_$name");
		my $standby = new_server($name, from => [ $server, "for_$name" ], clock => 1);
		write_clock_of($standby, $server);
		$standby->enable_streaming($server);
		$standby->set_standby_mode;
		start_server($standby);
		$server->wait_for_catchup($standby);
		$server->stop('fast');
		$standby->promote;
		$server = $standby;
	});
sub write_clock_of { my ($to, $from) = @_; move_clock($to, $from->{snowflake_offset_ns} / 1e9); return; }

my @ways = sort keys %way;
for my $i (0 .. $count - 1)
{
	my $way = $ways[ $i % @ways ];
	move_clock($server, 0);
	issue();
	move_clock($server, -5 - rand(50));
	issue(0, $i % 7 == 3);
	# Then the keeper of the node `remote` ends without a release, and others' own commits wait.
	$elsewhere->stop('immediate') if $i % 3 == 1;
	my $waits = $i % 3 == 0 && $way ne 'promoted';
	if ($waits)
	{
		$server->safe_psql('postgres', "ALTER SYSTEM SET synchronous_standby_names = 'never_acknowledges'");
		$server->reload;
	}
	$way{$way}->();
	$elsewhere->start if $i % 3 == 1;
	if ($waits)
	{
		$server->safe_psql('postgres', 'SET synchronous_commit = local; ALTER SYSTEM RESET synchronous_standby_names');
		$server->reload;
	}
	issue(1);
	is(join(' ', map { "$_: $fell{$_}" } sort keys %fell), '', "$way: no id fell");
	%fell = ();
}
SnowflakeTest::figures('%d restarts, %d ids, the first id of a node waited for at most %d ms; another worker id: %s', $count, $ids, $longest_ms,
	join(', ', map { sprintf '%s %d', $_, $workers{$_} - 1 } @nodes));

# A copy of a database has its row, and is another node: it begins at the time of its clock.
move_clock($server, 0);
issue();
move_clock($server, -50);
issue();
$way{fast}->();
alone($server, 'CREATE DATABASE copy TEMPLATE milliseconds');
my $ahead = q{SELECT snowflake_timestamp(snowflake_nextval()) > clock_timestamp() + interval '20 s'};
is(join(' ', map { $server->safe_psql($_, $ahead) } qw(copy milliseconds)), 'f t', 'a copy does not go on where the original does');

# Nor does a node where its clock was, if it issued no id there: the registry had refused that clock.
move_clock($server, 3600);
my (undef, undef, $error) = $server->psql('remote', q{SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()});
like($error, qr/The registry refused: the node's clock is off by 3[56]\d\d\./, 'a clock that is an hour ahead is refused');
$server->stop('fast');
move_clock($server, 0);
start_server($server);
is($server->safe_psql('remote', q{SELECT max(began_at) < clock_timestamp() + interval '2 min' FROM snowflake_last_tick}), 't', '... and is no last tick');

# A standby cannot store the last tick: its black box keeps it.
$server->backup('for_standby');
my $standby = new_server('standby', from => [ $server, 'for_standby' ], clock => 1);
$standby->enable_streaming($server);
$standby->set_standby_mode;
start_server($standby);
my $before = $standby->safe_psql('remote', 'SELECT snowflake_nextval()');
for my $how (qw(fast smart))
{
	move_clock($standby, ($standby->{snowflake_offset_ns} // 0) / 1e9 - 20);
	my $ahead_of = $standby->safe_psql('remote', 'SELECT snowflake_nextval()');
	$standby->stop($how);
	start_server($standby);
	my $after = $standby->safe_psql('remote', 'SELECT snowflake_nextval()');
	ok($before < $ahead_of && $ahead_of < $after, "a standby, $how: no id fell") or diag("$before $ahead_of $after");
	$before = $after;
}
$standby->stop;
$server->stop;
done_testing();
