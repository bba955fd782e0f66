# A trigger of a COPY runs a parallel query. The workers call the function itself, and all ids
# differ (G1).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('parallel');

subtest 'a parallel query in a COPY\'s trigger' => sub {
	value(q{CREATE TABLE log (what text, result text);
CREATE TABLE big AS SELECT i FROM generate_series(1, 50000) i;
ALTER TABLE big SET (parallel_workers = 2);
ANALYZE big;
CREATE TABLE parallel (n int, id bigint DEFAULT snowflake_nextval());
CREATE TABLE gathered (id bigint);
CREATE FUNCTION gather() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	line text; plan text := ''; ids bigint[];
BEGIN
	SELECT array_agg(id) INTO ids FROM (SELECT snowflake_nextval() AS id FROM big) s;
	INSERT INTO gathered SELECT unnest(ids);
	FOR line IN EXPLAIN (ANALYZE, VERBOSE, TIMING OFF) SELECT snowflake_nextval() FROM big LOOP plan := plan || line; END LOOP;
	INSERT INTO log VALUES ('parallel', plan);
	RETURN NULL;
END $$;
CREATE TRIGGER gather AFTER INSERT ON parallel FOR EACH STATEMENT EXECUTE FUNCTION gather()});
	value('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
		. " COPY parallel (n) FROM PROGRAM 'seq 10000'");
	my $plan = value('SELECT result FROM log');
	like($plan, qr/Workers Launched: [12].*snowflake_nextval\(\)/, 'workers called the function');
	unlike($plan, qr/snowflake_copy_nextval/, '... and not COPY\'s');
	is(value('SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM gathered UNION ALL SELECT id FROM parallel) t'), '60000|60000', 'all ids differ (G1)');
	ids_are_good('parallel', 10000, 'the COPY');
};

finish();
