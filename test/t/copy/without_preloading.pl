# COPY without preloading. Before PostgreSQL 17, a COPY that needs an id fails, and the error names
# the missing line of the configuration; other COPYs work. From 17 on, the first COPY of a session
# loads the library and inserts rows one by one, and the next COPY inserts many at a time.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use SnowflakeTest;
use Test::More;

CopyTest::start('bare', preload => 0, conf => "session_preload_libraries = ''\n");

value('CREATE TABLE half (n int, id bigint DEFAULT snowflake_nextval(), s text)');
subtest 'without preloading' => sub {
	my $session = $server->background_psql($db, on_error_stop => 0);
	ask($session, '\set VERBOSITY verbose');
	my $copy = "COPY half (n) FROM '$file'";
	for my $try ('the first of a session, which loads the library', 'the second', 'the third')
	{
		if ($server->pg_version < 17)
		{
			like((ask($session, $copy))[1], qr/55000: +snowflake is not preloaded.*HINT: .*shared_preload_libraries/s, "a COPY: $try");
			next;
		}
		is((ask($session, count_calls("TRUNCATE half; $copy")))[0], $try =~ /first/ ? "$rows|0" : "0|$rows", "a COPY: $try");
		ids_are_good('half', $rows, $try);
	}
	ask($session, 'TRUNCATE half');
	is((ask($session, 'ALTER TABLE half ADD COLUMN x bigint DEFAULT snowflake_nextval()'))[1], '', 'ADD COLUMN to a table without rows');
	is((ask($session, "COPY half (n) FROM PROGRAM 'true'"))[1], '', 'a COPY without rows');
	is((ask($session, "COPY half (n, id, x) FROM PROGRAM 'echo 1,2,3' WITH (FORMAT csv)"))[1], '', 'a COPY that brings the ids');
	is((ask($session, 'SELECT n, id, x FROM half'))[0], '1|2|3', '... stores them');
	$session->quit;
};

finish();
