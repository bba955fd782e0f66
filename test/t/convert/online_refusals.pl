# If an online conversion cannot convert an object, or could not carry it over as it is, it is refused
# before its first statement, with the names of all such objects and a hint. Its procedures check
# their arguments. If tables have changed since the switch was made, the switch fails and changes
# nothing. Who may convert is in online_rights.
# Not in the default run: refused conversions, and two calls; it needs 30 s of processor time,
# because it makes a new schema for each of a hundred conversions.
use strict;
use warnings;

use lib 'test/perl';
use ConvertTest;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time sleep);

my $server = convert_server('refusals', conf => "log_min_messages = log\n");
$server->safe_psql('postgres', 'CREATE EXTENSION btree_gist') if $server->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'btree_gist'});
$server->safe_psql('postgres', q{SET allow_in_place_tablespaces = on; CREATE TABLESPACE elsewhere LOCATION ''});

# In the separate schema r, which alice owns. Returns the SQLSTATE and the text of the error.
sub try_as
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = psql_as($server, $role, $sql);
	my ($state) = $err =~ /(?:ERROR|FATAL):\s+(\w{5}):/;
	return ($rc == 0 ? '00000' : $state // '?????', $err, $out);
}
sub anew
{
	my ($sql, $role) = @_;
	$role //= 'alice';
	$server->safe_psql('postgres', "SET client_min_messages = warning; DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r AUTHORIZATION alice; GRANT ALL ON SCHEMA r TO bob; SET ROLE $role; $sql");
	return;
}
my $serial = 'CREATE TABLE r.t (id serial PRIMARY KEY, n int, note text);';
my $included = 'CREATE TABLE r.t (n int, m text, id serial, PRIMARY KEY (n) INCLUDE (id));';

# Changes whenever a row of these catalogs is written.
sub catalogs
{
	my @catalogs = qw(pg_class pg_attribute pg_attrdef pg_constraint pg_index pg_trigger pg_policy pg_statistic_ext pg_description pg_rewrite pg_depend);
	return $server->safe_psql('postgres', join ' UNION ALL ', map { "SELECT md5(string_agg(xmin || ' ' || ctid, ',' ORDER BY ctid)) FROM $_" } @catalogs);
}

### Refusals

