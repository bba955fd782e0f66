# What the tests of pg_upgrade share: an old server with databases of many kinds, in which nodes
# have issued ids and died; pg_upgrade itself; what it must not change; and nodes on a third server
# that acquire leases from registries on these servers. SNOWFLAKE_OLD_PG_CONFIG names the old
# server.
package PgUpgrade;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use JSON::PP;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

our @EXPORT = qw($old $nodes $new_bin $versions $folder %database %issued upgrade_target sql note_ids take duplicates place make_databases issue
  insert_events state_of stopped_state pg_upgrade refused_calls check_upgraded check_shop start_nodes make_node flows %clients);

die "SNOWFLAKE_OLD_PG_CONFIG is not set\n" unless $ENV{SNOWFLAKE_OLD_PG_CONFIG};
chomp(my $old_bin = qx($ENV{SNOWFLAKE_OLD_PG_CONFIG} --bindir));
chomp(our $new_bin = qx(pg_config --bindir));
my ($old_version, $new_version) = map { my ($version) = qx($_/postgres --version) =~ /(\d[\d.a-z]*)/; $version } $old_bin, $new_bin;
our $versions = "$old_version to $new_version";

my $workers = "max_worker_processes = 30\n";
# Both servers must agree on checksums, and initdb's default differs between versions.
my @initdb = ('--data-checksums', '--locale=C', '--encoding=UTF8');
our ($old, $nodes, $folder, %clients);
my $default_version;

# Options: name, and as for new_server.
sub start_old
{
	my (%options) = @_;
	$folder = PostgreSQL::Test::Utils::tempdir();
	$old = new_server($options{name} // 'old', home => dirname($old_bin), initdb => \@initdb, preload => 1, patient => 1, late => 1, conf => $workers, %options);
	start_server($old);
	$default_version = $old->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'snowflake'});
	return;
}

# A server of the version under test, to which the old server can be upgraded. Options: as for
# new_server.
sub upgrade_target
{
	my ($name, %options) = @_;
	return new_server($name, initdb => \@initdb, patient => 1, late => 1, conf => $workers, %options);
}

sub sql { my ($server, $dbname, @statements) = @_; return $server->safe_psql($dbname, join(";\n", @statements)); }

# All issued ids, for each registry under which they are unique.
our %issued;

sub note_ids { my ($group, $ids) = @_; push @{ $issued{$group} }, split /\n/, $ids; return; }

sub take
{
	my ($group, $server, $dbname, $schema, $count) = @_;
	note_ids($group, my $ids = sql($server, $dbname, "SELECT $schema.snowflake_nextvals($count)"));
	return split /\n/, $ids;
}

sub duplicates { my (%count, $twice); $twice += $count{$_}++ ? 1 : 0 for @{ $issued{ $_[0] } }; return $twice; }

# A registry on the first of these servers that runs.
sub place
{
	my ($dbname, @servers) = @_;
	return 'host=' . join(',', map { $_->host } @servers) . ' port=' . join(',', map { $_->port } @servers) . " dbname=$dbname";
}

# --------------------------------------------------------------------------------------------------
# What is upgraded
# --------------------------------------------------------------------------------------------------

# Databases of the old server: schema, layout, and whether the node continued after the crash.
our %database = (
	shop => { schema => 'public' },
	named => { schema => 'ids', layout => q{'twitter'}, row => 'epoch=1288834974657 tick=1ms time=41 datacenter=5 worker=5 seq=12',
		setting => 'snowflake.datacenter = 3' },
	other => { schema => '"Other ids"', layout => q{'epoch=2024-01-01 tick=10ms time=39 seq=10 datacenter=3 worker=8'}, clean => 1,
		row => 'epoch=1704067200000 tick=10ms time=39 seq=10 datacenter=3 worker=8' },
	crashed => { schema => 'public', crashed => 1 },
	silent => { schema => 'ids', silent => 1, row => '' },
	# Its nodes are on another server; it also issues its own ids.
	fleet => { schema => 'public' },
	# Its own registry is on another server.
	branch => { schema => 'public', remote => 1 });
