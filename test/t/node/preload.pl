# Without preloading, before PostgreSQL 17 nothing is issued and everything can be read, with words that help; from 17 on
# CREATE EXTENSION on a running server is all. Every setting keeps its limits and its context (section 8 of the design);
# single-user mode says what it lacks.

use strict;
use warnings;

use lib 'test/perl';
use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

### Not preloaded

my $bare = new_server('bare', preload => 0, conf => "snowflake.max_clock_skew = 0\n");
start_server($bare);
is($bare->psql($db, 'CREATE EXTENSION snowflake'), 0, 'CREATE EXTENSION works without preloading');
my $can_issue = $bare->safe_psql($db, 'SHOW server_version_num') >= 170000;
for my $call ($can_issue ? () : ('snowflake_nextval()', 'snowflake_nextvals(3)'))
{
	my ($state, $text) = query_error($bare, $db, "SELECT $call");
	is($state, '55000', "$call without preloading");
	like($text, qr/HINT:.*shared_preload_libraries = 'snowflake'/s, '... and the line that is missing');
}
is((query_error($bare, $db, 'SELECT snowflake_currval()'))[0], '55000', 'currval has nothing to show');
is((query_error($bare, $db, 'SELECT snowflake_nextvals(0)'))[0], '22023', 'arguments are checked all the same');
is((query_error($bare, $db, 'CREATE TABLE t (id bigint DEFAULT snowflake_nextval()); INSERT INTO t DEFAULT VALUES'))[0], '55000',
	'a default says so too') unless $can_issue;

is($bare->safe_psql($db, q{SET timezone = 'UTC'; SELECT * FROM snowflake_decode(9223372036854775807)}),
	'2094-09-07 15:47:35.551+00|1023|4095', 'decode works');
is($bare->safe_psql($db, q{SELECT snowflake_timestamp(0) = '2025-01-01 00:00+00'}), 't', 'timestamp works');
is($bare->safe_psql($db, q{SELECT state, node, worker, keeper_pid, ids_taken, last_error, end_of_life > now() FROM snowflake_status}),
	$can_issue ? 'idle||||0||t' : 'not preloaded||||||t', 'status says it');
is($bare->safe_psql($db, q{SELECT count(*) FROM snowflake_workers}), '0', 'workers can be read');

# A registry that others share needs nothing preloaded.
is($bare->safe_psql($db, q{
	SELECT lease_id, token, window_start, window_end FROM snowflake_acquire('other', 0, 1000, '1 min') \gset
	SELECT :window_start, :window_end;
	SELECT snowflake_extend(:lease_id, :'token', 2000, '1 min');
	SELECT node FROM snowflake_workers;
	SELECT snowflake_release(:lease_id, :'token', 5000);
	SELECT count(*) FROM snowflake_registry;
	SELECT last_tick FROM snowflake_watermark;}), "1000|61000\n62000\nother\nt\n0\n61999", 'the protocol works');
is($bare->safe_psql($db, q{LOAD 'snowflake'; SHOW snowflake.lease_duration; SHOW snowflake.sequence_jitter; SHOW snowflake.start_timeout}),
	"10min\n128\n5s", 'the settings are known once the library is loaded');
is((query_error($bare, $db, q{LOAD 'snowflake'; SET snowflake.no_such_thing = 1}))[0], '42602',
	'an unknown setting is refused');
