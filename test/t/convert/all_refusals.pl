# One call names all that is in the way (G13): of a key with each two reasons to refuse it, and with
# random fives, in one step and online, alone and in a schema of several keys. After all of a call's
# reasons are gone, the next one refuses nothing.
#
# The seed decides the fives, and which twos: all of them if SNOWFLAKE_TRIALS says how many fives.
# Not in the default run: it needs 15 s of processor time for a hundred calls in schemas of their own.
use strict;
use warnings;

use lib 'test/perl';
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $server = new_server('refusals', patient => 1, conf => "fsync = off\n");
start_server($server);
seed();
my $fives = $ENV{SNOWFLAKE_TRIALS} // at_length(12, 40);
# The loop is in the server, so that a session keeps the plans of the queries.
$server->safe_psql($db, q{CREATE EXTENSION snowflake_convert CASCADE; SELECT snowflake_nextval();
	CREATE ROLE bob;
	CREATE SCHEMA open_to_all; GRANT ALL ON SCHEMA open_to_all TO PUBLIC;
	CREATE FUNCTION open_to_all.is_good(integer) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true';
	CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
	CREATE TABLE trials (nth integer PRIMARY KEY, setup text, undo text, calls text[]);
	CREATE TABLE said (nth integer, call integer, state text, detail text, hint text, afterwards text);
	CREATE FUNCTION error_of(call text, OUT state text, OUT detail text, OUT hint text) LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE call;
		state := '00000';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	END$$;
	CREATE PROCEDURE try_all() LANGUAGE plpgsql AS $$
	DECLARE
		trial record;
		rows said[];
		found record;
		call text;
	BEGIN
		SET LOCAL client_min_messages = error;
		FOR trial IN SELECT * FROM trials ORDER BY nth LOOP
			rows := '{}';
			BEGIN
				EXECUTE trial.setup;
				FOREACH call IN ARRAY trial.calls LOOP
					SELECT * INTO found FROM error_of(call);
					rows := rows || row(trial.nth, cardinality(rows) + 1, found.state, found.detail, found.hint, NULL)::said;
				END LOOP;
				EXECUTE trial.undo;
				FOR n IN 1 .. cardinality(trial.calls) LOOP
					SELECT * INTO found FROM error_of(trial.calls[n]);
					rows[n].afterwards := concat_ws(': ', found.state, found.detail);
				END LOOP;
				RAISE 'undo' USING ERRCODE = 'UNDO1';
			EXCEPTION WHEN SQLSTATE 'UNDO1' THEN NULL;
			END;
			INSERT INTO said SELECT * FROM unnest(rows);
		END LOOP;
	END$$});

