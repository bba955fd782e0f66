# If a trigger of a COPY reads a foreign table of a file, PostgreSQL treats this as another COPY,
# from version 16 on with its own defaults. Each row gets its own id (G1, G2).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use PostgreSQL::Test::Utils;
use Test::More;

CopyTest::start('files');

subtest 'a file\'s foreign table in a COPY\'s trigger' => sub {
	plan skip_all => 'file_fdw has no defaults before PostgreSQL 16' if $server->pg_version < 16;
	if (value(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'}) == 0)
	{
		diag('file_fdw is missing: foreign tables of files are NOT tested');
		plan skip_all => 'file_fdw is missing';
	}
	my $lines = $server->basedir . '/lines';
	append_to_file($lines, join('', map { "$_,D\n" } 1 .. $rows));
	value("CREATE EXTENSION file_fdw; CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;"
		. " CREATE FOREIGN TABLE lines (n int, id bigint DEFAULT snowflake_nextval()) SERVER files OPTIONS (filename '$lines', format 'csv', \"default\" 'D');"
		. q{CREATE TABLE reading (n int, id bigint DEFAULT snowflake_nextval()); CREATE TABLE read (n int, id bigint);
CREATE FUNCTION read() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO read SELECT n, id FROM lines; RETURN NULL; END $$;
CREATE TRIGGER read AFTER INSERT ON reading FOR EACH STATEMENT EXECUTE FUNCTION read()});
	goes_in_many('the COPY', "COPY reading (n) FROM '$file'", 'reading');
	ids_are_good('reading', $rows, 'the COPY');
	ids_are_good('read', $rows, 'the file');
	is(value('SELECT count(DISTINCT id) FROM (SELECT id FROM reading UNION ALL SELECT id FROM read) t'), 2 * $rows, 'no id is in both');
};

finish();
