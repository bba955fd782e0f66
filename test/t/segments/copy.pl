# Many numbers of a segment at once. COPY inserts many rows at a time, as with a serial column.
# INSERT ... SELECT and parallel queries get their numbers in the same way. A COPY's rows have
# consecutive numbers in the order of the file, except at the end of a range. Whatever writes at the
# same time, no number appears twice. A raise under load takes effect at once for all sessions. A
# column of type integer ends with PostgreSQL's own error. SNOWFLAKE_COPY_ROWS sets the number of
# copied rows (1,000,000 by default).
# Not in the default run: many rows in many tables.
use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

my $many = $ENV{SNOWFLAKE_COPY_ROWS} || 1_000_000;
CopyTest::start('bulk');
value(q{SELECT snowflake_create_segment('ticket'); SELECT snowflake_create_segment('other', step => 10, max_step => 10)});

subtest 'how rows go in' => sub {
	my $copy = "COPY way (n) FROM '$file'";
	value(q{CREATE FUNCTION new_number() RETURNS bigint LANGUAGE sql AS $$ SELECT snowflake_segment_nextval('ticket') $$;
		CREATE FUNCTION guarded_number() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$ SELECT snowflake_segment_nextval('ticket') $$});
	my $default = q{DEFAULT snowflake_segment_nextval('ticket')};
	for my $case (
		# a name, what follows n, an expression for the number
		[ 'of a bigint', "id bigint $default" ],
		[ 'of an integer', "id integer PRIMARY KEY $default" ],
		[ 'as text', q{id text DEFAULT 'T-' || snowflake_segment_nextval('ticket')}, 'substr(id, 3)::bigint' ],
		[ 'of two segments', "id integer $default, x integer DEFAULT snowflake_segment_nextval('other')" ],
		[ 'beside an id', "id integer $default, x bigint DEFAULT snowflake_nextval()" ],
		[ 'with ranges of 10', q{id integer DEFAULT snowflake_segment_nextval('other')} ],
		[ 'in an SQL function that is inlined', 'id integer DEFAULT new_number()' ])
	{
		my ($name, $columns, $id) = @$case;
		value("DROP TABLE IF EXISTS way; CREATE TABLE way (n int, $columns)");
		goes_in_many($name, $copy, 'way');
		ids_are_good('way', $rows, $name, $id);
	}
	for my $case ([ 'a name that is a variable', q{id integer DEFAULT snowflake_segment_nextval(current_setting('my.segment'))} ], [ 'a function that is not inlined', 'id bigint DEFAULT guarded_number()' ])
	{
		my ($name, $columns) = @$case;
		value("DROP TABLE IF EXISTS way; CREATE TABLE way (n int, $columns)");
		value("SET my.segment = 'ticket'; $copy");
		ids_are_good('way', $rows, $name);
	}
};

subtest 'many rows' => sub {
	value(q{CREATE TABLE bulk (id integer DEFAULT snowflake_segment_nextval('ticket'), n int); CREATE TABLE like_bulk (id serial, n int)});
	my %took;
	for my $table ('like_bulk', 'bulk')
	{
		my $since = time();
		value("COPY $table (n) FROM PROGRAM 'seq $many'");
		$took{$table} = time() - $since;
	}
	ids_are_good('bulk', $many, 'a COPY');
	# Only this node has numbers of the segment, so ranges follow each other without gaps.
	is(value('SELECT max(id) - min(id) + 1 FROM bulk'), $many, '... without a gap');
	figures('COPY of %d rows: %.2f s, of a serial column %.2f s', $many, @took{qw(bulk like_bulk)});
	my $last = value('SELECT max(id) FROM bulk');
	value(q{INSERT INTO bulk (n) SELECT n FROM bulk ORDER BY n LIMIT 200000});
	is(value("SELECT count(*), count(DISTINCT id), min(id) FROM bulk WHERE id > $last"), '200000|200000|' . ($last + 1), 'INSERT ... SELECT goes on there');
};

