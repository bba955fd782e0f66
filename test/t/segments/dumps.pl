# A dump contains segments with their next numbers, whatever it is restored into. In a new database,
# numbers continue above all allocated numbers. An existing segment never falls, and restored rows
# have keys that no later row gets. Nothing else lowers or removes a segment: neither DELETE,
# TRUNCATE or UPDATE of its table, nor a session as replica, nor a subscription to all tables.
use strict;
use warnings;

use lib 'test/perl';
use DumpTest;
use PostgreSQL::Test::Utils;
use SegmentsTest;
use SnowflakeTest;
use Test::More;

DumpTest::start();
$_->append_conf('postgresql.conf', "wal_level = logical\nmax_wal_senders = 8\nmax_replication_slots = 8\nsnowflake.start_timeout = 60s\n") for $from, $to;
$_->restart for $from, $to;
value($from, 'CREATE DATABASE source');
value($from, q{CREATE SCHEMA "Some where"; CREATE EXTENSION snowflake SCHEMA "Some where"; SET search_path = "Some where", public;
	SELECT snowflake_create_segment('ticket', step => 100);
	SELECT snowflake_create_segment(E'a "b" \'c\' \\\\d\te', start => 5000, max_value => 6000);
	SELECT snowflake_create_segment('unused', start => 77, usage_role => 'some');
	SELECT snowflake_create_segment('dropped');
	SELECT snowflake_segment_ranges('elsewhere', '{dropped}', '{0}', '{0}', '{0}', '{0}', ARRAY[sha256('elsewhere')]);
	SELECT snowflake_drop_segment('dropped');
	CREATE TABLE public.tickets (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('ticket'), n int);
	INSERT INTO public.tickets (n) SELECT generate_series(1, 250);
	SELECT snowflake_segment_nextval(E'a "b" \'c\' \\\\d\te')}, 'source');

my $path = 'SET search_path = "Some where", public;';
my @segments = ('ticket', q{a "b" 'c' \\d} . "\te", 'unused');
sub segments { my ($server, $dbname) = @_; return value($server, "$path SELECT name, last_value, max_value, step, max_step, usage_role FROM snowflake_segment ORDER BY name", $dbname); }
sub last_value { my ($server, $dbname) = @_; return value($server, "$path SELECT last_value FROM snowflake_segment WHERE name = 'ticket'", $dbname); }
sub insert { my ($server, $dbname) = @_; return split /\n/, value($server, "$path INSERT INTO tickets (n) SELECT generate_series(1, 120) RETURNING id", $dbname); }

