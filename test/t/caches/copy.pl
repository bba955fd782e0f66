# COPY without caches: its rows get ids and numbers by the fast path and without it, in tables with
# partitions, triggers and generated columns.
# Not in the default run: it needs a server with assertions; .ci/run runs it.
use strict;
use warnings;

use lib 'test/perl';
use CachesTest;
use SnowflakeTest;
use Test::More;

my $server = caches_server('copy', q{RESET ROLE; SELECT snowflake_create_segment('s'); SET ROLE alice;
	CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);
	CREATE TABLE g (id bigint DEFAULT snowflake_nextval(), n int, twice bigint GENERATED ALWAYS AS (id * 2) STORED, CHECK (id > 0));
	CREATE TABLE p (id bigint DEFAULT snowflake_nextval(), n int) PARTITION BY LIST (n); CREATE TABLE p_1 PARTITION OF p FOR VALUES IN (1); CREATE TABLE p_2 PARTITION OF p DEFAULT;
	CREATE TABLE s (id bigint DEFAULT snowflake_segment_nextval('s'), n int);
	CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO t (n) VALUES (NEW.n); RETURN NEW; END';
	CREATE TABLE w (id bigint DEFAULT snowflake_nextval(), n int); CREATE TRIGGER f BEFORE INSERT ON w FOR EACH ROW EXECUTE FUNCTION f();});
my @tables = qw(t g p s w);
my ($out, $err) = forgetful(join '', map { "COPY $_ (n) FROM STDIN;\n1\n2\n3\n\\.\n" } @tables);
is($err, '', 'rows are copied');
is($server->safe_psql('postgres', join ' UNION ALL ', map { "SELECT count(*), count(DISTINCT id) FROM r.$_" } @tables), join("\n", '6|6', ('3|3') x 4), '... and have ids');
is($server->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM r.t UNION ALL SELECT id FROM r.g UNION ALL SELECT id FROM r.p UNION ALL SELECT id FROM r.w) a'),
	'15|15', '... that differ');
end_of_caches();