# [what, setup, what the error names, its SQLSTATE, as => who calls, call => the arguments,
# hint => 0 if it needs none].
my $dependent = qr/^55000$/;
my $kind = qr/^42809$/;
my $own_names = qr/^55000$/;
my @cases = (
	[ 'a materialized view', "$serial CREATE MATERIALIZED VIEW r.m AS SELECT id FROM r.t", qr/materialized view r\.m\b/, $dependent ],
	[ 'a materialized view over a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE MATERIALIZED VIEW r.m AS SELECT id FROM r.v", qr/materialized view r\.m\b/, $dependent ],
	[ 'a materialized view of a referring column', "$serial CREATE TABLE r.c (t_id int REFERENCES r.t); CREATE MATERIALIZED VIEW r.m AS SELECT t_id FROM r.c", qr/materialized view r\.m\b/, $dependent ],
	[ 'a stored generated column', "$serial ALTER TABLE r.t ADD doubled bigint GENERATED ALWAYS AS (id * 2) STORED", qr/doubled/, $dependent ],
	[ 'a stored generated column over a referring one', "$serial CREATE TABLE r.c (t_id int REFERENCES r.t, twice bigint GENERATED ALWAYS AS (t_id * 2) STORED)", qr/twice/, $dependent ],
	[ 'a rule', "$serial CREATE RULE of_t AS ON UPDATE TO r.t WHERE NEW.id > 5 DO INSTEAD NOTHING", qr/rule of_t\b/, $dependent ],
	[ 'a rule of another table', "$serial CREATE TABLE r.o (n int); CREATE RULE of_o AS ON INSERT TO r.o DO ALSO DELETE FROM r.t WHERE id = NEW.n", qr/rule of_o\b/, $dependent ],
	[ 'a rule of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE RULE of_v AS ON DELETE TO r.v DO INSTEAD NOTHING", qr/rule of_v on view r\.v depends on view r\.v/, qr/^55000$/ ],
	[ 'a function with a body in SQL', "$serial CREATE FUNCTION r.f() RETURNS bigint BEGIN ATOMIC SELECT max(id) FROM r.t; END", qr/function r\.f\(\)/, $dependent ],
	[ 'a function with a body in SQL over a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE FUNCTION r.f() RETURNS bigint BEGIN ATOMIC SELECT max(id) FROM r.v; END", qr/function r\.f\(\)/, $dependent ],
	[ 'a function that returns rows of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE FUNCTION r.f() RETURNS SETOF r.v LANGUAGE sql AS 'SELECT 1'", qr/function r\.f\(\)/, $dependent ],
	[ 'a view grouped by a key that includes the column', "$included CREATE VIEW r.v AS SELECT n, m FROM r.t GROUP BY n", qr/view r\.v depends on constraint t_pkey on table r\.t, which contains column id of table r\.t/, qr/^55000$/ ],
	[ 'a materialized view grouped by a key that includes the column', "$included CREATE MATERIALIZED VIEW r.v AS SELECT n, m FROM r.t GROUP BY n", qr/materialized view r\.v depends on constraint t_pkey\b/, qr/^55000$/ ],
	[ 'a function that groups by a key that includes the column', "$included CREATE FUNCTION r.f() RETURNS SETOF text BEGIN ATOMIC SELECT m FROM r.t GROUP BY n; END", qr/function r\.f\(\) depends on constraint t_pkey\b/, qr/^55000$/ ],
	[ 'a table with rows of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE TABLE r.h (was r.v)", qr/r\.h|\bwas\b/, $dependent ],
	[ 'a table with rows of the table', "$serial CREATE TABLE r.h (was r.t)", qr/r\.h|\bwas\b/, $dependent ],
	[ 'a table with arrays of rows of the table', "$serial CREATE TABLE r.h (were r.t[])", qr/r\.h|\bwere\b/, $dependent ],
	[ 'a type of rows of the table', "$serial CREATE TYPE r.y AS (row r.t); CREATE TABLE r.h (was r.y)", qr/r\.y\b/, $dependent ],
	[ 'a partition key', 'CREATE TABLE r.t (id serial, n int) PARTITION BY RANGE (id)', qr/partition key.*r\.t\b|r\.t\b.*partition key/s, $dependent ],
	[ 'an expression in a partition key', 'CREATE TABLE r.t (id serial, n int) PARTITION BY LIST ((id % 4))', qr/partition key.*r\.t\b|r\.t\b.*partition key/s, $dependent ],
	[ 'the partition key of a referring table', "$serial CREATE TABLE r.c (t_id int REFERENCES r.t) PARTITION BY HASH (t_id)", qr/partition key.*r\.c\b|r\.c\b.*partition key/s, $dependent ],
	[ 'an exclusion constraint', 'CREATE TABLE r.t (id serial, CONSTRAINT only_one EXCLUDE USING btree (id WITH =))', qr/only_one/, $dependent ],
	[ 'an exclusion constraint of a referring column', "$serial CREATE TABLE r.c (t_id int REFERENCES r.t, CONSTRAINT only_one EXCLUDE USING btree (t_id WITH =))", qr/only_one/, $dependent ],
	[ 'a typed table', 'CREATE TYPE r.y AS (id int, n int); CREATE TABLE r.t OF r.y', qr/r\.t\b/, qr/^55000$/ ],
	[ 'a referring typed table', "$serial CREATE TYPE r.y AS (t_id int, n int); CREATE TABLE r.c OF r.y; ALTER TABLE r.c ADD FOREIGN KEY (t_id) REFERENCES r.t", qr/r\.c\b/, qr/^55000$/ ],
	[ 'a constraint trigger of the column', "$serial CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE CONSTRAINT TRIGGER later AFTER UPDATE OF id ON r.t FOR EACH ROW EXECUTE FUNCTION r.f()", qr/trigger later\b/, $dependent ],
	[ 'a constraint trigger with a condition', "$serial CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE CONSTRAINT TRIGGER later AFTER UPDATE ON r.t DEFERRABLE FOR EACH ROW WHEN (NEW.id > 3) EXECUTE FUNCTION r.f()", qr/trigger later\b/, $dependent ],
	[ 'a foreign key to a partitioned table', 'CREATE TABLE r.t (id serial, n int, PRIMARY KEY (id, n)) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t FOR VALUES IN (1); CREATE TABLE r.c (t_id int, n int, CONSTRAINT up FOREIGN KEY (t_id, n) REFERENCES r.t)', qr/\bup\b/, $dependent ],
	[ 'a foreign key to a partition', 'CREATE TABLE r.t (id serial, n int) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t FOR VALUES IN (1); ALTER TABLE r.t_1 ADD UNIQUE (id); CREATE TABLE r.c (t_id int, CONSTRAINT up FOREIGN KEY (t_id) REFERENCES r.t_1 (id))', qr/\bup\b/, qr/^(55000|00000)$/ ],
	[ 'a sequence that another table uses', "$serial CREATE TABLE r.o (n int DEFAULT nextval('r.t_id_seq'))", qr/r\.o\b.*t_id_seq|t_id_seq.*r\.o\b/s, qr/^55000$/ ],
	[ 'a sequence that a view over the table uses', "$serial CREATE VIEW r.v AS SELECT id, nextval('r.t_id_seq') FROM r.t", qr/view r\.v.*t_id_seq|t_id_seq.*view r\.v/s, qr/^55000$/ ],
	[ 'a column that takes its ids from elsewhere', "$serial CREATE TABLE r.c (t_id int PRIMARY KEY CONSTRAINT up REFERENCES r.t)", qr/r\.c.*r\.t.*\bup\b/s, qr/^55000$/, call => "'r.c', 't_id'" ],
	[ 'ids that are larger than new ones', 'CREATE TABLE r.t (id bigint PRIMARY KEY); INSERT INTO r.t VALUES (9000000000000000000)', qr/r\.t\b/, qr/^55000$/ ],
	[ 'a single partition', 'CREATE TABLE r.p (id serial, n int) PARTITION BY LIST (n); CREATE TABLE r.t PARTITION OF r.p FOR VALUES IN (1)', qr/r\.t\b/, qr/^55000$/ ],
	[ 'an inherited column', 'CREATE TABLE r.p (id serial); CREATE TABLE r.t () INHERITS (r.p)', qr/r\.t\b/, qr/^55000$/ ],
	[ 'a column of two parents', 'CREATE TABLE r.t (id serial); CREATE TABLE r.p (id int); CREATE TABLE r.c () INHERITS (r.t, r.p)', qr/r\.c\b/, qr/^55000$/ ],
	[ 'a generated column', 'CREATE TABLE r.t (n int, id int GENERATED ALWAYS AS (n + 1) STORED)', qr/column id of table r\.t\b/, qr/^55000$/ ],
	[ 'a column of text', 'CREATE TABLE r.t (id text)', qr/column id of table r\.t\b/, qr/^55000$/ ],
	[ 'a domain', 'CREATE DOMAIN r.d AS int; CREATE TABLE r.t (id r.d)', qr/column id of table r\.t\b/, qr/^55000$/ ],
	[ 'a referring domain', "$serial CREATE DOMAIN r.d AS int; CREATE TABLE r.c (t_id r.d REFERENCES r.t)", qr/column t_id of table r\.c\b/, qr/^55000$/ ],
	[ 'a view with an INSTEAD OF trigger', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER instead INSTEAD OF UPDATE ON r.v FOR EACH ROW EXECUTE FUNCTION r.f()", qr/view r\.v\b/, $dependent ],
	[ 'a view with a default', "$serial CREATE VIEW r.v AS SELECT id, n FROM r.t; ALTER VIEW r.v ALTER n SET DEFAULT 5", qr/view r\.v\b/, $dependent ],
	[ 'a column that is inherited and local', 'CREATE TABLE r.t (id serial); CREATE TABLE r.c (id int NOT NULL) INHERITS (r.t)', qr/r\.c\b/, $dependent ],
	[ 'no such column', $serial, qr/"?other"?.*r\.t|other/, qr/^42703$/, call => "'r.t', 'other'" ],
	[ 'a system column', $serial, qr/ctid/, qr/^(42703|42809|42804)$/, call => "'r.t', 'ctid'" ],
	[ 'no such table', $serial, qr/4000000000/, qr/^42P01$/, call => "4000000000::oid::regclass, 'id'" ],
	[ 'a view', 'CREATE VIEW r.t AS SELECT 1 AS id', qr/r\.t\b/, $kind ],
	[ 'an index', "$serial", qr/t_pkey/, qr/^(42809|42703)$/, call => "'r.t_pkey', 'id'" ],
	[ 'a sequence itself', "$serial", qr/t_id_seq/, $kind, call => "'r.t_id_seq', 'last_value'" ],
	[ 'a table of PostgreSQL', $serial, qr/pg_class/, qr/^42501$/, call => "'pg_class', 'relpages'", as => 'postgres' ],
	[ 'a table of an extension', $serial, qr/snowflake_watermark/, qr/^(55000|42501)$/, call => "'snowflake_watermark', 'worker_id'", as => 'postgres' ],
	[ 'another role\'s table', $serial, qr/table r\.t\b/, qr/^42501$/, as => 'bob' ],
	[ 'a referring table of another role', "$serial GRANT REFERENCES ON r.t TO bob; SET ROLE bob; CREATE TABLE r.c (t_id int REFERENCES r.t)", qr/table r\.c\b/, qr/^42501$/ ],
	[ 'a view of another role', "$serial GRANT SELECT ON r.t TO bob; SET ROLE bob; CREATE VIEW r.v AS SELECT id FROM r.t", qr/view r\.v belongs to bob/, qr/^42501$/ ],
	[ 'a view of another role over a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; GRANT SELECT ON r.v TO bob; SET ROLE bob; CREATE VIEW r.w AS SELECT id FROM r.v", qr/view r\.w belongs to bob/, qr/^42501$/ ],
	[ 'a referred table of another role', "RESET ROLE; CREATE TABLE r.o (x int PRIMARY KEY); ALTER TABLE r.o OWNER TO bob; GRANT REFERENCES ON r.o TO alice; SET ROLE alice; CREATE TABLE r.t (id serial PRIMARY KEY, x int); ALTER TABLE r.t ADD CONSTRAINT up FOREIGN KEY (id) REFERENCES r.o NOT VALID", qr/r\.o/, qr/^(42501|55000)$/, call => "'r.t', 'id', target => 'bigint'" ],
	[ 'a partition of another role', "CREATE TABLE r.t (id serial, n int) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t FOR VALUES IN (1); RESET ROLE; ALTER TABLE r.t_1 OWNER TO bob", qr/table r\.t_1 belongs to bob/, qr/^42501$/ ],
	[ 'statistics of another role', "$serial CREATE STATISTICS r.s ON id, n FROM r.t; RESET ROLE; ALTER STATISTICS r.s OWNER TO bob", qr/statistics object r\.s belongs to bob/, qr/^42501$/ ],
	[ 'a policy on another role\'s table', "$serial GRANT SELECT ON r.t TO bob; SET ROLE bob; CREATE TABLE r.o (n int); CREATE POLICY p ON r.o USING (n < (SELECT max(id) FROM r.t))", qr/table r\.o belongs to bob/, qr/^42501$/ ],
	[ 'a publication of another role', "$serial RESET ROLE; CREATE PUBLICATION refused FOR TABLE r.t WHERE (id > 3) WITH (publish = 'insert')", qr/publication refused belongs to postgres/, qr/^42501$/ ],
	[ 'a schema without the right to create', "$serial RESET ROLE; ALTER SCHEMA r OWNER TO postgres; REVOKE ALL ON SCHEMA r FROM alice; GRANT USAGE ON SCHEMA r TO alice", qr/schema r\b/, qr/^42501$/ ],
	[ 'a column of the conversion\'s name', "$serial ALTER TABLE r.t ADD snowflake_new_id bigint", qr/snowflake_new_id/, $own_names ],
	[ 'an index of the conversion\'s name', "$serial CREATE INDEX snowflake_new_t_pkey ON r.t (n)", qr/snowflake_new_t_pkey/, $own_names ],
	[ 'a unique index of the conversion\'s name', "$serial CREATE UNIQUE INDEX snowflake_new_t_pkey ON r.t (n)", qr/snowflake_new_t_pkey/, $own_names ],
	[ 'a table of the name of an index', "$serial CREATE TABLE r.snowflake_new_t_pkey (n int)", qr/snowflake_new_t_pkey/, $own_names ],
	[ 'a check of the conversion\'s name', "$serial ALTER TABLE r.t ADD CONSTRAINT snowflake_same_id CHECK (n > 0)", qr/snowflake_same_id/, $own_names ],
	[ 'another check of the conversion\'s name', "$serial ALTER TABLE r.t ADD CONSTRAINT snowflake_full_id CHECK (n > 0)", qr/snowflake_full_id/, $own_names ],
	[ 'the name of a check that is to be made again', "$serial ALTER TABLE r.t ADD CONSTRAINT small CHECK (id < 5), ADD CONSTRAINT snowflake_new_small CHECK (n > 0)", qr/snowflake_new_small/, $own_names ],
	[ 'the name of a foreign key that is to be made again', "$serial CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t, CONSTRAINT snowflake_new_up CHECK (t_id > 0))", qr/snowflake_new_up/, $own_names ],
	[ 'a trigger of the conversion\'s name', qq{$serial CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER "~snowflake_new_id" BEFORE INSERT ON r.t FOR EACH ROW EXECUTE FUNCTION r.f()}, qr/snowflake_new_id/, $own_names ],
	[ 'another target', $serial, qr/int/, qr/^22023$/, call => q{'r.t', 'id', target => 'int'} ],
	[ 'the target BIGINT', $serial, qr/BIGINT/, qr/^(22023|00000)$/, call => q{'r.t', 'id', target => 'BIGINT'} ],
	[ 'no target', $serial, qr/target/, qr/^22023$/, call => q{'r.t', 'id', target => ''} ],
	map({ [ "a null as $_->[0]", $serial, qr/$_->[0]|null/, qr/^22004$/, call => $_->[1], hint => 0 ] }
		[ relation => q{NULL, 'id'} ], [ column_name => q{'r.t', NULL} ], [ dry_run => q{'r.t', 'id', dry_run => NULL} ], [ abandon => q{'r.t', 'id', abandon => NULL} ],
		[ target => q{'r.t', 'id', target => NULL} ]));

for my $case (@cases)
{
	my ($what, $setup, $named, $states, %with) = @$case;
	anew($setup);
	my $call = $with{call} // q{'r.t', 'id'};
	my $as = $with{as} // 'alice';
	my ($state, $text, $out) = try_as($as, "SELECT snowflake_convert($call, online => true)");
	like($state, $states, "$what: refused") or diag("$text$out");
	next if $state eq '00000';
	like($text, $named, '... by its name');
	like($text, qr/HINT:  \S.*[.?;]$/m, '... with a hint') unless defined $with{hint};
	# If the type is the reason, the smaller target is refused, too.
	next unless $states == $dependent && !$with{call};
	($state) = try_as($as, "SELECT snowflake_convert($call, online => true, target => 'bigint')");
	like($state, $states, '... and with the target bigint');
}

### What would not be carried over. Everything is listed at once

my $trigger = "CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER w BEFORE UPDATE OF id ON r.t FOR EACH ROW EXECUTE FUNCTION r.f();";
my $label = sub { my ($catalog, $object, $number) = @_; "RESET ROLE; SET allow_system_table_mods = on; INSERT INTO pg_seclabel VALUES ($object, '$catalog'::regclass, $number, 'labels', 'secret'); RESET allow_system_table_mods;" };
my $identity = 'CREATE TABLE r.t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int);';
my $by_carol = 'RESET ROLE; GRANT USAGE ON SCHEMA r TO carol; SET ROLE carol;';
# [what, setup, what the error names, target => 'bigint' if only this one keeps the object].
for my $case (
	[ 'a security label of the column', $serial . $label->('pg_class', "'r.t'::regclass", 1), qr/column id of table r\.t has a security label of labels/ ],
	[ 'a security label of a referring column', "$serial CREATE TABLE r.c (t_id int REFERENCES r.t);" . $label->('pg_class', "'r.c'::regclass", 1), qr/column t_id of table r\.c has a security label of labels/ ],
	[ 'a security label of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t;" . $label->('pg_class', "'r.v'::regclass", 0), qr/view r\.v has a security label of labels/ ],
	[ 'a security label of a column of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t;" . $label->('pg_class', "'r.v'::regclass", 1), qr/column id of view r\.v has a security label of labels/ ],
	[ 'a security label of an identity\'s sequence', $identity . $label->('pg_class', "'r.t_id_seq'::regclass", 0), qr/sequence r\.t_id_seq has a security label of labels/, 'bigint' ],
	[ 'a right on the column', "$serial GRANT SELECT (id) ON r.t TO carol WITH GRANT OPTION; $by_carol GRANT SELECT (id) ON r.t TO bob", qr/column id of table r\.t has a right that carol granted to bob/ ],
	[ 'a right on a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; GRANT SELECT ON r.v TO carol WITH GRANT OPTION; $by_carol GRANT SELECT ON r.v TO bob", qr/view r\.v has a right that carol granted to bob/ ],
	[ 'a right on a column of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; GRANT SELECT (id) ON r.v TO carol WITH GRANT OPTION; $by_carol GRANT SELECT (id) ON r.v TO PUBLIC", qr/column id of view r\.v has a right that carol granted to PUBLIC/ ],
	[ 'a right on an identity\'s sequence', "$identity GRANT USAGE ON SEQUENCE r.t_id_seq TO carol WITH GRANT OPTION; $by_carol GRANT USAGE ON SEQUENCE r.t_id_seq TO bob", qr/sequence r\.t_id_seq has a right that carol granted to bob/, 'bigint' ],
	[ 'an index that depends on an extension', "$serial ALTER INDEX r.t_pkey DEPENDS ON EXTENSION snowflake", qr/index r\.t_pkey depends on extension snowflake\b/ ],
	[ 'a trigger that depends on an extension', "$serial $trigger ALTER TRIGGER w ON r.t DEPENDS ON EXTENSION snowflake", qr/trigger w on table r\.t depends on extension snowflake\b/ ],
	[ 'a view of an extension', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; RESET ROLE; ALTER EXTENSION plpgsql ADD VIEW r.v", qr/view r\.v belongs to extension plpgsql/ ],
	[ 'a disabled foreign key', "$serial CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t); RESET ROLE; ALTER TABLE r.c DISABLE TRIGGER ALL", qr/constraint up on table r\.c has a trigger that does not fire as usual/ ],
	[ 'a foreign key that is disabled at its other end', "$serial CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t); RESET ROLE; ALTER TABLE r.t DISABLE TRIGGER ALL", qr/constraint up on table r\.c has a trigger that does not fire as usual/ ],
	[ 'a disabled unique constraint', 'CREATE TABLE r.t (id serial, n int, CONSTRAINT once UNIQUE (id) DEFERRABLE); RESET ROLE; ALTER TABLE r.t DISABLE TRIGGER ALL', qr/constraint once on table r\.t has a trigger that does not fire as usual/ ],
	[ 'rows that are hidden from a foreign key', "$serial CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t); ALTER TABLE r.t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY", qr/constraint up on table r\.c is checked under the forced row security of table r\.t/ ],
	[ 'a disabled view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; RESET ROLE; UPDATE pg_rewrite SET ev_enabled = 'D' WHERE ev_class = 'r.v'::regclass", qr/rule _RETURN on view r\.v is disabled/ ],
	[ 'a comment on a view\'s rule', qq{$serial CREATE VIEW r.v AS SELECT id FROM r.t; COMMENT ON RULE "_RETURN" ON r.v IS 'a comment'}, qr/rule _RETURN on view r\.v has a comment/ ],
	[ 'a comment on a view\'s type', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; COMMENT ON TYPE r.v IS 'a comment'", qr/type r\.v has a comment/ ],
	[ 'rights on a view\'s type', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; GRANT USAGE ON TYPE r.v TO bob", qr/type r\.v has rights of its own/ ],
	[ 'an array of rows of a view', "$serial CREATE VIEW r.v AS SELECT id FROM r.t; CREATE TABLE r.o (v r.v[])", qr/column v of table r\.o depends on view r\.v/ ],
	[ 'a check that a child has, too', 'CREATE TABLE r.t (id serial, CONSTRAINT small CHECK (id < 9)); CREATE TABLE r.c (CONSTRAINT small CHECK (id < 9)) INHERITS (r.t)', qr/constraint small on table r\.c is both inherited and local/ ],
	[ 'a partitioned index in a tablespace', "RESET ROLE; GRANT CREATE ON TABLESPACE elsewhere TO alice; SET ROLE alice; CREATE TABLE r.t (id serial, n int) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t FOR VALUES IN (1); CREATE INDEX i ON r.t (id) TABLESPACE elsewhere", qr/index r\.i is partitioned and has a tablespace of its own/ ],
	[ 'an identity\'s sequence that another table uses', "$identity CREATE TABLE r.o (n int DEFAULT nextval('r.t_id_seq'))", qr/default value for column n of table r\.o depends on sequence r\.t_id_seq/, 'bigint' ],
	[ 'an identity\'s sequence that a view uses', "$identity CREATE VIEW r.o AS SELECT last_value FROM r.t_id_seq", qr/view r\.o depends on sequence r\.t_id_seq/, 'bigint' ],
	[ 'an identity\'s sequence that is not logged', "$identity ALTER SEQUENCE r.t_id_seq SET UNLOGGED", qr/sequence r\.t_id_seq is not logged/, 'bigint' ],
	[ 'no replica identity in a publication', "CREATE TABLE r.t (id serial UNIQUE, n int); RESET ROLE; CREATE PUBLICATION refused FOR ALL TABLES WITH (publish = 'update')", qr/table r\.t has no replica identity, and publication refused publishes its updates/ ],
	[ 'no replica identity of a partition', "CREATE TABLE r.t (id serial, n int) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t FOR VALUES IN (1); RESET ROLE; CREATE PUBLICATION refused FOR TABLE r.t", qr/table r\.t_1 has no replica identity, and publication refused publishes its updates/ ],
	[ 'a replica identity that is nothing', "$serial ALTER TABLE r.t REPLICA IDENTITY NOTHING; RESET ROLE; CREATE PUBLICATION refused FOR TABLES IN SCHEMA r", qr/table r\.t has no replica identity, and publication refused publishes its updates/ ],
	[ 'an exclusion constraint with a condition', "CREATE TABLE r.t (id serial, n int4range, EXCLUDE USING gist (n WITH &&) WHERE (id > 3))", qr/index r\.t_n_excl depends on column id of table r\.t/ ],
	[ 'ON DELETE SET DEFAULT', "$serial CREATE TABLE r.c (t_id int DEFAULT 1 CONSTRAINT up REFERENCES r.t ON DELETE SET DEFAULT)", qr/constraint up on table r\.c sets defaults/ ],
	[ 'ON UPDATE SET DEFAULT', "$serial CREATE TABLE r.c (t_id int DEFAULT 1 CONSTRAINT up REFERENCES r.t ON UPDATE SET DEFAULT)", qr/constraint up on table r\.c sets defaults/ ],
	[ 'the name of an old column', "$serial ALTER TABLE r.t ADD snowflake_old_id text", qr/column snowflake_old_id of table r\.t has the name that the old column gets/ ],
	[ 'an identity whose sequence its owner cannot read', 'CREATE TABLE r.t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY); REVOKE ALL ON SEQUENCE r.t_id_seq FROM alice', qr/sequence r\.t_id_seq cannot be read by its owner/, 'bigint' ],
	[ 'a whole row in an index', "$serial CREATE INDEX i ON r.t (id) WHERE t IS NOT NULL", qr/index r\.i contains a whole row/ ],
	[ 'a whole row in an index on other columns', "$serial CREATE INDEX i ON r.t (n, hash_record(t))", qr/index r\.i contains a whole row/ ])
{
	my ($what, $setup, $named, $only) = @$case;
	anew($setup);
	my ($before, $target) = (catalogs(), $only // 'ids');
	my ($state, $text) = try_as('alice', "SELECT snowflake_convert('r.t', 'id', online => true, target => '$target')");
	is($state, '55000', "$what: refused") or diag($text);
	like($text, $named, '... by its name') or diag($text);
	is(catalogs(), $before, '... and nothing has changed');
	is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)}))[0], '00000', '... but not if it goes anyway') if $only && $what !~ /uses$/;
	$server->safe_psql('postgres', 'ALTER EXTENSION plpgsql DROP VIEW r.v') if $what eq 'a view of an extension';
	$server->safe_psql('postgres', 'DROP PUBLICATION IF EXISTS refused');
}
# Rows that violate what is NOT VALID cannot be filled. A null satisfies a check. Policies hide no rows here.
my $positive = 'ADD CONSTRAINT positive CHECK (n > 0) NOT VALID';
for my $case (
	[ 'of a check', "$serial INSERT INTO r.t (n) VALUES (1), (NULL), (-1); ALTER TABLE r.t $positive, ADD CONSTRAINT few CHECK (n < 9) NOT VALID", 'DELETE FROM r.t WHERE n < 0', 'constraint positive on table r.t', 'CHECK ((n > 0))' ],
	[ 'of a check without columns', "$serial INSERT INTO r.t (n) VALUES (1); ALTER TABLE r.t ADD CONSTRAINT never CHECK (false) NOT VALID", 'DELETE FROM r.t', 'constraint never on table r.t', 'CHECK (false)' ],
	[ 'of a check of a partition', "CREATE TABLE r.t (id serial, n int, PRIMARY KEY (id, n)) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t DEFAULT; INSERT INTO r.t (n) VALUES (-1); ALTER TABLE r.t_1 $positive", 'UPDATE r.t SET n = 1', 'constraint positive on table r.t_1', 'CHECK ((n > 0))' ],
	[ 'of a check of a referring table', "$serial INSERT INTO r.t (n) VALUES (1); CREATE TABLE r.c (t_id int REFERENCES r.t, n int); INSERT INTO r.c VALUES (1, -1); ALTER TABLE r.c $positive", 'TRUNCATE r.c', 'constraint positive on table r.c', 'CHECK ((n > 0))' ],
	[ 'that a policy hides', "$serial INSERT INTO r.t (n) VALUES (-1); ALTER TABLE r.t $positive, ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CREATE POLICY p ON r.t USING (n > 0) WITH CHECK (true)", 'RESET ROLE; DELETE FROM r.t', 'constraint positive on table r.t', 'CHECK ((n > 0))' ],
	$server->pg_version >= 18
	? ([ 'of a NOT NULL', "$serial INSERT INTO r.t (n) VALUES (NULL); ALTER TABLE r.t ADD CONSTRAINT filled NOT NULL n NOT VALID", 'UPDATE r.t SET n = 1', 'constraint filled on table r.t', 'NOT NULL n' ])
	: ())
{
	my ($what, $setup, $mended, $constraint, $definition) = @$case;
	anew($setup);
	my $violated = catalogs();
	my ($state, $text) = try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)});
	is($state, '55000', "a row that violates a constraint $what: refused");
	like($text, qr/DETAIL:  \Q$constraint is NOT VALID, and rows violate it: $definition\E\nHINT:  Change the rows/, '... by its name') or diag($text);
	is(catalogs(), $violated, '... and nothing has changed');
	$server->safe_psql('postgres', "SET ROLE alice; $mended");
	is(convert_online($server, { name => 'r' }), '', '... without such a row, it is converted');
	is($server->safe_psql('postgres', q{SELECT string_agg(DISTINCT convalidated::text, ' ') FROM pg_constraint WHERE conname IN ('positive', 'few', 'never', 'filled') AND connamespace = 'r'::regnamespace}), 'false', '... and nothing is validated');
}
anew("$serial CREATE MATERIALIZED VIEW r.m AS SELECT id FROM r.t; CREATE INDEX i ON r.t (id) WHERE t IS NOT NULL; GRANT SELECT, REFERENCES ON r.t TO bob; SET ROLE bob; CREATE VIEW r.v AS SELECT id FROM r.t; CREATE TABLE r.c (t_id int REFERENCES r.t)");
my ($all_state, $all) = try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)});
is($all_state, '42501', 'rights and obstacles together');
like($all, qr/DETAIL:  index r\.i .*\nmaterialized view r\.m .*\ntable r\.c belongs to bob\nview r\.v belongs to bob\nHINT:  Drop what depends on the columns, convert, and create it again\.\nGive these objects the owner of the tables, and the owner these rights\.\n/, '... are all listed');
# The hint offers the direct conversion only if that works.
anew("$serial CREATE MATERIALIZED VIEW r.m AS SELECT id FROM r.t");
like((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)}))[1], qr/HINT:  Drop what depends on the columns, convert, and create it again\.\nLOCATION/, 'a materialized view is in the way of any conversion');
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id')}))[0], '55000', '... also of the direct one');
anew("$serial CREATE INDEX i ON r.t (id) WHERE t IS NOT NULL");
like((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)}))[1], qr/HINT:  Drop what depends on the columns, convert, and create it again\.\nOr convert without online\.\n/, 'an index is not');
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id')}))[0], '00000', '... and the direct one works');
# A new column is not dropped because of its name.
anew("$serial ALTER TABLE r.t ADD snowflake_new_id bigint, ADD snowflake_new_n bigint");
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true, abandon => true)}))[2], '', 'a column of somebody else\'s is not abandoned');

