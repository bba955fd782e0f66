# The daily job of doc/time-ranges.md drops all partitions of more than a year ago, also those that
# it did not drop in time, and nothing else: no younger partition, none with another name, and no
# table that is no partition.

use strict;
use warnings;

use Pages;
use SnowflakeTest;
use Test::More;

my $page = 'doc/time-ranges.md';
my $server = new_server('server', preload => 1, patient => 1);
start_server($server);
sub value { return $server->safe_psql('postgres', $_[0]); }

value(q{CREATE EXTENSION snowflake; CREATE SCHEMA archive; SELECT snowflake_set_layout('epoch=2020-01-01 time=41 worker=10 seq=12')});
my ($parent) = block_of($page, 'PARTITION BY RANGE') =~ /^(CREATE TABLE event .*?;)/ms;
value($parent);
# The job and the test see the same month.
wait_until('the next month', sub { value(q{SET TimeZone = 'UTC'; SELECT date_trunc('month', now() + interval '2 min') = date_trunc('month', now())}) eq 't' });
# By months before this one.
my %name_of = map { split /\|/ } split /\n/, value(q{SET TimeZone = 'UTC';
	SELECT n, to_char(date_trunc('month', now()) - n * interval '1 month', '"event_"YYYY_MM') FROM generate_series(-1, 19) n});
sub make
{
	my ($name, $months) = @_;
	return qq{DO \$\$
		DECLARE month timestamptz := date_trunc('month', now()) - interval '$months months';
		BEGIN
			EXECUTE format('CREATE TABLE $name PARTITION OF event FOR VALUES FROM (%s) TO (%s)', snowflake_id_at(month), snowflake_id_at(month + interval '1 month'));
		END \$\$;};
}
value(join "\n", q{SET TimeZone = 'UTC';}, (map { make($name_of{$_}, $_) } 2, 12, 13, 14, 15, 17), make("archive.$name_of{16}", 16), make('event_0001_01_kept', 18),
	"CREATE TABLE $name_of{19} (); CREATE TABLE event_default PARTITION OF event DEFAULT");

my $job = block_of($page, 'DROP TABLE');
my @kept = sort 'event', 'event_0001_01_kept', 'event_default', @name_of{ 19, 12, 2, 0, -1 };
for my $run (1, 2)
{
	value($job);
	is(value(q{SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C") FROM pg_class WHERE relname ~ '^event' AND relkind IN ('r', 'p')}), "@kept",
		"run $run keeps a year");
}
is(value('SELECT count(*) FROM ONLY event_default'), '0', 'rows are in partitions of their month');

$server->stop('fast');
done_testing();
