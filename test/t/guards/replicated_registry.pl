# Logical replication of all tables, including the registry's: FOR ALL TABLES with the initial copy,
# later changes, and the registry's tables in both directions. Rows of other tables arrive. Each
# server keeps its own registry, and both issue ids.
# Not in the default run: it starts some 150 processes.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $db = 'postgres';
my $conf = "wal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\nmax_worker_processes = 20\nsnowflake.lease_duration = 12s\n"
  . "wal_retrieve_retry_interval = 100ms\n";
my %servers = map { $_ => new_server($_, patient => 1, conf => $conf) } qw(source target);
sub value { my ($name, $sql) = @_; return $servers{$name}->safe_psql($db, $sql); }

sub subscribe
{
	my ($to, $from, $name, $options) = @_;
	return value($to, sprintf("CREATE SUBSCRIPTION $name CONNECTION 'host=%s port=%s dbname=$db' PUBLICATION $name $options",
		$servers{$from}->host, $servers{$from}->port));
}

# The parts of a registry that do not change by themselves while its node runs.
sub registry_of
{
	my ($name) = @_;
	return value($name, q{SELECT (SELECT string_agg(concat_ws(' ', lease_id, worker_id, node, secret_hash, window_start), ', ' ORDER BY lease_id) FROM snowflake_registry),
		(SELECT string_agg(w::text, ', ' ORDER BY worker_id) FROM snowflake_watermark w), (SELECT l::text FROM snowflake_layout l), (SELECT o::text FROM snowflake_origin o),
		(SELECT string_agg(s::text, ', ' ORDER BY name) FROM snowflake_segment s)});
}

sub arrived
{
	my ($what) = @_;
	my $rows = value('source', 'INSERT INTO event SELECT FROM generate_series(1, 100); SELECT count(*) FROM event');
	ok(wait_until("rows $what", sub { value('target', 'SELECT count(*) FROM event') eq $rows }), "rows arrive $what");
	return;
}

sub issues
{
	my ($name, $what) = @_;
	is(value($name, 'SELECT count(DISTINCT id) FROM snowflake_nextvals(100) id'), '100', "the $name issues $what");
	return;
}

# The node's lease is deleted, which leaves a watermark. The next extend finds the lease gone, and
# the node acquires another one.
sub renew
{
	my ($name) = @_;
	my $before = value($name, 'SELECT lease_id FROM snowflake_status');
	value($name, 'DELETE FROM snowflake_registry');
	return wait_until("another lease at the $name", sub {
		my ($rc, $id) = $servers{$name}->psql($db, 'SELECT snowflake_nextval(); SELECT lease_id FROM snowflake_status');
		return $rc == 0 && (split /\n/, $id)[1] ne $before;
	});
}

for my $name (qw(source target))
{
	start_server($servers{$name});
	value($name, 'CREATE EXTENSION snowflake; CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_nextval())');
	issues($name, 'alone');
	ok(renew($name), '... and has watermarks');
}
my $own = registry_of('target');
value('source', 'CREATE PUBLICATION everything FOR ALL TABLES');
value('source', 'INSERT INTO event SELECT FROM generate_series(1, 100)');
subscribe('target', 'source', 'everything', '');
arrived('by the initial copy');
ok(wait_until('every table', sub { value('target', q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'}) eq '0' }), 'every table is copied');
is(registry_of('target'), $own, '... and the registry of the target is its own');
issues('target', 'on');

# Later changes of every kind.
ok(renew('source'), 'the source acquires another worker id');
value('source', q{UPDATE snowflake_watermark SET last_tick = last_tick + 1;
	INSERT INTO snowflake_watermark SELECT max(n), 1 FROM generate_series(0, 1023) n
		WHERE n NOT IN (SELECT worker_id FROM snowflake_watermark UNION SELECT worker_id FROM snowflake_registry);
	ALTER TABLE snowflake_registry DISABLE TRIGGER snowflake_guard; UPDATE snowflake_registry SET node = 'renamed';
	ALTER TABLE snowflake_registry ENABLE ALWAYS TRIGGER snowflake_guard; SELECT snowflake_settle('to change that table, too'); SELECT snowflake_settled()});
issues('source', 'on');
arrived('beside changes of the registry');
is(registry_of('target'), $own, 'the registry of the target is its own');
issues('target', 'on');

# In the other direction, without the rows, which before 16 would circulate.
value('target', 'CREATE PUBLICATION back FOR TABLE snowflake_registry, snowflake_watermark, snowflake_layout, snowflake_origin, snowflake_segment, snowflake_segment_range, snowflake_last_tick');
subscribe('source', 'target', 'back', '');
ok(wait_until('every table', sub { value('source', q{SELECT count(*) FILTER (WHERE srsubstate = 'r') FROM pg_subscription_rel}) eq '7' }), 'the registry is copied back');
my $of_source = registry_of('source');
ok(renew('target'), 'the target acquires another worker id');
issues('target', 'on');
ok(wait_until('the source to have what came back', sub {
	value('target', q{SELECT bool_and(replay_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication WHERE application_name = 'back'}) eq 't' }), 'what it writes goes back');
is(registry_of('source'), $of_source, '... and the registry of the source is its own');
arrived('in both directions');

my $errors = subscription_errors();
is(value($_, $errors), '0', "no subscription of the $_ failed") for qw(source target);
for my $name (qw(source target))
{
	my $log = slurp_file($servers{$name}->logfile);
	unlike($log, qr/is discarded/, "the $name does not fill its log with what it discards");
	unlike($log, qr/settles until [^:]*(:\d\d)*[^:]*: (?!to change)/, '... and knows of no loss');
}
value($_->[0], "ALTER SUBSCRIPTION $_->[1] DISABLE") for [ 'target', 'everything' ], [ 'source', 'back' ];
$_->stop('fast') for values %servers;
done_testing();