anew($serial);
# Objects with such a name that do not interfere are kept.
anew("$serial CREATE INDEX snowflake_new_n ON r.t (n); ALTER TABLE r.t ADD CONSTRAINT snowflake_new_id CHECK (n > 0); CREATE TABLE r.snowflake_new_c (t_id int REFERENCES r.t)");
is(convert_online($server, { name => 'r' }), '', 'a table with other objects of such names is converted');
is($server->safe_psql('postgres', q{SELECT to_regclass('r.snowflake_new_n'), (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'snowflake_new_id'), to_regclass('r.snowflake_new_c')}),
	'r.snowflake_new_n|CHECK ((n > 0))|r.snowflake_new_c', '... and they are still there');
anew($serial);
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => NULL)}))[0], '22004', 'a null as online');
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', abandon => true)}))[0], '22023', 'abandon without online is refused');
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true, dry_run => true)}))[0], '00000', 'dry_run changes nothing');
is((try_as('alice', q{BEGIN; SELECT snowflake_convert('r.t', 'id', online => true); COMMIT}))[0], '00000', 'it may be called in a transaction, because it executes nothing');
is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true, abandon => true)}))[0], '00000', 'nothing is there to abandon');
my $untouched = catalogs();
try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true)});
is(catalogs(), $untouched, '... and nothing was done');
try_as('alice', q{COMMENT ON COLUMN r.t.id IS 'other'; COMMENT ON COLUMN r.t.id IS NULL; ALTER TABLE r.t ALTER n SET STATISTICS 5});
isnt(catalogs(), $untouched, '... which would be seen');

