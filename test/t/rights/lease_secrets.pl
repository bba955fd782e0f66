# A role has a node's rights in the registry, and reads everything that the registry logs, stores
# and shows of running statements. It can extend the node's lease, which is harmless, but cannot
# release the lease, because none of this contains the lease secret (section 10 of the design). If
# it could, the node and the next holder of the worker id would issue equal ids. Nor can the role
# return the numbers of a segment that the node holds.
# Not in the default run: it starts some 100 processes.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# The settings make the registry log everything about a statement.
my $registry = registry_server(conf => "log_statement = all\nlog_min_duration_statement = 0\nlog_parameter_max_length = -1\n");
new_registry($registry, 'fleet', layout => q{(true, 'epoch=1735689600000 tick=1ms time=41 worker=1 seq=12')});
my $many = base_server('many');
value($many, q{INSERT INTO snowflake_layout VALUES (true, 'epoch=1735689600000 tick=1ms time=41 worker=1 seq=12')}, 'base');
new_node($many, 'victim', at($registry, 'fleet'), 'snowflake.lease_duration' => '4s');

value($registry, "SELECT $schema.snowflake_create_segment('ticket', step => 100, max_step => 100);
	GRANT EXECUTE ON FUNCTION $schema.snowflake_segment_ranges TO node", 'fleet');

ok(flows($many, 'victim'), 'a node issues ids');
is(value($many, q{SET snowflake.start_timeout = '60s'; SELECT max(snowflake_segment_nextval('ticket')) FROM generate_series(1, 50)}, 'victim'), '50', '... and numbers of a segment');
ok(moves($many, 'victim'), '... and has extended its lease');

# A running call, which pg_stat_activity shows.
my $holder = $registry->background_psql('fleet');
$holder->query_safe("BEGIN; SELECT FROM $schema.snowflake_registry FOR UPDATE");
my $activity = '';
ok(wait_until('the extend', sub {
	($activity = value($registry, q{SELECT string_agg(query, ' ') FROM pg_stat_activity WHERE usename = 'node'})) =~ /snowflake_lease_extend\(/
}), 'an extend waits');
$holder->query_safe('ROLLBACK');
$holder->quit;
ok(moves($many, 'victim'), '... and succeeds in the end');

my $log = slurp_file($registry->logfile);
like($log, qr/snowflake_lease_acquire\(\$1.*snowflake_lease_extend\(\$1/s, 'the log has the calls');
my $tables = join "\n", map { value($registry, "SELECT t FROM $schema.$_ t", 'fleet') } qw(snowflake_registry snowflake_watermark snowflake_origin snowflake_segment snowflake_segment_range);
my %hexadecimal;
$hexadecimal{ lc $_ } = 1 for "$log $activity $tables" =~ /([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,})/gi;
my @found = map { "'" . (/-/ ? $_ : "\\x$_") . "'" } sort keys %hexadecimal;
my $hash = value($registry, q{SELECT encode(secret_hash, 'hex') FROM } . "$schema.snowflake_registry", 'fleet');
ok($hexadecimal{$hash}, '... among them the hash');

my ($id, $worker, $start) = split /\|/, value($registry, "SELECT lease_id, worker_id, window_start FROM $schema.snowflake_registry", 'fleet');
sub leased { return value($registry, "SELECT lease_id, worker_id, window_start FROM $schema.snowflake_registry WHERE lease_id = $id", 'fleet'); }
my @candidates = (@found, map { my $text = $_; map { "substr('\\x$text'::bytea, $_, 16)" } 1, 17 } grep { length == 64 } keys %hexadecimal);
my @released = grep { (as_role($registry, 'fleet', 'node', "SELECT $schema.snowflake_lease_release($id, $_, $start - 1, 0)"))[2] eq 't' } @candidates;
is("@released", '', 'nothing that was found releases the lease');
is(leased(), "$id|$worker|$start", '... which stays');
my ($state, undef, $end) = as_role($registry, 'fleet', 'node',
	"SELECT window_end > $now_tick FROM $schema.snowflake_lease_extend($id, '\\x$hash', $now_tick, '10 s', 0, $worker, $start)");
is("$state $end", '00000 t', 'it can be extended');

ok(wait_until('two ranges', sub { value($registry, "SELECT held_to FROM $schema.snowflake_segment_range", 'fleet') eq '200' }), 'the node has two ranges');
my ($node, $range_hash, $segment) = split /\|/, value($registry, "SELECT node, encode(secret_hash, 'hex'), segment_id FROM $schema.snowflake_segment_range", 'fleet');
like(slurp_file($registry->logfile), qr/$range_hash/, '... whose hash the log has');
as_role($registry, 'fleet', 'node', "SELECT $schema.snowflake_segment_ranges('$node', '{ticket}', '{$segment}', '{200}', '{150}', '{-1}', ARRAY[$_])")
  for @candidates, "'\\x$range_hash'::bytea", "substr('\\x$range_hash'::bytea, 1, 16)";
is(value($registry, "SELECT last_value FROM $schema.snowflake_segment", 'fleet'), '200', 'nothing that was found returns them');

# Another node gets only the other worker id of the two.
new_node($many, 'other', at($registry, 'fleet'));
my $patiently = q{SET snowflake.start_timeout = '60s'};
my ($one) = split /\|/, value($many, "$patiently; SELECT d.worker FROM snowflake_decode(snowflake_nextval()) d", 'victim');
my ($two) = split /\|/, value($many, "$patiently; SELECT d.worker FROM snowflake_decode(snowflake_nextval()) d", 'other');
is("$one $two", $worker . ' ' . (1 - $worker), 'each node has a worker id of its own');

$many->stop('fast');
is(leases($registry, 'fleet'), '0', 'the nodes release their leases');
$registry->stop('fast');
done_testing();
