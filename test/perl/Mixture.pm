# The servers of t/registry/mixture and of test/soak, and the faults of these tests and of
# t/segments/mixture: a registry, possibly with an asynchronous standby, three nodes with a relay
# each, and their clients. A fault takes a server and returns whether it happened. A fault that
# lasts adds its end to a list.
package Mixture;

use strict;
use warnings;

use Exporter 'import';
use File::Copy qw(copy);
use File::Path qw(rmtree);
use FullDisk;
use IPC::Run;
use List::Util qw(max min);
use NodesTest qw($now_tick);
use POSIX qw(WNOHANG);
use Relay;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

our @EXPORT = qw($registry $standby @registries @nodes $drift %slowest $keeper $backend $guard $briefly $settles $reverts make_world issues start_load node run_pending nothing_pending
  signal_one pause_for pause_one stop_for kill_for fail_over switch_over back_up restore copy_node evict fill_disk wrong_clock fail_over_wrong fail_over_crashing registry_clock_steps registry_clock_wrong registry_is_right leap_together step_back_together start_wrong
  clock_in_the_past start_in_the_past registry_in_the_past start_registry_in_the_past restart_ahead upgrade revert_registry act change_settings readdress_registry faults bring_about
  faults_happened heal end_world);

# Restores the guard: a session that is interrupted without the guard leaves it off.
our $guard = 'ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard;';

# Faults last for a random time up to the longest; with a higher power, most are short.
our $briefly = 1;
sub up_to { my ($longest) = @_; return $longest * rand()**$briefly; }

our $drift = 4;      # seconds that a clock may be off without being refused
my $wrong = 3600;    # seconds off that the registry refuses

# The registry's clock is wrong by another time, or it would agree with a node whose clock is wrong.
my $registry_wrong = 7200;

# The epoch of the ids.
my $epoch_s = 1735689600;

our ($registry, $standby, @registries, @nodes);
my (@relays, $user, $disks, $clocks);

# --------------------------------------------------------------------------------------------------
# The servers and their clients
# --------------------------------------------------------------------------------------------------

