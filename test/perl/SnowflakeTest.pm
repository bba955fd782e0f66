# What the TAP tests share: servers with the library preloaded, a clock that can be moved, and
# comparisons of ids.
package SnowflakeTest;

use strict;
use warnings;

use ClusterTemplate;
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use PsqlDriver;
use Time::HiRes qw(time sleep clock_gettime);

our @EXPORT = qw(new_server preloading start_server move_clock let_pass freeze_clock freeze_wall_clock run_clock move_counter now_ms seed at_length slowness wait_until
  query_error standby_of follow subscription_errors status $node_views);

# FROM this, a query has the columns of snowflake_status, and the numbers of snowflake_metrics.
our $node_views = 'snowflake_status CROSS JOIN (SELECT ids_flow_seconds, lead_seconds, clock_lead_seconds, clock_bridged_total, clock_steps_back_total,
	ids_taken_total, clock_waits_total, lease_waits_total, leases_acquired_total FROM snowflake_metrics) numbers';

# The superuser's name, whichever user runs the tests.
$ENV{PGUSER} = 'postgres';

# The error that ends a test is only in its log. Print it, so that the run shows it, too.
$SIG{__DIE__} = sub { Test::More::diag("died: $_[0]") unless $^S // 1 };

# Columns of these, as psql prints them.
sub status { my ($server, $what, $dbname) = @_; return $server->safe_psql($dbname // 'postgres', "SELECT $what FROM $node_views"); }

# A new server, initialised, not started. Options: conf => lines for postgresql.conf, clock => 1 for
# a clock that can be moved, and then counter => 'real' if the processor's counter may be read
# although it does not follow that clock, or 'moved' for move_counter(); streaming => 1, preload => as for preloading(), late => 1 if no keeper
# shall start before the first call, so that the test can examine what the last one left, patient =>
# 1 if the time of the first lease does not matter, from => [server, backup] to start as a copy of
# another server, initdb => [arguments], home => the folder of another installation than the one
# under test.
sub new_server
{
	my ($name, %options) = @_;
	my $server = PostgreSQL::Test::Cluster->new($name, $options{home} ? (install_path => $options{home}) : ());
	if ($options{from})
	{
		$server->init_from_backup(@{ $options{from} });
		$server->append_conf('postgresql.conf', $options{conf}) if $options{conf};
	}
	else
	{
		my @init = (allows_streaming => $options{streaming} ? 1 : 0, extra => [ '-U', $ENV{PGUSER}, @{ $options{initdb} // [] } ]);
		if ($options{initdb} || $options{home}) { $server->init(@init); }
		else { ClusterTemplate::init($server, @init); }
		my $preload = preloading($options{preload});
		# Calls wait for a first lease as long as the server needs for it.
		$preload .= sprintf("\nsnowflake.start_timeout = %ds", 5 * slowness()) if $preload && slowness() > 1;
		$preload .= sprintf("\nsnowflake.start_timeout = %ds", 60 * slowness()) if $options{patient};
		$server->append_conf('postgresql.conf', "$preload\n" . ($options{conf} // ''));
	}
	# In place of the folder that records which databases issued before.
	append_to_file($server->data_dir . '/snowflake.databases', '') if $options{late};
	if ($options{clock})
	{
		die "SNOWFLAKE_CLOCK_SHIM is not set\n" unless $ENV{SNOWFLAKE_CLOCK_SHIM};
		$server->{snowflake_clock} = $server->basedir . '/clock';
		$server->{snowflake_counter} = $options{counter};
		write_clock($server, 0, 0);
		move_counter($server) if ($options{counter} // '') eq 'moved';
	}
	return $server;
}

# The line of postgresql.conf that preloads the library: 1 with the server, 'session' with each
# session, 0 not at all. Without an argument SNOWFLAKE_PRELOAD decides.
sub preloading
{
	my $way = shift // $ENV{SNOWFLAKE_PRELOAD} // 1;
	return $way ? ($way eq 'session' ? 'session' : 'shared') . "_preload_libraries = 'snowflake'" : '';
}

# Like $server->start, with the server's own clock and its own disk if it has these. A server that
# is restarted after a crash keeps them.
sub start_server
{
	my ($server) = @_;
	my ($clock, $disk) = @$server{qw(snowflake_clock snowflake_disk)};
	return $server->start unless $clock || $disk;
	local $ENV{LD_PRELOAD} = join ' ', $clock ? $ENV{SNOWFLAKE_CLOCK_SHIM} : (), $disk ? $disk->library : ();
	local $ENV{SNOWFLAKE_CLOCK_FILE} = $clock // '';
	local $ENV{SNOWFLAKE_CLOCK_COUNTER} = $server->{snowflake_counter} // '';
	local $ENV{FULL_DISK_FLAG} = $disk ? $disk->flag : '';
	return $server->start;
}

# Sets both clocks: the wall clock's offset, or the time at which it stands still. While it stands
# still, so does the monotonic clock, except for what the wall clock moves forward. With `$alone`
# the monotonic clock runs. The monotonic clock never steps back.
sub write_clock
{
	my ($server, $offset_ns, $frozen_ns, $alone) = @_;
	my $boottime_ns = int(clock_gettime(7) * 1e9);
	my $stood = delete $server->{snowflake_stands};
	my $steady_ns = $server->{snowflake_steady_offset_ns} // 0;
	my $steady_frozen_ns = 0;
	if ($frozen_ns && !$alone)
	{
		$steady_frozen_ns = $stood ? $stood->{steady} : $boottime_ns + $steady_ns;
		$steady_frozen_ns += $frozen_ns - $stood->{wall} if $stood && $frozen_ns > $stood->{wall};
		$server->{snowflake_stands} = { wall => $frozen_ns, steady => $steady_frozen_ns };
	}
	elsif ($stood && $stood->{steady} > $boottime_ns + $steady_ns)
	{
		$steady_ns = $stood->{steady} - $boottime_ns;
	}
	# Overwritten in place, because the servers have mapped the file.
	my $mode = -e $server->{snowflake_clock} ? '+<:raw' : '>:raw';
	open(my $file, $mode, $server->{snowflake_clock}) or die "clock: $!";
	my $write = sub {
		sysseek $file, 0, 0 or die "clock: $!";
		syswrite $file, pack('q<q<q<q<', $offset_ns, $frozen_ns, $steady_ns, $steady_frozen_ns) or die "clock: $!";
	};
	$write->();
	if ($steady_frozen_ns && !$stood)
	{
		# A server may have read it just before it stood still.
		$steady_frozen_ns = $server->{snowflake_stands}{steady} = int(clock_gettime(7) * 1e9) + $steady_ns;
		$write->();
	}
	close $file;
	$server->{snowflake_offset_ns} = $offset_ns;
	$server->{snowflake_steady_offset_ns} = $steady_ns;
	return;
}

# Sets the server's wall clock to the real time plus so many seconds.
sub move_clock
{
	my ($server, $seconds) = @_;
	write_clock($server, int($seconds * 1e9), 0);
	return;
}

# Sets the processor's counter, which runs on from there. Options: by => by how many milliseconds it
# is moved, speed => counts in a microsecond (1000 unless set before, 0: it
# stands still), apart => how many milliseconds the next processor's is further.
sub move_counter
{
	my ($server, %options) = @_;
	my $now_ns = int(clock_gettime(1) * 1e9);
	my $before = $server->{snowflake_moved} // { counts => $now_ns, at_ns => $now_ns, speed => 1000, apart => 0 };
	my %counter = (%$before, map { $_ => $options{$_} } grep { exists $options{$_} } qw(speed));
	$counter{apart} = int($options{apart} * 1e6) if exists $options{apart};
	$counter{counts} += ($now_ns - $before->{at_ns}) * $before->{speed} / 1000 + ($options{by} // 0) * 1e6;
	$counter{at_ns} = $now_ns;
	$server->{snowflake_moved} = \%counter;
	open(my $file, '+<:raw', $server->{snowflake_clock}) or die "clock: $!";
	sysseek $file, 32, 0 or die "clock: $!";
	syswrite $file, pack('q<q<q<q<', map { int } @counter{qw(counts at_ns speed apart)}) or die "clock: $!";
	close $file;
	return;
}

# Lets so many seconds pass at once, on both clocks.
sub let_pass
{
	my ($server, $seconds) = @_;
	$server->{snowflake_steady_offset_ns} += int($seconds * 1e9);
	write_clock($server, $server->{snowflake_offset_ns} + int($seconds * 1e9), 0);
	return;
}

sub shown_ns { my ($server) = @_; return int(time() * 1e9) + $server->{snowflake_offset_ns}; }

# Stops the server's clocks: no time passes.
sub freeze_clock
{
	my ($server) = @_;
	# The second time it shows no less than any server has read before it stood still.
	write_clock($server, $server->{snowflake_offset_ns}, shown_ns($server)) for 1 .. 2;
	return;
}

# Stops only its wall clock.
sub freeze_wall_clock
{
	my ($server) = @_;
	write_clock($server, $server->{snowflake_offset_ns}, shown_ns($server), 1);
	return;
}

# Lets a stopped clock jump to the real time plus the offset and run again.
sub run_clock
{
	my ($server) = @_;
	write_clock($server, $server->{snowflake_offset_ns}, 0);
	return;
}

# A streaming standby of a server, made by pg_basebackup and started. Options: conf => lines for
# postgresql.conf.
sub standby_of
{
	my ($primary, $name, %options) = @_;
	$primary->backup("for_$name");
	my $standby = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, "for_$name", has_streaming => 1);
	$standby->append_conf('postgresql.conf', $options{conf}) if $options{conf};
	$standby->start;
	return $standby;
}

# An old primary becomes a standby of the new one. Returns whether it streams, in addition to the
# previous standbys.
sub follow
{
	my ($old, $new) = @_;
	my $streaming = sub { $new->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'}) };
	my $others = $streaming->();
	$old->append_conf('postgresql.conf', sprintf("primary_conninfo = '%s'", $new->connstr));
	$old->set_standby_mode;
	$old->start;
	return wait_until('the old primary to follow', sub { $streaming->() == $others + 1 });
}

sub now_ms { return int(time() * 1000); }

# How many times longer than usual everything may take; see test/run.
sub slowness { return $ENV{SNOWFLAKE_SLOWNESS} || 1; }

# The seed of this run: SNOWFLAKE_SEED, or a new one. It is printed, so that a failure can be
# repeated.
sub seed
{
	my $seed = $ENV{SNOWFLAKE_SEED} // int(rand(2**31));
	srand($seed);
	Test::More::diag("seed $seed");
	return $seed;
}

# How long, or how often, a test with two lengths runs: the short form is that of the default run,
# the long one that of test/run --all.
sub at_length { my ($short, $long) = @_; return $ENV{SNOWFLAKE_ALL} ? $long : $short; }

# Polls a condition. The limit is for conditions that never become true: what usually takes a second
# takes a minute on a busy machine. `$over`, if there is one, tells that it cannot become true any
# more: that the process has ended, or the call has returned.
sub wait_until
{
	my ($what, $condition, $over) = @_;
	my $deadline = time() + 240 * slowness();
	# Checks cost more than the wait itself, because most start a client.
	for (my $pause = 0.02; time() < $deadline; $pause *= 1.3 if $pause < 0.3)
	{
		# In this order, because both may have become true.
		my $ended = $over && $over->();
		return 1 if $condition->();
		if ($ended) { Test::More::diag("in vain: $what"); return 0; }
		sleep($pause);
	}
	Test::More::diag("gave up waiting: $what");
	return 0;
}

# Runs SQL that must fail. Returns (SQLSTATE, whole error text with detail and hint).
sub query_error
{
	my ($server, $dbname, $sql) = @_;
	my ($rc, $out, $err) = $server->psql($dbname, "\\set VERBOSITY verbose\n$sql", on_error_stop => 1);
	my ($state) = ($err // '') =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err);
}

# SQL that counts the failures of a server's subscriptions. Each later version has more of these
# counters, some with other names.
sub subscription_errors
{
	return q{SELECT coalesce(sum(counter.value::bigint), 0) FROM pg_stat_subscription_stats s, jsonb_each_text(to_jsonb(s)) counter
		WHERE counter.key ~ '_error_count$'};
}

# --------------------------------------------------------------------------------------------------
# Sessions, clients under load, kills
# --------------------------------------------------------------------------------------------------

push @EXPORT, qw(figures ask start_clients stop_clients client_bytes compare_ids ready_count falls_within wait_ready server_processes
  ids_in_every_way kill_and_wait kill_server says_path boxes_of box_of lose_box pause_server resume_server stop_in_time
  set_lease_duration keeper_looks sleeps_of alone);

# A raised lease_duration is asked for at once. So windows are as long as a test needs, although first
# ones last 10 s.
sub set_lease_duration
{
	my ($server, $duration) = @_;
	$server->append_conf('postgresql.conf', "snowflake.lease_duration = $duration");
	$server->reload;
	return;
}

# Runs a command that needs a database for itself. PostgreSQL waits only 5 s for a keeper to leave it.
sub alone
{
	my ($server, $sql, $before) = @_;
	my ($state, $error);
	wait_until($sql, sub { $before->() if $before; ($state, $error) = query_error($server, 'postgres', $sql); return $state ne '55006' });
	return Test::More::is($state, '00000', $sql) || Test::More::diag($error);
}

# How often a process has waited.
sub sleeps_of { my ($pid) = @_; return slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s*(\d+)/m ? $1 : die "no process $pid" }

# Waits until the keeper of a database has run once more, from a sleep on: it has read its settings
# and the clock.
sub keeper_looks
{
	my ($server, $database) = @_;
	my $keeper;
	wait_until('the keeper', sub { ($keeper = $server->safe_psql($database // 'postgres', 'SELECT keeper_pid FROM snowflake_status')) ne '' }) or die "no keeper\n";
	my $before = sleeps_of($keeper);
	return wait_until('the keeper to look', sub { sleeps_of($keeper) > $before + 1 });
}

# Prints what this run measured, at the start of a line, also from within a subtest, so that
# test/run shows it.
sub figures
{
	my ($format, @values) = @_;
	print { Test::More->builder->failure_output } sprintf("# figures: $format\n", @values);
	return;
}

# The time limit of such a session applies to each of its queries, not to the whole session.
{
	my $original = \&PostgreSQL::Test::Cluster::background_psql;
	no warnings 'redefine';
	*PostgreSQL::Test::Cluster::background_psql = sub {
		my $session = $original->(@_);
		$session->set_query_timer_restart;
		return $session;
	};
}

# Runs SQL in a session of background_psql. Returns (its output, its errors).
sub ask
{
	my ($session, $sql) = @_;
	$session->{stderr} = '';
	my $out = $session->query($sql);
	return ($out, $session->{stderr});
}

# A script for these clients that gets ids in every way, also into a table `kept`, and rolls some
# back. It has `times` turns, each with a pause in s.
sub ids_in_every_way
{
	my (%load) = @_;
	my $kept = $load{kept} ? "INSERT INTO kept SELECT FROM generate_series(1, $load{kept}) RETURNING id;\n" : '';
	return <<"SQL" x $load{times};
COPY (SELECT snowflake_nextval() FROM generate_series(1, $load{copied})) TO STDOUT;
BEGIN;
INSERT INTO kept SELECT FROM generate_series(1, $load{rolled_back}) RETURNING id;
ROLLBACK;
SELECT snowflake_nextval();
${kept}SELECT id FROM snowflake_nextvals($load{at_once}) AS id;
SELECT FROM pg_sleep($load{pause});
SQL
}

# Starts $count clients that run the script again and again, each time in a new connection, until
# they are told to stop, whatever happens to the server. The server's output is stored, in one file
# for each client, and each connection begins with a line "connection". COPY ... TO STDOUT lets ids
# arrive one by one, so that ids of an unfinished statement are stored, too. Options: dbname, rest
# => seconds between two connections (if a server is down for long, many clients would only try to
# connect).
sub start_clients
{
	my ($server, $count, $script, %options) = @_;
	my $number = ++$server->{snowflake_clients};
	my $folder = $server->basedir . "/clients_$number";
	mkdir $folder or die "$folder: $!";
	append_to_file("$folder/script.sql", "\\echo connection\n$script");
	my $clients = { folder => $folder, files => [], runs => [] };
	for my $i (1 .. $count)
	{
		push @{ $clients->{files} }, "$folder/$i.out";
		# The clients end with this program, in whatever way it ends.
		push @{ $clients->{runs} },
		  IPC::Run::start(
			[
				'bash', '-c',
				# Waiting for input that never comes is a sleep without another process.
				'cd "$1" && exec {nothing}<> <(:) || exit; while kill -0 "$4" 2>/dev/null && [ ! -e stop ]; do '
				  . 'psql -XAtq -d "$2" -f script.sql >>"$3.out" 2>>"$3.err" </dev/null; read -rt "$5" -u "$nothing"; done',
				'bash', $folder, $server->connstr($options{dbname} // 'postgres'), $i, $$, $options{rest} // 0.02
			],
			'<', '/dev/null', '>', "$folder/$i.log", '2>&1');
	}
	return $clients;
}

# Lets each client end its script and waits for that.
sub stop_clients
{
	my ($clients) = @_;
	append_to_file("$clients->{folder}/stop", '');
	$_->finish for @{ $clients->{runs} };
	return;
}

# How much output the clients have received so far, in bytes. It grows while ids arrive.
sub client_bytes
{
	my ($clients) = @_;
	my $bytes = 0;
	$bytes += -s $_ // 0 for @{ $clients->{files} };
	return $bytes;
}

# Looks for equal ids in files, in which a line that is a number is an id. Returns (ids, duplicates,
# lowest, highest). Ids are sorted as text of equal width, outside of Perl, because there are
# millions.
sub compare_ids
{
	my (@files) = @_;
	my $folder = PostgreSQL::Test::Utils::tempdir();
	open(my $sort, '|-', "LC_ALL=C sort -S 200M -T $folder -o $folder/sorted") or die "sort: $!";
	my $ids = 0;
	for my $name (@files)
	{
		next unless -e $name;
		open(my $file, '<', $name) or die "$name: $!";
		while (my $line = <$file>)
		{
			next unless $line =~ /^\d+$/;
			printf $sort "%019d\n", $line;
			$ids++;
		}
		close $file;
	}
	close $sort or die "sort failed";
	my ($duplicates, $last, $lowest) = (0, '', undef);
	open(my $sorted, '<', "$folder/sorted") or die "sorted: $!";
	while (my $line = <$sorted>)
	{
		$lowest //= $line + 0;
		if ($line eq $last)
		{
			Test::More::diag('duplicate ' . ($line + 0)) if $duplicates++ < 5;
		}
		$last = $line;
	}
	close $sorted;
	unlink "$folder/sorted";
	return ($ids, $duplicates, $lowest, $last eq '' ? undef : $last + 0);
}

# How many ids in files of clients are not above the previous id of the same connection.
sub falls_within
{
	my (@files) = @_;
	my $falls = 0;
	for my $name (@files)
	{
		my $last = -1;
		open(my $file, '<', $name) or die "$name: $!";
		while (my $line = <$file>)
		{
			if ($line =~ /^\d+$/) { $falls++ if $line <= $last; $last = $line + 0; }
			else { $last = -1; }
		}
	}
	return $falls;
}

# How often the server has become ready since its log began. A crash restart counts.
sub ready_count
{
	my ($server) = @_;
	my $log = slurp_file($server->logfile);
	return scalar(() = $log =~ /database system is ready to accept connections/g);
}

# Waits for a restart that follows a crash: $before is ready_count() before the crash.
sub wait_ready
{
	my ($server, $before) = @_;
	return wait_until('the server to be ready again', sub { ready_count($server) > $before });
}

# Kills a process of a server, which then restarts all others. False if it was gone already, because
# the load continues meanwhile.
sub kill_and_wait
{
	my ($server, $pid) = @_;
	return 0 unless $pid;
	my $before = ready_count($server);
	return 0 unless kill 'KILL', $pid;
	return wait_ready($server, $before);
}

# The processes of a running server, its postmaster first.
sub server_processes
{
	my ($server) = @_;
	my $postmaster = (split /\n/, slurp_file($server->data_dir . '/postmaster.pid'))[0];
	my @pids = ($postmaster);
	for my $file (glob '/proc/[0-9]*/stat')
	{
		open(my $stat, '<', $file) or next;
		my $line = <$stat> // '';
		push @pids, $1 if $line =~ /^(\d+) .*\) \S (\d+)/ && $2 == $postmaster;
	}
	return @pids;
}

# Stops all processes of a server, also those that were just being started.
sub pause_server
{
	my ($server) = @_;
	kill 'STOP', (server_processes($server))[0];    # no more children from here on
	kill 'STOP', server_processes($server);
	return;
}

# ... and continues them, the postmaster last.
sub resume_server
{
	my ($server) = @_;
	kill 'CONT', reverse server_processes($server);
	return;
}

# SIGKILL to the postmaster, and with children => 1 to all of its processes at once. Returns when
# all are gone.
sub kill_server
{
	my ($server, %options) = @_;
	my $postmaster = (server_processes($server))[0];
	kill 'STOP', $postmaster;    # no more children from here on
	my @pids = server_processes($server);
	kill 'KILL', $options{children} ? @pids : $postmaster;
	$server->kill9;
	# A dead process that is not yet reaped still prevents the server's next start.
	return wait_until('the processes of the server to end', sub { !grep { -e "/proc/$_" } @pids });
}

# Whether the text in a black box names this server: in its header, src/pg/state/black_box.cpp.
sub says_path { my ($server, $bytes) = @_; return length $bytes >= 272 && unpack('x16 Z256', $bytes) eq $server->data_dir; }

# The objects that name this server. If two servers had the same place one after the other, each has
# an object. Other servers may stop at any time, and other users' objects cannot be read.
sub boxes_of
{
	my ($server) = @_;
	my @boxes;
	for my $file (grep { -f $_ && !-l $_ } glob '/dev/shm/snowflake.*')
	{
		open(my $object, '<:raw', $file) or next;
		sysread($object, my $header, 272) or next;
		push @boxes, $file if says_path($server, $header);
	}
	return @boxes;
}

sub box_of
{
	my ($server) = @_;
	my @boxes = boxes_of($server);
	die 'there are ' . @boxes . ' boxes of ' . $server->name . "\n" if @boxes != 1;
	return $boxes[0];
}

# The effect of a reboot on a server that is down: its black box is gone.
sub lose_box { my ($server) = @_; my $box = box_of($server); unlink $box or die "$box: $!"; return; }

# Whether a shutdown ends although something would keep the server up for ever, or for longer than
# pg_ctl waits. Shows how long it took.
sub stop_in_time
{
	my ($server, $mode, $what) = @_;
	my $began = time();
	my $ended = $server->stop($mode, fail_ok => 1);
	my $took = time() - $began;
	figures('%s took %.2f s', $what, $took);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return Test::More::ok($ended && $took < 20 * slowness(), "$what ends");
}

1;
