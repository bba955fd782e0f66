# A standby of the coordinator takes over, twice, while clients get ids and numbers of a segment and
# write to an outbox through all nodes. The first standby is synchronous, the second lacks the
# registry's last commits. The operator follows the steps of the page in their order. Meanwhile
# workers issue ids. Afterwards every node issues again, under a lease in the new registry (G6). The
# test compares all ids and numbers that clients received or that are in tables, including those of
# lost commits. None appears twice (G1, G11). The outbox's reader misses no row that is in the
# outbox.
# Not in the default run: it needs Citus, which is built for it.
use strict;
use warnings;

use CitusTest;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $seed = seed();
my $conf = "max_connections = 100\nrestart_after_crash = on\nsnowflake.start_timeout = 20s\nsnowflake.lease_duration = 8s\ncitus.recover_2pc_interval = 1s\n";
CitusTest::start(conf => $conf, streaming => 1, registry => 0);
append_to_file($coordinator->data_dir . '/pg_hba.conf', "host all all 127.0.0.1/32 trust\n");
$coordinator->reload;

sub block { my ($what) = @_; return block_of('doc/citus.md', $what); }

# Citus has created a key that only its owner may read, also in the copy of the backup.
sub coordinators_standby
{
	my ($name) = @_;
	$coordinator->backup($name);
	my $server = PostgreSQL::Test::Cluster->new($name);
	$server->init_from_backup($coordinator, $name, has_streaming => 1);
	chmod 0600, $server->data_dir . '/server.key';
	$server->start;
	return $server;
}

# The page's code, changed for these servers.
my $standby = coordinators_standby('standby');
sub here
{
	my ($text) = @_;
	my @ports = map { $_->port } $coordinator, $standby;
	$text =~ s/host=coordinator,standby dbname/sprintf 'host=127.0.0.1,127.0.0.1 port=%d,%d dbname', @ports/e;
	$text =~ s{ passfile=\S+}{};
	$text =~ s/'standby', 5432/sprintf "'127.0.0.1', %d", $standby->port/e;
	return $text;
}

value($coordinator, q{CREATE ROLE snowflake_node LOGIN;
	GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release, snowflake_segment_ranges TO snowflake_node});
value($coordinator, here(block('host=coordinator,standby')));
is(scalar(grep { /^\d+$/ } everywhere('SELECT snowflake_nextval()')), 3, 'each node issues');

value($coordinator, q{
	SELECT snowflake_create_segment('ticket', step => 20, max_step => 200);
	CREATE TABLE orders (tenant int NOT NULL, id bigint NOT NULL DEFAULT snowflake_nextval());
	SELECT create_distributed_table('orders', 'tenant');
	CREATE TABLE ticket (tenant int NOT NULL, id int NOT NULL DEFAULT snowflake_segment_nextval('ticket'));
	SELECT create_distributed_table('ticket', 'tenant');
	CREATE TABLE consumed (id bigint, payload text);
	SELECT citus_add_local_table_to_metadata('consumed')});
value($coordinator, block('CREATE TABLE outbox'));

my $ids = <<'SQL' x 3;
SELECT snowflake_nextval() FROM generate_series(1, 10);
INSERT INTO orders (tenant) SELECT random() * 100 RETURNING id;
INSERT INTO orders (tenant) SELECT n FROM generate_series(1, 20) n RETURNING id;
BEGIN;
INSERT INTO orders (tenant) SELECT random() * 100 RETURNING id;
INSERT INTO outbox (payload) VALUES ('x') RETURNING id;
COMMIT;
SELECT FROM pg_sleep(0.02);
SQL
my $numbers = <<'SQL' x 3;
SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, 5);
INSERT INTO ticket (tenant) SELECT n FROM generate_series(1, 20) n RETURNING id;
SELECT FROM pg_sleep(0.1);
SQL
my $reader = reader_of_outbox() =~ s/^(?=SELECT id, payload FROM batch)/INSERT INTO consumed /mr;
my (@ids, @numbers, @readers);

sub start_loads
{
	my (@nodes) = @_;
	push @ids, map { load_of($_, 2, $ids) } @nodes;
	push @numbers, map { load_of($_, 1, $numbers) } @nodes;
	push @readers, load_of($coordinator, 1, "$reader\nSELECT FROM pg_sleep(0.05);\n" x 10);
	return;
}

sub rows { my (undef, $out) = $coordinator->psql($db, 'SELECT (SELECT count(*) FROM orders) + (SELECT count(*) FROM outbox)'); return $out =~ /^\d+$/ ? $out : 0; }

sub rows_flow
{
	my ($what) = @_;
	my $before = rows();
	return ok(wait_until('rows', sub { $before ||= rows(); $before && rows() > $before + 500 }), $what);
}

sub lease_of { my ($node) = @_; return value($node, 'SELECT lease_id FROM snowflake_status'); }

# Checks that each node has extended its lease in the present registry.
sub all_share
{
	my $since = value($coordinator, 'SELECT clock_timestamp()');
	my $shared = sub {
		my @leases = eval { map { value($_, 'SELECT snowflake_nextval()'); lease_of($_) } $coordinator, @workers };
		return @leases == 3 && value($coordinator, sprintf q{SELECT count(DISTINCT worker_id) FROM snowflake_registry WHERE lease_id IN (%s) AND extended_at > '%s'},
			join(',', @leases), $since) eq '3';
	};
	return ok(wait_until('the leases', $shared), 'every node issues again, under a lease in the new registry');
}

