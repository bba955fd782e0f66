# Three nodes, one registry and a random mixture of faults. Tries to break G1: whatever is paused, killed, restarted, cut off,
# failed over or given another time, in whatever order, and however many of these at once, no id that ever reached a client of
# any node is issued again, not even one that was rolled back. And G6: when all is well again, every node issues again.
#
# The third node is a copy of the second, data directory, name and all. Each reaches the registry through a relay of its own,
# which is also the address that moves when the registry is failed over to its asynchronous standby. That loses commits, so
# it is only done where the ring is large enough for settling to hold back what they may have handed out.
#
# The seed decides the ring's size, the faults, their order and their moments; what the servers are doing at that moment it
# does not decide. SNOWFLAKE_MIXTURE_SECONDS is for how long (60 by default).
use strict;
use warnings;

use Relay;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = $ENV{SNOWFLAKE_MIXTURE_SECONDS} || 60;
my $clients_per_node = 2;
my $drift = 4;       # seconds that a clock may be off and the registry does not mind
my $wrong = 3600;    # and that it refuses

my $seed = seed();

# The fewer worker ids, the sooner one is used again.
my $worker_bits = (2, 3, 10, 10)[ rand 4 ];
my $sequence_bits = 22 - $worker_bits;
my $layout = "INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, $worker_bits, $sequence_bits, false)";
my $conf = "log_statement = none\nrestart_after_crash = on\n";

my $registry = new_server('registry', preload => 0, streaming => 1,
	conf => "$conf\nsnowflake.lease_duration = 2s\nlisten_addresses = '127.0.0.1'\nwal_receiver_status_interval = 1s\nwal_retrieve_retry_interval = 100ms\n");
