# Who has the registry's lock waits for no lease's row and no segment: other sessions of hostile
# roles could hold these in turns, and nodes would get no lease meanwhile. Code of others that runs
# in a superuser's session, as ANALYZE runs that of an index, does not get the lock: such a session
# is not ended (section 4 of the design, "Bounds").
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $server = new_server('registry', preload => 0);
$server->start;
sub value { my ($sql) = @_; return $server->safe_psql('postgres', $sql); }
value(q{CREATE EXTENSION snowflake; SELECT snowflake_create_segment('ticket'); CREATE ROLE hostile LOGIN; CREATE SCHEMA hostile AUTHORIZATION hostile;
	GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release, snowflake_segment_ranges TO hostile});

my $clock = q{(extract(epoch FROM clock_timestamp() - timestamptz '2025-01-01 00:00+00') * 1000)::bigint};
my $acquire = "public.snowflake_lease_acquire('x', 0, $clock, '1 min', sha256(decode(md5('x'), 'hex')), 0, NULL)";
my $hostile = $server->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'hostile' ]);
my ($lease, $worker, $start) = split /\|/, $hostile->query_safe("SELECT lease_id, worker_id, window_start FROM $acquire");
my $extend = "SELECT FROM snowflake_lease_extend($lease, sha256(decode(md5('x'), 'hex')), $clock, '1 min', $clock + 100000, $worker, $start)";
my $release = "SELECT snowflake_lease_release($lease, decode(md5('x'), 'hex'), $clock, 0)";

my $locker = $server->background_psql('postgres');
my $ranges = q{snowflake_segment_ranges('x', ARRAY['ticket'], ARRAY[%s]::bigint[], ARRAY[%s]::bigint[], '{0}', '{0}', ARRAY[sha256('x')])};
# A number that was never allocated is evidence of a loss.
my ($waits, $locks, $error);
# It waits for four seconds at most, which a busy machine may use up.
for my $try (1 .. 5)
{
	my $holder = $server->background_psql('postgres', on_error_stop => 0);
	$holder->{stdin} .= sprintf("WITH a AS MATERIALIZED (SELECT FROM $ranges) SELECT pg_sleep(1000) FROM a;\n", 0, 0);
	$holder->{run}->pump_nb;
	ok(wait_until('the segment to be locked', sub { value(q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) eq '1' }), 'a segment is locked');
	my ($id, $last) = split /\|/, value('SELECT segment_id, last_value FROM snowflake_segment');
	$hostile->{stdin} .= sprintf("SELECT FROM $ranges;\n\\echo called\n", $id, $last + 2000);
	$hostile->{run}->pump_nb;
	$waits = wait_until('the call to wait', sub { value('SELECT count(*) FROM pg_locks WHERE NOT granted') eq '1' },
		sub { $hostile->{run}->pump_nb; $hostile->{stdout} =~ /called/ });
	$locks = value(q{SELECT count(*) FROM pg_locks WHERE relation = 'snowflake_origin'::regclass AND mode = 'ShareUpdateExclusiveLock'});
	value(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
	$hostile->query_until(qr/called\n/, '');
	# With a new query, so that its errors have arrived.
	$hostile->query('SELECT 1');
	$error = join "\n", $hostile->{stderr} =~ /(ERROR:.*)/g;
	$hostile->{stderr} = '';
	eval { $holder->{run}->finish };
	last if $error !~ /lock timeout/;
}
ok($waits, 'a call waits for it');
is($locks, '0', '... without the registry\'s lock');
is($error, '', '... and is answered');
is(value('SELECT loss_known FROM snowflake_origin'), 't', '... as evidence of a loss');

# While the registry settles, each call records how long yet, under its lock. So does one that names a
# longer window than was assigned.
$locker->query_safe('BEGIN; SELECT FROM snowflake_registry FOR UPDATE');
like((ask($hostile, $extend))[1], qr/could not obtain lock on row/, 'an extend that has the registry\'s lock waits for no row');
$locker->query_safe('ROLLBACK');
is((ask($hostile, $extend))[1], '', '... and is answered later');
$locker->query_safe('BEGIN; SELECT FROM snowflake_registry FOR UPDATE');
$hostile->query_safe('SELECT pg_sleep(1.1)');
like((ask($hostile, $release))[1], qr/could not obtain lock on row/, 'nor does a release');
$locker->query_safe('ROLLBACK');
$hostile->quit;

$server->safe_psql('postgres', qq{
	CREATE TABLE hostile.t AS SELECT 1 AS a;
	CREATE FUNCTION hostile.f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
	CREATE INDEX ON hostile.t (hostile.f(a));
	CREATE OR REPLACE FUNCTION hostile.f(int) RETURNS int LANGUAGE sql AS \$\$ SELECT worker_id FROM $acquire \$\$}, extra_params => [ '-U', 'hostile' ]);
my ($rc, $out, $err) = $server->psql('postgres', 'ANALYZE hostile.t');
like($err, qr/snowflake_lease_acquire\(\) cannot run within a security-restricted operation/, 'code of others does not call the registry in a superuser\'s session');
$locker->quit;
$server->stop('fast');
done_testing();
