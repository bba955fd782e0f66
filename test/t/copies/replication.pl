# Replication in both of PostgreSQL's forms, under load. Tries to break G1 where a server is a copy of another and both, or the
# other in its place, go on: every id that reached a client of any server is compared.
#
#   one registry in the database: a primary fails over, lives on for a moment, is rewound with pg_rewind and promoted again
#   a registry elsewhere: primary, standby and cascading standby issue at the same time, and so does a copy made by pg_basebackup;
#       the standby is promoted, and the old primary rewound into its standby
#   logical replication in both directions: two nodes of one registry write into the same table
#
# t/copies/standby has what a standby refuses, and settling; t/failover/lost_commits a registry that is failed over; t/copies/gathering many nodes into one.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $db = 'postgres';
my $quiet = "log_statement = none\nwal_retrieve_retry_interval = 100ms\nautovacuum = off\nwal_keep_size = 256MB\n";
my $script = q{
COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;
SELECT snowflake_nextval();
SELECT snowflake_nextvals(50);
SELECT FROM pg_sleep(0.01);
};
my @files;    # what clients of the group of servers at hand were sent

sub value { my ($server, $sql) = @_; return $server->safe_psql($db, $sql); }
sub worker { return value($_[0], 'SELECT worker FROM snowflake_status'); }

