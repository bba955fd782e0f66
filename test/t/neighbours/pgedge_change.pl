# The change from pgEdge's extension of the same name to this one, as in doc/layouts.md: in one
# session, with the layout of pgEdge's ids, and with new ids above the existing ones. pgEdge's
# setting in the configuration file causes a warning, and the other settings are still read.
# Not in the default run: it is about other software.

use strict;
use warnings;

use Installation;
use Neighbours;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $home = own_installation();
my $server = new_server('server', home => $home, preload => 1, patient => 1, conf => quiet());
start_server($server);
value($server, 'CREATE EXTENSION snowflake; CREATE DATABASE theirs');
write_theirs($home, 0);
value($server, create_theirs(), 'theirs');
# The columns' defaults call pgEdge's function.
value($server, q{
	CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), n int);
	INSERT INTO item VALUES (170505378935607296, 1), (170505378935607297, 2)}, 'theirs');

subtest 'changing over' => sub {
	# All in one session, in which calls were refused before.
	my $session = $server->background_psql('theirs', on_error_stop => 0);
	like((ask($session, 'SELECT snowflake.nextval()'))[1], qr/has a different extension/, 'refused');
	my ($out, $err) = ask($session, block_of('doc/layouts.md', "set_layout\\('pgedge'\\)"));
	unlike($err, qr/ERROR/, 'dropped, and ours created with the layout of its ids, as the page has it');
	($out, $err) = ask($session, 'INSERT INTO item (n) VALUES (4) RETURNING id');
	like($out, qr/^\d+$/, 'the same session issues') or diag($err);
	is($err, '', '... without an error');
	is((ask($session, 'SELECT max(id) FROM item'))[0], $out, '... above the ids that are there');
	is((ask($session, q{SELECT worker || ' ' || seq || ' ' || (ts AT TIME ZONE 'UTC') FROM item, snowflake_decode(id) WHERE n = 1}))[0],
		'1 0 2024-04-15 12:07:30.175', 'which can be read');
	$session->quit;
};

subtest 'its setting in the configuration file' => sub {
	my $size = -s $server->logfile;
	$server->append_conf('postgresql.conf', 'snowflake.node = 5');
	$server->restart;
	like(slurp_file($server->logfile, $size), qr/WARNING: .*invalid configuration parameter name "snowflake\.node", removing it/, 'the log says that there is no such setting');
	is(value($server, 'SELECT snowflake_nextval() > 0'), 't', 'ids flow');
	is((query_error($server, $db, 'SHOW snowflake.node'))[0], '42704', 'nobody sees it');
	is((query_error($server, $db, 'SET snowflake.node = 5'))[0], '42602', '... or sets it');
	$size = -s $server->logfile;
	$server->append_conf('postgresql.conf', 'snowflake.start_timeout = 17s');
	$server->reload;
	ok(wait_until('the other setting', sub { value($server, 'SHOW snowflake.start_timeout') eq '17s' }), 'a reload takes the other settings')
	  or diag(slurp_file($server->logfile, $size));
};

$server->stop('fast');
done_testing();
