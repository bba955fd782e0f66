# A node's role that wants to do harm (G1, G4): whatever it asks of the registry's functions, two honest nodes of the same
# registry issue no equal ids, and are never without ids for longer than a window.
#
# The fuzzer calls the functions with arguments that a seed makes up, by the hundred thousand: bounds, odd times, leases and tokens of its own,
# tokens of others that it cannot know and, in one part, the honest nodes' own role. SNOWFLAKE_FUZZ_CALLS: how many.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seed = seed();
my $calls = $ENV{SNOWFLAKE_FUZZ_CALLS} // 100_000;
my $window_s = 10;

my $registry = new_server('registry', preload => 0, conf => "listen_addresses = '127.0.0.1'\nmax_connections = 60\nlog_min_messages = panic\n");
$registry->append_conf('pg_hba.conf', 'host all all 127.0.0.1/32 trust');
$registry->start;

sub sql { my ($text) = @_; return $registry->safe_psql('postgres', $text); }

sql(q{
	CREATE SCHEMA ids;
	CREATE EXTENSION snowflake SCHEMA ids;
	INSERT INTO ids.snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, 6, 12, false);
	CREATE ROLE honest LOGIN; CREATE ROLE hostile LOGIN;
	ALTER ROLE hostile SET snowflake.max_leases_per_role = 16;
	ALTER ROLE honest SET snowflake.max_leases_per_role = 24;
	GRANT USAGE ON SCHEMA ids TO honest, hostile;
	GRANT EXECUTE ON FUNCTION ids.snowflake_acquire(text, integer, bigint, interval),
		ids.snowflake_extend(bigint, uuid, bigint, interval), ids.snowflake_release(bigint, uuid, bigint),
		ids.snowflake_lease_acquire(text, integer, bigint, interval, uuid, bigint, bigint),
		ids.snowflake_lease_extend(bigint, uuid, bigint, interval, bigint), ids.snowflake_lease_release(bigint, uuid, bigint, bigint)
		TO honest, hostile});

my $nodes = new_server('nodes', conf => "snowflake.lease_duration = ${window_s}s\nsnowflake.start_timeout = ${window_s}s\nmax_worker_processes = 16\n");
start_server($nodes);
my $conninfo = 'host=127.0.0.1 port=' . $registry->port . ' dbname=postgres user=honest';
my (%clients, @nodes);
for my $name (qw(one two))
{
	$nodes->safe_psql('postgres', "CREATE DATABASE $name");
	$nodes->safe_psql($name, 'CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, 6, 12, false)');
	$nodes->safe_psql('postgres', "ALTER DATABASE $name SET snowflake.registry = '$conninfo'");
	$nodes->safe_psql($name, 'SELECT snowflake_nextval()');
	push @nodes, $name;
}
sub begin_load { $clients{$_} = start_clients($nodes, 2, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 20)) TO STDOUT;\nSELECT pg_sleep(0.02);\n", dbname => $_) for @nodes; return; }
begin_load();

# Runs statements as a role, each in a transaction of its own whatever became of the one before.
sub run_as
{
	my ($role, $text) = @_;
	my ($stdout, $stderr) = ('', '');
	my $started = time();
	IPC::Run::run([ 'psql', '-XAtq', '-U', $role, '-h', $registry->host, '-p', $registry->port, '-d', 'postgres', '-v', 'ON_ERROR_STOP=0', '-f', '-' ],
		'<', \$text, '>', \$stdout, '2>', \$stderr);
	return ($stdout, $stderr, time() - $started);
}

my $tick = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';

### What it is refused, one by one

