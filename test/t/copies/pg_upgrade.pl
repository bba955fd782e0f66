# pg_upgrade transfers the layout, other nodes' leases and the watermarks unchanged to the new
# server, so G1 also holds across the upgrade. It transfers a registry, but no lease of the new
# server (section 4 of the design). As after a failover, the new server is a different system, so
# its registry settles. An upgrade that copies the files does not change the old server; then one
# that uses links has the same results. Tables do not change either if snowflake_convert.adopt_keys
# is on (section 14). SNOWFLAKE_OLD_PG_CONFIG names the old server.
# Not in the default run: pg_upgrade of many databases.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old(patient => 1);
my $copied = upgrade_target('copied', preload => 1, patient => 1);
my @names = qw(crashed named other shop silent);
make_databases(@names);
my ($last) = sort { $b <=> $a } @{ $issued{crashed} };
my $crashed_worker = sql($old, 'crashed', "SELECT worker FROM snowflake_decode($last)");

# Segments of two more registries: 25 numbers of each.
my @segments = qw(left_out settled);
for my $dbname (@segments)
{
	sql($old, 'postgres', "CREATE DATABASE $dbname");
	sql($old, $dbname, 'CREATE EXTENSION snowflake', q{SELECT snowflake_create_segment('ticket', step => 10, max_step => 10)});
	sql($old, $dbname, q{SELECT max(snowflake_segment_nextval('ticket')) FROM generate_series(1, 25)});
}

# Every column of a table, with its default or identity.
my $columns = q{SELECT attrelid::regclass, attname, atttypid::regtype, attidentity, pg_get_expr(adbin, adrelid)
	FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r')
	ORDER BY attrelid::regclass::text COLLATE "C", attnum};
sql($old, 'postgres', 'CREATE DATABASE adopting');
sql($old, 'adopting', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids', 'CREATE EXTENSION snowflake_convert SCHEMA ids', 'CREATE TABLE serial (id bigserial PRIMARY KEY)',
	'CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)',
	'CREATE TABLE issuing (id bigint PRIMARY KEY DEFAULT ids.snowflake_nextval())', 'CREATE TABLE narrow (id integer REFERENCES issuing)',
	'ALTER DATABASE adopting SET snowflake_convert.adopt_keys = on');
my $adopting = sql($old, 'adopting', $columns);
like($adopting, qr/^identity\|id\|bigint\|a\|\nissuing.*\nnarrow\|id\|integer\|\|\nserial\|id\|bigint\|\|nextval/, 'keys of every kind');

my $before = stopped_state(@names);
like($before->{crashed}{registry}, qr/^\(\d+,$crashed_worker,/, 'a crashed node leaves a live lease to the upgrade');
is($before->{other}{registry}, '', '... and one that ended in order leaves none');
isnt($before->{other}{watermark}, '', '... but its watermark');
is(scalar(grep { $before->{silent}{$_} ne '' } 'registry', 'watermark', 'layout'), 0,
	'who never issued leaves nothing');
my $check_ms = pg_upgrade($copied, '--check');
my $copy_ms = pg_upgrade($copied);

start_server($old);
is_deeply(state_of($old, $_), $before->{$_}, "$_: pg_upgrade left the old server as it was") for @names;
$old->stop('fast');

start_server($copied);
check_upgraded($copied, $_, $before->{$_}, 'copied') for @names;
check_shop($copied, 'copied');
is(sql($copied, $_, 'SELECT last_value FROM snowflake_segment'), 25, "$_: the segment as it was") for @segments;
is(sql($copied, 'left_out', q{SELECT snowflake_segment_nextval('ticket')}), 326, 'the next range of a segment leaves out numbers, as after a failover');
is(sql($copied, 'settled', 'SELECT snowflake_settled()'), 't', '... unless the operator says that nothing was lost');
is(sql($copied, 'settled', q{SELECT snowflake_segment_nextval('ticket')}), 26, '... and then it leaves out none');
is(sql($copied, 'settled', 'SELECT snowflake_nextval() > 0, settles_until IS NULL FROM snowflake_origin'), 't|t', '... and the registry does not settle');
is(sql($copied, 'shop', 'SHOW snowflake.lease_duration'), '20min', "a database's setting");
is($copied->safe_psql('shop', 'SHOW snowflake.start_timeout', extra_params => [ '-U', 'writer' ]), '7s', "a role's setting");
note_ids('shop', $copied->safe_psql('shop', 'INSERT INTO event (n) VALUES (1) RETURNING id', extra_params => [ '-U', 'writer' ]));
sql($copied, 'shop', 'ANALYZE', 'CREATE TABLE changes_are_logged_again ()');
is(sql($copied, 'named', "SELECT DISTINCT (ids.snowflake_decode(id)).worker / 32 FROM item"), '3', "ids of the database's datacenter");

sql($copied, 'postgres', 'CREATE DATABASE fresh');
sql($copied, 'fresh', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids');
my $fresh = object_facts($copied, 'fresh');
is(difference([ grep { !/ public\./ } @{ object_facts($copied, $_) } ], $fresh), '', "$_: the objects are those of a new extension")
  for 'silent', 'named';

is(sql($copied, 'adopting', $columns), $adopting, 'adopt_keys adopts no table that is upgraded');
is(sql($copied, 'adopting', 'SHOW snowflake_convert.adopt_keys'), 'on', '... and is still on');
sql($copied, 'adopting', 'CREATE TABLE later (id bigserial PRIMARY KEY)');
like(sql($copied, 'adopting', $columns), qr/^later\|id\|bigint\|\|ids.snowflake_nextval/m, '... tables that come later are adopted');
$copied->stop('fast');

# By links, into a server that preloads the library only afterwards.
my $linked = upgrade_target('linked', preload => 0, patient => 1);
my $link_ms = pg_upgrade($linked, '--link');
$linked->append_conf('postgresql.conf', preloading());
start_server($linked);
check_upgraded($linked, $_, $before->{$_}, 'linked') for qw(crashed shop);
check_shop($linked, 'linked');

figures('%s: %d databases; pg_upgrade --check %.1f s, by copying %.1f s, by links %.1f s', $versions, @names + @segments + 1, map { $_ / 1e3 } $check_ms, $copy_ms, $link_ms);
unlike(slurp_file($_->logfile), qr/terminated by signal|PANIC|TRAP/, $_->name . ': nothing crashed') for $copied, $linked;
$linked->stop('fast');
done_testing();
