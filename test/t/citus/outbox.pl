# An outbox on the coordinator, a local table of Citus, records changes of distributed tables.
# Clients write to the page's outbox through every node, in transactions of one shard and of many
# shards, while workers are killed. The outbox's reader on the coordinator misses no row, and gets
# none twice, even if it is killed with the coordinator. The outbox and the tables agree: each
# change has its row, and each row its change.
#
# The test also shows why the page's outbox is as it is. A plain table is not committed together
# with the workers. A default is evaluated on the node through which a client writes. The
# coordinator's horizon does not cover that node's ids, so snowflake_claim refuses some of them. A
# reader on another node is refused. SNOWFLAKE_MIXTURE_SECONDS sets the duration (20 by default).
# Not in the default run: it needs Citus, which is built for it.
use strict;
use warnings;

use CitusTest;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $seconds = ($ENV{SNOWFLAKE_MIXTURE_SECONDS} || 20) * slowness();
my $seed = seed();
my $conf = "restart_after_crash = on\nsnowflake.start_timeout = 30s\ncitus.recover_2pc_interval = 1s\n";
CitusTest::start(conf => $conf);
my @nodes = ($coordinator, @workers);

value($coordinator, q{CREATE TABLE account (tenant int PRIMARY KEY, changes int NOT NULL DEFAULT 0);
	SELECT create_distributed_table('account', 'tenant');
	INSERT INTO account SELECT n FROM generate_series(1, 100) n});
value($coordinator, block_of('doc/citus.md', 'CREATE TABLE outbox'));
value($_, 'SELECT snowflake_nextval()') for @nodes;
my $own = value($coordinator, 'SELECT worker FROM snowflake_status');

# ---------------------------------------------------------------------------------------------------------------------
# Why the outbox is as it is
# ---------------------------------------------------------------------------------------------------------------------

my $write = block_of('doc/citus.md', 'INSERT INTO outbox .payload');
value($_, $write =~ s/orders SET item = 'coffee'/account SET changes = changes + 1/r) for @nodes;
is(value($coordinator, 'SELECT count(*), count(DISTINCT id), count(DISTINCT (snowflake_decode(id)).worker), max((snowflake_decode(id)).worker) FROM outbox'),
	"3|3|1|$own", 'through each node: all ids are the coordinator\'s');
value($workers[0], q{COPY outbox (payload) FROM PROGRAM 'seq 100'; INSERT INTO outbox (payload) SELECT n FROM generate_series(1, 100) n});
is(value($coordinator, 'SELECT count(*), count(DISTINCT id), max((snowflake_decode(id)).worker) FROM outbox'), "203|203|$own", '... by COPY and INSERT ... SELECT');

my ($state, $error) = query_error($workers[0], $db, 'SELECT id FROM outbox WHERE id < (SELECT snowflake_horizon())');
is($state, '0A000', 'a reader on a worker is refused');
like($error, qr/HINT:.*on the node that has it/, '... and told where to read');

# With a default and the horizon's trigger instead.
value($coordinator, q{CREATE TABLE claimed (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text);
	CREATE TRIGGER claim BEFORE INSERT ON claimed FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
	SELECT citus_add_local_table_to_metadata('claimed')});