# By then the node has acquired its next range.
ok(wait_until('the source to rest', sub {
	value($from, "$path SELECT snowflake_segment_nextval('ticket') FROM generate_series(1, 10)", 'source');
	value($from, "$path SELECT r.newest_from > v.next_here FROM snowflake_segments v JOIN snowflake_segment s USING (name) JOIN snowflake_segment_range r USING (segment_id)
		WHERE name = 'ticket'", 'source') eq 't';
}), 'the source rests');
my $before = segments($from, 'source');
my $allocated = last_value($from, 'source');
pg_dump('source', "$dir/plain.sql");
pg_dump('source', "$dir/custom.dump", '-Fc');
pg_dump('source', "$dir/inserts.sql", '--column-inserts');
pg_dump('source', "$dir/data.sql", '--data-only', '-t', '"Some where".snowflake_segment', '-t', 'tickets', '-e', 'snowflake');
is(segments($from, 'source'), $before, 'a dump changes nothing');
my $text = slurp_file("$dir/plain.sql");
unlike($text, qr/^COPY .*snowflake_segment_range/m, 'it has nothing of who holds what');
like($text, qr/^COPY .*snowflake_segment/m, '... and all that is allocated');

my $known = join "\n", grep { !/^dropped/ } split /\n/, $before;
for my $case ([ $from, 'here', 'plain.sql' ], [ $to, 'there', 'plain.sql', '--single-transaction' ], [ $to, 'by_inserts', 'inserts.sql' ],
	[ $to, 'custom', 'custom.dump', '--single-transaction' ], [ $from, 'jobs', 'custom.dump', '--jobs=2' ])
{
	my ($server, $dbname, $file, @options) = @$case;
	subtest "a new database, $dbname" => sub {
		$file =~ /dump$/ ? restore($server, $dbname, "$dir/$file", @options) : restore_plain($server, $dbname, "$dir/$file", @options);
		is(segments($server, $dbname), $known, 'it has the segments of the dump');
		my @new = insert($server, $dbname);
		is($new[0], $allocated + 1, 'the next number is the one after all that was allocated');
		is(value($server, 'SELECT count(*), count(DISTINCT id) FROM tickets', $dbname), '370|370', '... so that no key is there twice');
		is((query_error($server, $dbname, "$path SELECT snowflake_create_segment('unused')"))[0], '42710', 'a segment is there once');
		is(value($server, "$path SELECT snowflake_segment_nextval('unused')", $dbname), '77', '... and one of which nothing was allocated begins where it would');
	};
}

subtest 'into the same' => sub {
	insert($from, 'source') for 1 .. 3;
	value($from, "$path SELECT snowflake_raise_segment('ticket', 5000); SELECT snowflake_segment_nextval('ticket')", 'source');
	my $last = last_value($from, 'source');
	my @rows = split /\n/, value($from, 'SELECT id FROM tickets', 'source');
	my $text = slurp_file("$dir/data.sql");
	value($from, 'TRUNCATE tickets', 'source');
	$from->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', "$dir/data.sql", 'source' ], 'data alone');
	cmp_ok(last_value($from, 'source'), '>=', $last, 'the segment does not fall');
	is(value($from, 'SELECT count(*) FROM tickets', 'source'), '250', '... and the rows are those of the dump');
	my %had = map { $_ => 1 } @rows;
	is(scalar(grep { $had{$_} } insert($from, 'source')), 0, 'no key that ever was is given again');
	# Again, into a segment that is below the dumped one.
	value($to, 'CREATE DATABASE lower');
	value($to, qq{CREATE SCHEMA "Some where"; CREATE EXTENSION snowflake SCHEMA "Some where"; $path SELECT snowflake_create_segment('ticket', step => 100);
		CREATE TABLE public.tickets (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('ticket'), n int); SELECT snowflake_segment_nextval('ticket')}, 'lower');
	$to->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', "$dir/data.sql", 'lower' ], 'data alone, into one that is below');
	cmp_ok(last_value($to, 'lower'), '>=', $allocated, 'it is raised');
	is(value($to, "$path SELECT count(*) FROM snowflake_segment", 'lower'), '3', '... and the others are there');
	my ($state, $error) = query_error($to, 'lower', "$path INSERT INTO tickets (n) SELECT generate_series(1, 300)");
	is($state, '00000', 'no key that came along is given again') or diag($error);
};

subtest 'what would lower or remove a segment' => sub {
	my $all = segments($from, 'source');
	for my $sql ('DELETE FROM snowflake_segment', 'TRUNCATE snowflake_segment', 'TRUNCATE snowflake_segment, snowflake_segment_range', 'UPDATE snowflake_segment SET last_value = last_value - 1',
		'UPDATE snowflake_segment SET last_value = 0', q{UPDATE snowflake_segment SET name = 'x' WHERE name = 'ticket'}, 'UPDATE snowflake_segment SET segment_id = segment_id + 1',
		'TRUNCATE snowflake_segment_range', 'UPDATE snowflake_segment_range SET held_from = 1', q{INSERT INTO snowflake_segment_range SELECT 1, false, 10, 'n', sha256('n'), 1, 1, 100, now()},
		q{MERGE INTO snowflake_segment s USING (SELECT) one ON s.name = 'ticket' WHEN MATCHED THEN DELETE},
		q{INSERT INTO snowflake_segment (name, segment_id, last_value, max_value, step, max_step) SELECT name, segment_id, 0, max_value, step, max_step FROM snowflake_segment
			ON CONFLICT (name) DO UPDATE SET last_value = 0})
	{
		my ($state, $error) = query_error($from, 'source', "$path $sql");
		# The last statement has no conflict: its INSERT is handled like a dump's.
		like($state, $sql =~ /ON CONFLICT/ ? qr/^00000$/ : qr/^55000$/, $sql =~ s/\s+/ /gr) or diag($error);
	}
	my (undef, undef, $warning) = $from->psql('source', "$path SET session_replication_role = replica; DELETE FROM snowflake_segment; UPDATE snowflake_segment SET last_value = 0;"
		  . " DELETE FROM snowflake_segment_range; INSERT INTO snowflake_segment (name, segment_id, last_value, max_value, step, max_step) VALUES ('replicated', 1, 1, 9, 1, 1)");
	is(() = $warning =~ /WARNING:  what replication writes to table "snowflake_segment(?:_range)?" is discarded/g, split(/\n/, $all) * 2 + 1 + value($from, "$path SELECT count(*) FROM snowflake_segment_range", 'source'),
		'what a replica writes is discarded, with a WARNING for each row');
	is(segments($from, 'source'), $all, 'all is as it was');
};

subtest 'a subscription to all tables' => sub {
	value($to, 'CREATE DATABASE copied');
	value($to, qq{CREATE SCHEMA "Some where"; CREATE EXTENSION snowflake SCHEMA "Some where"; $path SELECT snowflake_create_segment('ticket', start => 1000000, step => 10);
		CREATE TABLE public.tickets (id integer PRIMARY KEY DEFAULT snowflake_segment_nextval('ticket'), n int); SELECT snowflake_segment_nextval('ticket')}, 'copied');
	# The next range is acquired when the first number of this one is used.
	ok(wait_until('the next range', sub { last_value($to, 'copied') > 1000009 }), 'the subscriber has its next range');
	my $own = segments($to, 'copied');
	value($from, 'CREATE PUBLICATION everything FOR ALL TABLES', 'source');
	value($to, 'CREATE SUBSCRIPTION everything CONNECTION ' . sprintf("'host=%s port=%s dbname=source'", $from->host, $from->port) . ' PUBLICATION everything', 'copied');
	ok(wait_until('the first copy', sub { value($to, q{SELECT count(*) FILTER (WHERE srsubstate NOT IN ('r', 's')), count(*) > 3 FROM pg_subscription_rel}, 'copied') eq '0|t' }), 'all tables are copied');
	insert($from, 'source') for 1 .. 5;
	value($from, "$path SELECT snowflake_raise_segment('ticket', 9000); SELECT snowflake_create_segment('new'); SELECT snowflake_drop_segment('unused')", 'source');
	my @last = insert($from, 'source');
	ok(wait_until('the last row', sub { value($to, "SELECT count(*) FROM tickets WHERE id = $last[-1]", 'copied') eq '1' }), '... and all changes followed');
	is(value($to, subscription_errors(), 'copied'), '0', 'without an error');
	is(segments($to, 'copied'), $own, 'the segments of the subscriber are its own');
	cmp_ok((insert($to, 'copied'))[0], '>', 1000000, '... and so are its numbers');
	value($to, 'DROP SUBSCRIPTION everything', 'copied');
};

DumpTest::stop();
done_testing();