subtest 'a parallel query' => sub {
	value(q{CREATE TABLE big AS SELECT i FROM generate_series(1, 100000) i; ALTER TABLE big SET (parallel_workers = 2); ANALYZE big});
	my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2; ';
	my $plan = value($parallel . q{EXPLAIN (ANALYZE, VERBOSE, TIMING OFF) SELECT snowflake_segment_nextval('ticket') FROM big}) =~ s/\n/ /gr;
	like($plan, qr/Workers Launched: [12].*Parallel Seq Scan on public\.big.*Output: snowflake_segment_nextval\('ticket'/, 'workers call it');
	value($parallel . q{CREATE TABLE gathered AS SELECT snowflake_segment_nextval('ticket') AS id, i FROM big});
	is(value('SELECT count(*), count(DISTINCT id) FROM gathered'), '100000|100000', 'and their numbers differ');
	my $setting = value(q{SELECT name FROM pg_settings WHERE name IN ('debug_parallel_query', 'force_parallel_mode')});
	my $number = value("SET $setting = on; SELECT snowflake_segment_nextval('ticket')");
	is(value("SELECT count(*) FROM gathered WHERE id = $number"), '0', 'in a worker that is forced, too');
};

subtest 'at once, and raised meanwhile' => sub {
	value(q{CREATE TABLE mixed (id integer DEFAULT snowflake_segment_nextval('ticket'), n int)});
	my $clients = start_clients($server, 4, q{COPY mixed (n) FROM PROGRAM 'seq 500';
COPY (SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, 200)) TO STDOUT;
INSERT INTO mixed (n) SELECT generate_series(1, 300) RETURNING id;
} x 5);
	my $below = 0;
	for my $n (1 .. 10)
	{
		my $size = client_bytes($clients);
		wait_until('numbers', sub { client_bytes($clients) > $size + 5000 });
		# No call that begins after the raise gets a smaller number, in any session.
		my ($floor, $next) = split /\n/, value(q{SELECT snowflake_raise_segment('ticket', next_value + 5000) FROM snowflake_segments WHERE name = 'ticket'; SELECT snowflake_segment_nextval('ticket')});
		$below++ if $next < $floor;
		$below += value("SELECT count(*) FROM (SELECT snowflake_segment_nextval('ticket') AS id FROM generate_series(1, 100)) n WHERE id < $floor");
	}
	is($below, 0, 'none is below what the segment was raised to');
	stop_clients($clients);
	my $name = $server->basedir . '/silent';
	# Clients did not receive the numbers that COPY inserted.
	value("COPY (SELECT id FROM mixed UNION ALL SELECT id FROM bulk UNION ALL SELECT id FROM gathered) TO '$name'");
	my ($keys, $twice) = compare_ids($name);
	is($twice, 0, "of $keys keys none is twice");
	(my $told, $twice) = compare_ids(@{ $clients->{files} });
	is($twice, 0, "of $told numbers that clients were told neither");
	is(falls_within(@{ $clients->{files} }), 0, 'and they rose within each connection');
};

subtest 'the end of a column' => sub {
	value(q{SELECT snowflake_create_segment('end', start => 2147483000); CREATE TABLE small (id integer DEFAULT snowflake_segment_nextval('end'), n int)});
	is((query_error($server, $db, q{COPY small (n) FROM PROGRAM 'seq 1000'}))[0], '22003', 'integer out of range is its own error');
	value(q{SELECT snowflake_create_segment('fits', start => 32000); CREATE TABLE smaller (id smallint DEFAULT snowflake_segment_nextval('fits'), n int)});
	value(q{INSERT INTO smaller (n) SELECT generate_series(1, 768)});
	is(value('SELECT max(id) FROM smaller'), '32767', 'the last that fits is one');
	is((query_error($server, $db, q{INSERT INTO smaller (n) VALUES (1)}))[0], '22003', 'and the next is not');
	value(q{ALTER TABLE small ALTER id TYPE bigint});
	is((query_error($server, $db, q{COPY small (n) FROM PROGRAM 'seq 1000'}))[0], '00000', 'a wider column goes on');
	value(q{SELECT snowflake_create_segment('short', max_value => 1500); CREATE TABLE shorter (id integer DEFAULT snowflake_segment_nextval('short'), n int)});
	is((query_error($server, $db, q{COPY shorter (n) FROM PROGRAM 'seq 1501'}))[0], 'SF006', 'a segment that ends within a COPY');
	is(value('SELECT count(*) FROM shorter'), '0', '... leaves nothing of it');
};

finish();
