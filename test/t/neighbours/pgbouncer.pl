# Behind pgbouncer in transaction mode eight clients share three server sessions (G1). No id is
# issued twice, ids rise within each server session, and "the last id" is the session's. A node also
# reaches a registry through pgbouncer, although pgbouncer may refuse settings that a connection
# sends, and learns what the registry waits for.
#
# pgbouncer is Debian's package; test/run unpacks it.
# Not in the default run: it is about other software.

use strict;
use warnings;

use IPC::Run;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $pgbouncer = program_of('pgbouncer', 'pgbouncer');
my $server = new_server('server', preload => 1, streaming => 1, patient => 1, conf => quiet());
start_server($server);
value($server, 'CREATE EXTENSION snowflake');

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
my $bouncer = IPC::Run::start([ $pgbouncer, "$folder/pgbouncer.ini" ], '<', '/dev/null', '>', "$folder/out", '2>&1');
my $pooled = sub { return "host=$folder port=6432 dbname=$_[0] user=$user" };
ok(wait_until('pgbouncer', sub { -S "$folder/.s.PGSQL.6432" }), 'it is there') or diag(slurp_file("$folder/out"));

# Numbers from one sequence show the order of a server session's rows.
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

# pgbouncer may refuse the settings that a connection sends.
value($server, 'CREATE DATABASE behind');
value($server, 'CREATE EXTENSION snowflake', 'behind');
value($server, sprintf q{ALTER DATABASE behind SET snowflake.registry = '%s'; ALTER DATABASE behind SET snowflake.lease_duration = '1s'}, $pooled->('pooled'));
like(value($server, 'SELECT snowflake_nextval()', 'behind'), qr/^\d+$/, 'a registry behind it');
my $end = value($server, 'SELECT window_end FROM snowflake_status', 'behind');
ok(wait_until('the window to move', sub { value($server, "SELECT window_end > '$end' FROM snowflake_status", 'behind') eq 't' }), '... and the window moves');
is(value($server, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/behind'}), '1', '... of the lease there');
my $error = sub { value($server, q{SELECT coalesce(last_error, '') FROM snowflake_status}, 'behind') };
for my $names ('gone', '')
{
	value($server, "ALTER SYSTEM SET synchronous_standby_names = '$names'");
	$server->reload;
	ok(wait_until('the error', sub { $names ? $error->() =~ /^the registry waits for a synchronous standby \(.*"gone"/ : $error->() eq '' }),
		$names ? 'a node says which standby the registry waits for' : '... until it does not');
}
value($server, 'DROP DATABASE behind');
ok(wait_until('the lease to go', sub { value($server, q{SELECT count(*) FROM snowflake_registry WHERE node LIKE '%/behind'}) eq '0' }), '... until it goes back');
$bouncer->signal('INT');
ok(wait_until('pgbouncer to end', sub { !$bouncer->pumpable }), 'pgbouncer ends') or $bouncer->kill_kill;
$bouncer->finish;

$server->stop('fast');
done_testing();
