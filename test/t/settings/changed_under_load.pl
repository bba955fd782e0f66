# A setting is not a clock. Every setting that a reload can change is raised and lowered again and
# again, some two at a time, while eight sessions get ids at full speed and another reads rows below
# the horizon. No worker id is acquired, no id is below an earlier one of its session, the horizon
# does not fall, the reader misses no row, and no error and no line of the log speaks of the clock
# (G2, G9, G12; section 6 of the design). This holds in the default layout, in one whose ticks last
# 10 ms, and in one whose ticks last a second.
#
# The seed decides which settings change and when. SNOWFLAKE_MIXTURE_SECONDS sets the duration for
# each layout (8 by default, 20 in test/run --all).
# Not in the default run: eight sessions compute for half a minute. unit/Limits and unit/Simulation
# change settings in the default run.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = ($ENV{SNOWFLAKE_MIXTURE_SECONDS} || at_length(8, 20)) * slowness();
seed();

my $server = new_server('changed', patient => 1, conf => "log_statement = none\nautovacuum = off\nsynchronous_commit = off\n");
start_server($server);

# Those that nodes and the registry read; snowflake.registry leads to another registry.
my %values = (
	max_lead => [qw(0 1ms 5ms 100ms 1s 10s)],
	max_bridge => [qw(0 1ms 1min 1d)],
	max_leap => [qw(0 100ms 1d 2147483647ms)],
	on_clock_step_back => [qw(new_worker error)],
	lease_duration => [qw(1s 10s 10min 1d)],
	max_lease_duration => [qw(1s 1h 1d)],
	max_clock_skew => [qw(0 1ms 10s 1d)],
	max_leases_per_role => [qw(0 1)],
	datacenter => [qw(0 1)],
	node_name => [ '', 'another' ],
	start_timeout => [qw(60s 1h)]);
# What the clock and Take() read changes more often than the rest.
my @names = ((qw(max_lead) x 6), (qw(max_bridge on_clock_step_back) x 2), keys %values);

my %layouts = (
	'default layout' => '',
	sonyflake_2 => q{SELECT snowflake_set_layout('sonyflake_2')},
	'ticks of a second' => q{SELECT snowflake_set_layout('epoch=2025-01-01 tick=1s time=31 worker=10 seq=12')});

# A session's statements, in order: how many ids each got, and how many of them were below the one
# before.
my $make = q{
CREATE UNLOGGED TABLE statements (session int, n int, count int, first bigint, last bigint, falls int);
CREATE TABLE rows (id bigint PRIMARY KEY DEFAULT snowflake_nextval());
CREATE TABLE delivered (id bigint);
CREATE UNLOGGED TABLE horizons (n int GENERATED ALWAYS AS IDENTITY, horizon bigint)};
my $note = 'INSERT INTO statements SELECT :client_id, :n, count(*), min(id), max(id), ';
my $falls = 'count(*) FILTER (WHERE id <= before) FROM (SELECT id, lag(id) OVER () AS before FROM';
my $ids = '(SELECT snowflake_nextval() AS id FROM generate_series(1, :size) OFFSET 0) i';
my $next = ";\n\\set n :n + 1\n";
my %scripts = (
	fast => "$note 0 FROM $ids$next",
	ids => "$note $falls $ids) j$next",
	rows => "WITH i AS (INSERT INTO rows SELECT FROM generate_series(1, 100) RETURNING id) $note $falls i) j$next",
	reads => q{
WITH bound AS (SELECT snowflake_horizon() AS horizon),
	said AS (INSERT INTO horizons (horizon) SELECT horizon FROM bound),
	new AS (SELECT id FROM rows, bound WHERE id > (SELECT coalesce(max(id), 0) FROM delivered) AND id < horizon)
INSERT INTO delivered SELECT id FROM new;
\sleep 20 ms
});
my $folder = $server->basedir . '/scripts';
mkdir $folder or die "$folder: $!";
append_to_file("$folder/$_", $scripts{$_}) for keys %scripts;

sub pgbench
{
	my ($database, $clients, $duration, $size, @scripts) = @_;
	my $run = { out => '' };
	$run->{run} = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-T', $duration, '-D', 'n=0', '-D', "size=$size", (map { ('-f', "$folder/$_") } @scripts), $server->connstr($database) ],
		'<', '/dev/null', '>', \$run->{out}, '2>&1');
	return $run;
}

