# snowflake_check() and snowflake_raise() without caches: ids that nobody issued are found in a table,
# its partitions and children.
# Not in the default run: it needs a server with assertions; .ci/run runs it.
use strict;
use warnings;

use lib 'test/perl';
use CachesTest;
use SnowflakeTest;
use Test::More;

my $server = caches_server('check', q{CREATE TABLE t (id bigint DEFAULT snowflake_nextval(), n int) PARTITION BY LIST (n); CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t_2 PARTITION OF t DEFAULT;
	CREATE TABLE above (id bigint DEFAULT snowflake_nextval()); CREATE TABLE below (n int) INHERITS (above);
	INSERT INTO t (n) SELECT g FROM generate_series(1, 3) g; INSERT INTO below DEFAULT VALUES; RESET ROLE; GRANT EXECUTE ON FUNCTION snowflake_check, snowflake_raise TO alice;
	SET ROLE alice; INSERT INTO t VALUES (9000000000000000000, 2); INSERT INTO below VALUES (9000000000000000001)});
for my $table ('t', 'above')
{
	my $sql = "SELECT * FROM snowflake_check('$table', 'id');";
	my ($expected) = $server->safe_psql('postgres', "SET search_path = r, public; $sql");
	like($expected, qr/900000000000000000\d/, "$table has an id of the future");
	my ($out, $err) = forgetful($sql);
	is("$out$err", $expected, '... which is found');
}
my ($out, $err) = forgetful('SELECT snowflake_raise(max(id)), snowflake_nextval() > max(id) FROM t WHERE n = 1;');
is("$out$err", '|t', 'ids are raised');
end_of_caches();
