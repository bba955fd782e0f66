# The keeper does not block commands that need a database for themselves, and the database's ids
# stay unique and rise (G1, G2, G8; section 5 of the design).
#
# PostgreSQL waits 5 s until all sessions have left a database that it drops, renames, moves or
# copies, and then fails. The keeper must leave, too. The test runs the commands right after ids
# were issued, from another database and from the same one, and while the keeper is starting.
# Not in the default run: it starts some 100 processes.

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use PostgreSQL::Test::Utils;
use Test::More;

DatabaseTest::start('exclusive');

create_database('d1');
ids_flow('d1', 'dropped', 'd1');
succeeds('postgres', 'DROP DATABASE d1', 'd1');
is(keepers('d1'), '', 'no keeper is left');

# A database with the same name again is a different database, with its own slot.
create_database('d1');
ids_flow('d1', 'dropped and created', 'the second d1');

create_database('d2');
ids_flow('d2', 'd2', 'd2');
succeeds('postgres', 'ALTER DATABASE d2 RENAME TO d2_renamed', 'd2');
is(leases('d2_renamed'), '0', 'the lease was released');
is($server->safe_psql('d2_renamed', 'SELECT count(*) FROM snowflake_watermark'), '1', '... and left its watermark');
ids_flow('d2_renamed', 'd2', 'after RENAME');
like($server->safe_psql('d2_renamed', 'SELECT node FROM snowflake_registry'), qr{/d2_renamed$}, 'the node has the new name');

# TEMPLATE, from another database and with both ways of copying.
for my $strategy ('wal_log', 'file_copy')
{
	ids_flow('d2_renamed', 'd2', "before TEMPLATE, $strategy");
	succeeds('postgres', "CREATE DATABASE copy_$strategy TEMPLATE d2_renamed STRATEGY $strategy", 'd2_renamed');
	is(leases("copy_$strategy"), '0', 'the copy has no lease of the original');
	ids_flow('d2_renamed', 'd2', "the template, $strategy");
	ids_flow("copy_$strategy", "copy_$strategy", "the copy, $strategy");
}

# TEMPLATE from the same database, as its only client.
ids_flow('d2_renamed', 'd2', 'before TEMPLATE from inside');
succeeds('d2_renamed', 'CREATE DATABASE copy_inside TEMPLATE d2_renamed', 'd2_renamed');
ids_flow('d2_renamed', 'd2', 'the template, from inside');
ids_flow('copy_inside', 'copy_inside', 'the copy, from inside');

my $tablespace = PostgreSQL::Test::Utils::tempdir();
$server->safe_psql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$tablespace'");
succeeds('postgres', 'ALTER DATABASE d2_renamed SET TABLESPACE elsewhere', 'd2_renamed');
is(leases('d2_renamed'), '0', 'the lease was released');
ids_flow('d2_renamed', 'd2', 'after SET TABLESPACE');
succeeds('postgres', 'DROP DATABASE d2_renamed WITH (FORCE)', 'd2_renamed');

# Sessions come and go and request ids, so a keeper may be starting.
for my $round (1 .. 3)
{
	create_database('busy');
	my $name = "busy $round";
	ids_flow('busy', $name, $name);
	my $keeper = keepers('busy');
	$server->safe_psql('busy', "SELECT pg_terminate_backend($keeper); SELECT snowflake_nextval()");
	# There may be no keeper yet, or the old one.
	is(($server->psql('postgres', 'DROP DATABASE busy'))[0], 0, "DROP DATABASE busy $round");
	is(keepers('busy'), '', '... and no keeper is left');
}

finish();
