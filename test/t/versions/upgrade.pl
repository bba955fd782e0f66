# ALTER EXTENSION UPDATE updates every released version to the newest while sessions issue ids in
# every possible way (G1). It waits for none of these sessions. The result has the same objects as
# CREATE EXTENSION makes. So has a restored dump.
# Not in the default run: it starts some 300 processes.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use SnowflakeObjects;
use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

my $fresh = fresh();

# Sessions issue ids in every possible way, in a long session, in short ones and in COPY, while the
# extension is updated.
sub check_update
{
	my ($version) = @_;
	my $name = "from $version to $newest";
	create($version, 'used');
	my $session = $server->background_psql('used', on_error_stop => 0);
	$session->query_safe('PREPARE one AS INSERT INTO item (n) VALUES (-1) RETURNING id');
	$session->query_safe('EXECUTE one') for 1 .. 7;
	my $open = $server->background_psql('used', on_error_stop => 0);
	$open->query_safe('BEGIN; INSERT INTO item (n) VALUES (-2)');

	my $clients = start_clients($server, 4, q{
		COPY (SELECT snowflake_nextval() FROM generate_series(1, 2000)) TO STDOUT;
		INSERT INTO item (n) SELECT generate_series(1, 50) RETURNING id;
		BEGIN; COPY item (n) FROM PROGRAM 'seq 500';
		SELECT id FROM item WHERE xmin = pg_current_xact_id()::xid; COMMIT;
	}, dbname => 'used');
	my $flows = sub
	{
		my $before = client_bytes($clients);
		return wait_until('ids to flow', sub { client_bytes($clients) > $before + 500_000 });
	};
	ok($flows->(), "$name: ids flow before");

	# An update that is rolled back changes nothing.
	my $before = objects('used');
	sql('used', 'BEGIN', "ALTER EXTENSION snowflake UPDATE", 'INSERT INTO item (n) VALUES (-3)', 'ROLLBACK');
	is(difference(objects('used'), $before), '', "$name: an update that was rolled back leaves nothing");

	is((query_error($server, 'used', "SET lock_timeout = '30s'; ALTER EXTENSION snowflake UPDATE"))[0], '00000',
		"$name: the update waits for no session that issues");
	is(sql('used', q{SELECT extversion FROM pg_extension WHERE extname = 'snowflake'}), $newest, "$name: the version is the newest");
	ok($flows->(), "$name: ids flow after");
	like($session->query_safe('EXECUTE one'), qr/^\d+$/, "$name: a prepared statement goes on");
	$session->query_safe(q{COPY item (n) FROM PROGRAM 'seq 100'});
	is($session->query_safe('SELECT snowflake_nextval() = snowflake_currval()'), 't', "$name: so does a session");
	$open->query_safe('INSERT INTO item (n) VALUES (-2); COMMIT');
	is(sql('used', 'SELECT count(*) FROM item WHERE n = -2'), '2', "$name: and an open transaction");
	is_renewed('used', $name);
	$_->quit for $session, $open;
	stop_clients($clients);

	my ($ids, $duplicates) = compare_ids(@{ $clients->{files} });
	is($duplicates, 0, "$name: no id of $ids was given twice");
	my @errors = grep { /ERROR|FATAL/ } map { -e "$clients->{folder}/$_.err" ? slurp_file("$clients->{folder}/$_.err") : () } 1 .. 4;
	is(join("\n", @errors), '', "$name: no client saw an error");

	is(sql('used', q{SELECT relname FROM pg_class c WHERE relnamespace = 'ids'::regnamespace AND relname ~ '^snowflake_(registry|watermark|origin|segment|segment_range)$'
		AND relnatts <> (SELECT cardinality(tgattr) FROM pg_trigger WHERE tgrelid = c.oid AND tgname = 'snowflake_guard_table')}), '',
		"$name: the guards name each column, new ones, too");
	sql('used', 'DROP TABLE item');
	is(difference(objects('used'), $fresh), '', "$name: the objects are those of a new extension");

	# A dump of it creates a new extension and contains only the layout.
	$server->command_ok([ 'pg_dump', '--no-sync', '-Fc', '-f', $server->basedir . '/used.dump', 'used' ], "$name: pg_dump");
	sql('postgres', 'CREATE DATABASE restored');
	$server->command_ok([ 'pg_restore', '--exit-on-error', '-d', 'restored', $server->basedir . '/used.dump' ], "$name: pg_restore");
	is(sql('restored', 'SELECT count(*) FROM ids.snowflake_layout'), '1', "$name: the layout is in the dump");
	is(difference(objects('restored'), $fresh), '', "$name: a restored dump has the objects of a new extension");
	sql('postgres', 'DROP DATABASE used', 'DROP DATABASE restored');
	return;
}

check_update($_) for @released;

VersionsTest::stop();
done_testing();