my $default_row = 'epoch=1735689600000 tick=1ms time=41 worker=10 seq=12';

sub make
{
	my ($dbname) = @_;
	my $d = $database{$dbname};
	sql($old, 'postgres', "CREATE DATABASE $dbname");
	sql($old, 'postgres', "ALTER DATABASE $dbname SET $d->{setting}") if $d->{setting};
	sql($old, $dbname, "CREATE SCHEMA IF NOT EXISTS $d->{schema}",
		"CREATE EXTENSION snowflake SCHEMA $d->{schema}",
		$d->{layout} ? "SELECT $d->{schema}.snowflake_set_layout($d->{layout})" : (),
		"CREATE TABLE public.item (id bigint PRIMARY KEY DEFAULT $d->{schema}.snowflake_nextval(), n int)");
	return;
}

# Rows, from their columns' defaults, and ids.
sub issue
{
	my ($server, $dbname, $group) = @_;
	my $d = $database{$dbname};
	note_ids($group, sql($server, $dbname, 'INSERT INTO public.item (n) SELECT generate_series(1, 300) RETURNING id'));
	return take($group, $server, $dbname, $d->{schema}, 300);
}

# Partitions, generated columns, an index on the ids' parts, privileges, settings, and an event
# trigger that requests ids at each change of the schema.
sub make_shop
{
	sql($old, 'shop', 'CREATE ROLE writer LOGIN', q{ALTER ROLE writer SET snowflake.start_timeout = '7s'},
		q{ALTER DATABASE shop SET snowflake.lease_duration = '20min'},
		'REVOKE EXECUTE ON FUNCTION snowflake_nextval() FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION snowflake_nextval() TO writer',
		q{CREATE TABLE event (id bigint DEFAULT snowflake_nextval(),
			at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'snowflake')) STORED, n int) PARTITION BY RANGE (id)},
		q{CREATE TABLE event_past PARTITION OF event FOR VALUES FROM (MINVALUE) TO (snowflake_id_at('2026-01-01 00:00+00', 'snowflake'))},
		q{CREATE TABLE event_now PARTITION OF event FOR VALUES FROM (snowflake_id_at('2026-01-01 00:00+00', 'snowflake')) TO (MAXVALUE)},
		q{CREATE INDEX event_at ON event (snowflake_timestamp(id, 'snowflake'))}, 'GRANT SELECT, INSERT ON event TO writer',
		'CREATE TABLE change (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), tag text)',
		q{CREATE FUNCTION log_change() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.change (tag) VALUES (tg_tag); END'},
		'CREATE EVENT TRIGGER log_change ON ddl_command_end EXECUTE FUNCTION log_change()');
	return;
}

sub insert_events
{
	my ($server) = @_;
	my $ids = sql($server, 'shop', q{SET ROLE writer}, 'INSERT INTO event (n) SELECT generate_series(1, 200) RETURNING id');
	return split /\n/, $ids;
}

# Makes these databases, and lets them issue ids: all nodes die with their leases, and all but one
# continue.
sub make_databases
{
	my (@names) = @_;
	my @living = grep { !$database{$_}{clean} } sort @names;
	make($_) for @living;
	my ($shop) = grep { $_ eq 'shop' } @names;
	make_shop() if $shop;
	issue($old, $_, $_) for grep { !$database{$_}{silent} } @living;
	kill_server($old, children => 1);
	start_server($old);
	make($_) for grep { $database{$_}{clean} } sort @names;
	issue($old, $_, $_) for grep { !$database{$_}{silent} && !$database{$_}{crashed} } sort @names;
	return unless $shop;
	push @{ $issued{shop} }, insert_events($old);
	sql($old, 'shop', 'CREATE TABLE changes_are_logged ()');
	return;
}

