# COPY into a foreign table and into a foreign partition: this server evaluates the default, for
# single rows and for batches (G1, G2).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('foreign');

subtest 'foreign tables' => sub {
	if (value(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'}) == 0)
	{
		diag('postgres_fdw is missing: foreign tables are NOT tested');
		plan skip_all => 'postgres_fdw is missing';
	}
	my ($host, $port) = ($server->host, $server->port);
	value("CREATE EXTENSION postgres_fdw; CREATE SERVER me FOREIGN DATA WRAPPER postgres_fdw"
		. " OPTIONS (host '$host', port '$port', dbname '$db', batch_size '1');"
		. q{CREATE USER MAPPING FOR CURRENT_USER SERVER me;
CREATE TABLE far (n int, id bigint DEFAULT -1, s text DEFAULT 'far');
CREATE FOREIGN TABLE near (n int, id bigint DEFAULT snowflake_nextval()) SERVER me OPTIONS (table_name 'far');
CREATE TABLE mixed (n int, id bigint DEFAULT snowflake_nextval()) PARTITION BY RANGE (n);
CREATE TABLE mixed_local PARTITION OF mixed FOR VALUES FROM (MINVALUE) TO (100);
CREATE FOREIGN TABLE mixed_far PARTITION OF mixed FOR VALUES FROM (100) TO (MAXVALUE) SERVER me OPTIONS (table_name 'far')});
	for my $batch (1, 50)
	{
		value("TRUNCATE far; ALTER SERVER me OPTIONS (SET batch_size '$batch')");
		is(calls("COPY near (n) FROM '$file'"), "0|$rows", "batches of $batch: the default is evaluated here");
		ids_are_good('far', $rows, 'a foreign table');
	}
	value("TRUNCATE far; COPY mixed (n) FROM '$file'");
	ids_are_good('mixed', $rows, 'a foreign partition');
	is(value(q{SELECT count(*), min(s) FROM far}), ($rows - 99) . '|far', '... has its part');
	goes_in_many('the local partition beside it', "TRUNCATE far, mixed_local; COPY mixed (n) FROM '$file'", 'mixed_local');
};

finish();
