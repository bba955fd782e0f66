# The owner of a registry's tables has changed them (columns with other names or types, views in
# their places). The protocol and the functions that read the layout refuse these tables with an
# error, and work again when the change is undone. The server does not crash.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use Traps;

my $db = 'postgres';
my $acquire = acquire();
Traps::start_keeper('security');
give_tables_to_bob();
ok(keeper_works('tables of bob'), 'the keeper works');

for my $change (
	[ 'ALTER TABLE snowflake_layout RENAME COLUMN definition TO other', 'ALTER TABLE snowflake_layout RENAME COLUMN other TO definition' ],
	[ 'ALTER TABLE snowflake_layout ALTER COLUMN definition TYPE varchar', 'ALTER TABLE snowflake_layout ALTER COLUMN definition TYPE text' ],
	[ 'ALTER TABLE snowflake_layout ALTER COLUMN definition TYPE bytea USING definition::bytea',
		q{ALTER TABLE snowflake_layout ALTER COLUMN definition TYPE text USING convert_from(definition, 'UTF8')} ],
	[ 'ALTER TABLE snowflake_layout RENAME TO elsewhere', 'ALTER TABLE elsewhere RENAME TO snowflake_layout' ],
	[ 'ALTER TABLE snowflake_layout RENAME TO elsewhere; CREATE VIEW snowflake_layout AS SELECT * FROM elsewhere',
		'DROP VIEW snowflake_layout; ALTER TABLE elsewhere RENAME TO snowflake_layout' ],
	[ 'ALTER TABLE snowflake_watermark RENAME TO elsewhere', 'ALTER TABLE elsewhere RENAME TO snowflake_watermark' ],
	[ 'ALTER TABLE snowflake_registry RENAME TO elsewhere; CREATE VIEW snowflake_registry AS SELECT * FROM elsewhere',
		'DROP VIEW snowflake_registry; ALTER TABLE elsewhere RENAME TO snowflake_registry' ])
{
	my ($do, $undo) = @$change;
	plant('bob', $do);
	my ($code, $text) = query_error($server, $db, "SELECT $acquire");
	is($code, '55000', "acquire after $do") or diag($text);
	like($text, qr/not as the extension snowflake made it/, '... in words');
	if ($do =~ /snowflake_layout/)
	{
		is((query_error($server, $db, "SELECT $_"))[0], '55000', "... $_")
		  for ('snowflake_decode(1)', 'snowflake_timestamp(1)');
	}
	plant('bob', $undo);
}
gained_nothing('changed tables');
ok(keeper_works('changes undone'), 'the changes undone, the keeper works');

# A dropped column cannot be restored in its position, so this is the last change to this registry.
plant('bob', 'ALTER TABLE snowflake_layout DROP COLUMN definition CASCADE');
is((query_error($server, $db, "SELECT $_"))[0], '55000', "a dropped column: $_") for ($acquire, 'snowflake_decode(1)');
is($server->safe_psql($db, 'SELECT 1'), '1', 'the server is alive');

$server->stop('fast');
done_testing();
