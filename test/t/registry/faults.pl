# Faults of a shared registry and of the network between it and its nodes. Tries to break G1 (no id twice, whatever was
# cut off, paused or answered late), G4 (as long as the window lasts, a registry that is gone slows down no call) and G8.
#
# Each fault is held until a call fails: that must not be before the window's end, the error must be SF001 with the
# reason, and once the fault is over ids must flow within 2 s.
use strict;
use warnings;

use Relay;
use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $slowest_allowed = 0.1;
my $back_within = 2;
my $shutdown_within = 3;
my $rounds = 6;

# ---------------------------------------------------------------------------------------------------------------------
# A registry, and nodes that reach it through a relay each
# ---------------------------------------------------------------------------------------------------------------------

# Makes writes to pg_wal fail with ENOSPC while a file exists. Only the registry is started with it.
my $full_flag = PostgreSQL::Test::Utils::tempdir() . '/full';
my $full_shim = full_disk_shim();

sub full_disk_shim
{
	my $stem = PostgreSQL::Test::Utils::tempdir() . '/full_disk';
	append_to_file("$stem.c", <<'C');
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static int full(int fd) {
  const char *flag = getenv("FULL_DISK_FLAG");
  char link[64], path[1024];
  if (flag == NULL || access(flag, F_OK) != 0) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  if (strstr(path, "/pg_wal/") == NULL) return 0;
  errno = ENOSPC;
  return 1;
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t write(int fd, const void *data, size_t size) { return full(fd) ? -1 : NEXT(write)(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return full(fd) ? -1 : NEXT(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return full(fd) ? -1 : NEXT(pwrite64)(fd, data, size, at); }
ssize_t pwritev(int fd, const struct iovec *data, int count, off_t at) { return full(fd) ? -1 : NEXT(pwritev)(fd, data, count, at); }
C
	my $compiler = $ENV{CC} // 'cc';
	return system("$compiler -O1 -shared -fPIC -o $stem.so $stem.c -ldl >/dev/null 2>&1") == 0 ? "$stem.so" : undef;
}

my $registry = new_server('registry', preload => 0);
$registry->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\nlog_statement = none\n");
append_to_file($registry->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");

sub start_registry
{
	local $ENV{LD_PRELOAD} = $full_shim if $full_shim;
	local $ENV{FULL_DISK_FLAG} = $full_flag;
	return $registry->start;
}
start_registry();
my $user = $registry->safe_psql('postgres', 'CREATE EXTENSION snowflake; CREATE DATABASE narrow; SELECT current_user');
# One worker bit, and one of the two worker ids is taken: who gets a lease gets the worker id of the lease before it.
my $narrow = 'CREATE EXTENSION snowflake;'
  . "INSERT INTO snowflake_layout VALUES (true, 1577836800000, 1000, 41, 0, 1, 12, false);";
$registry->safe_psql('narrow', $narrow);
my $taken = $registry->safe_psql('narrow', q{SELECT worker_id FROM
	snowflake_acquire('nobody', 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1577836800000, '1 day')});

sub at_registry { return $registry->safe_psql($_[1] // 'postgres', $_[0]); }

my (%relays, %nodes);
for my $name (qw(a b))
{
	my $relay = $relays{$name} = Relay->new($registry->port);
	my $lease = { a => '4s', b => '60s' }->{$name};
	my $place = sprintf 'host=127.0.0.1 port=%d user=%s', $relay->port, $user;
	my $node = $nodes{$name} = new_server($name, conf => qq{
snowflake.registry = '$place dbname=postgres'
snowflake.node_name = 'node $name'
snowflake.lease_duration = $lease
snowflake.start_timeout = 1s
snowflake.max_clock_skew = 0
log_statement = none
});
	start_server($node);
	$node->safe_psql('postgres', qq{CREATE EXTENSION snowflake; CREATE DATABASE narrow;
		ALTER DATABASE narrow SET snowflake.registry = '$place dbname=narrow';
		ALTER DATABASE narrow SET snowflake.lease_duration = '1s'});
	$node->safe_psql('narrow', $narrow);
}
my ($node, $relay) = ($nodes{a}, $relays{a});

# ---------------------------------------------------------------------------------------------------------------------
# Calls one by one
# ---------------------------------------------------------------------------------------------------------------------

my $ids_file = PostgreSQL::Test::Utils::tempdir() . '/ids';
my $session;

sub connect_session
{
	$session = $node->background_psql('postgres', on_error_stop => 0);
	ask($session, '\set VERBOSITY verbose');
	return;
}

# One call, timed by the server.
sub call
{
	my ($out, $error) = ask($session, 'SELECT id, extract(epoch FROM b - a), extract(epoch FROM snowflake_timestamp(id)) '
		  . 'FROM (SELECT clock_timestamp() AS a, snowflake_nextval() AS id, clock_timestamp() AS b) AS c');
	my ($id, $seconds, $time) = split /\|/, $out // '';
	append_to_file($ids_file, "$id\n") if $id;
	my ($state) = $error =~ /ERROR:\s+(\w{5}):/;
	my ($detail) = $error =~ /DETAIL:\s+(.*)/;
	return { id => $id, seconds => $seconds, time => $time, at => time(), state => $state // '', detail => $detail // '' };
}

sub call_until_id
{
	my ($limit) = @_;
	my $since = time();
	while (time() - $since < $limit)
	{
		return time() - $since if call()->{id};
		sleep(0.01);
	}
	return $limit;
}

sub status { my ($what) = @_; return (ask($session, "SELECT $what FROM snowflake_status"))[0]; }

sub count_in { my ($text, $pattern) = @_; return scalar(() = $text =~ /$pattern/g); }

my $warning = qr/WARNING:  snowflake keeper: (?:cannot reach the registry|the registry refused)/;
my @figures;

# begin and end of the fault; reason: what the detail says in the end; patience: how long until it does; warnings: how
# many; before_end: what happens before the fault ends; back_within: how soon ids must flow after it.
sub outage
{
	my ($name, %o) = @_;
	subtest $name => sub {
		cmp_ok(call_until_id(20), '<', 20, 'ids flow before it');
		# A window that a slow answer has moved may be nearly over.
		wait_until('no error', sub { status("last_error IS NULL AND ids_flow_for > '2.5 s'") eq 't' });
		my $log = -s $node->logfile;
		my $waits = status('lease_waits');
		$o{begin}->();
		my $began = time();
		my ($last, $call, $count, $slowest) = (undef, undef, 0, 0);
		while (time() - $began < 30)
		{
			$call = call();
			last unless $call->{id};
			$last = $call;
			$count++;
			$slowest = $call->{seconds} if $call->{seconds} > $slowest;
			sleep(0.01);
		}
		my ($end, $waits_now) = split /\|/, status('extract(epoch FROM window_end), lease_waits');
		my $failed = $call->{at};
		cmp_ok($count, '>', 50, 'ids flowed on');
		cmp_ok($slowest, '<', $slowest_allowed, "the slowest of $count calls");
		is($waits_now - $waits, 1, 'only the call that failed waited for the keeper');
		cmp_ok($last->{at}, '>', $end - 0.2, 'they flowed until the end of the window');
		cmp_ok($last->{time}, '<', $end, 'and no id is past it');
		cmp_ok($failed, '>', $end + 0.5, 'the call that failed had waited');
		cmp_ok($failed, '<', $end + 1.7, 'and no longer than it may');
		my $patience = time() + ($o{patience} // 3);
		while ($call->{state} eq 'SF001' && $call->{detail} !~ $o{reason} && time() < $patience) { $call = call(); }
		is($call->{state}, 'SF001', 'it failed with SF001');
		like($call->{detail}, $o{reason}, 'and the reason');
		$o{before_end}->() if $o{before_end};
		$o{end}->();
		my $back = call_until_id(20);
		cmp_ok($back, '<', $o{back_within} // $back_within, 'ids flow again');
		push @figures, sprintf '%s %.1f', $name, $back;
		wait_until('no error', sub { status('last_error IS NULL') eq 't' });
		my $since = substr(slurp_file($node->logfile), $log);
		is(count_in($since, $warning), $o{warnings} // 1, 'warnings in the log');
		is(count_in($since, qr/the registry answers again/), $o{warnings} // 1, 'and how often it answers again');
		is(count_in($since, qr/drew worker id/), 0, 'the lease was kept');
	};
	return;
}

connect_session();
cmp_ok(call_until_id(20), '<', 20, 'a node has a lease');

# Another node, whose registry answers slowly all the time, and is hit by what hits the registry.
my $timed = "SELECT id || E'\\nt ' || extract(epoch FROM b - a) FROM "
  . "(SELECT clock_timestamp() AS a, snowflake_nextval() AS id, clock_timestamp() AS b) AS c;\nSELECT FROM pg_sleep(0.005);\n";
$nodes{b}->safe_psql('postgres', 'SELECT snowflake_nextval()');
# A first window is 10 s long.
ok(wait_until('the window to grow', sub { $nodes{b}->safe_psql('postgres', q{SELECT ids_flow_for > '12 s' FROM snowflake_status}) eq 't' }), 'its window grows');
my $slow_from = $nodes{b}->safe_psql('postgres', 'SELECT extract(epoch FROM window_end) FROM snowflake_status');
$relays{b}->tell('delay 3');
my $slow = start_clients($nodes{b}, 1, $timed x 200);

# ---------------------------------------------------------------------------------------------------------------------
# The network
# ---------------------------------------------------------------------------------------------------------------------

my $pass = sub { $relay->tell('pass') };
my $dropped;

outage('dropped',
	begin => sub { $dropped = $relay->tell('drop'); $relay->tell('forget') },
	end => $pass, reason => qr/last error, .*could not connect to the registry in time/);
is($dropped, 'ok', 'no SYN was answered meanwhile');

outage('host hangs', begin => sub { $relay->tell('stall') }, end => $pass, patience => 15,
	reason => qr/last error, .*could not connect to the registry in time/);

# A host that completed the handshake and then was replaced, without a word to those who were waiting for it. The keeper
# gives an answer 5 s.
outage('host replaced', begin => sub { $relay->tell('stall') }, back_within => 6, patience => 0,
	end => sub { $relay->tell('pass forgotten') }, reason => qr/keeper had no answer of the registry within 1/);

# No exchange ends before its window does: nothing fails, and yet there is no window.
outage('slow answers', begin => sub { $relay->tell('delay 3') }, end => $pass, warnings => 0,
	reason => qr/keeper had no answer of the registry within 1/);

is(count_in(slurp_file($node->logfile), qr/WARNING:  snowflake keeper: the registry took [\d.]+ s to answer/), 1,
	'the log says once that the registry is too slow');

outage('late answers', begin => sub { $relay->tell('hold snowflake_lease_extend(') }, end => $pass, patience => 10,
	before_end => sub { wait_until('the node to give up', sub { $relay->given_up }) },
	reason => qr/last error, .*the registry did not answer in time/);

outage('connections reset', begin => sub { $relay->tell('cut snowflake_lease_extend(') }, end => $pass,
	reason => qr/last error, .*lost the connection to the registry/);

# ---------------------------------------------------------------------------------------------------------------------
# The registry
# ---------------------------------------------------------------------------------------------------------------------

sub signal_server { my ($signal, $server) = @_; my @pids = server_processes($server); return kill $signal, @pids; }

# Again and again until no process is left that was just being started.
sub pause_server
{
	my ($server) = @_;
	kill 'STOP', (server_processes($server))[0];
	signal_server('STOP', $server);
	return;
}

my $unreachable = qr/last error, .*(?:could not connect to|lost the connection to) the registry/;

outage('stopped', begin => sub { $registry->stop('fast') }, end => \&start_registry, reason => $unreachable);

outage('paused', begin => sub { pause_server($registry) }, end => sub { signal_server('CONT', $registry) },
	reason => qr/had no answer of the registry within 1|in time/, warnings => 0);

my @killed;
outage('killed', reason => $unreachable,
	begin => sub { @killed = server_processes($registry); pause_server($registry); signal_server('KILL', $registry) },
	end => sub {
		$registry->kill9;
		wait_until('its processes to end', sub { !grep { -e "/proc/$_" } @killed });
		start_registry();
	});

SKIP:
{
	skip 'no compiler for the shim that fills the disk', 1 unless $full_shim;
	my $log = -s $registry->logfile;
	outage('disk full', begin => sub { append_to_file($full_flag, '') }, reason => qr/last error/,
		end => sub {
			unlink $full_flag;
			# A server that cannot write its log of changes goes down.
			kill_server($registry, children => 1) if -e $registry->data_dir . '/postmaster.pid';
			$registry->kill9;
			start_registry();
		});
	like(substr(slurp_file($registry->logfile), $log), qr/No space left on device/, 'the registry had no space');
}

### The node with the slow registry

my $slow_to = $nodes{b}->safe_psql('postgres', 'SELECT extract(epoch FROM window_end) FROM snowflake_status');
stop_clients($slow);
$relays{b}->tell('pass');
subtest 'answers that come 3 s late each do not touch calls under a long lease' => sub {
	my ($calls, $slowest) = (0, 0);
	for my $line (split /\n/, slurp_file($slow->{files}[0]))
	{
		next unless $line =~ /^t ([\d.]+)/;
		$calls++;
		$slowest = $1 if $1 > $slowest;
	}
	my $errors = $slow->{files}[0] =~ s/\.out$/.err/r;
	is(-e $errors ? slurp_file($errors) : '', '', 'no error');
	cmp_ok($calls, '>', 1000, 'calls');
	cmp_ok($slowest, '<', $slowest_allowed, 'the slowest');
	cmp_ok($slow_to, '>', $slow_from + 15, 'the window was moved');
};

# ---------------------------------------------------------------------------------------------------------------------
# Nodes that are paused past their window, while another gets their worker id
# ---------------------------------------------------------------------------------------------------------------------

my $load = "COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;\nSELECT snowflake_nextval();\nSELECT FROM pg_sleep(0.003);\n" x 100;
my %loads = map { $_ => start_clients($nodes{$_}, 2, $load, dbname => 'narrow') } qw(a b);
my ($woken, $lost, $past) = (0, 0, 0);
my %log_from = map { $_ => -s $nodes{$_}->logfile } qw(a b);
for my $round (1 .. $rounds)
{
	my @lease;
	my $query = "SELECT lease_id, node, worker_id FROM snowflake_registry WHERE worker_id <> $taken";
	wait_until('a lease', sub { @lease = split /\|/, at_registry($query, 'narrow'); @lease });
	my ($holder) = $lease[1] =~ /node (\w)/;
	my $other = $holder eq 'a' ? 'b' : 'a';
	my $size = client_bytes($loads{$holder});
	wait_until('ids', sub { client_bytes($loads{$holder}) > $size + 50_000 });
	pause_server($nodes{$holder});
	my @next;
	my $drawn = wait_until('the other node to draw', sub { @next = split /\|/, at_registry($query, 'narrow'); @next && $next[0] > $lease[0] && $next[1] eq "node $other" });
	$size = client_bytes($loads{$other});
	wait_until('ids', sub { client_bytes($loads{$other}) > $size + 20_000 });
	signal_server('CONT', $nodes{$holder});
	$woken++ if $drawn && $next[2] == $lease[2];
	sleep(0.3);
}
# Who has no lease waits in each of his calls.
append_to_file("$_->{folder}/stop", '') for values %loads;
$_->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'narrow' AND backend_type = 'client backend'})
  for values %nodes;
stop_clients($_) for values %loads;

subtest 'a node that was paused past its window issues nothing of the old lease' => sub {
	is($woken, $rounds, 'pauses in which the other node got the same worker id');
	my ($ids, $duplicates) = compare_ids(map { @{ $_->{files} } } values %loads);
	is($duplicates, 0, "duplicates among $ids");
	cmp_ok($ids, '>', 20_000, 'ids were compared');
	# All ids of both nodes have one worker id. By tick, each node's ids lie in its own windows: between two ids of a
	# node there is none of the other, unless a lease lies between.
	my @all;
	for my $name (qw(a b))
	{
		for my $file (@{ $loads{$name}{files} })
		{
			push @all, map { [ $_ >> 13, $name ] } grep { /^\d+$/ } split /\n/, slurp_file($file);
		}
	}
	@all = sort { $a->[0] <=> $b->[0] } @all;
	my ($changes, $shared) = (0, 0);
	for my $i (1 .. $#all)
	{
		next if $all[$i][1] eq $all[ $i - 1 ][1];
		$changes++;
		$shared++ if $all[$i][0] == $all[ $i - 1 ][0];
	}
	is($shared, 0, 'ticks that both nodes used');
	my $drawn = 0;
	for my $name (qw(a b))
	{
		my $since = substr(slurp_file($nodes{$name}->logfile), $log_from{$name});
		my $draws = count_in($since, qr/snowflake keeper: drew worker id/);
		my $losses = count_in($since, qr/snowflake keeper: lost worker id/);
		$drawn += $draws;
		$lost += $losses;
	}
	cmp_ok($lost, '>=', $rounds, 'leases that were lost are in the log');
	cmp_ok($drawn, '>=', $rounds, 'leases that were drawn are in the log');
	cmp_ok($changes, '<=', $drawn, 'the worker id changed hands no more often than a lease was drawn');
	figures('%d pauses, %d leases drawn and %d lost, %d ids', $rounds, $drawn, $lost, $ids);
};

# ---------------------------------------------------------------------------------------------------------------------
# Shutdown
# ---------------------------------------------------------------------------------------------------------------------

subtest 'a clean shutdown deletes the row and leaves the watermark (G8)' => sub {
	$nodes{b}->safe_psql('postgres', 'SELECT snowflake_nextval()');
	my ($worker, $last) = split /\|/, $nodes{b}->safe_psql('postgres', 'SELECT worker, snowflake_nextval() FROM snowflake_status');
	append_to_file($ids_file, "$last\n");
	my $log = -s $nodes{b}->logfile;
	my $since = time();
	$nodes{b}->stop('fast');
	cmp_ok(time() - $since, '<', $shutdown_within, 'it takes no longer than it may');
	is(at_registry(q{SELECT count(*) FROM snowflake_registry WHERE node = 'node b'}), '0', 'no row');
	is(at_registry(q{SELECT count(*) FROM snowflake_registry WHERE node = 'node b'}, 'narrow'), '0', 'nor one of the other database');
	is(at_registry("SELECT snowflake_tick_timestamp(last_tick) >= snowflake_timestamp($last) AND "
			  . "snowflake_tick_timestamp(last_tick) < clock_timestamp() + '10.1 s' FROM snowflake_watermark WHERE worker_id = $worker"),
		't', 'the watermark is no less, and no more than a clock may be off');
	like(substr(slurp_file($nodes{b}->logfile), $log), qr/gave worker id $worker back/, 'the log says so');
};

my $rows = q{SELECT count(*) FROM snowflake_registry WHERE node = 'node a'};
my %at_shutdown = (
	'the network is dropped' => [ sub { $relay->tell('drop'); $relay->tell('forget') }, $pass ],
	'the registry\'s host hangs' => [ sub { $relay->tell('stall') }, $pass ],
	'the registry is paused' => [ sub { pause_server($registry) }, sub { signal_server('CONT', $registry) } ],
	'an answer is held back' => [
		sub { $relay->tell('hold snowflake_lease_extend('); wait_until('an answer', sub { $relay->held }) }, $pass ],
	'the answer to the release is held back' => [ sub { $relay->tell('hold snowflake_lease_release(') }, $pass ],
	'answers come 3 s late' => [ sub { $relay->tell('delay 3') }, $pass ],
);
my $longest = 0;
for my $name (sort keys %at_shutdown)
{
	my ($begin, $end) = @{ $at_shutdown{$name} };
	subtest "a fast shutdown while $name" => sub {
		cmp_ok(call_until_id(20), '<', 20, 'ids flow before it');
		$begin->();
		# Some time, so that the keeper is in the middle of something.
		sleep(rand(1.5));
		$session->quit;
		my $since = time();
		$node->stop('fast');
		my $took = time() - $since;
		cmp_ok($took, '<', $shutdown_within, 'it takes no longer than it may');
		$longest = $took if $took > $longest;
		$end->();
		start_server($node);
		connect_session();
		my $back = call_until_id(20);
		cmp_ok($back, '<', 2 * $back_within, 'ids flow after the start');
	};
}

subtest 'an answer to an acquire that comes too late' => sub {
	$session->quit;
	$node->stop('fast');
	$relay->tell('hold snowflake_lease_acquire(');
	start_server($node);
	connect_session();
	my $call = call();
	is($call->{state}, 'SF001', 'no id before it');
	wait_until('the node to give up', sub { call(); $relay->given_up });
	my $unknown = at_registry(q{SELECT max(lease_id) FROM snowflake_registry WHERE node = 'node a'});
	cmp_ok($unknown, '>', 0, 'the registry has a lease that nobody knows');
	$relay->tell('pass');
	cmp_ok(call_until_id(20), '<', $back_within, 'ids flow');
	is(status('leases_drawn'), 1, 'one lease counts');
	is(status('lease_id'), $unknown, 'and it is that one');
};

$session->quit;
$node->stop('fast');
is(at_registry($rows . ' AND snowflake_tick_timestamp(window_end) > clock_timestamp()'), '0', 'nobody has a lease in the end');

my ($ids, $duplicates) = compare_ids($ids_file, @{ $slow->{files} });
is($duplicates, 0, "no duplicate among $ids ids, whatever happened");
figures('seconds until ids flow again: %s; longest shutdown %.1f', join(', ', @figures), $longest);
diag(sprintf 'trials %d outages, %d ids, %d duplicates', scalar @figures, $ids, $duplicates);
$registry->stop('fast');
$_->finish for values %relays;
done_testing();
