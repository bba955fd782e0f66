# DBD::Pg, of which doc/clients.md says that last_insert_id() is an error and RETURNING works.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use Neighbours;
use SnowflakeTest;
use Test::More;

left_out_unless(scalar(eval { require DBI; require DBD::Pg }), 'DBD::Pg', 'apt-get install libdbd-pg-perl');
note("DBD::Pg $DBD::Pg::VERSION");
my $server = client_server();
my $db = DBI->connect("dbi:Pg:dbname=$ENV{PGDATABASE}", undef, undef, { RaiseError => 1, PrintError => 0 });
my ($id) = $db->selectrow_array('INSERT INTO item (name) VALUES (?) RETURNING id', undef, 'first');
are_the_tables($server, [$id], 'DBD::Pg');
is(eval { $db->last_insert_id(undef, 'public', 'item', undef) } // 'error', 'error', '... last_insert_id() is an error');
$db->disconnect;

$server->stop('fast');
done_testing();
