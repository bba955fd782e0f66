# COPY into partitioned tables uses the defaults of the table that the command names. Rows are
# inserted many at a time with rising ids (G1, G2), also if the id determines the partition. A row
# trigger makes only its own partition get rows one by one.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('partitions');

subtest 'partitions' => sub {
	value(q{
CREATE TABLE root (n int, id bigint DEFAULT snowflake_nextval(), s text DEFAULT 'root') PARTITION BY RANGE (n);
CREATE TABLE low PARTITION OF root FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE middle PARTITION OF root FOR VALUES FROM (100) TO (200) PARTITION BY HASH (id);
CREATE TABLE middle_0 PARTITION OF middle FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE middle_1 PARTITION OF middle FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE high PARTITION OF root FOR VALUES FROM (200) TO (MAXVALUE);
ALTER TABLE low ALTER id SET DEFAULT -1, ALTER s SET DEFAULT random()::text;
ALTER TABLE high ALTER id DROP DEFAULT});
	goes_in_many('into the root', "COPY root (n) FROM '$file'", qw(low middle_0 middle_1 high));
	ids_are_good('root', $rows, 'into the root');
	is(value(q{SELECT count(*) FROM root WHERE s = 'root'}), $rows, 'with the defaults of the root');
	value(q{TRUNCATE root; COPY low (n) FROM PROGRAM 'seq 10'; COPY high (n) FROM PROGRAM 'seq 200 210'});
	is(value('SELECT min(id), max(id), count(id) FROM root'), '-1|-1|10', 'into a partition: with its own');
	value('TRUNCATE root; ALTER TABLE root ALTER id DROP DEFAULT; ALTER TABLE high ALTER id SET DEFAULT snowflake_nextval()');
	is(calls("COPY root (n) FROM '$file' WHERE n NOT BETWEEN 100 AND 199"), '0|0', 'a default that only a partition has is not used');
	goes_in_many('into a partition with the default', "TRUNCATE root; COPY high (n) FROM '$file' WHERE n >= 200", 'high');
	ids_are_good('high', $rows - 199, 'into a partition with the default');

	my $now = value('SELECT snowflake_nextval()');
	value("CREATE TABLE by_id (n int, id bigint PRIMARY KEY DEFAULT snowflake_nextval()) PARTITION BY RANGE (id);"
		. " CREATE TABLE past PARTITION OF by_id FOR VALUES FROM (MINVALUE) TO ($now);"
		. " CREATE TABLE present PARTITION OF by_id FOR VALUES FROM ($now) TO (MAXVALUE)");
	goes_in_many('the id decides the partition', "COPY by_id (n) FROM '$file'", 'present');
	ids_are_good('present', $rows, 'the id decides the partition');

	# A row trigger before the insert makes only its own partition get rows one by one.
	value(q{CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.s := NEW.id; RETURN NEW; END';
CREATE TRIGGER change BEFORE INSERT ON low FOR EACH ROW EXECUTE FUNCTION change();
ALTER TABLE root ALTER id SET DEFAULT snowflake_nextval()});
	goes_in_one_by_one('a partition with a row trigger', "TRUNCATE root; COPY root (n) FROM '$file'", 99, 'low');
	is(value('SELECT count(*) FROM low WHERE s = id::text'), 99, '... which saw the id');
	goes_in_many('the others', "TRUNCATE root; COPY root (n) FROM '$file'", 'high');
	ids_are_good('root', $rows, 'a row trigger on a partition');
};

finish();
