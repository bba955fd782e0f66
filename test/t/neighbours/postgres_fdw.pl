# postgres_fdw as doc/time-ranges.md shows it, between two databases with one registry. Conditions on
# times are sent to the other server or not, as the page says. Rows that are inserted through a
# foreign table have ids of this database with import_default, none without it, and ids of the other
# one if the foreign table lacks the column.
# Not in the default run: it is about other software.

use strict;
use warnings;

use Neighbours;
use Pages;
use SnowflakeTest;
use Test::More;

my $page = 'doc/time-ranges.md';
my $server = new_server('server', preload => 1, patient => 1, conf => quiet());
left_out_unless(is_available('postgres_fdw'), 'postgres_fdw', 'apt-get install postgresql-contrib');
start_server($server);
my $place = sprintf "host '%s', port '%d'", $server->host, $server->port;
value($server, "CREATE DATABASE $_") for 'shop', 'report';
value($server, sprintf "ALTER DATABASE report SET snowflake.registry = 'host=%s port=%d dbname=shop'", $server->host, $server->port);
value($server, q{CREATE EXTENSION snowflake; CREATE TABLE event (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), body text)}, 'shop');
value($server, q{INSERT INTO event VALUES (snowflake_encode('2026-01-01 00:00+00', 0, 0), 'old'); INSERT INTO event (body) VALUES ('new')}, 'shop');
value($server, 'CREATE EXTENSION snowflake; SELECT snowflake_nextval()', 'report');

my $import = block_of($page, 'IMPORT FOREIGN SCHEMA') =~ s/host 'shop\.example\.com'/$place/r;
like($import, qr/\Q$place\E/, 'the page imports the table');
value($server, $import, 'report');

# What is sent.
my ($sent, $not_sent) = split /^-- not sent\n/m, block_of($page, '-- sent to the other server');
my @sent = grep { /SELECT/ } split /^(?=SELECT)/m, $sent =~ s/^--.*\n//mr;
is(scalar(@sent), 2, 'statements whose conditions are sent');
for my $statement (@sent)
{
	like(value($server, "EXPLAIN (VERBOSE, COSTS OFF) $statement", 'report'), qr/^ *Remote SQL: .* WHERE \(\(id >= /m, "sent: $statement");
	is(value($server, "SELECT body FROM ($1) e", 'report'), 'new', '... with the right rows') if $statement =~ /^(.*);$/m;
}
my $plan = value($server, "EXPLAIN (VERBOSE, COSTS OFF) $not_sent", 'report');
like($plan, qr/^ *Filter: .*snowflake_id_at/m, 'not sent without the subquery');
unlike($plan, qr/Remote SQL: .* WHERE/, '... so all rows are fetched');

# Who issues the id.
sub worker { my ($dbname) = @_; return value($server, 'SELECT worker FROM snowflake_status', $dbname); }
isnt(worker('shop'), worker('report'), 'two nodes');
sub worker_of { my ($insert) = @_; value($server, $insert, 'report'); return value($server, q{SELECT (snowflake_decode(id)).worker FROM event WHERE body = 'through'; DELETE FROM event WHERE body = 'through'}, 'shop'); }
is(worker_of(q{INSERT INTO event (body) VALUES ('through')}), worker('report'), 'with import_default this database issues the id');
value($server, block_of($page, 'CREATE FOREIGN TABLE new_event'), 'report');
is(worker_of(q{INSERT INTO new_event VALUES ('through')}), worker('shop'), 'without the column the other one');
value($server, 'ALTER FOREIGN TABLE event ALTER id DROP DEFAULT', 'report');
is((query_error($server, 'report', q{INSERT INTO event (body) VALUES ('through')}))[0], '23502', 'without import_default nobody: the insert fails');

$server->stop('fast');
done_testing();
