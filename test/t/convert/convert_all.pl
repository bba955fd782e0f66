# snowflake_convert_all() says how many locks and how much disk it needs before it begins. The test
# compares these figures with pg_locks and with the size of the new tables, for schemas of many
# shapes that a seed chooses. It also checks that a conversion that fails at its end changes nothing.
# Not in the default run: it needs 2 s of processor time.

use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $server = new_server('shop', patient => 1, conf => "max_locks_per_transaction = 1000\nfsync = off\n");
start_server($server);
$server->safe_psql($db, 'CREATE EXTENSION snowflake_convert CASCADE; SELECT snowflake_nextval()');
my $seed = seed();

# Tables that refer to earlier ones, with indexes, defaults, toast tables and partitions. The first
# one has a narrow key: of schemas that have none, nothing is written anew.
sub random_schema
{
	my ($name, $tables) = @_;
	my @sql = ("CREATE SCHEMA $name", "SET search_path = $name, public");
	for my $n (1 .. $tables)
	{
		my $partitioned = $n > 1 && rand() < 0.1;
		my $key = $n == 1 ? 'serial' : $partitioned ? 'bigserial' : ('serial', 'integer GENERATED ALWAYS AS IDENTITY', 'bigserial')[ rand 3 ];
		my @columns = ("id $key PRIMARY KEY");
		push @columns, map { "c$_ " . ('text', 'integer DEFAULT 7', 'timestamptz DEFAULT now()', 'numeric CHECK (c' . $_ . ' > 0)')[ rand 4 ] } 1 .. rand 8;
		push @columns, map { my $to = 1 + int rand($n - 1); "r$_ integer " . (rand() < 0.5 && !$partitioned ? 'UNIQUE ' : '') . "REFERENCES t$to" } 1 .. rand 4 if $n > 1;
		push @sql, "CREATE TABLE t$n (" . join(', ', @columns) . ')' . ($partitioned ? ' PARTITION BY HASH (id)' : '');
		push @sql, map { "CREATE TABLE t${n}_$_ PARTITION OF t$n FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2 if $partitioned;
		push @sql, "INSERT INTO t$n SELECT FROM generate_series(1, 200)" unless grep { /^r/ } @columns;
	}
	$server->safe_psql($db, join(";\n", @sql));
	return;
}

my ($trials, $least, $most) = (at_length(6, 25), 9, 0);
for my $trial (1 .. $trials)
{
	my $name = "shop$trial";
	random_schema($name, 2 + int rand 30);
	my ($status, $out, $notices) = $server->psql($db, qq{
		BEGIN;
		SELECT count(*) FROM snowflake_convert_all('$name');
		SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid();
		SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = '$name'::regnamespace AND relkind = 'r';
		COMMIT});
	is($status, 0, "$name is converted") or diag($notices);
	my (undef, $locks, $bytes) = split /\n/, $out;
	my ($said) = $notices =~ /About (\d+) locks are needed/ or diag($notices);
	my $ratio = $said / $locks;
	cmp_ok($ratio, '>=', 1, "... with no more locks than it says: $locks of $said") or diag($server->safe_psql($db,
		"SELECT count(*), count(*) FILTER (WHERE relkind = 'i') FROM pg_class WHERE relnamespace = '$name'::regnamespace"));
	($least, $most) = ($ratio < $least ? $ratio : $least, $ratio > $most ? $ratio : $most);
	is($server->safe_psql($db, qq{SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace = '$name'::regnamespace AND relkind IN ('r', 'p') AND attname IN ('id', 'r1', 'r2', 'r3')
			AND (atttypid = 'integer'::regtype OR attname = 'id' AND NOT atthasdef)}), 0, '... as a whole');
}
cmp_ok($most, '<', 2, 'and it does not say much more');

# A row that violates a foreign key, which nobody checked, is found when the key is added again.
random_schema('wrong', 10);
$server->safe_psql($db, q{
	CREATE TABLE wrong.late (id serial PRIMARY KEY, r integer REFERENCES wrong.t1);
	SET session_replication_role = replica;
	INSERT INTO wrong.late (r) VALUES (123456789)});
my $facts = q{SELECT md5(string_agg(x::text, ' ' ORDER BY x::text)) FROM (
	SELECT attrelid, attname, atttypid, attidentity FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'wrong'::regnamespace
	UNION ALL SELECT oid, conname, conrelid, contype FROM pg_constraint WHERE connamespace = 'wrong'::regnamespace
	UNION ALL SELECT oid, relname, relfilenode, relkind FROM pg_class WHERE relnamespace = 'wrong'::regnamespace) x};
my $before = $server->safe_psql($db, $facts);
my ($state, $text) = query_error($server, $db, q{SELECT snowflake_convert_all('wrong')});
is($state, '23503', 'a row that violates a foreign key');
like($text, qr/late_r_fkey/, '... is named');
is($server->safe_psql($db, $facts), $before, '... and nothing has changed');
figures('%d trials (schemas): the notice says %.2f to %.2f times the locks that were taken', $trials, $least, $most);
$server->stop('fast');
done_testing();