# The operator's steps. Meanwhile workers issue ids, at least for the two thirds of a window that are
# always left.
sub take_over
{
	my $started = time();
	ok(kill_server($coordinator, children => 1), 'the coordinator is gone');
	for my $worker (@workers)
	{
		my ($code, undef, $error) = $worker->psql($db, q{INSERT INTO orders (tenant) SELECT n FROM generate_series(1, 100) n});
		my $window_is_over = $code != 0 && time() - $started > 2 / 3 * 8 && $error =~ /without a lease/;
		ok($code == 0 || $window_is_over, $worker->name . ' writes meanwhile') or diag($error);
	}
	$standby->safe_psql('postgres', block('pg_promote'));
	my $update = here(block('citus_update_node'));
	$coordinator = $standby;
	value($coordinator, $update);
	my $know = sprintf 'SELECT count(*) FROM pg_dist_node WHERE groupid = 0 AND nodeport = %d', $coordinator->port;
	ok(wait_until('the address', sub { join(' ', map { value($_, $know) } @workers) eq '1 1' }), 'workers get to know the new coordinator');
	return time() - $started;
}

start_loads($coordinator, @workers);
rows_flow('all nodes write');

# ---------------------------------------------------------------------------------------------------------------------
# Without loss
# ---------------------------------------------------------------------------------------------------------------------

my ($code, $out, $error) = $standby->psql($db, 'SELECT snowflake_nextval()');
is($code, 0, 'the standby issues ids, too') or diag($error);
my $own = $standby->safe_psql($db, 'SELECT worker FROM snowflake_status');
is(scalar(grep { $_ eq $own } everywhere('SELECT worker FROM snowflake_status')), 0, '... under a worker id of its own');
$coordinator->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n");
$coordinator->reload;
ok(wait_until('it to be synchronous', sub { value($coordinator, q{SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'}) eq '1' }), 'it is synchronous');
rows_flow('rows flow');
my @before = map { lease_of($_) } @workers;
my $seconds = take_over();
value($coordinator, block('SELECT snowflake_settled'));
start_loads($coordinator);
rows_flow('all write through the new coordinator');
all_share();
is(join(' ', map { lease_of($_) } @workers), "@before", 'workers keep their leases');
is(value($coordinator, 'SELECT coalesce(settles_until <= clock_timestamp(), true) FROM snowflake_origin'), 't', 'the registry does not settle');
value($coordinator, q{SELECT snowflake_raise_segment('ticket', 100000)});
pass('the functions of the registry work there');

# ---------------------------------------------------------------------------------------------------------------------
# Commits are lost
# ---------------------------------------------------------------------------------------------------------------------

$standby = coordinators_standby('next_standby');
value($coordinator, here(block('host=coordinator,standby')));
value($coordinator, 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
everywhere('SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
rows_flow('rows flow with another standby');
all_share();
$coordinator->wait_for_catchup($standby, 'replay', $coordinator->lsn('insert'));
kill 'STOP', split /\n/, value($coordinator, q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'});
# The standby does not know the new lease of a restarted worker, nor the newest ranges.
my $known = $standby->safe_psql($db, 'SELECT max(lease_id) FROM snowflake_registry');
$workers[0]->restart;
value($workers[0], 'SELECT snowflake_nextval()');
my $lost = lease_of($workers[0]);
cmp_ok($lost, '>', $known, 'a lease that the standby does not know');
my $last = q{SELECT last_value FROM snowflake_segment WHERE name = 'ticket'};
ok(wait_until('ranges', sub { value($standby, $last) < value($coordinator, $last) }), '... and ranges');
$seconds += take_over();
start_loads($coordinator);
is(value($coordinator, 'SELECT settles_until > clock_timestamp() FROM snowflake_origin'), 't', 'the registry settles');
rows_flow('all write through the last coordinator');
all_share();
is(join(' ', map { /^\d+$/ ? 'issues' : $_ } everywhere(q{SELECT snowflake_segment_nextval('ticket')})), 'issues issues issues', '... and numbers of the segment');

# ---------------------------------------------------------------------------------------------------------------------
# All ids and numbers
# ---------------------------------------------------------------------------------------------------------------------

stop_loads(@ids, @numbers);
value($_, 'SELECT recover_prepared_transactions()') for $coordinator, @workers;
my ($rows, $distinct) = rows_and_ids('orders');
is($distinct, $rows, "$rows rows, $distinct ids");
my ($told, $twice) = compare_ids(map { @{ $_->{files} } } @ids);
is($twice, 0, "$told ids that clients were told, none twice");
my ($told_numbers, $twice_numbers) = compare_ids(map { @{ $_->{files} } } @numbers);
is($twice_numbers, 0, "$told_numbers numbers that clients were told, none twice");
is(value($coordinator, 'SELECT count(*) - count(DISTINCT id) FROM ticket'), '0', '... nor in the table');
ok(wait_until('the reader', sub { value($coordinator, 'SELECT count(*) FROM consumed') >= value($coordinator, 'SELECT count(*) FROM outbox') }), 'the reader comes to the end');
stop_loads(@readers);
my $events = value($coordinator, 'SELECT count(*) FROM outbox');
is(value($coordinator, 'SELECT count(*), count(DISTINCT c.id), count(o.id) FROM consumed c FULL JOIN outbox o USING (id)'), "$events|$events|$events",
	"of $events rows of the outbox none was missed, and none delivered twice");
diag("trials 2 takeovers, seed $seed");
figures('two takeovers of %.1f s each: %d ids and %d numbers told, %d rows of an outbox, %d duplicates', $seconds / 2, $told, $told_numbers, $events, $twice + $twice_numbers);
finish();
