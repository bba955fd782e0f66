# An event in the middle of a COPY ends the COPY or has no visible effect. If the window ends, the
# COPY fails with SF001 and inserts no row. After a step back of the clock, the COPY gets another
# worker id; with on_clock_step_back = error it fails with SF002 and inserts no row (G1, G2, G5).

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

CopyTest::start('middle', clock => 1, conf => "snowflake.lease_duration = 1s\n");

value('CREATE TABLE half (n int, id bigint DEFAULT snowflake_nextval(), s text); SELECT snowflake_nextval()');
my $go = $server->basedir . '/go';
my $half = 20_000;

# Starts a COPY of two halves, calls `$between` when rows of the first half have been read, and
# returns the COPY's result.
sub copy_in_halves
{
	my ($between, $settings) = @_;
	unlink $go;
	my $error = '';
	my $program = "seq $half; while ! test -e $go; do sleep 0.05; done; seq " . ($half + 1) . ' ' . 2 * $half;
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $server->connstr($db),
			'-c', $settings // '', '-c', "COPY half (n) FROM PROGRAM '$program'" ], '<', '/dev/null', '>', \my $out, '2>', \$error);
	my $read = wait_until('rows of the first half',
		sub { value('SELECT coalesce(max(tuples_processed), 0) FROM pg_stat_progress_copy') > 1000 });
	$between->();
	append_to_file($go, '');
	$run->finish;
	return $read ? $error : "nothing was read: $error";
}

subtest 'a window that ends in the middle of a COPY' => sub {
	my $lock = $server->background_psql($db);
	my $error = copy_in_halves(sub {
		$lock->query_safe('BEGIN; LOCK TABLE snowflake_registry');
		wait_until('the window\'s end', sub { value('SELECT window_end < clock_timestamp() FROM snowflake_status') eq 't' });
		# Not less: the first half must survive a keeper that extends late.
	}, q{SET snowflake.start_timeout = '5s'});
	like($error, qr/ERROR:\s+SF001:.*CONTEXT: +COPY half, line \d{4}/s, 'SF001 ends it in the middle');
	is(value('SELECT count(*) FROM half'), 0, 'none of its rows is there');
	$lock->query_safe('COMMIT');
	$lock->quit;
	is(copy_in_halves(sub { }), '', 'afterwards the same COPY works');
	is(value('SELECT count(*), count(DISTINCT id) FROM half'), 2 * $half . '|' . 2 * $half, 'with different ids');
	copied_rows(2 * $half);
};

subtest 'the clock steps back in the middle of a COPY' => sub {
	value('TRUNCATE half');
	my $log = -s $server->logfile;
	is(copy_in_halves(sub { move_clock($server, -3600) }), '', 'another worker id goes on (G5)');
	is(value('SELECT count(*), count(DISTINCT id) FROM half'), 2 * $half . '|' . 2 * $half, 'all ids differ (G1)');
	is(value('SELECT count(*) FROM (SELECT id < lag(id) OVER (ORDER BY n) AS fall FROM half) s WHERE fall'), 1, 'they fall once');
	ok(wait_until('the message', sub { slurp_file($server->logfile, $log) =~ /because the clock stepped back/ }), '... and the log says why (G2)');
	value(q{TRUNCATE half; ALTER SYSTEM SET snowflake.on_clock_step_back = 'error'; SELECT pg_reload_conf()});
	wait_until('the setting', sub { value('SHOW snowflake.on_clock_step_back') eq 'error' });
	like(copy_in_halves(sub { move_clock($server, -7200) }), qr/ERROR:\s+SF002:/, 'with on_clock_step_back = error: SF002');
	is(value('SELECT count(*) FROM half'), 0, 'none of its rows is there');
	copied_rows(2 * $half);
};

finish();
