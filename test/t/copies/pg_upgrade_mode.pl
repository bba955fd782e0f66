# While pg_upgrade runs a server, the server issues no ids and assigns no worker ids. Each call is
# refused with the reason, and no keeper starts. Functions that only read ids work as usual.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;

my $server = new_server('server', patient => 1);
start_server($server);
sub sql { return $server->safe_psql('postgres', $_[0]); }
sql(q{
	CREATE EXTENSION snowflake;
	CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);
	INSERT INTO item (n) SELECT generate_series(1, 300);
	-- What asks for ids whenever somebody changes the schema.
	CREATE FUNCTION log_change() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.item (n) VALUES (0); END';
	CREATE EVENT TRIGGER log_change ON ddl_command_end EXECUTE FUNCTION log_change()});
$server->stop('fast');
$server->command_ok([ 'pg_ctl', '-w', '-D', $server->data_dir, '-l', $server->logfile, '-o', '-b', 'start' ], 'a server in binary upgrade mode');
for my $statement ('SELECT snowflake_nextval()', 'INSERT INTO item (n) VALUES (1)', q{COMMENT ON TABLE item IS 'changed'})
{
	my ($state, $text) = query_error($server, 'postgres', $statement);
	is($state, 'SF001', "$statement: refused");
	like($text, qr/cannot issue ids while pg_upgrade runs/, '... with the reason');
}
for my $call (q{lease_acquire('x', 0, 1, '1 min', sha256('s'), 0, NULL)}, q{lease_extend(1, sha256('s'), 1, '1 min', 0, 0, 0)},
	'lease_release(1, uuid_send(gen_random_uuid()), 1, 0)')
{
	my ($state, $text) = query_error($server, 'postgres', "SET snowflake.max_clock_skew = 0; SELECT snowflake_$call");
	like("$state $text", qr/^55000 .*cannot execute snowflake_\w+\(\) while pg_upgrade runs/s, "snowflake_$call: refused");
}
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '0', 'no keeper was started');
is(sql('SELECT count(*) FROM item WHERE snowflake_timestamp(id) > now()'), '0', 'ids are read');
$server->command_ok([ 'pg_ctl', '-w', '-D', $server->data_dir, '-m', 'fast', 'stop' ], 'it stops');
done_testing();
