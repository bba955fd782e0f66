# The world of t/registry/mixture, and what can go wrong there and in t/segments/mixture: a registry, perhaps with an asynchronous
# standby, three nodes with a relay each, their clients, and faults. A fault takes a server and returns whether it happened; one that
# lasts puts its end on a list.
package Mixture;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use NodesTest qw($now_tick);
use Relay;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

our @EXPORT = qw($registry $standby @registries @nodes $drift %slowest $keeper $backend $now_tick make_world issues start_load node run_pending
  signal_one pause_for pause_one stop_for kill_for cut_exchange drift_clock wrong_clock fail_over disturb act hostile_calls bring_about
  faults_happened heal end_world);

our $drift = 4;      # seconds that a clock may be off and the registry does not mind
my $wrong = 3600;    # and that it refuses

our ($registry, $standby, @registries, @nodes);
my (@relays, $user);

# ---------------------------------------------------------------------------------------------------------------------
# The servers and their clients
# ---------------------------------------------------------------------------------------------------------------------

# A ring of so many worker bits. With a standby, commits can be lost: only a ring that is large enough holds back what they may have handed out.
sub make_world
{
	my ($worker_bits, %options) = @_;
	my $sequence_bits = 22 - $worker_bits;
	my $layout = "INSERT INTO snowflake_layout VALUES (true, 1735689600000, 1000, 41, 0, $worker_bits, $sequence_bits, false)";
	my $conf = "log_statement = none\nrestart_after_crash = on\n";

	$registry = new_server('registry', preload => 0, streaming => 1,
		conf => "$conf\nsnowflake.lease_duration = 2s\nlisten_addresses = '127.0.0.1'\nwal_receiver_status_interval = 1s\nwal_retrieve_retry_interval = 100ms\n");
	append_to_file($registry->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
	start_server($registry);
	$user = $registry->safe_psql('postgres', "CREATE EXTENSION snowflake; $layout; SELECT current_user");
	# One worker id is what it may have: the smallest ring has four, for three nodes.
	$registry->safe_psql('postgres', q{
		CREATE ROLE hostile LOGIN;
		ALTER ROLE hostile SET snowflake.max_leases_per_role = 1;
		GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend,
			snowflake_lease_release TO hostile});
	@registries = ($registry);
	make_standby() if $options{standby};

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
	return;
}

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

sub issues
{
	my ($node) = @_;
	my ($rc, $out) = $node->psql('postgres', 'SELECT snowflake_nextval()', timeout => 10, timed_out => \my $timed_out);
	return !$timed_out && $rc == 0 && $out =~ /^\d+$/;
}

# Clients that take ids in every way, and keep some in tables.
sub start_load
{
	my ($seconds) = @_;
	my $clients_per_node = 2;
	# A long run pauses more, so that its ids can still be compared.
	my $ids_per_turn = 330;
	my $most_ids = 30_000_000;
	my $pause = $seconds * $clients_per_node * @nodes * $ids_per_turn / $most_ids;
	$pause = 0.01 if $pause < 0.01;
	my $script = ids_in_every_way(times => 100, copied => 250, rolled_back => 20, kept => 9, at_once => 50, pause => $pause);
	return map { start_clients($_, $clients_per_node, $script) } @nodes;
}

# ---------------------------------------------------------------------------------------------------------------------
# Faults
# ---------------------------------------------------------------------------------------------------------------------

my @pending;    # [when, what]
my %down;       # name => 1 while a server is stopped or paused
our %slowest;   # how a server was stopped => the longest time that it took, in seconds

sub node { return $nodes[ rand @nodes ]; }

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

our $keeper = qr/snowflake keeper/;
our $backend = qr/\[local\]/;
my $exchange = qr/127\.0\.0\.1\(\d+\)/;

sub signal_one
{
	my ($server, $signal, $pattern) = @_;
	return 0 if $down{ $server->name };
	my @pids = processes($server, $pattern) or return 0;
	return kill $signal, $pids[ rand @pids ];
}

# A server is down until what ends it.
sub down_for
{
	my ($server, $longest, $end) = @_;
	$down{ $server->name } = 1;
	later(rand($longest), sub { $end->(); delete $down{ $server->name } });
	return 1;
}

sub pause_for
{
	my ($server, $longest) = @_;
	return 0 if $down{ $server->name };
	pause_server($server);
	return down_for($server, $longest, sub { resume_server($server) });
}

# Whatever it was doing, a crash restart included.
sub stop_for
{
	my ($server, $mode, $longest) = @_;
	return 0 if $down{ $server->name };
	my $before = time();
	$server->stop($mode);
	my $took = time() - $before;
	$slowest{$mode} = $took if $took > ($slowest{$mode} // 0);
	return down_for($server, $longest, sub { start_server($server) });
}

sub kill_for
{
	my ($server, $longest, $then) = @_;
	return 0 if $down{ $server->name };
	return 0 unless kill_server($server, children => 1);
	$then->($server) if $then;
	return down_for($server, $longest, sub { start_server($server) });
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
	return down_for($server, $longest, sub { kill 'CONT', $pid });
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

# What an operator, a neighbour or a replica does to the registry by SQL, in a session that nobody waits for. Returns whether it could
# begin: what is refused there has been tried, too.
my @acts;
my $acts_folder;

sub act
{
	my ($text, $role) = @_;
	return 0 if $down{ $registry->name };
	# From a file: a session that is ended early would leave a pipe behind that nobody reads.
	$acts_folder //= PostgreSQL::Test::Utils::tempdir();
	my $file = "$acts_folder/" . @acts . '.sql';
	append_to_file($file, $text);
	push @acts, IPC::Run::start([ 'timeout', '20', 'psql', '-XAtq', '-d', $registry->connstr('postgres'), $role ? ('-U', $role) : (), '-f', $file ],
		'<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
	return 1;
}

# Odd calls, by a role that may do nothing else.
sub hostile_calls
{
	my $call = sub {
		my ($id, $tick) = (int(rand(5_000_000)), $now_tick . ' + ' . int(rand(20_000) - 10_000));
		my @calls = map {
			("snowflake_lease_acquire('x', 0, $tick, '2 s', sha256(uuid_send(gen_random_uuid())), $_, NULL)",
				"snowflake_lease_extend($id, sha256(uuid_send(gen_random_uuid())), $tick, '2 s', $_, 0, 0)",
				"snowflake_lease_release($id, uuid_send(gen_random_uuid()), $tick, $_)")
		} 0, $id, $tick;
		return "SELECT $calls[rand @calls];\n";
	};
	return act(join('', map { $call->() } 1 .. 50), 'hostile');
}

# ---------------------------------------------------------------------------------------------------------------------

# Faults of these kinds for so many seconds, at random. Returns how many, and how many of each kind.
sub bring_about
{
	my ($seconds, %kinds) = @_;
	my @names = sort keys %kinds;
	my @faults = map { [ $_, $kinds{$_} ] } @names;
	my ($count, %times) = (0);
	my $end = time() + $seconds;
	my $next = time();
	# A slow machine gets the time that it needs for some.
	while (time() < $end || ($count < $seconds / 4 && time() < $end + 60 * slowness()))
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
	return ($count, %times);
}

# Whether these were enough, and of enough kinds; what bring_about() was given and returned.
sub faults_happened
{
	my ($seconds, $kinds, $count, $times) = @_;
	cmp_ok($count, '>=', $seconds / 4, 'faults');
	my @missing = grep { !$times->{$_} } sort keys %$kinds;
	# An exchange is not always to be caught, and a server may be down when its turn comes.
	cmp_ok(scalar @missing, '<=', keys(%$kinds) / 3, 'kinds that did not') or diag("did not happen: @missing");
	figures('%s', join(', ', map { "$_ $times->{$_}" } sort keys %$times));
	return;
}

# Ends all that goes on, so that all is well again.
sub heal
{
	run_pending(1);
	$_->finish for @acts;
	# Whoever was interrupted in between left a guard off.
	$registry->safe_psql('postgres', 'ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard');
	move_clock($_, 0) for @nodes;
	# A ring as small as the nodes are many has nothing left while it settles, and here no commit was lost.
	$registry->safe_psql('postgres', 'SELECT snowflake_settled()') unless $standby;
	return;
}

sub end_world
{
	$_->finish for @relays;
	$_->stop for @nodes, $standby || (), $registry;
	return;
}

1;
