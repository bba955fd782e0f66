# Writers that insert ids of a pool into an outbox, and its reader: how many rows the reader never
# gets, and how many inserts the trigger snowflake_claim() refuses. Each test has its own pool: a
# Python program that defines a class Writer.
package PoolsTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;
use Time::HiRes qw(sleep);

our @EXPORT = qw(make_pool_outbox pool_driver run_pools pools_are);

# The tables of doc/horizon.md, and a table of the rows that its reader got.
sub make_pool_outbox
{
	my ($server) = @_;
	$server->safe_psql('postgres', q{
CREATE TABLE outbox (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), payload text NOT NULL);
CREATE TRIGGER outbox_claim BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION snowflake_claim('id');
CREATE TABLE outbox_reader (name text PRIMARY KEY, last_id bigint NOT NULL DEFAULT 0);
INSERT INTO outbox_reader (name) VALUES ('mail');
CREATE TABLE delivered (id bigint)});
	return;
}

my $reader = q{BEGIN;
SELECT last_id FROM outbox_reader WHERE name = 'mail' FOR UPDATE;
WITH batch AS (
    SELECT id FROM outbox
    WHERE id > (SELECT last_id FROM outbox_reader WHERE name = 'mail') AND id < snowflake_horizon()
    ORDER BY id LIMIT 1000
), moved AS (
    UPDATE outbox_reader SET last_id = (SELECT max(id) FROM batch) WHERE name = 'mail' AND EXISTS (SELECT FROM batch)
)
INSERT INTO delivered SELECT id FROM batch;
COMMIT;
SELECT FROM pg_sleep(0.01);
};

# The end of such a program: transactions that wait, commit, roll back and die. Writer() begins a
# transaction and has insert(), commit() and rollback(); refused(error) returns whether an error is
# SF007. If a writer dies, the server ends its transaction, its pool is lost, and another process
# continues.
sub pool_driver
{
	return <<'PYTHON';
import os
import random
import sys
import time

seed, transactions = int(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)
while transactions > 0:
    transactions -= 1
    writer = Writer()
    try:
        for _ in range(chance.randint(1, 3)):
            writer.insert()
            time.sleep(chance.choice([0, 0, chance.random() * 0.08]))
        fate = chance.random()
        if fate < 0.75:
            writer.commit()
        elif fate < 0.92:
            writer.rollback()
        else:
            os.execv(sys.executable, [sys.executable, sys.argv[0], str(seed + 1000), str(transactions)])
    except Exception as error:
        if not refused(error):
            raise
        print("refused", flush=True)
        writer.rollback()
    time.sleep(chance.random() * 0.06)
PYTHON
}

# Runs a command's writers beside a reader. Options: trigger => 1; command => a command that gets a
# seed and a number of transactions. Returns (rows committed, delivered, lost, delivered twice,
# inserts refused, transactions).
sub run_pools
{
	my ($server, %options) = @_;
	my ($writers, $transactions) = (8, ($ENV{SNOWFLAKE_TRIALS} || 320) / 8);
	my $value = sub { return $server->safe_psql('postgres', $_[0]); };
	$value->('TRUNCATE outbox, delivered; UPDATE outbox_reader SET last_id = 0; ALTER TABLE outbox '
		  . ($options{trigger} ? 'ENABLE' : 'DISABLE') . ' TRIGGER outbox_claim');
	my $clients = start_clients($server, 1, $reader x 20);
	wait_until('the horizon', sub { $value->('SELECT snowflake_horizon() > 0') eq 't' }) or die 'there is no horizon';
	my @out = ('') x $writers;
	my @runs = map { IPC::Run::start([ @{ $options{command} }, $options{seed} + $_, $transactions ], '<', '/dev/null', '>', \$out[$_], '2>', \my $err) } 0 .. $writers - 1;
	is(join(' ', map { $_->finish ? () : 'failed' } @runs), '', 'all writers came to their end');
	wait_until('the reader', sub { $value->(q{SELECT coalesce(max(id), 0) < snowflake_horizon() AND coalesce(max(id), 0) = (SELECT last_id FROM outbox_reader) FROM outbox}) eq 't' });
	stop_clients($clients);
	my @counts = split /\|/, $value->(q{SELECT count(DISTINCT o.id), count(d.id), count(DISTINCT o.id) FILTER (WHERE d.id IS NULL), count(d.id) - count(DISTINCT d.id)
		FROM outbox o LEFT JOIN delivered d USING (id)});
	return (@counts, scalar(grep { /^refused/ } map { split /\n/ } @out), $writers * $transactions);
}

# The same, with the expected result: lost and refused are 0 or more.
sub pools_are
{
	my ($server, $what, $lost, $refused, %options) = @_;
	my ($committed, $delivered, @counts) = run_pools($server, %options);
	figures('%s: %d rows committed, %d delivered, %d lost, %d inserts refused; trials %d transactions, seed %d', $what, $committed, $delivered, @counts[ 0, 2, 3 ], $options{seed});
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	cmp_ok($committed, '>', 0, "$what: rows were committed");
	cmp_ok($counts[0], $lost ? '>' : '==', 0, '... ' . ($lost ? 'some' : 'none') . ' are lost');
	is($counts[1], 0, '... none is delivered twice');
	cmp_ok($counts[2], $refused ? '>' : '==', 0, '... ' . ($refused ? 'some' : 'no') . ' inserts are refused');
	return;
}

1;