### The procedures

anew($serial);
for my $call (q{snowflake_fill('r.t')}, q{snowflake_try('SELECT 1')})
{
	my ($state, $text) = try_as('alice', "BEGIN; CALL $call");
	is($state, '25001', "$call in a transaction is refused") or diag($text);
	my ($rc, $out, $err) = (1);
	IPC::Run::run([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $server->connstr('postgres') . ' user=alice', '-c', "SELECT 1; CALL $call" ], '>', \$out, '2>', \$err);
	like($err, qr/25001/, '... in several statements at once, too');
	anew("$serial CREATE FUNCTION r.f() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN CALL $call; END\$\$");
	($state, $text) = try_as('alice', 'SELECT r.f()');
	like($state, qr/^(25001|2D000)$/, '... and in a function') or diag($text);
}
for my $bad (
	[ 'snowflake_fill(NULL)', '22004' ], [ 'snowflake_try(NULL)', '22004' ], [ q{snowflake_try('nonsense')}, '42601' ],
	[ q{snowflake_try('SELECT 1/0')}, '22012' ], [ q{snowflake_fill(4000000000::oid::regclass)}, '42P01' ],
	[ q{snowflake_fill('pg_class')}, qr/^(42501|55000)$/ ], [ q{snowflake_try('COMMIT')}, qr/^(0A000|2D000|25001|55000)$/ ],
	[ q{snowflake_try('VACUUM r.t')}, '25001' ], [ q{snowflake_fill('r.t', -1)}, '22023' ], [ q{snowflake_fill('r.t', NULL)}, '22004' ], [ q{snowflake_fill('r.t')}, '00000' ])
{
	my ($call, $wanted) = @$bad;
	my ($state, $text) = try_as('alice', "CALL $call");
	like($state, ref $wanted ? $wanted : qr/^$wanted$/, "CALL $call") or diag($text);
}
is((try_as('alice', q{CALL snowflake_try('CREATE TABLE r.half (); SELECT 1/0')}))[0], '22012', 'statements that fail');
is($server->safe_psql('postgres', q{SELECT to_regclass('r.half')}), '', '... leave nothing behind');
is((try_as('alice', q{CALL snowflake_try('CREATE TABLE r.whole (); CREATE TABLE r.other ()')}))[0], '00000', 'others');
is($server->safe_psql('postgres', q{SELECT to_regclass('r.whole'), to_regclass('r.other')}), 'r.whole|r.other', '... are done');
# CREATE INDEX CONCURRENTLY, as far as it goes: an index that nobody uses or fills, as after a failure.
my $create = q{snowflake_try('CREATE UNIQUE INDEX CONCURRENTLY "Empty" ON r.t ((n %% 3)) WHERE n > 0')} =~ s/%%/%/r;
is((try_as('alice', "INSERT INTO r.t (n) VALUES (1), (4); CALL $create; INSERT INTO r.t (n) VALUES (7)"))[0], '00000', 'an index that no row can be in');
my $state_of = q{SELECT indisvalid, indisready, indislive, pg_relation_size(indexrelid) = 0, pg_get_indexdef(indexrelid) FROM pg_index WHERE indexrelid = 'r."Empty"'::regclass};
is($server->safe_psql('postgres', $state_of), 'f|f|t|t|CREATE UNIQUE INDEX "Empty" ON r.t USING btree (((n % 3))) WHERE (n > 0)', '... is there, and empty');
like((try_as('alice', "CALL $create"))[1], qr/42P07/, '... once');
is((try_as('alice', 'REINDEX INDEX CONCURRENTLY r."Empty"'))[0], '23505', '... and cannot be built while rows violate it');
is((try_as('alice', 'DELETE FROM r.t WHERE n > 1; DROP INDEX CONCURRENTLY r."Empty_ccnew"; VACUUM r.t'))[0], '00000', '... as after a CREATE INDEX CONCURRENTLY that failed');
is((try_as('alice', 'REINDEX INDEX CONCURRENTLY r."Empty"'))[0], '00000', '... but otherwise');
is($server->safe_psql('postgres', $state_of), 't|t|t|f|CREATE UNIQUE INDEX "Empty" ON r.t USING btree (((n % 3))) WHERE (n > 0)', '... and is valid then');
is((try_as('alice', 'INSERT INTO r.t (n) VALUES (10)'))[0], '23505', '... for new rows, too');
$server->safe_psql('postgres', q{CREATE TABLE r.parts (n int) PARTITION BY LIST (n); CREATE FUNCTION r.stop() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN IF session_user = 'carol' THEN RAISE 'no %', TG_TAG; END IF; END$$;
	CREATE TABLE r.of_carol (n int); ALTER TABLE r.of_carol OWNER TO carol; GRANT ALL ON SCHEMA r TO carol; CREATE EVENT TRIGGER stop ON ddl_command_start EXECUTE FUNCTION r.stop()});
