# In single-user mode no ids are issued, and the error says why. Functions that need no keeper work.
# Afterwards ids are issued in normal operation (section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use IPC::Run;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

my $server = new_server('single', preload => 1, patient => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);
$server->safe_psql($db, 'CREATE EXTENSION snowflake');
$server->stop('fast');

my ($out, $err) = ('', '');
my $secret = q{'\x11111111111111111111111111111111'};
my $input = join("\n", 'SELECT snowflake_nextval();', 'SELECT snowflake_nextvals(2);', 'SELECT state FROM snowflake_status;',
	'SELECT worker FROM snowflake_decode(251658240000);', 'SELECT e.window_end'
	  . " FROM snowflake_lease_acquire('n', 0, 1000, '1 min', sha256($secret), 0, NULL) a,"
	  . " LATERAL snowflake_lease_extend(a.lease_id, sha256($secret), a.window_start, '1 min', 0, 0, 0) e;", '');
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
