# The trigger snowflake_claim() without caches: it accepts and refuses the right rows, and its errors
# name what is wrong.
# Not in the default run: it needs a server with assertions; .ci/run runs it.
use strict;
use warnings;

use lib 'test/perl';
use CachesTest;
use SnowflakeTest;
use Test::More;

my $claim = sub { my ($t, @arguments) = @_; return "CREATE TRIGGER claim BEFORE INSERT OR UPDATE ON $t FOR EACH ROW EXECUTE FUNCTION snowflake_claim(" . join(', ', map { "'$_'" } @arguments) . ');' };
my $server = caches_server('claim', 'CREATE DOMAIN d AS snowflake_id; CREATE TABLE t (id bigint DEFAULT snowflake_nextval(), n int) PARTITION BY LIST (n); CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1);
	CREATE TABLE t_2 (n int, gone int, id bigint DEFAULT snowflake_nextval()); ALTER TABLE t_2 DROP gone; ALTER TABLE t ATTACH PARTITION t_2 DEFAULT; CREATE TABLE o (id d DEFAULT snowflake_nextval());
	CREATE TABLE text (id text); CREATE TABLE made (n bigint, id bigint GENERATED ALWAYS AS (n) STORED);' . join '', $claim->('t', 'id'), $claim->('o', 'id'), $claim->('text', 'id'), $claim->('made', 'id'));
my ($out, $err) = forgetful('INSERT INTO t (n) SELECT 1 + g % 2 FROM generate_series(1, 6) g; INSERT INTO o DEFAULT VALUES; UPDATE t SET id = snowflake_nextval(), n = 3 - n; SELECT count(DISTINCT id) FROM t;');
is($err, '', 'rows with ids of their transaction are written');
is($out, '6', '... all');
ok(wait_until('a horizon', sub { $server->safe_psql('postgres', 'SELECT snowflake_horizon() > 7') eq 't' }), 'a horizon is reported');
for my $case ([ 'INSERT INTO t VALUES (7, 1)', qr/id 7 is below the horizon/ ], [ 'UPDATE t SET id = 7 WHERE n = 2', qr/id 7 is below the horizon/ ], [ 'INSERT INTO o VALUES (7)', qr/id 7 is below the horizon/ ],
	[ q{INSERT INTO text VALUES ('7')}, qr/Column "id" of relation "text" has type text/ ], [ 'INSERT INTO made VALUES (7)', qr/Column "id" of relation "made" is a generated column/ ])
{
	($out, $err) = forgetful("$case->[0];");
	like($err, $case->[1], $case->[0]);
}
end_of_caches();