sub load
{
	my ($server, $what) = @_;
	my $clients = start_clients($server, 2, $what // $script);
	push @files, @{ $clients->{files} };
	return $clients;
}

# Ids that arrive from now on.
sub ids_flow
{
	my ($clients) = @_;
	my $before = client_bytes($clients);
	# A line "connection" is no id.
	return wait_until('ids', sub { client_bytes($clients) > $before + 20_000 });
}

sub none_twice
{
	my ($what) = @_;
	my ($ids, $twice) = compare_ids(@files);
	cmp_ok($ids, '>', 10_000, "ids of $what: $ids");
	is($twice, 0, '... none of them twice');
	figures('%d ids of %s, %d duplicates', $ids, $what, $twice);
	@files = ();
	return;
}

# Makes a standby of the new primary out of the old one, which has been stopped.
sub rewind
{
	my ($old, $new) = @_;
	# What was written since a promotion is compared with the source's checkpoint.
	value($new, 'CHECKPOINT');
	my $conf = slurp_file($old->data_dir . '/postgresql.conf');
	ok(run_log([ 'pg_rewind', '--no-sync', '--target-pgdata', $old->data_dir, '--source-server', $new->connstr($db) ]), 'pg_rewind of the old primary') or die "the old primary is no standby";
	# It has brought the other's settings along.
	unlink $old->data_dir . '/postgresql.conf';
	append_to_file($old->data_dir . '/postgresql.conf', $conf);
	$old->append_conf('postgresql.conf', sprintf("primary_conninfo = '%s'", $new->connstr));
	$old->set_standby_mode;
	$old->start;
	return wait_until('the rewound server to stream', sub { value($new, q{SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'}) > 0 });
}

subtest 'the registry in the same database: failover, pg_rewind, and back' => sub {
	my $first = new_server('first', streaming => 1, conf => $quiet . "wal_log_hints = on\n");
	start_server($first);
	value($first, 'CREATE EXTENSION snowflake; CREATE TABLE kept (id bigint PRIMARY KEY DEFAULT snowflake_nextval())');
	my $second = standby_of($first, 'second');
	my $on_first = load($first, $script . 'INSERT INTO kept SELECT FROM generate_series(1, 10) RETURNING id;');
	ok(ids_flow($on_first), 'the primary issues');

	# Both at once, as when nobody has fenced off the old primary yet.
	$second->promote;
	my $on_second = load($second, $script . 'INSERT INTO kept SELECT FROM generate_series(1, 10) RETURNING id;');
	ok(ids_flow($on_second), 'the promoted standby issues');
	ok(ids_flow($on_first), '... while the old primary still does');
	# Leases of the old primary that the new one never hears of.
	value($first, q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'});
	ok(ids_flow($on_first), '... and draws another worker id');
	stop_clients($on_first);
	my $lost = worker($first);
	isnt($lost, worker($second), "... $lost, which the promoted one has not");
	$first->stop('fast');

	ok(rewind($first, $second), 'the old primary follows the promoted one');
	is((query_error($first, $db, 'SELECT snowflake_nextval()'))[0], '25006', '... and issues nothing as its standby');
	ok(ids_flow($on_second), '... which goes on');
	stop_clients($on_second);
	$second->wait_for_catchup($first, 'replay', $second->lsn('flush'));
	is(value($first, "SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM kept"), value($second, "SELECT md5(string_agg(id::text, ' ' ORDER BY id)) FROM kept"),
		'... with the same rows');
	$second->stop('immediate');
	$first->promote;
	$on_first = load($first);
	ok(ids_flow($on_first), 'promoted again, it issues');
	stop_clients($on_first);
	is(value($first, 'SELECT timeline FROM snowflake_origin'), '3', '... as a registry on its third timeline');
	none_twice('a primary, its promoted standby and the rewound primary');
	$first->stop('fast');
};

my $registry = new_server('registry', preload => 0, conf => $quiet);
start_server($registry);
value($registry, 'CREATE EXTENSION snowflake');
my $conninfo = sprintf 'host=%s port=%s dbname=postgres', $registry->host, $registry->port;

subtest 'a registry elsewhere: all copies issue at once' => sub {
	my $primary = new_server('primary', streaming => 1, conf => $quiet . "wal_log_hints = on\nsnowflake.registry = '$conninfo'\n");
	start_server($primary);
	value($primary, 'CREATE EXTENSION snowflake');
	my %loads = (primary => load($primary));
	ok(ids_flow($loads{primary}), 'the primary issues');

	# Copied while it issues.
	my $standby = standby_of($primary, 'standby');
	my $cascaded = standby_of($standby, 'cascaded');
	$primary->backup('beside');
	my $copy = new_server('copy', from => [ $primary, 'beside' ]);
	start_server($copy);
	my @servers = ($primary, $standby, $cascaded, $copy);
	$loads{ $_->name } = load($_) for $standby, $cascaded, $copy;
	ok(ids_flow($loads{ $_->name }), $_->name . ' issues') for @servers;
	is(value($_, 'SELECT pg_is_in_recovery()'), 't', '... ' . $_->name . ' in recovery') for $standby, $cascaded;
	my %workers = map { worker($_) => 1 } @servers;
	is(scalar(keys %workers), 4, '... each with a worker id of its own: ' . join(' ', sort keys %workers));

	my $before = worker($standby);
	$standby->promote;
	ok(ids_flow($loads{standby}), 'the promoted standby goes on');
	is(worker($standby), $before, '... under the worker id that it has');
	ok(wait_until('the cascaded one', sub { value($cascaded, q{SELECT count(*) FROM pg_stat_wal_receiver WHERE received_tli = 2}) eq '1' }), 'the cascading standby follows it');
	ok(ids_flow($loads{$_}), "... and $_ issues") for qw(cascaded primary);
	stop_clients($loads{primary});
	$primary->stop('fast');
	ok(rewind($primary, $standby), 'the old primary follows the promoted one');
	$loads{primary} = load($primary);
	ok(ids_flow($loads{$_}), "... and $_ issues") for qw(primary standby cascaded copy);
	is(value($primary, 'SELECT pg_is_in_recovery()'), 't', '... the old primary in recovery');
	%workers = map { worker($_) => 1 } @servers;
	is(scalar(keys %workers), 4, '... again each with a worker id of its own');
	stop_clients($_) for values %loads;
	none_twice('a primary, two standbys in a row, a copy and the rewound primary, all at once');
	$_->stop('fast') for $primary, $cascaded, $standby, $copy;
	is(value($registry, 'SELECT count(*) FROM snowflake_registry'), '0', 'every lease is back');
};

subtest 'logical replication in both directions into one table' => sub {
	my @names = qw(east west);
	my %nodes;
	for my $name (@names)
	{
		$nodes{$name} = new_server($name, conf => $quiet . "wal_level = logical\nmax_wal_senders = 8\nmax_replication_slots = 8\nsnowflake.registry = '$conninfo'\n");
		start_server($nodes{$name});
		value($nodes{$name}, qq{
			CREATE EXTENSION snowflake;
			CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), node text NOT NULL DEFAULT '$name', n int);
			INSERT INTO orders (n) SELECT generate_series(1, 1000)});
	}
	# From 16 on a subscription can leave out what its publisher has got from elsewhere. Before, each node publishes the rows
	# that it has made itself: no row goes back to where it came from, but a node may only change rows of its own.
	my $has_origin = $nodes{east}->pg_version >= 16;
	diag('on PostgreSQL 15 each direction has a row filter, because "origin = none" came with 16') unless $has_origin;
	for my $name (@names)
	{
		my $filter = $has_origin ? '' : "WHERE (node = '$name')";
		value($nodes{$name}, 'ALTER TABLE orders REPLICA IDENTITY FULL') unless $has_origin;
		value($nodes{$name}, "CREATE PUBLICATION $name FOR TABLE orders $filter");
	}
	# The rows that were there go over before there is a subscription: copied by one, they would come back by the other, for
	# a copy has no origin. The filter keeps them apart by itself.
	my @pairs = ([ 'east', 'west' ], [ 'west', 'east' ]);
	for my $pair ($has_origin ? @pairs : ())
	{
		my ($to, $from) = @$pair;
		value($nodes{$to}, sprintf(q{INSERT INTO orders SELECT * FROM jsonb_to_recordset($$%s$$) AS r(id bigint, node text, n int)},
			value($nodes{$from}, "SELECT jsonb_agg(to_jsonb(o)) FROM orders o WHERE node = '$from'")));
	}
	for my $pair (@pairs)
	{
		my ($to, $from) = @$pair;
		my $options = $has_origin ? 'WITH (origin = none, copy_data = false)' : '';
		value($nodes{$to}, sprintf("CREATE SUBSCRIPTION from_$from CONNECTION 'host=%s port=%s dbname=$db' PUBLICATION $from $options", $nodes{$from}->host, $nodes{$from}->port));
	}
	my %loads = map { $_ => load($nodes{$_}, q{
		INSERT INTO orders (n) SELECT generate_series(1, 200) RETURNING id;
		INSERT INTO orders (n) VALUES (0) RETURNING id;
		BEGIN; INSERT INTO orders (n) SELECT generate_series(1, 10); ROLLBACK;
		UPDATE orders SET n = n + 1 WHERE id = (SELECT max(id) FROM orders WHERE node = current_setting('cluster_name'));
		SELECT FROM pg_sleep(0.005);}) } @names;
	for my $name (@names)
	{
		ok(ids_flow($loads{$name}), "$name writes");
		my ($other) = grep { $_ ne $name } @names;
		ok(wait_until("rows of $other", sub { value($nodes{$name}, "SELECT count(*) > 1500 FROM orders WHERE node = '$other'") eq 't' }), "... and gets what $other writes");
	}
	# Each later version has more of these counters, some under other names.
	my $errors = q{SELECT count(*) >= 2, sum(counter.value::bigint)
		FROM pg_stat_subscription_stats s, jsonb_each_text(to_jsonb(s)) counter WHERE counter.key ~ '_error_count$|^confl_'};
	is(value($nodes{$_}, $errors), 't|0', "no conflict at $_") for @names;
	# A node that crashes draws another worker id while the other writes on.
	my $before = worker($nodes{west});
	$nodes{west}->stop('immediate');
	start_server($nodes{west});
	ok(ids_flow($loads{$_}), "$_ writes, after a crash of west") for @names;
	isnt(worker($nodes{west}), $before, '... under another worker id');
	stop_clients($_) for values %loads;

	my $digest = q{SELECT count(*) || ' ' || md5(string_agg(id || node || n, ' ' ORDER BY id)) FROM orders};
	my %digest;
	ok(wait_until('both to have the same rows', sub {
		%digest = map { $_ => value($nodes{$_}, $digest) } @names;
		return $digest{east} eq $digest{west};
	}), 'both have the same rows') or diag(explain(\%digest));
	for my $name (@names)
	{
		my @ids = map { slurp_file($_) =~ /^(\d+)$/mg } @{ $loads{$name}{files} };
		my ($other) = grep { $_ ne $name } @names;
		append_to_file("$loads{$name}{folder}/all", join("\n", @ids, ''));
		is(value($nodes{$other}, "CREATE TEMP TABLE said (id bigint); COPY said FROM '$loads{$name}{folder}/all'; "
			. "SELECT count(*) FROM said LEFT JOIN orders USING (id) WHERE node IS DISTINCT FROM '$name'"), '0', scalar(@ids) . " ids that reached clients of $name are rows at $other");
		# The crash cut the connection, and the next worker may find the one before still leaving.
		my @conflicts = grep { /(ERROR|conflict)/ && !/could not (receive data|connect)|server closed the connection|origin with ID \d+ is already active/ } split /\n/, slurp_file($nodes{$name}->logfile);
		is("@conflicts", '', "... and $name has had no conflict to the end");
	}
	if ($has_origin)
	{
		value($nodes{east}, "UPDATE orders SET n = -1 WHERE id = (SELECT min(id) FROM orders WHERE node = 'west')");
		ok(wait_until('the change', sub { value($nodes{west}, 'SELECT count(*) FROM orders WHERE n = -1') eq '1' }), "a change of the other's row arrives");
	}
	none_twice('two nodes that write into one table');
	for my $name (@names)
	{
		my ($other) = grep { $_ ne $name } @names;
		value($nodes{$name}, "ALTER SUBSCRIPTION from_$other DISABLE");
	}
	$_->stop('fast') for values %nodes;
};

$registry->stop('fast');
done_testing();
