# On a standby, COPY FROM is refused, as all writes are, and COPY TO works.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('primary');

subtest 'a standby' => sub {
	value("CREATE TABLE target (n int, id bigint DEFAULT snowflake_nextval()); COPY target (n) FROM '$file'");
	my $standby = standby_of($server, 'standby');
	is((query_error($standby, $db, "COPY target (n) FROM '$file'"))[0], '25006', 'refuses COPY FROM');
	is($standby->safe_psql($db, 'COPY (SELECT count(*) FROM target) TO STDOUT'), value('SELECT count(*) FROM target'), '... and lets COPY TO read');
	$standby->stop('immediate');
};

finish();