my $asking = load_of($coordinator, 1, 'SELECT FROM snowflake_horizon();' . "\n\\watch 0.002 c=1000\n");
my %said;
for my $node ($coordinator, $workers[0])
{
	for (1 .. 100)
	{
		my ($state) = query_error($node, $db, q{INSERT INTO claimed (payload) VALUES ('x')});
		$said{ $node->name }{$state}++;
	}
}
stop_loads($asking);
is(join(' ', %{ $said{coordinator} }), '00000 100', 'a default and snowflake_claim: covered through the coordinator');
is(join(' ', sort grep { $_ !~ /^(00000|SF007)$/ } keys %{ $said{worker_1} }), '', '... and through a worker covered or refused');
figures('with a default, %d of 100 rows through a worker are refused (SF007)', $said{worker_1}{SF007} // 0);

# The commit fails after the workers have committed, because PostgreSQL checks for serialization
# failures last.
value($coordinator, q{CREATE TABLE plain (id bigint DEFAULT snowflake_nextval(), payload text);
	CREATE TABLE skew (n int); INSERT INTO skew VALUES (1)});
sub torn
{
	my ($table) = @_;
	my $before = value($coordinator, 'SELECT changes FROM account WHERE tenant = 50');
	my @sessions = map { $coordinator->background_psql($db, on_error_stop => 0) } 1, 2;
	ask($_, 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM skew') for @sessions;
	ask($sessions[0], "UPDATE account SET changes = changes + 1 WHERE tenant = 50; INSERT INTO $table (payload) VALUES ('torn'); INSERT INTO skew VALUES (2)");
	ask($sessions[1], 'INSERT INTO skew VALUES (3)');
	ask($sessions[1], 'COMMIT');
	my (undef, $failed) = ask($sessions[0], 'COMMIT');
	$_->quit for @sessions;
	like($failed, qr/could not serialize access/, "$table: the commit fails");
	wait_until('the worker', sub { value($_, 'SELECT count(*) FROM pg_prepared_xacts') eq '0' }) for @workers;
	return value($coordinator, "SELECT (SELECT changes FROM account WHERE tenant = 50) - $before, count(*) FROM $table WHERE payload = 'torn'");
}
is(torn('plain'), '1|0', '... and a plain table of the coordinator lacks the row of a change that is there');
is(torn('outbox'), '0|0', '... and a local table of Citus has neither');

# ---------------------------------------------------------------------------------------------------------------------
# Load and faults
# ---------------------------------------------------------------------------------------------------------------------

value($coordinator, q{TRUNCATE outbox; UPDATE account SET changes = 0;
	CREATE TABLE consumed (id bigint, payload text);
	SELECT citus_add_local_table_to_metadata('consumed')});
# The page's reader, which does its work in the same database.
my $batch = reader_of_outbox();
my $reader = $batch =~ s/^(?=SELECT id, payload FROM batch)/INSERT INTO consumed /mr;
my $change = 'UPDATE account SET changes = changes + 1 WHERE tenant';
my $many = "INSERT INTO outbox (payload) SELECT n FROM generate_series(1, 5) n;\n$change BETWEEN 1 AND 5;\n";
my $script = join '', map { <<"SQL" } 1 .. 20;
SELECT 6 + (random() * 94)::int AS tenant, random() * 0.05 AS pause \\gset
BEGIN;
$change = :tenant;
INSERT INTO outbox (payload) VALUES (:tenant);
SELECT FROM pg_sleep(:pause);
COMMIT;
BEGIN;
INSERT INTO outbox (payload) VALUES (:tenant);
$change = :tenant;
@{[ $_ % 10 ? '' : $many ]}COMMIT;
BEGIN;
INSERT INTO outbox (payload) VALUES (-1);
$change = :tenant;
ROLLBACK;
SQL
my @loads = map { load_of($_, 3, $script) } @nodes;
my $readers = load_of($coordinator, 2, "$reader\nSELECT FROM pg_sleep(0.02);\n" x 10);

my ($trials, $kills) = (0, 0);
my $end = time() + $seconds;
sub rows { my (undef, $out) = $coordinator->psql($db, 'SELECT count(*) FROM outbox'); return $out =~ /^\d+$/ ? $out : 0; }
until (time() > $end)
{
	sleep(1 + rand 3);
	my $node = $nodes[ rand @nodes ];
	$trials++;
	next unless kill_server($node, children => 1);
	sleep(rand 0.5);
	$node->start;
	$kills++;
	my $before = 0;
	ok(wait_until('rows', sub { $before ||= rows(); $before && rows() > $before }), 'rows after ' . $node->name . ' was killed');
}
stop_loads(@loads);
# A session of a killed node may still end one.
ok(wait_until('the last of them', sub {
	value($_, 'SELECT recover_prepared_transactions()') for @nodes, $coordinator;
	return join(' ', map { value($_, 'SELECT count(*) FROM pg_prepared_xacts') } @nodes) eq '0 0 0';
}), 'no transaction is left prepared');
my $rows = rows();
ok(wait_until('the reader', sub { value($coordinator, 'SELECT count(*) FROM consumed') >= rows() }), 'the reader comes to the end');
stop_loads($readers);
is(value($coordinator, 'SELECT count(*), count(DISTINCT id), (SELECT count(*) FROM outbox o WHERE NOT EXISTS (SELECT FROM consumed c WHERE c.id = o.id)) FROM consumed'),
	"$rows|$rows|0", "of $rows rows none was missed, and none delivered twice");
is(value($coordinator, 'SELECT count(*) FROM consumed WHERE payload::int < 0'), '0', '... and none that was rolled back');
is(value($coordinator, q{CREATE TABLE counted AS SELECT tenant, changes FROM account;
	SELECT count(*) FROM counted a FULL JOIN (SELECT payload::int AS tenant, count(*) AS events FROM consumed GROUP BY 1) e USING (tenant)
	WHERE coalesce(changes, 0) <> coalesce(events, 0)}), '0', 'each change has its row, and each row its change');
diag("trials $trials, seed $seed");
figures('%d rows of an outbox of three nodes, %d kills, none missed, none twice', $rows, $kills);
finish();
