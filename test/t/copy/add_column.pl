# ADD COLUMN gives each row its own id, also while a COPY runs, in whatever way the COPY starts the
# command and in every form of the command. This also holds before, between and after COPYs of a
# session (G1).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('add_column');

value('CREATE TABLE other AS SELECT i FROM generate_series(1, 50) i');

# The ways to run ADD COLUMN.
my %forms = (
	direct => 'ALTER TABLE other ADD COLUMN %s bigint DEFAULT snowflake_nextval()',
	do_block => 'DO $x$ BEGIN ALTER TABLE other ADD COLUMN %s bigint DEFAULT snowflake_nextval(); END $x$',
	plpgsql => q{SELECT add_plpgsql('%s')},
	sql => 'SELECT add_%s()',
	expression => q{ALTER TABLE other ADD COLUMN %s text DEFAULT 'x' || snowflake_nextval()},
	converted => 'DO $x$ BEGIN ALTER TABLE other ADD COLUMN %1$s int;'
	  . ' ALTER TABLE other ALTER %1$s TYPE bigint USING snowflake_nextval(); END $x$',
	domain => 'ALTER TABLE other ADD COLUMN %s checked_id DEFAULT snowflake_nextval()');

subtest 'ADD COLUMN gives each row its own id, whoever fires it during a COPY' => sub {
	value(q{CREATE FUNCTION add_plpgsql(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN EXECUTE format('ALTER TABLE other ADD COLUMN %I bigint DEFAULT snowflake_nextval()', name); END $$});
	my (@columns, @expected, $sql);
	for my $timing ('BEFORE STATEMENT', 'AFTER STATEMENT', 'BEFORE ROW', 'AFTER ROW', 'DEFERRED')
	{
		for my $form (sort keys %forms)
		{
			my $column = lc "${form}_$timing" =~ s/ /_/r;
			push @columns, $column;
			# snowflake_nextval() is called for each row of the other table and by a domain's CHECK,
			# snowflake_copy_nextval() for each row of the file.
			push @expected, ($form eq 'domain' ? 100 : 50) . '|3|3';
			my ($when, $level) = split / /, $timing;
			my $trigger = $timing eq 'DEFERRED'
			  ? 'CONSTRAINT TRIGGER fire AFTER INSERT ON firing DEFERRABLE INITIALLY DEFERRED FOR EACH ROW'
			  : "TRIGGER fire $when INSERT ON firing FOR EACH $level";
			my $command = sprintf $forms{$form}, $column;
			$sql .= qq{
CREATE FUNCTION add_$column() RETURNS void LANGUAGE sql AS 'ALTER TABLE other ADD COLUMN $column bigint DEFAULT snowflake_nextval()';
DROP TABLE IF EXISTS firing;
CREATE TABLE firing (n int, id bigint DEFAULT snowflake_nextval());
CREATE $trigger EXECUTE FUNCTION run(\$run\$$command\$run\$);
SELECT pg_stat_force_next_flush() \\gset
BEGIN;
COPY firing (n) FROM PROGRAM 'seq 3';
SET CONSTRAINTS ALL IMMEDIATE;
SELECT calls.*, count(DISTINCT id) FROM calls, firing GROUP BY 1, 2;
COMMIT;
};
		}
	}
	is(value($sql), join("\n", @expected), 'the calls of each COPY') or return;
	# By an event trigger, in a COPY that a DO block runs; before, between and after COPYs of the
	# session.
	value(q{CREATE FUNCTION event() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN IF tg_tag = 'CREATE TABLE' THEN ALTER TABLE other ADD COLUMN event bigint DEFAULT snowflake_nextval(); END IF; END $$;
CREATE EVENT TRIGGER event ON ddl_command_end EXECUTE FUNCTION event();
DROP TRIGGER fire ON firing;
CREATE TRIGGER fire AFTER INSERT ON firing FOR EACH ROW EXECUTE FUNCTION run('CREATE TABLE made ()');
ALTER TABLE other ADD COLUMN before bigint DEFAULT snowflake_nextval();
DO $$ BEGIN COPY firing (n) FROM PROGRAM 'seq 3'; END $$;
DROP EVENT TRIGGER event;
ALTER TABLE other ADD COLUMN between_ bigint DEFAULT snowflake_nextval();
BEGIN;
COPY firing (n) FROM PROGRAM 'seq 4 9';
ALTER TABLE other ADD COLUMN after bigint DEFAULT snowflake_nextval();
COMMIT});
	push @columns, qw(event before between_ after);
	my $distinct = join ' || ', map { "count(DISTINCT $_) || ' '" } @columns;
	is(value("SELECT $distinct FROM other"), '50 ' x @columns, scalar(@columns) . ' columns of 50 different ids');
	is(value(q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'other'::regclass AND atthasmissing}), 0, 'none is one value for all rows');
	diag(scalar(@columns) . ' trials of ADD COLUMN');
};

finish();
