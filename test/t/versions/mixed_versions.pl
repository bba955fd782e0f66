# A node of one version and a registry of another, in every combination (section 4 of the design).
# The node acquires a lease, extends it and releases it, and continues when one of the two is
# updated.
# Not in the default run: it builds and installs released versions.

use strict;
use warnings;

use SnowflakeTest;
use Test::More;
use VersionsTest;

VersionsTest::start();

sub check_registry
{
	my ($registry_version, $node_version) = @_;
	my $name = "registry $registry_version, node $node_version";
	create($registry_version, 'registry');
	create($node_version, 'node');
	sql('node', 'ALTER DATABASE node SET snowflake.registry = $$host=' . $server->host . ' port=' . $server->port . ' dbname=registry$$');
	like(sql('node', 'INSERT INTO item (n) VALUES (1) RETURNING id'), qr/^\d+$/, "$name: ids");
	# A window of three seconds may be over for a moment.
	ok(wait_until('the lease', sub { sql('registry', 'SELECT count(*) FROM snowflake_workers WHERE NOT expired') eq '1' }), "$name: under a lease of the registry");
	is_renewed('registry', $name);
	for my $other ('registry', 'node')
	{
		next if ($other eq 'registry' ? $registry_version : $node_version) eq $newest;
		sql($other, 'ALTER EXTENSION snowflake UPDATE');
		is_renewed('registry', "$name, then $newest in the $other");
	}
	ok(wait_until('no error', sub { sql('node', 'SELECT last_error IS NULL FROM snowflake_status') eq 't' }), "$name: no error");
	sql('node', 'SELECT pg_terminate_backend(keeper_pid) FROM snowflake_status');
	ok(wait_until('the lease to be released', sub { sql('registry', 'SELECT count(*) FROM snowflake_registry') eq '0' }),
		"$name: the lease is released");
	sql('postgres', "DROP DATABASE $_") for 'node', 'registry';
	return;
}

# Objects of released versions, with this library, compared with each other and with the newest
# version.
for my $registry (@released, $newest)
{
	for my $node (@released, $newest) { check_registry($registry, $node) unless $registry eq $newest && $node eq $newest; }
}

VersionsTest::stop();
done_testing();
