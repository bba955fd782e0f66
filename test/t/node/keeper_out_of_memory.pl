# A keeper runs out of memory while it takes a sample for the horizon, outside of a transaction and
# under the horizon's lock. It leaves no lock behind: the horizon rises, a new session gets its
# first id, and a fast shutdown ends.
#
# test/c/no_memory.c makes one malloc() of the keeper fail. A wait for a lightweight lock ignores
# cancellations, so the test limits each call from outside.
# Runs alone: it bounds the time of a shutdown.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the memory is watched by another library' if $ENV{SNOWFLAKE_WATCHED};

my $server = new_server('node', preload => 1, patient => 1, conf => "log_statement = none\n");
my $turn = $server->basedir . '/no_memory';
{
	local $ENV{LD_PRELOAD} = "$ENV{SNOWFLAKE_TEST_C}/no_memory.so";
	local $ENV{SNOWFLAKE_NO_MEMORY_FILE} = $turn;
	$server->start;
}
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()');

# The answer that a new session gets within a minute.
sub answer
{
	my ($sql) = @_;
	my ($rc, $out) = $server->psql('postgres', $sql, timeout => 60, timed_out => \my $timed_out);
	return $timed_out || $rc != 0 ? 'no answer' : $out;
}

my $log = -s $server->logfile;
append_to_file($turn, answer('SELECT keeper_pid FROM snowflake_status'));
# The first call wakes the keeper, which then takes its first sample.
answer('SELECT snowflake_horizon()');
ok(wait_until('the keeper to run out of memory', sub { !-e $turn }), 'the keeper runs out of memory');

my $id = answer('SELECT snowflake_nextval()');
like($id, qr/^\d+$/, 'a new session gets an id');
my $horizon;
wait_until('the horizon', sub { $horizon = answer('SELECT snowflake_horizon()'); $horizon eq 'no answer' || $horizon > $id });
isnt($horizon, 'no answer', 'the horizon is told');
cmp_ok($horizon, '>', $id, '... and goes on') if $horizon ne 'no answer';
is(answer('SELECT state FROM snowflake_status'), 'issuing', 'the keeper keeps the lease');
stop_in_time($server, 'fast', 'a fast shutdown');
done_testing();
