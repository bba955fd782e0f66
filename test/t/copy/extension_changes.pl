# Between the COPYs of one session, the extension's schema and names change, the extension is
# dropped and created, and the right to call it is granted and revoked. Each COPY does what is
# correct at that moment.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('changes');

subtest 'rights, schemas, DROP and CREATE EXTENSION in one session' => sub {
	value('CREATE DATABASE moving');
	my $moving = sub { return $server->safe_psql('moving', $_[0]); };
	my $copy = "COPY t (n) FROM '$file'";
	my $count = 'SELECT count(*), count(DISTINCT id) FROM public.t';
	$moving->(q{CREATE SCHEMA "some where"; CREATE EXTENSION snowflake SCHEMA "some where";
CREATE TABLE t (n int, id bigint DEFAULT "some where".snowflake_nextval());
CREATE VIEW calls AS SELECT coalesce(sum(calls) FILTER (WHERE funcname = 'snowflake_nextval'), 0) AS nextval,
	coalesce(sum(calls) FILTER (WHERE funcname <> 'snowflake_nextval'), 0) AS copy_nextval FROM pg_stat_xact_user_functions});
	is($moving->("SET search_path = ''; COPY public.t (n) FROM '$file'; $count"), "$rows|$rows", 'a search_path without its schema');
	is($moving->(count_calls($copy) . 'CREATE SCHEMA other; ALTER EXTENSION snowflake SET SCHEMA other;' . count_calls($copy)
			. 'ALTER SCHEMA other RENAME TO again;' . count_calls($copy)
			. 'ALTER FUNCTION again.snowflake_copy_nextval(internal) RENAME TO renamed;' . count_calls($copy)),
		join("\n", ("0|$rows") x 4), 'schemas and names change between COPYs of one session');
	is($moving->("TRUNCATE t; $copy; DROP EXTENSION snowflake CASCADE; $copy; CREATE EXTENSION snowflake;"
			. " ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval(); $copy; SELECT count(*), count(id), count(DISTINCT id) FROM t"),
		3 * $rows . '|' . 2 * $rows . '|' . 2 * $rows, 'DROP and CREATE EXTENSION in one session');
	is((query_error($server, 'moving', "BEGIN; DROP EXTENSION snowflake CASCADE; CREATE EXTENSION snowflake;"
				. " ALTER TABLE t ALTER id SET DEFAULT snowflake_nextval(); $copy"))[0], '55000', 'a COPY in the transaction that created the extension');
	is($moving->('ALTER EXTENSION snowflake DROP FUNCTION snowflake_copy_nextval(internal);' . count_calls($copy)
			. 'ALTER EXTENSION snowflake ADD FUNCTION snowflake_copy_nextval(internal);' . count_calls($copy)),
		"$rows|0\n0|$rows", 'a function that is not the extension\'s is not taken');
	$moving->('CREATE ROLE nobody; REVOKE ALL ON FUNCTION snowflake_nextval() FROM PUBLIC; GRANT ALL ON t TO nobody');
	for my $input ('', "1\n")
	{
		my ($state, $text) = query_error($server, 'moving', "SET ROLE nobody; COPY t (n) FROM STDIN;\n$input\\.\n");
		is($state, '42501', 'a role without EXECUTE cannot COPY through the default');
		like($text, qr/permission denied for function snowflake_nextval$/m, '... and is told which right is missing');
	}
	is($moving->("GRANT EXECUTE ON FUNCTION snowflake_nextval() TO nobody; TRUNCATE t; SET ROLE nobody; COPY t (n) FROM STDIN;\n1\n2\n\\.\n$count"),
		'2|2', '... with it can');
};

finish();
