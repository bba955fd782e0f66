# A role that is not a superuser restores a table into a database in which a superuser created the
# extension. The table then gets its ids from that extension.

use strict;
use warnings;

use DumpTest;
use Test::More;

DumpTest::start();
make_source('source_1', 'default', 'public');
$to->safe_psql('postgres', 'CREATE ROLE carol LOGIN; CREATE DATABASE carols OWNER carol');
$to->safe_psql('carols', 'CREATE EXTENSION snowflake; GRANT ALL ON SCHEMA public TO carol');
$from->command_ok([ 'pg_dump', '--no-sync', '-Fc', '-t', 'orders', '-f', "$dir/table.dump", 'source_1' ], 'pg_dump of one table');
$to->command_ok([ 'pg_restore', '--exit-on-error', '--no-owner', '-U', 'carol', '-d', 'carols', "$dir/table.dump" ],
	'an ordinary role restores a table that takes its ids from the extension');
like($to->safe_psql('carols', 'INSERT INTO orders (n) VALUES (1) RETURNING id', extra_params => [ '-U', 'carol' ]),
	qr/^\d+$/, '... and its default works');

DumpTest::stop();
done_testing();