for my $bad ([ 'bob', q{ON r.t (n)}, '42501' ], [ 'alice', 'ON pg_class (relname)', '42501' ], [ 'postgres', 'ON pg_class (relname)', '42501' ], [ 'postgres', 'ON r.parts (n)', '0A000' ], [ 'alice', 'ON r.t (nothing)', '42703' ],
	[ 'alice', 'ON r.t (random())', '42P17' ], [ 'carol', 'ON r.of_carol (n)', 'P0001' ])
{
	my ($role, $index, $wanted) = @$bad;
	my ($got, $why) = try_as($role, "CALL snowflake_try('CREATE INDEX CONCURRENTLY bad $index')");
	is($got, $wanted, "CREATE INDEX CONCURRENTLY bad $index as $role") or diag($why);
}
is((try_as('alice', "SET default_transaction_read_only = on; CALL snowflake_try('CREATE INDEX CONCURRENTLY bad ON r.t (n)')"))[0], '25006', '... and in a transaction that only reads');
$server->safe_psql('postgres', 'DROP EVENT TRIGGER stop');
anew($serial);
for my $case ([ 'bob', q{snowflake_try('DROP TABLE r.t')} ], [ 'bob', q{snowflake_try('CREATE ROLE evil SUPERUSER')} ], [ 'bob', q{snowflake_fill('r.t')} ])
{
	my ($state, $text) = try_as($case->[0], "CALL $case->[1]");
	is($state, '42501', "CALL $case->[1] by a role that may not") or diag($text);
}

