# A layout that is not the default. Citus does not copy the layout to other nodes. A node whose
# layout differs from the registry's gets no id, so there are no wrong ids. If all nodes have the
# layout, ids follow it, and times in a query mean the same on workers as on the coordinator.
# Not in the default run: it needs Citus, which is built for it.

use strict;
use warnings;

use CitusTest;
use Pages;
use SnowflakeTest;
use Test::More;

# A busy machine needs longer for a first id now and then.
CitusTest::start(conf => "snowflake.start_timeout = 60s\n");
value($coordinator, q{SELECT snowflake_set_layout('javascript')});
value($coordinator, q{CREATE TABLE orders (tenant int, id bigint DEFAULT snowflake_nextval());
	SELECT create_distributed_table('orders', 'tenant')});
value($coordinator, 'INSERT INTO orders SELECT generate_series(1, 1000)');
# Workers evaluate these.
my $since = sub { value($coordinator, "SELECT count(*) FROM orders WHERE id >= snowflake_id_at(now() - interval '$_[0]')") };
is($since->('1 hour'), '0', 'workers with another layout do not find the rows of the last hour');
my $refused = q{SET snowflake.start_timeout = '1s'; SELECT snowflake_nextval()};
for my $worker (@workers)
{
	my ($state, $error) = query_error($worker, $db, $refused);
	is($state, 'SF001', $worker->name . ' has the default layout: no id') or diag($error);
}
value($coordinator, block_of('doc/citus.md', 'snowflake_set_layout'));
value($_, 'INSERT INTO orders SELECT generate_series(1, 1000)') for $coordinator, @workers;
is(join(' ', rows_and_ids('orders')), '4000 4000 3', 'ids of three nodes');
is(value($coordinator, 'SELECT max(id) < 2::numeric ^ 53 FROM orders'), 't', '... of 53 bits');

my $third = start_node('worker_3', conf => "snowflake.start_timeout = 60s\n");
add_node($third);
push @workers, $third;
is((query_error($third, $db, $refused))[0], 'SF001', 'a node that joins has the default layout: no id');
value($third, q{SELECT snowflake_set_layout('javascript')});
value($third, 'INSERT INTO orders SELECT generate_series(1, 1000)');
is(join(' ', rows_and_ids('orders')), '5000 5000 4', '... and ids with it');

is($since->('1 hour'), '5000', 'rows of the last hour');
is($since->('-1 hour'), '0', '... and of the next');
finish();
