# A superuser or a member of the owner's role calls snowflake_convert() on a table whose owner is
# the attacker. Everything that the owner has planted on the table (checks, indexes, defaults,
# operators, triggers, rules, policies, statistics) runs with the owner's own rights or not at all.
# The owner gains no right.
# Not in the default run: it needs more than a second of processor time.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
Traps::start('rights', preload => 1);

plant('alice', q{
	SET client_min_messages = warning;
	-- GiST calls it with a page locked, which an exception block would unlock.
	CREATE FUNCTION distance(bigint, bigint) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS
		'BEGIN PERFORM alice.note(''range''); RETURN $2 - $1; END';
	CREATE TYPE measured AS RANGE (subtype = bigint, subtype_diff = distance);
	CREATE DOMAIN watched AS int CHECK (number(VALUE, 'domain') > 0);
	CREATE OPERATOR === (LEFTARG = bigint, RIGHTARG = text, FUNCTION = number);
	CREATE TABLE full_of_traps (id serial PRIMARY KEY, n int DEFAULT number(1, 'default'), d watched, r measured,
		g bigint GENERATED ALWAYS AS (number(n, 'generated')) STORED,
		CONSTRAINT c CHECK (number(id, 'check') > 0 AND id === 'operator' > 0),
		EXCLUDE USING gist (r WITH &&));
	CREATE TABLE refers (id int PRIMARY KEY REFERENCES full_of_traps, CHECK (number(id, 'referring check') > 0));
	INSERT INTO full_of_traps (d, r) SELECT i, measured(i * 10, i * 10 + 1) FROM generate_series(1, 500) i;
	INSERT INTO refers SELECT id FROM full_of_traps;
	CREATE INDEX ON full_of_traps (number(id, 'index'));
	CREATE INDEX ON full_of_traps (n) WHERE number(n, 'predicate') > 0;
	CREATE INDEX ON full_of_traps (number(1, 'constant'));
	CREATE STATISTICS s ON number(n, 'statistics'), n FROM full_of_traps;
	ANALYZE full_of_traps;
	CREATE TRIGGER row_trap BEFORE INSERT OR UPDATE OR DELETE ON full_of_traps FOR EACH ROW EXECUTE FUNCTION fire('trigger');
	CREATE TRIGGER statement_trap AFTER TRUNCATE ON full_of_traps FOR EACH STATEMENT EXECUTE FUNCTION fire('trigger');
	CREATE RULE rule_trap AS ON UPDATE TO full_of_traps DO ALSO SELECT spring('rule');
	CREATE POLICY policy_trap ON full_of_traps USING (yes('policy'));
	ALTER TABLE full_of_traps ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
});
sql('TRUNCATE traps.seen');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.full_of_traps', 'id', true)}))[0], '00000', 'a look');
gained_nothing('a look');
is(went_off(), '', '... runs nothing: no integer is as large as an id');
# A bigint is compared with the ids, so its table is read.
plant('alice', q{CREATE TABLE planned (id bigserial PRIMARY KEY); INSERT INTO planned SELECT FROM generate_series(1, 500); CREATE INDEX ON planned (number(1, 'constant'))});
sql('TRUNCATE traps.seen');
is((query_error($server, $db, q{SELECT snowflake_convert('alice.planned', 'id', true)}))[0], '00000', 'a look at a bigint');
gained_nothing('a look at a bigint');
is(went_off(), 'constant as alice', '... runs what the planner computes');
my ($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('alice.full_of_traps', 'id')});
is($state, '00000', 'a superuser converts a table full of traps') or diag($text);
gained_nothing('a table full of traps');
is(went_off(), join(', ', map { "$_ as alice" } ('check', 'constant', 'index', 'operator', 'predicate', 'range', 'referring check')), '... which ran');
is(sql(q{SELECT string_agg(atttypid::regtype || coalesce(' ' || pg_get_expr(adbin, adrelid), ''), ', ' ORDER BY attrelid) FROM pg_attribute
	LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attname = 'id' AND attrelid IN ('alice.full_of_traps'::regclass, 'alice.refers'::regclass)}),
	'bigint snowflake_nextval(), bigint', '... and it is converted');
is(sql(q{SELECT count(*) FROM pg_class WHERE relname ~ 'full_of_traps|refers' AND relowner <> 'alice'::regrole}), '0', '... with all that it has still alice\'s');
is(sql(q{SELECT stxowner::regrole FROM pg_statistic_ext WHERE stxname = 's'}), 'alice', '... statistics, too');

# A member of the owner's role converts with the owner's rights, not with its own.
plant('alice', q{CREATE TABLE member (id int, CHECK (number(id, 'check') > 0)); INSERT INTO member VALUES (1)});
sql('TRUNCATE traps.seen');
is((as_role('carol', q{SELECT public.snowflake_convert('alice.member', 'id')}))[0], '00000', 'a member of the owner converts');
is(went_off(), 'check as alice', '... and the owner\'s code runs with the owner\'s rights');

# An event trigger belongs to a superuser, and runs with the rights of the statement.
sql(q{CREATE FUNCTION traps.note() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO traps.seen VALUES (tg_tag, current_user, false); END'},
	'CREATE EVENT TRIGGER note ON ddl_command_end EXECUTE FUNCTION traps.note()');
plant('alice', 'CREATE TABLE noted (id serial)');
sql('TRUNCATE traps.seen', q{SELECT snowflake_convert('alice.noted', 'id')});
is(went_off(), 'ALTER TABLE as alice, DROP SEQUENCE as alice', 'event triggers run as by the owner\'s own hand');
sql('DROP EVENT TRIGGER note');

# The owner gets no rights that it lacks, and policies hide no rows from a role that bypasses them.
plant('alice', 'CREATE TABLE hidden (id bigint); INSERT INTO hidden VALUES (9223372036854775807);
	ALTER TABLE hidden ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY');
is((as_role($_, q{SELECT public.snowflake_convert('alice.hidden', 'id')}))[0], $_ eq 'postgres' ? '55000' : '42501',
	"$_ and a forced policy") for qw(postgres alice carol);
sql('CREATE SCHEMA closed', 'CREATE TABLE closed.t (id int)', 'ALTER TABLE closed.t OWNER TO alice');
($state, $text) = query_error($server, $db, q{SELECT snowflake_convert('closed.t', 'id')});
is($state, '42501', 'an owner who may not use the schema');
like($text, qr/table closed\.t belongs to alice, who may not use schema closed/, '... in these words');

$server->stop('fast');
done_testing();
