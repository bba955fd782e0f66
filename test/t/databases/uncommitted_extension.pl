# The transaction that creates the extension issues no ids, and neither do its savepoints, because
# no other process sees the registry before the commit. From the commit on ids are issued, with one
# lease (G1; section 5 of the design).

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use Test::More;

DatabaseTest::start('uncommitted');

create_database('d8');
my ($rc, $out, $err) = $server->psql('d8', q{
	DROP EXTENSION snowflake;
	BEGIN;
	CREATE EXTENSION snowflake;
	SELECT snowflake_nextval();
	COMMIT;}, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
like($err, qr/ERROR:  55000: .*transaction that created the extension/, 'no ids in the transaction that created the extension');
like($err, qr/DETAIL: .*committed/, '... and why');
($rc, $out, $err) = $server->psql('d8', q{
	BEGIN;
	SAVEPOINT a;
	CREATE EXTENSION snowflake;
	SAVEPOINT b;
	SELECT snowflake_nextval();
	ROLLBACK TO b;
	SELECT 'still usable', count(*) FROM snowflake_layout;
	RELEASE a;
	SAVEPOINT c;
	SELECT snowflake_nextvals(2);
	ROLLBACK TO c;
	COMMIT;
	SELECT 'id', snowflake_nextval() > 0;}, on_error_stop => 0, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
is(scalar(() = $err =~ /ERROR:  55000/g), 2, '... nor in its savepoints') or diag($err);
is($out, "still usable|0\nid|t", '... but once it is committed');
is($server->safe_psql('d8', 'SELECT leases_acquired_total FROM snowflake_metrics'), '1', '... with one lease');

finish();
