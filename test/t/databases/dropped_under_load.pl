# While sessions issue ids, the extension is dropped and created again many times. There is no
# deadlock, no crash and no equal id. Ids rise in each session across all drops. The only errors say
# that the extension does not exist (G1, G2).
# Not in the default run: it starts some 150 processes.

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(time);

DatabaseTest::start('under_load');

create_database('d9');
$server->safe_psql('d9', 'CREATE TABLE issued (session int, n bigint GENERATED ALWAYS AS IDENTITY, id bigint, state text); CREATE TABLE stop (i int)');
# Each call is a separate transaction, so no session keeps locks on the extension.
my @load = map { $server->background_psql('d9', on_error_stop => 0) } 1 .. 3;
for my $i (0 .. $#load)
{
	$load[$i]->{stdin} .= qq{SET snowflake.start_timeout = '300ms';
		DO \$\$
		DECLARE got bigint; code text;
		BEGIN
			WHILE NOT EXISTS (SELECT FROM stop) LOOP
				got := NULL; code := NULL;
				BEGIN
					EXECUTE 'SELECT snowflake_nextval()' INTO got;
				EXCEPTION WHEN OTHERS THEN code := SQLSTATE || ' ' || SQLERRM;
				END;
				COMMIT;
				INSERT INTO issued (session, id, state) VALUES ($i, got, code);
				COMMIT;
				PERFORM pg_sleep(0.0005);
			END LOOP;
		END \$\$;\n\\echo done\n};
	$load[$i]->{run}->pump_nb;
}
my $longest = 0;
my $done = 0;
for my $i (1 .. 20)
{
	my $before = $server->safe_psql('d9', 'SELECT count(id) FROM issued');
	ok(wait_until('ids are issued', sub {
		$server->safe_psql('d9', 'SELECT count(id) FROM issued') > $before;
	}), "ids flow before drop $i") or last;
	my $cascade = $i % 2 ? '' : ' CASCADE';
	my $together = $i % 3 == 0;
	my $began = time();
	my ($rc, $out, $err) = $server->psql('d9', ($together ? 'BEGIN;' : '') . "DROP EXTENSION snowflake$cascade; CREATE EXTENSION snowflake;"
		. ($together ? 'COMMIT;' : ''), on_error_stop => 1, timeout => 60 * slowness());
	++$done if $rc == 0;
	diag($err) if $rc;
	my $took = time() - $began;
	$longest = $took if $took > $longest;
}
is($done, 20, 'the extension was dropped and created 20 times under load');
wait_until('ids are issued', sub {
	$server->safe_psql('d9', q{SELECT count(*) > 0 FROM issued WHERE id IS NOT NULL AND n > (SELECT max(n) - 50 FROM issued)}) eq 't';
});
$server->safe_psql('d9', 'INSERT INTO stop VALUES (1)');
$_->query_until(qr/done/, '') for @load;
$_->quit for @load;
my $log = slurp_file($server->logfile);
unlike($log, qr/40P01|deadlock detected/, 'without a deadlock');
unlike($log, qr/terminated by signal|PANIC/, 'without a crash');
is($server->safe_psql('d9', 'SELECT count(*) - count(DISTINCT id) FROM issued WHERE id IS NOT NULL'), '0', 'no id was issued twice');
is($server->safe_psql('d9', q{SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY session ORDER BY n) AS before
	FROM issued WHERE id IS NOT NULL) x WHERE id <= before}), '0', 'ids rose in every session, across all drops');
# 42883: the function did not exist; 55000, SF001: it was dropped during the call. A failed cache
# lookup means the same (XX000).
my $errors = $server->safe_psql('d9', q{SELECT state, count(*) FROM issued WHERE state IS NOT NULL
	AND state !~ '^(42883|55000|SF001|3F000) ' GROUP BY 1});
is($errors, '', 'what failed said that the extension was gone, or had no lease');
figures('%d ids and %d errors while the extension was dropped and created; the longest took %.2f s',
	split(/\|/, $server->safe_psql('d9', 'SELECT count(id), count(state) FROM issued')), $longest);

finish();
