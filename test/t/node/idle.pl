# In an idle database the keeper runs no transaction, and checks only every 2 s (section 5 of the
# design).

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $server = new_server('idle', patient => 1, conf => "snowflake.lease_duration = 1h\nautovacuum = off\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE DATABASE idle');
$server->safe_psql('idle', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');
# Growing windows are extended every few seconds.
set_lease_duration($server, '1d');
ok(wait_until('the whole window', sub {
	$server->safe_psql('idle', q{SELECT window_end > now() + interval '22 h' FROM snowflake_status}) eq 't' }), 'the window is whole');

my $keeper = $server->safe_psql('idle', 'SELECT keeper_pid FROM snowflake_status');
# Read from another database.
sub commits { return $server->safe_psql('postgres', q{SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'idle'}) }
sub wal { return $server->safe_psql('postgres', q{SELECT pg_current_wal_insert_lsn() - '0/0'}) }

# The keeper checks once more after CREATE, and sessions report their statistics when they end.
my $before = sleeps_of($keeper);
ok(wait_until('a look', sub { sleeps_of($keeper) >= $before + 2 }), 'what was created has been looked at');
my $commits = commits();
# In this order: a pause between the two makes the time longer.
my $began = time();
$before = sleeps_of($keeper);
ok(wait_until('some looks', sub { sleeps_of($keeper) >= $before + 4 }), 'the keeper looks whether anybody wants the database');
my $took = time() - $began;
cmp_ok($took, '>', 4, 'not more often than once a second');
is(commits(), $commits, '... and without a transaction');
figures('4 looks in %.1f s', $took);

# The keeper looks at the catalogs if a table is created or dropped. A session reports its own
# transactions when it ends. From 18 on the keeper finds the extension in its cache, and a
# transaction that uses no table is not reported.
SKIP:
{
	skip 'the look cannot be seen', 2 if $server->safe_psql('postgres', 'SHOW server_version_num') >= 180000;
	my $then = commits();
	$server->safe_psql('idle', 'SELECT');
	ok(wait_until('what a session has done', sub { commits() > $then }), 'a session costs a transaction');
	my $own = commits() - $then;
	$server->safe_psql('idle', 'CREATE TABLE t ()');
	ok(wait_until('a transaction', sub { commits() > $then + 2 * $own }), 'the keeper looks at the catalogs when a table was created');
}
$server->safe_psql('idle', 'DROP EXTENSION snowflake');
ok(wait_until('the keeper to end', sub { !-e "/proc/$keeper" }), '... and ends when it was the extension that was dropped');

$server->stop('fast');
done_testing();
