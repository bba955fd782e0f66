# COPY inserts many rows at a time, with rising ids (G1, G2), in every format, from every source,
# and into every kind of table. If the file contains an id, that id is stored, and none is issued
# for the row.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('formats');

subtest 'formats and sources' => sub {
	my $folder = $server->basedir;
	my $table = 'CREATE %s TABLE %s (n int, id bigint PRIMARY KEY DEFAULT snowflake_nextval(), s text, x bigint DEFAULT snowflake_nextval())';
	value("CREATE TABLE source AS SELECT n, 'row ' || n AS s FROM generate_series(1, $rows) n; " . sprintf($table, '', 'target'));
	for my $format ('text', 'csv', 'binary')
	{
		value("COPY source TO '$folder/$format' WITH (FORMAT $format)");
		goes_in_many($format, "TRUNCATE target; COPY target (n, s) FROM '$folder/$format' WITH (FORMAT $format)", 'target');
		ids_are_good('target', $rows, $format);
		is(value(q{SELECT count(*) FROM target WHERE s = 'row ' || n AND x > id}), $rows, '... with the other columns');
	}
	value("COPY (SELECT s, n FROM source) TO '$folder/swapped' WITH (FORMAT csv, HEADER)");
	goes_in_many('columns in another order, FREEZE', 'BEGIN; TRUNCATE target;'
		. " COPY target (s, n) FROM '$folder/swapped' WITH (FORMAT csv, FREEZE, HEADER match); COMMIT", 'target');
	ids_are_good('target', $rows, 'FREEZE');
	is(value(q{SELECT count(*) FROM target WHERE s = 'row ' || n}), $rows, '... with the right columns');

	# If the file contains an id, that id is stored, and none is issued for the row.
	value("COPY (SELECT -n, -n, s, -n FROM source) TO '$folder/all'; TRUNCATE target");
	is(calls("COPY target FROM '$folder/all'"), '0|0', 'all columns in the file: no id is issued');
	is(value('SELECT count(*) FROM target WHERE id = n AND x = n'), $rows, '... and the file is what is stored');
	is(calls("COPY target (n, id) FROM PROGRAM 'echo 1,7; echo 2,8' WITH (FORMAT csv)"), '0|2', 'an id in the file: the other default only');

	for my $kind ('UNLOGGED', 'TEMP')
	{
		is(value(sprintf($table, $kind, 'kind') . "; COPY kind (n) FROM '$file'; SELECT count(*), count(DISTINCT id) FROM kind"),
			"$rows|$rows", "$kind table");
		copied_rows($rows);
		value('DROP TABLE IF EXISTS kind');
	}
	my %sources = (
		PROGRAM => "COPY target (n) FROM PROGRAM 'seq $rows'",
		STDIN => "COPY target (n) FROM STDIN;\n" . join('', map { "$_\n" } 1 .. $rows) . "\\.\n",
		'\copy' => "\n\\copy target (n) from '$file'\n");
	for my $name (sort keys %sources)
	{
		goes_in_many($name, "TRUNCATE target; $sources{$name}", 'target');
		ids_are_good('target', $rows, $name);
	}
	goes_in_many('more rows than are buffered', "TRUNCATE target; COPY target (n) FROM PROGRAM 'seq 25000'", 'target');
	ids_are_good('target', 25000, 'more rows than are buffered');
	SKIP: {
		skip 'COPY has no DEFAULT before PostgreSQL 16', 2 if $server->pg_version < 16;
		goes_in_many('DEFAULT in the file', "TRUNCATE target; COPY target (n, id) FROM PROGRAM 'seq -f %g,D $rows' WITH (FORMAT csv, DEFAULT 'D')", 'target');
		ids_are_good('target', $rows, 'DEFAULT in the file');
	}
};

finish();
