# One server grows into a cluster while clients write (G1). The server's table is distributed as it
# is, and its registry becomes the registry of all nodes. Ids continue under the server's lease. No
# id appears twice, and none is smaller than the previous ids. doc/citus.md has the steps.
# Not in the default run: it needs Citus, which is built for it.

use strict;
use warnings;

use CitusTest;
use Pages;
use SnowflakeTest;
use Test::More;

# A busy machine needs longer for a first id now and then.
my $patient = "snowflake.start_timeout = 60s\n";
$coordinator = start_node('coordinator', conf => "citus.shard_count = 8\n$patient", citus => 0);
value($coordinator, q{CREATE EXTENSION snowflake;
	CREATE TABLE visit (tenant int NOT NULL, id bigint NOT NULL DEFAULT snowflake_nextval(), at timestamptz DEFAULT clock_timestamp());
	INSERT INTO visit (tenant) SELECT n % 100 FROM generate_series(1, 5000) n});
my $load = load_of($coordinator, 2, <<'SQL' x 10);
INSERT INTO visit (tenant) SELECT n FROM generate_series(1, 100) n RETURNING id;
COPY visit (tenant) FROM PROGRAM 'seq 200';
SELECT FROM pg_sleep(0.02);
SQL
my $lease = value($coordinator, 'SELECT lease_id FROM snowflake_status');

value($coordinator, 'CREATE EXTENSION citus');
CitusTest::share_registry();
CitusTest::add_workers(conf => $patient);
my $last = value($coordinator, 'SELECT max(id) FROM visit');
value($coordinator, block_of('doc/citus.md', 'truncate_local_data'));
my @taken = everywhere('SELECT snowflake_nextval()');
is(scalar(grep { /^\d+$/ && $_ > $last } @taken), 3, 'each node takes ids, above those of before') or diag("@taken");
push @workers, my $third = start_node('worker_3', conf => $patient);
add_node($third);
my @loads = ($load, map { load_of($_, 1, "COPY visit (tenant) FROM PROGRAM 'seq 500';\n" x 10) } @workers);
my $rows = sub { value($coordinator, 'SELECT count(*) FROM visit') };
my $before = $rows->();
ok(wait_until('rows', sub { $rows->() > $before + 20_000 }), 'all of them write');
stop_loads(@loads);

my ($all, $ids, $nodes) = rows_and_ids('visit');
is("$ids $nodes", "$all 4", 'no id twice');
is(value($coordinator, 'SELECT lease_id FROM snowflake_status'), $lease, 'the first server has the lease that it had');
is(value($coordinator, q{SELECT count(*) FROM snowflake_registry}), '4', '... in the registry of all');
is(join(' ', map { value($_, 'SELECT advice IS NULL FROM snowflake_status') } $coordinator, @workers), 't t t t', 'nothing is advised');
my ($told, $twice) = compare_ids(@{ $load->{files} });
is($twice, 0, "$told ids that clients were told, none twice");
cmp_ok($all, '>=', $told + 5000, '... and no row is lost');
figures('one server that grew to four nodes under load: %d rows, %d distinct ids', $all, $ids);
finish();
