# A node bridges a step back of the clock, so that its ids and its horizon are ahead of the clock when
# it is stopped. pg_upgrade takes less time than that. No reader of the horizon misses a row that is
# written after the upgrade (G2, G12): the last tick is in a table, which pg_upgrade transfers. In a
# database without that row, which is the control, the reader misses all of them.
# SNOWFLAKE_AHEAD_SECONDS: by how much they are ahead; up to 60, as bridged by default.
# Not in the default run: two runs of pg_upgrade.

use strict;
use warnings;

use PgUpgrade;
use SnowflakeTest;
use Test::More;

# More than is usual, so that a slow machine upgrades in time.
my $ahead_s = $ENV{SNOWFLAKE_AHEAD_SECONDS} // 1800;
my $conf = "max_worker_processes = 30\n" . ($ahead_s > 60 ? "snowflake.max_bridge = 1h\n" : '');
my @databases = qw(kept remote control);
my $rows = 10;

my $elsewhere = new_server('elsewhere', patient => 1, conf => "snowflake.max_clock_skew = 2h\n");
start_server($elsewhere);
sql($elsewhere, 'postgres', 'CREATE EXTENSION snowflake');

# Reads up to the horizon, and returns how many rows that is.
sub read_rows
{
	my ($server, $dbname) = @_;
	return sql($server, $dbname, q{WITH reader AS (SELECT last AS before, (SELECT snowflake_horizon()) AS now FROM position),
		moved AS (UPDATE position SET last = greatest(last, now) FROM reader)
		SELECT count(outbox.id) FROM reader LEFT JOIN outbox ON id >= before AND id < now});
}

for my $option ('--copy', '--link')
{
	# PostgreSQL 15 copies without that option.
	my @options = $option eq '--copy' ? () : ($option);
	PgUpgrade::start_old(clock => 1, patient => 1, conf => $conf, name => 'old' . $option);
	move_clock($old, $ahead_s);
	for my $dbname (@databases)
	{
		sql($old, 'postgres', "CREATE DATABASE $dbname");
		sql($old, 'postgres', "ALTER DATABASE $dbname SET snowflake.registry = '" . place('postgres', $elsewhere) . "'") if $dbname eq 'remote';
		sql($old, $dbname, 'CREATE EXTENSION snowflake', 'CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval())',
			'CREATE TABLE position (last bigint)', 'INSERT INTO position VALUES (0)');
	}
	sql($old, $_, "INSERT INTO outbox SELECT FROM generate_series(1, $rows)") for @databases;
	my %read = map { $_ => read_rows($old, $_) } @databases;
	ok(wait_until("the rows of $_", sub { ($read{$_} += read_rows($old, $_)) == $rows }), "$option: the reader has read the rows of $_") for @databases;
	move_clock($old, 0);
	sql($old, $_, 'INSERT INTO outbox DEFAULT VALUES') for @databases;
	ok(wait_until("the row of $_", sub { ($read{$_} += read_rows($old, $_)) == $rows + 1 }), '... and the one that was written after the step back') for @databases;
	$old->stop('fast');
	my $new = upgrade_target($option eq '--copy' ? 'copied' : 'linked', preload => 1, clock => 1, patient => 1, conf => $conf);
	my $ms = PgUpgrade::pg_upgrade($new, @options);
	cmp_ok($ms, '<', $ahead_s * 1000, "$option: the upgrade took less time than the ids are ahead");
	start_server($new);
	sql($new, 'control', 'ALTER TABLE snowflake_last_tick DISABLE TRIGGER snowflake_guard', 'DELETE FROM snowflake_last_tick',
		'ALTER TABLE snowflake_last_tick ENABLE ALWAYS TRIGGER snowflake_guard');
	my %missed;
	for my $dbname (@databases)
	{
		$missed{$dbname} = sql($new, $dbname, "WITH new AS (INSERT INTO outbox SELECT FROM generate_series(1, $rows) RETURNING id) SELECT count(*) FROM new, position WHERE id < last");
	}
	is($missed{kept}, 0, "$option: no row of $rows is missed");
	is($missed{remote}, 0, '... nor if the registry is on another server');
	is($missed{control}, $rows, '... and all without the row');
	ok(wait_until("the new rows of $_", sub { ($read{$_} += read_rows($new, $_)) >= 2 * $rows + 1 }), "... and the reader reads those of $_") for qw(kept remote);
	figures('%s, pg_upgrade %s in %.1f s: missed of %d rows: %s', $PgUpgrade::versions, $option, $ms / 1e3, $rows, join(', ', map { "$_ $missed{$_}" } @databases));
	$new->stop('fast');
}
done_testing();
