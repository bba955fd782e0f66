# What runs beside snowflake: a pooler, a partition manager, other libraries that are preloaded before or after it, other
# extensions' background workers, and another extension of the same name.
#
# pgbouncer and pg_partman are Debian's; test/run unpacks them. Where one cannot be had, a line "skipped" says which.
use strict;
use warnings;

use SnowflakeTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $db = 'postgres';
my $quiet = "log_statement = none\nautovacuum = off\n";

sub value { my ($server, $sql, $dbname) = @_; return $server->safe_psql($dbname // $db, $sql); }

# The first SQL block of the README that has this in it.
sub readme
{
	my ($what) = @_;
	my ($block) = grep { /$what/ } slurp_file('README.md') =~ /^```sql\n(.*?)^```/msg;
	return $block // die "README.md has no block with $what\n";
}

sub left_out
{
	my ($what, $how) = @_;
	print { Test::More->builder->failure_output } "# skipped: $what, which is not there; $how\n";
	plan skip_all => $what;
	return;
}

# ---------------------------------------------------------------------------------------------------------------------
# pgbouncer
# ---------------------------------------------------------------------------------------------------------------------

my $unpacked = $ENV{SNOWFLAKE_NEIGHBOURS} // '/nowhere';
my ($pgbouncer) = grep { -x } (map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin'), "$unpacked/usr/sbin/pgbouncer";
# Preloaded, to look at CREATE EXTENSION; without, see below.
my $server = new_server('server', preload => 1, conf => $quiet);
start_server($server);
value($server, 'CREATE EXTENSION snowflake');

subtest 'pgbouncer in transaction mode' => sub {
	left_out('pgbouncer', 'apt-get install pgbouncer') unless $pgbouncer;
	my $folder = PostgreSQL::Test::Utils::tempdir_short();
	my $user = value($server, 'SELECT current_user');
	my $target = sprintf 'host=%s port=%d dbname=%s user=%s', $server->host, $server->port, $db, $user;
	append_to_file("$folder/pgbouncer.ini", <<"INI");
[databases]
pooled = $target pool_size=3
single = $target pool_size=1
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = $folder
auth_type = any
pool_mode = transaction
logfile = $folder/log
pidfile = $folder/pid
INI
	local $ENV{LD_LIBRARY_PATH} = join ':', glob("$unpacked/usr/lib/*-linux-gnu"), $ENV{LD_LIBRARY_PATH} // ();
	my $bouncer = IPC::Run::start([ $pgbouncer, "$folder/pgbouncer.ini" ], '<', '/dev/null', '>', "$folder/out", '2>&1');
	my $pooled = sub { return "host=$folder port=6432 dbname=$_[0] user=$user" };
	ok(wait_until('pgbouncer', sub { -S "$folder/.s.PGSQL.6432" }), 'it is there') or diag(slurp_file("$folder/out"));

	# Numbers from one sequence say in which order the rows of a server session were made.
	value($server, q{
		CREATE SEQUENCE calls;
		CREATE TABLE pooled (call bigint DEFAULT nextval('calls'), session int DEFAULT pg_backend_pid(), client int, id bigint DEFAULT snowflake_nextval())});
	my @clients;
	for my $client (1 .. 8)
	{
		append_to_file("$folder/$client.sql", <<"SQL" x 60);
INSERT INTO pooled (client) VALUES ($client);
BEGIN;
INSERT INTO pooled (client) SELECT $client FROM generate_series(1, 30);
INSERT INTO pooled (client) VALUES ($client);
SELECT 1 / (snowflake_currval() = (SELECT max(id) FROM pooled WHERE session = pg_backend_pid()))::int;
COMMIT;
BEGIN;
INSERT INTO pooled (client) SELECT $client FROM snowflake_nextvals(7);
ROLLBACK;
COPY pooled (client) FROM stdin;
$client
$client
$client
\\.
SQL
		push @clients, IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $pooled->('pooled'), '-f', "$folder/$client.sql" ],
			'<', '/dev/null', '>', "$folder/$client.out", '2>', "$folder/$client.err");
	}
	my $failed = 0;
	for my $client (@clients) { $client->finish or $failed++; }
	is($failed, 0, 'eight clients over three server sessions, all of them well') or diag(map { slurp_file($_) } glob "$folder/*.err");
	is(value($server, 'SELECT count(*), count(DISTINCT id) FROM pooled'), '16800|16800', 'no id twice');
	my ($sessions, $shared) = split /\|/, value($server, q{
		SELECT count(*), count(*) FILTER (WHERE clients > 1) FROM (SELECT count(DISTINCT client) AS clients FROM pooled GROUP BY session) s});
	cmp_ok($sessions, '<=', 3, "$sessions server sessions");
	cmp_ok($shared, '>', 0, "... $shared of them shared by several clients");
	is(value($server, q{SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY session ORDER BY call) AS before FROM pooled) p WHERE id <= before}),
		'0', 'ids rise within each server session');
	my $back = value($server, q{SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY client ORDER BY call) AS before FROM pooled) p WHERE id <= before});
	figures('%d ids of 8 clients over %d pooled sessions; %d times a client saw a smaller id than before, from another session', 16800, $sessions, $back);

	# Two clients of one server session: "the last id" is the session's, not the client's.
	my $ask = sub {
		my ($sql) = @_;
		my ($out, $err);
		IPC::Run::run([ 'psql', '-XAtq', '-d', $pooled->('single'), '-c', $sql ], '<', '/dev/null', '>', \$out, '2>', \$err);
		chomp $out;
		return $out . $err;
	};
	like($ask->('SELECT snowflake_currval()'), qr/not yet defined/, 'currval before the session has issued');
	my $mine = $ask->('SELECT snowflake_nextval()');
	is($ask->('SELECT snowflake_currval()'), $mine, 'currval of another client is the id of the first, in the same server session');
	my $others = $ask->('SELECT snowflake_nextval()');
	cmp_ok($others, '>', $mine, 'the next id is larger');
	is($ask->('SELECT snowflake_currval()'), $others, '... and currval the other one now');

	# It may refuse the settings that come with a connection.
	value($server, 'CREATE DATABASE behind');
	value($server, 'CREATE EXTENSION snowflake', 'behind');
	value($server, sprintf q{ALTER DATABASE behind SET snowflake.registry = '%s'; ALTER DATABASE behind SET snowflake.lease_duration = '1s'}, $pooled->('pooled'));
	like(value($server, 'SELECT snowflake_nextval()', 'behind'), qr/^\d+$/, 'a registry behind it');
	my $end = value($server, 'SELECT window_end FROM snowflake_status', 'behind');
	ok(wait_until('the window to move', sub { value($server, "SELECT window_end > '$end' FROM snowflake_status", 'behind') eq 't' }), '... and the window moves');
	is(value($server, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/behind'}), '1', '... of the lease there');
	value($server, 'DROP DATABASE behind');
	ok(wait_until('the lease to go', sub { value($server, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/behind'}) eq '0' }), '... until it goes back');
	$bouncer->signal('INT');
	ok(wait_until('pgbouncer to end', sub { !$bouncer->pumpable }), 'pgbouncer ends') or $bouncer->kill_kill;
	$bouncer->finish;
};

# ---------------------------------------------------------------------------------------------------------------------
# pg_partman
# ---------------------------------------------------------------------------------------------------------------------

subtest 'pg_partman with ranges of ids, as the README has it' => sub {
	my $version = value($server, q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'});
	left_out('pg_partman', 'apt-get install postgresql-' . $server->pg_version->major . '-partman') if $version eq '';
	value($server, 'CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman');
	my ($parent) = readme('PARTITION BY RANGE') =~ /^(CREATE TABLE event .*?;)/ms;
	value($server, $parent);
	my $create = readme('partman\.create_parent');
	if ($version =~ /^4\./) { $create =~ s/(event', 'id'), /$1, 'native', / or die 'no place for the type'; }
	value($server, $create);

	# Of each partition that has bounds: where they are, in days.
	my $bounds = q{
		SELECT c.relname AS name, snowflake_timestamp(m[1]::bigint) AS lower, snowflake_timestamp(m[2]::bigint) AS upper
		FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
			regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(\d+)'\) TO \('(\d+)'\)$re$) m
		WHERE i.inhparent = 'event'::regclass AND m IS NOT NULL};
	is(value($server, "SELECT count(*) > 4, bool_and(upper - lower = '1 day'), bool_and(lower = date_trunc('day', lower, 'UTC')) FROM ($bounds) b"),
		't|t|t', 'partitions of one day each, from midnight UTC');
	is(value($server, "SELECT count(*) FROM ($bounds) b WHERE clock_timestamp() >= lower AND clock_timestamp() < upper"), '1', '... one of them is today\'s');
	value($server, q{INSERT INTO event (body) SELECT 'x' FROM generate_series(1, 1000)});
	my $in_theirs = "SELECT count(*) FROM event e LEFT JOIN ($bounds) b ON b.name = e.tableoid::regclass::text"
	  . ' WHERE snowflake_timestamp(e.id) < b.lower OR snowflake_timestamp(e.id) >= b.upper OR b.name IS NULL';
	is(value($server, $in_theirs), '0', 'ids are in the partition of their day, none in the default one');

	my $last = "SELECT max(upper) FROM ($bounds) b";
	my $before = value($server, $last);
	value($server, q{INSERT INTO event VALUES (snowflake_encode(now() + interval '3 days', 0, 0), 'later')});
	value($server, q{SELECT partman.run_maintenance('public.event')});
	is(value($server, "SELECT ($last) - '$before' = '3 days'"), 't', 'maintenance makes partitions ahead of the highest id');
	is(value($server, $in_theirs), '0', '... which are used');
	value($server, q{UPDATE partman.part_config SET retention = snowflake_id_at('2025-01-02 00:00+00', 'snowflake')::text WHERE parent_table = 'public.event'});
	value($server, q{SELECT partman.run_maintenance('public.event')});
	is(value($server, "SELECT min(lower) > now(), (SELECT count(*) FROM event) FROM ($bounds) b"), 't|1', 'and retention drops what is older than that by a day');
};

# ---------------------------------------------------------------------------------------------------------------------
# Other libraries that are preloaded
# ---------------------------------------------------------------------------------------------------------------------

my $contrib = value($server, q{SELECT count(*) FROM pg_available_extensions WHERE name IN ('pg_stat_statements', 'pg_prewarm')}) eq '2';
$server->stop('fast');

for my $order ('pg_stat_statements, auto_explain, snowflake', 'snowflake, pg_stat_statements, auto_explain')
{
	subtest "shared_preload_libraries = $order" => sub {
		left_out('pg_stat_statements', 'install PostgreSQL\'s contrib modules') unless $contrib;
		my $busy = new_server($order =~ /^snowflake/ ? 'first_of_three' : 'last_of_three', preload => 0, conf => $quiet . qq{
shared_preload_libraries = '$order'
pg_stat_statements.track = all
pg_stat_statements.track_utility = on
auto_explain.log_min_duration = 0
auto_explain.log_analyze = on
auto_explain.log_nested_statements = on
restart_after_crash = on
});
		start_server($busy);
		value($busy, q{
			CREATE EXTENSION pg_stat_statements;
			CREATE EXTENSION snowflake;
			CREATE TABLE copied (id bigint DEFAULT snowflake_nextval(), n int);
			CREATE TABLE slow (id bigint DEFAULT (random() * 1e15)::bigint, n int)});
		my @ids = split /\n/, value($busy, 'SELECT snowflake_nextvals(100); INSERT INTO copied (n) SELECT generate_series(1, 100) RETURNING id');
		is(scalar(keys %{ { map { $_ => 1 } @ids } }), 200, 'ids flow');
		is(value($busy, q{SELECT calls || ' ' || rows FROM pg_stat_statements WHERE query = 'SELECT snowflake_nextvals($1)'}), '1 100', '... and pg_stat_statements counts them');
		is(value($busy, q{SELECT count(*) FROM pg_stat_statements WHERE query ~ 'snowflake_registry.*VALUES|INSERT INTO .*snowflake_registry'}), '1', '... the keeper\'s statements, too');
		like(slurp_file($busy->logfile), qr/Query Text: INSERT INTO copied .*?Insert on/s, '... and auto_explain shows plans');

		my $rows = join("\n", 1 .. 2000);
		value($busy, "COPY $_ (n) FROM stdin;\n$rows\n\\.\n") for qw(copied slow);
		my %wal = map { split /\|/ } split /\n/, value($busy, q{SELECT split_part(query, ' ', 2), wal_records FROM pg_stat_statements WHERE query LIKE 'COPY %'});
		cmp_ok($wal{copied}, '<', 200, "COPY inserts many rows at once: $wal{copied} WAL records");
		cmp_ok($wal{slow}, '>=', 2000, "... and row by row where another volatile function is the default: $wal{slow}");
		is(value($busy, 'SELECT count(DISTINCT id) FROM copied'), '2100', '... with an id for each row');
		isnt($busy->psql($db, "COPY copied (n) FROM stdin;\nno number\n\\.\n"), 0, 'a COPY that fails');
		is(value($busy, 'ALTER TABLE slow ADD COLUMN later bigint DEFAULT snowflake_nextval(); SELECT count(DISTINCT later) FROM slow'), '2000',
			'a column that is added has an id for each row');

		# Shared memory is set up again after a crash, by all three.
		my $ready = ready_count($busy);
		kill 'KILL', value($busy, q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});
		ok(wait_ready($busy, $ready), 'the server comes back after a crash');
		my $id;
		ok(wait_until('an id', sub { ($busy->psql($db, 'SELECT snowflake_nextval()', stdout => \$id))[0] == 0 }), '... and issues');
		cmp_ok($id, '>', $ids[-1], '... a larger id');
		is(value($busy, q{SELECT count(*) > 0 FROM pg_stat_statements}), 't', '... and counts statements');
		$busy->stop('fast');
		unlike(slurp_file($busy->logfile), qr/was not checked|PANIC|TRAP/, 'nothing wrong in the log');
	};
}

# ---------------------------------------------------------------------------------------------------------------------
# Another extension's background workers
# ---------------------------------------------------------------------------------------------------------------------

subtest 'another extension\'s background worker has the last slot' => sub {
	left_out('pg_prewarm', 'install PostgreSQL\'s contrib modules') unless $contrib;
	my $narrow = new_server('narrow', preload => 0, conf => $quiet . q{
shared_preload_libraries = 'pg_prewarm, snowflake'
max_worker_processes = 1
max_logical_replication_workers = 0
snowflake.start_timeout = 500ms
});
	start_server($narrow);
	value($narrow, 'CREATE EXTENSION snowflake');
	# It is connected to no database, so pg_stat_activity does not show it.
	my $leader = sub {
		my ($pid) = grep { -e "/proc/$_/cmdline" && slurp_file("/proc/$_/cmdline") =~ /autoprewarm leader/ } server_processes($narrow);
		return $pid;
	};
	ok(wait_until('the other worker', $leader), 'it runs');
	my ($state, $text) = query_error($narrow, $db, 'SELECT snowflake_nextval()');
	is($state, 'SF001', 'no id');
	like($text, qr/All 1 background workers \(max_worker_processes\).*HINT: .*max_worker_processes/s, '... and why');
	# A call that is waiting gets its id when the other worker ends.
	my $waiting = $narrow->background_psql($db, on_error_stop => 1);
	$waiting->query_safe(q{SET snowflake.start_timeout = '30s'});
	$waiting->query_until(qr/begun/, "\\echo begun\nSELECT snowflake_nextval() > 0 AS issued \\gset\n\\echo issued :issued\n");
	ok(wait_until('the call to wait', sub { value($narrow, q{SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT snowflake_nextval%' AND wait_event_type = 'Extension'}) eq '1' }), 'a call waits');
	kill 'TERM', $leader->();
	like($waiting->query_until(qr/issued t/, ''), qr/issued t/, '... and has its id when the other worker has ended');
	$waiting->quit;
	$narrow->append_conf('postgresql.conf', 'max_worker_processes = 2');
	$narrow->restart;
	like(value($narrow, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'with a slot more both run');
	ok($leader->(), '... beside each other');
	$narrow->stop('fast');
};

# ---------------------------------------------------------------------------------------------------------------------
# Another extension of the same name
# ---------------------------------------------------------------------------------------------------------------------

# pgEdge's snowflake has a library of the same file name, and two of its symbols are called as two of ours. What follows has
# objects like its own, as they are after our library was installed over it.
my $sharedir = `pg_config --sharedir`;
chomp $sharedir;
my $script_of_theirs = "$sharedir/extension/snowflake--2.4.sql";
END { unlink $script_of_theirs if $script_of_theirs; }

# With `missing`, as its own script has it: functions whose symbols are not ours.
sub write_theirs
{
	my ($missing) = @_;
	my $late = $missing ? '' : q{UPDATE pg_proc SET prosrc = 'snowflake_get_node' WHERE oid = 'snowflake.get_node(int8)'::regprocedure;};
	my $symbol = $missing ? 'snowflake_get_node' : 'snowflake_currval';
	unlink $script_of_theirs;
	append_to_file($script_of_theirs, <<"SQL");
CREATE SEQUENCE snowflake.id_seq;
CREATE FUNCTION snowflake.nextval(regclass DEFAULT 'snowflake.id_seq') RETURNS bigint AS 'MODULE_PATHNAME', 'snowflake_nextval' LANGUAGE C;
CREATE FUNCTION snowflake.currval(regclass DEFAULT 'snowflake.id_seq') RETURNS bigint AS 'MODULE_PATHNAME', 'snowflake_currval' LANGUAGE C;
CREATE FUNCTION snowflake.get_node(bigint) RETURNS integer AS 'MODULE_PATHNAME', '$symbol' LANGUAGE C;
$late
SQL
	return;
}
my $create_theirs = q{CREATE SCHEMA IF NOT EXISTS snowflake; CREATE EXTENSION snowflake SCHEMA snowflake VERSION '2.4'};
my $another = qr/the extension snowflake of this database is another one.*DETAIL: .*schema "snowflake".*pgEdge.*HINT: .*DROP EXTENSION/s;

start_server($server);

subtest 'another extension called snowflake: its objects, our library' => sub {
	value($server, 'CREATE DATABASE theirs');
	write_theirs(1);
	my ($state, $text) = query_error($server, 'theirs', $create_theirs);
	is($state, '42883', 'it cannot be created over our library');
	like($text, qr/could not find function "snowflake_get_node" in file/, '... as PostgreSQL says');

	write_theirs(0);
	value($server, $create_theirs, 'theirs');
	# Its columns have its function as their default.
	value($server, q{
		CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), n int);
		INSERT INTO item VALUES (170505378935607296, 1), (170505378935607297, 2)}, 'theirs');
	for my $sql ('SELECT snowflake.nextval()', q{SELECT snowflake.nextval('snowflake.id_seq')}, 'INSERT INTO item (n) VALUES (3)',
		"COPY item (n) FROM stdin;\n3\n\\.\n", 'SELECT snowflake.currval()', 'CREATE EXTENSION snowflake', 'CREATE EXTENSION IF NOT EXISTS snowflake',
		'ALTER EXTENSION snowflake UPDATE', q{ALTER EXTENSION snowflake UPDATE TO '1.0'})
	{
		my ($state, $text) = query_error($server, 'theirs', $sql);
		is($state, '55000', 'refused: ' . $sql =~ s/\n.*//sr);
		like($text, $another, '... and why');
	}
	($state, $text) = query_error($server, 'theirs', 'SELECT snowflake.get_node(1)');
	is($state, '42883', 'what our library lacks');
	like($text, qr/could not find function "snowflake_get_node" in file/, '... is PostgreSQL\'s to say');
	is(value($server, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'theirs'}), '0', 'no keeper was started for it');
	is((query_error($server, 'theirs', $_))[0], '00000', $_) for 'ALTER EXTENSION snowflake DROP SEQUENCE snowflake.id_seq', 'COMMENT ON EXTENSION snowflake IS NULL';
	is(value($server, 'SELECT snowflake_nextval() > 0'), 't', 'a database that has ours issues');
	is((query_error($server, $db, 'CREATE EXTENSION snowflake'))[0], '42710', '... where it exists already');
	is((query_error($server, $db, 'CREATE EXTENSION IF NOT EXISTS snowflake; ALTER EXTENSION snowflake UPDATE'))[0], '00000', '... and nothing is refused');
};

subtest 'it takes the place of ours while a keeper runs' => sub {
	value($server, 'CREATE DATABASE swapped');
	value($server, 'CREATE EXTENSION snowflake', 'swapped');
	value($server, 'SELECT snowflake_nextval()', 'swapped');
	my $size = -s $server->logfile;
	value($server, "BEGIN; DROP EXTENSION snowflake; $create_theirs; COMMIT", 'swapped');
	like((query_error($server, 'swapped', 'SELECT snowflake.nextval()'))[1], $another, 'its function is refused');
	ok(wait_until('the keeper to end', sub {
		value($server, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'swapped'}) eq '0';
	}), 'the keeper leaves');
	unlike(slurp_file($server->logfile, $size), qr/snowflake_registry|not as the extension/, '... without a word of tables that were never there');
};

subtest 'a registry that has it' => sub {
	my $place = sprintf 'host=%s port=%d dbname=theirs', $server->host, $server->port;
	value($server, 'CREATE DATABASE node');
	value($server, "ALTER DATABASE node SET snowflake.registry = '$place'");
	value($server, 'CREATE EXTENSION snowflake', 'node');
	my ($state, $text) = query_error($server, 'node', q{SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()});
	is($state, 'SF001', 'no lease');
	like($text, qr/DETAIL: .*the extension snowflake of the registry's database is another one/, '... and why');
};

subtest 'changing over' => sub {
	# All in one session, which was refused before.
	my $session = $server->background_psql('theirs', on_error_stop => 0);
	like((ask($session, 'SELECT snowflake.nextval()'))[1], qr/is another one/, 'refused');
	my ($out, $err) = ask($session, readme("set_layout\\('pgedge'\\)"));
	unlike($err, qr/ERROR/, 'dropped, and ours created with the layout of its ids, as the README has it');
	($out, $err) = ask($session, 'INSERT INTO item (n) VALUES (4) RETURNING id');
	like($out, qr/^\d+$/, 'the same session issues') or diag($err);
	is($err, '', '... without an error');
	is((ask($session, 'SELECT max(id) FROM item'))[0], $out, '... above the ids that are there');
	is((ask($session, q{SELECT worker || ' ' || seq || ' ' || (ts AT TIME ZONE 'UTC') FROM item, snowflake_decode(id) WHERE n = 1}))[0],
		'1 0 2024-04-15 12:07:30.175', 'which can be read');
	$session->quit;
};

subtest 'its setting in the configuration file' => sub {
	my $size = -s $server->logfile;
	$server->append_conf('postgresql.conf', 'snowflake.node = 5');
	$server->restart;
	like(slurp_file($server->logfile, $size), qr/WARNING: .*invalid configuration parameter name "snowflake\.node", removing it/, 'the log says that there is no such setting');
	is(value($server, 'SELECT snowflake_nextval() > 0'), 't', 'ids flow');
	is((query_error($server, $db, 'SHOW snowflake.node'))[0], '42704', 'nobody sees it');
	is((query_error($server, $db, 'SET snowflake.node = 5'))[0], '42602', '... or sets it');
	$size = -s $server->logfile;
	$server->append_conf('postgresql.conf', 'snowflake.max_run = 17');
	$server->reload;
	ok(wait_until('the other setting', sub { value($server, 'SHOW snowflake.max_run') eq '17' }), 'a reload takes the other settings')
	  or diag(slurp_file($server->logfile, $size));
};
$server->stop('fast');

subtest 'its objects, our library, nothing preloaded' => sub {
	my $bare = new_server('bare', preload => 0, conf => $quiet);
	start_server($bare);
	value($bare, $create_theirs);
	for my $sql ('SELECT snowflake.nextval()', 'SELECT snowflake.currval()', q{LOAD 'snowflake'; CREATE EXTENSION IF NOT EXISTS snowflake})
	{
		my ($state, $text) = query_error($bare, $db, $sql);
		is($state, '55000', "refused: $sql");
		like($text, $another, '... and why');
	}
	is((query_error($bare, $db, 'CREATE EXTENSION snowflake'))[0], '42710', 'a session without the library hears that it exists');
	$bare->stop('fast');
};

# The other way round: a library that has of ours what theirs has.
my $library = `pg_config --pkglibdir`;
chomp $library;
$library .= '/snowflake.so';
END { rename "$library.ours", $library if $library && -e "$library.ours"; }

subtest 'its library, our objects' => sub {
	my $folder = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$folder/theirs.c", <<'C');
#include "postgres.h"
#include "fmgr.h"
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(snowflake_nextval);
PG_FUNCTION_INFO_V1(snowflake_currval);
Datum snowflake_nextval(PG_FUNCTION_ARGS) { PG_RETURN_INT64(1); }
Datum snowflake_currval(PG_FUNCTION_ARGS) { PG_RETURN_INT64(1); }
C
	my $headers = `pg_config --includedir-server`;
	chomp $headers;
	command_ok([ 'gcc', '-shared', '-fPIC', "-I$headers", "$folder/theirs.c", '-o', "$folder/theirs.so" ], 'a library like theirs');

	my $mixed = new_server('mixed', preload => 0, conf => $quiet);
	start_server($mixed);
	value($mixed, 'CREATE DATABASE fresh; CREATE EXTENSION snowflake');
	my $id = value($mixed, q{SELECT snowflake_id_at('2026-01-01 00:00+00')});
	ok(rename($library, "$library.ours") && rename("$folder/theirs.so", $library), 'it takes the place of ours') or die $!;
	my ($state, $text) = query_error($mixed, 'fresh', 'CREATE EXTENSION snowflake');
	is($state, '42883', 'ours cannot be created');
	like($text, qr/could not find function "snowflake_layout_changed" in file "\S*snowflake\.so"/, '... as the README has it');
	is(value($mixed, q{SELECT count(*) FROM pg_class WHERE relname LIKE 'snowflake%'}, 'fresh'), '0', '... and nothing is left of it');
	($state, $text) = query_error($mixed, $db, "SELECT snowflake_timestamp($id)");
	is($state, '42883', 'objects of ours that are there do not work');
	like($text, qr/could not find function "snowflake_timestamp" in file/, '... for the same reason');
	ok(rename("$library.ours", $library), 'ours is back');
	is(value($mixed, "SELECT snowflake_timestamp($id) = '2026-01-01 00:00+00'"), 't', '... and they do');
	is((query_error($mixed, 'fresh', 'CREATE EXTENSION snowflake'))[0], '00000', '... and it can be created');
	$mixed->stop('fast');
};

subtest 'make install over it' => sub {
	my $there = PostgreSQL::Test::Utils::tempdir();
	my $folder = "$there$sharedir/extension";
	is(system('mkdir', '-p', $folder), 0, 'a place to install to');
	my @install = ('make', '-s', 'PG_CONFIG=pg_config', "DESTDIR=$there", 'install');
	append_to_file("$folder/snowflake.control", "default_version = '2.4'\nmodule_pathname = '\$libdir/snowflake'\nschema = snowflake\n");
	command_fails_like(\@install, qr/another extension called snowflake is installed there/, 'is refused');
	is(`find $there -type f`, "$folder/snowflake.control\n", '... before anything is copied');
	unlink "$folder/snowflake.control";
	command_ok(\@install, 'with it removed, ours is installed');
	is(scalar(() = `find $there -type f` =~ m{/snowflake(?:\.control|\.so|--1\.0\.sql)$}mg), 3, '... all of it');
	command_ok(\@install, '... and over itself again');
};

done_testing();
