# If a database is younger than a transaction's snapshot, the transaction does not see it. It then
# does not free the database's slot in shared memory: lease and keeper stay (G1).

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use Test::More;

DatabaseTest::start('unseen');

create_database('unseen_template');
create_database('onlooker');
my $onlooker = $server->background_psql('onlooker');
my $look = 'SELECT (snowflake_get_status()).state';
$onlooker->query_safe($look);
$onlooker->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
# The session already holds all locks that reading the status takes, so it processes no invalidation
# messages. Looking up a missing name makes it keep its catalog snapshot.
$onlooker->query_safe("SELECT count(*) FROM $_") for qw(pg_database pg_depend pg_class pg_proc pg_extension pg_namespace pg_attribute);
$onlooker->query_safe(q{SELECT to_regclass('nowhere')});
is($onlooker->query_safe($look), 'idle', 'a database that has no place looks at the others');
$server->safe_psql('postgres', 'CREATE DATABASE unseen TEMPLATE unseen_template');
my $session = $server->background_psql('unseen');
$session->query_safe('SELECT snowflake_nextval()');
my $status = 'SELECT state, keeper_pid, lease_id FROM snowflake_status';
my $before = $session->query_safe($status);
is($onlooker->query_safe($look), 'idle', '... again, after one that it does not see got a place');
is($session->query_safe($status), $before, 'that one still has it');
$session->query_safe('SELECT snowflake_nextval()');
is($server->safe_psql('unseen', 'SELECT leases_acquired_total FROM snowflake_metrics'), '1', '... with its lease');
like(keepers('unseen'), qr/^\d+$/, '... and its keeper alone');
$_->quit for $onlooker, $session;

finish();
