# What the tests of a shared registry have in common: a registry of 32 worker ids, and nodes under
# load that are databases of one server.
package RegistryTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::RecursiveCopy;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw(value small_layout make_registry serve_nodes place make_nodes begin_node move_node restart_registry ids_flow all_different none_twice
  node_tick acquire_leases unused leases adoptable roll_back);

sub value { my ($server, $sql, $dbname) = @_; return $server->safe_psql($dbname // 'postgres', $sql); }

# The default layout, but with 5 bits of worker id.
sub small_layout { return q{INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1ms time=41 worker=5 seq=12')}; }

# A running registry for nodes of the role "node". Options: as for new_server.
sub make_registry
{
	my ($name, %options) = @_;
	my $quiet = "log_statement = none\nwal_retrieve_retry_interval = 100ms\nautovacuum = off\n";
	my $registry = new_server($name, streaming => 1, preload => 0, %options, conf => $quiet . ($options{conf} // ''));
	start_server($registry);
	serve_nodes($registry);
	return $registry;
}

# Makes a server a registry.
sub serve_nodes
{
	my ($server) = @_;
	return value($server, 'CREATE EXTENSION snowflake; ' . small_layout() . q{;
		CREATE ROLE node LOGIN;
		GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend,
			snowflake_lease_release TO node});
}

# The nodes' setting for the registry: the first of these servers that accepts writes.
sub place
{
	my (@servers) = @_;
	return 'host=' . join(',', map { $_->host } @servers) . ' port=' . join(',', map { $_->port } @servers)
	  . ' dbname=postgres user=node target_session_attrs=read-write';
}

# A server for nodes. Options: as for new_server.
sub make_nodes
{
	my ($name, %options) = @_;
	my $nodes = new_server($name, %options, conf => "log_statement = none\nautovacuum = off\nsnowflake.start_timeout = 1s\n"
		  . "max_worker_processes = 70\nsnowflake.max_databases = 64\n" . ($options{conf} // ''));
	start_server($nodes);
	value($nodes, 'CREATE DATABASE base');
	value($nodes, 'CREATE EXTENSION snowflake; ' . small_layout(), 'base');
	return $nodes;
}

# A node starts: a new database, and a client that gets ids from then on. Dies if it gets no id
# within 20 s. Options: pause => what the client does between two statements. pg_sleep() is no pause
# if the wall clock steps back.
sub begin_node
{
	my ($nodes, $name, $place, %options) = @_;
	my $pause = $options{pause} // 'SELECT FROM pg_sleep(0.02);';
	value($nodes, "CREATE DATABASE $name TEMPLATE base");
	value($nodes, "ALTER DATABASE $name SET snowflake.registry = '$place'");
	my ($state, $error) = query_error($nodes, $name, q{SET snowflake.start_timeout = '20s'; SELECT snowflake_nextval()});
	die "$name has no id: $error\n" if $state ne '00000';
	my $load = start_clients($nodes, 1, "COPY (SELECT snowflake_nextval() FROM generate_series(1, 100)) TO STDOUT;\n$pause\n" x ($options{pause} ? 20 : 40),
		dbname => $name);
	return { server => $nodes, name => $name, load => $load };
}

# Sets another registry for a node and ends its keeper, so that the next keeper uses that registry.
sub move_node
{
	my ($node, $place) = @_;
	value($node->{server}, "ALTER DATABASE $node->{name} SET snowflake.registry = '$place'");
	value($node->{server}, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status', $node->{name});
	return;
}

# A registry is shut down cleanly and started, so many times. Each time one of the nodes acquires
# another lease, and in the end all do, so that none has a lease of before. Returns whether they did.
sub restart_registry
{
	my ($registry, $times, @nodes) = @_;
	for (1 .. $times)
	{
		$registry->restart;
		return 0 unless acquire_again($nodes[ rand @nodes ]);
	}
	return acquire_again(@nodes);
}

# These nodes release their leases and acquire others.
sub acquire_again
{
	my (@nodes) = @_;
	my %before = map { $_ => 1 } '', split / /, leases(@nodes);
	value($_->{server}, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status', $_->{name}) for @nodes;
	return wait_until('other leases', sub { !grep { $before{ leases($_) } } @nodes });
}

# The lease ids of nodes, '' for a node without a lease.
sub leases
{
	my (@nodes) = @_;
	return join(' ', map { value($_->{server}, 'SELECT lease_id FROM snowflake_status', $_->{name}) } @nodes);
}

# Of these nodes, those whose lease a registry in an older state can adopt: by chance another one has
# a worker id again that was assigned in that state.
sub adoptable
{
	my ($registry, @nodes) = @_;
	my %assigned = map { split /\|/ } split /\n/, value($registry, 'SELECT worker_id, lease_id FROM snowflake_registry');
	return grep {
		my ($worker, $lease) = split /\|/, value($_->{server}, 'SELECT worker, lease_id FROM snowflake_status', $_->{name});
		($assigned{$worker} // $lease) eq $lease
	} @nodes;
}

# Checks that more ids arrive.
sub ids_flow
{
	my ($node) = @_;
	my $before = client_bytes($node->{load});
	# A line "connection" contains no id.
	return wait_until("ids of $node->{name}", sub { client_bytes($node->{load}) > $before + 1000 });
}

# Whether all nodes that issue at the moment have different worker ids.
sub all_different
{
	my ($what, @nodes) = @_;
	my (%names, $issuing);
	for my $node (@nodes)
	{
		my $worker = value($node->{server}, 'SELECT worker FROM snowflake_status WHERE lease_id IS NOT NULL AND window_end > clock_timestamp()', $node->{name});
		push @{ $names{$worker} }, $node->{name} if $worker ne '';
	}
	my @twice = map { "$_: @{ $names{$_} }" } grep { @{ $names{$_} } > 1 } sort keys %names;
	return is(join(', ', @twice), '', "$what: " . keys(%names) . ' nodes have a worker id each');
}

# Ends the loads, and compares all ids that clients received.
sub none_twice
{
	my ($what, @nodes) = @_;
	stop_clients($_->{load}) for @nodes;
	my ($ids, $twice) = compare_ids(map { @{ $_->{load}{files} } } @nodes);
	figures('%d ids of %s, %d duplicates', $ids, $what, $twice);
	return is($twice, 0, "of $ids ids of $what none was issued twice");
}

# SQL for the clock of a server as a tick.
sub node_tick { return q{(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - 1735689600000)}; }

# Acquires worker ids by SQL like nodes of the role "node", until it has $count or no more are
# available. Returns them. Options: duration, role => another role, ahead => by how many ms the
# node's clock is ahead.
sub acquire_leases
{
	my ($server, $count, %options) = @_;
	my $duration = $options{duration} // '10 min';
	my @workers;
	for my $try (1 .. $count + 2)
	{
		my $missing = $count - @workers or last;
		# In one session, because a first window is short.
		my $call = sprintf(q{SELECT worker_id FROM snowflake_lease_acquire('acquired', 0, %s + %d, '%s', sha256(uuid_send(gen_random_uuid())), 0, NULL);},
			node_tick(), $options{ahead} // 0, $duration);
		my ($rc, $out, $err) = $server->psql('postgres', "$call\n" x $missing, extra_params => [ '-U', $options{role} // 'node' ]);
		push @workers, grep { $_ ne '' } split /\n/, $out;
		last if $rc != 0 && $err =~ /every worker id is leased/;
		die $err if $rc != 0;
	}
	return @workers;
}

# No node used these worker ids, so they are free at once: evicted as of a minute ago.
sub unused
{
	my ($server, @workers) = @_;
	my $then = q{now() - interval '1 min'};
	return value($server, 'ALTER TABLE snowflake_registry DISABLE TRIGGER snowflake_guard; '
		  . join('', map { "UPDATE snowflake_registry SET extended_at = $then WHERE worker_id = $_; " } @workers)
		  . 'ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard; ' . join('; ', map { "SELECT snowflake_evict($_, $then)" } @workers));
}

# --------------------------------------------------------------------------------------------------
# A registry that is rolled back
# --------------------------------------------------------------------------------------------------

my ($registries, $minutes) = (0, 0);

# All nodes of this server extend their leases.
sub all_extend { my ($nodes) = @_; $minutes += 5; return set_lease_duration($nodes, "${minutes}min"); }

# Nodes reach it as soon as the operator allows it.
sub let_nodes
{
	my ($registry, $let) = @_;
	my $file = $registry->data_dir . '/pg_hba.conf';
	my $rules = slurp_file($file) =~ s/^local all node reject\n//r;
	open(my $hba, '>', $file) or die "$file: $!";
	print $hba ($let ? '' : "local all node reject\n") . $rules;
	close $hba;
	$registry->reload if -e $registry->data_dir . '/postmaster.pid';
	return;
}

# A registry is rolled back while its nodes run, to a time before some of them started. Options: how
# => 'backup' or 'files', settle => whether the operator calls snowflake_settle(), first => which node
# calls first, restarts => how often it was restarted meanwhile.
sub roll_back
{
	my ($nodes, %options) = @_;
	my $n = ++$registries;
	my $restarts = $options{restarts} // 0;
	my $what = join(', ', $options{how}, $restarts ? "$restarts restarts ago" : (), $options{settle} ? 'with snowflake_settle()' : 'without snowflake_settle()', "$options{first} first");
	my $registry = make_registry("registry_$n");
	my $place = place($registry);
	my ($before, $lost, $after) = (2 + int(rand(2)), 2 + int(rand(3)), 2);
	my @nodes = map { begin_node($nodes, "before_${n}_$_", $place) } 1 .. $before;

	my $copy = $registry->basedir . '/copy';
	if ($options{how} eq 'backup')
	{
		$registry->backup('copy');
		$copy = $registry->backup_dir . '/copy';
	}
	else
	{
		$registry->stop('fast');
		PostgreSQL::Test::RecursiveCopy::copypath($registry->data_dir, $copy);
		$registry->start;
	}
	push @nodes, map { begin_node($nodes, "lost_${n}_$_", $place) } 1 .. $lost;
	ok(restart_registry($registry, $restarts, @nodes), "$what: all nodes have leases that the state does not know") if $restarts;
	all_extend($nodes);
	my $long = q{SELECT window_end > clock_timestamp() + interval '2 min' FROM snowflake_status};
	ok(wait_until('windows', sub { !grep { value($nodes, $long, $_->{name}) ne 't' } @nodes }), "$what: all windows outlast the outage");
	all_different("$what, before", @nodes);
	$registry->stop($options{how} eq 'backup' ? 'immediate' : 'fast');
	my $conf = slurp_file($registry->data_dir . '/postgresql.conf');
	rename $registry->data_dir, $registry->basedir . '/original' or die "rename: $!";
	PostgreSQL::Test::RecursiveCopy::copypath($copy, $registry->data_dir);
	chmod 0700, $registry->data_dir;
	open(my $file, '>', $registry->data_dir . '/postgresql.conf') or die "postgresql.conf: $!";
	print $file $conf;
	close $file;

	let_nodes($registry, 0);
	$registry->start;
	is(value($registry, 'SELECT timeline_id FROM pg_control_checkpoint()'), '1', "$what: the timeline is the same");
	is(value($registry, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%lost%'}), '0', '... and leases are lost');
	my @keeping = adoptable($registry, @nodes);
	my $leases = leases(@keeping);
	value($registry, q{SELECT snowflake_settle('restored')}) if $options{settle};
	let_nodes($registry, 1);
	if ($options{first} eq 'extends')
	{
		all_extend($nodes);
		ok(wait_until('evidence', sub { value($registry, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin') eq 't' }),
			'... which what the nodes know tells it');
	}
	my @late = map { begin_node($nodes, "after_${n}_$_", $place) } 1 .. $after;
	all_different("$what, at once", @nodes, @late);
	all_extend($nodes) if $options{first} ne 'extends';
	ok(wait_until('it to settle', sub { value($registry, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin') eq 't' }), '... it settles')
	  if $options{settle} || $options{first} eq 'extends';
	ok(ids_flow($_), "... $_->{name} issues") for @nodes, @late;
	all_different("$what, later", @nodes, @late);
	is(leases(@keeping), $leases, '... and none of ' . @keeping . ' nodes has lost its lease') if $options{settle} || $options{first} eq 'extends';
	# All nodes have called by now, and no lost lease is in use any more.
	ok(wait_until('all nodes to be known', sub { value($registry, "SELECT count(*) FROM snowflake_registry WHERE window_end > " . node_tick()) == @nodes + @late }),
		'... and every node has a lease that the registry knows');
	none_twice("nodes, $what", @nodes, @late);
	value($nodes, "ALTER DATABASE $_->{name} ALLOW_CONNECTIONS false") for @nodes, @late;
	value($nodes, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$_->{name}'") for @nodes, @late;
	$registry->stop('fast');
	return;
}

1;