is($bare->safe_psql($db, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '0', 'no keeper was started');

# A line for snowflake.* in the file does not keep a server without the library from starting, nor a session from loading it.
$bare->append_conf('postgresql.conf', "snowflake.max_databases = 3\nsnowflake.max_run = 7\nsnowflake.sequence_jitter = 3\n");
$bare->restart;
is($bare->safe_psql($db, 'SELECT snowflake_timestamp(0) IS NOT NULL; SHOW snowflake.max_run'), "t\n7",
	'settings in the file, without the library');

# A registry that is refused is no reason to go on with another one.
for my $value ('host=x password=hunter2', 'nonsense')
{
	my ($state, $text) = query_error($bare, $db, "SET snowflake.registry = '$value'; SELECT snowflake_timestamp(0)");
	is($state, '22023', 'a registry that was set before the library could refuse it');
	like($text, qr/invalid value for parameter "snowflake\.registry"\nDETAIL: .*\nHINT: /, '... and why');
	unlike($text, qr/hunter2/, '... without the password');
}
$bare->append_conf('postgresql.conf', "snowflake.registry = 'nonsense'\n");
$bare->reload;
ok(wait_until('the file to be read', sub { (query_error($bare, $db, 'SELECT snowflake_timestamp(0)'))[0] eq '22023' }), 'one in the file is refused');
$bare->append_conf('postgresql.conf', "snowflake.registry = ''\n");
$bare->reload;
ok(wait_until('the file to be read', sub { (query_error($bare, $db, 'SELECT snowflake_timestamp(0)'))[0] eq '00000' }), 'and mended there');

SKIP:
{
	skip 'before 17 ids need a library that is preloaded', 1 unless $can_issue;

	subtest 'without preloading, on a running server' => sub {
		$bare->safe_psql('postgres', 'CREATE DATABASE a');
		$bare->safe_psql('a', 'CREATE EXTENSION snowflake');
		my $load = start_clients($bare, 3, "SELECT snowflake_nextvals(100);\nSELECT snowflake_nextval();\n" x 100, dbname => 'a');
		wait_until('ids', sub { client_bytes($load) > 100_000 });
		is($bare->safe_psql('a', 'SELECT state, leases_drawn FROM snowflake_status'), 'issuing|1', 'all sessions have one lease');
		is($bare->safe_psql('a', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '1', 'and one keeper');
		$bare->safe_psql('a', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'});
		my $size = client_bytes($load);
		ok(wait_until('ids', sub { client_bytes($load) > $size + 100_000 }), 'ids flow on when the keeper was ended');
		stop_clients($load);
		my ($ids, $twice) = compare_ids(@{ $load->{files} });
		cmp_ok($ids, '>', 1000, 'ids');
		is($twice, 0, 'none of them twice');
		my $last = $bare->safe_psql('a', 'SELECT max(snowflake_nextval()) FROM generate_series(1, 1000)');

		# The segment outlives the extension, and ends with the server.
		is($bare->safe_psql('a', "DROP EXTENSION snowflake; CREATE EXTENSION snowflake; SELECT snowflake_nextval() > $last"), 't',
			'ids go on above the last one when the extension is created again');
		kill_server($bare, children => 1);
		start_server($bare);
		is($bare->safe_psql('a', "SELECT snowflake_nextval() > $last; SELECT leases_drawn FROM snowflake_status"), "t\n1", 'and after a crash');

		# More databases than there are places.
		my $created = 0;
		for my $i (1 .. 65)
		{
			$bare->safe_psql('postgres', "CREATE DATABASE d$i TEMPLATE template0");
			$bare->safe_psql("d$i", 'CREATE EXTENSION snowflake');
			my ($code, $text) = query_error($bare, "d$i", 'SELECT snowflake_nextval()');
			# A keeper takes one of max_worker_processes, and gives it back with its database.
			$bare->safe_psql('postgres', "ALTER DATABASE d$i CONNECTION LIMIT 0");
			$bare->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'd$i'");
			$created++ if $code eq '00000';
			next if $code eq '00000';
			is($code, 'SF001', "database $i has no place");
			like($text, qr/DETAIL:.*64 places.*HINT:.*shared_preload_libraries/s, '... and the error says what to do');
			last;
		}
		is($created, 63, 'besides database a there are 63 places');
		$bare->safe_psql('postgres', 'DROP DATABASE d1');
		is((query_error($bare, 'd64', 'SELECT snowflake_nextval()'))[0], '00000', 'the place of a dropped database is taken again');
	};
}
$bare->stop('fast');

# Preloading alone, without the extension, is no burden.
my $server = new_server('preload', preload => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);
is($server->safe_psql($db, 'SHOW snowflake.max_databases'), '16', 'preloaded: settings are known before CREATE EXTENSION');

$server->stop('fast');
$server->append_conf('postgresql.conf', "snowflake.registry = 'nonsense'\n");
is($server->start(fail_ok => 1), 0, 'preloaded: a server whose registry is refused does not start');
like(slurp_file($server->logfile), qr/FATAL: .*invalid value for parameter "snowflake\.registry"/, '... and says why');
$server->append_conf('postgresql.conf', "snowflake.registry = ''\n");
$server->start;

### The settings

$server->safe_psql($db, 'CREATE EXTENSION snowflake; CREATE ROLE alice LOGIN');

# name => [ default, context, lowest, highest, values that are refused ]
my %settings = (
	node_name => [ '', 'superuser' ],
	datacenter => [ '0', 'superuser', '0', '2147483647', '-1', '2147483648' ],
	lease_duration => [ '10min', 'superuser', '1s', '1d', q{'999ms'}, q{'86401s'}, '0', '-1' ],
	max_lead => [ '5ms', 'sighup', '0', '10s', '-1', q{'10001ms'} ],
	max_wait => [ '100ms', 'sighup', '0', '1min', '-1', q{'60001ms'} ],
	on_clock_step_back => [ 'new_worker', 'sighup', 'error', 'new_worker', q{'stop'}, q{''} ],
	sequence_jitter => [ '128', 'sighup', '0', '1048576', '-1', '3', '100', '1048577', '2097152' ],
	max_run => [ '256', 'superuser', '1', '1048576', '0', '-1', '1048577' ],
	start_timeout => [ 5 * slowness() . 's', 'user', '0', '1h', '-1', q{'3600001ms'} ],
	max_databases => [ '16', 'postmaster', '1', '10000', '0', '10001' ]);

for my $name (sort keys %settings)
{
	my ($default, $context, $lowest, $highest, @refused) = @{ $settings{$name} };
	is($server->safe_psql($db, "SHOW snowflake.$name"), $default, "snowflake.$name: its default");
	is($server->safe_psql($db, "SELECT context FROM pg_settings WHERE name = 'snowflake.$name'"), $context, '... its context');
	my $value = defined $lowest ? "'$lowest'" : q{'x'};
	my $set = "SET snowflake.$name = $value";
	my $changeable = $context eq 'superuser' || $context eq 'user';
	is((query_error($server, $db, $set))[0], $changeable ? '00000' : '55P02', "... $set");
	my ($rc, $out, $err) = $server->psql($db, "\\set VERBOSITY verbose\n$set", extra_params => [ '-U', 'alice' ]);
	my $expected = $context eq 'user' ? qr/^$/ : $context eq 'superuser' ? qr/42501/ : qr/55P02/;
	like($err, $expected, '... by an ordinary role');
	for my $bad (@refused)
	{
		my ($state, $text) = query_error($server, $db, "ALTER SYSTEM SET snowflake.$name = $bad");
		is($state, '22023', "... ALTER SYSTEM refuses $bad") or diag($text);
		is((query_error($server, $db, "SET snowflake.$name = $bad"))[0], '22023', "... SET refuses $bad") if $changeable;
	}
	for my $good (grep { defined } $lowest, $highest)
	{
		is((query_error($server, $db, "ALTER SYSTEM SET snowflake.$name = '$good'"))[0], '00000', "... ALTER SYSTEM takes $good");
	}
	$server->safe_psql($db, "ALTER SYSTEM RESET snowflake.$name");
}

my ($state, $text) = query_error($server, $db, 'ALTER SYSTEM SET snowflake.sequence_jitter = 100');
like($text, qr/DETAIL:.*power of two/s, 'sequence_jitter: the detail says why');
like($text, qr/HINT:.*1, 2, 4, 8/s, '... and the hint what to do');
is((query_error($server, $db, 'SET snowflake.no_such_thing = 1'))[0], '42602', 'an unknown setting is refused');
isnt((query_error($server, $db, 'ALTER SYSTEM SET snowflake.no_such_thing = 1'))[0], '00000', '... by ALTER SYSTEM too');

### Values at their limits

# Without a lease a call that may not wait fails at once, and the keeper that it started serves the next.
($state, $text) = query_error($server, $db, 'SET snowflake.start_timeout = 0; SELECT snowflake_nextval()');
is($state, 'SF001', 'start_timeout = 0 without a lease');
like($text, qr/DETAIL:.*HINT:/s, '... with a detail and a hint');
ok(wait_until('the keeper has a lease', sub {
	(query_error($server, $db, 'SET snowflake.start_timeout = 0; SELECT snowflake_nextval()'))[0] eq '00000';
}), 'a later call that may not wait either has its id');

sub set_all
{
	my (%values) = @_;
	$server->safe_psql($db, "ALTER SYSTEM SET snowflake.$_ = '$values{$_}'") for sort keys %values;
	$server->reload;
	for my $name (sort keys %values)
	{
		wait_until("$name is known", sub { $server->safe_psql($db, "SELECT setting = (
			SELECT s.setting FROM pg_file_settings s WHERE s.name = g.name AND s.applied) OR boot_val = '$values{$name}'
			OR current_setting(name) = '$values{$name}' FROM pg_settings g WHERE name = 'snowflake.$name'") eq 't' });
	}
	return;
}

for my $values (
	{ sequence_jitter => 0 },
	{ sequence_jitter => 1048576 },
	{ max_run => 1 },
	{ max_run => 1048576 },
	{ max_lead => 0 },
	{ max_lead => '10s' },
	{ max_wait => 0 },
	{ lease_duration => '1s' },
	{ lease_duration => '1d' },
	{ sequence_jitter => 0, max_run => 1, max_lead => 0, max_wait => 0, lease_duration => '1s', start_timeout => '1h' },
	{ sequence_jitter => 1048576, max_run => 1048576, max_lead => '10s', max_wait => '1min', lease_duration => '1d', start_timeout => '0' })
{
	my $name = join(', ', map { "$_ = $values->{$_}" } sort keys %$values);
	set_all(%$values);
	is($server->safe_psql($db, 'SELECT count(DISTINCT id) FROM snowflake_nextvals(10000) id'), '10000', "ids with $name");
	is($server->safe_psql($db, 'SELECT count(DISTINCT snowflake_nextval()) FROM generate_series(1, 5000)'), '5000', '... one by one');
	is($server->safe_psql($db, q{SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
		FROM (SELECT n, snowflake_nextval() AS id FROM generate_series(1, 5000) n OFFSET 0) i) x WHERE id <= before}), '0', '... in order');
	if (($values->{sequence_jitter} // '') eq '0' && keys %$values == 1)
	{
		# pg_sleep lets the ticks pass that were borrowed above, and then each id's, so that each is the first of its own.
		is($server->safe_psql($db, q{SELECT FROM pg_sleep(0.05); SELECT max((snowflake_decode(snowflake_nextval())).seq) FROM (SELECT pg_sleep(0.002) FROM generate_series(1, 20) OFFSET 0) s}),
			'0', '... every tick starts at 0');
	}
	$server->safe_psql($db, 'ALTER SYSTEM RESET ALL');
}
$server->reload;
$server->stop('fast');

# One place alone.
$server->append_conf('postgresql.conf', "snowflake.max_databases = 1\n");
start_server($server);
like($server->safe_psql($db, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'max_databases = 1');
$server->stop('fast');
$server->append_conf('postgresql.conf', "snowflake.max_databases = 10000\n");
start_server($server);
like($server->safe_psql($db, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'max_databases = 10000');
$server->stop('fast');

### Single-user mode

my ($out, $err) = ('', '');
my $input = join("\n", 'SELECT snowflake_nextval();', 'SELECT snowflake_nextvals(2);', 'SELECT state FROM snowflake_status;',
	'SELECT worker FROM snowflake_decode(4095);', q{SELECT window_end FROM snowflake_acquire('n', 0, 1000, '1 min');}, '');
my $single = IPC::Run::run([ 'postgres', '--single', '-D', $server->data_dir, '-c', 'log_error_verbosity=verbose', '-c',
	'log_min_messages=warning', $db ],
	'<', \$input, '>', \$out, '2>', \$err);
ok($single, 'single-user mode ends in order');
my $said = $out . $err;
is(scalar(() = $said =~ /ERROR:  SF001: cannot issue ids in single-user mode/g), 2, 'single-user mode: no ids, and why');
like($out, qr/state = "no lease"/, '... status works');
like($out, qr/worker = "0"/, '... decode works');
like($out, qr/window_end = "61000"/, '... the protocol works');

start_server($server);
like($server->safe_psql($db, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'the server starts in the normal way, and ids flow');
$server->stop('fast');
done_testing();