# Makes servers with a ring of so many worker bits. With a standby, commits can be lost: only a
# large ring can hold back the worker ids that they may have assigned. Options: standby => 1; conf =>
# lines for postgresql.conf of all servers; base => what each node's database contains besides the
# extension; disks => 1: disks can be full; clocks => 1: the clocks of the registries can be wrong, too.
sub make_world
{
	my ($worker_bits, %options) = @_;
	my $sequence_bits = 22 - $worker_bits;
	my $layout = "INSERT INTO snowflake_layout VALUES (true, 'epoch=${epoch_s}000 tick=1ms time=41 worker=$worker_bits seq=$sequence_bits')";
	my $conf = "log_statement = none\nrestart_after_crash = on\n" . ($options{conf} // '');
	($disks, $clocks) = @options{qw(disks clocks)};

	$registry = new_server('registry', streaming => 1, clock => $clocks,
		conf => "$conf\nsnowflake.lease_duration = 2s\nlisten_addresses = '127.0.0.1'\nwal_receiver_status_interval = 1s\nwal_retrieve_retry_interval = 100ms\nwal_keep_size = 128MB\n");
	append_to_file($registry->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
	give_disk($registry);
	start_server($registry);
	$user = $registry->safe_psql('postgres', "CREATE EXTENSION snowflake; $layout; SELECT current_user");
	# It may have one worker id: the smallest ring has four, for three nodes.
	$registry->safe_psql('postgres', q{
		CREATE ROLE hostile LOGIN;
		ALTER ROLE hostile SET snowflake.max_leases_per_role = 1;
		GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend,
			snowflake_lease_release TO hostile});
	@registries = ($registry);
	make_standby() if $options{standby};

	for my $i (1 .. 2)
	{
		my $node = new_server("node$i", clock => 1, counter => 'real', conf => $conf . qq{
snowflake.node_name = 'node$i'
snowflake.lease_duration = 2s
snowflake.start_timeout = 1s
});
		add_node($node);
		$node->safe_psql('postgres', "CREATE EXTENSION snowflake; $layout; CREATE TABLE kept (id bigint DEFAULT snowflake_nextval());" . ($options{base} // ''));
	}
	ok(wait_until('an id before the copy', sub { issues($nodes[1]) }), 'the node to be copied issues');
	# The same files as after a crash, so the copy finds the other node's lease in the registry.
	$nodes[1]->stop('immediate');
	$nodes[1]->backup_fs_cold('copy');
	start_server($nodes[1]);
	my $copy = new_server('node3', clock => 1, counter => 'real', from => [ $nodes[1], 'copy' ]);
	add_node($copy);
	return;
}

# A running server, made from a backup of a registry.
sub registry_of
{
	my ($of, $backup, %as) = @_;
	my $server = PostgreSQL::Test::Cluster->new('registry' . @registries);
	$server->init_from_backup($of, $backup, %as);
	push @registries, $server;
	give_disk($server);
	if ($clocks)
	{
		$server->{snowflake_clock} = $server->basedir . '/clock';
		move_clock($server, 0);
	}
	start_server($server);
	return $server;
}

# A process that is paused within a commit would delay the checkpoint, and everything that is
# pending. The registry may still recover from the last fault.
sub base_backup
{
	my ($name) = @_;
	my $folder = $registry->backup_dir . "/$name";
	my $complete = sub {
		kill 'CONT', processes($registry, qr//);
		rmtree($folder);
		return PostgreSQL::Test::Utils::system_log('pg_basebackup', '-D', $folder, '-h', $registry->host, '-p', $registry->port, '--checkpoint', 'fast', '--no-sync') == 0;
	};
	wait_until("the backup $name", $complete) or die "no backup of the registry\n";
	return;
}

sub make_standby
{
	base_backup('standby');
	$standby = registry_of($registry, 'standby', has_streaming => 1);
	rmtree($registry->backup_dir . '/standby');
	return;
}

sub give_disk { my ($server) = @_; $server->{snowflake_disk} = FullDisk->new if $disks; return; }

sub add_node
{
	my ($node) = @_;
	my $relay = Relay->new($registry->port);
	push @relays, $relay;
	push @nodes, $node;
	give_disk($node);
	start_by_relay($node, $relay);
	return;
}

sub start_by_relay
{
	my ($node, $relay) = @_;
	$node->append_conf('postgresql.conf', sprintf "snowflake.registry = '%s'\n", address_by($relay));
	return start_server($node);
}

sub address_by { my ($relay) = @_; return sprintf 'host=127.0.0.1 port=%d user=%s dbname=postgres', $relay->port, $user; }

sub issues
{
	my ($node) = @_;
	my ($rc, $out) = $node->psql('postgres', 'SELECT snowflake_nextval()', timeout => 10, timed_out => \my $timed_out);
	return !$timed_out && $rc == 0 && $out =~ /^\d+$/;
}

# Clients that get ids in every way, and store some in tables.
sub start_load
{
	my ($seconds) = @_;
	my $clients_per_node = 2;
	# A long run has longer pauses, so that its ids can still be compared.
	my $ids_per_turn = 330;
	my $most_ids = 30_000_000;
	my $pause = $seconds * $clients_per_node * @nodes * $ids_per_turn / $most_ids;
	$pause = 0.1 if $pause < 0.1;
	my $script = ids_in_every_way(times => 100, copied => 250, rolled_back => 20, kept => 9, at_once => 50, pause => $pause);
	return map { start_clients($_, $clients_per_node, $script) } @nodes;
}

# --------------------------------------------------------------------------------------------------
# Faults
# --------------------------------------------------------------------------------------------------

my @pending;    # [when, what]
my %acts;       # sessions for which the test does not wait
my $acts_folder;
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

sub nothing_pending { return !@pending; }

# Children of a server whose title matches.
sub processes
{
	my ($server, $pattern) = @_;
	my ($postmaster) = postmaster($server) or return ();
	open(my $children, '<', "/proc/$postmaster/task/$postmaster/children") or return ();
	my @found;
	for my $pid (split / /, <$children> // '')
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

# The server counts as down until the code that ends the fault has run.
sub down_for
{
	my ($server, $longest, $end) = @_;
	return down_until($server, time() + up_to($longest), $end);
}

sub down_until
{
	my ($server, $at, $end) = @_;
	$down{ $server->name } = 1;
	later($at - time(), sub { $end->(); delete $down{ $server->name } });
	return 1;
}

sub pause_for
{
	my ($server, $longest) = @_;
	return 0 if $down{ $server->name };
	pause_server($server);
	return down_for($server, $longest, sub { resume_server($server) });
}

# Stops the server; returns whether the shutdown was clean. If a fast shutdown meets the recovery
# after a crash, PostgreSQL can wait for a checkpointer that it has not told to end. If the clock was
# set back, it can wait for hours for a child without a title, whose client has sent nothing yet.
sub stop_server
{
	my ($server, $mode) = @_;
	return 1 if $server->stop($mode, fail_ok => 1);
	my ($postmaster) = postmaster($server);
	if (kill 'KILL', processes($server, qr{/postgres\0}))
	{
		wait_until('the end of a server', sub { !-e "/proc/$postmaster" });
		$server->kill9;
		return 0;
	}
	my @left = processes($server, qr/./);
	BAIL_OUT($server->name . ' does not shut down: ' . join('; ', map { state_of_process($_) } @left)) if @left != processes($server, qr/checkpointer/);
	$server->stop('immediate');
	return 0;
}

# Its title, and what it waits for.
sub state_of_process
{
	my ($pid) = @_;
	my @parts;
	for my $what (qw(cmdline stat wchan))
	{
		open(my $file, '<', "/proc/$pid/$what") or next;
		push @parts, (<$file> // '') =~ tr/\0\n/ /dr;
	}
	return join ', ', @parts;
}

# In any state of the server, including a restart after a crash.
sub stop_for
{
	my ($server, $mode, $longest) = @_;
	return 0 if $down{ $server->name };
	my $before = time();
	stop_server($server, $mode);
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

# A copy in the same directory may have had its own box.
sub reboot { my ($server) = @_; unlink boxes_of($server); return; }

# A single process is paused, possibly while it holds a lock.
sub pause_one
{
	my ($server, $pattern, $longest) = @_;
	return 0 if $down{ $server->name };
	my @pids = processes($server, $pattern) or return 0;
	my $pid = $pids[ rand @pids ];
	kill 'STOP', $pid or return 0;
	# No other fault affects the server meanwhile: pg_ctl would wait for that process.
	return down_for($server, $longest, sub { kill 'CONT', $pid });
}

# Exchanges are short, so the code waits for one.
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

sub some_drift { return (rand(2) - 1) * $drift; }
sub drift_clock { move_clock($_[0], some_drift()); return 1; }

sub wrong_by { my ($ahead) = @_; return rand() < 0.5 ? $ahead // $wrong : -$wrong; }

sub wrong_clock
{
	my ($node, $ahead) = @_;
	return wrong_for_a_while($node, wrong_by($ahead));
}

sub wrong_for_a_while
{
	my ($node, $by) = @_;
	my $then = some_drift();
	move_clock($node, $by);
	later(up_to(3), sub { move_clock($node, $then) });
	return 1;
}

# The next loss comes after the registry has settled: for closer losses nothing is promised.
my $lost = 0;
our $settles = 13;

our $reverts = 0;    # how often the registry was reverted

# Nor is anything promised if the standby is far behind.
sub standby_follows
{
	return 0 if !$standby || $down{ $registry->name };
	my ($rc, $out) = $registry->psql('postgres', q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'}, timeout => 5, timed_out => \my $timed_out);
	return !$timed_out && !$rc && $out eq '1';
}

# Whether the registry has noticed the last loss, and has settled since. Crashes prolong that.
sub has_settled
{
	my ($rc, $out) = $registry->psql('postgres',
		"SELECT settling_left_us = 0 AND timeline = ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int FROM snowflake_origin",
		timeout => 5, timed_out => \my $timed_out);
	return !$timed_out && !$rc && $out eq 't';
}

# What the standby has not received by then is lost. Gets by how many seconds the clock of the new
# registry is wrong.
sub fail_over
{
	my ($wrong_by) = @_;
	return 0 if time() - $lost < $settles || !standby_follows() || !has_settled();
	my @senders = processes($registry, qr/walsender/);
	kill 'STOP', @senders;
	sleep(rand(1));
	return 0 unless kill_server($registry, children => 1);
	$registry->kill9;
	move_clock($standby, $wrong_by) if $wrong_by;
	$standby->promote;
	$lost = time();
	return replace_registry($standby);
}

# --- The registry's clock ---

# Sessions that sleep would otherwise do so until a clock that went back has caught up.
sub wake_sleepers { return act(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}, on => $_[0]); }

# A server that has been replaced is gone, with its clock.
sub set_registry_right
{
	my ($server) = @_;
	return if !-e $server->{snowflake_clock};
	move_clock($server, 0);
	wake_sleepers($server) if $server == $registry;
	return;
}

sub registry_is_right { return abs($registry->{snowflake_offset_ns} // 0) < 1e9; }
sub either_way { return rand() < 0.5 ? $_[0] : -$_[0]; }

# Its clock is set right while the registry settles, or afterwards.
sub fail_over_wrong
{
	return 0 unless fail_over(either_way($registry_wrong));
	my $new = $registry;
	later(rand() < 0.5 ? rand(10) : $settles + rand(20), sub { set_registry_right($new) });
	return 1;
}

sub fail_over_crashing
{
	return 0 unless fail_over();
	my $at = 0;
	later($at += 1 + rand(4), sub { $lost = time() if kill_for($registry, 1) }) for 1 .. 3;
	return 1;
}

# By less than what nodes' clocks may be off besides.
sub registry_clock_steps { move_clock($registry, rand() - 0.5); return 1; }

sub registry_clock_wrong
{
	my ($by) = @_;
	my $server = $registry;
	move_clock($server, $by // either_way($registry_wrong));
	later(up_to(3), sub { set_registry_right($server) });
	return 1;
}

# --- Clocks that step together ---

sub step_together
{
	my ($by, $longest, @which) = @_;
	# While a registry is restored, there is no standby.
	my @servers = grep { -e $_->{snowflake_clock} } $registry, $standby;
	move_clock($_, $by + some_drift() / 10) for @servers;
	move_clock($_, $by + some_drift() / 10) for @which;
	later(up_to($longest), sub {
		move_clock($_, some_drift()) for @which;
		set_registry_right($_) for @servers;
		delete $down{ $_->name } for @which;
		wake_sleepers($_) for @which;
	});
	return 1;
}

# The common time server is days ahead for seconds. Nodes do not follow such a leap, unless they know
# no other time, or their clock is known to be behind. So none is started meanwhile, no database is
# made, and, because a start by a clock that is an hour ahead is remembered, an operator has confirmed
# the clocks.
sub leap_together
{
	end_acts(0);
	return 0 if %{ $acts{running} // {} } || grep { $down{ $_->name } || abs($_->{snowflake_offset_ns}) > 1e9 * $drift } @nodes;
	return 0 if grep { insist_once($_, 'SELECT snowflake_confirm_clock()') } @nodes;
	$down{ $_->name } = 1 for @nodes;
	return step_together(86400 * (2 + rand(3)), 5, @nodes);
}

# It is behind by less than ids are compared, but by more than some nodes bridge: these may get worker
# ids for this time. The first node is left out, because its horizon would refuse rows.
sub step_back_together
{
	return 0 if grep { $down{ $_->name } } @nodes[ 1 .. $#nodes ];
	$down{ $_->name } = 1 for @nodes[ 1 .. $#nodes ];
	return step_together(-20, 3, @nodes[ 1 .. $#nodes ]);
}

# The server of a node is started with a wrong clock, which is set right within seconds.
sub start_wrong
{
	my ($node, $ahead) = @_;
	return start_wrong_by($node, wrong_by($ahead), sub { move_clock($node, some_drift()) });
}

sub start_wrong_by
{
	my ($server, $by, $set_right) = @_;
	return 0 if $down{ $server->name };
	stop_server($server, rand() < 0.5 ? 'fast' : 'immediate');
	reboot($server) if rand() < 0.5;
	move_clock($server, $by);
	start_server($server);
	later(rand(3), $set_right);
	return 1;
}

# --- Clocks in the past ---

# By days. The registry's clock never shows the time of a wrong clock of a node.
sub days_behind { my ($server) = @_; return -86400 * (rand(3) + ($server == $registry ? 5 : 1)); }

# A machine without a clock of its own shows 1970 when it boots.
sub past { my ($server) = @_; return rand() < 0.5 ? days_behind($server) : 20 - time(); }

sub clock_in_the_past { my ($node) = @_; return wrong_for_a_while($node, days_behind($node)); }
sub start_in_the_past { my ($node) = @_; return start_wrong_by($node, past($node), sub { move_clock($node, some_drift()) }); }
sub registry_in_the_past { return registry_clock_wrong(days_behind($registry)); }
sub start_registry_in_the_past
{
	my $server = $registry;
	return start_wrong_by($server, past($server), sub { set_registry_right($server) });
}

# --- Restarts while ids are ahead of the clock ---

# The node's keeper, how many steps back it has bridged, and by how many seconds its clock is ahead.
# Nothing if the node issues no id.
sub bridging
{
	my ($node) = @_;
	my ($rc, $out) = $node->psql('postgres', 'SELECT snowflake_nextval(); SELECT keeper_pid, clock_bridged_total, clock_lead_seconds FROM snowflake_status, snowflake_metrics',
		timeout => 5, timed_out => \my $timed_out);
	return !$timed_out && $rc == 0 && $out =~ /^(\d+)\|(\d+)\|([\d.]+)$/m ? ($1, $2, $3) : ();
}

# Sessions keep a smart shutdown waiting until they end.
sub stop_smartly
{
	my ($server) = @_;
	my ($postmaster) = postmaster($server);
	kill 'TERM', $postmaster;
	my $ended = wait_until('a smart shutdown', sub { kill 'TERM', processes($server, $backend); !-e "/proc/$postmaster" });
	$server->kill9;
	return $ended;
}

# A server is restarted while its node bridges a step back of the clock. Until then a step may have
# been too large to be bridged; from then on, all ids of the node must rise, whichever worker id
# they have. $in_order is called with 1 when this begins, and with 0 when it ends. Meanwhile there
# is no other fault. $meanwhile is called while the server is stopped, after a clean shutdown, and
# returns whether it was possible.
sub restart_ahead
{
	my ($node, $in_order, $meanwhile) = @_;
	return 0 if $down{ $node->name } || abs($node->{snowflake_offset_ns}) > 1e9 * $drift;
	my $bridge = "snowflake.max_bridge = '1min'";
	return 0 if insist_once($node, "ALTER SYSTEM SET $bridge; SELECT pg_reload_conf();");
	sleep(0.2);
	my (undef, $bridged) = bridging($node) or return 0;
	my $back = 5 + rand(50);
	move_clock($node, $node->{snowflake_offset_ns} / 1e9 - $back);
	my ($has_keeper, $now_bridged, $lead) = bridging($node);
	my $ahead = $has_keeper && $now_bridged > $bridged && $lead > $back - 2;
	if ($ahead)
	{
		$in_order->($node, 1);
		sleep(0.2 + rand(0.3));
		my $how = (qw(smart fast fast immediate))[ rand($meanwhile ? 3 : 4) ];
		my $ended = $how eq 'smart' ? stop_smartly($node) : stop_server($node, $how);
		reboot($node) if $ended && $how ne 'immediate' && rand() < 0.5;
		$ahead = $ended && $meanwhile->($node) if $meanwhile;
		# A session that was not over may have changed it.
		$node->append_conf('postgresql.auto.conf', $bridge);
		start_server($node);
		my $end = time() + 3;
		sleep(0.1) until issues($node) || time() > $end;
		sleep(0.5);
		$in_order->($node, 0);
	}
	move_clock($node, some_drift());
	# A new data directory knows no other time than that of its start, which the clock has left.
	insist_once($node, 'SELECT snowflake_confirm_clock()') if $meanwhile;
	return $ahead;
}

# A stopped server becomes a new one by pg_upgrade, which here does not change the version, on a port
# where no client is. pg_upgrade refuses prepared transactions, and a database that was not dropped to
# its end: then the server stays as it was. The new server does not know which horizons were reported,
# so pools end before it runs.
my $upgrades = 0;
sub upgrade
{
	my ($server) = @_;
	my $new = new_server($server->name . '_upgraded' . ++$upgrades);
	chomp(my $bin = qx(pg_config --bindir));
	my @command = ("$bin/pg_upgrade", '--no-sync', '--link', '-b', $bin, '-B', $bin, '-d', $server->data_dir, '-D', $new->data_dir,
		'-p', $new->port, '-P', $new->port, '--socketdir', $new->host);
	return 0 unless IPC::Run::run(\@command, '>&', $new->basedir . '/pg_upgrade.log', init => sub { chdir $new->basedir });
	copy($server->data_dir . "/$_", $new->data_dir . "/$_") or die "$_: $!" for qw(postgresql.conf postgresql.auto.conf pg_hba.conf);
	rmtree($server->data_dir);
	rename($new->data_dir, $server->data_dir) or die "rename: $!";
	return IPC::Run::run([ "$bin/postgres", '--single', '-D', $server->data_dir, 'postgres' ], '<', \"DELETE FROM pool\n", '>&', \my $said);
}

# Nothing is lost: the standby has all of the registry's WAL, including the last checkpoint.
sub switch_over
{
	return 0 if !standby_follows();
	if (!stop_server($registry, 'fast'))
	{
		start_server($registry);
		return 0;
	}
	$standby->promote;
	return replace_registry($standby);
}

# The registry's machine is reverted with its memory to a snapshot that is some seconds old: rows,
# sequence and monotonic clock, but for the numbers of segments, which are not protected. Its wall
# clock is set right before any node can reach it, and no other fault affects it until nodes have
# named their leases.
my @reverted = qw(registry watermark origin);
my $snapshot;    # when it was taken
my $lock_all = "SET lock_timeout = '2s'; BEGIN; LOCK " . join(', ', map { "snowflake_$_" } @reverted) . ';';
sub revert_registry
{
	return 0 if $snapshot || $down{ $registry->name } || !may_revert();
	my $server = $registry;
	my ($rc) = $server->psql('postgres', join("\n", $lock_all, map({ ("DROP TABLE IF EXISTS kept_$_;", "CREATE TABLE kept_$_ AS TABLE snowflake_$_;") } @reverted),
		'DROP TABLE IF EXISTS kept_sequence;', 'CREATE TABLE kept_sequence AS SELECT last_value FROM snowflake_registry_lease_id_seq;', 'COMMIT;'),
		on_error_stop => 1, timeout => 10, timed_out => \my $timed_out);
	return 0 if $timed_out || $rc;
	$snapshot = my $at = time();
	later(3 + rand(7), sub { put_back($server, $at) });
	return 0;    # It counts when it happens: something else may happen first.
}

# As with each loss, the last one must be over.
sub may_revert { return time() - $lost >= $settles && registry_is_right() && has_settled(); }

sub put_back
{
	my ($server, $at) = @_;
	undef $snapshot;
	return if $server != $registry || $down{ $server->name } || !may_revert();
	my $session = eval { $server->background_psql('postgres', on_error_stop => 0, timeout => 20) } or return;
	# Not if the server was restarted since: it would have lost its memory.
	my $done = eval { $session->query(join "\n", $lock_all,
		'SELECT 1 / count(*) FROM snowflake_origin JOIN kept_origin USING (system_identifier, timeline, started_at);',
		map({ ("ALTER TABLE snowflake_$_ DISABLE TRIGGER USER;", "DELETE FROM snowflake_$_;", "INSERT INTO snowflake_$_ OVERRIDING SYSTEM VALUE TABLE kept_$_;",
			"ALTER TABLE snowflake_$_ ENABLE ALWAYS TRIGGER snowflake_guard, ENABLE ALWAYS TRIGGER snowflake_guard_table"
				. ($_ eq 'origin' ? '' : ', ENABLE ALWAYS TRIGGER snowflake_guard_after') . ';') } @reverted),
		q{SELECT 'back at ' || setval('snowflake_registry_lease_id_seq', last_value) FROM kept_sequence;}) } // '';
	if ($done =~ /back at/)
	{
		$server->{snowflake_steady_offset_ns} -= int(1e9 * (time() - $at));
		move_clock($server, $server->{snowflake_offset_ns} / 1e9);
		eval { $session->query('COMMIT;') };
		$lost = time();
		down_until($server, $lost + 3, sub { });
		$reverts++;
	}
	eval { $session->quit };
	return;
}

# A backup of the registry, for a later restore().
my $backed_up;

sub back_up
{
	return 0 if $down{ $registry->name };
	return 0 unless eval { base_backup('kept'); 1 };
	rmtree($backed_up) if $backed_up;
	# The backup is moved, because its server will be replaced and removed.
	$backed_up = PostgreSQL::Test::Utils::tempdir() . '/kept';
	rename $registry->backup_dir . '/kept', $backed_up or die "backup: $!";
	return 1;
}

# The registry and its standby are lost, and the backup takes their place. Before any node can reach
# it, the operator follows doc/many-servers.md: $then is called with the new server. If the registry
# has settled since the backup, the leases that it assigned then must be over first, by every
# accepted clock.
sub restore
{
	my ($then) = @_;
	return 0 if !$backed_up || $down{ $registry->name } || time() - $lost < $settles || !has_settled();
	my ($rc, $over) = $registry->psql('postgres', sprintf(
		"SELECT max(tick) / 1000.0 + $epoch_s + %d FROM (SELECT window_end FROM snowflake_registry UNION ALL SELECT last_tick FROM snowflake_watermark) t (tick)", 2 * $drift),
		timeout => 5, timed_out => \my $timed_out);
	return 0 if $timed_out || $rc || $over !~ /^\d/;
	$over = min($over, time() + 60);
	return 0 unless kill_server($registry, children => 1);
	$registry->kill9;
	$standby->stop('immediate');
	$standby->clean_node;
	return down_until($registry, $over, sub {
		sleep(max($over - time(), 0));
		mkdir $registry->backup_dir;
		rename $backed_up, $registry->backup_dir . '/restored' or die "backup: $!";
		undef $backed_up;
		my $restored = registry_of($registry, 'restored', standby => 0);
		$restored->safe_psql('postgres', "$guard SELECT snowflake_settle('restored')");
		$then->($restored);
		$lost = time();
		replace_registry($restored);
	});
}

sub replace_registry
{
	my ($new) = @_;
	my $old = $registry;
	$registry = $new;
	$_->tell('target ' . $registry->port) for @relays;
	$old->clean_node;
	make_standby();
	return 1;
}

# The last node becomes a copy of the previous node in its present state, and both run on.
sub copy_node
{
	my ($then) = @_;
	my ($of, $node) = @nodes[ -2, -1 ];
	return 0 if $down{ $of->name } || $down{ $node->name };
	for my $server ($of, $node)
	{
		return 0 unless kill_server($server, children => 1);
		$server->kill9;
	}
	$of->backup_fs_cold('copied');
	start_server($of);
	rmtree($node->data_dir);
	$node->init_from_backup($of, 'copied');
	rmtree($of->backup_dir . '/copied');
	start_by_relay($node, $relays[-1]);
	$then->($node) if $then;
	return 1;
}

# A node dies with its machine, and the operator evicts it: its worker id is free at once.
sub evict
{
	my ($node) = @_;
	return 0 if $down{ $node->name } || $down{ $registry->name };
	my ($rc, $lease) = $node->psql('postgres', 'SELECT lease_id FROM snowflake_status', timeout => 5, timed_out => \my $timed_out);
	return 0 if $timed_out || $rc || $lease !~ /^\d+$/;
	return kill_for($node, 1, sub {
		reboot($node);
		act("SELECT snowflake_evict(worker_id, clock_timestamp()) FROM snowflake_registry WHERE lease_id = $lease");
	});
}

# A server whose disk is full panics sooner or later, and may not come up before there is space.
sub fill_disk
{
	my ($server, $longest) = @_;
	return 0 if $down{ $server->name };
	my $disk = $server->{snowflake_disk};
	$disk->fill;
	return down_for($server, $longest, sub {
		$disk->empty;
		revive($server);
	});
}

# Starts a server that has given up; a server that still tries gets some time for either.
sub revive
{
	my ($server) = @_;
	my $ready = wait_until('the server to be up, or down', sub {
		my $up = grep { -e "/proc/$_" } postmaster($server);
		return !$up || (($server->psql('postgres', 'SELECT 1', timeout => 5, timed_out => \my $timed_out))[0] // 1) == 0;
	});
	if (!grep { -e "/proc/$_" } postmaster($server))
	{
		$server->kill9;
		start_server($server);
	}
	return $ready;
}

sub postmaster
{
	my ($server) = @_;
	open(my $file, '<', $server->data_dir . '/postmaster.pid') or return ();
	chomp(my $pid = <$file> // return ());
	return $pid;
}

# The network of one node.
sub disturb
{
	my ($longest, @commands) = @_;
	my $relay = $relays[ rand @relays ];
	$relay->tell($_) for @commands;
	later(up_to($longest), sub { $relay->tell('pass') });
	return 1;
}

# What an operator, other software or a replica does to the registry or another server by SQL, in a
# session for which the test does not wait. Returns whether the session began: a refused statement
# counts, too.

sub act
{
	my ($text, %options) = @_;
	my $server = $options{on} // $registry;
	return 0 if $down{ $server->name };
	end_acts(0);
	# The session reads a file: if it ends early, no pipe without a reader remains.
	$acts_folder //= PostgreSQL::Test::Utils::tempdir();
	my $file = "$acts_folder/" . ++$acts{count} . '.sql';
	append_to_file($file, $text);
	my @command = ('timeout', '20', 'psql', '-XAtq', '-d', $server->connstr($options{dbname} // 'postgres'), $options{role} ? ('-U', $options{role}) : (), '-f', $file);
	my $pid = fork // die "fork: $!";
	if (!$pid)
	{
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>', '/dev/null');
		open(STDERR, '>', '/dev/null');
		exec @command or POSIX::_exit(127);
	}
	$acts{running}{$pid} = $file;
	return 1;
}

# Removes the sessions that have ended, or waits for all of them.
sub end_acts
{
	my ($wait) = @_;
	for my $pid (keys %{ $acts{running} // {} })
	{
		next unless waitpid($pid, $wait ? 0 : WNOHANG) == $pid;
		unlink delete $acts{running}{$pid};
	}
	return;
}

# Settings of a node change with one reload.
sub change_settings
{
	my ($node, %values) = @_;
	return act(join('', map { "ALTER SYSTEM SET snowflake.$_ = '$values{$_}';\n" } sort keys %values) . 'SELECT pg_reload_conf();', on => $node);
}

# The registry gets another address, as far as the node can tell: it acquires a lease there, and
# leaves the one that it has.
my $addresses = 0;
sub readdress_registry
{
	my $number = int rand @nodes;
	return change_settings($nodes[$number], registry => address_by($relays[$number]) . ' application_name=address_' . ++$addresses);
}

# Invalid calls, by a role that may do nothing else.
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
	return act(join('', map { $call->() } 1 .. 50), role => 'hostile');
}

# All kinds of faults, by name.
sub faults
{
	# No leases are deleted while the guard is off: nothing is promised then.
	my $guarded = q{(SELECT tgenabled = 'A' FROM pg_trigger WHERE tgrelid = 'snowflake_registry'::regclass AND tgname = 'snowflake_guard')};
	return (
		'registry paused' => sub { pause_for($registry, 4) },
		'registry stopped' => sub { stop_for($registry, 'immediate', 4) },
		'registry restarted' => sub { stop_for($registry, 'immediate', 0) },
		'registry killed' => sub { kill_for($registry, 1) },
		($standby ? ('registry failed over' => \&fail_over) : ()),
		'network dropped' => sub { disturb(5, 'drop', 'forget') },
		'network hung' => sub { disturb(5, 'stall') },
		'answers late' => sub { disturb(6, 'delay 3') },
		'answers lost' => sub { disturb(6, 'hold snowflake_') },
		'connections cut' => sub { disturb(4, 'cut snowflake_') },
		'exchange terminated' => sub { cut_exchange('TERM') },
		'exchange killed' => sub { cut_exchange('KILL') },
		'exchange paused' => sub { cut_exchange('STOP', 8) },
		'node paused' => sub { pause_for(node(), 6) },
		'node stopped' => sub { stop_for(node(), 'immediate', 4) },
		'node restarted' => sub { stop_for(node(), 'immediate', 0) },
		'node shut down' => sub { stop_for(node(), 'fast', 1) },
		'node killed' => sub { kill_for(node(), 1) },
		'node rebooted' => sub { kill_for(node(), 1, \&reboot) },
		'keeper killed' => sub { signal_one(node(), 'KILL', $keeper) },
		'keeper terminated' => sub { signal_one(node(), 'TERM', $keeper) },
		'keeper paused' => sub { pause_one(node(), $keeper, 6) },
		'backend killed' => sub { signal_one(node(), 'KILL', $backend) },
		'backend terminated' => sub { signal_one(node(), 'TERM', $backend) },
		'backend paused' => sub { pause_one(node(), $backend, 3) },
		'clock stepped' => sub { drift_clock(node()) },
		'clock stepped again' => sub { drift_clock(node()) },
		'clock wrong' => sub { wrong_clock(node()) },
		'lease deleted' => sub { act("DELETE FROM snowflake_registry WHERE lease_id = (SELECT lease_id FROM snowflake_registry ORDER BY random() LIMIT 1) AND $guarded") },
		'leases deleted' => sub { act("DELETE FROM snowflake_registry WHERE $guarded") },
		'tables truncated' => sub { act("TRUNCATE snowflake_registry;\nTRUNCATE snowflake_watermark, snowflake_origin CASCADE;") },
		'watermarks lowered' => sub { act("UPDATE snowflake_watermark SET last_tick = 0;\nDELETE FROM snowflake_watermark;\nUPDATE snowflake_registry SET window_end = window_start;") },
		'replica writing' => sub { act("SET session_replication_role = replica;\nDELETE FROM snowflake_registry WHERE $guarded;\nDELETE FROM snowflake_watermark;\nUPDATE snowflake_origin SET timeline = 9, last_lease_id = 1;") },
		'guard missing' => sub { act("ALTER TABLE snowflake_registry DISABLE TRIGGER snowflake_guard;\nSELECT pg_sleep(random());\n$guard") },
		'lock kept' => sub { act("SELECT snowflake_lease_acquire('x', 0, $now_tick, '1 s', sha256(uuid_send(gen_random_uuid())), 0, NULL), pg_sleep(15);", role => 'hostile') },
		'registry told to settle' => sub { act(q{SELECT snowflake_settle('mixture')}) },
		'odd calls' => sub { hostile_calls() },
	);
}

# --------------------------------------------------------------------------------------------------

# Causes random faults of these kinds for so many seconds. Returns how many, and how many of each
# kind.
sub bring_about
{
	my ($seconds, %kinds) = @_;
	my @names = sort keys %kinds;
	my @faults = map { [ $_, $kinds{$_} ] } @names;
	my ($count, %times, %tries) = (0);
	my $end = time() + $seconds;
	my $next = time();
	# A slow machine, or one on which a shutdown had to wait, gets enough time for each kind.
	while (time() < $end || ((@faults || $count < $seconds / 4) && time() < $end + 120 * slowness()))
	{
		run_pending();
		if (time() >= $next)
		{
			# At first each kind once, so that a short run has all kinds.
			my $kind = @faults ? splice(@faults, rand @faults, 1) : [ map { ($_, $kinds{$_}) } $names[ rand @names ] ];
			if ($kind->[1]->())
			{
				$count++;
				$times{ $kind->[0] }++;
			}
			# If its server is down at this moment, a kind gets another turn.
			elsif (!$times{ $kind->[0] } && $tries{ $kind->[0] }++ < 5) { push @faults, $kind; }
			# Faults in quick succession, and sometimes enough time to recover.
			$next = time() + (rand() < 0.1 ? rand(4) : rand(0.5));
		}
		sleep(0.02);
	}
	return ($count, %times);
}

# Checks that there were enough faults of enough kinds. Gets the arguments and results of
# bring_about().
sub faults_happened
{
	my ($seconds, $kinds, $count, $times) = @_;
	cmp_ok($count, '>=', $seconds / 4, 'faults');
	my @missing = grep { !$times->{$_} } sort keys %$kinds;
	# An exchange cannot always be caught, and a server may be down when its turn comes.
	cmp_ok(scalar @missing, '<=', keys(%$kinds) / 3, 'kinds that did not') or diag("did not happen: @missing");
	figures('%s', join(', ', map { "$_ $times->{$_}" } sort keys %$times));
	return;
}

# Ends all faults.
sub heal
{
	run_pending(1);
	end_acts(1);
	insist($registry, $guard);
	move_clock($_, 0) for @nodes, $clocks ? ($registry, $standby || ()) : ();
	# pg_sleep() uses the wall clock: if it began an hour ahead, it would sleep for that hour.
	insist($_, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) for @nodes, $clocks ? $registry : ();
	# While a ring with few worker ids settles, none is left for the nodes. Here no commit was lost.
	insist($registry, 'SELECT snowflake_settled()') unless $standby;
	return;
}

# On a server that may still recover from the last fault.
sub insist
{
	my ($server, $sql) = @_;
	return wait_until("$sql on " . $server->name, sub { insist_once($server, $sql) == 0 });
}

sub insist_once { my ($server, $sql) = @_; return ($server->psql('postgres', $sql, timeout => 10, timed_out => \my $timed_out))[0] // 1; }

sub end_world
{
	$_->finish for @relays;
	$_->stop for @nodes, $standby || (), $registry;
	return;
}

1;