# The procedure waits for a lock in short tries. Between them other sessions get their locks.
my $holder = $server->background_psql('postgres', on_error_die => 1);
$holder->query_safe('BEGIN; LOCK TABLE r.t IN ACCESS SHARE MODE');
# The duration of the longest of some reads, in s. As a control it is first measured without a try.
sub longest_read
{
	my $longest = 0;
	for (1 .. 15)
	{
		my $began = time();
		$server->safe_psql('postgres', 'SELECT count(*) FROM r.t');
		my $took = time() - $began;
		$longest = $took if $took > $longest;
		sleep(0.1);
	}
	return $longest;
}
my $usual = longest_read();
my ($out, $err) = ('', '');
my $run = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $server->connstr('postgres') . ' user=alice application_name=trying', '-c',
		q{CALL snowflake_try('ALTER TABLE r.t ADD tried int')} ], '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240 * slowness()));
# Again if something stood still: if reads had to wait, one of each fifteen would.
my $longest;
for (1 .. 5) { $longest = longest_read(); last if $longest < 0.7 * slowness() + 10 * $usual; }
cmp_ok($longest, '<', 0.7 * slowness() + 10 * $usual, 'while it tries, nobody waits for long');
is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'trying'}), '1', '... and it goes on trying');
$holder->query_safe('COMMIT');
$run->finish;
# After ten seconds it says what it waits for.
is($err =~ s/^(NOTICE|DETAIL|HINT|LOCATION):.*\n//mgr, '', '... until it gets the lock');
is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'r.t'::regclass AND attname = 'tried'}), '1', '... and does it');
# If a cancellation arrives just as a try ends, PostgreSQL loses it and only reports the
# lock_timeout. After a stall it may: then another one follows.
for my $case (
	[ 'while it waits for the lock', q{pg_locks WHERE NOT granted AND relation = 'r.t'::regclass AND clock_timestamp() - waitstart < '50ms'} ],
	[ 'between two tries', q{pg_stat_activity WHERE application_name = 'trying' AND wait_event_type = 'Extension'} ])
{
	my ($when, $where) = @$case;
	$holder->query_safe('BEGIN; LOCK TABLE r.t IN ACCESS SHARE MODE');
	$run = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $server->connstr('postgres') . ' user=alice application_name=trying', '-c',
			q{CALL snowflake_try('ALTER TABLE r.t ADD again int')} ], '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240 * slowness()));
	my $ended = sub { $run->pump_nb if $run->pumpable; return !$run->pumpable };
	my $at_once;
	for (1 .. 10)
	{
		wait_until($when, sub { $server->safe_psql('postgres', "SELECT count(pg_cancel_backend(pid)) FROM $where") > 0 }, $ended);
		my $began = time();
		$at_once = wait_until('its end', $ended, sub { time() - $began > 2 * slowness() + 10 * $usual }) and last;
	}
	$run->finish;
	like($err, qr/57014/, "it can be cancelled $when");
	ok($at_once, '... at once');
	$holder->query_safe('COMMIT');
}
$holder->quit;

# Rows that other sessions have locked are filled when they are unlocked.
anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 2000)");
my @fills = online_statements($server, { name => 'r' });
is((try_as('alice', $fills[0]))[0], '00000', 'a conversion begins');
$holder = $server->background_psql('postgres', on_error_die => 1);
$holder->query_safe('BEGIN; SELECT count(*) FROM (SELECT FROM r.t WHERE n BETWEEN 700 AND 720 FOR UPDATE) l');
$run = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $server->connstr('postgres') . ' user=alice', '-c', q{CALL snowflake_fill('r.t')} ],
	'<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(240 * slowness()));
ok(wait_until('all other rows', sub { $server->safe_psql('postgres', 'SELECT count(*) FROM r.t WHERE snowflake_new_id IS NULL') eq '21' }),
	'rows that others have locked are left');
is((try_as('alice', q{SET lock_timeout = '3s'; UPDATE r.t SET note = 'x' WHERE n = 5}))[0], '00000', '... while others change theirs');
is((try_as('postgres', q{SET session_replication_role = replica; INSERT INTO r.t (n) VALUES (5000)}))[0], '00000', '... also what replicates');
$holder->query_safe('COMMIT');
$holder->quit;
$run->finish;
is($err =~ s/^(NOTICE|DETAIL|LOCATION):.*\n//mgr, '', '... until they are free');
is($server->safe_psql('postgres', 'SELECT count(*) FROM r.t WHERE snowflake_new_id IS DISTINCT FROM id'), '0', '... and filled');
is(convert_online($server, { name => 'r' }), '', '... and the rest is done');

# A trigger that would prevent the update does not fire.
anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 50); CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF OLD.n = 7 THEN RETURN NULL; END IF; RETURN NEW; END';
	CREATE TRIGGER keeps BEFORE UPDATE ON r.t FOR EACH ROW EXECUTE FUNCTION r.f(); ALTER TABLE r.t ENABLE ALWAYS TRIGGER keeps");
is(convert_online($server, { name => 'r' }), '', 'a trigger that prevents updates is in no way');
is($server->safe_psql('postgres', q{SELECT count(*), (SELECT tgenabled FROM pg_trigger WHERE tgname = 'keeps') FROM r.t WHERE id = n}), '50|A', '... and stays, as do all rows');

# With another isolation level it is refused or does no harm.
{
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=serializable';
	anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 50)");
	my $error = convert_online($server, { name => 'r' });
	like($error, qr/\A\z|55000: .*isolation/s, 'another isolation level is refused, or does no harm');
}
is(convert_online($server, { name => 'r' }), '', '... and the conversion ends');

# Another role's foreign key that looks like one of the conversion is not touched.
anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 50)");
my @steps = online_statements($server, { name => 'r' });
try_as('alice', "$_\n;\n") for before_switch(@steps);
is((try_as('alice', 'ALTER TABLE r.t ADD UNIQUE (snowflake_new_id); GRANT REFERENCES ON r.t TO bob'))[0], '00000', 'bob may refer to a table');
is((try_as('bob', 'CREATE TABLE r.x (a bigint, CONSTRAINT snowflake_new_evil FOREIGN KEY (a) REFERENCES r.t (snowflake_new_id))'))[0], '00000', '... and has a key with a name like those of the conversion');
is(scalar(grep { /snowflake_new_evil/ } online_statements($server, { name => 'r' })), 0, '... which no step drops');

# The conversion's own one is dropped when the table no longer refers.
anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 50); CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t)");
@steps = online_statements($server, { name => 'r' });
try_as('alice', "$_\n;\n") for before_switch(@steps);
try_as('alice', 'ALTER TABLE r.c DROP CONSTRAINT up');
is(scalar(grep { /DROP CONSTRAINT snowflake_new_up/ } online_statements($server, { name => 'r' })), 1, 'a foreign key that was made for one that is gone is dropped');
is(convert_online($server, { name => 'r' }), '', '... and the conversion ends');
is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_constraint WHERE connamespace = 'r'::regnamespace AND contype = 'f'}), '0', '... without it');

