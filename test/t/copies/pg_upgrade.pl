# pg_upgrade takes everything to the new server as it was: layout, leases of other nodes and watermarks, so that G1 holds
# across it; what it carries is a registry, and no lease of the new server (section 4 of the design). The new server is
# another system, as after a failover: its registry settles. A dump carries the layout alone, also to another version.
#
# "old" is upgraded twice: a copy becomes "copied", while old itself runs on, and at the end it becomes "linked". Old is
# SNOWFLAKE_OLD_PG_CONFIG's server. A fourth server, of the version under test, has nodes that draw from registries on these.

use strict;
use warnings;

use lib 'test/perl';
use File::Basename;
use JSON::PP;
use PostgreSQL::Test::Utils;
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;

die "SNOWFLAKE_OLD_PG_CONFIG is not set\n" unless $ENV{SNOWFLAKE_OLD_PG_CONFIG};
chomp(my $old_bin = qx($ENV{SNOWFLAKE_OLD_PG_CONFIG} --bindir));
chomp(my $new_bin = qx(pg_config --bindir));
my ($old_version, $new_version) = map { my ($version) = qx($_/postgres --version) =~ /(\d[\d.a-z]*)/; $version } $old_bin, $new_bin;
my $folder = PostgreSQL::Test::Utils::tempdir();

my $workers = "max_worker_processes = 30\n";
# Whether pages have checksums must not differ, and initdb's own answer does.
my @initdb = ('--data-checksums', '--locale=C', '--encoding=UTF8');
my $old = new_server('old', home => dirname($old_bin), initdb => \@initdb, preload => 1, conf => $workers);
my ($copied, $linked) = map { new_server($_, initdb => \@initdb, preload => $_ eq 'copied', conf => $workers) } 'copied', 'linked';
my $nodes = new_server('nodes', conf => $workers);
start_server($_) for $old, $nodes;
my $default_version = $old->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'snowflake'});

sub sql { my ($server, $dbname, @statements) = @_; return $server->safe_psql($dbname, join(";\n", @statements)); }

# Every id that was given, by the registry that it is unique under.
my %issued;

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

# ---------------------------------------------------------------------------------------------------------------------
# What is upgraded
# ---------------------------------------------------------------------------------------------------------------------

# Databases of the old server: schema, layout, and whether the node lived on after the crash.
my %database = (
	shop => { schema => 'public' },
	named => { schema => 'ids', layout => q{'twitter'}, row => '(1288834974657,1000,41,5,5,12,f)',
		setting => 'snowflake.datacenter = 3' },
	other => { schema => '"Other ids"', layout => q{'2024-01-01 00:00+00', '10 ms', 39, 3, 8, 10, true}, clean => 1,
		row => '(1704067200000,10000,39,3,8,10,t)' },
	first => { schema => 'ids', version => '1.0' },
	second => { schema => 'ids', version => '1.1' },
	crashed => { schema => 'public', crashed => 1 },
	silent => { schema => 'ids', silent => 1, row => '' },
	# Their nodes are on another server; "fleet" issues ids of its own as well.
	fleet => { schema => 'public' },
	far => { schema => 'public', clean => 1 },
	# Its own registry is on another server.
	branch => { schema => 'public', remote => 1 });
my $default_row = '(1735689600000,1000,41,0,10,12,f)';

