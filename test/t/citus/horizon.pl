# The horizon of a distributed table. Citus lets the workers evaluate a bare snowflake_horizon().
# They refuse the call, and the error says what to write instead. With that form, the reader misses
# no row of clients that write through the reader's node. If a user runs the function on all nodes,
# each node returns its own horizon.
# Not in the default run: it needs Citus, which is built for it.
use strict;
use warnings;

use lib 'test/perl';
use CitusTest;
use HorizonTest;
use SnowflakeTest;
use Test::More;

# A busy machine needs longer for a first id now and then.
CitusTest::start(conf => "snowflake.start_timeout = 60s\n");
value($coordinator, q{
	CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), how text);
	SELECT create_distributed_table('outbox', 'id')});
value($coordinator, q{INSERT INTO outbox (how) VALUES ('first')}) for 1 .. 3;

my ($state, $error) = query_error($coordinator, $db, 'SELECT id FROM outbox WHERE id < snowflake_horizon()');
is($state, '0A000', 'a bare call');
like($error, qr/HINT:.*\(SELECT snowflake_horizon\(\)\)/, '... is told what to write');
is(scalar(grep { /^\d+$/ } everywhere('SELECT snowflake_horizon()')), 3, 'each node is asked for its own');
my $horizon = '(SELECT snowflake_horizon())';
ok(wait_until('the rows', sub { value($coordinator, "SELECT count(*) FROM outbox WHERE id < $horizon") eq '3' }), 'with a subquery rows are read');

my $writers = load_of($coordinator, 3, "INSERT INTO outbox (how) VALUES ('short');\nBEGIN; INSERT INTO outbox (how) VALUES ('long'); SELECT FROM pg_sleep(random() * 0.1); COMMIT;\n" x 20);
my $poller = load_of($coordinator, 1, poller_script((poll($horizon) . "SELECT FROM pg_sleep(0.01);\n") x 40));
sleep 5 * slowness();
stop_loads($writers);
my ($rows, $highest) = split /\|/, value($coordinator, 'SELECT count(*), max(id) FROM outbox');
ok(wait_until('the last id', sub { last_delivered($poller) == $highest }), 'a poller comes to the end');
stop_loads($poller);
my %delivered;
open(my $file, '<', $poller->{files}[0]) or die $!;
while (my $line = <$file>) { $delivered{$1}++ if $line =~ /^([1-9]\d*)$/; }
is(scalar keys %delivered, $rows, "of $rows rows none was missed");
is(scalar(grep { $_ > 1 } values %delivered), 0, '... and none delivered twice');
CitusTest::finish();
