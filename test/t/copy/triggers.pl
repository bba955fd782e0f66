# Triggers of the table (before, after and instead of each row, and with a transition table) see the
# ids that are stored (G1, G2).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('triggers');

subtest 'triggers of the table' => sub {
	value(q{
CREATE TABLE triggered (n int, id bigint DEFAULT snowflake_nextval());
CREATE TABLE seen (n int, id bigint, what text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_LEVEL = 'ROW' THEN INSERT INTO seen VALUES (NEW.n, NEW.id, TG_WHEN); RETURN NEW; END IF;
	INSERT INTO seen SELECT n, id, 'TABLE' FROM fresh;
	RETURN NULL;
END $$;
CREATE TRIGGER see AFTER INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION see();
CREATE TRIGGER see_all AFTER INSERT ON triggered REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION see()});
	my $who_saw = 'SELECT what, count(*) FROM triggered JOIN seen USING (n, id) GROUP BY what ORDER BY what';
	goes_in_many('AFTER triggers and a transition table', "COPY triggered (n) FROM '$file'", 'triggered');
	ids_are_good('triggered', $rows, 'AFTER triggers');
	is(value($who_saw), "AFTER|$rows\nTABLE|$rows", '... which saw the ids');
	value(q{TRUNCATE triggered, seen;
CREATE FUNCTION set_id() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := snowflake_nextval(); RETURN NEW; END';
CREATE TRIGGER a BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION set_id();
CREATE TRIGGER b BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION see()});
	is(calls("COPY triggered (n) FROM '$file'"), "$rows|$rows", 'a BEFORE trigger that sets the id: one id by default, and one by the trigger');
	ids_are_good('triggered', $rows, 'a BEFORE trigger that sets the id');
	is(value($who_saw), "AFTER|$rows\nBEFORE|$rows\nTABLE|$rows", '... and all others saw it');

	value(q{TRUNCATE seen; CREATE VIEW over AS SELECT n, id FROM triggered; ALTER VIEW over ALTER id SET DEFAULT snowflake_nextval();
CREATE FUNCTION instead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (NEW.n, NEW.id); RETURN NEW; END $$;
CREATE TRIGGER instead INSTEAD OF INSERT ON over FOR EACH ROW EXECUTE FUNCTION instead()});
	is(calls("COPY over (n) FROM '$file'"), "0|$rows", 'into a view');
	ids_are_good('seen', $rows, 'into a view');
};

finish();
