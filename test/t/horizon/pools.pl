# Pools of ids and a reader of an outbox, while writers wait, roll back and die. If a pool lives
# longer than a transaction, rows are lost. With the trigger snowflake_claim() no row is lost, and
# some inserts are refused. If the pool ends with its transaction, no row is lost and no insert is
# refused. The seed decides what the writers do, but not when. SNOWFLAKE_TRIALS sets the number of
# transactions for each kind of pool (320).
# Not in the default run: hundreds of transactions with waits, for each kind of pool.
use strict;
use warnings;

use lib 'test/perl';
use PoolsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $seed = seed();
my $server = new_server('pools', patient => 1, conf => "log_statement = none\nautovacuum = off\nmax_connections = 50\n");
start_server($server);
$server->safe_psql('postgres', 'CREATE EXTENSION snowflake');
make_pool_outbox($server);
$ENV{$_->[0]} = $_->[1] for [ PGHOST => $server->host ], [ PGPORT => $server->port ], [ PGDATABASE => 'postgres' ];

# In the order of ids, as pools issue them.
my $writer = <<'PYTHON' . pool_driver();
from collections import deque

import psycopg

connection = psycopg.connect()
ids = deque()


class Writer:
    def __init__(self):
        NEW_POOL

    def insert(self):
        if not ids:
            ids.extend(id for id, in connection.execute("SELECT snowflake_nextvals(50)"))
        connection.execute("INSERT INTO outbox VALUES (%s, 'x')", [ids.popleft()])

    def commit(self):
        connection.commit()

    def rollback(self):
        connection.rollback()


def refused(error):
    return getattr(error, "sqlstate", None) == "SF007"


PYTHON
my $folder = PostgreSQL::Test::Utils::tempdir();
sub command
{
	my ($name, $new_pool) = @_;
	append_to_file("$folder/$name.py", $writer =~ s/NEW_POOL/$new_pool/r);
	return command => [ '/usr/bin/python3', "$folder/$name.py" ], seed => $seed;
}
my @longer = command('longer', 'pass');
pools_are($server, 'a pool over transactions', 1, 0, @longer);
pools_are($server, 'a pool over transactions, with the trigger', 0, 1, @longer, trigger => 1);
my @ends = command('ends', 'ids.clear()');
pools_are($server, 'a pool that ends with its transaction', 0, 0, @ends);
pools_are($server, 'a pool that ends with its transaction, with the trigger', 0, 0, @ends, trigger => 1);
$server->stop;
done_testing();
