# A call without a lease waits for one, up to start_timeout, and then fails with SF001. It gets its
# id as soon as the cause is gone, here a lock on the registry.

use strict;
use warnings;

use lib 'test/perl';
use IdsTest;
use SnowflakeTest;
use Test::More;

my $server = new_server('waiting', patient => 1, conf => q{
log_statement = none
max_prepared_transactions = 5
});
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');

subtest 'a lock that ends lets the waiting call through' => sub {
	$server->safe_psql('postgres', "BEGIN; LOCK TABLE snowflake_registry; PREPARE TRANSACTION 'lock'");
	my ($state, $error) = query_error($server, 'postgres', "SET snowflake.start_timeout = '100ms'; SELECT snowflake_nextval()");
	is($state, 'SF001', 'SF001 until then');
	like($error, qr/DETAIL:.*HINT:/s, 'with detail and hint');
	my $session = session($server);
	$session->{stdin} .= "SELECT 'id:' || snowflake_nextval();\n";
	$session->{run}->pump_nb;
	wait_until('the call to wait', sub { $server->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%id:%' AND wait_event IN ('Extension', 'SnowflakeLease') AND pid <> pg_backend_pid()") });
	$server->safe_psql('postgres', "ROLLBACK PREPARED 'lock'");
	$session->{run}->pump until $session->{stdout} =~ /id:(\d+)/ || $session->{stderr} =~ /ERROR/;
	like($session->{stdout}, qr/id:\d+/, 'an id');
	remember($session->{stdout} =~ /id:(\d+)/);
	$session->quit;
};

is(repeated(), 0, 'no id of any life of this server was ever repeated (G1): ' . remembered() . ' ids');
$server->stop;
done_testing();
