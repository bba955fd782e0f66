# Runs doc/citus.md block by block: a cluster by the page's recipe, with a password for the nodes;
# the check that all nodes share the registry, on this cluster and on one whose nodes do not;
# tables, COPY, partitions, tables that are converted, and a new column of a reference table.
# Not in the default run: it needs Citus, which is built for it.

use strict;
use warnings;

use CitusTest;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

sub block { my ($language, $what) = @_; return find_block('doc/citus.md', $what, $language); }

sub text { return block(@_)->{text}; }

# ---------------------------------------------------------------------------------------------------------------------
# The recipe
# ---------------------------------------------------------------------------------------------------------------------

my $preload = text('', '^shared_preload_libraries');
my $wrong = new_server('wrong', preload => 0, conf => $preload =~ s/citus,snowflake/snowflake,citus/r);
isnt($wrong->start(fail_ok => 1), 1, 'Citus behind snowflake: the server does not start');
like(slurp_file($wrong->logfile), qr/Citus has to be loaded first/, '... and Citus says why');

# A busy machine needs longer for a first id now and then.
my $patient = "\nsnowflake.start_timeout = 60s\n";
$coordinator = start_node('coordinator', conf => "citus.shard_count = 8\n$preload$patient", citus => 0);
@workers = map { start_node($_, conf => $preload . $patient, citus => 0) } 'worker1', 'worker2';
my %node = map { $_->name => $_ } $coordinator, @workers;
my $folder = PostgreSQL::Test::Utils::tempdir();
my $here = 'host=127.0.0.1 port=' . $coordinator->port;

# The page's code, changed for these servers, which Citus distinguishes by their ports.
sub here
{
	my ($text) = @_;
	$text =~ s/'(coordinator|worker\d)', 5432/sprintf "'127.0.0.1', %d", $node{$1}->port/ge;
	$text =~ s/host=coordinator/$here/g;
	$text =~ s/^coordinator:/127.0.0.1:/mg;
	$text =~ s/10\.0\.0\.0\/24/127.0.0.1\/32/g;
	$text =~ s{/(?:etc/postgresql|srv)/}{$folder/}g;
	return $text;
}

sub run_block { my ($what) = @_; return value($coordinator, here(text('sql', $what))); }

