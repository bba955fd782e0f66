# A standby reads and does not issue (section 4 of the design). Every call that would issue ids,
# acquire a lease or convert a table is refused, and the error says which server to use. Calls that
# only read (decoding, status, list of worker ids, dry run of a conversion) work as on the primary.
# No keeper runs on the standby.

use strict;
use warnings;

use ReplicationTest;
use SnowflakeTest;
use Test::More;

my $db = 'postgres';
my $primary = new_server('primary', streaming => 1, patient => 1, conf => "snowflake.max_clock_skew = 0\n");
start_server($primary);
value($primary, 'CREATE EXTENSION snowflake_convert CASCADE; CREATE TABLE t (id bigint PRIMARY KEY DEFAULT snowflake_nextval(), n int);'
	  . ' CREATE TABLE old (id bigserial)');
value($primary, 'INSERT INTO t (n) SELECT generate_series(1, 100)');
my $standby = standby_of($primary, 'standby');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));

for my $call ('snowflake_nextval()', 'snowflake_nextvals(2)')
{
	my ($state, $text) = query_error($standby, $db, "SELECT $call");
	is($state, '25006', "$call on a standby");
	like($text, qr/recovery.*DETAIL: .*standby.*HINT: .*primary/s, '... and why');
}
is((query_error($standby, $db, 'SELECT snowflake_currval()'))[0], '55000', 'currval on a standby');
is((query_error($standby, $db, "SELECT $_"))[0], '25006', "$_ on a standby") for (
	q{snowflake_lease_acquire('n', 0, 1000, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL)},
	q{snowflake_lease_extend(1, sha256(uuid_send(gen_random_uuid())), 1, '1 min', 0, 0, 0)},
	q{snowflake_lease_release(1, uuid_send(gen_random_uuid()), 1, 0)},
	q{snowflake_convert('old', 'id')});
like(value($standby, q{SELECT snowflake_convert('old', 'id', dry_run => true)}), qr/^ALTER TABLE public\.old .*;\nDROP SEQUENCE/,
	'a standby says what a conversion would do');
my $decode = 'SELECT md5(string_agg(snowflake_decode(id)::text || snowflake_timestamp(id), chr(10) ORDER BY id)) FROM t';
is(value($standby, $decode), value($primary, $decode), 'decode works on a standby');
is(value($standby, 'SELECT state, worker, keeper_pid, last_error FROM snowflake_status'), 'standby|||', 'status works there, and says what it is');
is(value($standby, 'SELECT state, issuing, idle, registry_failing FROM snowflake_metrics'), 'standby|||0', '... in numbers, which raise no alert');
is(value($standby, 'SELECT worker FROM snowflake_workers'), value($primary, 'SELECT worker FROM snowflake_status'),
	'... and shows who holds which worker id');
is(value($standby, q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'snowflake keeper'}), '0', 'no keeper runs there');

$primary->stop('fast');
$standby->promote;
# Its keeper starts with the promotion only if the library was loaded at the server's start.
my $by_itself = preloading() eq preloading(1);
value($standby, 'SELECT snowflake_nextval()') unless $by_itself;
ok(wait_until('a lease', sub { value($standby, 'SELECT state, issuing, idle FROM snowflake_metrics') eq 'issuing|1|0' }),
	'promoted, it has a lease' . ($by_itself ? ' before the first call, as the primary had' : ''));
$standby->stop('fast');
done_testing();
