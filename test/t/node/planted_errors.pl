# Whatever fails in a keeper, once or for as long as it likes: it does not use up the processor, does
# not storm its registry, does not blame it for what failed here, and ids flow as long as the window
# lasts, and again soon after the fault.
#
# test/c/failing_calls.c knows every place in snowflake.so from which a keeper calls a function of
# PostgreSQL that may raise an ERROR. Scouts live through a keeper's life, with a registry elsewhere
# and with one in their own database, and find these places. Then each place has a database of its own
# whose keeper fails there: for ten seconds; likewise, while each of its exchanges fails, too, so that
# it comes by the places in the error's own path; and once.
#
# By default one place of each function, and without the failing exchanges. It needs 8 s of processor
# time for some fifty databases, each with a keeper and a client.
# Not in the default run: it starts some 950 processes.
use strict;
use warnings;

use IPC::Run;
use NodesTest;
use POSIX ();
use PostgreSQL::Test::Utils;
use RegistryTest qw(value);
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $all = $ENV{SNOWFLAKE_ALL};
my ($seconds, $lease) = ($all ? 10 : 7, 6);
my ($sites, $faults) = (1024, 1024);
my ($site_size, $fault_size) = (48, 24);

my $registry = registry_server();
new_registry($registry, $_, granted => 'snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release, snowflake_segment_ranges')
  for qw(fleet second);
value($registry, qq{SELECT $schema.snowflake_create_segment('ticket')}, 'fleet');

my $memory = PostgreSQL::Test::Utils::tempdir() . '/calls';
append_to_file($memory, '');
chmod 0666, $memory;
my $nodes = new_server('nodes', preload => 0, conf => <<"EOC");
shared_preload_libraries = 'snowflake, $ENV{SNOWFLAKE_TEST_C}/failing_calls'
snowflake.start_timeout = 300ms
snowflake.max_databases = 400
snowflake.lease_duration = ${lease}s
snowflake.registry = '@{[ at($registry, 'fleet') ]}'
max_worker_processes = 500
max_connections = 400
autovacuum = off
fsync = off
log_statement = none
log_line_prefix = '%b|%p|'
EOC
{
	local $ENV{SNOWFLAKE_FAILING_CALLS} = $memory;
	$nodes->start;
}
value($nodes, $_) for 'CREATE DATABASE base', q{ALTER DATABASE base SET snowflake.registry = ''};
value($nodes, q{
	CREATE EXTENSION snowflake;
	SELECT snowflake_create_segment('ticket');
	CREATE TABLE seen (oks bigint, ok_until timestamptz, failures bigint, failed_at timestamptz, code text, message text);
	CREATE PROCEDURE load(seconds float8) LANGUAGE plpgsql AS $$
	DECLARE
		ends constant timestamptz := clock_timestamp() + make_interval(secs => seconds);
		s seen := (0, NULL, 0, NULL, NULL, NULL);
		text text;
	BEGIN
		WHILE clock_timestamp() < ends LOOP
			BEGIN
				PERFORM snowflake_nextval();
				s.oks := s.oks + 1;
				s.ok_until := clock_timestamp();
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS text = PG_EXCEPTION_DETAIL;
				s.failures := s.failures + 1;
				s.failed_at := coalesce(s.failed_at, clock_timestamp());
				s.code := SQLSTATE;
				s.message := SQLERRM || ' ' || text;
			END;
			PERFORM pg_sleep(0.2);
		END LOOP;
		DELETE FROM seen;
		INSERT INTO seen VALUES (s.*);
	END $$}, 'base');

### The memory that is shared with the keepers

sub peek
{
	my ($offset, $length) = @_;
	open my $file, '<:raw', $memory or die "$memory: $!";
	seek $file, $offset, 0;
	read $file, my ($bytes), $length;
	return $bytes;
}

sub poke
{
	my ($offset, $bytes) = @_;
	open my $file, '+<:raw', $memory or die "$memory: $!";
	seek $file, $offset, 0;
	print $file $bytes;
	close $file or die "$memory: $!";
	return;
}

# The places that were found, by address, with the name of the function that is called there.
sub found
{
	my $count = unpack 'Q', peek(0, 8);
	die "there are more than $sites places\n" if $count > $sites;
	return map { unpack 'Q Z40', peek(16 + $_ * $site_size, $site_size) } 0 .. $count - 1;
}

# Lets these fail: [database, address] each, so many times.
sub plant
{
	my ($times, @of) = @_;
	poke(8, pack 'Q', 0);
	my $at = 16 + $sites * $site_size;
	for my $fault (@of) { poke($at, pack 'L l Q Q', $fault->[0], $times, $fault->[1], 0); $at += $fault_size; }
	poke(8, pack 'Q', scalar @of);
	return;
}