# The cells of a table, of this run or of the page, with all digits made equal.
sub cells
{
	my ($text) = @_;
	my @lines = grep { /\|/ } split /\n/, $text;
	return map { join '|', map { s/^\s+|\s+$//gr =~ s/\d+/N/gr } split(/\|/, $_, -1) } @lines;
}

value($_, text('sql', '^CREATE EXTENSION citus')) for values %node;
run_block('citus_add_node');
append_to_file("$folder/snowflake.pass", here(text('', 'change me')));
chmod 0600, "$folder/snowflake.pass";
my $hba = slurp_file($coordinator->data_dir . '/pg_hba.conf');
unlink $coordinator->data_dir . '/pg_hba.conf';
$coordinator->append_conf('pg_hba.conf', here(text('', 'scram-sha-256')) . $hba);
$coordinator->reload;
run_block('CREATE ROLE snowflake_node');
is(join(' ', everywhere(q{SELECT extname FROM pg_extension WHERE extname = 'snowflake'})), 'snowflake ' x 2 . 'snowflake', 'the extension is everywhere');
is(join(' ', everywhere(q{SELECT count(*) FROM pg_roles WHERE rolname = 'snowflake_node'})), '1 1 1', '... and the role');

my @taken = cells(run_block(q{'SELECT snowflake_nextval\(\)'}));
is(join(' ', @taken), join(' ', ('N.N.N.N|t|N') x 3), 'each node takes an id');

# The check, with names in place of values that differ only by the port.
my $check = text('sql', 'AS shared') =~ s/SELECT nodename/SELECT CASE nodeport WHEN PORT_1 THEN 'coordinator' WHEN PORT_2 THEN 'worker1' WHEN PORT_3 THEN 'worker2' ELSE 'worker3' END/r;
$check =~ s/PORT_(\d)/($coordinator, @workers)[$1 - 1]->port/ge;
my (undef, @page) = cells(block('sql', 'AS shared')->{output});
is(join("\n", cells(value($coordinator, $check))), join("\n", @page), 'the check: all share the registry');

# ---------------------------------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------------------------------

append_to_file("$folder/orders.csv", join '', map { $_ % 100 . ",copied\n" } 1 .. 20_000);
like(run_block('CREATE TABLE orders'), qr/^(\d+)\n\1\|20\d\d-\S+ \S+$/m, 'a table, and a row');
like(value($coordinator, q{INSERT INTO orders (tenant) VALUES (8) RETURNING snowflake_timestamp(id, 'snowflake')}), qr/^20\d\d-/, '... and its time');
ok(wait_until('the horizon', sub { run_block('SELECT id, item FROM orders') =~ /^\d+\|tea$/m }), 'a row below the horizon');

my $copy = here(text('sql', 'orders.csv'));
value($_, $copy) for $coordinator, @workers;
is(join(' ', rows_and_ids('orders')), '60002 60002 3', 'COPY through each node');
value($coordinator, q{INSERT INTO orders (tenant, item) SELECT tenant, 'again' FROM orders ORDER BY id LIMIT 1000;
	INSERT INTO orders (id, tenant) SELECT id, tenant FROM orders ON CONFLICT (tenant, id) DO UPDATE SET item = 'met';
	CREATE TABLE by_id (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);
	SELECT create_distributed_table('by_id', 'id');
	INSERT INTO by_id (n) SELECT generate_series(1, 8000)});
is(join(' ', (rows_and_ids('orders'))[ 0, 1 ]), '61002 61002', 'INSERT ... SELECT and ON CONFLICT');
is(value($coordinator, q{SELECT count(*), min(result::int) > 700, max(result::int) < 1300 FROM run_command_on_shards('by_id', 'SELECT count(*) FROM %s')}), '8|t|t',
	'by their ids rows spread evenly');

value($coordinator, here(text('sql', 'CREATE TABLE event')));
my $plan = run_block('EXPLAIN [^;]*snowflake_id_at');
like($plan, qr/event_2026_11_\d/, 'a query of a time reads the partition of its time');
unlike($plan, qr/event_2026_10/, '... and no other');
# Rows of today need a partition, whatever today is.
value($coordinator, q{CREATE TABLE event_later PARTITION OF event FOR VALUES FROM (snowflake_id_at('2026-12-01 00:00+00')) TO (MAXVALUE)});
value($_, q{INSERT INTO event (tenant, body) SELECT n % 10, 'now' FROM generate_series(1, 1000) n}) for $coordinator, @workers;
value($coordinator, q{INSERT INTO event (id, tenant) SELECT snowflake_id_at('2026-10-10 00:00+00') + n, n % 10 FROM generate_series(1, 100) n});
is(value($coordinator, q{SELECT (SELECT count(*) FROM event_2026_10), (SELECT count(*) FROM event_2026_11) + (SELECT count(*) FROM event_later), (SELECT count(DISTINCT id) FROM event)}), '100|3000|3100', 'partitions by id');
my $by_layout = q{SELECT count(*) FROM event WHERE id >= snowflake_id_at('2026-11-01 00:00+00')};
is(value($coordinator, $by_layout), '3000', 'by the layout of the database, too');
like(value($coordinator, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $by_layout"), qr/Subplans Removed: 1/, '... when it runs');
value($coordinator, 'DROP TABLE event_2026_10');
is(join(' ', everywhere(q{SELECT count(*) FROM pg_class WHERE relname ~ '^event_2026_10(_\d+)?$'})), '0 0 0', 'a partition is dropped everywhere');

# ---------------------------------------------------------------------------------------------------------------------
# Existing tables
# ---------------------------------------------------------------------------------------------------------------------

value($coordinator, 'CREATE EXTENSION snowflake_convert');
sub rows_through_all { my ($table) = @_; value($_, "INSERT INTO $table (tenant) SELECT n % 10 FROM generate_series(1, 1000) n") for $coordinator, @workers; return; }

for my $case ([ 'invoice', 'serial', 'tenant', qr/ALTER COLUMN TYPE/ ], [ 'by_id_too', 'bigserial', 'id', qr/involving partition column/ ], [ 'in_place', 'bigserial', 'tenant' ])
{
	my ($table, $type, $key, $refused) = @$case;
	value($coordinator, "CREATE TABLE $table (id $type, tenant int NOT NULL, PRIMARY KEY (tenant, id)); SELECT create_distributed_table('$table', '$key');
		INSERT INTO $table (tenant) SELECT n % 10 FROM generate_series(1, 1000) n");
	my ($state, $error) = query_error($coordinator, $db, "SELECT snowflake_convert('$table', 'id')");
	if ($refused) { like($error, $refused, "$type, distributed by $key: refused by Citus"); }
	else { is($state, '00000', "$type, distributed by $key: converted where it is") or diag($error); }
}
run_block('undistribute_table\(.invoice');
for my $table ('invoice', 'in_place')
{
	rows_through_all($table);
	is(value($coordinator, "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id <= 1000) FROM $table"), '4000|4000|1000', "$table has old numbers and new ids");
}

value($coordinator, q{CREATE TABLE country (name text);
	SELECT create_reference_table('country');
	INSERT INTO country VALUES ('here'), ('there');
	CREATE TABLE careless AS TABLE country;
	SELECT create_reference_table('careless');
	ALTER TABLE careless ADD COLUMN id bigint DEFAULT snowflake_nextval(), ADD COLUMN u uuid DEFAULT gen_random_uuid()});
# The number of different replicas of a column.
my $replicas = sub { value($coordinator, qq{SELECT count(DISTINCT result) FROM run_command_on_placements('$_[0]', 'SELECT string_agg($_[1]::text, '','' ORDER BY $_[1]) FROM %s')}) };
is($replicas->('careless', 'id'), '3', 'ADD COLUMN on a reference table: each replica has other ids');
is($replicas->('careless', 'u'), '3', '... and other uuids');
like((query_error($coordinator, $db, q{CREATE SEQUENCE numbers; ALTER TABLE careless ADD COLUMN n bigint DEFAULT nextval('numbers')}))[1], qr/nextval/, '... and Citus refuses nextval()');
run_block('undistribute_table\(.country');
is($replicas->('country', 'id'), '1', '... and as the page does it the same ones');
value($coordinator, q{ALTER TABLE orders ADD COLUMN line bigint DEFAULT snowflake_nextval()});
is(value($coordinator, 'SELECT count(*) = count(DISTINCT line) FROM orders'), 't', 'on a distributed table each row has its own');

# ---------------------------------------------------------------------------------------------------------------------
# A node that joins; a cluster without a shared registry
# ---------------------------------------------------------------------------------------------------------------------

my $third = start_node('worker3', conf => $preload . $patient);
add_node($third);
push @workers, $third;
run_block(q{'SELECT snowflake_nextval\(\)'});
is(join("\n", cells(value($coordinator, $check))), join("\n", @page, $page[-1]), 'a node that joins shares the registry');
value($coordinator, q{SELECT citus_remove_node('127.0.0.1', } . $third->port . ')');
my $leases = sub { value($coordinator, q{SELECT string_agg(split_part(node, '@', 1), ' ' ORDER BY node) FROM snowflake_registry}) };
is($leases->(), 'coordinator worker1 worker2 worker3', 'one that is removed');
$third->stop('fast');
pop @workers;
is($leases->(), 'coordinator worker1 worker2', '... releases its worker id when it stops');

my $setting = value($coordinator, q{SELECT setconfig[1] FROM pg_db_role_setting WHERE setdatabase <> 0 AND setconfig[1] ~ '^snowflake.registry='}) =~ s/^.*?=//r;
value($coordinator, "ALTER DATABASE $db RESET snowflake.registry");
my $ended = text('sql', 'pg_terminate_backend');
my ($join, $raise) = split /^(?=SELECT snowflake_nextval)/m, $ended;
sub keepers_gone { my ($before) = @_; return wait_until('the keepers to go', sub { join(' ', everywhere('SELECT coalesce(keeper_pid, 0) FROM snowflake_status')) ne $before }); }
value($coordinator, $join);
ok(wait_until('ids', sub { !grep { !/^\d+$/ } everywhere('SELECT snowflake_nextval()') }), 'without the setting each node has a registry of its own');
ok(wait_until('the check', sub { join(' ', map { (split /\|/)[3] } cells(value($coordinator, $check))) eq 't f f' }), '... and the check says so');
my $advised;
wait_until('the advice', sub { ($advised = join ' ', map { (split /\|/)[4] =~ /^rows of other servers come/ ? 'advised' : 'silent' } cells(value($coordinator, $check))) eq 'silent advised advised' });
is($advised, 'silent advised advised', '... as do the workers');
value($coordinator, "ALTER DATABASE $db SET snowflake.registry = '$setting'");
value($coordinator, "INSERT INTO orders (id, tenant) SELECT max(id) + (5000::bigint << 22), 7 FROM orders");
value($coordinator, $join);
ok(wait_until('a raise of all', sub { my ($rc, undef, $err) = $coordinator->psql($db, $raise, on_error_stop => 1); $rc == 0 && $err !~ /only the ids of this node/ }), 'new ids are raised');
ok(wait_until('ids', sub { !grep { !/^\d+$/ } everywhere('SELECT snowflake_nextval()') }), 'it shares a registry again');
ok(wait_until('the check', sub { join("\n", cells(value($coordinator, $check))) eq join("\n", @page) }), '... and the check says so');
is(join(' ', map { value($_, 'SELECT snowflake_nextval() > (SELECT max(id) FROM orders)') } $coordinator, @workers), 't t t', 'ids go on above those that are there');

# Other blocks have their own tests, and a block's output is not run.
is(rest_of('doc/citus.md'), '', 'all of the page was run');
finish();
