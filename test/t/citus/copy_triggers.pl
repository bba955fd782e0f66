# During a COPY, defaults and triggers insert rows with VALUES into Citus's tables. Citus then
# evaluates parts of these statements before COPY has evaluated its own defaults. COPY runs into a
# table of this node and into distributed, reference and local tables of Citus. Each row gets its
# id, and no id appears twice.
# Not in the default run: it needs Citus, which is built for it.

use strict;
use warnings;

use CitusTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $rows = 500;
# A busy machine needs longer for a first id now and then.
CitusTest::start(conf => "snowflake.start_timeout = 60s\n");
value($coordinator, q{
	CREATE TABLE seen (tenant int, id bigint DEFAULT snowflake_nextval(), two text DEFAULT snowflake_nextval() || '-');
	SELECT create_distributed_table('seen', 'tenant');
	CREATE TABLE listed (tenant int, id bigint DEFAULT snowflake_nextval());
	SELECT create_reference_table('listed');
	CREATE FUNCTION see(tenant int) RETURNS int LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO seen (tenant) VALUES ($1);
		INSERT INTO seen (tenant, id) VALUES ($1, snowflake_nextval()), ($1 + 1, DEFAULT);
		INSERT INTO listed VALUES ($1, DEFAULT);
		RETURN $1;
	END $$;
	CREATE FUNCTION see_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM see(NEW.n); RETURN NEW; END $$});

# For each row of the COPY: three rows for `seen`, one for `listed`.
sub copies
{
	my ($what, $table) = @_;
	my ($before) = rows_and_ids('seen');
	my ($code, undef, $error) = $coordinator->psql($db, "COPY $table (n) FROM PROGRAM 'seq $rows'", on_error_stop => 1);
	is($code, 0, "COPY, $what") or diag($error);
	my ($seen, $ids) = rows_and_ids('seen');
	is($seen - $before, 3 * $rows, '... and what it inserts');
	is($ids, $seen, '... with an id each');
	is(join(' ', (rows_and_ids($table))[ 0, 1 ]), "$rows $rows", '... as have its own rows');
	return;
}

value($coordinator, q{CREATE TABLE fired (n int, id bigint DEFAULT snowflake_nextval());
	CREATE TRIGGER see BEFORE INSERT ON fired FOR EACH ROW EXECUTE FUNCTION see_it();
	CREATE TABLE fired_after (n int, id bigint DEFAULT snowflake_nextval());
	CREATE TRIGGER see AFTER INSERT ON fired_after FOR EACH ROW EXECUTE FUNCTION see_it();
	CREATE TABLE defaulted (n int, seen int DEFAULT see(7), id bigint DEFAULT snowflake_nextval());
	CREATE TABLE local (n int, seen int DEFAULT see(7), id bigint DEFAULT snowflake_nextval());
	SELECT citus_add_local_table_to_metadata('local')});
copies('with a trigger before each row', 'fired');
copies('with a trigger after each row', 'fired_after');
copies('with a default that inserts', 'defaulted');
copies('into a local table of Citus, with such a default', 'local');
is(join(' ', (rows_and_ids('listed'))[ 0, 1 ]), 4 * $rows . ' ' . 4 * $rows, 'the reference table has an id for each row');
is(value($coordinator, q{SELECT count(DISTINCT result) FROM run_command_on_placements('listed', 'SELECT sum(id) FROM %s')}), '1', '... the same on each node');

# Citus's own COPY, through each node.
value($coordinator, q{CREATE TABLE orders (tenant int, id bigint DEFAULT snowflake_nextval());
	SELECT create_distributed_table('orders', 'tenant')});
for my $node ($coordinator, @workers)
{
	value($node, "COPY orders (tenant) FROM PROGRAM 'seq $rows'");
	value($node, "COPY listed (tenant) FROM PROGRAM 'seq $rows'");
}
is(join(' ', rows_and_ids('orders')), join(' ', 3 * $rows, 3 * $rows, 3), 'COPY into a distributed table, through each node');
is(join(' ', (rows_and_ids('listed'))[ 0, 1 ]), 7 * $rows . ' ' . 7 * $rows, '... and into a reference table');
figures('%d rows by COPY and what it runs, none twice', value($coordinator, q{SELECT sum(n) FROM (SELECT count(*) n FROM seen UNION ALL
	SELECT count(*) FROM listed UNION ALL SELECT count(*) FROM orders UNION ALL SELECT count(*) FROM fired) t}));
finish();