# What must not change, each as text.
sub state_of
{
	my ($server, $dbname) = @_;
	my $d = $database{$dbname};
	my %part = (
		ring => "SELECT t FROM (SELECT last_value, is_called FROM $d->{schema}.snowflake_registry_lease_id_seq) t",
		rows => q{SELECT count(*) || ' ' || md5(string_agg(t::text, ' ' ORDER BY id)) FROM public.item t},
		decoded => "SELECT md5(string_agg($d->{schema}.snowflake_decode(id)::text, ' ' ORDER BY id)) FROM public.item",
		settings => 'SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE datname = current_database()',
		layout => "SELECT definition FROM $d->{schema}.snowflake_layout",
		map { $_ => "SELECT t FROM $d->{schema}.snowflake_$_ t" } 'registry', 'watermark', 'origin');
	my $json = sql($server, $dbname, 'SELECT jsonb_build_object('
		  . join(', ', map { "'$_', (SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') FROM ($part{$_}) p (t))" } sort keys %part) . ')');
	return decode_json($json);
}

# Stops the old server, as pg_upgrade requires; returns the state of these databases.
sub stopped_state
{
	my (@names) = @_;
	$old->stop('fast');
	start_server($old);
	my %state = map { $_ => state_of($old, $_) } @names;
	$old->stop('fast');
	return \%state;
}

# --------------------------------------------------------------------------------------------------
# pg_upgrade
# --------------------------------------------------------------------------------------------------

my $refused = 0;

# How many calls of nodes were refused while pg_upgrade ran a server.
sub refused_calls { return $refused; }

# Upgrades the old server, which is stopped; returns how long that took.
sub pg_upgrade
{
	my ($to, @options) = @_;
	my $started = now_ms();
	chdir $folder or die "$folder: $!";
	$to->command_ok([ "$new_bin/pg_upgrade", '--no-sync', '--retain', '--jobs=2', '-b', $old_bin, '-B', $new_bin, '-d', $old->data_dir,
			'-D', $to->data_dir, '-p', $old->port, '-P', $to->port, '--socketdir', $to->host, @options ],
		"pg_upgrade @options from $old_version to $new_version");
	my @logs = split /\n/, qx(find ${\$to->data_dir}/pg_upgrade_output.d -name '*server*.log');
	cmp_ok(scalar(@logs), '>', 0, '... leaves what the servers said') unless "@options" =~ /check/;
	my $said = join('', map { slurp_file($_) } @logs);
	unlike($said, qr/snowflake keeper:/, '... and no keeper was at work');
	# The nodes look for their registry on these servers.
	$refused += () = $said =~ /ERROR:  cannot execute snowflake_\w+\(\) while pg_upgrade runs/g;
	return now_ms() - $started;
}

