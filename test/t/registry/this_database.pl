# A setting that names this database itself, over a connection. As soon as the keeper has detected
# this, the operator's functions work on the registry's tables here. If the setting names another
# database or server, they still refuse.
# Not in the default run: it starts some 200 processes.
use strict;
use warnings;

use lib 'test/perl';
use SegmentsTest;
use SnowflakeTest;
use Test::More;

my $server = segments_registry('server', preload => 1, patient => 1, segments => {});
my $other = segment_node('other', place($server), patient => 1);
value($server, 'GRANT EXECUTE ON FUNCTION snowflake_lease_acquire, snowflake_lease_extend, snowflake_lease_release TO node; CREATE DATABASE beside');
value($server, 'CREATE EXTENSION snowflake', 'beside');
$server->append_conf('postgresql.conf', "snowflake.registry = '" . place($server) . "'\n");
$server->reload;

my $create = q{SELECT snowflake_create_segment('ticket')};
sub refused
{
	my ($node, $dbname, $why) = @_;
	my ($state, $error) = query_error($node, $dbname, $create);
	is($state, '55000', "refused $why");
	like($error, qr/HINT:  Call the function there\. .* this database, (?:first )?request an id/, '... with what to do') or diag($error);
	return;
}

refused($server, 'postgres', 'before the registry was reached');
value($server, 'SELECT snowflake_nextval()');
value($server, $create);
is(number($server), '1', 'a segment is made, and has numbers');
is(value($server, q{SELECT snowflake_raise_segment('ticket', 5000)}), '5000', '... is raised');
is(number($server), '5000', '... here at once');
my ($rc, $out, $notice) = $server->psql('postgres', 'SELECT snowflake_raise(snowflake_nextval())');
is("$rc$notice", '0', 'all nodes are raised');
isnt(value($server, 'SELECT raised_tick FROM snowflake_origin'), '', '... by the registry');
is(value($server, 'SELECT count(*) FROM snowflake_registry_metrics'), '1', 'the view of the registry has its row');

# The keeper has yet to see the answer with the node's first range, which was committed, when the
# segment is raised. If the request waits for its row for too long, there is another try.
my ($holder, $session) = map { $server->background_psql('postgres') } 1, 2;
my ($keeper, $committed) = value($server, 'SELECT keeper_pid FROM snowflake_status');
my $requests = sub { value($server, "SELECT count(*) FROM pg_stat_activity WHERE $_[0] AND query LIKE '%snowflake_segment_ranges(%' AND pid <> pg_backend_pid()") };
for my $segment (map { "raised_$_" } 1 .. 10)
{
	create_segment($server, $segment);
	ask($holder, "BEGIN; SELECT FROM snowflake_segment WHERE name = '$segment' FOR UPDATE");
	$session->{stdin} .= "SELECT snowflake_segment_nextval('$segment');\n\\echo done\n";
	$session->{run}->pump_nb;
	ok(wait_until('it to wait', sub { $requests->(q{wait_event_type = 'Lock'}) eq '1' }), 'the request waits');
	kill 'STOP', $keeper;
	ask($holder, 'COMMIT');
	$committed = wait_until('the range', sub { shown($server, 'next_value', $segment) eq '1001' }, sub { $requests->(q{state = 'active'}) eq '0' });
	value($server, "SELECT snowflake_raise_segment('$segment', 5000)");
	kill 'CONT', $keeper;
	my ($number) = $session->query_until(qr/done\n/, '') =~ /^(\d+)/;
	is($number, '5000', 'a raise counts for a range that is on its way');
	last if $committed;
}
ok($committed, '... and was committed before');
$_->quit for $holder, $session;

value($server, q{SELECT snowflake_drop_segment('ticket')});
is((query_error($server, 'postgres', q{SELECT snowflake_segment_nextval('ticket')}))[0], '42704', 'a segment is dropped');

value($_->[0], 'SELECT snowflake_nextval()', $_->[1]), refused(@$_) for [ $other, 'postgres', 'on another server' ], [ $server, 'beside', 'in another database of this one' ];

# A copy has the same system identifier, database and extension.
$server->backup('copy');
my $copy = new_server('copy', from => [ $server, 'copy' ]);
start_server($copy);
value($copy, 'SELECT snowflake_nextval()');
refused($copy, 'postgres', 'on a copy');

# Another setting means another registry.
$server->append_conf('postgresql.conf', "snowflake.registry = '" . place($other) . "'\n");
$server->reload;
ok(wait_until('the setting', sub { (query_error($server, 'postgres', $create))[0] eq '55000' }), 'refused once the setting leads elsewhere');

$_->stop('fast') for $copy, $other, $server;

# The first response is enough, whatever else the keeper has to do: processes pause after they have
# released a lock (test/c/slow_release.c).
my $trials = 12;
$ENV{SNOWFLAKE_PAUSE_US} = 20000;
my $paused = segments_registry('paused', patient => 1, segments => {}, conf => "shared_preload_libraries = 'snowflake, $ENV{SNOWFLAKE_TEST_C}/slow_release.so'\nmax_worker_processes = 32\n");
my @errors;
for my $trial (1 .. $trials)
{
	my $first = $trial % 2 ? 'SELECT snowflake_nextval()' : q{SELECT snowflake_segment_nextval('early')};
	value($paused, "CREATE DATABASE trial$trial");
	value($paused, q{CREATE EXTENSION snowflake; SELECT snowflake_create_segment('early')}, "trial$trial");
	value($paused, sprintf q{ALTER DATABASE %1$s SET snowflake.registry = 'host=%2$s port=%3$d dbname=%1$s'}, "trial$trial", $paused->host, $paused->port);
	my ($rc, undef, $error) = $paused->psql("trial$trial", "$first; $create");
	push @errors, "trial $trial: $error" if $rc != 0;
}
is(join("\n", @errors), '', 'a segment is made right after the first answer');
figures('%d trials, %d failures', $trials, scalar @errors);
$paused->stop('fast');
done_testing();
