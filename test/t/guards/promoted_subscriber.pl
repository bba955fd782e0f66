# A physical copy is promoted and subscribes to the server that it was copied from, with copy_data =
# false, as pg_createsubscriber does. The copy's registry began as a copy of the other registry.
# Whatever the other registry does, rows keep arriving, and the copy's node continues to issue ids.
# Not in the default run: it starts some 100 processes.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $db = 'postgres';
my $primary = new_server('primary', streaming => 1, patient => 1, conf => "wal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\n"
	  . "max_worker_processes = 20\nsnowflake.lease_duration = 2s\nautovacuum = off\n");
start_server($primary);
sub value { my ($server, $sql) = @_; return $server->safe_psql($db, $sql); }

# Removes the server's lease again and again. Each time, the registry's tables get an INSERT, an
# UPDATE and a DELETE.
sub draw_anew
{
	my ($server, $times) = @_;
	for (1 .. $times)
	{
		my $before = value($server, 'SELECT lease_id FROM snowflake_status');
		value($server, 'DELETE FROM snowflake_registry');
		wait_until('another lease', sub {
			my ($rc, $out) = $server->psql($db, 'SELECT snowflake_nextval(); SELECT lease_id FROM snowflake_status');
			return $rc == 0 && (split /\n/, $out)[1] ne $before;
		}) or return 0;
	}
	return 1;
}

value($primary, q{CREATE EXTENSION snowflake; CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), node text NOT NULL DEFAULT current_setting('cluster_name'));
	INSERT INTO event SELECT FROM generate_series(1, 100); CREATE PUBLICATION everything FOR ALL TABLES});
my $copy = standby_of($primary, 'copy');
value($primary, q{SELECT pg_create_logical_replication_slot('everything', 'pgoutput')});
$primary->wait_for_catchup($copy, 'replay', $primary->lsn('flush'));
$copy->promote;
value($copy, sprintf(q{CREATE SUBSCRIPTION everything CONNECTION 'host=%s port=%s dbname=%s' PUBLICATION everything
	WITH (copy_data = false, create_slot = false, slot_name = 'everything')}, $primary->host, $primary->port, $db));

# Both registries assign the same lease ids, so their rows would conflict.
ok(draw_anew($copy, 1), 'the copy acquires its own worker id');
# The copy must keep this lease, however slow the machine is.
set_lease_duration($copy, '2min');
ok(wait_until('a long window', sub { value($copy, q{SELECT window_end > clock_timestamp() + interval '1 min' FROM snowflake_status}) eq 't' }), '... for long');
my $worker = value($copy, 'SELECT worker FROM snowflake_status');
isnt($worker, value($primary, 'SELECT worker FROM snowflake_status'), "... $worker, which the other has not");
for my $round (1 .. 3)
{
	ok(draw_anew($primary, 2), "round $round: the primary acquires another lease");
	my $rows = value($primary, q{INSERT INTO event SELECT FROM generate_series(1, 100); SELECT count(*) FROM event WHERE node = 'primary'});
	ok(wait_until('rows', sub { value($copy, q{SELECT count(*) FROM event WHERE node = 'primary'}) eq $rows }), '... and its rows arrive');
	is(value($copy, q{INSERT INTO event (node) SELECT 'copy' FROM generate_series(1, 100); SELECT count(*) FROM event WHERE node = 'copy'}), 100 * $round, '... the copy issues');
}
is(value($copy, 'SELECT worker FROM snowflake_status'), $worker, 'the copy has the worker id that it had');
is(value($copy, 'SELECT timeline, system_identifier FROM snowflake_origin'), value($copy, 'SELECT 2, system_identifier FROM pg_control_system()'), '... and its registry knows where it is');
is(value($copy, 'SELECT count(*) FROM snowflake_registry r JOIN snowflake_status s USING (lease_id)'), '1', '... and of its lease');
is(value($copy, subscription_errors()), '0', 'replication has met no error');
my $settled = () = slurp_file($copy->logfile) =~ /snowflake registry settles until/g;
is($settled, 1, 'the copy settled once, when it was promoted');
value($copy, 'ALTER SUBSCRIPTION everything DISABLE');
$copy->stop('fast');
$primary->stop('fast');
done_testing();
