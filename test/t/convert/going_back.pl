# What doc/converting.md says about a rehearsal, the way back and leaving, run from the page. The
# rehearsal converts a copy of the schema, with its layout and segments, and leaves the database
# alone. While sessions insert as fast as they can, also ids that they have requested before, a
# default goes back to an identity and to a sequence: no id is given twice, and no insert fails. Then
# all columns go back and the extension goes: rows and ids stay, inserts go on.
# Not in the default run: it starts some 1250 processes.
use strict;
use warnings;

use lib 'test/perl';
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

my $page = 'doc/converting.md';
my $seed = seed();
my $server = new_server('going_back', patient => 1, conf => "log_statement = none\nautovacuum = off\nmax_worker_processes = 20\n");
start_server($server);
my $db = 'shop';
sub sql { my ($sql, $dbname) = @_; return $server->safe_psql($dbname // $db, $sql); }
sub state_of { my ($sql) = @_; return (query_error($server, $db, $sql))[0]; }

### A rehearsal

sql('CREATE DATABASE shop; CREATE ROLE app', 'postgres');
sql(q{CREATE TABLE orders (id serial PRIMARY KEY, n int); CREATE TABLE items (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, order_id int REFERENCES orders);
	CREATE VIEW numbers AS SELECT n FROM orders; INSERT INTO orders (n) SELECT generate_series(1, 100); INSERT INTO items (order_id) SELECT id FROM orders;
	GRANT SELECT, INSERT ON orders TO app; GRANT USAGE ON SEQUENCE orders_id_seq TO app});
sub dump_of_shop { my ($out) = run_command([ 'pg_dump', '-d', $server->connstr($db) ]); return $out =~ s/^\\(?:un)?restrict .*\n//mgr; }
my $dump = dump_of_shop();
sub rehearse
{
	my ($of) = @_;
	local $ENV{PGHOST} = $server->host;
	local $ENV{PGPORT} = $server->port;
	my ($out, $err) = run_command([ 'bash', '-ec', block_of($page, 'createdb rehearsal', 'sh') =~ s/\bshop\b/$of/gr ]);
	ok($? == 0 && $err !~ /ERROR/, "the rehearsal of $of runs") or diag($err);
	return;
}
rehearse('shop');
is(dump_of_shop(), $dump, '... and leaves the database as it was');
is(sql(q{SELECT string_agg(attrelid::regclass || '.' || attname || ' ' || atttypid::regtype, ', ' ORDER BY 1) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
	WHERE relnamespace = 'public'::regnamespace AND relname IN ('orders', 'items') AND attname ~ 'id$' AND attnum > 0}, 'rehearsal') =~ s/, /\n/gr,
	join("\n", 'items.id bigint', 'items.order_id bigint', 'orders.id bigint'), '... there, all keys are ids');
is(sql('SELECT count(*) FROM orders', 'rehearsal'), 0, '... without rows');
like(sql('INSERT INTO orders (n) VALUES (1) RETURNING id', 'rehearsal'), qr/^\d{15,}$/, '... and inserts get ids');
is(sql('SHOW snowflake.registry', 'rehearsal'), '', '... of a registry of its own');
sql('DROP DATABASE rehearsal; CREATE DATABASE browsed', 'postgres');
sql(q{CREATE EXTENSION snowflake; SELECT snowflake_set_layout('javascript'); SELECT snowflake_create_segment('seat', start => 5000);
	CREATE TABLE orders (id serial PRIMARY KEY, n int); CREATE TABLE seats (id int PRIMARY KEY DEFAULT snowflake_segment_nextval('seat'), n int)}, 'browsed');
rehearse('browsed');
is(sql('INSERT INTO orders (n) VALUES (1) RETURNING id BETWEEN 1e14 AND 2^53', 'rehearsal'), 't', '... its ids have the layout of the database');
is(sql('INSERT INTO seats (n) VALUES (1) RETURNING id', 'rehearsal'), 5000, '... its segments are there');
sql('DROP DATABASE rehearsal; DROP DATABASE browsed', 'postgres');

### The way back, under load

# Runs a block of the page for a table, again after a timeout.
my ($tries, $ways) = (0, 0);
sub run_block
{
	my ($what, $table, $kept) = @_;
	my $block = block_of($page, $what) =~ s/\borders\b/$table/gr =~ s/\borders_id_seq\b/${table}_id_seq/gr;
	$block =~ s/^CREATE SEQUENCE (\w+) .*;/ALTER SEQUENCE $1 AS bigint;/m if $kept;
	my ($state, $text);
	for (1 .. 200)
	{
		($state, $text) = query_error($server, $db, $block);
		last if $state ne '55P03';
		$tries++;
		sleep(rand 0.1);
	}
	is($state, '00000', "$table: the block of the page runs") or diag($text);
	$ways++;
	return;
}

sub load
{
	my ($table, $ahead, %options) = @_;
	my $script = 'SET ROLE app;' . "PREPARE p AS INSERT INTO $table (n) VALUES (2) RETURNING id;\n" . <<"SQL" x 10;
INSERT INTO $table (n) VALUES (1) RETURNING id;
EXECUTE p; EXECUTE p;
INSERT INTO $table (n) SELECT 3 FROM generate_series(1, 20) RETURNING id;
SQL
	my $early = <<"SQL" x 10;
SET ROLE app;
SELECT snowflake_nextval() AS ahead, snowflake_nextval() AS also \\gset
SELECT FROM pg_sleep(0.05);
INSERT INTO $table VALUES (:ahead, 4), (:also, 4) RETURNING id;
SQL
	return (start_clients($server, 2, $script, dbname => $db, rest => 0), $ahead ? start_clients($server, 1, $early, dbname => $db, rest => 0) : ());
}
sub inserted { my ($table, $where) = @_; return sql("SELECT count(*) FROM $table WHERE n IN (1, 2) AND $where"); }
sub goes_on { my ($table, $what) = @_; my $last = sql("SELECT max(id) FROM $table WHERE n < 4"); ok(wait_until('rows', sub { inserted($table, "id > $last") > 200 }), "$table: $what"); return; }

my ($ids, $twice) = (0, 0);
sub judge
{
	my ($table, @loads) = @_;
	stop_clients($_) for @loads;
	my @files = map { @{ $_->{files} } } @loads;
	my ($told, $twice_told) = compare_ids(@files);
	is($twice_told, 0, "... no id of $told was given twice");
	$ids += $told;
	$twice += $twice_told;
	my @errors = grep { /ERROR/ } map { my $err = $_ =~ s/\.out$/.err/r; -e $err ? split /\n/, slurp_file($err) : () } @files;
	is(join("\n", @errors), '', '... and no insert failed');
	return;
}

# The type is that before, the default a sequence.
sub type_of { my ($table) = @_; return sql("SELECT atttypid::regtype || a.attidentity FROM pg_attribute a WHERE attrelid = '$table'::regclass AND attname = 'id'"); }

sql(q{CREATE EXTENSION snowflake_convert CASCADE; SELECT snowflake_convert('orders', 'id');
	CREATE TABLE parts (id bigint NOT NULL DEFAULT snowflake_nextval(), n int) PARTITION BY LIST (n);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1); CREATE TABLE parts_2 PARTITION OF parts DEFAULT;
	CREATE UNIQUE INDEX ON parts_1 (id); CREATE UNIQUE INDEX ON parts_2 (id); GRANT SELECT, INSERT ON parts TO app;
	CREATE TABLE kept (id serial PRIMARY KEY, n int); INSERT INTO kept (n) SELECT generate_series(1, 100); GRANT SELECT, INSERT ON kept TO app;
	SELECT snowflake_convert('kept', 'id', keep_sequence => true)});
for (['orders', 'ADD GENERATED BY DEFAULT AS IDENTITY;\nSELECT setval\(pg_get_serial_sequence\(\'orders'], ['parts', 'CREATE SEQUENCE orders_id_seq'], ['kept', 'CREATE SEQUENCE orders_id_seq', 1])
{
	my ($table, $what, $kept) = @$_;
	my @loads = load($table, 1);
	ok(wait_until('rows', sub { inserted($table, 'id > 1000000') > 200 }), "$table: rows get ids");
	run_block($what, $table, $kept);
	goes_on($table, 'rows go on being inserted');
	my ($lowest, $highest) = split /\|/, sql("SELECT min(id), max(id) FROM (SELECT id FROM $table WHERE n < 4 ORDER BY id DESC LIMIT 100) newest");
	# Ids of two transactions are further apart.
	cmp_ok($highest - $lowest, '<', 1 << 22, '... with numbers of the sequence');
	is(type_of($table), $table eq 'orders' ? 'bigintd' : 'bigint', '... and the column is still bigint');
	judge($table, @loads);
}
is(sql('INSERT INTO parts_1 (n) VALUES (1) RETURNING id > 1000000'), 't', 'a partition has the default, too');
like(sql(q{SELECT snowflake_convert('orders', 'id')}), qr/DROP IDENTITY/, 'what went back can be converted again');

# Of several servers, each begins in another year.
my $apart = block_of($page, 'snowflake_id_at\(');
sql('CREATE TABLE merged (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int); INSERT INTO merged (n) VALUES (1)');
sql(block_of($page, 'ADD GENERATED BY DEFAULT AS IDENTITY;\nSELECT setval') =~ s/^SELECT setval.*?;\n/$apart/msr =~ s/\borders\b/merged/gr);
is(sql(q{INSERT INTO merged (n) VALUES (1) RETURNING snowflake_timestamp(id) = '2070-01-01 00:00+00'}), 't', 'a sequence begins in a year of its own');
sql('DROP TABLE merged');

# The triggers that refuse explicit ids.
sql(block_of($page, 'keep_id'));
for ([ 'INSERT INTO invoices VALUES (7, 1)', '55000' ], [ 'SELECT snowflake_nextval(); INSERT INTO invoices VALUES (7, 1)', '428C9' ], [ 'UPDATE invoices SET id = 7 WHERE total = 1', '428C9' ],
	[ 'UPDATE invoices SET id = id, total = total', '00000' ], [ 'INSERT INTO invoices (total) SELECT 3 FROM generate_series(1, 1000)', '00000' ])
{
	is((query_error($server, $db, $_->[0]))[0], $_->[1], "$_->[0]: $_->[1]");
}
is(sql('SELECT count(*) FROM invoices'), '1002', '... and only the refused ones are missing');
sql('DROP TABLE invoices');

### Leaving

sql(q{CREATE SCHEMA "Odd ""schema"""; CREATE TABLE "Odd ""schema"""."Table 'x'" ("Id %s" bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);
	INSERT INTO "Odd ""schema"""."Table 'x'" (n) VALUES (1); CREATE ROLE carol; ALTER TABLE "Odd ""schema"""."Table 'x'" OWNER TO carol});
sql(q{SELECT snowflake_create_segment('tickets')});
sql(q{CREATE TABLE tickets (id int PRIMARY KEY DEFAULT snowflake_segment_nextval('tickets'), n int); INSERT INTO tickets (n) SELECT generate_series(1, 10);
	GRANT SELECT, INSERT ON tickets TO app;
	CREATE TABLE may_be_null (id bigint DEFAULT snowflake_nextval(), n int); INSERT INTO may_be_null (n) VALUES (1);
	CREATE TABLE parent (id bigint NOT NULL DEFAULT snowflake_nextval(), n int); CREATE TABLE child () INHERITS (parent); INSERT INTO child (n) VALUES (1);
	CREATE TABLE typed (id snowflake_id PRIMARY KEY DEFAULT snowflake_nextval(), n int); INSERT INTO typed (n) VALUES (1);
	CREATE TABLE stayed (id bigserial PRIMARY KEY, n int); INSERT INTO stayed (n) VALUES (1); SELECT snowflake_convert('stayed', 'id', keep_sequence => true);
	CREATE TABLE unparted (id bigint NOT NULL DEFAULT snowflake_nextval(), n int) PARTITION BY LIST (n);
	CREATE FOREIGN DATA WRAPPER wrapper; CREATE SERVER far FOREIGN DATA WRAPPER wrapper;
	CREATE FOREIGN TABLE far (id bigint NOT NULL DEFAULT snowflake_nextval()) SERVER far});
my $session = $server->background_psql($db);
$session->query_safe('CREATE TEMPORARY TABLE brief (id bigint PRIMARY KEY DEFAULT snowflake_nextval())');
my @tables = ('orders', 'items', '"Odd ""schema"""."Table \'x\'"', 'tickets', 'may_be_null', 'parent', 'typed', 'stayed');
sub content { return join "\n", map { sql("SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)), count(*) FROM $_ t WHERE n < 1000") } map { $_ eq 'items' ? '(SELECT *, 1 AS n FROM items)' : $_ } @tables; }
my @loads = map { load($_) } 'orders', 'tickets';
sleep(0.5);
stop_clients($_) for @loads;    # their rows belong to what must stay
my $before = content();
@loads = map { my $table = $_; start_clients($server, 1, "SET ROLE app;\n" . "INSERT INTO $table (n) VALUES (1000) RETURNING " . ($table eq 'tickets' ? '-id' : 'id') . ";\n" x 50, dbname => $db, rest => 0) } 'orders', 'tickets';
run_block('FOR key IN', 'orders');
is(sql(q{SELECT string_agg(attrelid::regclass::text, ' ' ORDER BY attrelid::regclass::text) FROM pg_attribute WHERE attidentity = 'd' AND attrelid::regclass::text !~ '^snowflake'}),
	q{"Odd ""schema"""."Table 'x'" orders tickets}, 'columns that can be identities are');
my ($state, $text) = query_error($server, $db, block_of($page, '^DROP EXTENSION IF EXISTS snowflake_convert'));
is($state, '2BP01', 'what is left keeps the extension');
like($text, qr/column id of (?:foreign )?table $_ depends on/, "... and is named: $_") for 'may_be_null', 'parent', 'typed', 'stayed', 'unparted', 'far', 'pg_temp_\d+\.brief';
sql('ALTER TABLE typed ALTER id TYPE bigint; ALTER FOREIGN TABLE far ALTER id DROP DEFAULT');
$session->quit;
ok(wait_until('the session to end', sub { sql(q{SELECT count(*) FROM pg_class WHERE relname = 'brief'}) == 0 }), 'a temporary table goes with its session');
run_block('CREATE SEQUENCE orders_id_seq', $_) for 'may_be_null', 'parent', 'unparted';
run_block('CREATE SEQUENCE orders_id_seq', 'stayed', 1);
run_block('FOR key IN', 'orders');
run_block('^DROP EXTENSION IF EXISTS snowflake_convert', 'orders');
is(sql(q{SELECT count(*) FROM pg_extension WHERE extname ~ '^snowflake'}), 0, 'the extensions are gone');
is(content(), $before, 'all rows are as before');
for my $table ('orders', 'tickets')
{
	my $there = sql("SELECT count(*) FROM $table");
	ok(wait_until('rows', sub { sql("SELECT count(*) FROM $table") > $there + 100 }), "... and $table gets more");
}
judge('all', @loads);
is(sql("INSERT INTO $_ (n) VALUES (1000) RETURNING 1"), 1, "... $_, too") for grep { $_ ne 'items' } @tables, 'child';
is(sql('SELECT count(*) - count(DISTINCT id) FROM orders'), 0, 'no id is there twice');

figures('%d ways back with seed %d, %d ids, %d twice, %d waits for locks given up', $ways, $seed, $ids, $twice, $tries);
$server->stop('fast');
done_testing();