sub happened
{
	my ($number) = @_;
	return unpack 'Q', peek(16 + $sites * $site_size + $number * $fault_size + 16, 8);
}

### Scouts

sub scout
{
	my ($db, $elsewhere) = @_;
	value($nodes, "CREATE DATABASE $db TEMPLATE base");
	value($nodes, "ALTER DATABASE $db SET snowflake.registry = ''") unless $elsewhere;
	flows($nodes, $db);
	value($nodes, "SELECT snowflake_segment_nextval('ticket')", $db);
	value($nodes, 'SELECT snowflake_horizon()', $db);
	moves($nodes, $db);
	setting($nodes, "snowflake.node_name = '$db'");
	moves($nodes, $db);
	if ($elsewhere)
	{
		$registry->stop('immediate');
		wait_until('a failure', sub { last_error($nodes, $db) ne '' });
		$registry->start;
		moves($nodes, $db);
		for my $other (qw(second fleet))
		{
			setting($nodes, "snowflake.registry = '" . at($registry, $other) . "'");
			wait_until("a lease at $other", sub { leases($registry, $other) ne '0' });
			moves($nodes, $db);
		}
	}
	value($nodes, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status', $db);
	wait_until('the keeper to end', sub { value($nodes, "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = '$db'") eq '0' });
	flows($nodes, $db);
	return;
}

scout('scout_elsewhere', 1);
my %elsewhere = found();
scout('scout_here', 0);
my %found = found();
my @places = ((map { [ $_, 1 ] } sort keys %elsewhere), map { [ $_, 0 ] } grep { !$elsewhere{$_} } sort keys %found);
my $places = @places;
cmp_ok($places, '>', 100, 'places from which a keeper calls PostgreSQL');
my %seen;
@places = grep { !$seen{ $found{ $_->[0] } }++ } @places unless $all;

### A database for each

my @nodes;
for my $place (@places)
{
	my ($address, $is_elsewhere) = @$place;
	my $db = 'n' . @nodes;
	value($nodes, "CREATE DATABASE $db TEMPLATE base STRATEGY file_copy");
	value($nodes, "ALTER DATABASE $db SET snowflake.registry = '" . ($is_elsewhere ? at($registry, 'fleet') : '') . "'");
	push @nodes, { db => $db, address => $address, function => $found{$address}, elsewhere => $is_elsewhere,
		oid => value($nodes, "SELECT oid FROM pg_database WHERE datname = '$db'") };
}

# Loads in all databases, for so many seconds, in the background.
sub start_load
{
	my ($for) = @_;
	return map { IPC::Run::start([ 'psql', '-XAtq', '-d', $nodes->connstr($_->{db}), '-c', "CALL load($for)" ], '<', \undef, '>', \my $out, '2>', \my $err) } @nodes;
}

# Processor time of the keepers, in seconds, by database.
sub keepers
{
	my %used;
	for (split /\n/, value($nodes, "SELECT datname || ' ' || pid FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'"))
	{
		my ($db, $pid) = split / /;
		open my $file, '<', "/proc/$pid/stat" or next;
		my @field = split / /, (<$file> =~ s/^.*\) //r);
		$used{$db} = { pid => $pid, seconds => ($field[11] + $field[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK()) };
	}
	return %used;
}

sub facts
{
	my ($node) = @_;
	my ($exchanges, $left, $error) = split /\|/, value($nodes, q{
		SELECT registry_answers_total + registry_failures_total,
			extract(epoch FROM s.window_end - clock_timestamp()), coalesce(s.last_error, '')
		FROM snowflake_metrics, snowflake_status s}, $node->{db});
	return { at => time, exchanges => $exchanges, left => $left, error => $error };
}

flows($nodes, $_->{db}) for @nodes;
ok(wait_until('windows of full length', sub { !grep { facts($_)->{left} < $lease / 2 } @nodes }), 'all nodes hold a window');

my %struck;

# A fault at each node's place, and at `$also` of these functions, that lasts. Prints what came of it.
sub lasts
{
	my ($name, @also) = @_;
	my ($most_busy, $most_asked, $struck, $wrong) = (0, 0, 0, 0);
	my $log = -s $nodes->logfile;
	$_->{before} = facts($_) for @nodes;
	my %before = keepers();
	plant(-1, map { my $oid = $_->{oid}; map { [ $oid, $_ ] } $_->{address}, @also } @nodes);
	my @loads = start_load($seconds);
	$_->finish for @loads;
	my %after = keepers();
	$_->{after} = facts($_) for @nodes;
	my %of = map { my $keepers = $_; map { $keepers->{$_}{pid} => $_ } keys %$keepers } \%before, \%after;
	my %said;
	for (split /\n/, slurp_file($nodes->logfile, $log)) { push @{ $said{ $of{$1} // '' } }, $2 if /^snowflake keeper\|(\d+)\|(?:WARNING|LOG|FATAL|ERROR):\s+(.*)/; }
	for my $number (0 .. $#nodes)
	{
		my $node = $nodes[$number];
		my ($db, $was, $is) = ($node->{db}, $node->{before}, $node->{after});
		my ($oks, $ok_left, $failures, $code, $message) = split /\|/, value($nodes, q{
			SELECT oks, extract(epoch FROM w.window_end - ok_until), failures, code, message
			FROM seen, snowflake_status w}, $db);
		my $happened = happened($number * (1 + @also));
		my $same = ($before{$db}{pid} // 0) == ($after{$db}{pid} // -1);
		my $passed = $is->{at} - $was->{at};
		my $busy = $same ? ($after{$db}{seconds} - $before{$db}{seconds}) / $passed : 0;
		my $asked = ($is->{exchanges} - $was->{exchanges}) / $passed;
		my @said = @{ $said{$db} // [] };
		my $fault = $node->{elsewhere} ? qr/^on this server: planted/ : qr/^(on this server: )?planted/;
		my @faults;
		push @faults, sprintf 'used %.0f %% of a processor', 100 * $busy if $busy >= 0.05;
		# Pauses are random, half a second at least.
		push @faults, "asked $asked times a second" if $asked > 2;
		push @faults, 'blamed the registry' if $node->{elsewhere} && grep { /the registry refused|cannot reach the registry/ } @said;
		push @faults, "said \"$is->{error}\"" if $is->{error} ne '' && $is->{error} !~ $fault;
		push @faults, "ids ended with $ok_left s of the window left" if $failures && $ok_left ne '' && $ok_left > 0.6;
		push @faults, "ids ended, and the call's error is \"$message\"" if $failures && $same && $message !~ (@also ? qr/planted|had no answer/ : qr/planted/);
		push @faults, 'wrote ' . @said . ' lines' if @said > 10;
		diag("$name: $node->{function} at " . sprintf('%x', $node->{address}) . ': ' . join('; ', @faults)) if @faults;
		note(sprintf '%-26s %6x %-9s happened %3d, busy %4.1f %%, asked %.1f/s, %3d ids%s, error "%s", %d lines', $node->{function}, $node->{address},
			$node->{elsewhere} ? 'elsewhere' : 'here', $happened, 100 * $busy, $asked, $oks, $failures ? " then $code" : '', $is->{error}, scalar @said);
		++$wrong if @faults;
		++$struck if $happened;
		$struck{$number} = 1 if $happened;
		$most_busy = $busy if $busy > $most_busy;
		$most_asked = $asked if $asked > $most_asked;
	}
	is($wrong, 0, "$name: no keeper spins, storms, blames its registry or ends ids early");
	figures("%s: %d of %d places struck, at most %.1f %% of a processor, %.1f exchanges a second", $name, $struck, scalar @nodes, 100 * $most_busy, $most_asked);
	plant(0);
	my @stuck = grep { !flows($nodes, $_->{db}) || !wait_until('no error', sub { last_error($nodes, $_->{db}) eq '' }) } @nodes;
	is(scalar @stuck, 0, "$name: after the fault ids flow, and there is no error");
	return $struck;
}

my $alone = lasts('a fault that lasts');
cmp_ok($alone, '>', @nodes / 5, 'the faults happened');
my @exchanges = grep { $found{$_} =~ /^(PQconnectStartParams|SPI_connect)$/ } keys %found;
if ($all)
{
	lasts('beside exchanges that fail', @exchanges);
	cmp_ok(scalar keys %struck, '>', $alone, '... and others where exchanges fail');
}

# On a busy machine a window may end before the keeper comes back to it.
$nodes->append_conf('postgresql.conf', "snowflake.start_timeout = 30s\n");
$nodes->reload;
plant(1, map { [ $_->{oid}, $_->{address} ] } @nodes);
my @loads = start_load($lease);
$_->finish for @loads;
my $once = grep { happened($_) } 0 .. $#nodes;
my @wrong = grep { value($nodes, 'SELECT failures FROM seen', $_->{db}) ne '0' } @nodes;
diag("$_->{function} once: " . value($nodes, q{SELECT code || ' ' || message FROM seen}, $_->{db})) for @wrong;
is(scalar @wrong, 0, 'a fault that happens once costs no id');
Test::More::diag(sprintf('trials %d: %d of %d places; once: %d struck', ($all ? 3 : 2) * @nodes, scalar @nodes, $places, $once));
plant(0);
$nodes->stop('fast');
$registry->stop('fast');
done_testing();