# An identity's limits, unless they are its type's, stay.
anew('CREATE TABLE r.t (id int GENERATED ALWAYS AS IDENTITY (MINVALUE -32768 MAXVALUE 32767 CYCLE) PRIMARY KEY, n int); CREATE TABLE r.u (id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int)');
is(convert_online($server, { name => 'r', table => $_, target => 'bigint' }), '', "an identity stays: $_") for 't', 'u';
is($server->safe_psql('postgres', q{SELECT seqmin, seqmax, seqcycle FROM pg_sequence WHERE seqrelid IN ('r.t_id_seq'::regclass, 'r.u_id_seq'::regclass) ORDER BY seqmax}),
	"-32768|32767|t\n1|9223372036854775807|f", '... with its limits');

# psql without ON_ERROR_STOP: filling was cancelled, and what follows was done all the same.
anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 50); CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t); INSERT INTO r.c SELECT id FROM r.t");
my @unfilled = grep { !/snowflake_fill|VALIDATE CONSTRAINT snowflake_same/ } before_switch(online_statements($server, { name => 'r' }));
is((try_as('alice', join '', map { "$_\n;\n" } @unfilled))[0], '00000', 'all statements but those that fill');
is($server->safe_psql('postgres', q{SELECT count(*) FROM pg_constraint WHERE conname = 'snowflake_new_up' AND convalidated}), '1', '... make a foreign key of what is empty');
is(convert_online($server, { name => 'r' }), '', '... and the conversion goes on');
is($server->safe_psql('postgres', 'SELECT count(*) FROM r.t JOIN r.c ON c.t_id = t.id'), '50', '... to its end');

### Switches that are stale

# [what, the change before the switch, a query that is true afterwards, whether the switch may also
# succeed, whether the table is partitioned].
for my $case (
	[ 'an index', 'CREATE INDEX later ON r.t (id, n)', q{SELECT pg_get_indexdef('r.later'::regclass) LIKE '%(id, n)'} ],
	[ 'a unique constraint', 'ALTER TABLE r.t ADD CONSTRAINT later UNIQUE (id, n)', q{SELECT count(*) = 1 FROM pg_constraint WHERE conname = 'later'} ],
	[ 'a check', 'ALTER TABLE r.t ADD CONSTRAINT later CHECK (id <> 77)', q{SELECT count(*) = 1 FROM pg_constraint WHERE conname = 'later' AND convalidated} ],
	[ 'a view', 'CREATE VIEW r.later AS SELECT id FROM r.t', q{SELECT count(*) > 0 FROM r.later} ],
	[ 'a policy', 'CREATE POLICY later ON r.t USING (id > 0)', q{SELECT count(*) = 1 FROM pg_policy WHERE polname = 'later'} ],
	[ 'a trigger', q{CREATE FUNCTION r.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER later BEFORE UPDATE OF id ON r.t FOR EACH ROW EXECUTE FUNCTION r.f()}, q{SELECT count(*) = 1 FROM pg_trigger WHERE tgname = 'later'} ],
	[ 'a foreign key', 'CREATE TABLE r.later (t_id int REFERENCES r.t)', q{SELECT atttypid = 'bigint'::regtype FROM pg_attribute WHERE attrelid = 'r.later'::regclass AND attname = 't_id'} ],
	[ 'a column', q{ALTER TABLE r.t ADD later int DEFAULT 5}, q{SELECT min(later) = 5 FROM r.t}, 1 ],
	[ 'a comment', q{COMMENT ON COLUMN r.t.id IS 'later'}, q{SELECT col_description('r.t'::regclass, attnum) = 'later' FROM pg_attribute WHERE attrelid = 'r.t'::regclass AND attname = 'id'} ],
	[ 'a right', q{GRANT SELECT (id) ON r.t TO bob}, q{SELECT has_column_privilege('bob', 'r.t', 'id', 'SELECT')} ],
	[ 'a right that is gone', q{REVOKE SELECT (id) ON r.t FROM carol}, q{SELECT NOT has_column_privilege('carol', 'r.t', 'id', 'SELECT')} ],
	[ 'an index that is gone', 'DROP INDEX r.t_n', q{SELECT to_regclass('r.t_n') IS NULL} ],
	[ 'another index of the same name', 'DROP INDEX r.t_n; CREATE INDEX t_n ON r.t (id, note)', q{SELECT pg_get_indexdef('r.t_n'::regclass) LIKE '%(id, note)'} ],
	[ 'another check of the same name', 'ALTER TABLE r.t DROP CONSTRAINT small; ALTER TABLE r.t ADD CONSTRAINT small CHECK (id < 900000000000000000)', q{SELECT pg_get_constraintdef(oid) LIKE '%900000000000000000%' FROM pg_constraint WHERE conname = 'small'} ],
	[ 'another expression', 'DROP INDEX r.t_e; CREATE INDEX t_e ON r.t ((id % 8)) WHERE id <> 5', q{SELECT pg_get_indexdef('r.t_e'::regclass) LIKE '%8%5%'} ],
	[ 'another condition', 'DROP INDEX r.t_e; CREATE INDEX t_e ON r.t ((id % 7)) WHERE id <> 6', q{SELECT pg_get_indexdef('r.t_e'::regclass) LIKE '%7%6%'} ],
	[ 'an expression in the place of the conversion\'s', 'DROP INDEX r.snowflake_new_t_e; CREATE INDEX snowflake_new_t_e ON r.t ((snowflake_new_id % 8)) WHERE snowflake_new_id <> 5', q{SELECT pg_get_indexdef('r.t_e'::regclass) LIKE '%7%5%'} ],
	[ 'a condition in the place of the conversion\'s', 'DROP INDEX r.snowflake_new_t_n; CREATE INDEX snowflake_new_t_n ON r.t (n, snowflake_new_id) WHERE n > 1', q{SELECT pg_get_indexdef('r.t_n'::regclass) LIKE '%(n, id)'} ],
	[ 'a check in the place of the conversion\'s', 'ALTER TABLE r.t DROP CONSTRAINT snowflake_new_small; ALTER TABLE r.t ADD CONSTRAINT snowflake_new_small CHECK (snowflake_new_id < 900000000000000000)', q{SELECT pg_get_constraintdef(oid) LIKE '%1000000000000000000%' FROM pg_constraint WHERE conname = 'small'} ],
	[ 'another comment on the conversion\'s index', q{COMMENT ON INDEX r.snowflake_new_t_e IS 'mine'}, q{SELECT obj_description('r.t_e'::regclass, 'pg_class') IS NULL} ],
	[ 'a column that also refers', 'ALTER TABLE r.t ADD FOREIGN KEY (n) REFERENCES r.t', q{SELECT pg_get_constraintdef(oid) LIKE '%t_id <> %other%' AND obj_description(oid) = 'apart' FROM pg_constraint WHERE conname = 'apart'} ],
	[ 'another foreign key of the same name', 'ALTER TABLE r.c DROP CONSTRAINT up; ALTER TABLE r.c ADD CONSTRAINT up FOREIGN KEY (t_id) REFERENCES r.t ON DELETE CASCADE', q{SELECT confdeltype = 'c' FROM pg_constraint WHERE conname = 'up'} ],
	[ 'a column without its NOT NULL', 'ALTER TABLE r.c ALTER must DROP NOT NULL', q{SELECT NOT attnotnull FROM pg_attribute WHERE attrelid = 'r.c'::regclass AND attname = 'must'} ],
	[ 'a column with a NOT NULL', 'ALTER TABLE r.c ALTER t_id SET NOT NULL', q{SELECT attnotnull FROM pg_attribute WHERE attrelid = 'r.c'::regclass AND attname = 't_id'} ],
	[ 'another default', 'ALTER TABLE r.c ALTER t_id SET DEFAULT 7', q{SELECT pg_get_expr(adbin, adrelid) ~ '7' FROM pg_attrdef WHERE adrelid = 'r.c'::regclass} ],
	[ 'another table name', 'ALTER TABLE r.c RENAME TO later', q{SELECT atttypid = 'bigint'::regtype FROM pg_attribute WHERE attrelid = 'r.later'::regclass AND attname = 't_id'} ],
	[ 'another name', 'ALTER TABLE r.t RENAME CONSTRAINT t_pkey TO later', q{SELECT count(*) = 1 FROM pg_constraint WHERE conname = 'later'} ],
	[ 'statistics', 'CREATE STATISTICS r.later ON id, n FROM r.t', q{SELECT count(*) = 1 FROM pg_statistic_ext WHERE stxname = 'later'} ],
	[ 'a partition', 'CREATE TABLE r.later PARTITION OF r.t FOR VALUES IN (99)', q{SELECT count(*) = 1 FROM pg_attribute WHERE attrelid = 'r.later'::regclass AND attname = 'id' AND atttypid = 'bigint'::regtype}, $server->pg_version >= 18, 'partitioned' ],
	[ 'an attached partition', 'CREATE TABLE r.later (LIKE r.t INCLUDING ALL); ALTER TABLE r.t ATTACH PARTITION r.later FOR VALUES IN (98); INSERT INTO r.t VALUES (4, 98)', q{SELECT count(*) = 1 FROM r.later WHERE n = 98 AND id = 4}, $server->pg_version >= 18, 'partitioned' ])
{
	my ($what, $change, $true, $may_succeed, $partitioned) = @$case;
	my $table = $partitioned ? 'CREATE TABLE r.t (id serial, n int NOT NULL, note text) PARTITION BY LIST (n); CREATE TABLE r.t_1 PARTITION OF r.t FOR VALUES IN (1); INSERT INTO r.t (n) SELECT 1 FROM generate_series(1, 50)'
	  : "$serial INSERT INTO r.t (n) SELECT generate_series(1, 50); CREATE INDEX t_n ON r.t (n, id); CREATE INDEX t_e ON r.t ((id % 7)) WHERE id <> 5; ALTER TABLE r.t ADD UNIQUE (id, n); GRANT SELECT (id) ON r.t TO carol; ALTER TABLE r.t ADD CONSTRAINT small CHECK (id < 1000000000000000000);
		CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t, must int NOT NULL CONSTRAINT must_up REFERENCES r.t, other int, CONSTRAINT apart CHECK (t_id <> other + 1000), CONSTRAINT pair FOREIGN KEY (t_id, other) REFERENCES r.t (id, n)); INSERT INTO r.c SELECT id, id, id FROM r.t;
		CREATE INDEX ON r.c ((t_id + other)); COMMENT ON CONSTRAINT apart ON r.c IS 'apart'";
	anew($table);
	my $shape = { name => 'r', table => 't' };
	my @statements = eval { online_statements($server, $shape) };
	is($@, '', "$what: statements") or next;
	my ($switch) = grep { /check_switch/ } @statements;
	@statements = before_switch(@statements);
	my ($state, $text) = try_as('alice', join '', map { "$_\n;\n" } @statements);
	is($state, '00000', '... all before it are done') or diag($text);
	is((try_as('alice', $change))[0], '00000', '... and the table changes');
	my $before = catalogs();
	($state, $text) = try_as('alice', $switch);
	if ($state eq '00000')
	{
		ok($may_succeed, "$what: the switch fails");
		is(convert_online($server, $shape), '', '... or what follows it is done');
	}
	else
	{
		# PostgreSQL does not find a table that was renamed.
		like($state, qr/^(55000|42P01)$/, "$what: the switch fails");
		like($text, $state eq '42P01' ? qr/relation "r\.c" does not exist/ : qr/HINT:.*snowflake_convert/s, '... and says what to do') or diag($text);
		is(catalogs(), $before, '... and has changed nothing');
		is(convert_online($server, $shape), '', '... which works');
	}
	is(nothing_left($server, $shape), '', '... and nothing is left');
	is($server->safe_psql('postgres', $true), 't', "... and what was added is there: $what");
	is($server->safe_psql('postgres', q{SELECT format_type(atttypid, NULL), attrelid::regclass FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace = 'r'::regnamespace AND relkind IN ('r', 'p') AND attname IN ('id', 't_id', 'must') AND atttypid <> 'bigint'::regtype}), '', '... and all columns are of bigint');
	is(remains($server), '', '... and nothing else');
	is((try_as('alice', q{SELECT snowflake_convert('r.t', 'id', online => true, abandon => true)}))[2], '', 'there is nothing to abandon after the switch');
}

