# If the extension or its schema moves, ids continue in existing sessions, under the running keeper
# and under the next keeper. Both find the registry in its new place (G1, G2; section 5 of the
# design).

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use Test::More;

DatabaseTest::start('moves');

create_database('d7');
ids_flow('d7', 'd7', 'd7');
my $session = $server->background_psql('d7');
my $last = $session->query_safe('SELECT snowflake_nextval()');
for my $move ([ 'CREATE SCHEMA first; ALTER EXTENSION snowflake SET SCHEMA first', 'first' ],
	[ 'ALTER SCHEMA first RENAME TO "Second schema"', '"Second schema"' ],
	[ 'ALTER EXTENSION snowflake SET SCHEMA public', 'public' ])
{
	my ($sql, $to) = @$move;
	$server->safe_psql('d7', $sql);
	my $id = $session->query_safe("SELECT $to.snowflake_nextval()");
	cmp_ok($id, '>', $last, "$sql: ids flow on in a session");
	$last = $id;
	is($session->query_safe("SELECT worker FROM $to.snowflake_decode($id)"),
		$session->query_safe("SELECT worker FROM $to.snowflake_status"), '... and can be read');
	# The keeper that ran during the change, then the next keeper.
	ok(end_keeper('d7'), '... the keeper ends');
	is($server->safe_psql('d7', "SELECT count(*) FROM $to.snowflake_registry"), '0', '... and released its lease in the new schema');
	$id = $session->query_safe("SELECT $to.snowflake_nextval()");
	cmp_ok($id, '>', $last, '... the next one acquires a lease');
	$last = $id;
}
$session->quit;

finish();
