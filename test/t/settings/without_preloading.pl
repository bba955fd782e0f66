# Without preloading, everything can be read, and a registry that others share works. Before
# PostgreSQL 17 no ids are issued, the error says why, and no keeper starts (section 5 of the
# design).

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

my $server = new_server('bare', preload => 0, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);

is($server->psql($db, 'CREATE EXTENSION snowflake'), 0, 'CREATE EXTENSION works without preloading');
my $can_issue = $server->safe_psql($db, 'SHOW server_version_num') >= 170000;
for my $call ($can_issue ? () : ('snowflake_nextval()', 'snowflake_nextvals(3)'))
{
	my ($state, $text) = query_error($server, $db, "SELECT $call");
	is($state, '55000', "$call without preloading");
	like($text, qr/HINT:.*shared_preload_libraries = 'snowflake'/s, '... and the line that is missing');
}
is((query_error($server, $db, 'SELECT snowflake_currval()'))[0], '55000', 'currval has nothing to show');
is((query_error($server, $db, 'SELECT snowflake_nextvals(0)'))[0], '22023', 'arguments are checked all the same');
is((query_error($server, $db, 'CREATE TABLE t (id bigint DEFAULT snowflake_nextval()); INSERT INTO t DEFAULT VALUES'))[0], '55000',
	'a default says so too') unless $can_issue;

my ($claim) = query_error($server, $db, q{CREATE TABLE claimed (id bigint);
	CREATE TRIGGER claim BEFORE INSERT ON claimed FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id'); INSERT INTO claimed VALUES (7)});
is($claim, $can_issue ? '00000' : '55000', 'and so does the trigger');

is($server->safe_psql($db, q{SET timezone = 'UTC'; SELECT * FROM snowflake_decode(9223372036854775807)}),
	'2094-09-07 15:47:35.551+00|1023|4095', 'decode works');
is($server->safe_psql($db, q{SELECT snowflake_timestamp(0) = '2025-01-01 00:00+00'}), 't', 'timestamp works');
is($server->safe_psql($db, q{SELECT state, node, worker, keeper_pid, last_error FROM snowflake_status}),
	$can_issue ? 'idle||||' : 'not preloaded||||', 'status says it');
is($server->safe_psql($db, q{SELECT state, issuing, idle, keeper_running, registry_here, ids_taken_total, advice, end_of_life_seconds > 0 FROM snowflake_metrics}),
	$can_issue ? 'idle|0|1|0|1|0|0|t' : 'not preloaded|||0|1||0|t', '... in numbers, too: where there is nothing but a registry nothing fails');
is($server->safe_psql($db, q{SELECT workers, leases FROM snowflake_registry_metrics}), '1024|0', '... which has its own');
is($server->safe_psql($db, q{SELECT count(*) FROM snowflake_workers}), '0', 'workers can be read');

my $keepers = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'};
is($server->safe_psql($db, $keepers), '0', 'no keeper was started');

# A registry for other servers needs no preloading.
is($server->safe_psql($db, q{
	SELECT uuid_send(gen_random_uuid()) AS secret \gset
	SELECT lease_id, window_start, window_end FROM snowflake_lease_acquire('other', 0, 1000, '1 min', sha256(:'secret'), 0, NULL) \gset
	SELECT :window_start, :window_end;
	SELECT window_end FROM snowflake_lease_extend(:lease_id, sha256(:'secret'), 2000, '1 min', :window_end, 0, 0);
	SELECT node FROM snowflake_workers;
	SELECT snowflake_lease_release(:lease_id, :'secret', 5000, 62000);
	SELECT count(*) FROM snowflake_registry;
	SELECT last_tick FROM snowflake_watermark;}), "1000|11000\n62000\nother\nt\n0\n61999", 'the protocol works');
is($server->safe_psql($db, q{LOAD 'snowflake'; SHOW snowflake.lease_duration; SHOW snowflake.sequence_jitter; SHOW snowflake.start_timeout}),
	"10min\n128\n5s", 'the settings are known once the library is loaded');
is((query_error($server, $db, q{LOAD 'snowflake'; SET snowflake.no_such_thing = 1}))[0], '42602',
	'an unknown setting is refused');
if ($can_issue) { ok(wait_until('the keeper', sub { $server->safe_psql($db, $keepers) eq '1' }), 'the registry that was asked has a keeper'); }
else { is($server->safe_psql($db, $keepers), '0', 'the registry that was asked has no keeper'); }

# The suggested line keeps other libraries. Not every role sees which these are.
if (!$can_issue)
{
	$server->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_prewarm, auto_explain'\n");
	$server->restart;
	like((query_error($server, $db, 'SELECT snowflake_nextval()'))[1],
		qr/HINT:.*shared_preload_libraries = 'pg_prewarm, auto_explain, snowflake'/, 'the line keeps the libraries that are there');
	$server->safe_psql($db, 'CREATE ROLE somebody');
	my $text = (query_error($server, $db, 'SET ROLE somebody; SELECT snowflake_nextval()'))[1];
	like($text, qr/HINT:  Append snowflake to shared_preload_libraries/, 'an ordinary role is told to append');
	unlike($text, qr/pg_prewarm/, '... and not to what');
}

$server->stop('fast');
done_testing();
