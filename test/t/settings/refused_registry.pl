# If snowflake.registry has an invalid value and the library is preloaded, the server does not
# start, and the log says why without the password. If the library is not preloaded, the session
# that loads it gets an error, and does not continue with another registry. If each session loads
# it, no session begins (section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

my $server = new_server('bare', preload => 0, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);
$server->safe_psql($db, 'CREATE EXTENSION snowflake');

# With snowflake.* settings in the file, a server without the library starts, and a session can load
# the library.
$server->append_conf('postgresql.conf', "snowflake.max_databases = 3\nsnowflake.start_timeout = 7s\n");
$server->restart;
is($server->safe_psql($db, 'SELECT snowflake_timestamp(0) IS NOT NULL; SHOW snowflake.start_timeout'), "t\n7s",
	'settings in the file, without the library');

# If a registry is refused, the session does not continue with another one.
for my $value ('host=x password=hunter2', 'nonsense')
{
	my ($state, $text) = query_error($server, $db, "SET snowflake.registry = '$value'; SELECT snowflake_timestamp(0)");
	is($state, '22023', 'a registry that was set before the library could refuse it');
	like($text, qr/invalid value for parameter "snowflake\.registry"\nDETAIL: .*\nHINT: /, '... and why');
	unlike($text, qr/hunter2/, '... without the password');
}
$server->append_conf('postgresql.conf', "snowflake.registry = 'nonsense'\n");
$server->reload;
ok(wait_until('the file to be read', sub { (query_error($server, $db, 'SELECT snowflake_timestamp(0)'))[0] eq '22023' }), 'one in the file is refused');
$server->append_conf('postgresql.conf', "snowflake.registry = ''\n");
$server->reload;
ok(wait_until('the file to be read', sub { (query_error($server, $db, 'SELECT snowflake_timestamp(0)'))[0] eq '00000' }), 'and mended there');

# With session_preload_libraries no session begins until the file is corrected; an existing session
# keeps its setting.
my $session = $server->background_psql($db, on_error_stop => 0);
ask($session, q{LOAD 'snowflake'; SELECT 1});
$server->append_conf('postgresql.conf', "session_preload_libraries = 'snowflake'\nsnowflake.registry = 'nonsense'\n");
$server->reload;
my $refused;
ok(wait_until('the file to be read', sub { $refused = (query_error($server, $db, 'SELECT 1'))[1]; $refused =~ /FATAL/ }),
	'preloaded by sessions: none begins');
like($refused, qr/FATAL: .*invalid value for parameter "snowflake\.registry"\nDETAIL: .*\nHINT: /, '... and says why');
is((ask($session, 'SHOW snowflake.registry'))[0], '', '... but for one that began before');
$session->quit;
$server->append_conf('postgresql.conf', "snowflake.registry = ''\n");
$server->reload;
ok(wait_until('the file to be read', sub { (query_error($server, $db, 'SHOW snowflake.registry'))[0] eq '00000' }), 'and mended there');

$server->stop('fast');

# Preloading without the extension does no harm.
my $preloaded = new_server('preloaded', preload => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($preloaded);
is($preloaded->safe_psql($db, 'SHOW snowflake.max_databases'), '16', 'preloaded: settings are known before CREATE EXTENSION');

$preloaded->stop('fast');
$preloaded->append_conf('postgresql.conf', "snowflake.registry = 'nonsense'\n");
is($preloaded->start(fail_ok => 1), 0, 'preloaded: a server whose registry is refused does not start');
like(slurp_file($preloaded->logfile), qr/FATAL: .*invalid value for parameter "snowflake\.registry"/, '... and says why');
$preloaded->append_conf('postgresql.conf', "snowflake.registry = ''\n");
$preloaded->start;
$preloaded->stop('fast');
done_testing();
