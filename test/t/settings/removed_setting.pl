# A line that sets snowflake.max_wait, which version 1.2 has no more, keeps no server from starting and no other setting from being
# read: who loads the library is warned, and told what to do.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $warning = qr/WARNING:  (?:42704: )?there is no setting "snowflake\.max_wait" any more\n.*DETAIL:  Nothing waits for a clock that stepped back: ids go on in order\.\n.*HINT:  Remove it; snowflake\.max_bridge says/;

my $server = new_server('preloaded', preload => 1, conf => "snowflake.max_wait = '100ms'\n");
start_server($server);
my $log = slurp_file($server->logfile);
like($log, $warning, 'a server that preloads the library starts, with a warning');
$server->safe_psql($db, 'CREATE EXTENSION snowflake');
like($server->safe_psql($db, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'ids flow');
is((query_error($server, $db, 'SHOW snowflake.max_wait'))[0], '42704', 'the setting is gone');
$server->append_conf('postgresql.conf', "snowflake.max_bridge = '2min'\n");
$server->reload;
ok(wait_until('the file to be read', sub { $server->safe_psql($db, 'SHOW snowflake.max_bridge') eq '2min' }), 'other lines are read');
is(scalar(() = slurp_file($server->logfile) =~ /$warning/g), 1, 'sessions, and the keeper, do not warn again');
$server->stop('fast');

$server = new_server('bare', preload => 0, conf => "snowflake.max_wait = '100ms'\n");
start_server($server);
my ($rc, $out, $err) = $server->psql($db, "\\set VERBOSITY verbose\nLOAD 'snowflake'");
is($rc, 0, 'a session loads the library');
like($err, $warning, '... and is warned');
$server->stop('fast');
done_testing();
