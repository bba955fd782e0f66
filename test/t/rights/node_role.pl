# The role that a node uses in its registry can acquire a lease, and extend and release the lease
# whose secret it has, and nothing else (section 10 of the design). The test tries to read and write
# every table, and to extend and release another role's lease. A role without privileges tries to
# acquire a lease.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use Test::More;

my $registry = registry_server();
new_registry($registry, 'fleet');
value($registry, 'CREATE ROLE stranger LOGIN');
value($registry, "SELECT $schema.snowflake_lease_acquire('number 1', 0, $now_tick, '10 s', sha256(uuid_send(gen_random_uuid())), 0, NULL)", 'fleet');

for my $table (qw(snowflake_registry snowflake_watermark snowflake_layout snowflake_origin snowflake_segment snowflake_segment_range snowflake_last_tick snowflake_workers))
{
	is((as_role($registry, 'fleet', 'node', "SELECT * FROM $schema.$table"))[0], '42501', "a node cannot read $table");
	is((as_role($registry, 'fleet', 'node', "DELETE FROM $schema.$table"))[0], '42501', "... nor delete from it");
}
is((as_role($registry, 'fleet', 'node', "SELECT * FROM $schema.snowflake_segments"))[0], '42501', 'nor what segments there are');
is((as_role($registry, 'fleet', 'node', "UPDATE $schema.snowflake_registry SET secret_hash = ''"))[0], '42501', q{... nor write a secret's hash});
my ($lease) = value($registry, "SELECT lease_id FROM $schema.snowflake_registry WHERE node = 'number 1'", 'fleet');
my ($code, undef, $answer) =
  as_role($registry, 'fleet', 'node', "SELECT window_end IS NULL FROM $schema.snowflake_lease_extend($lease, sha256(uuid_send(gen_random_uuid())), $now_tick, '1 day', 0, 0, 0)");
is("$code $answer", '00000 t', "another's lease is not moved without the hash of its secret");
($code, undef, $answer) = as_role($registry, 'fleet', 'node', "SELECT $schema.snowflake_lease_release($lease, uuid_send(gen_random_uuid()), $now_tick, 0)");
is("$code $answer", '00000 f', '... nor released');
is(value($registry, "SELECT window_end < $now_tick + 60000 FROM $schema.snowflake_registry WHERE lease_id = $lease", 'fleet'), 't', '... it stands as it was');
is((as_role($registry, 'fleet', 'stranger', "SELECT $schema.snowflake_lease_acquire('s', 0, $now_tick, '1 min', sha256(uuid_send(gen_random_uuid())), 0, NULL)"))[0], '42501', 'a role without rights is refused');
$registry->stop('fast');
done_testing();
