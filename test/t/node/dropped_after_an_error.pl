# If an extension is dropped whose node has no lease because of an error, the next extension's node
# is idle, without an error or advice, until its first call.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use SnowflakeTest;
use Test::More;

my $nodes = base_server('nodes', conf => "snowflake.start_timeout = 200ms\n");
new_node($nodes, 'dropped', 'host=127.0.0.1 port=1 dbname=x user=x');
sub shown { return status($nodes, q{state, last_error IS NOT NULL, advice IS NOT NULL}, 'dropped'); }

isnt(($nodes->psql('dropped', 'SELECT snowflake_nextval()'))[0], 0, 'there is no registry');
ok(wait_until('the error', sub { shown() eq 'no lease|t|t' }), '... as the view says');
value($nodes, 'DROP EXTENSION snowflake', 'dropped');
ok(wait_until('the keeper to end', sub { value($nodes, q{SELECT count(*) FROM pg_stat_activity WHERE datname = 'dropped' AND backend_type LIKE 'snowflake%'}) eq '0' }), 'the keeper ends with the extension');
value($nodes, 'CREATE EXTENSION snowflake', 'dropped');
is(shown(), 'idle|f|f', 'the next one\'s node is idle');
isnt(($nodes->psql('dropped', 'SELECT snowflake_nextval()'))[0], 0, 'a call of it fails');
ok(wait_until('the error', sub { shown() eq 'no lease|t|t' }), '... as the view says');
$nodes->stop('fast');
done_testing();
