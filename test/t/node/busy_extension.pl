# If an open DROP EXTENSION blocks the keeper, the keeper reports it (section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $server = new_server('busy', conf => "snowflake.lease_duration = 1s\nsnowflake.start_timeout = 1s\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
my $issuer = $server->background_psql('postgres', on_error_stop => 0);
wait_until('an id', sub { (ask($issuer, 'SELECT snowflake_nextval()'))[0] =~ /^\d+$/ });

my $dropper = $server->background_psql('postgres');
$dropper->query_safe('BEGIN; DROP EXTENSION snowflake');
my $warning = qr/WARNING:  snowflake keeper: the registry refused: the registry's tables are locked/;
ok(wait_until('the warning', sub { slurp_file($server->logfile) =~ $warning }), 'the log says what the keeper waits for');
my $error = '';
ok(wait_until('the window to end', sub {
	$error = (ask($issuer, "\\set VERBOSITY verbose\nSELECT snowflake_nextval()"))[1];
	return $error =~ /SF001/;
}), 'when the window has ended calls fail');
like($error, qr/the registry's tables are locked/, '... with the reason');
is(scalar(() = slurp_file($server->logfile) =~ /$warning/g), 1, 'the log said it once');

$dropper->query_safe('ROLLBACK');
$dropper->quit;
ok(wait_until('ids', sub { $server->psql('postgres', 'SELECT snowflake_nextval()') == 0 }), 'when it is rolled back, ids flow');
ok(wait_until('no error', sub { $server->safe_psql('postgres', 'SELECT last_error IS NULL FROM snowflake_status') eq 't' }), '... without an error');
like(slurp_file($server->logfile), qr/the registry answers again/, '... and the log says so');
$issuer->quit;
$server->stop('fast');
done_testing();