sub make
{
	my ($dbname) = @_;
	my $d = $database{$dbname};
	sql($old, 'postgres', "CREATE DATABASE $dbname");
	sql($old, 'postgres', "ALTER DATABASE $dbname SET $d->{setting}") if $d->{setting};
	sql($old, $dbname, "CREATE SCHEMA IF NOT EXISTS $d->{schema}",
		"CREATE EXTENSION snowflake SCHEMA $d->{schema}" . ($d->{version} ? " VERSION '$d->{version}'" : ''),
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

sql($nodes, 'postgres', 'CREATE DATABASE central');
sql($nodes, 'central', 'CREATE EXTENSION snowflake');
$database{branch}{setting} = q{snowflake.registry = '} . place('central', $nodes) . q{'};
make($_) for grep { !$database{$_}{clean} } sort keys %database;

sql($old, 'shop', 'CREATE ROLE writer LOGIN', q{ALTER ROLE writer SET snowflake.start_timeout = '7s'},
	q{ALTER DATABASE shop SET snowflake.lease_duration = '20min'},
	'REVOKE EXECUTE ON FUNCTION snowflake_nextval() FROM PUBLIC', 'GRANT EXECUTE ON FUNCTION snowflake_nextval() TO writer',
	q{CREATE TABLE event (id bigint DEFAULT snowflake_nextval(),
		at timestamptz GENERATED ALWAYS AS (snowflake_timestamp(id, 'snowflake')) STORED, n int) PARTITION BY RANGE (id)},
	q{CREATE TABLE event_past PARTITION OF event FOR VALUES FROM (MINVALUE) TO (snowflake_id_at('2026-01-01 00:00+00', 'snowflake'))},
	q{CREATE TABLE event_now PARTITION OF event FOR VALUES FROM (snowflake_id_at('2026-01-01 00:00+00', 'snowflake')) TO (MAXVALUE)},
	q{CREATE INDEX event_at ON event (snowflake_timestamp(id, 'snowflake'))}, 'GRANT SELECT, INSERT ON event TO writer',
	# What asks for ids whenever somebody changes the schema.
	'CREATE TABLE change (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), tag text)',
	q{CREATE FUNCTION log_change() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.change (tag) VALUES (tg_tag); END'},
	'CREATE EVENT TRIGGER log_change ON ddl_command_end EXECUTE FUNCTION log_change()');

sub insert_events
{
	my ($server) = @_;
	my $ids = sql($server, 'shop', q{SET ROLE writer}, 'INSERT INTO event (n) SELECT generate_series(1, 200) RETURNING id');
	return split /\n/, $ids;
}

# All nodes die with their leases, and all but one go on.
issue($old, $_, $_) for grep { !$database{$_}{silent} && !$database{$_}{clean} } sort keys %database;
my $crashed_worker = sql($old, 'crashed', 'SELECT worker FROM snowflake_status');
kill_server($old, children => 1);
start_server($old);
make($_) for grep { $database{$_}{clean} } sort keys %database;
issue($old, $_, $_) for grep { !$database{$_}{silent} && !$database{$_}{crashed} } sort keys %database;
push @{ $issued{shop} }, insert_events($old);
sql($old, 'shop', 'CREATE TABLE changes_are_logged ()');

# One node whose lease outlives the upgrade, and one whose lease does not.
sub make_node
{
	my ($name, $duration, $registry) = @_;
	sql($nodes, 'postgres', "CREATE DATABASE $name", "ALTER DATABASE $name SET snowflake.registry = '$registry'",
		"ALTER DATABASE $name SET snowflake.lease_duration = '$duration'", "ALTER DATABASE $name SET snowflake.node_name = '$name'");
	sql($nodes, $name, 'CREATE EXTENSION snowflake');
	return;
}
my $script = "COPY (SELECT snowflake_nextval() FROM generate_series(1, 300)) TO STDOUT;\nSELECT pg_sleep(0.2);\n" x 5;
make_node('steady', '60s', place('fleet', $copied, $old));
make_node('hasty', '2s', place('fleet', $copied, $old));
make_node('distant', '60s', place('far', $linked, $old));
my %clients = map { $_ => start_clients($nodes, 1, $script, dbname => $_) } 'steady', 'hasty', 'distant';

sub flows
{
	my ($name) = @_;
	my $before = client_bytes($clients{$name});
	return ok(wait_until("$name to issue", sub { client_bytes($clients{$name}) > $before + 5_000 }), "ids flow: $_[1]");
}
flows($_, "$_, under a registry on the old server") for sort keys %clients;

# What is not to change, each as text.
sub state_of
{
	my ($server, $dbname) = @_;
	my $d = $database{$dbname};
	my %part = (
		ring => "SELECT t FROM (SELECT last_value, is_called FROM $d->{schema}.snowflake_registry_lease_id_seq) t",
		rows => q{SELECT count(*) || ' ' || md5(string_agg(t::text, ' ' ORDER BY id)) FROM public.item t},
		decoded => "SELECT md5(string_agg($d->{schema}.snowflake_decode(id)::text, ' ' ORDER BY id)) FROM public.item",
		settings => 'SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase WHERE datname = current_database()',
		layout => "SELECT (epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first)"
		  . " FROM $d->{schema}.snowflake_layout",
		map { $_ => "SELECT t FROM $d->{schema}.snowflake_$_ t" } 'registry', 'watermark', 'origin');
	my $json = sql($server, $dbname, 'SELECT jsonb_build_object('
		  . join(', ', map { "'$_', (SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') FROM ($part{$_}) p (t))" } sort keys %part) . ')');
	return decode_json($json);
}

# A server that was stopped as pg_upgrade demands, as it is then.
sub stopped_state
{
	my ($server) = @_;
	$server->stop('fast');
	start_server($server);
	my %state = map { $_ => state_of($server, $_) } grep { $_ ne 'fleet' && $_ ne 'far' } sort keys %database;
	$server->stop('fast');
	return \%state;
}

# ---------------------------------------------------------------------------------------------------------------------
# pg_upgrade
# ---------------------------------------------------------------------------------------------------------------------

my $refused = 0;

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
	# These servers are where the nodes look for their registry.
	$refused += () = $said =~ /ERROR:  cannot execute snowflake_\w+\(\) while pg_upgrade runs/g;
	return now_ms() - $started;
}

# An upgraded database: as it was, until it issues ids under a lease of its own.
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
			  . q{ WHERE extname = 'snowflake'}), 't|' . ($d->{version} // $default_version), "$name: no lease is its own, and the version is what it was");

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

my $before = stopped_state($old);
like($before->{crashed}{registry}, qr/^\(\d+,$crashed_worker,/, 'a crashed node leaves a live lease to the upgrade');
is($before->{other}{registry}, '', '... and one that ended in order leaves none');
isnt($before->{other}{watermark}, '', '... but its watermark');
is(scalar(grep { $before->{silent}{$_} ne '' } 'registry', 'watermark', 'layout'), 0,
	'who never issued leaves nothing');

my $check_ms = pg_upgrade($copied, '--check');
my $copy_ms = pg_upgrade($copied);

### The old server runs on: what it hands out now the new one does not know

start_server($old);
is_deeply(state_of($old, $_), $before->{$_}, "$_: pg_upgrade left the old server as it was") for sort keys %$before;
make_node('late', '60s', place('fleet', $copied, $old));
$clients{late} = start_clients($nodes, 1, $script, dbname => 'late');
flows('late', 'a node drew from the old server after the upgrade');
flows($_, "$_, under the old server again") for 'steady', 'hasty', 'distant';
take('fleet', $old, 'fleet', 'public', 300);
$old->stop('fast');

### The copy

my $leases = sql($nodes, 'steady', 'SELECT lease_id FROM snowflake_status');
start_server($copied);
check_upgraded($copied, $_, $before->{$_}, 'copied') for sort keys %$before;
check_shop($copied, 'copied');
is(sql($copied, 'shop', 'SHOW snowflake.lease_duration'), '20min', "a database's setting");
is($copied->safe_psql('shop', 'SHOW snowflake.start_timeout', extra_params => [ '-U', 'writer' ]), '7s', "a role's setting");
note_ids('shop', $copied->safe_psql('shop', 'INSERT INTO event (n) VALUES (1) RETURNING id', extra_params => [ '-U', 'writer' ]));
sql($copied, 'shop', 'ANALYZE', 'CREATE TABLE changes_are_logged_again ()');
is(sql($copied, 'named', "SELECT DISTINCT (ids.snowflake_decode(id)).worker / 32 FROM item"), '3', "ids of the database's datacenter");

sql($copied, 'postgres', 'CREATE DATABASE fresh');
sql($copied, 'fresh', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids');
my $fresh = object_facts($copied, 'fresh');
is(difference([ grep { !/ public\./ } @{ object_facts($copied, $_) } ], $fresh), '', "$_: the objects are those of a new extension")
  for 'silent', 'named';
for my $dbname (grep { $database{$_}{version} } sort keys %database)
{
	sql($copied, $dbname, 'ALTER EXTENSION snowflake UPDATE');
	is(difference([ grep { !/ public\./ } @{ object_facts($copied, $dbname) } ], $fresh), '', "$dbname: ... after an update from $database{$dbname}{version}");
}

flows($_, "$_, under the registry on the new server") for 'steady', 'hasty', 'late';
my @fleet = take('fleet', $copied, 'fleet', 'public', 300);
is(sql($nodes, 'steady', 'SELECT lease_id FROM snowflake_status'), $leases, 'a lease outlived the upgrade');
is(sql($nodes, 'late', "SELECT last_error IS NULL AND worker <> $_ FROM snowflake_status"), 't', "another node has another worker id than $_")
  for sql($nodes, 'steady', 'SELECT worker FROM snowflake_status'), sql($nodes, 'hasty', 'SELECT worker FROM snowflake_status'),
  sql($copied, 'fleet', 'SELECT worker FROM snowflake_status');

### Both at once: two nodes of one registry elsewhere; two registries for themselves, of which the new one settles

start_server($old);
my (%old_shop, $met);
for my $round (1 .. 10)
{
	take('branch', $_, 'branch', 'public', 500) for $old, $copied;
	$old_shop{$_} = 1 for take('shop', $old, 'shop', 'public', 100);
	take('shop', $copied, 'shop', 'public', 100);
}
is(duplicates('branch'), 0, 'the old server and the new one issue at once under one registry: no id of ' . @{ $issued{branch} } . ' twice');
is(duplicates('shop'), 0, 'under a registry each, while the new one settles: none of ' . @{ $issued{shop} });
isnt(sql($old, 'branch', 'SELECT worker FROM snowflake_status'), sql($copied, 'branch', 'SELECT worker FROM snowflake_status'), 'they have a worker id each');

# ---------------------------------------------------------------------------------------------------------------------
# A dump by the new version's pg_dump, into the new server
# ---------------------------------------------------------------------------------------------------------------------

sub check_restored
{
	my ($source, $target, $name) = @_;
	my $d = $database{$source};
	local $database{$target} = $d;
	my ($was, $is) = (state_of($old, $source), state_of($copied, $target));
	is($is->{$_}, $was->{$_}, "$name: $_ as in the source") for 'rows', 'decoded', 'layout';
	is($is->{$_}, '', "$name: no $_") for 'registry', 'watermark';
	is(sql($copied, $target, 'SELECT o.system_identifier = c.system_identifier, settles_until IS NULL'
			  . " FROM $d->{schema}.snowflake_origin o, pg_control_system() c"), 't|t', "$name: a registry of this server");
	my ($last) = sort { $b <=> $a } @{ $issued{$source} // [0] };
	local $issued{$target} = [ split /\n/, sql($old, $source, 'SELECT id FROM public.item') ];
	my @new = issue($copied, $target, $target);
	is(scalar(grep { $_ <= $last } @new), 0, "$name: new ids are above all that were issued");
	is(duplicates($target), 0, "$name: none of " . @{ $issued{$target} } . ' twice');
	is(sql($copied, $target, "SELECT count(*) FROM $d->{schema}.snowflake_registry JOIN $d->{schema}.snowflake_status USING (lease_id)"), '1',
		"$name: under a lease of its own");
	return;
}

my %format = (shop => 'custom', named => 'plain', other => 'custom', crashed => 'plain', silent => 'custom', first => 'plain', second => 'custom');
for my $source (sort keys %format)
{
	my $format = $format{$source};
	my ($file, $target) = ("$folder/$source.$format", "restored_$source");
	sql($copied, 'postgres', "CREATE DATABASE $target");
	$copied->command_ok([ "$new_bin/pg_dump", '--no-sync', "--format=$format", '-f', $file, '-d', $old->connstr($source) ],
		"pg_dump of $source, $format");
	$copied->command_ok($format eq 'plain' ? [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', $file, $target ]
		: [ 'pg_restore', '--exit-on-error', '-d', $target, $file ], '... and restored');
	check_restored($source, $target, "$format dump of $source");
}
check_shop($copied, 'restored shop', 'restored_shop');

# ---------------------------------------------------------------------------------------------------------------------
# The old server's own files
# ---------------------------------------------------------------------------------------------------------------------

flows('distant', 'distant, under the old server');
my $distant = sql($nodes, 'distant', 'SELECT lease_id FROM snowflake_status');
$before = stopped_state($old);
my $link_ms = pg_upgrade($linked, '--link');
$linked->append_conf('postgresql.conf', q{shared_preload_libraries = 'snowflake'}) unless ($ENV{SNOWFLAKE_PRELOAD} // 1) eq '0';
start_server($linked);
flows('distant', 'distant, under the new server');
is(sql($nodes, 'distant', 'SELECT lease_id FROM snowflake_status'), $distant, 'a lease outlived an upgrade by links');
$issued{$_} = [ split /\n/, sql($linked, $_, 'SELECT id FROM public.item') ] for keys %$before;
check_upgraded($linked, $_, $before->{$_}, 'linked') for sort keys %$before;
check_shop($linked, 'linked');

### While pg_upgrade has a server for itself, nothing issues ids

$linked->stop('fast');
$linked->command_ok([ 'pg_ctl', '-w', '-D', $linked->data_dir, '-l', $linked->logfile, '-o', '-b', 'start' ], 'a server in binary upgrade mode');
for my $statement ('SELECT snowflake_nextval()', 'INSERT INTO item (n) VALUES (1)', q{COMMENT ON TABLE item IS 'changed'})
{
	my ($state, $text) = query_error($linked, 'shop', $statement);
	is($state, 'SF001', "$statement: refused");
	like($text, qr/cannot issue ids while pg_upgrade runs/, '... with the reason');
}
for my $call (q{acquire('x', 0, 1, '1 min')}, q{extend(1, gen_random_uuid(), 1, '1 min')}, 'release(1, gen_random_uuid(), 1)')
{
	my ($state, $text) = query_error($linked, 'shop', "SET snowflake.max_clock_skew = 0; SELECT snowflake_$call");
	like("$state $text", qr/^55000 .*cannot execute snowflake_\w+\(\) while pg_upgrade runs/s, "snowflake_$call: refused");
}
is(sql($linked, 'shop', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '0', 'no keeper was started');
is(sql($linked, 'shop', 'SELECT count(*) FROM item WHERE snowflake_timestamp(id) > now()'), '0', 'ids are read');
$linked->command_ok([ 'pg_ctl', '-w', '-D', $linked->data_dir, '-m', 'fast', 'stop' ], 'it stops');

stop_clients($_) for values %clients;
append_to_file("$folder/fleet", join("\n", @{ $issued{fleet} }, ''));
my ($ids, $twice) = compare_ids("$folder/fleet", map { @{ $clients{$_}{files} } } 'steady', 'hasty', 'late');
is($twice, 0, "none of $ids ids under the registry that was upgraded was given twice");
my ($far_ids, $far_twice) = compare_ids(@{ $clients{distant}{files} });
is($far_twice, 0, "... nor of $far_ids");
figures('%s to %s: %d databases; pg_upgrade --check %.1f s, by copying %.1f s, by links %.1f s, %d calls of nodes refused meanwhile; %d ids under upgraded registries, %d duplicates',
	$old_version, $new_version, scalar(keys %database), $check_ms / 1e3, $copy_ms / 1e3, $link_ms / 1e3, $refused, $ids + $far_ids, $twice + $far_twice);

unlike(slurp_file($_->logfile), qr/terminated by signal|PANIC|TRAP/, $_->name . ': nothing crashed') for $copied, $linked, $nodes;
$_->stop('fast') for $copied, $nodes;
done_testing();