# [how to make it on table T, what the error names in one step and online, how to undo it].
my @reasons = (
	[ 'CREATE VIEW r.v_T AS SELECT id FROM r.T', 'view r\.v_T depends on', undef, 'DROP VIEW r.v_T' ],
	[ 'CREATE MATERIALIZED VIEW r.m_T AS SELECT id FROM r.T', ('materialized view r\.m_T depends on') x 2, 'DROP MATERIALIZED VIEW r.m_T' ],
	[ 'CREATE RULE ruled AS ON DELETE TO r.T WHERE OLD.id > 3 DO ALSO NOTHING', ('rule ruled on table r\.T') x 2, 'DROP RULE ruled ON r.T' ],
	[ 'ALTER TABLE r.T ADD twice integer GENERATED ALWAYS AS (id * 2) STORED', ('generated column twice of table r\.T') x 2, 'ALTER TABLE r.T DROP twice' ],
	[ 'CREATE FUNCTION r.f_T() RETURNS bigint BEGIN ATOMIC SELECT max(id) FROM r.T; END', ('function r\.f_T\(\) depends on') x 2, 'DROP FUNCTION r.f_T()' ],
	[ 'CREATE TYPE r.y_T AS (of_t r.T); CREATE TABLE r.h_T (was r.y_T[])', 'column was of table r\.h_T has the type of rows of r\.T', 'column of_t of composite type r\.y_T has the type of rows of r\.T',
		'DROP TABLE r.h_T; DROP TYPE r.y_T' ],
	[ 'CREATE POLICY p ON r.T USING (id > 1)', 'policy p on table r\.T', undef, 'DROP POLICY p ON r.T' ],
	[ 'CREATE TRIGGER w AFTER UPDATE OF id ON r.T FOR EACH ROW EXECUTE FUNCTION changed()', 'trigger w on table r\.T', undef, 'DROP TRIGGER w ON r.T' ],
	[ 'CREATE TRIGGER "~~late" BEFORE UPDATE ON r.T FOR EACH ROW EXECUTE FUNCTION changed()', undef, 'trigger ~~late on table r\.T would fire after', 'DROP TRIGGER "~~late" ON r.T' ],
	[ 'CREATE DOMAIN r.d_T AS integer; CREATE TABLE r.of_d_T (t_id r.d_T REFERENCES r.T)', ('column t_id of table r\.of_d_T refers to .* type r\.d_T') x 2, 'DROP TABLE r.of_d_T' ],
	[ q{CREATE TABLE r.s_T (n integer DEFAULT nextval('r.T_id_seq')); CREATE TABLE r.s2_T (n integer DEFAULT nextval('r.T_id_seq'))},
		('sequence r\.T_id_seq .* used by column n of table r\.s2_T, column n of table r\.s_T') x 2, 'DROP TABLE r.s_T, r.s2_T' ],
	[ 'CREATE TABLE r.c_T (t_id integer CONSTRAINT up REFERENCES r.T); ALTER TABLE r.c_T DISABLE TRIGGER ALL', 'constraint up on table r\.c_T has disabled', 'constraint up on table r\.c_T has a trigger', 'DROP TABLE r.c_T' ],
	[ 'CREATE INDEX mm_T ON r.T USING brin (id int4_minmax_multi_ops)', 'index r\.mm_T has an operator class', undef, 'DROP INDEX r.mm_T' ],
	[ 'CREATE INDEX oid_T ON r.T (id oid_ops)', ('index r\.oid_T has an operator class') x 2, 'DROP INDEX r.oid_T' ],
	[ 'ALTER TABLE r.T ADD CHECK (open_to_all.is_good(id))', ('function open_to_all\.is_good\(integer\) is used, and PUBLIC') x 2, 'ALTER TABLE r.T DROP CONSTRAINT T_id_check' ],
	[ 'ALTER TABLE r.T ADD CONSTRAINT few CHECK (id < 1000000)', ('[Cc]onstraint few of table r\.T refuses') x 2, 'ALTER TABLE r.T DROP CONSTRAINT few' ],
	[ 'CREATE INDEX row_T ON r.T (n) WHERE T IS NOT NULL', undef, 'index r\.row_T contains a whole row', 'DROP INDEX r.row_T' ],
	[ 'ALTER TABLE r.T ADD snowflake_new_id text', undef, 'column snowflake_new_id of table r\.T has the name', 'ALTER TABLE r.T DROP snowflake_new_id' ],
	[ 'CREATE TABLE r.sd_T (t_id integer DEFAULT 1 CONSTRAINT sd REFERENCES r.T ON DELETE SET DEFAULT)', undef, 'constraint sd on table r\.sd_T sets defaults', 'DROP TABLE r.sd_T' ],
	[ 'CREATE TABLE r.b_T (t_id integer REFERENCES r.T); ALTER TABLE r.b_T OWNER TO bob', ('table r\.b_T belongs to bob') x 2, 'DROP TABLE r.b_T' ],
	[ 'CREATE TABLE r.part_T (t_id integer REFERENCES r.T) PARTITION BY HASH (t_id)', ('partition key of table r\.part_T') x 2, 'DROP TABLE r.part_T' ],
	[ 'CREATE TABLE r.p_T (id integer); CREATE TABLE r.two_T () INHERITS (r.T, r.p_T)', ('column id of table r\.two_T is inherited from table r\.T, table r\.p_T') x 2, 'DROP TABLE r.two_T, r.p_T' ],
	[ 'CREATE TYPE r.typed_T AS (t_id integer); CREATE TABLE r.ty_T OF r.typed_T; ALTER TABLE r.ty_T ADD FOREIGN KEY (t_id) REFERENCES r.T', ('column t_id of table r\.ty_T is in a typed table') x 2, 'DROP TABLE r.ty_T' ],
	[ 'ALTER INDEX r.T_pkey DEPENDS ON EXTENSION snowflake', undef, 'index r\.T_pkey depends on extension snowflake', 'ALTER INDEX r.T_pkey NO DEPENDS ON EXTENSION snowflake' ],
	[ 'CREATE TABLE r.x_T (t_id integer REFERENCES r.T, CONSTRAINT x EXCLUDE (t_id WITH =))', undef, 'constraint x on table r\.x_T depends|index r\.x depends', 'DROP TABLE r.x_T' ],
	[ 'ALTER TABLE r.T ADD CONSTRAINT above CHECK (id > -9) NOT VALID; CREATE TABLE r.below_T (CONSTRAINT above CHECK (id > -9)) INHERITS (r.T)',
		'constraint above on table r\.below_T is valid', 'constraint above on table r\.below_T is both inherited and local', 'DROP TABLE r.below_T; ALTER TABLE r.T DROP CONSTRAINT above' ],
	[ q{CREATE TABLE r.lp_T (n integer, t_id integer REFERENCES r.T) PARTITION BY LIST (n); CREATE INDEX ON r.lp_T (t_id); CREATE TABLE r.lp1_T PARTITION OF r.lp_T FOR VALUES IN (1);
		COMMENT ON INDEX r.lp1_T_t_id_idx IS 'mine'}, 'index r\.lp1_T_t_id_idx has a comment of its own', undef, 'DROP TABLE r.lp_T' ],
	[ 'CREATE DOMAIN r.low_T AS bigint CHECK (VALUE < 1000); CREATE TABLE r.of_low_T (t_id r.low_T REFERENCES r.T)', ('Constraint low_T_check of domain r\.low_T refuses') x 2, 'DROP TABLE r.of_low_T' ],
	# The last one: from then on the table cannot be rewritten.
	[ 'ALTER TABLE r.T SET (user_catalog_table = on)', 'table r\.T has user_catalog_table', undef, 'ALTER TABLE r.T RESET (user_catalog_table)' ]);
