# Every version that was released, in use: its objects work with today's library (section 4 of the design: the protocol is
# spoken between versions), ALTER EXTENSION UPDATE takes them to the newest version while sessions issue (G1), and leaves
# what CREATE EXTENSION makes, object by object.
#
# Objects are compared by name: two ways to the same objects create them in different order.

use strict;
use warnings;

use lib 'test/perl';
use Digest::SHA;
use PostgreSQL::Test::Utils;
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;

my $server = new_server('upgrade', conf => "max_worker_processes = 40\nsnowflake.max_databases = 40\n"
	  . "snowflake.lease_duration = '3s'\n");
start_server($server);

sub sql { my ($dbname, @statements) = @_; return $server->safe_psql($dbname, join(";\n", @statements)); }

my $newest = sql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'snowflake'});
my @released = split /\n/, sql('postgres',
	qq{SELECT version FROM pg_available_extension_versions WHERE name = 'snowflake' AND version <> '$newest' ORDER BY version});

### The scripts that are there

# A released script never changes: those who installed it would be left with other objects than those who install it now. The
# first version has an install script, and each later one what makes it out of the one before.
my %digest_of = map { reverse split } grep { /^[^#]/ } split /\n/, slurp_file('test/released');
is(join(' ', glob 'sql/snowflake--*[0-9].sql') =~ s{sql/snowflake--\d+\.\d+--\S+}{}gr =~ s/^ +| +$//gr, "sql/snowflake--$released[0].sql",
	'one install script leads to every version');
for my $version (@released)
{
	ok((grep { /^sql\/snowflake--(?:[^-]+--)?\Q$version\E\.sql$/ } keys %digest_of), "test/released knows what makes $version");
	is(sql('postgres', "SELECT path IS NOT NULL FROM pg_extension_update_paths('snowflake') WHERE source = '$version'"
		  . " AND target = '$newest'"), 't', "a way leads from $version to $newest");
}
for my $script (map { /(snowflake--[^-]+--([^-]+)\.sql)$/ && $2 ne $newest ? "sql/$1" : () } glob 'sql/snowflake--*--*.sql')
{
	ok($digest_of{$script}, "test/released knows $script");
}
is(Digest::SHA->new(256)->addfile($_)->hexdigest, $digest_of{$_}, "$_ is as it was released") for sort keys %digest_of;

### What the comparison of objects knows

sub objects { return object_facts($server, @_); }

sql('postgres', 'CREATE DATABASE fresh');
sql('fresh', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids');
my $fresh = objects('fresh');
figures('%d facts about the objects of %s', scalar(@$fresh), $newest);
for my $kind ('pg_extension', 'pg_proc', 'pg_class', 'pg_attribute', 'constraint', 'index', 'trigger', 'view', 'pg_sequence',
	'pg_type', 'comment on', 'first rights on', 'function', 'table', 'default value for')
{
	cmp_ok(scalar(grep { /^$kind / } @$fresh), '>', 0, "facts of the kind $kind are compared");
}

# The comparison sees what differs.
for my $change (
	'ALTER FUNCTION ids.snowflake_nextval() STABLE', 'ALTER FUNCTION ids.snowflake_currval() PARALLEL SAFE',
	'ALTER FUNCTION ids.snowflake_decode(bigint) COST 2', 'ALTER FUNCTION ids.snowflake_timestamp(bigint) CALLED ON NULL INPUT',
	q{ALTER FUNCTION ids.snowflake_nextval() SET work_mem = '1MB'}, 'GRANT EXECUTE ON FUNCTION ids.snowflake_acquire TO PUBLIC',
	'CREATE OR REPLACE FUNCTION ids.snowflake_nextval() RETURNS bigint LANGUAGE C PARALLEL SAFE'
	  . q{ AS '$libdir/snowflake', 'snowflake_nextval' SUPPORT generate_series_int4_support},
	'GRANT SELECT (worker_id) ON ids.snowflake_watermark TO PUBLIC', 'REVOKE SELECT ON ids.snowflake_status FROM PUBLIC',
	'ALTER TABLE ids.snowflake_layout ENABLE TRIGGER snowflake_layout_changed',
	'ALTER TABLE ids.snowflake_origin ADD COLUMN more int', 'ALTER TABLE ids.snowflake_origin ALTER timeline SET DEFAULT 1',
	'ALTER TABLE ids.snowflake_registry ALTER node DROP NOT NULL', 'ALTER TABLE ids.snowflake_registry ALTER lease_id SET CYCLE',
	q{COMMENT ON COLUMN ids.snowflake_status.lead IS 'x'}, 'COMMENT ON FUNCTION ids.snowflake_nextval() IS NULL',
	'ALTER EXTENSION snowflake DROP FUNCTION ids.snowflake_currval()', 'ALTER VIEW ids.snowflake_status SET (security_barrier)',
	q{UPDATE pg_extension SET extconfig = NULL WHERE extname = 'snowflake'}, 'CREATE INDEX ON ids.snowflake_watermark (last_tick)')
{
	isnt(difference(objects('fresh', $change), $fresh), '', "noticed: $change");
}

# ---------------------------------------------------------------------------------------------------------------------
# One released version
# ---------------------------------------------------------------------------------------------------------------------

# Databases that have it.
sub create
{
	my ($version, @dbnames) = @_;
	for my $dbname (@dbnames)
	{
		sql('postgres', "CREATE DATABASE $dbname");
		sql($dbname, 'CREATE SCHEMA ids', "CREATE EXTENSION snowflake SCHEMA ids VERSION '$version'",
			"ALTER DATABASE $dbname SET search_path = ids, public",
			'CREATE TABLE public.item (id bigint PRIMARY KEY DEFAULT ids.snowflake_nextval(), n int)');
		is(sql($dbname, q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake'}), $version, "$dbname has version $version");
	}
	return;
}

sub is_renewed
{
	my ($dbname, $name) = @_;
	my $renewed = sql($dbname, 'SELECT max(renewed_at) FROM ids.snowflake_registry');
	return ok(wait_until('the window to be moved', sub {
		sql($dbname, "SELECT max(renewed_at) > '$renewed' FROM ids.snowflake_registry") eq 't'
	}), "$name: the keeper moves the window");
}

sub check_old_objects
{
	my ($version) = @_;
	my $name = "the library with the objects of $version";
	create($version, 'old');
	like(sql('old', 'INSERT INTO item (n) VALUES (1) RETURNING id'), qr/^\d+$/, "$name: ids");
	is(sql('old', 'SELECT count(DISTINCT i) FROM snowflake_nextvals(5000) i'), '5000', "$name: many ids");
	is(sql('old', 'SELECT snowflake_nextval() = snowflake_currval()'), 't', "$name: the last id");
	is(sql('old', 'SELECT d.ts = snowflake_timestamp(id), now() - d.ts < interval $$1 min$$, d.worker = s.worker'
		  . ' FROM item, snowflake_decode(id) d, snowflake_status s'), 't|t|t', "$name: decode, timestamp, status");
	is(sql('old', q{COPY item (n) FROM PROGRAM 'seq 1000'; SELECT count(DISTINCT id) FROM item}), '1001', "$name: COPY");
	is(sql('old', 'SELECT w.node = s.node, w.expired FROM snowflake_workers w JOIN snowflake_status s USING (worker)'), 't|f',
		"$name: workers");
	is(sql('old', 'SELECT l::text = g::text FROM (SELECT epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits,'
		  . ' sequence_bits, sequence_first FROM snowflake_layout) l, snowflake_get_layout() g'), 't', "$name: the layout");
	is_renewed('old', $name);
	# Where clocks are not judged, whoever releases by SQL may have used all of the window.
	is(sql('old', q{
		SET snowflake.max_clock_skew = 0;
		SELECT lease_id, token, window_start AS first FROM snowflake_acquire('other', 0, 1000, '1 min') \gset
		SELECT snowflake_extend(:lease_id, :'token', 2000, '1 min') - :first;
		SELECT snowflake_release(:lease_id, :'token', :first + 5);
		SELECT last_tick - :first FROM snowflake_watermark ORDER BY last_tick LIMIT 1}), "61000\nt\n60999", "$name: the protocol");
	is((query_error($server, 'old', q{UPDATE snowflake_layout SET worker_bits = 5, datacenter_bits = 5}))[0], '55000',
		"$name: the layout stays as it is");
	sql('postgres', 'DROP DATABASE old');
	return;
}

# Sessions issue in every way there is, in one that stays open, in short ones and under COPY, while the extension is updated.
sub check_update
{
	my ($version) = @_;
	my $name = "from $version to $newest";
	create($version, 'used');
	my $session = $server->background_psql('used', on_error_stop => 0);
	$session->query_safe('PREPARE one AS INSERT INTO item (n) VALUES (-1) RETURNING id');
	$session->query_safe('EXECUTE one') for 1 .. 7;
	my $open = $server->background_psql('used', on_error_stop => 0);
	$open->query_safe('BEGIN; INSERT INTO item (n) VALUES (-2)');

	my $clients = start_clients($server, 4, q{
		COPY (SELECT snowflake_nextval() FROM generate_series(1, 2000)) TO STDOUT;
		INSERT INTO item (n) SELECT generate_series(1, 50) RETURNING id;
		BEGIN; COPY item (n) FROM PROGRAM 'seq 500';
		SELECT id FROM item WHERE xmin = pg_current_xact_id()::xid; COMMIT;
	}, dbname => 'used');
	my $flows = sub
	{
		my $before = client_bytes($clients);
		return wait_until('ids to flow', sub { client_bytes($clients) > $before + 500_000 });
	};
	ok($flows->(), "$name: ids flow before");

	# As good as undone.
	my $before = objects('used');
	sql('used', 'BEGIN', "ALTER EXTENSION snowflake UPDATE", 'INSERT INTO item (n) VALUES (-3)', 'ROLLBACK');
	is(difference(objects('used'), $before), '', "$name: an update that was rolled back leaves nothing");

	is((query_error($server, 'used', "SET lock_timeout = '1s'; ALTER EXTENSION snowflake UPDATE"))[0], '00000',
		"$name: the update waits for no session that issues");
	is(sql('used', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake'}), $newest, "$name: the version is the newest");
	ok($flows->(), "$name: ids flow after");
	like($session->query_safe('EXECUTE one'), qr/^\d+$/, "$name: a prepared statement goes on");
	$session->query_safe(q{COPY item (n) FROM PROGRAM 'seq 100'});
	is($session->query_safe('SELECT snowflake_nextval() = snowflake_currval()'), 't', "$name: so does a session");
	$open->query_safe('INSERT INTO item (n) VALUES (-2); COMMIT');
	is(sql('used', 'SELECT count(*) FROM item WHERE n = -2'), '2', "$name: and an open transaction");
	is_renewed('used', $name);
	$_->quit for $session, $open;
	stop_clients($clients);

	my ($ids, $duplicates) = compare_ids(@{ $clients->{files} });
	is($duplicates, 0, "$name: no id of $ids was given twice");
	my @errors = grep { /ERROR|FATAL/ } map { -e "$clients->{folder}/$_.err" ? slurp_file("$clients->{folder}/$_.err") : () } 1 .. 4;
	is(join("\n", @errors), '', "$name: no client saw an error");

	sql('used', 'DROP TABLE item');
	is(difference(objects('used'), $fresh), '', "$name: the objects are those of a new extension");

	# A dump of it makes a new extension; what it holds is the layout.
	$server->command_ok([ 'pg_dump', '--no-sync', '-Fc', '-f', $server->basedir . '/used.dump', 'used' ], "$name: pg_dump");
	sql('postgres', 'CREATE DATABASE restored');
	$server->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', $server->basedir . '/used.dump' ], "$name: pg_restore");
	is(sql('restored', 'SELECT count(*) FROM ids.snowflake_layout'), '1', "$name: the layout is in the dump");
	is(difference(objects('restored'), $fresh), '', "$name: a restored dump has the objects of a new extension");
	sql('postgres', 'DROP DATABASE used', 'DROP DATABASE restored');
	return;
}

# A migration is one transaction, and the server has just been restarted with the new library: no lease yet, and none to be had while
# that transaction has the registry's tables. Rights are as their owner made them.
sub check_update_then_issue
{
	my ($version) = @_;
	create($version, 'cold');
	sql('cold', 'CREATE ROLE node', 'REVOKE EXECUTE ON FUNCTION snowflake_nextvals FROM PUBLIC',
		'GRANT EXECUTE ON FUNCTION snowflake_acquire, snowflake_extend, snowflake_release TO node');
	my $began = now_ms();
	my ($state, $error) = query_error($server, 'cold', 'BEGIN; ALTER EXTENSION snowflake UPDATE; INSERT INTO item (n) VALUES (1)');
	like("$state $error", qr/^55000 .*transaction that updated the extension.*Commit first/s, "from $version: no first id in the transaction that updates");
	cmp_ok(now_ms() - $began, '<', 4000, "from $version: ... which says so at once");
	like(sql('cold', 'ALTER EXTENSION snowflake UPDATE', 'INSERT INTO item (n) VALUES (1) RETURNING id'), qr/^\d+$/, "from $version: ... but right after it");
	is(sql('cold', q{SELECT has_function_privilege('node', oid, 'EXECUTE') FROM pg_proc WHERE proname = 'snowflake_acquire'}), 't',
		"from $version: rights that were granted stay");
	is(sql('cold', q{SELECT has_function_privilege('node', oid, 'EXECUTE') FROM pg_proc WHERE proname = 'snowflake_nextvals'}), 'f',
		"from $version: rights that were taken away do not come back");
	sql('postgres', 'DROP DATABASE cold', 'DROP ROLE node');
	is((query_error($server, 'fresh', 'BEGIN; DROP EXTENSION snowflake; '
		  . "CREATE EXTENSION snowflake SCHEMA ids VERSION '$version'; ALTER EXTENSION snowflake UPDATE; "
		  . 'SELECT ids.snowflake_nextval()'))[0], '55000', "created as $version and updated in one transaction: that is refused");
	return;
}

# A node of one version under a registry of another.
sub check_registry
{
	my ($registry_version, $node_version) = @_;
	my $name = "registry $registry_version, node $node_version";
	create($registry_version, 'registry');
	create($node_version, 'node');
	sql('node', 'ALTER DATABASE node SET snowflake.registry = $$host=' . $server->host . ' port=' . $server->port . ' dbname=registry$$');
	like(sql('node', 'INSERT INTO item (n) VALUES (1) RETURNING id'), qr/^\d+$/, "$name: ids");
	is(sql('registry', 'SELECT count(*) FROM snowflake_workers WHERE NOT expired'), '1', "$name: under a lease of the registry");
	is_renewed('registry', $name);
	for my $other ('registry', 'node')
	{
		next if ($other eq 'registry' ? $registry_version : $node_version) eq $newest;
		sql($other, 'ALTER EXTENSION snowflake UPDATE');
		is_renewed('registry', "$name, then $newest in the $other");
	}
	is(sql('node', 'SELECT last_error IS NULL FROM snowflake_status'), 't', "$name: no error");
	sql('node', 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	ok(wait_until('the lease to be given back', sub { sql('registry', 'SELECT count(*) FROM snowflake_registry') eq '0' }),
		"$name: the lease is given back");
	sql('postgres', "DROP DATABASE $_") for 'node', 'registry';
	return;
}

# What nodes of version 1.1 send, statement by statement, to a registry of this version, that is updated meanwhile if it is not of
# this version yet.
sub check_old_forms
{
	my ($version) = @_;
	my $name = "registry $version, what nodes of 1.1 send";
	create($version, 'spoken');
	sql('spoken', 'CREATE ROLE node LOGIN', 'GRANT USAGE ON SCHEMA ids TO node', 'GRANT EXECUTE ON FUNCTION'
		  . ' snowflake_acquire(text, integer, bigint, interval), snowflake_extend(bigint, uuid, bigint, interval),'
		  . ' snowflake_release(bigint, uuid, bigint), snowflake_get_layout TO node', 'CREATE ROLE other LOGIN IN ROLE node',
		'GRANT USAGE ON SCHEMA ids TO other');
	my $say = sub
	{
		my ($role, $call) = @_;
		my $now = now_ms() - 1_735_689_600_000;
		return $server->safe_psql('spoken', "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = '5s';"
			  . " SET LOCAL lock_timeout = '4s'; SELECT * FROM ids.snowflake_" . $call->($now) . '; COMMIT', extra_params => [ '-U', $role ]);
	};
	my $acquire = sub { return split /\|/, $say->('node', sub { "acquire('a node', 0, $_[0], '20 seconds')" }) };
	my ($lease, $token, $worker, $start, $end, @layout) = $acquire->();
	is($end - $start, 20_000, "$name: a window of all that was asked for");
	is("@layout", '1735689600000 1000 41 0 10 12 f', "$name: the layout");
	my $extend = sub { my ($role) = @_; return $say->($role, sub { "extend($lease, '$token', $_[0], '60 seconds')" }) };
	cmp_ok($extend->('node'), '>', $end, "$name: the window moves");
	my ($second, $second_token) = $acquire->();
	if ($version ne $newest)
	{
		sql('spoken', 'ALTER EXTENSION snowflake UPDATE');
		is(sql('spoken', 'SELECT count(role) FROM snowflake_registry'), '0', "$name: updated, its leases are nobody's yet");
		$name .= ", updated";
	}
	cmp_ok($extend->('node'), '>', $end, "$name: the window moves on");
	is($extend->('other'), '', "$name: for another role the lease is gone");
	is($say->('other', sub { "release($lease, '$token', $start)" }), 'f', "$name: ... nor is it given back for it");
	is(sql('spoken', "SELECT role::regrole FROM snowflake_registry WHERE lease_id = $lease"), 'node', "$name: the lease is its role's");
	is($say->('node', sub { "release($lease, '$token', " . ($_[0] - 1) . ')' }), 't', "$name: it is given back");
	is($say->('node', sub { "release($lease, '$token', " . ($_[0] - 1) . ')' }), 'f', "$name: ... once");
	is($say->('node', sub { "release($second, '$second_token', " . ($_[0] - 1) . ')' }), 't', "$name: so is one that was not moved since");
	is(sql('spoken', 'SELECT count(*), (SELECT count(*) FROM snowflake_watermark) FROM snowflake_registry'), '0|2', "$name: what is left are watermarks");
	my ($third) = $acquire->();
	cmp_ok($third, '>', $second, "$name: lease ids go on");
	sql('postgres', 'DROP DATABASE spoken', 'DROP ROLE other, node');
	return;
}

cmp_ok(scalar(@released), '>', 0, "released: @released");
check_old_forms($_) for @released, $newest;
# Registries and nodes with the objects of released versions, under this library, among themselves.
check_registry($_->[0], $_->[1]) for map { my $r = $_; map { [ $r, $_ ] } @released } @released;
for my $version (@released)
{
	check_old_objects($version);
	check_update($version);
	check_update_then_issue($version);
	check_registry($version, $newest);
	check_registry($newest, $version);
}

unlike(slurp_file($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
$server->stop('fast');
done_testing();