append_to_file($registry->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
start_server($registry);
my $user = $registry->safe_psql('postgres', "CREATE EXTENSION snowflake; $layout; SELECT current_user");
# One worker id is what it may have: the smallest ring has four, for three nodes.
$registry->safe_psql('postgres', q{
	CREATE ROLE hostile LOGIN;
	ALTER ROLE hostile SET snowflake.max_leases_per_role = 1;
	GRANT EXECUTE ON FUNCTION snowflake_acquire, snowflake_extend, snowflake_release, snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release TO hostile});
my @registries = ($registry);
my $standby;

sub make_standby
{
	my $name = 'registry' . @registries;
	$registry->backup($name);
	$standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($registry, $name, has_streaming => 1);
	start_server($standby);
	push @registries, $standby;
	return;
}
make_standby() if $worker_bits == 10;

my (@nodes, @relays);

sub add_node
{
	my ($node) = @_;
	my $relay = Relay->new($registry->port);
	$node->append_conf('postgresql.conf', sprintf "snowflake.registry = 'host=127.0.0.1 port=%d user=%s dbname=postgres'\n", $relay->port, $user);
	start_server($node);
	push @nodes, $node;
	push @relays, $relay;
	return;
}

for my $i (1 .. 2)
{
	my $node = new_server("node$i", clock => 1, conf => $conf . qq{
snowflake.node_name = 'node$i'
snowflake.lease_duration = 2s
snowflake.start_timeout = 1s
});
	add_node($node);
	$node->safe_psql('postgres', "CREATE EXTENSION snowflake; $layout; CREATE TABLE kept (id bigint DEFAULT snowflake_nextval())");
}
ok(wait_until('an id before the copy', sub { issues($nodes[1]) }), 'the node to be copied issues');
# As after a crash, so that the copy finds a lease in the registry that is the other's.
$nodes[1]->stop('immediate');
$nodes[1]->backup_fs_cold('copy');
start_server($nodes[1]);
my $copy = new_server('node3', clock => 1, from => [ $nodes[1], 'copy' ]);
add_node($copy);

# ---------------------------------------------------------------------------------------------------------------------
# Clients
# ---------------------------------------------------------------------------------------------------------------------

sub issues
{
	my ($node) = @_;
	my ($rc, $out) = $node->psql('postgres', 'SELECT snowflake_nextval()', timeout => 10, timed_out => \my $timed_out);
	return !$timed_out && $rc == 0 && $out =~ /^\d+$/;
}

subtest 'every node issues at first' => sub {
	for my $node (@nodes) { ok(wait_until('a first id', sub { issues($node) }), $node->name); }
};

# A long run pauses more, so that its ids can still be compared.
my $ids_per_turn = 330;
my $most_ids = 30_000_000;
my $pause = $seconds * $clients_per_node * @nodes * $ids_per_turn / $most_ids;
$pause = 0.01 if $pause < 0.01;
my $script = <<"SQL" x 100;
COPY (SELECT snowflake_nextval() FROM generate_series(1, 250)) TO STDOUT;
BEGIN;
INSERT INTO kept SELECT FROM generate_series(1, 20) RETURNING id;
ROLLBACK;
SELECT snowflake_nextval();
SELECT id FROM snowflake_nextvals(50) AS id;
INSERT INTO kept SELECT FROM generate_series(1, 9) RETURNING id;
SELECT FROM pg_sleep($pause);
SQL
my @clients = map { start_clients($_, $clients_per_node, $script) } @nodes;

# ---------------------------------------------------------------------------------------------------------------------
# Faults. Each takes a server and returns whether it happened; one that lasts puts its end on the list.
# ---------------------------------------------------------------------------------------------------------------------

my @pending;    # [when, what]
my %down;       # name => 1 while a server is stopped or paused
my %slowest;    # how a server was stopped => the longest time that it took, in seconds

sub later
{
	my ($delay, $what) = @_;
	@pending = sort { $a->[0] <=> $b->[0] } @pending, [ time() + $delay, $what ];
	return;
}

sub run_pending
{
	my ($all) = @_;
	while (@pending && ($all || $pending[0][0] <= time())) { (shift @pending)->[1]->(); }
	return;
}

# Children of a server whose title matches.
sub processes
{
	my ($server, $pattern) = @_;
	return () unless -e $server->data_dir . '/postmaster.pid';
	my ($postmaster, @pids) = server_processes($server);
	my @found;
	for my $pid (@pids)
	{
		open(my $file, '<', "/proc/$pid/cmdline") or next;
		my $title = <$file> // '';
		push @found, $pid if $title =~ $pattern;
	}
	return @found;
}

my $keeper = qr/snowflake keeper/;
my $backend = qr/\[local\]/;
my $exchange = qr/127\.0\.0\.1\(\d+\)/;

sub signal_one
{
	my ($server, $signal, $pattern) = @_;
	return 0 if $down{ $server->name };
	my @pids = processes($server, $pattern) or return 0;
	return kill $signal, $pids[ rand @pids ];
}

sub pause_server
{
	my ($server, $longest) = @_;
	return 0 if $down{ $server->name };
	my $postmaster = (server_processes($server))[0];
	kill 'STOP', $postmaster;    # no more children from here on
	my @pids = server_processes($server);
	kill 'STOP', @pids;
	$down{ $server->name } = 1;
	later(rand($longest), sub { kill 'CONT', reverse @pids; delete $down{ $server->name } });
	return 1;
}

# Whatever it was doing, a crash restart included.
sub stop_server
{
	my ($server, $mode, $longest) = @_;
	return 0 if $down{ $server->name };
	my $before = time();
	$server->stop($mode);
	my $took = time() - $before;
	$slowest{$mode} = $took if $took > ($slowest{$mode} // 0);
	$down{ $server->name } = 1;
	later(rand($longest), sub { start_server($server); delete $down{ $server->name } });
	return 1;
}

sub kill_all
{
	my ($server, $longest) = @_;
	return 0 if $down{ $server->name };
	return 0 unless kill_server($server, children => 1);
	$down{ $server->name } = 1;
	later(rand($longest), sub { start_server($server); delete $down{ $server->name } });
	return 1;
}

# A process alone stands still, perhaps with a lock in its hands.
sub pause_one
{
	my ($server, $pattern, $longest) = @_;
	return 0 if $down{ $server->name };
	my @pids = processes($server, $pattern) or return 0;
	my $pid = $pids[ rand @pids ];
	kill 'STOP', $pid or return 0;
	# Nothing else is done to the server meanwhile: pg_ctl would wait for that process.
	$down{ $server->name } = 1;
	later(rand($longest), sub { kill 'CONT', $pid; delete $down{ $server->name } });
	return 1;
}

# Exchanges are short: one has to be waited for.
sub cut_exchange
{
	my ($signal, $longest) = @_;
	return 0 if $down{ $registry->name };
	my $deadline = time() + 1;
	while (time() < $deadline)
	{
		return 1 if $signal eq 'STOP' ? pause_one($registry, $exchange, $longest) : signal_one($registry, $signal, $exchange);
	}
	return 0;
}

sub drift_clock { move_clock($_[0], (rand(2) - 1) * $drift); return 1; }

sub wrong_clock
{
	my ($node) = @_;
	move_clock($node, rand() < 0.5 ? $wrong : -$wrong);
	later(rand(3), sub { drift_clock($node) });
	return 1;
}

# What the standby has not received by then is lost.
my $failed_over = 0;

sub fail_over
{
	return 0 if !$standby || $down{ $registry->name } || time() - $failed_over < 12;
	my @senders = processes($registry, qr/walsender/);
	kill 'STOP', @senders;
	sleep(rand(1));
	return 0 unless kill_server($registry, children => 1);
	my $old = $registry;
	$registry = $standby;
	$registry->promote;
	$_->tell('target ' . $registry->port) for @relays;
	$old->kill9;
	$old->clean_node;
	make_standby();
	$failed_over = time();
	return 1;
}

# The network of one node.
sub disturb
{
	my ($longest, @commands) = @_;
	my $relay = $relays[ rand @relays ];
	$relay->tell($_) for @commands;
	later(rand($longest), sub { $relay->tell('pass') });
	return 1;
}

sub node { return $nodes[ rand @nodes ]; }

# What an operator, a neighbour or a replica does to the registry by SQL, in a session that nobody waits for. Returns whether it could
# begin: what is refused there has been tried, too.
my @acts;
my $acts_folder = PostgreSQL::Test::Utils::tempdir();

sub act
{
	my ($text, $role) = @_;
	return 0 if $down{ $registry->name };
	# From a file: a session that is ended early would leave a pipe behind that nobody reads.
	my $file = "$acts_folder/" . @acts . '.sql';
	append_to_file($file, $text);
	push @acts, IPC::Run::start([ 'timeout', '20', 'psql', '-XAtq', '-d', $registry->connstr('postgres'), $role ? ('-U', $role) : (), '-f', $file ],
		'<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
	return 1;
}

my $now_tick = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';

# Odd calls, by a role that may do nothing else.
sub hostile_calls
{
	my $call = sub {
		my ($id, $tick) = (int(rand(5_000_000)), $now_tick . ' + ' . int(rand(20_000) - 10_000));
		my @calls = ("snowflake_acquire('x', 0, $tick, '1 s')", "snowflake_lease_acquire('x', 0, $tick, '2 s', gen_random_uuid(), $id, NULL)",
			"snowflake_extend($id, gen_random_uuid(), $tick, '2 s')", "snowflake_lease_extend($id, gen_random_uuid(), $tick, '2 s', $tick)",
			"snowflake_release($id, gen_random_uuid(), $tick)", "snowflake_lease_release($id, gen_random_uuid(), $tick, $tick)");
		return "SELECT $calls[rand @calls];\n";
	};
	return act(join('', map { $call->() } 1 .. 50), 'hostile');
}

my %kinds = (
	'registry paused' => sub { pause_server($registry, 4) },
	'registry stopped' => sub { stop_server($registry, 'immediate', 4) },
	'registry restarted' => sub { stop_server($registry, 'immediate', 0) },
	'registry killed' => sub { kill_all($registry, 1) },
	($standby ? ('registry failed over' => \&fail_over) : ()),
	'network dropped' => sub { disturb(5, 'drop', 'forget') },
	'network hung' => sub { disturb(5, 'stall') },
	'answers late' => sub { disturb(6, 'delay 3') },
	'answers lost' => sub { disturb(6, 'hold snowflake_') },
	'connections cut' => sub { disturb(4, 'cut snowflake_') },
	'exchange terminated' => sub { cut_exchange('TERM') },
	'exchange killed' => sub { cut_exchange('KILL') },
	'exchange paused' => sub { cut_exchange('STOP', 8) },
	'node paused' => sub { pause_server(node(), 6) },
	'node stopped' => sub { stop_server(node(), 'immediate', 4) },
	'node restarted' => sub { stop_server(node(), 'immediate', 0) },
	'node shut down' => sub { stop_server(node(), 'fast', 1) },
	'node killed' => sub { kill_all(node(), 1) },
	'keeper killed' => sub { signal_one(node(), 'KILL', $keeper) },
	'keeper terminated' => sub { signal_one(node(), 'TERM', $keeper) },
	'keeper paused' => sub { pause_one(node(), $keeper, 6) },
	'backend killed' => sub { signal_one(node(), 'KILL', $backend) },
	'backend terminated' => sub { signal_one(node(), 'TERM', $backend) },
	'backend paused' => sub { pause_one(node(), $backend, 3) },
	'clock stepped' => sub { drift_clock(node()) },
	'clock stepped again' => sub { drift_clock(node()) },
	'clock wrong' => sub { wrong_clock(node()) },
	'lease deleted' => sub { act('DELETE FROM snowflake_registry WHERE lease_id = (SELECT lease_id FROM snowflake_registry ORDER BY random() LIMIT 1)') },
	'leases deleted' => sub { act('DELETE FROM snowflake_registry') },
	'tables truncated' => sub { act("TRUNCATE snowflake_registry;\nTRUNCATE snowflake_watermark, snowflake_origin CASCADE;") },
	'watermarks lowered' => sub { act("UPDATE snowflake_watermark SET last_tick = 0;\nDELETE FROM snowflake_watermark;\nUPDATE snowflake_registry SET window_end = window_start;") },
	'replica writing' => sub { act("SET session_replication_role = replica;\nDELETE FROM snowflake_registry;\nDELETE FROM snowflake_watermark;\nUPDATE snowflake_origin SET timeline = 9, last_lease_id = 1;") },
	'guard missing' => sub { act("ALTER TABLE snowflake_registry DISABLE TRIGGER snowflake_guard;\nSELECT pg_sleep(random());\nALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard;") },
	'lock kept' => sub { act("BEGIN;\nSELECT snowflake_acquire('x', 0, $now_tick, '1 s');\nSELECT pg_sleep(15);", 'hostile') },
	'registry told to settle' => sub { act(q{SELECT snowflake_settle('mixture')}) },
	'odd calls' => sub { hostile_calls() },
);
my @names = sort keys %kinds;
my @faults = map { [ $_, $kinds{$_} ] } @names;

my ($count, %times) = (0);
my $started = time();
my $end = $started + $seconds;
my $next = $started;
while (time() < $end)
{
	run_pending();
	if (time() >= $next)
	{
		# In the first rounds each kind in turn, so that a short run has them all.
		my $kind = @faults ? splice(@faults, rand @faults, 1) : [ map { ($_, $kinds{$_}) } $names[ rand @names ] ];
		if ($kind->[1]->())
		{
			$count++;
			$times{ $kind->[0] }++;
		}
		# Flurries, and now and then enough time for all to go well.
		$next = time() + (rand() < 0.1 ? rand(4) : rand(0.5));
	}
	sleep(0.02);
}

# ---------------------------------------------------------------------------------------------------------------------
# All is well again
# ---------------------------------------------------------------------------------------------------------------------

run_pending(1);
$_->finish for @acts;
# Whoever was interrupted in between left a guard off.
$registry->safe_psql('postgres', 'ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard');
move_clock($_, 0) for @nodes;
# A ring as small as the nodes are many has nothing left while it settles, and here no commit was lost.
$registry->safe_psql('postgres', 'SELECT snowflake_settled()') unless $standby;
my $healed = time();

subtest 'every node issues again (G6)' => sub {
	for my $node (@nodes)
	{
		ok(wait_until('ids again', sub { issues($node) }), $node->name)
		  or diag($node->psql('postgres', 'TABLE snowflake_status', extra_params => ['-x'], timeout => 10) // '');
	}
	figures('all nodes issued %.1f s after the last fault was healed', time() - $healed);
	# And to the clients: what they were in the middle of must not hang.
	for my $i (0 .. $#nodes)
	{
		my $size = client_bytes($clients[$i]);
		ok(wait_until('ids', sub { client_bytes($clients[$i]) > $size + 20_000 }), $nodes[$i]->name . ' to its clients');
	}
};

stop_clients($_) for @clients;
my $over = time();

subtest 'faults of all kinds happened' => sub {
	cmp_ok($count, '>=', $seconds / 4, 'faults');
	my @missing = grep { !$times{$_} } @names;
	# An exchange is not always to be caught, and a server may be down when its turn comes.
	cmp_ok(scalar @missing, '<=', @names / 3, 'kinds that did not') or diag("did not happen: @missing");
	figures('slowest stop %s', join(', ', map { sprintf '%s %.1f s', $_, $slowest{$_} } sort keys %slowest));
	figures('%s', join(', ', map { "$_ $times{$_}" } grep { $times{$_} } @names));
};

my ($ids, $duplicates, $lowest, $highest) = compare_ids(map { @{ $_->{files} } } @clients);

subtest 'no id was issued twice, here or elsewhere (G1)' => sub {
	is($duplicates, 0, "duplicates among $ids");
	cmp_ok($ids, '>', 1000 * $seconds, 'ids were compared');
};

subtest 'no id is twice in the tables of all nodes, whether or not it reached a client' => sub {
	my @files;
	for my $node (@nodes)
	{
		my $name = $node->basedir . '/kept';
		$node->safe_psql('postgres', "COPY kept TO '$name'");
		push @files, $name;
	}
	my ($rows, $twice) = compare_ids(@files);
	is($twice, 0, "duplicates among $rows");
	cmp_ok($rows, '>', 0, 'rows were kept');
};

subtest 'no id is of a time that was an hour off' => sub {
	my ($first, $last) = split /\|/, $nodes[0]->safe_psql('postgres', "SELECT extract(epoch FROM snowflake_timestamp($lowest)), extract(epoch FROM snowflake_timestamp($highest))");
	cmp_ok($first, '>', $started - $drift - 2, 'none before it began');
	cmp_ok($last, '<', $over + $drift + 0.1, 'and none after it ended');
};

subtest 'no server noticed a fault of its own' => sub {
	for my $server (@registries, @nodes)
	{
		my $log = slurp_file($server->logfile);
		my @crashes = $log =~ /(PANIC:.*|TRAP:.*|was terminated by signal (?!9\b)\d+.*)/g;
		is(join("\n", @crashes), '', $server->name);
	}
};

my $leases = 0;
for my $node (@nodes)
{
	my $log = slurp_file($node->logfile);
	$leases += () = $log =~ /snowflake keeper: drew worker id/g;
}
cmp_ok($leases, '>', 3, 'leases were drawn again and again');
figures('%d worker ids in the ring, %d leases in %d s', 2**$worker_bits, $leases, $seconds);

diag("trials $count faults, $leases leases, $ids ids, $duplicates duplicates, seed $seed");
$_->finish for @relays;
$_->stop for @nodes, $standby || (), $registry;
done_testing();
