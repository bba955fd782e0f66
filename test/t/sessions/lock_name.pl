# If sessions wait for the generator's lock, pg_stat_activity shows the lock's name.

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('busy', 'epoch=2025-01-01 time=41 worker=5 seq=17');

subtest 'the generator\'s lock shows under its name in pg_stat_activity' => sub {
	my @load = map {
		IPC::Run::start([ 'psql', '-XAtq', '-d', $server->connstr('postgres'), '-c',
				'DO $$BEGIN LOOP PERFORM snowflake_nextval(); COMMIT; END LOOP; END$$' ], '>', '/dev/null', '2>', '/dev/null')
	} 1 .. 8;
	# The view shows one moment, and a wait lasts microseconds, so it is read many times.
	$server->safe_psql('postgres', q{CREATE FUNCTION seen() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	-- Where nothing is preloaded, who looks must have met the lock before to know its name.
	PERFORM state FROM snowflake_status;
	FOR i IN 1..100000 LOOP
		PERFORM pg_stat_clear_snapshot();
		IF EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'LWLock' AND wait_event = 'snowflake') THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$});
	is($server->safe_psql('postgres', 'SELECT seen()'), 't', 'LWLock snowflake');
	$_->kill_kill for @load;
};

$server->stop('immediate');
done_testing();
