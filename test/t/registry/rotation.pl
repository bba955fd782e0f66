# Passwords and certificates of nodes and of their registry are replaced as doc/operating.md
# describes, without a reload or restart of a node: no call fails, and each node keeps its lease.
# Not in the default run: it waits a dozen times for a window to be extended.
use strict;
use warnings;

use lib 'test/perl';
use NodesTest;
use Pages;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $folder = PostgreSQL::Test::Utils::tempdir();

# An authority, and a certificate that it signs.
sub authority
{
	my ($name) = @_;
	system_or_bail('openssl', 'req', '-x509', '-nodes', '-newkey', 'rsa:2048', '-days', '2', '-subj', "/CN=$name", '-keyout', "$folder/$name.key", '-out', "$folder/$name.crt");
	return;
}

sub certify
{
	my ($by, $name, $file) = @_;
	system_or_bail('openssl', 'req', '-new', '-nodes', '-newkey', 'rsa:2048', '-subj', "/CN=$name", '-keyout', "$folder/$by.$name.key", '-out', "$folder/request");
	system_or_bail('openssl', 'x509', '-req', '-days', '2', '-in', "$folder/request", '-CA', "$folder/$by.crt", '-CAkey', "$folder/$by.key", '-CAcreateserial', '-out', "$folder/$by.$name.crt");
	chmod 0600, "$folder/$by.$name.key";
	return;
}

# Replaces files in one step each.
sub replace
{
	my ($to, @from) = @_;
	unlink "$folder/new";
	append_to_file("$folder/new", join '', map { slurp_file($_) } @from);
	chmod 0600, "$folder/new";
	rename "$folder/new", $to or die "$to: $!";
	return;
}

sub use_certificate { my ($by, $name) = @_; replace("$folder/$name.$_", "$folder/$by.$name.$_") for qw(key crt); return; }
sub trust { my ($file, @names) = @_; replace("$folder/$file", map { "$folder/$_.crt" } @names); return; }
sub write_password { my ($password) = @_; append_to_file("$folder/line", "*:*:*:snowflake_node:$password\n"); replace("$folder/passfile", "$folder/line"); unlink "$folder/line"; return; }

authority($_) for qw(old next);
for my $by (qw(old next)) { certify($by, $_) for qw(registry certified) }
use_certificate('old', $_) for qw(registry certified);
trust($_, 'old') for qw(nodes_trust registry_trusts);

my $registry = registry_server(conf => "listen_addresses = '127.0.0.1'\nssl = on\nssl_cert_file = '$folder/registry.crt'\nssl_key_file = '$folder/registry.key'\n"
	  . "ssl_ca_file = '$folder/registry_trusts'\n");
value($registry, q{CREATE ROLE snowflake_node LOGIN PASSWORD 'the first one'; CREATE ROLE certified LOGIN});
my $hba = slurp_file($registry->data_dir . '/pg_hba.conf');
unlink $registry->data_dir . '/pg_hba.conf';
$registry->append_conf('pg_hba.conf', "hostssl fleet snowflake_node 127.0.0.1/32 scram-sha-256\nhostssl fleet certified 127.0.0.1/32 cert\n$hba");
$registry->reload;
new_registry($registry, 'fleet', roles => 'snowflake_node, certified');

# Windows that last while the machine stands still.
my $lease = 60 * slowness();
my $nodes = base_server('nodes', conf => "snowflake.lease_duration = ${lease}s\nsnowflake.start_timeout = 60s\n");
sub extend_now { return set_lease_duration($nodes, ++$lease . 's'); }
my $at = sprintf 'host=127.0.0.1 port=%d dbname=fleet sslmode=verify-ca sslrootcert=%s', $registry->port, "$folder/nodes_trust";
write_password('the first one');
new_node($nodes, 'by_password', "$at user=snowflake_node passfile=$folder/passfile");
new_node($nodes, 'by_certificate', "$at user=certified sslcert=$folder/certified.crt sslkey=$folder/certified.key");
my @nodes = qw(by_password by_certificate);
my %lease;
for (@nodes)
{
	ok(flows($nodes, $_), "$_: ids flow") or diag(last_error($nodes, $_));
	$lease{$_} = status($nodes, 'lease_id', $_);
}

# Each node's window is extended, under the same lease.
sub goes_on
{
	my ($after) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my %end = map { $_ => status($nodes, 'window_end', $_) } @nodes;
	extend_now();
	for (@nodes)
	{
		ok(wait_until('the window to move', sub { status($nodes, "window_end > '$end{$_}'", $_) eq 't' }), "$after: $_ extends its lease") or diag(last_error($nodes, $_));
		is(status($nodes, q{state, lease_id, coalesce(last_error, 'no error'), coalesce(advice, 'no advice')}, $_), "issuing|$lease{$_}|no error|no advice", '... the same one');
	}
	return;
}

### The password

goes_on('the first password');
value($registry, block_of('doc/operating.md', '^ALTER ROLE snowflake_node'));
extend_now();
ok(wait_until('refusal', sub { last_error($nodes, 'by_password') =~ /password authentication failed/ }), 'the old password is refused');
is(($nodes->psql('by_password', 'SELECT snowflake_nextval()'))[0], 0, '... and ids flow');
write_password('the next one');
goes_on('the next password');

### The certificates: first all trust both authorities, at last only the next one.

trust($_, 'old', 'next') for qw(nodes_trust registry_trusts);
$registry->reload;
goes_on('both authorities');
use_certificate('next', 'registry');
$registry->reload;
use_certificate('next', 'certified');
goes_on('the next certificates');
trust($_, 'next') for qw(nodes_trust registry_trusts);
$registry->reload;
goes_on('the next authority');
is(value($nodes, 'SELECT failed_calls_total FROM snowflake_metrics', $_), '0', "$_: no call failed") for @nodes;

use_certificate('old', 'certified');
extend_now();
ok(wait_until('refusal', sub { last_error($nodes, 'by_certificate') =~ /unknown ca|certificate/ }), 'the old certificate is refused');

$nodes->stop('fast');
$registry->stop('fast');
done_testing();
