# Objects of a different extension named snowflake, pgEdge's, use our library. Each call, CREATE
# EXTENSION and ALTER EXTENSION is refused with an error that says why, whether or not the library
# is preloaded. No keeper works for this extension, and a keeper ends if it replaces ours. As a
# registry it assigns no lease. Databases with our extension are not disturbed.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use Installation;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $home = own_installation();
my $create_theirs = create_theirs();
my $another = is_another();
my $server = new_server('server', home => $home, preload => 1, patient => 1, conf => quiet());
start_server($server);
value($server, 'CREATE EXTENSION snowflake');

subtest 'another extension called snowflake: its objects, our library' => sub {
	value($server, 'CREATE DATABASE theirs');
	write_theirs($home, 1);
	my ($state, $text) = query_error($server, 'theirs', $create_theirs);
	is($state, '42883', 'it cannot be created over our library');
	like($text, qr/could not find function "snowflake_get_node" in file/, '... as PostgreSQL says');

	write_theirs($home, 0);
	value($server, $create_theirs, 'theirs');
	# The columns' defaults call pgEdge's function.
	value($server, q{
		CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake.nextval(), n int);
		INSERT INTO item VALUES (170505378935607296, 1), (170505378935607297, 2)}, 'theirs');
	for my $sql ('SELECT snowflake.nextval()', q{SELECT snowflake.nextval('snowflake.id_seq')}, 'INSERT INTO item (n) VALUES (3)',
		"COPY item (n) FROM stdin;\n3\n\\.\n", 'SELECT snowflake.currval()', 'CREATE EXTENSION snowflake', 'CREATE EXTENSION IF NOT EXISTS snowflake',
		'ALTER EXTENSION snowflake UPDATE', q{ALTER EXTENSION snowflake UPDATE TO '1.0'})
	{
		my ($state, $text) = query_error($server, 'theirs', $sql);
		is($state, '55000', 'refused: ' . $sql =~ s/\n.*//sr);
		like($text, $another, '... and why');
	}
	($state, $text) = query_error($server, 'theirs', 'SELECT snowflake.get_node(1)');
	is($state, '42883', 'what our library lacks');
	like($text, qr/could not find function "snowflake_get_node" in file/, '... is PostgreSQL\'s to say');
	is(value($server, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'theirs'}), '0', 'no keeper was started for it');
	is((query_error($server, 'theirs', $_))[0], '00000', $_) for 'ALTER EXTENSION snowflake DROP SEQUENCE snowflake.id_seq', 'COMMENT ON EXTENSION snowflake IS NULL';
	is(value($server, 'SELECT snowflake_nextval() > 0'), 't', 'a database that has ours issues');
	is((query_error($server, $db, 'CREATE EXTENSION snowflake'))[0], '42710', '... where it exists already');
	is((query_error($server, $db, 'CREATE EXTENSION IF NOT EXISTS snowflake; ALTER EXTENSION snowflake UPDATE'))[0], '00000', '... and nothing is refused');
};

subtest 'it takes the place of ours while a keeper runs' => sub {
	value($server, 'CREATE DATABASE swapped');
	value($server, 'CREATE EXTENSION snowflake', 'swapped');
	value($server, 'SELECT snowflake_nextval()', 'swapped');
	my $size = -s $server->logfile;
	value($server, "BEGIN; DROP EXTENSION snowflake; $create_theirs; COMMIT", 'swapped');
	like((query_error($server, 'swapped', 'SELECT snowflake.nextval()'))[1], $another, 'its function is refused');
	ok(wait_until('the keeper to end', sub {
		value($server, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper' AND datname = 'swapped'}) eq '0';
	}), 'the keeper leaves');
	unlike(slurp_file($server->logfile, $size), qr/snowflake_registry|not as the extension/, '... without a word of tables that were never there');
};

subtest 'a registry that has it' => sub {
	my $place = sprintf 'host=%s port=%d dbname=theirs', $server->host, $server->port;
	value($server, 'CREATE DATABASE node');
	value($server, "ALTER DATABASE node SET snowflake.registry = '$place'");
	value($server, 'CREATE EXTENSION snowflake', 'node');
	my ($state, $text);
	# On a busy machine the first calls may end before the registry was asked.
	ok(wait_until('the reason', sub {
		($state, $text) = query_error($server, 'node', q{SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()});
		return $text =~ /DETAIL: .*the registry's database has a different extension/;
	}), 'no lease, and why') or diag($text);
	is($state, 'SF001', '... with its SQLSTATE');
};

$server->stop('fast');

subtest 'its objects, our library, nothing preloaded' => sub {
	my $bare = new_server('bare', home => $home, preload => 0, conf => quiet());
	start_server($bare);
	value($bare, $create_theirs);
	for my $sql ('SELECT snowflake.nextval()', 'SELECT snowflake.currval()', q{LOAD 'snowflake'; CREATE EXTENSION IF NOT EXISTS snowflake})
	{
		my ($state, $text) = query_error($bare, $db, $sql);
		is($state, '55000', "refused: $sql");
		like($text, $another, '... and why');
	}
	is((query_error($bare, $db, 'CREATE EXTENSION snowflake'))[0], '42710', 'a session without the library hears that it exists');
	$bare->stop('fast');
};

done_testing();