# Checks that an upgraded database is unchanged, until it issues ids under its own lease.
sub check_upgraded
{
	my ($server, $dbname, $before, $name) = @_;
	my $d = $database{$dbname};
	my $status = "$d->{schema}.snowflake_status";
	$name = "$name: $dbname";
	my $now = state_of($server, $dbname);
	is($now->{$_}, $before->{$_}, "$name: $_ as before") for sort keys %$now;
	is($now->{layout}, $d->{row} // $default_row, "$name: the layout");
	is(sql($server, $dbname, "SELECT lease_id IS NULL AND keeper_pid IS NULL AND state <> 'issuing', extversion FROM $status, pg_extension"
			  . q{ WHERE extname = 'snowflake'}), "t|$default_version", "$name: no lease is its own, and the version is what it was");

	my ($last) = sort { $b <=> $a } @{ $issued{$dbname} // [0] };
	my @new = (issue($server, $dbname, $dbname), $dbname eq 'shop' ? insert_events($server) : ());
	is(scalar(grep { $_ <= $last } @new), 0, "$name: " . @new . ' new ids are above all that were issued');
	is(duplicates($dbname), 0, "$name: none of " . @{ $issued{$dbname} } . ' twice');
	return if $d->{remote};

	my ($lease, $worker) = split /\|/, sql($server, $dbname, "SELECT lease_id, worker FROM $status");
	my @leases = map { [ /(\d+),(\d+)/ ] } $before->{registry} =~ /\(\d+,\d+,/g;
	is(scalar(grep { $_->[0] == $lease || $_->[1] == $worker } @leases), 0, "$name: under another lease than " . @leases . ' that came along');
	is(sql($server, $dbname, "SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') FROM $d->{schema}.snowflake_registry t"
			  . " WHERE lease_id <> $lease"), $before->{registry}, "$name: ... which stay");
	is(sql($server, $dbname, 'SELECT o.system_identifier = c.system_identifier, settles_until > now()'
			  . " FROM $d->{schema}.snowflake_origin o, pg_control_system() c"), 't|t',
		"$name: the registry knows that it is on another server, and settles");
	return;
}

sub check_shop
{
	my ($server, $name, $dbname) = @_;
	$dbname //= 'shop';
	is(sql($server, $dbname, "SELECT count(*), count(*) FILTER (WHERE at = snowflake_timestamp(id)) = count(*), "
			  . "count(DISTINCT tableoid) FROM event"), sql($server, $dbname, 'SELECT count(*) FROM event_now') . '|t|1', "$name: partitions, generated columns");
	my $recent = q{SELECT count(*) FROM event WHERE snowflake_timestamp(id, 'snowflake') > now() - interval '1 hour'};
	is(sql($server, $dbname, 'SET enable_seqscan = off', $recent), sql($server, $dbname, 'SET enable_indexscan = off', 'SET enable_bitmapscan = off', $recent),
		"$name: the index has what the table has");
	like(sql($server, $dbname, 'SET enable_seqscan = off', "EXPLAIN $recent"), qr/event_now_snowflake_timestamp/, "$name: ... and is used");
	is(sql($server, $dbname, q{SELECT proacl FROM pg_proc WHERE proname = 'snowflake_nextval'}) =~ s/[^{,=]+=X/o=X/r =~ s{/\w+}{}gr,
		'{o=X,writer=X}', "$name: rights");
	cmp_ok(sql($server, $dbname, q{SELECT count(*) FROM change WHERE tag = 'CREATE TABLE'}), '>', 0, "$name: what the event trigger wrote");
	return;
}

# --------------------------------------------------------------------------------------------------
# Nodes on another server
# --------------------------------------------------------------------------------------------------

# Starts this server, with a registry in the database central, which is branch's registry.
sub start_nodes
{
	$nodes = new_server('nodes', patient => 1, conf => $workers);
	start_server($nodes);
	sql($nodes, 'postgres', 'CREATE DATABASE central');
	sql($nodes, 'central', 'CREATE EXTENSION snowflake');
	$database{branch}{setting} = q{snowflake.registry = '} . place('central', $nodes) . q{'};
	return;
}

# A node under load that acquires its leases from this registry.
sub make_node
{
	my ($name, $duration, $registry) = @_;
	sql($nodes, 'postgres', "CREATE DATABASE $name", "ALTER DATABASE $name SET snowflake.registry = '$registry'",
		"ALTER DATABASE $name SET snowflake.lease_duration = '$duration'", "ALTER DATABASE $name SET snowflake.node_name = '$name'");
	sql($nodes, $name, 'CREATE EXTENSION snowflake');
	$clients{$name} = start_clients($nodes, 1,
		"COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;\nSELECT pg_sleep(0.2);\n" x 5, dbname => $name);
	return;
}

sub flows
{
	my ($name) = @_;
	my $before = client_bytes($clients{$name});
	return ok(wait_until("$name to issue", sub { client_bytes($clients{$name}) > $before + 5_000 }), "ids flow: $_[1]");
}

1;
