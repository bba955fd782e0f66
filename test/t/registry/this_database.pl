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
