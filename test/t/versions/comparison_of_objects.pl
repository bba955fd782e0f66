# The comparison of objects in SnowflakeObjects.pm, which other tests rely on, lists facts of every
# kind, and detects each of many small changes.
# Not in the default run: it needs 2 s of processor time.

use strict;
use warnings;

use SnowflakeObjects;
use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

my $fresh = fresh();
figures('%d facts about the objects of %s', scalar(@$fresh), $newest);
for my $kind ('pg_extension', 'pg_proc', 'pg_class', 'pg_attribute', 'constraint', 'index', 'trigger', 'view', 'pg_sequence',
	'pg_type', 'comment on', 'first rights on', 'function', 'table', 'default value for')
{
	cmp_ok(scalar(grep { /^$kind / } @$fresh), '>', 0, "facts of the kind $kind are compared");
}

# The comparison detects differences.
for my $change (
	'ALTER FUNCTION ids.snowflake_nextval() STABLE', 'ALTER FUNCTION ids.snowflake_currval() PARALLEL SAFE',
	'ALTER FUNCTION ids.snowflake_decode(bigint) COST 2', 'ALTER FUNCTION ids.snowflake_timestamp(bigint) CALLED ON NULL INPUT',
	q{ALTER FUNCTION ids.snowflake_nextval() SET work_mem = '1MB'}, 'GRANT EXECUTE ON FUNCTION ids.snowflake_lease_acquire TO PUBLIC',
	'CREATE OR REPLACE FUNCTION ids.snowflake_nextval() RETURNS bigint LANGUAGE C PARALLEL SAFE'
	  . q{ AS '$libdir/snowflake', 'snowflake_nextval' SUPPORT generate_series_int4_support},
	'GRANT SELECT (worker_id) ON ids.snowflake_watermark TO PUBLIC', 'REVOKE SELECT ON ids.snowflake_status FROM PUBLIC',
	'ALTER TABLE ids.snowflake_layout ENABLE TRIGGER snowflake_layout_changed',
	'ALTER TABLE ids.snowflake_origin ADD COLUMN more int', 'ALTER TABLE ids.snowflake_origin ALTER timeline SET DEFAULT 1',
	'ALTER TABLE ids.snowflake_registry ALTER node DROP NOT NULL', 'ALTER TABLE ids.snowflake_registry ALTER lease_id SET CYCLE',
	q{COMMENT ON COLUMN ids.snowflake_status.node IS 'x'}, 'COMMENT ON FUNCTION ids.snowflake_nextval() IS NULL',
	'ALTER EXTENSION snowflake DROP FUNCTION ids.snowflake_currval()', 'ALTER VIEW ids.snowflake_status SET (security_barrier)',
	q{UPDATE pg_extension SET extconfig = NULL WHERE extname = 'snowflake'}, 'CREATE INDEX ON ids.snowflake_watermark (last_tick)')
{
	isnt(difference(objects('fresh', $change), $fresh), '', "noticed: $change");
}

VersionsTest::stop();
done_testing();
