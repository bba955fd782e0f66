# pg_upgrade transfers the layout, other nodes' leases and the watermarks unchanged to the new
# server, so G1 also holds across the upgrade. It transfers a registry, but no lease of the new
# server (section 4 of the design). As after a failover, the new server is a different system, so
# its registry settles. The old server does not change.
#
# This test copies the files; t/copies/pg_upgrade_links uses links. SNOWFLAKE_OLD_PG_CONFIG names
# the old server.
# Not in the default run: pg_upgrade of many databases.

use strict;
use warnings;

use PgUpgrade;
use PostgreSQL::Test::Utils;
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;

PgUpgrade::start_old();
my $copied = upgrade_target('copied', preload => 1);
my @names = qw(crashed named other shop silent);
make_databases(@names);
my ($last) = sort { $b <=> $a } @{ $issued{crashed} };
my $crashed_worker = sql($old, 'crashed', "SELECT worker FROM snowflake_decode($last)");

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

figures('%s: %d databases; pg_upgrade --check %.1f s, by copying %.1f s', $versions, scalar(@names), $check_ms / 1e3, $copy_ms / 1e3);
unlike(slurp_file($copied->logfile), qr/terminated by signal|PANIC|TRAP/, 'nothing crashed');
$copied->stop('fast');
done_testing();
