# A layout that differs from the default in everything, with ticks of 10 ms and few sequence numbers
# in the first field, has the same guarantees. No id is issued twice (G1), ids rise within a process
# (G2), and time, worker id and sequence number are in the layout's places (G3, G7).

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('other_layout', 'epoch=2020-01-01 tick=10ms time=39 seq=8 worker=16');

subtest 'a layout of another shape' => sub {
	my $calls = $each * 2 / 25;
	my @scripts = map { "CREATE UNLOGGED TABLE ids_$_ AS SELECT i AS n, snowflake_nextval() AS id FROM generate_series(1, $calls) i" } 1 .. 4;
	my $start = now_ms();
	ok(run_together($server, @scripts), 'all sessions end well');
	my $end = now_ms();
	$server->safe_psql('postgres', 'CREATE VIEW all_ids AS ' . join ' UNION ALL ', map { "SELECT $_ AS k, n, id FROM ids_$_" } 1 .. 4);
	is($server->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM all_ids'), join('|', (4 * $calls) x 2), 'no duplicate');
	is($server->safe_psql('postgres', 'SELECT count(*) FROM (SELECT id <= lag(id) OVER (PARTITION BY k ORDER BY n) AS fall FROM all_ids) t WHERE fall'),
		0, 'rising within each process');
	my $worker = $server->safe_psql('postgres', 'SELECT worker FROM snowflake_status');
	# Ids may always be at least one tick ahead of the clock.
	my ($lowest, $highest) = ($start - 10, $end + 10);
	is($server->safe_psql('postgres', qq{
SELECT count(*) FROM (SELECT id, snowflake_decode(id) AS d FROM all_ids OFFSET 0) t
WHERE (d).worker <> $worker OR (d).worker <> (id & 65535) OR (d).seq <> (id >> 16 & 255)
  OR (d).ts <> timestamptz '2020-01-01 00:00+00' + (id >> 24) * interval '10 ms'
  OR (d).ts NOT BETWEEN 'epoch'::timestamptz + $lowest * interval '1 ms' AND 'epoch'::timestamptz + $highest * interval '1 ms'}),
		0, 'ids of another worker, time or shape');
};

$server->stop;
done_testing();