subtest 'what a node may not do' => sub {
	my $token = q{'11111111-1111-1111-1111-111111111111'};
	for my $case (
		[ 'a transaction block', "BEGIN; SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', $token, 0, NULL); COMMIT;", '25001' ],
		[ 'two statements at once', "SELECT 1 \\; SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', $token, 0, NULL);", '25001' ],
		[ 'a prepared transaction', "BEGIN; SELECT ids.snowflake_acquire('x', 0, $tick, '10 s'); PREPARE TRANSACTION 'p';", '0A000' ],
		[ 'a clock an hour ahead', "SELECT ids.snowflake_lease_acquire('x', 0, $tick + 3600000, '10 s', $token, 0, NULL);", 'SF002' ],
		[ 'a name of 250 MB', "SELECT ids.snowflake_lease_acquire(repeat('x', 250000000), 0, $tick, '10 s', $token, 0, NULL);", '22023' ],
		[ 'no token', "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '10 s', '00000000-0000-0000-0000-000000000000', 0, NULL);", '22023' ],
		[ 'more than a day', "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '25 h', $token, 0, NULL);", '22023' ],
		[ 'evicting others', 'SELECT ids.snowflake_evict(1, now());', '42501' ],
		[ 'settling', q{SELECT ids.snowflake_settle('x');}, '42501' ],
		[ 'settled', 'SELECT ids.snowflake_settled();', '42501' ],
		[ 'reading leases', 'TABLE ids.snowflake_registry;', '42501' ],
		[ 'deleting leases', 'DELETE FROM ids.snowflake_registry;', '42501' ],
		[ 'raising its own bound', 'SELECT ids.snowflake_get_layout(); SET snowflake.max_leases_per_role = 0;', '42501' ])
	{
		my ($what, $text, $wanted) = @$case;
		my (undef, $stderr) = run_as('hostile', "\\set VERBOSITY verbose\n$text");
		my ($state) = $stderr =~ /ERROR:\s+(\w{5}):/;
		is($state // 'none', $wanted, $what) or diag(substr($stderr, 0, 500));
	}
	# Before the library is loaded anybody can set anything.
	my ($bounds) = run_as('hostile', "SET snowflake.max_leases_per_role = 0;\nSET snowflake.max_lease_duration = '1 d';\nSET snowflake.max_clock_skew = 0;\n"
		  . "SELECT ids.snowflake_get_layout() \\g /dev/null\nSHOW snowflake.max_leases_per_role;\nSHOW snowflake.max_lease_duration;\nSHOW snowflake.max_clock_skew;");
	is($bounds, "16\n1h\n10s\n", 'bounds that it sets for itself are of no effect');
	my ($granted) = run_as('hostile', "SELECT window_end - window_start FROM ids.snowflake_lease_acquire('x', 0, $tick, '24 h', $token, 0, NULL);");
	is($granted, "10000\n", 'a day that was asked for begins with ten seconds');
	($granted) = run_as('hostile', "SELECT window_end - window_start FROM ids.snowflake_acquire('x', 0, $tick, '24 h');");
	is($granted, "3600000\n", q{... and is an hour at most, by the form of nodes of before});
	my ($out) = run_as('hostile', "SELECT ids.snowflake_lease_acquire('x', 0, $tick, '1 s', gen_random_uuid(), 0, NULL) \\g /dev/null\n" x 30);
	is(sql(q{SELECT count(*) FROM ids.snowflake_registry r JOIN pg_roles o ON o.oid = r.role WHERE o.rolname = 'hostile'}), '16', 'and no role has more leases than it may');
};

subtest 'with the token of another role a lease is gone' => sub {
	my $before = sql(q{SELECT string_agg(lease_id || ' ' || worker_id, ',' ORDER BY lease_id) FROM ids.snowflake_registry WHERE node LIKE '%/%'});
	for my $lease (split /\n/, sql(q{SELECT lease_id || ',' || quote_literal(token) || ',' || window_start || ',' || window_end FROM ids.snowflake_registry WHERE node LIKE '%/%'}))
	{
		my ($id, $token, $start, $end) = split /,/, $lease;
		my ($out) = run_as('hostile', "SELECT ids.snowflake_release($id, $token, $start - 1);\nSELECT ids.snowflake_lease_release($id, $token, $start - 1, $end);\n"
			  . "SELECT ids.snowflake_extend($id, $token, $tick, '10 s') IS NULL;\nSELECT window_end IS NULL FROM ids.snowflake_lease_extend($id, $token, $tick, '10 s', $end);\n");
		is($out, "f\nf\nt\nt\n", 'neither released nor moved');
	}
	is(sql(q{SELECT string_agg(lease_id || ' ' || worker_id, ',' ORDER BY lease_id) FROM ids.snowflake_registry WHERE node LIKE '%/%'}), $before, 'the leases are as they were');
};

# All worker ids, again and again, and each given back as late as it may be: what is used up comes back within the skew.
subtest 'burning worker ids' => sub {
	sql(q{SELECT ids.snowflake_evict(r.worker_id, now()) FROM ids.snowflake_registry r JOIN pg_roles o ON o.oid = r.role WHERE o.rolname = 'hostile'});
	my $text = "\\set l 1\n\\set t '11111111-1111-1111-1111-111111111111'\n\\set e 1\n" . join('', map { "SELECT lease_id AS l, token AS t, window_end AS e FROM ids.snowflake_acquire('x', 0, $tick, '1 h') \\gset\n"
		  . "SELECT ids.snowflake_release(:l, :'t', :e - 1);\nSELECT ids.snowflake_release(:l, :'t', $tick + 9000);\n" } 1 .. 300);
	my (undef, $stderr) = run_as('hostile', $text);
	like($stderr, qr/ahead of the registry's clock/, 'ticks that nobody can have used are refused');
	is(sql("SELECT count(*) FROM ids.snowflake_watermark WHERE last_tick > $tick + 3600000 + 11000"), '0', 'no watermark is further ahead than a lease goes');
	is(sql("SELECT count(*) FROM ids.snowflake_watermark w WHERE last_tick > $tick + 11000 AND NOT EXISTS (SELECT FROM ids.snowflake_registry r WHERE r.worker_id = w.worker_id)"),
		'0', '... nor, of a worker id that is free, than the skew');
};

### The fuzzer

sub pick { return $_[ rand @_ ]; }

my @odd = ('0', '-1', '1', '9223372036854775807', '(-9223372036854775808)', '2147483648', '4611686018427387904', 'NULL');
sub when { return pick("$tick", "$tick", "$tick", "$tick + " . int(rand(30_000)), "$tick - " . int(rand(30_000)), "$tick + 9500", "$tick - 9500", pick(@odd)); }
sub duration { return pick(q{'1 s'}, q{'10 s'}, q{'10 s'}, q{'1 h'}, q{'1 d'}, q{'25 h'}, q{'0'}, q{'-1 s'}, q{'300000 years'}, 'NULL'); }
sub slot { return int(rand(6)); }
sub token { my ($i) = @_; return pick(":'t$i'", ":'t$i'", ":'t$i'", "'" . join('-', map { join '', map { sprintf '%x', rand 16 } 1 .. $_ } 8, 4, 4, 4, 12) . "'", 'NULL', q{'00000000-0000-0000-0000-000000000000'}); }
sub lease { my ($i) = @_; return pick(":l$i", ":l$i", ":l$i", ":l$i + 1", ":l$i - 1", ":l$i + " . int(rand(100)), pick(@odd)); }

sub random_call
{
	my $i = slot();
	my $kind = rand();
	my ($now, $for) = (when(), duration());
	if ($kind < 0.15) { return "SELECT lease_id AS l$i, token AS t$i, window_end AS e$i FROM ids.snowflake_acquire(" . pick(q{'x'}, q{''}, 'NULL', q{repeat('y', 300)}) . ', ' . pick(0, 0, 0, 1, -1, 'NULL') . ", $now, $for) WHERE lease_id IS NOT NULL \\gset\n"; }
	if ($kind < 0.35)
	{
		my $seen = pick(0, 0, 0, lease($i), pick(@odd));
		my $own = pick(":'t$i'", q{gen_random_uuid()});
		return "SELECT lease_id AS l$i, window_end AS e$i FROM ids.snowflake_lease_acquire('x', 0, $now, $for, $own, $seen, " . pick('NULL', 'NULL', $tick, when()) . ") WHERE lease_id IS NOT NULL \\gset\n";
	}
	my ($id, $token) = (lease($i), token($i));
	if ($kind < 0.5) { return "SELECT ids.snowflake_extend($id, $token, $now, $for) \\g /dev/null\n"; }
	if ($kind < 0.7) { return "SELECT ids.snowflake_lease_extend($id, $token, $now, $for, " . pick(":e$i", 0, ":e$i + 1", when()) . ") \\g /dev/null\n"; }
	if ($kind < 0.85) { return "SELECT ids.snowflake_release($id, $token, " . pick(":e$i - 1", ":e$i - 10000", when()) . ") \\g /dev/null\n"; }
	return "SELECT ids.snowflake_lease_release($id, $token, " . pick(":e$i - 1", ":e$i - 10000", when()) . ', ' . pick(":e$i", 0, when()) . ") \\g /dev/null\n";
}

my $begin = join '', map { "\\set l$_ 1\n\\set e$_ 1\n\\set t$_ '11111111-1111-1111-1111-111111111111'\n" } 0 .. 5;
my %answers;
for my $role (qw(hostile honest))
{
	# In pieces, because a script of all of them would be too large for one run.
	my ($done, $took) = (0, 0);
	while ($done < $calls / 2)
	{
		my $count = $calls / 2 - $done < 10_000 ? $calls / 2 - $done : 10_000;
		my ($stdout, $stderr, $seconds) = run_as($role, "\\set VERBOSITY sqlstate\n$begin" . join('', map { random_call() } 1 .. $count));
		$answers{$_}++ for $stderr =~ /(?:ERROR|FATAL):\s+(\w{5})/g;
		unlike($stderr, qr/server closed|PANIC|XX\d{3}/, "$role: $count calls, none of which the server was not ready for");
		$done += $count;
		$took += $seconds;
	}
	figures('%s: %d calls in %.1f s', $role, $done, $took);
}
figures('%s', join ', ', map { "$_ $answers{$_}" } sort keys %answers);
cmp_ok($answers{$_} // 0, '>', 50, "there was an answer $_ in plenty") for qw(22023 22004 SF002);

### What became of the honest nodes

my $before = client_bytes($clients{two});
ok(wait_until('ids of both', sub { client_bytes($clients{two}) > $before + 1000 }), 'ids flow in the end');
stop_clients($_) for values %clients;

for my $name (@nodes)
{
	# Milliseconds between an id and the next, by their own timestamps.
	my ($last, $longest, $ids, @ticks) = (undef, 0, 0);
	for my $file (@{ $clients{$name}{files} })
	{
		open(my $in, '<', $file) or die $!;
		while (<$in>) { push @ticks, $_ >> 18 if /^\d+$/; }
	}
	for my $at (sort { $a <=> $b } @ticks)
	{
		$longest = $at - $last if defined $last && $at - $last > $longest;
		$last = $at;
	}
	cmp_ok($longest, '<', $window_s * 1000, "$name was never without ids for longer than a window: $longest ms among " . scalar(@ticks));
}
my ($ids, $duplicates) = compare_ids(map { @{ $_->{files} } } values %clients);
is($duplicates, 0, "no equal ids among $ids");
diag("trials $calls calls, $ids ids, $duplicates duplicates, seed $seed");
$nodes->stop('fast');
$registry->stop('fast');
done_testing();
