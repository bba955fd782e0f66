# With each setting at its limits, one by one and all at once, ids are issued in order and none is
# issued twice (G1, G2; section 8 of the design).
# Not in the default run: it starts some 100 processes.

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $db = 'postgres';

my $server = new_server('extremes', preload => 1, patient => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($server);
$server->safe_psql($db, 'CREATE EXTENSION snowflake');

# Without a lease, a call that may not wait fails at once. It starts the keeper, so a later call
# succeeds.
my ($state, $text) = query_error($server, $db, 'SET snowflake.start_timeout = 0; SELECT snowflake_nextval()');
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
	{ max_lead => 0 },
	{ max_lead => '10s' },
	{ max_bridge => 0 },
	{ max_leap => 0 },
	{ max_leap => '1ms' },
	{ lease_duration => '1s' },
	{ lease_duration => '1d' },
	{ max_lead => 0, max_bridge => 0, max_leap => '1ms', lease_duration => '1s', start_timeout => '1h' },
	{ max_lead => '10s', max_bridge => '1d', max_leap => '2147483647ms', lease_duration => '1d', start_timeout => '0' })
{
	my $name = join(', ', map { "$_ = $values->{$_}" } sort keys %$values);
	set_all(%$values);
	# If no call may wait, the test waits until the window has this setting's length.
	wait_until('the window', sub { $server->safe_psql($db, q{SELECT window_end > now() + interval '5 min' FROM snowflake_status}) eq 't' })
	  if ($values->{start_timeout} // '') eq '0';
	is($server->safe_psql($db, 'SELECT count(DISTINCT id) FROM snowflake_nextvals(10000) id'), '10000', "ids with $name");
	is($server->safe_psql($db, 'SELECT count(DISTINCT snowflake_nextval()) FROM generate_series(1, 5000)'), '5000', '... one by one');
	is($server->safe_psql($db, q{SELECT count(*) FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
		FROM (SELECT n, snowflake_nextval() AS id FROM generate_series(1, 5000) n OFFSET 0) i) x WHERE id <= before}), '0', '... in order');
	$server->safe_psql($db, 'ALTER SYSTEM RESET ALL');
}
$server->reload;
$server->stop('fast');

# A single slot.
$server->append_conf('postgresql.conf', "snowflake.max_databases = 1\n");
start_server($server);
like($server->safe_psql($db, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'max_databases = 1');
$server->stop('fast');
$server->append_conf('postgresql.conf', "snowflake.max_databases = 10000\n");
start_server($server);
like($server->safe_psql($db, 'SELECT snowflake_nextval()'), qr/^\d+$/, 'max_databases = 10000');
$server->stop('fast');
done_testing();
