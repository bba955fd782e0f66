# The recipes of doc/horizon.md at the same time, on one outbox: partitioned by the id, with the
# trigger snowflake_claim() and with notifications; events in the order of changes; pools whose ids
# may be refused; readers in SQL, and a feed; partitions that are dropped when all have read them; a
# dump that is restored as another database, in which writers and readers continue. Each reader gets
# each row once, also the one of the restored database, and events stay in the order of changes.
# Not in the default run: it runs writers and readers for several seconds.
use strict;
use warnings;

use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $server = new_server('server', preload => 1, patient => 1, conf => "log_statement = none\nautovacuum = off\nmax_connections = 60\nmax_worker_processes = 20\nmax_locks_per_transaction = 256\n");
start_server($server);
sub value { my ($sql, $dbname) = @_; return $server->safe_psql($dbname // 'app', $sql); }
sub block { return block_of('doc/horizon.md', @_); }

# ---------------------------------------------------------------------------------------------------------------------
# The outbox
# ---------------------------------------------------------------------------------------------------------------------

my $seconds = 300 * slowness();
$server->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'") for 'app', 'copy';
value(block('CREATE TABLE outbox ') =~ s/(payload text NOT NULL\));/$1 PARTITION BY RANGE (id);/r);
value(block('CREATE TABLE account') . block('CREATE TRIGGER outbox_notify'));
# A partition for each second. What was ever committed is kept, because partitions are dropped.
value(sprintf q{
DO $$
DECLARE
	bound bigint := 0;
	next bigint;
BEGIN
	FOR i IN 1 .. %d LOOP
		next := snowflake_id_at(now() + i * interval '1 second');
		EXECUTE format('CREATE TABLE outbox_%%s PARTITION OF outbox FOR VALUES FROM (%%s) TO (%%s)', i, bound, next);
		bound := next;
	END LOOP;
	EXECUTE format('CREATE TABLE outbox_rest PARTITION OF outbox FOR VALUES FROM (%%s) TO (MAXVALUE)', bound);
END $$;
CREATE TABLE written (id bigint, payload text);
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO written VALUES (NEW.id, NEW.payload); RETURN NULL; END $$;
CREATE TRIGGER keep AFTER INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION keep();
INSERT INTO outbox_reader VALUES ('feed', 0)}, $seconds);

# ---------------------------------------------------------------------------------------------------------------------
# Writers and readers
# ---------------------------------------------------------------------------------------------------------------------

my $change = block('a change, and its event') =~ s/BEGIN;/BEGIN; SELECT FROM snowflake_nextvals(1);/r;
# Two ids that were requested before the transaction. A refused row gets a new id.
my $pool = q{SELECT snowflake_nextval() AS one, snowflake_nextval() AS two \gset
SELECT FROM pg_sleep(random() * 0.2);
BEGIN;
INSERT INTO outbox VALUES (:one, 'one') \;
INSERT INTO outbox VALUES (:two, 'two');
\set refused :ERROR
COMMIT;
\if :refused
\echo refused :LAST_ERROR_SQLSTATE
INSERT INTO outbox (payload) VALUES ('again');
\endif
};
my $long = q{BEGIN; INSERT INTO outbox (payload) VALUES ('long'); SELECT FROM pg_sleep(random() * 0.5); INSERT INTO outbox (payload) VALUES ('long'); COMMIT;
BEGIN; INSERT INTO outbox (payload) VALUES ('none'); ROLLBACK;
};
sub start_writers
{
	my ($dbname) = @_;
	return (
		(map { start_clients($server, 2, $change =~ s/'anna'/'$_'/gr x 5, dbname => $dbname) } 'anna', 'bert'),
		start_clients($server, 2, $pool x 3, dbname => $dbname), start_clients($server, 2, $long x 3, dbname => $dbname));
}
my $batch = block('one batch, as often');
sub start_readers { my ($dbname) = @_; return start_clients($server, 2, "$batch SELECT FROM pg_sleep(0.02);\n" x 20, dbname => $dbname); }
# The ids of the rows that clients got, in their order.
sub delivered { my ($clients) = @_; return map { -e $_ ? slurp_file($_) =~ /^(\d+)\|(?:\w+|\{.*\})$/mg : () } @{ $clients->{files} }; }

my ($feed, $cursor, @fed) = (block('one page; psql'), 0);
sub read_feed
{
	my ($rows, $next) = value($feed =~ s/:cursor/$cursor/gr) =~ /^(\[.*\])\|(\d+)$/s or die 'no page';
	push @fed, $rows =~ /"id" : "(\d+)"/g;
	$cursor = $next;
	return value("UPDATE outbox_reader SET last_id = $cursor WHERE name = 'feed'");
}

# The oldest partition, if all have read it: its bound is at or below what each of them has read.
my $dropped = 0;
sub drop_a_partition
{
	my $oldest = value(q{SELECT relid::regclass FROM pg_partition_tree('outbox') WHERE isleaf AND relid <> 'outbox_rest'::regclass ORDER BY substr(relid::regclass::text, 8)::int LIMIT 1});
	my ($state) = query_error($server, 'app', qq{SET lock_timeout = '300ms';
DO \$\$ BEGIN
	IF (SELECT (regexp_match(pg_get_expr(relpartbound, oid), 'TO \\(''(\\d+)''\\)'))[1]::bigint FROM pg_class WHERE oid = '$oldest'::regclass) <= (SELECT min(last_id) FROM outbox_reader) THEN
		DROP TABLE $oldest;
	ELSE
		RAISE lock_not_available;
	END IF;
END \$\$});
	++$dropped if $state eq '00000';
	return;
}

my @writers = start_writers('app');
my $readers = start_readers('app');
sub run_until { my ($what, $done) = @_; return ok(wait_until($what, sub { read_feed(); drop_a_partition(); return $done->(); }), $what); }
run_until('rows, and partitions that are dropped', sub { $dropped >= 2 && value('SELECT count(*) FROM written') > 500 });

# ---------------------------------------------------------------------------------------------------------------------
# A dump, restored as another database
# ---------------------------------------------------------------------------------------------------------------------

my $dump = $server->basedir . '/dump.sql';
$server->command_ok([ 'pg_dump', '-d', $server->connstr('app'), '-f', $dump ], 'a dump while all of them run');
$server->command_ok([ 'psql', '-qX', '-v', 'ON_ERROR_STOP=1', '-d', $server->connstr('copy'), '-f', $dump ], '... is restored');
my $read_before = value(q{SELECT last_id FROM outbox_reader WHERE name = 'mail'}, 'copy');
my @dumped = split /\n/, value('SELECT id FROM outbox ORDER BY id', 'copy');
my $unread = grep { $_ > $read_before } @dumped;
my @writers_there = start_writers('copy');
my $readers_there = start_readers('copy');
my $so_far = value('SELECT count(*) FROM written');
my $dropped_so_far = $dropped;
run_until('... all go on', sub { $dropped > $dropped_so_far && value('SELECT count(*) FROM written') > $so_far + 300 && value('SELECT count(*) FROM outbox', 'copy') > @dumped + 300 });
stop_clients($_) for @writers, @writers_there;

# ---------------------------------------------------------------------------------------------------------------------
# What they got
# ---------------------------------------------------------------------------------------------------------------------

sub got
{
	my ($what, $look, $rows) = @_;
	my (@got, %times);
	wait_until("the rest for $what", sub { @got = $look->(); return @got >= @$rows; });
	$times{$_}++ for @got;
	is(scalar(grep { !$times{$_} } @$rows), 0, "$what: of " . @$rows . ' rows none is missed');
	is(scalar(grep { $_ > 1 } values %times), 0, '... none is read twice');
	is(scalar(keys %times), scalar(@$rows), '... and nothing else is read');
	return;
}
my @written = split /\n/, value('SELECT id FROM written ORDER BY id');
got('the reader', sub { delivered($readers) }, \@written);
got('the feed', sub { read_feed(); return @fed; }, \@written);
is(join(' ', @fed), join(' ', @written), '... in the order of ids');
my @there = split /\n/, value("SELECT id FROM outbox WHERE id > $read_before ORDER BY id", 'copy');
got('the reader of the restored database', sub { delivered($readers_there) }, \@there);
stop_clients($_) for $readers, $readers_there;
my %read = map { $_ => 1 } delivered($readers);
is(scalar(grep { $_ <= $read_before && !$read{$_} } @dumped), 0, '... the rest was read before the dump');
for ([ app => 'written' ], [ copy => 'written' ])
{
	my ($dbname, $table) = @$_;
	is(value(qq~SELECT count(DISTINCT name), count(*) FILTER (WHERE id <= id_before), count(*) FILTER (WHERE version <> version_before + 1) FROM (
		SELECT name, id, version, lag(id) OVER w AS id_before, lag(version) OVER w AS version_before
		FROM (SELECT id, payload::json->>'name' AS name, (payload::json->>'version')::bigint AS version FROM $table WHERE payload LIKE '{%') e
		WINDOW w AS (PARTITION BY name ORDER BY version)) e~, $dbname), '2|0|0', "$dbname: the events of two accounts are in the order of their versions, without a gap");
}
my ($refused, $others) = (0, 0);
for my $file (map { @{ $_->{files} } } $writers[2], $writers_there[2])
{
	$_ eq 'SF007' ? ++$refused : ++$others for slurp_file($file) =~ /^refused (\w+)$/mg;
}
is($others, 0, 'pools fail with SF007 alone');
cmp_ok($refused, '>', 0, '... and some do');
cmp_ok(value(q{SELECT count(*) FROM written WHERE payload = 'two'}), '>', 0, '... others are covered');
figures('%d rows, %d in the restored database (%d of the dump not read yet), %d rows of pools refused, %d partitions dropped', scalar(@written), scalar(@there), $unread, $refused, $dropped);

$server->stop('fast');
done_testing();