### Two conversions at the same time, of tables that refer to the same table: one may have to wait
### for the other

for my $shared ('PRIMARY KEY (a_id, b_id)', 'CONSTRAINT c_check CHECK (a_id <> b_id + 1000000)', 'UNIQUE (n)')
{
	anew("CREATE TABLE r.a (id serial PRIMARY KEY, n int); CREATE TABLE r.b (id serial PRIMARY KEY, n int); INSERT INTO r.a (n) SELECT generate_series(1, 50); INSERT INTO r.b (n) SELECT generate_series(1, 50);
		CREATE TABLE r.c (n int, a_id int NOT NULL REFERENCES r.a ON DELETE CASCADE, b_id int REFERENCES r.b ON UPDATE CASCADE, $shared); CREATE INDEX c_b ON r.c (b_id); INSERT INTO r.c SELECT id, id, id FROM r.a");
	my ($a_shape, $b_shape) = map { { name => 'r', table => $_ } } 'a', 'b';
	my $defined = q{SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'r'::regnamespace ORDER BY 1};
	my $before = $server->safe_psql('postgres', $defined);
	my @first = online_statements($server, $a_shape);
	my ($state, $text) = try_as('alice', join '', map { "$_\n;\n" } before_switch(@first));
	is($state, '00000', "two conversions with $shared: one up to its switch") or diag($text);
	my $error = convert_online($server, $b_shape);
	like($error, qr/\A\z|55000: .*HINT/s, '... the other is done, or refused with a hint');
	is(convert_online($server, $a_shape), '', '... then the one');
	is(convert_online($server, $b_shape), '', '... and the other');
	is(nothing_left($server, $_), '', '... and nothing is left') for $a_shape, $b_shape;
	is($server->safe_psql('postgres', $defined), $before, '... and the constraints are the same');
	is($server->safe_psql('postgres', q{SELECT count(*), pg_typeof(min(a_id)), pg_typeof(min(b_id)) FROM r.c JOIN r.a ON a.id = a_id JOIN r.b ON b.id = b_id AND a_id = b_id}),
		'50|bigint|bigint', '... and the rows');
	is(remains($server), '', '... and nothing else is there');
}

### A renamed column: all writes fail until it has its name again, and the error says so

anew("$serial CREATE TABLE r.c (t_id int CONSTRAINT up REFERENCES r.t, n int); INSERT INTO r.t (n) SELECT generate_series(1, 50); INSERT INTO r.c SELECT id, n FROM r.t");
my @renamed = online_statements($server, { name => 'r' });
is((try_as('alice', join '', map { "$_\n;\n" } before_switch(@renamed)))[0], '00000', 'all but the switch');
is((try_as('alice', 'ALTER TABLE r.c RENAME t_id TO later'))[0], '00000', '... and a column gets another name');
my ($state, $text) = try_as('alice', 'INSERT INTO r.c VALUES (1, 1)');
is($state, '42703', 'rows cannot be written');
like($text, qr/t_id.*HINT:.*(name|RENAME)/s, '... and the error says why');
isnt((try_as('alice', grep { /check_switch/ } @renamed))[0], '00000', 'the switch fails');
is((try_as('alice', 'ALTER TABLE r.c RENAME later TO t_id'))[0], '00000', 'it gets its own name again');
is((try_as('alice', 'INSERT INTO r.c VALUES (1, 1)'))[0], '00000', '... and rows are written');
is(convert_online($server, { name => 'r' }), '', '... and the conversion ends');
is($server->safe_psql('postgres', q{SELECT count(*), count(t.id), pg_typeof(min(t_id)) FROM r.c LEFT JOIN r.t ON t.id = t_id}), '51|51|bigint', '... with all rows');

### Policies that hide rows from the owner

anew("$serial INSERT INTO r.t (n) SELECT generate_series(1, 50); CREATE POLICY few ON r.t USING (n > 10) WITH CHECK (n > 10); ALTER TABLE r.t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY");
my $hidden = convert_online($server, { name => 'r' });
like($hidden, qr/\A\z|(42501|55000).*\bt\b.*HINT/s, 'a table whose owner does not see all rows is converted, or refused by name');
is($server->safe_psql('postgres', 'SELECT count(*) FROM r.t WHERE id = n'), '50', '... and no row is lost');

$server->stop('fast');
done_testing();