sub on { my ($text, $table) = @_; return $text =~ s/(?<![A-Za-z])T(?![A-Za-z])/$table/gr; }

my (@trials, @setups);
my @calls = (q{SELECT snowflake_convert('r.t1', 'id', dry_run => true)}, q{SELECT snowflake_convert('r.t1', 'id', online => true)});
# @$chosen: pairs of a table and a reason. In a schema of several keys, they are on different ones.
sub add_trial
{
	my ($tables, $chosen, @of) = @_;
	my $schema = join '; ', 'CREATE SCHEMA r', map { "CREATE TABLE r.t$_ (id serial PRIMARY KEY, n integer)" } 1 .. $tables;
	my $setup = join '; ', $schema, map { on($_->[1][0], $_->[0]) } @$chosen;
	my $undo = join '; ', map { on($_->[1][3], $_->[0]) } reverse @$chosen;
	push @trials, [ $chosen, \@of ];
	push @setups, sprintf 'INSERT INTO trials VALUES (%d, $s$%s$s$, $s$%s$s$, ARRAY[%s])', scalar @trials, $setup, $undo, join ', ', map { "\$s\$$_\$s\$" } @of;
	return;
}
# In the order of the list.
sub some { my ($count, @all) = @_; splice @all, rand @all, 1 while @all > $count; return @all; }

my @pairs = map { my $i = $_; map { [ $i, $_ ] } $i + 1 .. $#reasons } 0 .. $#reasons;
@pairs = some(at_length(24, 100), @pairs) unless $ENV{SNOWFLAKE_TRIALS};
add_trial(1, [ map { [ 't1', $reasons[$_] ] } @$_ ], @calls) for @pairs;
for (1 .. $fives)
{
	add_trial(1, [ map { [ 't1', $_ ] } some(5, @reasons) ], @calls);
	add_trial(4, [ map { [ 't' . (1 + int rand 4), $_ ] } some(5, @reasons) ], q{SELECT snowflake_convert_all('r', dry_run => true)});
}
$server->safe_psql($db, join ";\n", @setups, 'CALL try_all()');

my ($unnamed, $states, $later, $without, %refused) = (0, 0, 0, 0);
for my $line (split /\x1e/, $server->safe_psql($db, q{SELECT string_agg(concat_ws(E'\x1f', nth, call, state, coalesce(detail, ''), coalesce(hint, ''), afterwards), E'\x1e' ORDER BY nth, call) FROM said}))
{
	my ($nth, $call, $state, $detail, $hint, $afterwards) = split /\x1f/, $line;
	my ($chosen, $of) = @{ $trials[ $nth - 1 ] };
	my $online = $of->[ $call - 1 ] =~ /online/ ? 1 : 0;
	my @lines = map { my $named = $_->[1][ 1 + $online ]; $named ? on($named, $_->[0]) : () } @$chosen;
	my @missing = grep { $detail !~ /^(?:$_)/m } @lines;
	my $wanted = !@lines ? '00000' : (grep { /belongs to bob/ } @lines) ? '42501' : '55000';
	$refused{$online}++ if @lines;
	$unnamed += @missing;
	$states++ if $state ne $wanted;
	$without++ if @lines && $hint !~ /\S/;
	$later++ if $afterwards ne '00000';
	diag("$of->[$call - 1], reasons " . join('; ', map { on($_->[1][0], $_->[0]) } @$chosen) . ": $state $detail\nhint: $hint\nnot named: @missing\nafterwards: $afterwards")
	  if @missing || $state ne $wanted || $afterwards ne '00000';
}
is($unnamed, 0, 'one call names all reasons');
is($states, 0, '... and has the SQLSTATE of them');
is($without, 0, '... and says what to do');
is($later, 0, '... and no other reason is left when they are gone');
cmp_ok($refused{0}, '>', 20, 'such calls were refused in one step');
cmp_ok($refused{1}, '>', 10, '... and online');
figures('%d twos and %d fives of %d reasons: %d refusals in one step, %d online, %d reasons named later', scalar @pairs, $fives, scalar @reasons, $refused{0}, $refused{1}, $later);
$server->stop('fast');
done_testing();
