# Issuing ids writes no WAL and uses no transaction id. It is allowed in a read-only transaction,
# also for the first call of a node, whose lease the keeper acquires (G4).

use strict;
use warnings;

use lib 'test/perl';
use SessionsTest;
use SnowflakeTest;
use Test::More;

my $server = sessions_server('nothing');
my $count = 4 * $each;

subtest 'the first id of a node may be issued in a read-only transaction' => sub {
	like($server->safe_psql('postgres', 'BEGIN READ ONLY; SELECT snowflake_nextval(); COMMIT'), qr/^\d+$/, 'an id');
	is($server->safe_psql('postgres', 'SET default_transaction_read_only = on; SET default_transaction_isolation = serializable;'
			. ' SELECT count(DISTINCT snowflake_nextval()) FROM generate_series(1, 10000)'),
		10000, 'serializable, read-only');
};

subtest 'ids write no WAL and take no transaction id' => sub {
	my $out = $server->safe_psql('postgres', qq{
BEGIN;
EXPLAIN (ANALYZE, WAL, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON)
  SELECT count(snowflake_nextval()) FROM generate_series(1, $count);
SELECT 'xid:' || coalesce(txid_current_if_assigned()::text, 'none');
COMMIT});
	my @wal = $out =~ /"WAL (?:Records|FPI|Bytes)": (\d+)/g;
	cmp_ok(scalar @wal, '>=', 3, 'the plan tells what it wrote');
	is_deeply([ grep { $_ != 0 } @wal ], [], 'and that is nothing');
	like($out, qr/^xid:none$/m, 'no transaction id');
};

$server->stop;
done_testing();
