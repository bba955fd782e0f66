# pg_partman with ranges of ids, as doc/time-ranges.md shows it: partitions of one day each, ids in
# the partition of their day, maintenance ahead of the highest id, and retention by the time in the
# ids.
#
# If no rows come for ten days, the next rows fall into the default partition, and maintenance fails
# or does nothing.
# The page's repair mends this, and the page's daily job prevents it.
#
# pg_partman is Debian's package; test/run unpacks it.
# Not in the default run: it is about other software.

use strict;
use warnings;

use Neighbours;
use Pages;
use SnowflakeTest;
use Test::More;

my $server = new_server('server', preload => 1, patient => 1, conf => quiet());
left_out_unless(is_available('pg_partman'), 'pg_partman', 'apt-get install postgresql-' . $server->pg_version->major . '-partman');
start_server($server);
value($server, 'CREATE EXTENSION snowflake');

my $version = value($server, q{SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'});
value($server, 'CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman');
my ($parent) = block_of('doc/time-ranges.md', 'PARTITION BY RANGE') =~ /^(CREATE TABLE event .*?;)/ms;
value($server, $parent);
my $create = block_of('doc/time-ranges.md', 'partman\.create_parent');
if ($version =~ /^4\./) { $create =~ s/(event', 'id'), /$1, 'native', / or die 'no place for the type'; }
value($server, $create);

# The bounds of each partition that has bounds, in days.
my $bounds = q{
	SELECT c.relname AS name, snowflake_timestamp(m[1]::bigint) AS lower, snowflake_timestamp(m[2]::bigint) AS upper
	FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid,
		regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$FROM \('(\d+)'\) TO \('(\d+)'\)$re$) m
	WHERE i.inhparent = 'event'::regclass AND m IS NOT NULL};
is(value($server, "SELECT count(*) > 4, bool_and(upper - lower = '1 day'), bool_and(lower = date_trunc('day', lower, 'UTC')) FROM ($bounds) b"),
	't|t|t', 'partitions of one day each, from midnight UTC');
is(value($server, "SELECT count(*) FROM ($bounds) b WHERE clock_timestamp() >= lower AND clock_timestamp() < upper"), '1', '... one of them is today\'s');
value($server, q{INSERT INTO event (body) SELECT 'x' FROM generate_series(1, 1000)});
my $in_theirs = "SELECT count(*) FROM event e LEFT JOIN ($bounds) b ON b.name = e.tableoid::regclass::text"
  . ' WHERE snowflake_timestamp(e.id) < b.lower OR snowflake_timestamp(e.id) >= b.upper OR b.name IS NULL';
is(value($server, $in_theirs), '0', 'ids are in the partition of their day, none in the default one');

my $last = "SELECT max(upper) FROM ($bounds) b";
my $before = value($server, $last);
value($server, q{INSERT INTO event VALUES (snowflake_encode(now() + interval '3 days', 0, 0), 'later')});
value($server, q{SELECT partman.run_maintenance('public.event')});
is(value($server, "SELECT ($last) - '$before' = '3 days'"), 't', 'maintenance makes partitions ahead of the highest id');
is(value($server, $in_theirs), '0', '... which are used');
value($server, q{UPDATE partman.part_config SET retention = snowflake_id_at('2025-01-02 00:00+00', 'snowflake')::text WHERE parent_table = 'public.event'});
value($server, q{SELECT partman.run_maintenance('public.event')});
is(value($server, "SELECT min(lower) > now(), (SELECT count(*) FROM event) FROM ($bounds) b"), 't|1', 'and retention drops what is older than that by a day');

# Ten days without rows.
my $in_default = 'SELECT count(*) FROM ONLY event_default';
sub ten_days_ago
{
	value($server, q{DROP TABLE event; DELETE FROM partman.part_config});
	value($server, $parent);
	value($server, $create =~ s/date_trunc\('day', now\(\)\)/date_trunc('day', now() - interval '10 days')/r);
	value($server, q{INSERT INTO event VALUES (snowflake_encode(now() - interval '10 days', 0, 0), 'old'); SELECT partman.run_maintenance('public.event')});
	is(value($server, "SELECT max(upper) < now() FROM ($bounds) b"), 't', 'after ten days without rows maintenance has made no partition for today');
	return;
}
ten_days_ago();
value($server, q{INSERT INTO event (body) VALUES ('new')});
is(value($server, $in_default), '1', '... the next row falls into the default one');
my (undef, undef, $error) = $server->psql('postgres', q{SELECT partman.run_maintenance('public.event')});
if ($version =~ /^4\./) { like($error, qr/default partition .* would be violated/, '... and maintenance fails'); }
else { is($error, '', '... and maintenance says nothing'); }
value($server, q{INSERT INTO event (body) VALUES ('newer')});
is(value($server, $in_default), '2', '... and later rows fall there, too');
# The procedure commits, so it cannot be part of a string of several statements.
value($server, $_) for grep { /\S/ } split /;\n/, block_of('doc/time-ranges.md', 'partman\.partition_data_proc');
is(value($server, $in_default), '0', 'the repair moves the rows out of the default partition');
is(value($server, $in_theirs), '0', '... into the one of their day');
value($server, q{INSERT INTO event (body) VALUES ('newest')});
value($server, q{SELECT partman.run_maintenance('public.event')});
is(value($server, $in_default), '0', '... and later rows are not there either');

ten_days_ago();
my $daily = block_of('doc/time-ranges.md', 'partman\.create_partition_id');
for my $day ('first', 'again')
{
	value($server, $daily);
	value($server, q{INSERT INTO event (body) VALUES ('new')});
	is(value($server, $in_default), '0', "the daily job, $day: rows have a partition");
	is(value($server, $in_theirs), '0', '... of their day');
}
is(value($server, "SELECT max(upper) > now() + interval '3 days' FROM ($bounds) b"), 't', '... and there are partitions for the next days');

# A conversion warns of such a table.
value($server, 'CREATE EXTENSION snowflake_convert; CREATE TABLE other (id bigserial PRIMARY KEY)');
my $warnings = q{SELECT string_agg(kind || ' ' || message || ' ' || detail, E'\n') FROM snowflake_convert_warnings};
like(value($server, "$warnings('event', 'id')"), qr/^bound table public.event is divided by pg_partman .* partition_interval is \d+\.$/, 'a conversion names it');
is(value($server, "$warnings('other', 'id')"), '', '... and no other table');
value($server, q{CREATE ROLE regular LOGIN; DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT relid FROM pg_partition_tree('event') LOOP EXECUTE format('ALTER TABLE %s OWNER TO regular', t); END LOOP; END $$});
is(value($server, "SET ROLE regular; $warnings('event', 'id')"), '', '... if the caller may read the settings of pg_partman');
# Planning a query of a table runs what its owner has put into an index.
value($server, q{CREATE TABLE ran (role text); GRANT INSERT ON ran TO PUBLIC; GRANT CREATE ON SCHEMA public TO regular; ALTER TABLE partman.part_config OWNER TO regular;
	GRANT USAGE, CREATE ON SCHEMA partman TO regular; SET ROLE regular;
	CREATE FUNCTION planted() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN
		IF current_setting('planted.armed', true) = '1' THEN INSERT INTO public.ran VALUES (current_user); END IF; RETURN 1; EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'ran'; RETURN 1; END $$;
	CREATE INDEX ON partman.part_config ((length(control) + public.planted()))});
my (undef, $seen, $said) = $server->psql('postgres', "SET planted.armed = '1'; $warnings('event', 'id')");
is("$seen $said", ' ', 'a superuser does not read settings that belong to another role');
is(value($server, 'SELECT count(*) FROM ran'), '0', '... and none of its code runs');
(undef, $seen, $said) = $server->psql('postgres', "SET planted.armed = '1'; SELECT FROM partman.part_config WHERE control = 'id'");
isnt($said . value($server, 'SELECT count(*) FROM ran'), '0', '... which would run otherwise');

$server->stop('fast');
done_testing();
