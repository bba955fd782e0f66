# A slot of shared memory can change from one segment to another at any moment, also between two
# steps of a process that uses it. Three slots serve segments that are dropped and created again,
# and names of segments that do not exist, while processes pause after they have released a lock
# (test/c/slow_release.c). Every segment issues only its own numbers, none of them twice, and is
# never reported as missing.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my ($sessions, $seconds) = (6, 4 * slowness());
$ENV{SNOWFLAKE_PAUSE_US} = 10000;
my $server = new_server('server', preload => 0, conf => <<"CONF");
shared_preload_libraries = 'snowflake, $ENV{SNOWFLAKE_TEST_C}/slow_release.so'
snowflake.max_segments = 3
snowflake.start_timeout = 60s
log_statement = none
fsync = off
CONF
start_server($server);

# A number shows which segment it belongs to.
value($server, q{
	CREATE EXTENSION snowflake;
	CREATE TABLE issued (segment bigint, number bigint);
	CREATE TABLE failed (segment bigint, state text, message text);
	CREATE PROCEDURE take(segment bigint, name text) LANGUAGE plpgsql AS $$
	DECLARE
		number bigint; why text; code text;
	BEGIN
		number := snowflake_segment_nextval(name);
		INSERT INTO issued VALUES (segment, number);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS why = MESSAGE_TEXT, code = RETURNED_SQLSTATE;
		INSERT INTO failed VALUES (segment, code, why);
	END $$;
	CREATE PROCEDURE take_for(own bigint, until timestamptz) LANGUAGE plpgsql AS $$
	DECLARE
		start bigint := own * 1000000000 + 1; name text := 'segment ' || own;
	BEGIN
		FOR round IN 1 .. 1000000 LOOP
			EXIT WHEN clock_timestamp() > until AND round > 4;
			PERFORM snowflake_create_segment(name, start => start, step => 10, max_step => 10);
			COMMIT;
			FOR i IN 1 .. 5 LOOP
				CALL take(0, 'none ' || i);
				CALL take(own, name);
				COMMIT;
			END LOOP;
			PERFORM snowflake_drop_segment(name);
			COMMIT;
			start := start + 1000;
		END LOOP;
	END $$});

my @running = map { $server->background_psql('postgres', on_error_stop => 0) } 1 .. $sessions;
for my $i (1 .. $sessions)
{
	$running[ $i - 1 ]{stdin} .= "SET client_min_messages = warning;\nCALL take_for($i, clock_timestamp() + '$seconds s');\n\\q\n";
	$running[ $i - 1 ]{run}->pump_nb;
}
$_->{run}->finish for @running;

my ($numbers, $misses, $busy) = split /\|/, value($server, q{SELECT (SELECT count(*) FROM issued), (SELECT count(*) FROM failed WHERE state = '42704'), (SELECT count(*) FROM failed WHERE state = '53400')});
figures('%d numbers, %d names that are no segments\', %d calls that found no slot', $numbers, $misses, $busy);
cmp_ok($numbers, '>', 50, 'numbers were issued');
cmp_ok($misses, '>', 50, 'and slots went from hand to hand');
is(value($server, 'SELECT DISTINCT segment, number / 1000000000 FROM issued WHERE number / 1000000000 <> segment'), '', 'no segment issued the numbers of another');
is(value($server, 'SELECT number, count(*) FROM issued GROUP BY number HAVING count(*) > 1'), '', 'and none of its own twice');
is(value($server, q{SELECT DISTINCT * FROM failed WHERE state <> '53400' AND NOT (state = '42704' AND segment = 0)}), '', 'a segment is never said to be missing');
is($_->{stderr}, '', 'and nothing else failed') for @running;

$server->stop('fast');
done_testing();
