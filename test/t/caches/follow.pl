# The trigger snowflake_follow() without caches: it copies the right column, also in partitions whose
# columns have other numbers, and its errors name what is wrong.
# Not in the default run: it needs a server with assertions; .ci/run runs it.
use strict;
use warnings;

use lib 'test/perl';
use CachesTest;
use SnowflakeTest;
use Test::More;

my $follow = sub { my ($t) = @_; return "CREATE TRIGGER \"~id\" BEFORE INSERT OR UPDATE ON $t FOR EACH ROW EXECUTE FUNCTION snowflake_follow('id', 'new_id');" };
my $server = caches_server('follow', 'CREATE TABLE t (id int, n int, new_id bigint) PARTITION BY LIST (n); CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1);
	CREATE TABLE t_2 (gone text, new_id bigint, n int, id int); ALTER TABLE t_2 DROP gone; ALTER TABLE t ATTACH PARTITION t_2 FOR VALUES IN (2);
	CREATE TABLE s (id int, new_id bigint);' . $follow->('t') . $follow->('s'));
my ($out, $err) = forgetful(q{INSERT INTO t (id, n) SELECT g, 1 + g % 2 FROM generate_series(1, 10) g; UPDATE t SET id = -id, n = 3 - n WHERE id > 5;
	UPDATE t SET new_id = 77; INSERT INTO t (n) VALUES (1); SELECT count(*), count(*) FILTER (WHERE new_id IS NOT DISTINCT FROM id) FROM t;});
is($err, '', 'rows are written');
is($out, '11|11', '... and the columns are equal');
for my $case ([ 'ALTER TABLE s RENAME id TO other', qr/column "id" of relation "s" does not exist/ ], [ 'ALTER TABLE s RENAME other TO id; ALTER TABLE s ALTER new_id TYPE int', qr/column "new_id" is not of type bigint/ ],
	[ 'ALTER TABLE s ALTER new_id TYPE bigint; ALTER TABLE s ALTER id TYPE text', qr/column "id" is no longer narrow/ ])
{
	my ($change, $expected) = @$case;
	$server->safe_psql('postgres', "SET search_path = r; $change");
	($out, $err) = forgetful(q{INSERT INTO s VALUES ('1');});
	like($err, $expected, $change);
}
end_of_caches();
