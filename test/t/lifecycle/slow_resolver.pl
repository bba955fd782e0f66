# The system's resolver hangs (test/c/slow_resolver.c). Nevertheless a fast shutdown ends, the error
# says what failed, and the keeper reaches the next host of the list.
# Runs alone: it bounds the time of a shutdown.
use strict;
use warnings;

use SnowflakeTest;
use Test::More;

my $registry = new_server('registry', conf => "listen_addresses = '127.0.0.1'\n");
start_server($registry);
$registry->safe_psql('postgres', 'CREATE EXTENSION snowflake');

my $node = new_server('node', conf => q{
snowflake.registry = '} . ('host=slow.test dbname=postgres port=' . $registry->port) . q{'
snowflake.start_timeout = 200ms
});
my $file = $node->basedir . '/slow_resolver';
sub start
{
	local $ENV{LD_PRELOAD} = join(' ', "$ENV{SNOWFLAKE_TEST_C}/slow_resolver.so", $ENV{LD_PRELOAD} // ());
	local $ENV{SNOWFLAKE_RESOLVER_FILE} = $file;
	unlink $file;
	$node->start;
	return;
}

sub hangs
{
	return wait_until('the resolver to hang', sub { $node->psql('postgres', 'SELECT snowflake_nextval()'); return -e $file });
}

start();
$node->safe_psql('postgres', 'CREATE EXTENSION snowflake');
ok(hangs(), 'the resolver hangs');
stop_in_time($node, 'fast', 'a fast shutdown while it does');

start();
ok(hangs(), 'it hangs again');
my $last = '';
ok(wait_until('the error', sub { ($last = $node->safe_psql('postgres', 'SELECT last_error FROM snowflake_status')) =~
		/^could not connect to the registry \(Looking up "slow\.test" failed: it took too long\.\)/ }), 'the error says what failed')
  or diag($last);
stop_in_time($node, 'immediate', 'an immediate shutdown');

$node->append_conf('postgresql.conf', "snowflake.registry = 'host=slow.test,quick.test dbname=postgres port=" . $registry->port . "'\n");
start();
ok(wait_until('an id', sub { ($node->psql('postgres', 'SELECT snowflake_nextval()'))[0] == 0 }), 'the next host is reached');
ok(-e $file, '... though the first was asked for');
stop_in_time($node, 'fast', 'the last shutdown');
$registry->stop('fast');
done_testing();