# One or two at a time, in one reload. Returns how many.
sub change_settings
{
	my %chosen = map { $names[ rand @names ] => 1 } 1 .. 1 + int(rand(2));
	for my $name (sort keys %chosen)
	{
		my @others = grep { $_ ne ($server->{snowflake_set}{$name} // '') } @{ $values{$name} };
		my $value = $server->{snowflake_set}{$name} = $others[ rand @others ];
		$server->safe_psql('postgres', "ALTER SYSTEM SET snowflake.$name = '$value'");
	}
	$server->safe_psql('postgres', 'SELECT pg_reload_conf()');
	return scalar keys %chosen;
}

for my $layout (sort keys %layouts)
{
	my $database = $layout =~ s/ /_/gr;
	my $value = sub { $server->safe_psql($database, $_[0]) };
	$server->safe_psql('postgres', 'ALTER SYSTEM RESET ALL; SELECT pg_reload_conf()');
	$server->{snowflake_set} = {};
	$server->safe_psql('postgres', "CREATE DATABASE $database");
	$value->('CREATE EXTENSION snowflake');
	$value->($layouts{$layout}) if $layouts{$layout};
	$value->($make);
	$value->('SELECT snowflake_nextval()');
	my $log_end = -s $server->logfile;

	# The lead of ten seconds has to be used up while it is allowed.
	my $size = { 'default layout' => 20000, sonyflake_2 => 5000 }->{$layout} // 500;
	my $load = pgbench($database, 8, $seconds, $size, 'fast@3', 'ids@1', 'rows@1');
	my $reader = pgbench($database, 1, $seconds + 2, $size, 'reads');
	my ($changes, $leads, $end) = (0, 0, time() + $seconds - 1);
	while (time() < $end)
	{
		$changes += change_settings();
		sleep(rand(0.6));
		$leads++ if $value->(q{SELECT clock_lead_seconds + lead_seconds > 0.003 FROM snowflake_metrics}) eq 't';
	}
	$_->{run}->finish for $load, $reader;

	my ($ids, $falls) = split /\|/, $value->(q{
SELECT sum(count), sum(falls) + count(*) FILTER (WHERE first <= before)
FROM (SELECT *, lag(last) OVER (PARTITION BY session ORDER BY n) AS before FROM statements) s});
	my $twice = $value->('SELECT count(*) - count(DISTINCT (first, last)) FROM statements');
	my ($leases, $steps) = split /\|/, $value->('SELECT leases_acquired_total, clock_steps_back_total FROM snowflake_metrics');
	my $fell = $value->('SELECT count(*) FROM (SELECT horizon, lag(horizon) OVER (ORDER BY n) AS before FROM horizons) h WHERE horizon < before');
	my ($delivered, $missed) = split /\|/, $value->(q{
SELECT count(d.id), count(*) FILTER (WHERE d.id IS NULL OR r.id IS NULL)
FROM (SELECT id FROM rows WHERE id <= (SELECT max(id) FROM delivered)) r FULL JOIN delivered d USING (id)});
	my @errors = map { $_->{out} =~ /^(.*(?:error|fatal|aborted).*)$/img } $load, $reader;
	my @of_the_clock = grep { /clock|SF002/ && !/LOG:  parameter "/ } split /\n/, slurp_file($server->logfile, $log_end);

	is($leases - 1, 0, "$layout: no worker id was acquired");
	is($steps, 0, '... and no step of the clock noticed');
	is($falls, 0, "... of $ids ids none is below an earlier one of its session");
	is($twice, 0, '... and none was issued twice');
	is($fell, 0, '... the horizon did not fall');
	is($missed, 0, "... the reader got each of $delivered rows");
	is(join("\n", @errors), '', '... no call failed');
	is(join("\n", @of_the_clock), '', '... and nothing speaks of the clock');
	# The default layout has so many numbers that sessions on a busy machine do not use them up.
	cmp_ok($leads, '>', 0, '... although ids led') if $layouts{$layout};
	cmp_ok($delivered, '>', 100, '... and rows were written');
	figures('%s: %d changes of settings, %d ids, seen ahead %d times; acquired: %d worker ids; fell: %d ids; missed: %d rows; %d errors, %d lines of the clock',
		$layout, $changes, $ids, $leads, $leases - 1, $falls, $missed, scalar @errors, scalar @of_the_clock);
}

$server->stop;
done_testing();
