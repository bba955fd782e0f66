# The name of a schema belongs to the schema's owner (section 10 of the design). Another schema of
# this owner that takes the name of the extension's schema gets none of the keeper's calls. Its
# tables are not written with the rights of the real tables' owner, not even by an acquire that
# waited for the registry's lock meanwhile. The keeper follows its own schema.

use strict;
use warnings;

use ProtocolTest qw(begin_acquire end_acquire);
use SnowflakeTest;
use Test::More;
use Traps;

Traps::start_keeper('security');

sql('CREATE DATABASE swapped', 'GRANT CREATE ON DATABASE swapped TO bob');
$server->safe_psql('swapped', q{
	CREATE SCHEMA ids AUTHORIZATION bob;
	CREATE EXTENSION snowflake SCHEMA ids;
	GRANT USAGE ON SCHEMA ids TO PUBLIC;
	SELECT ids.snowflake_nextval();
});
prepare('swapped', 'bob');
my $swapped = $server->background_psql('swapped', extra_params => [ '-U', 'bob' ]);
$swapped->query_safe(q{
	CREATE SCHEMA decoy;
	CREATE FUNCTION decoy.snowflake_lease_extend(bigint, bytea, bigint, interval, bigint, integer, bigint, boolean) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('extend'); RETURN null; END$$;
	CREATE FUNCTION decoy.snowflake_lease_acquire(text, integer, bigint, interval, bytea, bigint, bigint, boolean) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('acquire'); RETURN null; END$$;
	CREATE FUNCTION decoy.snowflake_lease_release(bigint, bytea, bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS
		$$BEGIN PERFORM bob.spring('release'); RETURN true; END$$});
# The keeper calls the registry three times a second: each name lasts for several of its calls.
my $renewed = 0;
for my $round (1 .. 6)
{
	$swapped->query_safe('BEGIN; ALTER SCHEMA ids RENAME TO moved; ALTER SCHEMA decoy RENAME TO ids; COMMIT');
	my $was = $server->safe_psql('swapped', 'SELECT max(extended_at) FROM moved.snowflake_registry');
	wait_until('the keeper follows its schema', sub {
		$server->safe_psql('swapped', "SELECT max(extended_at) > '$was' FROM moved.snowflake_registry") eq 't'
		  || $server->safe_psql('swapped', 'SELECT count(*) FROM traps.seen') ne '0';
	}) and ++$renewed;
	$swapped->query_safe('BEGIN; ALTER SCHEMA ids RENAME TO decoy; ALTER SCHEMA moved RENAME TO ids; COMMIT');
}
is($renewed, 6, 'the keeper finds its registry under the schema\'s new name');
gained_nothing('the keeper', 'swapped');
is(went_off('swapped'), '', 'another schema that takes the old name gets none of the keeper\'s calls');
is($server->safe_psql('swapped', 'SELECT ids.snowflake_nextval() > 0'), 't', 'ids flow on');

# The same while an acquire waits for the registry's lock: it continues with the tables of its own
# extension.
$swapped->query_safe(q{
	SET client_min_messages = warning;
	DROP SCHEMA decoy CASCADE;
	CREATE SCHEMA decoy;
	CREATE TABLE decoy.snowflake_registry (lease_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		worker_id integer NOT NULL UNIQUE, node text, role oid, secret bytea, acquired_at timestamptz, extended_at timestamptz,
		window_start bigint, window_end bigint);
	CREATE TABLE decoy.snowflake_watermark (worker_id integer PRIMARY KEY, last_tick bigint);
	CREATE TABLE decoy.snowflake_layout (singleton boolean PRIMARY KEY DEFAULT true, definition text);
	CREATE TABLE decoy.snowflake_origin (singleton boolean PRIMARY KEY DEFAULT true, system_identifier bigint, timeline bigint,
		started_at timestamptz, clean_at timestamptz, last_lease_id bigint, jumped_from bigint, jumped_to bigint,
		raised_tick bigint NOT NULL DEFAULT -1, longest_us bigint, settles_until timestamptz, settling_us bigint, loss_known boolean,
		settle_called_at timestamptz);
	CREATE TRIGGER trap BEFORE INSERT ON decoy.snowflake_registry FOR EACH ROW EXECUTE FUNCTION bob.fire('tables');
	CREATE TRIGGER trap BEFORE INSERT ON decoy.snowflake_origin FOR EACH ROW EXECUTE FUNCTION bob.fire('tables')});
# A superuser, because others have to commit within a second.
my $holder = $server->background_psql('swapped');
my $settles = $server->background_psql('swapped');
$settles->query_safe('SELECT pg_advisory_lock(1)');
begin_acquire($holder, 1000, schema => 'ids');
my $victim = $server->background_psql('swapped', on_error_stop => 0);
my $victim_pid = $victim->query_safe('SELECT pg_backend_pid()');
my $waits;
# It waits for four seconds at most, which a busy machine may miss.
for my $try (1 .. 5)
{
	$victim->{stdin} .= "SELECT ids.snowflake_lease_acquire('victim', 0, 1000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL);\n\\echo done\n";
	$victim->{run}->pump_nb;
	$waits = wait_until('the victim waits', sub {
		$server->safe_psql('swapped', "SELECT cardinality(pg_blocking_pids($victim_pid))") eq '1';
	}, sub { $victim->{run}->pump_nb; $victim->{stdout} =~ /done/ });
	last if $waits;
	$victim->query_until(qr/done\n/, '');
}
ok($waits, 'an acquire waits for another');
$swapped->query_safe('BEGIN; ALTER SCHEMA ids RENAME TO moved; ALTER SCHEMA decoy RENAME TO ids; COMMIT');
$settles->query_safe('SELECT pg_advisory_unlock(1)');
is(end_acquire($holder), '00000', 'the other one commits');
$victim->query_until(qr/done\n/, '');
gained_nothing(q{the tables of a schema that takes the name meanwhile are not written with the owner's rights}, 'swapped');
$_->quit for $swapped, $holder, $victim, $settles;
is($server->safe_psql('swapped', 'SELECT moved.snowflake_nextval() > 0'), 't', 'ids flow on');

$server->stop('fast');
done_testing();
