# snowflake_fill() without caches: what it reads of a table's triggers, constraints and indexes is
# right, and all rows are filled.
# Not in the default run: it needs a server with assertions; .ci/run runs it.
use strict;
use warnings;

use lib 'test/perl';
use CachesTest;
use SnowflakeTest;
use Test::More;

my $begun = join '', map { "ALTER TABLE t ADD new_$_ bigint; CREATE TRIGGER \"~$_\" BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION snowflake_follow('$_', 'new_$_');
	ALTER TABLE t ENABLE ALWAYS TRIGGER \"~$_\"; ALTER TABLE t ADD CHECK (new_$_ IS NOT DISTINCT FROM $_) NOT VALID;" } 'id', 'n';
my $server = caches_server('fill', "CREATE TABLE p (id int PRIMARY KEY);
	CREATE TABLE t (id int PRIMARY KEY, n smallint, p int REFERENCES p, u int UNIQUE DEFERRABLE, g int GENERATED ALWAYS AS (n * 2) STORED, CHECK (n > 0));
	INSERT INTO t SELECT g, g FROM generate_series(1, 5) g; $begun");
my ($out, $err) = forgetful("CALL snowflake_fill('t');");
is($err, '', 'a table is filled');
is($server->safe_psql('postgres', 'SELECT count(*), count(*) FILTER (WHERE new_id = id AND new_n = n) FROM r.t'), '5|5', '... with all rows');
$server->safe_psql('postgres', 'SET ROLE alice; UPDATE r.t SET u = id; ALTER TABLE r.t ADD CONSTRAINT up FOREIGN KEY (new_id) REFERENCES r.p NOT VALID');
($out, $err) = forgetful("CALL snowflake_fill('t');");
like($err, qr/cannot fill table t\b.*Foreign key "up" uses a new column/s, 'a foreign key is found');
end_of_caches();
