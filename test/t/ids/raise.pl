# After snowflake_raise() has returned, no session of the node issues a smaller id, whatever it
# knows of a run and whatever the clock does afterwards.
use strict;
use warnings;

use SnowflakeTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $db = 'postgres';
my $server = new_server('raised', clock => 1, patient => 1);
start_server($server);
$server->safe_psql($db, 'CREATE EXTENSION snowflake');

# Sessions get ids at full speed, without the lock.
$server->safe_psql($db, 'CREATE TABLE issued (id bigint, at timestamptz)');
my @sessions = map { $server->background_psql($db) } 1 .. 4;
$_->query_safe('SELECT snowflake_nextval()') for @sessions;
my ($smaller, $rounds) = (0, 20);
for my $round (1 .. $rounds)
{
	my $session = $sessions[ $round % @sessions ];
	$_->{stdin} .= "SELECT max(snowflake_nextval()) FROM generate_series(1, 20000);\n" for @sessions;
	$_->{run}->pump_nb for @sessions;
	# An id of now, of a moment ago, or of 50 ms ahead.
	my $ahead = (0, -1, 50)[ $round % 3 ];
	my ($id) = split /\n/, $server->safe_psql($db, "SELECT snowflake_id_at(clock_timestamp() + interval '$ahead ms') + 4194303 AS id \\gset\n"
		  . "SELECT :id;\nSELECT snowflake_raise(:id)");
	$smaller += grep { $_ <= $id } split /\n/, $server->safe_psql($db, 'SELECT snowflake_nextvals(10)');
	# The last line: the lines before it belong to the statement that was running.
	$smaller += (split /\n/, (ask($_, 'SELECT snowflake_nextval()'))[0])[-1] <= $id for @sessions;
}
is($smaller, 0, "after $rounds raises no session issued a smaller id");
$_->quit for @sessions;

# If the clock steps back afterwards, the node uses another worker id or issues no id, but never a
# smaller one.
my $id = $server->safe_psql($db, 'SELECT snowflake_nextval()');
$server->safe_psql($db, "SELECT snowflake_raise($id)");
move_clock($server, -2);
my ($out, $tries) = ('', 0);
ok(wait_until('an id', sub {
	$tries++;
	(undef, $out) = $server->psql($db, "SET snowflake.start_timeout = '100ms'; SELECT snowflake_nextval()");
	return $out =~ /^\d+$/;
}), "2 s back, ids flow again, after $tries calls");
cmp_ok($out, '>', $id, '... above what was raised');

# An interrupted call has changed nothing.
my $before = $server->safe_psql($db, 'SELECT raised_tick FROM snowflake_origin');
is((query_error($server, $db, "SET statement_timeout = '200ms'; SELECT snowflake_raise(snowflake_id_at(clock_timestamp() + interval '8 s'))"))[0],
	'57014', 'it can be cancelled while it waits');
is($server->safe_psql($db, 'SELECT raised_tick FROM snowflake_origin'), $before, '... and has written nothing');
my ($code, $text) = query_error($server, $db, "SELECT snowflake_raise(snowflake_id_at(clock_timestamp() + interval '1 h'))");
is($code, '22023', 'an hour ahead is refused');
like($text, qr/the id is 3[56]\d\d\.\d+ s ahead of the clock/, '... with how far');

# In a database that never issued ids, and after a restart, the lease begins above the raised id.
$server->safe_psql($db, 'CREATE DATABASE fresh');
$server->safe_psql('fresh', 'CREATE EXTENSION snowflake');
my $raised = $server->safe_psql('fresh', "SELECT snowflake_id_at(clock_timestamp() + interval '100 ms') AS id \\gset\nSELECT :id;\nSELECT snowflake_raise(:id)");
($raised) = split /\n/, $raised;
$server->stop('immediate');
move_clock($server, -2.5);
start_server($server);
ok(wait_until('an id', sub {
	(undef, $out) = $server->psql('fresh', "SET snowflake.start_timeout = '100ms'; SELECT snowflake_nextval()");
	return $out =~ /^\d+$/;
}), 'after a crash, and with a clock that is behind, ids flow');
cmp_ok($out, '>', $raised, '... above what was raised before');

# With the registry elsewhere only a lease keeps the id.
$server->safe_psql($db, 'CREATE DATABASE leaseless');
$server->safe_psql('leaseless', 'CREATE EXTENSION snowflake');
($code, $text) = query_error($server, 'leaseless', "SET snowflake.registry = 'host=/nowhere'; SELECT snowflake_raise(snowflake_id_at(clock_timestamp()))");
is($code, '55000', 'a node without a lease, and with another registry, is not raised');
like($text, qr/ids of a node without a lease.*HINT: .*Request an id first/s, '... and the error says why');

$server->stop('fast');
done_testing();
