# The keeper runs triggers that others put on the registry's tables, and still ends in time (section
# 5 of the design). A shutdown ends even if these triggers run for ever. A command that needs the
# database gets it within PostgreSQL's 5 s.
#
# Each trigger has its own database and keeper. One shutdown ends all of them.
# Not in the default run: many restarts of a server under load.
# Runs alone: it bounds the time of a shutdown.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# A third of a second from one extend to the next.
my $server = new_server('keeper_ends', patient => 1,
	conf => "snowflake.lease_duration = 1s\nmax_worker_processes = 32\nsnowflake.max_databases = 32\nmax_prepared_transactions = 2\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE ROLE alice');

my $catches = q{
	LOOP
		BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END;
	END LOOP;};
my $catches_at_work = q{
	LOOP
		BEGIN LOOP PERFORM 1; END LOOP; EXCEPTION WHEN query_canceled THEN NULL; END;
	END LOOP;};

# The trigger's function waits, and its advisory lock shows every session that it does.
sub plpgsql
{
	my ($body) = @_;
	return "CREATE FUNCTION hostile() RETURNS trigger LANGUAGE plpgsql AS \$\$
		BEGIN PERFORM pg_advisory_xact_lock(1); $body RETURN NULL; END \$\$; ALTER FUNCTION hostile() OWNER TO alice";
}
sub c { return "CREATE FUNCTION hostile() RETURNS trigger LANGUAGE c AS '$ENV{SNOWFLAKE_TEST_C}/registry_triggers', '$_[0]'"; }

# database => the function, and its trigger's event and table. An extend is an UPDATE, a release a
# DELETE.
my %triggers = (
	control => undef,
	catching_update => [ plpgsql($catches), 'UPDATE' ],
	catching_delete => [ plpgsql($catches), 'DELETE' ],
	working_update => [ plpgsql($catches_at_work), 'UPDATE' ],
	moving_delete => [ plpgsql($catches), 'DELETE' ],
	sleeping_update => [ c('sleeps'), 'UPDATE' ],
	sleeping_delete => [ c('sleeps'), 'DELETE' ],
	sleeping_on_update => [ c('sleeps_on'), 'UPDATE' ],
	sleeping_on_delete => [ c('sleeps_on'), 'DELETE' ],
	twice_update => [ c('bears_cancellation'), 'UPDATE' ],
	dropped_delete => [ plpgsql($catches), 'DELETE' ],
	locked => undef,
	signalled => undef,
	failing => [ c('fails_while_told_to_stop'), 'UPDATE' ],
);

sub keeper
{
	my ($db) = @_;
	return $server->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = '$db'");
}

# Whether the keeper is running the trigger.
sub is_inside
{
	my ($db, $pid) = @_;
	return $server->safe_psql('postgres', "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
		WHERE d.datname = '$db' AND locktype = 'advisory' AND pid = $pid") eq '1';
}

sub activity { return $server->safe_psql('postgres', "SELECT query FROM pg_stat_activity WHERE pid = $_[0]"); }

sub lines_of
{
	my ($pid) = @_;
	return join "\n", grep { /\[$pid\]/ } split /\n/, slurp_file($server->logfile);
}

my %keepers;
for my $db (sort keys %triggers)
{
	$server->safe_psql('postgres', "CREATE DATABASE $db");
	$server->safe_psql($db, 'CREATE EXTENSION snowflake');
	$server->safe_psql($db, "ALTER TABLE $_ OWNER TO alice") for qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick);
	$server->safe_psql($db, 'SELECT snowflake_nextval()');
	my ($function, $event) = @{ $triggers{$db} // [] };
	$keepers{$db} = keeper($db);
	next unless $function;
	$server->safe_psql($db, "$function; CREATE TRIGGER hostile BEFORE $event ON snowflake_registry FOR EACH ROW EXECUTE FUNCTION hostile()");
}
for my $db (qw(catching_update working_update twice_update))
{
	ok(wait_until("$db: the trigger", sub { is_inside($db, $keepers{$db}) }), "$db: the keeper is inside the trigger");
}

### If the keeper gets an error while it is told to stop, it still releases its lease.

ok(wait_until('failing: the keeper to end', sub { keeper('failing') eq '' }), 'a keeper is told to stop as it fails');
is($server->safe_psql('failing', 'SELECT count(*) FROM snowflake_registry'), '0', '... and releases its worker id');

### The second SIGTERM

my $pid = $keepers{twice_update};
kill 'TERM', $pid;
ok(is_inside('twice_update', $pid), 'told to stop once, the trigger goes on');
ok(wait_until('twice_update: the keeper to end', sub { kill 'TERM', $pid; keeper('twice_update') eq '' }), 'told again, the keeper ends');
like(lines_of($pid), qr/FATAL:  terminating background worker "snowflake keeper"/, '... as a process that is ended');

# Two signals may arrive as one.
$pid = $keepers{signalled};
kill 'TERM', $pid for 1 .. 20;
ok(wait_until('signalled: the keeper to end', sub { keeper('signalled') eq '' }), 'the same signal twice, the keeper ends');
like(lines_of($pid), qr/released worker id \d+/, '... and releases its worker id');

### A command that needs the database for itself

my ($rc, $out, $err) = $server->psql('postgres', 'DROP DATABASE dropped_delete');
is($rc, 0, 'DROP DATABASE does not fail because of a trigger') or diag($err);
like(lines_of($keepers{dropped_delete}), qr/FATAL:  terminating background worker "snowflake keeper"/, '... which would go on for ever: the keeper had to be ended');

### One shutdown for all

# During a release: the lease returns to the registry that it came from if the registry has changed.
$server->append_conf('postgresql.conf', sprintf("snowflake.registry = 'host=%s port=%d dbname=control'", $server->host, $server->port));
kill 'HUP', $keepers{moving_delete};
ok(wait_until('moving_delete: the trigger', sub { is_inside('moving_delete', $keepers{moving_delete}) }), 'moving_delete: the keeper is inside the trigger');

# A lock that outlives its session. It locks the row, because the keeper does not wait for a lock on
# the table.
$server->safe_psql('locked', q{BEGIN; SELECT FROM snowflake_registry FOR UPDATE; PREPARE TRANSACTION 'lock'});
ok(wait_until('locked: the keeper to wait', sub {
	$server->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE pid = $keepers{locked} AND NOT granted") eq '1' }), 'locked: the keeper waits for the lock');
ok(wait_until('sleeping_on_update: the trigger', sub { activity($keepers{sleeping_on_update}) eq 'extending the lease' }),
	'sleeping_on_update: the keeper is inside the trigger');

stop_in_time($server, 'fast', 'a shutdown with ' . (keys(%keepers) - 4) . ' keepers');
for my $db (qw(catching_update catching_delete working_update moving_delete))
{
	like(lines_of($keepers{$db}), qr/FATAL:  terminating background worker "snowflake keeper"/, "$db: the keeper had to be ended");
}
for my $db (qw(control sleeping_update sleeping_delete sleeping_on_update))
{
	like(lines_of($keepers{$db}), qr/released worker id \d+/, "$db: the keeper released its worker id");
}

unlike(slurp_file($server->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
done_testing();
