# pglogical's replication_set_add_all_tables() takes the registry's tables along. The statement of
# doc/operating.md removes them, and leaves the others. With the extension in a schema of its own,
# the set of the other schemas does not get them.
#
# pglogical is Debian's package; test/run unpacks it.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use Neighbours;
use Pages;
use SnowflakeTest;
use Test::More;

left_out_unless(is_available('pglogical'), 'pglogical', 'apt-get install postgresql-15-pglogical');
my $server = new_server('server', preload => 0, conf => quiet() . "shared_preload_libraries = 'snowflake, pglogical'\nwal_level = logical\nmax_worker_processes = 20\n");
start_server($server);
value($server, "CREATE DATABASE $_") for 'beside', 'apart';
my $sent = q{SELECT string_agg(set_reloid::regclass::text, ' ' ORDER BY set_reloid::regclass::text) FROM pglogical.replication_set_table};
for my $dbname ('beside', 'apart')
{
	my $schema = $dbname eq 'apart' ? 'CREATE SCHEMA ids; CREATE EXTENSION snowflake SCHEMA ids; SET search_path = public, ids' : 'CREATE EXTENSION snowflake';
	value($server, "$schema; CREATE EXTENSION pglogical; CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_nextval())", $dbname);
	value($server, sprintf("SELECT pglogical.create_node('$dbname', 'host=%s port=%d dbname=$dbname'); SELECT pglogical.replication_set_add_all_tables('default', ARRAY['public'])",
		$server->host, $server->port), $dbname);
}
is(value($server, $sent, 'beside'), 'event snowflake_last_tick snowflake_layout snowflake_origin snowflake_registry snowflake_segment snowflake_segment_range snowflake_watermark',
	'the set has the tables of the registry');
value($server, block_of('doc/operating.md', 'pglogical\.replication_set_remove_table'), 'beside');
is(value($server, $sent, 'beside'), 'event', '... which the page removes');
is(value($server, $sent, 'apart'), 'event', 'with a schema of its own the set never has them');

$server->stop('immediate');
done_testing();
