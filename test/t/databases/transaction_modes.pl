# Ids are issued in every kind of transaction, also if the first lease must still be acquired (G4),
# because the keeper uses its own transactions.

use strict;
use warnings;

use lib 'test/perl';
use DatabaseTest;
use Test::More;

DatabaseTest::start('modes');

create_database('d6');
my $round = 0;
for my $mode ('ISOLATION LEVEL SERIALIZABLE', 'ISOLATION LEVEL REPEATABLE READ', 'READ ONLY',
	'ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE')
{
	for my $first (1, 0)
	{
		end_keeper('d6') if $first && $round++;
		my ($rc, $out, $err) = $server->psql('d6', "BEGIN $mode; SELECT snowflake_nextval(); SELECT snowflake_nextval(); COMMIT");
		is($rc, 0, "$mode, " . ($first ? 'acquiring a lease' : 'with a lease')) or diag($err);
	}
}

finish();
