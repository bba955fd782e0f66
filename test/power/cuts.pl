# What test/powercut runs. A server in a virtual machine is a registry of its own, the registry of
# nodes on this machine, and a node of a registry on this machine, all at once. Clients get ids and
# numbers, act as nodes, and write and read rows, until the power of the machine is cut.
#
# After each cut, before anybody can call the server again, its registries are compared with what
# clients were told: each worker id must be covered up to the end of each window that was
# acknowledged, and to each id that was returned, by a lease or by its watermark.
use strict;
use warnings;

use lib 'test/perl';
use HorizonTest;
use List::Util qw(max min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use PowerMachine;
use SnowflakeTest;
use SoakChecks;
use Test::More;
use Time::HiRes qw(time sleep);

my ($seed, $cuts, $standby_cuts, $fault, $folder) = @ENV{qw(POWER_SEED POWER_CUTS POWER_STANDBY POWER_FAULT POWER_FOLDER)};
srand($seed);
my $began = time();
sub say_line { my ($format, @values) = @_; print { Test::More->builder->failure_output } sprintf("$format\n", @values); return; }
sub clock_face { my $s = int(time() - $began); return sprintf '%d:%02d:%02d', $s / 3600, $s / 60 % 60, $s % 60; }
sub stopping { return -e "$folder/stop"; }

# ---------------------------------------------------------------------------------------------------------------------
# The world
# ---------------------------------------------------------------------------------------------------------------------

my $conf = q{
fsync = on
recovery_init_sync_method = syncfs
log_statement = none
log_min_messages = warning
autovacuum = off
jit = off
listen_addresses = '127.0.0.1'
max_connections = 60
max_worker_processes = 16
max_prepared_transactions = 20
shared_buffers = 32MB
max_wal_size = 128MB
checkpoint_timeout = 30s
snowflake.lease_duration = 20s
snowflake.max_clock_skew = 2min
snowflake.start_timeout = 5s
};
sub address { my ($server, $dbname, $host) = @_; return sprintf 'host=%s port=%d dbname=%s user=postgres', $host // '127.0.0.1', $server->port, $dbname; }
sub let_in { my ($server) = @_; $server->append_conf('pg_hba.conf', "host all all $_/32 trust\nhost replication all $_/32 trust") for '127.0.0.1', $PowerMachine::outside; return; }

# A registry on this machine, for a node in the machine.
my $distant = new_server('distant', conf => "listen_addresses = '127.0.0.1'\nlog_statement = none\nsnowflake.max_clock_skew = 2min\n");
let_in($distant);
start_server($distant);
$distant->safe_psql('postgres', 'CREATE EXTENSION snowflake');

my $server = new_server('machine', streaming => 1, initdb => ['--locale=C'], conf => $conf);
let_in($server);
start_server($server);
my $tables = q{CREATE TABLE kept (id bigint DEFAULT snowflake_nextval()); CREATE TABLE counted (number bigint DEFAULT snowflake_segment_nextval('ticket'));};
my $segment = q{SELECT snowflake_create_segment('ticket', step => 200, max_step => 2000);};
make_outbox($server);
$server->safe_psql('postgres', "$segment $tables");
$server->safe_psql('postgres', "CREATE DATABASE $_") for qw(shared far);
$server->safe_psql('shared', "CREATE EXTENSION snowflake; $segment");
$server->safe_psql('far', "CREATE EXTENSION snowflake; $tables");
$server->safe_psql('postgres', sprintf q{ALTER DATABASE far SET snowflake.registry = '%s'}, address($distant, 'postgres', $PowerMachine::outside));
$distant->safe_psql('postgres', $segment);
$server->stop('fast');
my $machine = PowerMachine->new($server);

# Nodes on this machine, whose registry is in the machine.
my @nodes = map { "node_$_" } 1 .. 3;
my $nodes = new_server('nodes', conf => "log_statement = none\nmax_worker_processes = 16\nsnowflake.lease_duration = 20s\nsnowflake.start_timeout = 5s\n");
start_server($nodes);
for my $name (@nodes)
{
	$nodes->safe_psql('postgres', "CREATE DATABASE $name");
	$nodes->safe_psql($name, "CREATE EXTENSION snowflake; $tables");
	$nodes->safe_psql('postgres', sprintf q{ALTER DATABASE %s SET snowflake.registry = '%s'}, $name, address($server, 'shared'));
}

# ---------------------------------------------------------------------------------------------------------------------
# Clients
# ---------------------------------------------------------------------------------------------------------------------

# Leases as nodes acquire, extend and release them. What a client sends, it says before. psql writes
# such lines at the latest with the next result, or when it has lost the connection.
my $now = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000';
my $lease = <<"SQL";
SELECT uuid_send(gen_random_uuid()) AS secret, random() < 0.6 AS releases, 1 + random() * 20 AS seconds \\gset
SELECT lease_id AS l, worker_id AS w, window_start AS s, window_end AS e FROM snowflake_lease_acquire('client', 0, $now, '10 s', sha256(:'secret'), 0, NULL) \\gset
\\echo lease :l :w :s :e
SELECT window_end AS e FROM snowflake_lease_extend(:l, sha256(:'secret'), $now, make_interval(secs => :seconds), :e, :w, :s) \\gset
\\echo lease :l :w :s :e
\\if :releases
SELECT :s + 3 AS last \\gset
\\echo releasing :l :w :s :last
SELECT snowflake_lease_release(:l, :'secret', :last, :e);
\\endif
SELECT 'end of a turn';
SQL
my $pause = "SELECT FROM pg_sleep(0.05);\n";
my $stops = "\\set ON_ERROR_STOP on\n";
sub ids { my ($times) = @_; return $stops . ids_in_every_way(times => $times, copied => 50, rolled_back => 5, at_once => 20, kept => 5, pause => 0.03); }
my $numbers = $stops . ("COPY (SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, 20)) TO STDOUT;\n"
	  . "INSERT INTO counted SELECT FROM generate_series(1, 5) RETURNING number;\n$pause") x 20;

# What readers see must not be lost.
my $flushed = "SET synchronous_commit = on;\n";
my ($transactions, $kinds) = ("$folder/transactions", 100);
transactions($transactions, $kinds);
my %clients;
sub load { my ($name, $where, $count, $script, $dbname) = @_; $clients{$name} = start_clients($where, $count, $script, dbname => $dbname // 'postgres', rest => 0.5); return; }
sub start_all
{
	load('ids', $server, 2, ids(20));
	load('far ids', $server, 1, ids(20), 'far');
	load('numbers', $server, 1, $numbers);
	load('far numbers', $server, 1, $numbers, 'far');
	load('leases', $server, 2, $stops . $lease x 20, 'shared');
	load("$_ ids", $nodes, 1, ids(20), $_) for @nodes;
	load("$_ numbers", $nodes, 1, $numbers, $_) for @nodes;
	load('writers', $server, 3, join '', $flushed, (one_of($transactions, $kinds) . $pause) x 20);
	load('ending', $server, 1, join '', $flushed, ($end_prepared . "SELECT FROM pg_sleep(0.3);\n") x 20);
	load('reader', $server, 1, poller_script((poll('snowflake_horizon()') . $pause) x 40));
	load('reader with a cursor', $server, 1, poller_script((cursor_script($pause)) x 10));
	load('consumer', $server, 1, join '', $stops, $flushed, (consumer_script() . $pause) x 40);
	return;
}

# ---------------------------------------------------------------------------------------------------------------------
# What clients were told
# ---------------------------------------------------------------------------------------------------------------------

# For each registry of the machine, the tick that follows the last one that somebody may have used, for each worker id.
my (%needed, %told, %read_to);
my %windows;
sub need { my ($registry, $worker, $end) = @_; $needed{$registry}{$worker} = max($needed{$registry}{$worker} // 0, $end); return; }

# The lines that clients have written since the last call.
sub new_lines
{
	my ($name) = @_;
	my @lines;
	for my $path (@{ $clients{$name}{files} })
	{
		open(my $file, '<', $path) or next;
		seek $file, $read_to{$path} // 0, 0;
		while (my $line = <$file>)
		{
			last unless $line =~ /\n\z/;
			$read_to{$path} += length $line;
			chomp $line;
			push @lines, $line;
		}
	}
	return @lines;
}

sub hear
{
	my %registry_of = (ids => 'postgres', map { ("$_ ids" => 'shared') } @nodes);
	for my $name (keys %registry_of)
	{
		for my $id (grep { /^\d+$/ } new_lines($name))
		{
			$told{ids}++;
			need($registry_of{$name}, $id >> 12 & 1023, ($id >> 22) + 1);
		}
	}
	# A lease may have ended with its release, as soon as that is sent.
	for my $line (new_lines('leases'))
	{
		my ($what, undef, $worker, $start, $end) = split / /, $line;
		next unless $what =~ /^(?:lease|releasing)$/;
		$told{$what}++;
		$end++ if $what eq 'releasing';
		$windows{$worker}{$start} = $end;
	}
	for my $worker (keys %windows) { need('shared', $worker, max(values %{ $windows{$worker} })); }
	# What the keepers of the nodes were told.
	for my $name (@nodes)
	{
		my $row = $nodes->safe_psql($name, 'SELECT worker, (extract(epoch FROM window_end) * 1000)::bigint - 1735689600000 FROM snowflake_status WHERE worker IS NOT NULL');
		need('shared', split /\|/, $row) if $row;
	}
	return;
}

# Worker ids that the registries of the machine do not cover.
sub lost
{
	my @lost;
	for my $registry (sort keys %needed)
	{
		my %covered = map { split /\|/ } split /\n/, $machine->ask_aside($registry, q{
			SELECT worker_id, max(ends) FROM (SELECT worker_id, window_end AS ends FROM snowflake_registry
				UNION ALL SELECT worker_id, last_tick + 1 FROM snowflake_watermark) c GROUP BY worker_id});
		push @lost, map { sprintf '%s: worker id %d up to %d instead of %d', $registry, $_, $covered{$_} // -1, $needed{$registry}{$_} }
		  grep { ($covered{$_} // -1) < $needed{$registry}{$_} } sort { $a <=> $b } keys %{ $needed{$registry} };
		$told{'worker ids compared'} += keys %{ $needed{$registry} };
	}
	return @lost;
}

# ---------------------------------------------------------------------------------------------------------------------
# Cuts
# ---------------------------------------------------------------------------------------------------------------------

my (@lost, %longest);
my ($cut, $promoted, $ahead) = (0, 0, 0);

# How a machine is turned on. A clock on a board has whole seconds, and loses more when its battery is low: the server's
# clock is then behind what it was before the cut. That of a standby is not behind by more than a failover takes, because
# it does not know which horizons the primary reported.
my $most_behind = 60;
sub chances
{
	my %chances = (seed => int(rand(2**31)), keep => (0, 1, rand)[ rand 3 ], behind => int((0, rand 3, rand $most_behind)[ rand 3 ]),
		options => ('', '-c synchronous_commit=off')[ rand 2 ]);
	my %faults = (disk => { lie => 3000, keep => 0 }, fsync => { options => '-c fsync=off' }, horizon => { forgets => 1, behind => $cut % 2 ? 55 : 0 });
	return (%chances, %{ $faults{$fault} // {} });
}

sub note_longest { my ($what, $since) = @_; $longest{$what} = max($longest{$what} // 0, time() - $since); return; }

# Looks at what the cut has left, then lets everybody in.
sub look_and_open
{
	note_longest('power to the start of the server', $machine->{on_at});
	push @lost, map { "cut $cut: $_" } lost();
	$machine->open_door;
	my $before = time();
	my $id = '';
	wait_until('a first id', sub { ($server->psql('postgres', 'SELECT snowflake_nextval()', stdout => \$id))[0] == 0 }) or die "no first id\n";
	note_longest('the first call', $before);
	note_longest('power to the first id', $machine->{on_at});
	need('postgres', $id >> 12 & 1023, ($id >> 22) + 1);
	append_to_file("$folder/first_ids", "$id\n");
	wait_until('a new lease', sub { $machine->said =~ m{acquired worker id \d+ for node "[^"]*/postgres"} }) or die "cut $cut: the node had its old lease\n";
	return;
}

sub clients_go_on
{
	for my $name ('leases', 'ids', 'reader', map { "$_ ids" } @nodes)
	{
		my $before = client_bytes($clients{$name});
		wait_until($name, sub { client_bytes($clients{$name}) > $before }) or die "cut $cut: no $name\n";
	}
	return;
}

# The machine's clock is set back by no more than ids may be ahead of it.
sub step_back
{
	$ahead++;
	$server->safe_psql('postgres', sprintf q{COPY (SELECT %d) TO '/tmp/back'}, 2 + rand 45);
	wait_until('the step', sub { $server->safe_psql('postgres', 'SELECT clock_lead_seconds > 0.5 FROM snowflake_metrics') eq 't' }) or die "cut $cut: no step back\n";
	clients_go_on();
	return;
}

# Lets clients work for a while, and cuts the power of these machines in the midst of it; half of the
# time while ids are ahead of the clock.
sub cut_within
{
	my (@machines) = @_;
	$cut++;
	clients_go_on();
	step_back() if rand() < 0.5;
	sleep(rand(3));
	$_->cut for @machines;
	# Until the last answers have been written down.
	sleep(0.3);
	hear();
	return;
}

sub say_progress
{
	say_line('%s  %d cuts, %d promotions; %d ids, %d leases; lost: %d', clock_face(), $cut, $promoted, $told{ids} // 0, $told{lease} // 0, scalar @lost);
	return;
}

# A machine that does not start ends the run. What clients were told before is compared nevertheless.
sub turn_on
{
	my ($on, %options) = @_;
	my %chances = chances();
	$options{options} = join ' ', grep { $_ } $chances{options}, $options{options};
	$on->turn_on(%chances, %options);
	$on->is_ready or die "cut $cut: the server of $on->{name} does not start: " . $on->said . "\n";
	return;
}

sub cut_one
{
	turn_on($machine);
	look_and_open();
	start_all();
	while ($cut < $cuts && !stopping() && !($fault && @lost))
	{
		cut_within($machine);
		turn_on($machine);
		look_and_open();
		say_progress();
	}
	return;
}

# A synchronous standby. After a cut the primary comes back, or the standby is promoted, whose own power was cut or was not.
my $second = $machine->second('standby');
sub turn_on_both
{
	turn_on($machine, options => '-c synchronous_standby_names=standby');
	turn_on($second, follows => $machine);
	wait_until('the standby', sub { $machine->ask_aside('postgres', q{SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'}) == 1 }) or die "no standby\n";
	return;
}

sub promote
{
	$promoted++;
	turn_on($second, follows => $machine) unless $second->is_on;
	$second->ask_aside('postgres', 'SELECT pg_promote()');
	($machine, $second) = ($second, $machine);
	push @lost, map { "cut $cut, promoted: $_" } lost();
	$machine->cut;
	return;
}

sub cut_with_standby
{
	$most_behind = 3;
	cut_within($machine);
	$second->copy_disk($machine);
	turn_on_both();
	look_and_open();
	while ($standby_cuts-- > 0 && !stopping())
	{
		my $both = rand() < 0.5;
		cut_within($machine, $both ? $second : ());
		if (rand() < 0.4)
		{
			promote();
			$second->copy_disk($machine);
		}
		elsif (!$both) { $second->cut; }
		turn_on_both();
		look_and_open();
		say_progress();
	}
	return;
}

my $whole = eval { cut_one(); cut_with_standby() if $standby_cuts && !stopping(); 1 };
ok($whole, 'the run came to its end') or %clients ? diag($@) : die $@;

# ---------------------------------------------------------------------------------------------------------------------
# What came of it
# ---------------------------------------------------------------------------------------------------------------------

say_line('%s', $_) for @lost[ 0 .. min($#lost, 20) ];
my @readers = ('reader', 'reader with a cursor');
stop_clients($clients{$_}) for grep { !/reader|consumer|ending/ } keys %clients;
sub value { my ($sql) = @_; return $server->safe_psql('postgres', $sql); }
# If something is not flushed, rows that were delivered may be gone.
if ($whole && (!$fault || $fault eq 'horizon'))
{
	ok(wait_until('the last prepared transactions', sub { value('SELECT count(*) FROM pg_prepared_xacts') == 0 }), 'none is prepared');
	my $last_row = value('SELECT max(id) FROM outbox');
	ok(wait_until('the last row', sub { last_delivered($clients{$_}) == $last_row }), "$_: came to the end") for @readers;
	ok(wait_until('the last row', sub { value('SELECT last FROM position') == $last_row }), 'in the database: came to the end');
}
stop_clients($clients{$_}) for @readers, 'consumer', 'ending';
hear();

my %twice = (ids => 0, numbers => 0);
my %compared = (ids => 0, numbers => 0);
sub compare
{
	my ($what, $name, @files) = @_;
	my ($count, $again) = compare_ids(@files);
	$compared{$what} += $count;
	$twice{$what} += $again;
	is($again, 0, "none of $count $what came twice: $name") unless $fault;
	return;
}
sub files { return map { @{ $clients{$_}{files} } } @_; }
compare('ids', 'own registry', "$folder/first_ids", files('ids'));
compare('ids', 'registry in the machine', files(map { "$_ ids" } @nodes));
compare('ids', 'node in the machine', files('far ids'));
compare('numbers', 'own registry', files('numbers'));
compare('numbers', 'registry in the machine', files(map { "$_ numbers" } @nodes));
compare('numbers', 'node in the machine', files('far numbers'));

# Windows of a worker id, in the order of their starts.
my ($windows, $overlaps) = (0, 0);
for my $worker (keys %windows)
{
	my $end = 0;
	for my $start (sort { $a <=> $b } keys %{ $windows{$worker} })
	{
		$windows++;
		$overlaps++ if $start < $end;
		$end = $windows{$worker}{$start};
	}
}
my $missed = 0;
for my $name ($whole ? (@readers, 'consumer') : ())
{
	my $differences = reader_differences($server, $name eq 'consumer' ? undef : $clients{$name}{files}[0]);
	$missed += () = $differences =~ /^\d/mg;
	is($differences, '', "$name: no row was missed, none came twice") unless $fault;
}
my $rows = $whole ? value('SELECT count(*) FROM outbox') : 0;
my @sectors = (0, 0, 0);
for my $line (map { slurp_file($_) =~ /^unflushed sectors: (.*)/mg } glob "$folder/*.nbdkit")
{
	my @here = $line =~ /(\d+)/g;
	$sectors[$_] += $here[$_] for 0 .. 2;
}

if ($fault eq 'horizon')
{
	cmp_ok($missed, '>', 0, "with the fault, rows were missed, after $cut cuts");
}
elsif ($fault)
{
	cmp_ok(scalar(@lost), '>', 0, "with the fault, leases that were acknowledged were lost, after $cut cuts");
}
else
{
	is(scalar(@lost), 0, 'no acknowledged lease was lost, and no id is above its window');
	is($overlaps, 0, "none of $windows windows overlaps another one");
	my $all = $cut || 1;
	cmp_ok($told{lease} // 0, '>=', $all, 'leases');
	cmp_ok($compared{ids}, '>=', 100 * $all, 'ids');
	cmp_ok($compared{numbers}, '>=', 10 * $all, 'numbers');
	cmp_ok($rows, '>=', $all, 'rows') if $whole;
}
say_line('seed %d: %d cuts in %d s, %d of them while ids were ahead of the clock, %d standbys promoted; %d leases of clients and %d ids told, %d worker ids compared, %d lost', $seed, $cut, time() - $began,
	$ahead, $promoted, $told{lease} // 0, $told{ids} // 0, $told{'worker ids compared'} // 0, scalar @lost);
say_line('%d ids (%d twice), %d numbers (%d twice), %d windows (%d overlap), %d rows (%d missed by one of three readers)',
	$compared{ids}, $twice{ids}, $compared{numbers}, $twice{numbers}, $windows, $overlaps, $rows, $missed);
say_line('%d sectors were not flushed before a cut: %d were kept, %d of them as they were in between', @sectors);
say_line('%d times an emulated machine had to be turned on again', $PowerMachine::hung) if $PowerMachine::hung;
say_line('longest, in s: %s', join(', ', map { sprintf '%s %.1f', $_, $longest{$_} } sort keys %longest));
$_->cut for grep { $_->is_on } $machine, $second;
$_->stop('immediate') for $nodes, $distant;
done_testing();
