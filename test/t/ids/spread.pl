# The ids of a quiet system are spread evenly over id % n, for n from 2 to 128, and for 256, 512 and
# 1024. In a layout whose ticks have four numbers they are not. With ticks of 10 microseconds a
# session's loop is like a quiet system: it gets ids in nearly every tick. The test counts the first
# id of each tick.
#
# The measure is Pearson's chi-squared against equal shares. A chi-squared variable of k = n - 1
# degrees of freedom exceeds k + 2 sqrt(35 k) + 70 with a probability below exp(-35), so one of the
# 130 does in fewer than one run of 1e13. Each class has an expected count of a hundred ids or more,
# so the measure is close to this distribution. Even if its tail is a thousand times as thick,
# there is less than one false alarm in 1e9 runs.
# Not in the default run: hundreds of thousands of ids, and as many classes of them; unit/Spread
# shows the same of the core.

use strict;
use warnings;

use lib 'test/perl';
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $ticks = 130_000;
my $server = new_server('spread', patient => 1);
start_server($server);

# The n for which the first ids of many ticks are not spread evenly, and some of the figures. The ids
# are those of a new database: 47 bits of 10 microseconds, 1 of worker id, and the sequence.
sub uneven
{
	my ($bits) = @_;
	my ($name, $shift) = ("sequence_of_$bits", $bits + 1);
	$server->safe_psql('postgres', "CREATE DATABASE $name");
	$server->safe_psql($name,
		"CREATE EXTENSION snowflake; INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=10us time=47 worker=1 seq=$bits')");
	my $session = $server->background_psql($name);
	$session->query_safe('CREATE TABLE first (id bigint)');
	# As many calls as necessary, however long a call takes here.
	my $count = 0;
	while ($count < $ticks)
	{
		$session->query_safe("INSERT INTO first SELECT min(id)
			FROM (SELECT snowflake_nextval() AS id FROM generate_series(1, 300000)) i GROUP BY id >> $shift");
		$count = $session->query_safe('SELECT count(*) FROM first');
	}
	is($session->query_safe("SELECT count(DISTINCT id >> $shift) FROM first"), $count, "$name: an id in each of $count ticks");
	$session->query_safe("DELETE FROM first WHERE id NOT IN (SELECT id FROM first ORDER BY id LIMIT $ticks)");
	$session->query_safe(q{CREATE TABLE divisor AS SELECT generate_series(2, 128) AS n UNION SELECT unnest('{256,512,1024}'::int[]);
		CREATE TABLE spread AS SELECT n, sum((coalesce(found, 0) - expected) ^ 2 / expected) AS measure,
			(n - 1) + 2 * sqrt(35 * (n - 1)) + 70 AS most
		FROM (SELECT n, r, (SELECT count(*) FROM first)::float8 / n AS expected
				FROM divisor, generate_series(0, n - 1) r) c
			LEFT JOIN (SELECT n, id % n AS r, count(*) AS found
				FROM first, divisor GROUP BY 1, 2) f USING (n, r)
		GROUP BY n});
	figures('%s: chi-squared of %s for n = 2, 3, 100, 1024', $name, $session->query_safe(
		q{SELECT string_agg(round(measure)::text, ', ' ORDER BY n) FROM spread WHERE n IN (2, 3, 100, 1024)}));
	my $uneven = $session->query_safe(
		q{SELECT coalesce(string_agg(n::text, ' ' ORDER BY n), 'none') FROM spread WHERE measure > most});
	$session->quit;
	return $uneven;
}

is(uneven(12), 'none', 'ids are even for every n');
# Every tick starts at 0, so for an even n half of the classes are empty, whatever the ticks are: the
# probability of failing is 0. For an odd n only the ticks decide, and on a busy machine this session
# gets some of them more often than others. unit/Spread tests them with its own ticks.
is(join(' ', grep { $_ % 2 == 0 } split / /, uneven(2)), join(' ', (map { 2 * $_ } 1 .. 64), 256, 512, 1024),
	'with four numbers in a tick they are uneven for every even n');

$server->stop('fast');
done_testing();
