# pg_upgrade of a database in which snowflake_convert.adopt_keys is on keeps the tables unchanged, and
# adopts none of them (section 14 of the design). SNOWFLAKE_OLD_PG_CONFIG names the old server.
# Not in the default run: pg_upgrade of many databases.

use strict;
use warnings;

use PgUpgrade;
use SnowflakeTest;
use Test::More;

# Every column of a table, with its default or identity.
my $columns = q{SELECT attrelid::regclass, attname, atttypid::regtype, attidentity, pg_get_expr(adbin, adrelid)
	FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
	WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r')
	ORDER BY attrelid::regclass::text COLLATE "C", attnum};

PgUpgrade::start_old();
my $new = upgrade_target('upgraded', preload => 1);
sql($old, 'postgres', 'CREATE DATABASE shop');
sql($old, 'shop', 'CREATE SCHEMA ids', 'CREATE EXTENSION snowflake SCHEMA ids', 'CREATE EXTENSION snowflake_convert SCHEMA ids', 'CREATE TABLE serial (id bigserial PRIMARY KEY)',
	'CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)',
	'CREATE TABLE issuing (id bigint PRIMARY KEY DEFAULT ids.snowflake_nextval())', 'CREATE TABLE narrow (id integer REFERENCES issuing)',
	'ALTER DATABASE shop SET snowflake_convert.adopt_keys = on');
my $before = sql($old, 'shop', $columns);
like($before, qr/^identity\|id\|bigint\|a\|\nissuing.*\nnarrow\|id\|integer\|\|\nserial\|id\|bigint\|\|nextval/, 'keys of every kind');
$old->stop('fast');
pg_upgrade($new);
start_server($new);
is(sql($new, 'shop', $columns), $before, 'pg_upgrade leaves tables as they were');
is(sql($new, 'shop', 'SHOW snowflake_convert.adopt_keys'), 'on', '... and the setting');
sql($new, 'shop', 'CREATE TABLE later (id bigserial PRIMARY KEY)');
like(sql($new, 'shop', $columns), qr/^later\|id\|bigint\|\|ids.snowflake_nextval/m, '... tables that come later are adopted');
$new->stop('fast');
done_testing();
